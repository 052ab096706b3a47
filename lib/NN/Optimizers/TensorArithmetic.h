// Whole tensors with the operators that the formulas of optimizers need: what they are computed on
// where calls are recorded.
#pragma once

#include <utility>

#include <weft/ops.h>

namespace weft::optimizers {

/// A tensor that a formula changes by taking another value.
class TensorArithmetic {
public:
  explicit TensorArithmetic(Tensor tensor) : tensor_(std::move(tensor)) {}
  const Tensor &tensor() const { return tensor_; }

  friend TensorArithmetic operator+(const TensorArithmetic &a, const TensorArithmetic &b) {
    return TensorArithmetic(a.tensor_ + b.tensor_);
  }
  friend TensorArithmetic operator-(const TensorArithmetic &a, const TensorArithmetic &b) {
    return TensorArithmetic(a.tensor_ - b.tensor_);
  }
  friend TensorArithmetic operator*(const TensorArithmetic &a, const TensorArithmetic &b) {
    return TensorArithmetic(a.tensor_ * b.tensor_);
  }
  friend TensorArithmetic operator/(const TensorArithmetic &a, const TensorArithmetic &b) {
    return TensorArithmetic(a.tensor_ / b.tensor_);
  }
  friend TensorArithmetic operator+(const TensorArithmetic &a, double b) {
    return TensorArithmetic(a.tensor_ + b);
  }
  friend TensorArithmetic operator-(const TensorArithmetic &a, double b) {
    return TensorArithmetic(a.tensor_ - b);
  }
  friend TensorArithmetic operator*(const TensorArithmetic &a, double b) {
    return TensorArithmetic(a.tensor_ * b);
  }
  friend TensorArithmetic maximum(const TensorArithmetic &a, const TensorArithmetic &b) {
    return TensorArithmetic(weft::maximum(a.tensor_, b.tensor_));
  }
  friend TensorArithmetic maximum(const TensorArithmetic &a, double b) {
    return TensorArithmetic(weft::maximum(a.tensor_, b));
  }
  friend TensorArithmetic minimum(const TensorArithmetic &a, double b) {
    return TensorArithmetic(weft::minimum(a.tensor_, b));
  }
  friend TensorArithmetic sqrt(const TensorArithmetic &x) {
    return TensorArithmetic(weft::sqrt(x.tensor_));
  }
  friend TensorArithmetic sign(const TensorArithmetic &x) {
    return TensorArithmetic(weft::real_sign(x.tensor_));
  }

  TensorArithmetic &operator+=(const TensorArithmetic &b) { return set_to(*this + b); }
  TensorArithmetic &operator-=(const TensorArithmetic &b) { return set_to(*this - b); }
  TensorArithmetic &operator*=(double b) { return set_to(*this * b); }
  TensorArithmetic &set_to(const TensorArithmetic &value) {
    tensor_ = value.tensor_;
    return *this;
  }

private:
  Tensor tensor_;
};

} // namespace weft::optimizers
