// The name by which errors go of what a binding of another language composes of functions.
#pragma once

#include <memory>

namespace weft {

class CompositeCall;

namespace detail {

/// While it lives, errors of the functions that this thread calls begin with that name: the user
/// called no other. The outermost wins.
class NamedCall {
public:
  /// `function` must live for ever.
  explicit NamedCall(const char *function);
  ~NamedCall();

private:
  std::unique_ptr<CompositeCall> call_;
};

} // namespace detail
} // namespace weft
