// Who has a say in the first values of variables, besides who makes them.
#pragma once

#include <utility>

#include <weft/tensor.h>

namespace weft::detail {

class FirstValues {
public:
  /// The first value of a variable that this thread is about to give `own`, of the same type, on
  /// the same device.
  virtual Tensor of(const Tensor &own) = 0;

  /// Null where nobody has.
  static FirstValues *current() { return current_; }

  /// While it lives, this thread asks `values`, or nobody.
  class Scope {
  public:
    explicit Scope(FirstValues *values) : outer_(std::exchange(current_, values)) {}
    ~Scope() { current_ = outer_; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    FirstValues *outer_;
  };

protected:
  ~FirstValues() = default;

private:
  static inline thread_local constinit FirstValues *current_ = nullptr;
};

/// The first value that a variable gets instead of this one, which its maker has for it.
inline Tensor first_value(Tensor own) {
  FirstValues *const values = FirstValues::current();
  return values == nullptr || !own.defined() ? std::move(own) : values->of(own);
}

} // namespace weft::detail
