// Whole tensors with the operators that the formulas of optimizers need: what they are computed on
// where calls are recorded.
#pragma once

#include <utility>

#include <weft/ops.h>

namespace weft::optimizers {

/// A tensor that a formula changes by taking another value.
class Whole {
public:
  explicit Whole(Tensor tensor) : tensor_(std::move(tensor)) {}
  const Tensor &tensor() const { return tensor_; }

  friend Whole operator+(const Whole &a, const Whole &b) { return Whole(a.tensor_ + b.tensor_); }
  friend Whole operator-(const Whole &a, const Whole &b) { return Whole(a.tensor_ - b.tensor_); }
  friend Whole operator*(const Whole &a, const Whole &b) { return Whole(a.tensor_ * b.tensor_); }
  friend Whole operator/(const Whole &a, const Whole &b) { return Whole(a.tensor_ / b.tensor_); }
  friend Whole operator+(const Whole &a, double b) { return Whole(a.tensor_ + b); }
  friend Whole operator-(const Whole &a, double b) { return Whole(a.tensor_ - b); }
  friend Whole operator*(const Whole &a, double b) { return Whole(a.tensor_ * b); }
  friend Whole maximum(const Whole &a, const Whole &b) {
    return Whole(weft::maximum(a.tensor_, b.tensor_));
  }
  friend Whole maximum(const Whole &a, double b) { return Whole(weft::maximum(a.tensor_, b)); }
  friend Whole minimum(const Whole &a, double b) { return Whole(weft::minimum(a.tensor_, b)); }
  friend Whole sqrt(const Whole &x) { return Whole(weft::sqrt(x.tensor_)); }
  friend Whole sign(const Whole &x) { return Whole(weft::sign(x.tensor_)); }

  Whole &operator+=(const Whole &b) { return set_to(*this + b); }
  Whole &operator-=(const Whole &b) { return set_to(*this - b); }
  Whole &operator*=(double b) { return set_to(*this * b); }
  Whole &set_to(const Whole &value) {
    tensor_ = value.tensor_;
    return *this;
  }

private:
  Tensor tensor_;
};

} // namespace weft::optimizers
