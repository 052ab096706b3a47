// What the conversions of ops on windows share: how windows lie, and loops whose bodies read
// elements at places that may be outside.
#pragma once

#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

/// What ops on windows have in common: how windows lie, and the sizes of images, of the window (for
/// a convolution of the kernel, which begins with them) and of positions.
struct Windows {
  ArrayRef<int64_t> strides, low, high, dilations;
  int64_t groups = 1;
  Sizes images, window, positions;

  int64_t axes() const { return static_cast<int64_t>(strides.size()); }
  /// The window's sizes, and behind them those.
  Sizes windowAnd(ArrayRef<OpFoldResult> more) const {
    Sizes sizes(window.begin(), window.begin() + axes());
    sizes.append(more.begin(), more.end());
    return sizes;
  }
};

template <class Op>
Windows windowsOf(Op op) {
  Windows windows{op.getStrides(), op.getLow(), op.getHigh(), op.getDilations(), 1, {}, {}, {}};
  if constexpr (requires { op.getGroups(); }) windows.groups = static_cast<int64_t>(op.getGroups());
  if constexpr (requires { op.getWindow(); })
    for (int64_t size : op.getWindow())
      windows.window.push_back(Builder(op.getContext()).getIndexAttr(size));
  return windows;
}

/// The batch and the positions along all axes, after the check that windows fit.
void countPositions(LinalgBuilder &b, Windows &windows, StringRef name);
/// The batch and the sizes of the axes of images of which those positions are the windows', with so
/// many elements behind the last one, after the check that they are sizes.
void countImages(LinalgBuilder &b, Windows &windows, ArrayRef<int64_t> extra, StringRef name);

/// A call of the library's routine with `leading` numbers and, of three axes, the first ones of
/// size 1 where there are fewer, input, window, positions, stride, padding, dilation.
Value callLibrary(LinalgBuilder &b, StringRef routine, ArrayRef<OpFoldResult> leading,
                  const Windows &windows, ValueRange inputs, const Sizes &sizes, Type element);

/// Builds the body of a loop: indices from loops, and elements of tensors at places that may be
/// outside.
class BodyBuilder {
public:
  BodyBuilder(OpBuilder &builder, Location loc) : b_(loc, builder) {}

  Value loop(int64_t number) { return linalg::IndexOp::create(b_, number); }
  Value constant(int64_t value) { return arith::ConstantIndexOp::create(b_, value); }
  Value add(Value lhs, Value rhs) { return b_.createOrFold<arith::AddIOp>(lhs, rhs); }
  Value subtract(Value lhs, Value rhs) { return b_.createOrFold<arith::SubIOp>(lhs, rhs); }
  Value multiply(Value lhs, Value rhs) { return b_.createOrFold<arith::MulIOp>(lhs, rhs); }
  Value divide(Value lhs, Value rhs) { return b_.createOrFold<arith::DivUIOp>(lhs, rhs); }
  Value remainder(Value lhs, Value rhs) { return b_.createOrFold<arith::RemUIOp>(lhs, rhs); }

  /// Where a tap sees from a position: `position * stride + tap * dilation - low`.
  Value seen(const Windows &windows, int64_t axis, Value position, Value tap) {
    Value at = add(multiply(position, constant(windows.strides[axis])),
                   multiply(tap, constant(windows.dilations[axis])));
    return subtract(at, constant(windows.low[axis]));
  }

  /// Notes that all is nothing unless 0 <= at < size; gives a place that is inside.
  Value inside(Value at, Value size) {
    require(arith::CmpIOp::create(b_, arith::CmpIPredicate::ult, at, size));
    return at;
  }
  void require(Value condition) {
    holds_ = holds_ ? Value(arith::AndIOp::create(b_, holds_, condition)) : condition;
  }
  /// The element at those places, or zero where one of them is outside.
  Value element(Value tensor, SmallVector<Value> at) {
    if (!holds_) return tensor::ExtractOp::create(b_, tensor, at);
    Value zero = constant(0);
    for (Value &place : at) place = arith::SelectOp::create(b_, holds_, place, zero);
    Value value = tensor::ExtractOp::create(b_, tensor, at);
    Value none = arith::ConstantOp::create(b_, b_.getZeroAttr(value.getType()));
    return arith::SelectOp::create(b_, holds_, value, none);
  }
  /// Whether all that was noted holds; null if nothing was.
  Value holds() const { return holds_; }
  ImplicitLocOpBuilder &builder() { return b_; }

private:
  ImplicitLocOpBuilder b_;
  Value holds_;
};

/// Tensors whose elements `step` computes over further loops of sizes `reduced`, one step after the
/// other, each from what it was before, `inits` at first.
SmallVector<Value>
overLoops(LinalgBuilder &b, const Sizes &sizes, const Sizes &reduced, ArrayRef<Value> inits,
          llvm::function_ref<SmallVector<Value>(BodyBuilder &, ValueRange)> step);

/// Where in the positions the window is whose `tap` sees place `at` of the images along an axis:
/// its number, which is noted to be one.
Value positionThatSees(BodyBuilder &body, const Windows &windows, int64_t axis, Value at, Value tap,
                       Value positions);

} // namespace mlir::weft
