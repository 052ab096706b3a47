// The paths of layers in a model whose variables are listed.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include <weft/nn/layer.h>

namespace weft::nn {

/// While it lives, hears what listings of variables on this thread call the layers: their paths in
/// the model that is listed. A layer's own path is the first that it was given, which may be that
/// in a larger model.
class LayerPaths {
public:
  LayerPaths() : outer_(current_) { current_ = this; }
  ~LayerPaths() { current_ = outer_; }
  LayerPaths(const LayerPaths &) = delete;
  LayerPaths &operator=(const LayerPaths &) = delete;

  static LayerPaths *current() { return current_; }
  void note(const LayerName &name, std::string_view path) {
    paths_.try_emplace(name.identity(), path);
  }
  /// The path in what was listed, or that of the name itself.
  std::string of(const LayerName &name) const {
    const auto found = paths_.find(name.identity());
    return found == paths_.end() ? name.path() : found->second;
  }

private:
  std::map<const void *, std::string> paths_;
  LayerPaths *outer_;
  static thread_local constinit LayerPaths *current_;
};

} // namespace weft::nn
