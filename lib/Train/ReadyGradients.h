// Gradients of a replica that are taken from its backward pass one by one.
#pragma once

#include <cstddef>
#include <functional>

#include <weft/tensor.h>

namespace weft::train::detail {

/// As long as it lives, `replica_gradients` on this thread gives each gradient, with its number, to
/// `take` as soon as it is there, be it at once or in a compiled function, if the model has more
/// bytes than `least`. A function that was traced meanwhile does so ever after: without such an
/// object the gradients go nowhere.
class ReadyGradients {
public:
  using Take = std::function<void(std::size_t, const Tensor &)>;
  ReadyGradients(std::size_t least, Take take);
  ~ReadyGradients();
  ReadyGradients(const ReadyGradients &) = delete;
  ReadyGradients &operator=(const ReadyGradients &) = delete;

  /// That of this thread, or null.
  static const ReadyGradients *current();
  std::size_t least() const { return least_; }
  void take(std::size_t number, const Tensor &gradient) const { take_(number, gradient); }

private:
  std::size_t least_;
  Take take_;
  const ReadyGradients *outer_;
};

} // namespace weft::train::detail
