// A borrowed reference to any callable: two words, no allocation, for parameters only.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace weft {

template <typename Signature>
class FunctionRef;

/// Refers to a callable that must outlive every call through the reference. It owns nothing, so
/// it is meant for function parameters and never for members that are kept.
template <typename Result, typename... Args>
class FunctionRef<Result(Args...)> {
public:
  template <typename Callable>
    requires(!std::is_same_v<std::remove_cvref_t<Callable>, FunctionRef> &&
             std::is_invocable_r_v<Result, Callable &, Args...>)
  FunctionRef(Callable &&callable) // NOLINT(google-explicit-constructor): meant to be implicit.
      : object_(const_cast<void *>(static_cast<const void *>(std::addressof(callable)))),
        call_([](void *object, Args... args) -> Result {
          return (*static_cast<std::remove_reference_t<Callable> *>(object))(
              std::forward<Args>(args)...);
        }) {}

  Result operator()(Args... args) const { return call_(object_, std::forward<Args>(args)...); }

private:
  void *object_;
  Result (*call_)(void *, Args...);
};

} // namespace weft
