// A call of a layer: errors below it name the layer by its path, and who asks for a summary hears
// of it.
#pragma once

#include <string>
#include <vector>

#include "Support/CallSite.h"
#include <weft/nn/layer.h>
#include <weft/tensor.h>

namespace weft::nn {

/// What `summary` hears of the calls on this thread.
struct LayerRecord {
  LayerName name;
  TensorType result;
};
class LayerRecorder {
public:
  LayerRecorder() : outer_(current_) { current_ = this; }
  ~LayerRecorder() { current_ = outer_; }
  LayerRecorder(const LayerRecorder &) = delete;
  LayerRecorder &operator=(const LayerRecorder &) = delete;

  static LayerRecorder *current() { return current_; }

  std::vector<LayerRecord> records; ///< in the order of the calls

private:
  LayerRecorder *outer_;
  static thread_local constinit LayerRecorder *current_;
};

/// Held while a layer computes. Of layers inside each other the innermost is named.
class LayerCall : CallSite {
public:
  LayerCall(const LayerName &name, const std::source_location &where);
  ~LayerCall();
  LayerCall(const LayerCall &) = delete;
  LayerCall &operator=(const LayerCall &) = delete;

  /// "blocks.1.attention: ", before what is wrong.
  std::string prefix() const { return std::string(name_.text()) + ": "; }
  /// Its result, which is handed on.
  Tensor result(Tensor value) const;

private:
  const LayerName &name_;
  const char *outer_;
  std::size_t at_ = 0; ///< among the records
};

/// Throws ValueError, in the layer's name, unless there is at least one: "Dense: there must be at
/// least one unit, but units is 0".
void check_at_least_one(const LayerName &name, const char *what, std::int64_t count);

} // namespace weft::nn
