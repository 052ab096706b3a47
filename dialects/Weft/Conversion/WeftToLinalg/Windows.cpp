// Convolution and its gradients: calls of the library later on, or loops over sums of products.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

namespace {

/// What a convolution and its gradients have in common: how windows lie, and the sizes of images,
/// kernel and positions.
struct Windows {
  ArrayRef<int64_t> strides, low, high, dilations;
  int64_t groups;
  Sizes images, kernel, positions;

  int64_t axes() const { return static_cast<int64_t>(strides.size()); }
};

template <class Op>
Windows windowsOf(Op op) {
  return {op.getStrides(),
          op.getLow(),
          op.getHigh(),
          op.getDilations(),
          static_cast<int64_t>(op.getGroups()),
          {},
          {},
          {}};
}

} // namespace

/// The inputs that a window goes over along an axis, after the check that the window is not empty.
static OpFoldResult reachOf(LinalgBuilder &b, const Windows &windows, int64_t axis,
                            StringRef name) {
  OpFoldResult window = windows.kernel[axis];
  if (!getConstantIntValue(window))
    b.requireAtMost(b.getIndexAttr(1), window,
                    name + ": axis " + Twine(axis) + " of the kernel is empty", {});
  OpFoldResult more =
      b.multiply(b.add(window, b.getIndexAttr(-1)), b.getIndexAttr(windows.dilations[axis]));
  return b.add(more, b.getIndexAttr(1));
}

/// The positions along all axes, after the check that windows fit.
static void countPositions(LinalgBuilder &b, Windows &windows, StringRef name) {
  windows.positions = {windows.images.front()};
  for (int64_t axis = 0; axis < windows.axes(); ++axis) {
    OpFoldResult padded =
        b.add(windows.images[axis + 1], b.getIndexAttr(windows.low[axis] + windows.high[axis]));
    OpFoldResult reach = reachOf(b, windows, axis, name);
    std::optional<int64_t> has = getConstantIntValue(padded), wanted = getConstantIntValue(reach);
    if (has && wanted) {
      windows.positions.push_back(b.getIndexAttr((*has - *wanted) / windows.strides[axis] + 1));
      continue;
    }
    b.requireAtMost(reach, padded,
                    name + ": a window over {} elements does not fit in spatial axis " +
                        Twine(axis) + ", which has {} with its padding",
                    {reach, padded});
    Value room = arith::SubIOp::create(b, b.toValue(padded), b.toValue(reach));
    Value more = arith::DivUIOp::create(b, room, b.index(windows.strides[axis]));
    windows.positions.push_back(b.add(more, b.getIndexAttr(1)));
  }
}

/// Of the kernel's axis of input channels and the images' channels, after the check that they
/// agree.
static void checkChannels(LinalgBuilder &b, const Windows &windows, StringRef name) {
  OpFoldResult has = windows.images.back();
  OpFoldResult wanted = b.multiply(windows.kernel[windows.axes()], b.getIndexAttr(windows.groups));
  b.requireEqual(has, wanted, name + ": x has {} channels, but the kernel is for {}");
}

/// A call of the library's routine with what all three take: batch, channels, groups, and of three
/// axes, the first ones of size 1 where there are fewer, input, window, positions, stride, padding,
/// dilation.
static Value callLibrary(LinalgBuilder &b, StringRef routine, const Windows &windows,
                         ValueRange inputs, const Sizes &sizes) {
  SmallVector<OpFoldResult> numbers{windows.images.front(), windows.images.back(),
                                    windows.positions.back(), b.getIndexAttr(windows.groups)};
  for (int64_t missing = windows.axes(); missing < 3; ++missing)
    for (int64_t number : {1, 1, 1, 1, 0, 1}) numbers.push_back(b.getIndexAttr(number));
  for (int64_t axis = 0; axis < windows.axes(); ++axis) {
    numbers.append({windows.images[axis + 1], windows.kernel[axis], windows.positions[axis + 1]});
    for (ArrayRef<int64_t> entries : {windows.strides, windows.low, windows.dilations})
      numbers.push_back(b.getIndexAttr(entries[axis]));
  }
  return b.called(routine, inputs, numbers, sizes, getElementTypeOrSelf(inputs.front().getType()));
}

namespace {

/// Builds the body of a sum of products: indices from loops, and elements of tensors at places that
/// may be outside.
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
  ImplicitLocOpBuilder &builder() { return b_; }

private:
  ImplicitLocOpBuilder b_;
  Value holds_;
};

} // namespace

/// A tensor whose every element is the sum over further loops, of `summed` sizes, of the product of
/// the two elements that `factors` gives.
static Value sumOfProducts(LinalgBuilder &b, const Sizes &sizes, const Sizes &summed, Type element,
                           llvm::function_ref<std::pair<Value, Value>(BodyBuilder &)> factors) {
  ScalarBuilder scalars(b, b.getLoc());
  Value init = b.filled(sizes, scalars.zero(element));
  const unsigned kept = sizes.size(), all = kept + summed.size();
  // Loops have their sizes from operands: the further ones from a tensor that nobody reads.
  Value extents = b.empty(summed, element);
  AffineMap identity = AffineMap::getMultiDimIdentityMap(all, b.getContext());
  AffineMap maps[] = {identity.getMinorSubMap(summed.size()), identity.getMajorSubMap(kept)};
  SmallVector<utils::IteratorType> loops(kept, utils::IteratorType::parallel);
  loops.append(summed.size(), utils::IteratorType::reduction);
  Value result =
      linalg::GenericOp::create(b, init.getType(), extents, init, maps, loops,
                                [&](OpBuilder &builder, Location loc, ValueRange args) {
                                  BodyBuilder body(builder, loc);
                                  const auto [lhs, rhs] = factors(body);
                                  ScalarBuilder scalar(body.builder(), loc);
                                  linalg::YieldOp::create(
                                      builder, loc, scalar.add(args[1], scalar.multiply(lhs, rhs)));
                                })
          .getResult(0);
  b.setSizes(result, sizes);
  return result;
}

/// The window's sizes, and behind them one more.
static Sizes windowAnd(const Windows &windows, OpFoldResult more) {
  Sizes sizes(windows.kernel.begin(), windows.kernel.begin() + windows.axes());
  sizes.push_back(more);
  return sizes;
}

Value lowerConvolution(LinalgBuilder &b, ConvolutionOp op) {
  Windows windows = windowsOf(op);
  windows.images = b.sizesOf(op.getX());
  windows.kernel = b.sizesOf(op.getKernel());
  checkChannels(b, windows, "convolution");
  countPositions(b, windows, "convolution");
  windows.positions.push_back(windows.kernel.back());
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution", windows, {op.getX(), op.getKernel()}, windows.positions);
  const int64_t axes = windows.axes();
  Value inGroup = b.toValue(windows.kernel[axes]);
  Value out = b.toValue(windows.kernel.back());
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.images) sizes.push_back(b.toValue(size));
  // Loops: batch, positions, channels of the result; taps, channels of the group.
  return sumOfProducts(
      b, windows.positions, windowAnd(windows, windows.kernel[axes]),
      getElementTypeOrSelf(op.getX().getType()), [&](BodyBuilder &body) {
        SmallVector<Value> from{body.loop(0)}, weight;
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value tap = body.loop(axes + 2 + axis);
          weight.push_back(tap);
          from.push_back(
              body.inside(body.seen(windows, axis, body.loop(1 + axis), tap), sizes[axis + 1]));
        }
        Value channel = body.loop(2 * axes + 2), to = body.loop(axes + 1);
        weight.append({channel, to});
        Value group = body.divide(to, body.divide(out, body.constant(windows.groups)));
        from.push_back(body.add(body.multiply(group, inGroup), channel));
        Value lhs = body.element(op.getX(), from);
        return std::pair(lhs,
                         Value(tensor::ExtractOp::create(body.builder(), op.getKernel(), weight)));
      });
}

Value lowerConvolutionTranspose(LinalgBuilder &b, ConvolutionTransposeOp op) {
  Windows windows = windowsOf(op);
  windows.positions = b.sizesOf(op.getX());
  windows.kernel = b.sizesOf(op.getKernel());
  b.requireEqual(windows.positions.back(), windows.kernel.back(),
                 "convolution_transpose: x has {} channels, but the kernel is for {}");
  windows.images = {windows.positions.front()};
  const int64_t axes = windows.axes();
  for (int64_t axis = 0; axis < axes; ++axis) {
    const int64_t stride = windows.strides[axis];
    const int64_t more = op.getExtra()[axis] - stride - windows.low[axis] - windows.high[axis];
    OpFoldResult size = b.add(b.multiply(windows.positions[axis + 1], b.getIndexAttr(stride)),
                              b.getIndexAttr(more));
    size = b.add(size, reachOf(b, windows, axis, "convolution_transpose"));
    b.requireNotNegative(size,
                         "convolution_transpose: spatial axis " + Twine(axis) +
                             " of the result would have {} elements",
                         {size});
    windows.images.push_back(size);
  }
  windows.images.push_back(b.multiply(windows.kernel[axes], b.getIndexAttr(windows.groups)));
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution_transpose", windows, {op.getX(), op.getKernel()},
                       windows.images);
  Value inGroup = b.toValue(windows.kernel[axes]);
  Value outGroup =
      arith::DivUIOp::create(b, b.toValue(windows.kernel.back()), b.index(windows.groups));
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.positions) sizes.push_back(b.toValue(size));
  // Loops: batch, places in the images, their channels; taps, channels of the group of x.
  return sumOfProducts(
      b, windows.images, windowAnd(windows, outGroup), getElementTypeOrSelf(op.getX().getType()),
      [&](BodyBuilder &body) {
        SmallVector<Value> from{body.loop(0)}, weight;
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value tap = body.loop(axes + 2 + axis);
          weight.push_back(tap);
          Value stride = body.constant(windows.strides[axis]);
          Value at = body.add(body.loop(1 + axis), body.constant(windows.low[axis]));
          at = body.subtract(at, body.multiply(tap, body.constant(windows.dilations[axis])));
          // What is below 0 is larger than every size, as an unsigned number and divided too.
          body.require(arith::CmpIOp::create(body.builder(), arith::CmpIPredicate::eq,
                                             body.remainder(at, stride), body.constant(0)));
          body.require(arith::CmpIOp::create(body.builder(), arith::CmpIPredicate::sge, at,
                                             body.constant(0)));
          from.push_back(body.inside(body.divide(at, stride), sizes[axis + 1]));
        }
        Value channel = body.loop(axes + 1);
        Value to = body.add(body.multiply(body.divide(channel, inGroup), outGroup),
                            body.loop(2 * axes + 2));
        from.push_back(to);
        weight.append({body.remainder(channel, inGroup), to});
        Value lhs = body.element(op.getX(), from);
        return std::pair(lhs,
                         Value(tensor::ExtractOp::create(body.builder(), op.getKernel(), weight)));
      });
}

Value lowerConvolutionKernelGradient(LinalgBuilder &b, ConvolutionKernelGradientOp op) {
  Windows windows = windowsOf(op);
  windows.images = b.sizesOf(op.getX());
  for (int64_t size : op.getWindow()) windows.kernel.push_back(b.getIndexAttr(size));
  countPositions(b, windows, "convolution_kernel_gradient");
  Sizes has = b.sizesOf(op.getCotangent());
  const int64_t axes = windows.axes();
  for (int64_t axis = 0; axis <= axes; ++axis)
    b.requireEqual(has[axis], windows.positions[axis],
                   "convolution_kernel_gradient: axis " + Twine(axis) +
                       " of the cotangent has size {}, but the convolution's result {}");
  windows.positions.push_back(has.back());
  OpFoldResult inGroup = windows.images.back();
  if (windows.groups != 1) {
    for (OpFoldResult channels : {windows.images.back(), has.back()})
      if (!getConstantIntValue(channels)) {
        Value rest = arith::RemUIOp::create(b, b.toValue(channels), b.index(windows.groups));
        b.requireEqual(rest, b.getIndexAttr(0),
                       "convolution_kernel_gradient: " + Twine(windows.groups) +
                           " groups do not divide the channels");
      }
    if (std::optional<int64_t> known = getConstantIntValue(inGroup))
      inGroup = b.getIndexAttr(*known / windows.groups);
    else
      inGroup = arith::DivUIOp::create(b, b.toValue(inGroup), b.index(windows.groups)).getResult();
  }
  windows.kernel.append({inGroup, has.back()});
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution_kernel_gradient", windows, {op.getX(), op.getCotangent()},
                       windows.kernel);
  Value group = b.toValue(inGroup);
  Value outGroup = arith::DivUIOp::create(b, b.toValue(has.back()), b.index(windows.groups));
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.images) sizes.push_back(b.toValue(size));
  // Loops: taps, channels of the group and of the result; batch, positions.
  Sizes summed(windows.positions.begin(), windows.positions.end() - 1);
  return sumOfProducts(
      b, windows.kernel, summed, getElementTypeOrSelf(op.getX().getType()), [&](BodyBuilder &body) {
        Value image = body.loop(axes + 2), to = body.loop(axes + 1);
        SmallVector<Value> from{image}, position{image};
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value at = body.loop(axes + 3 + axis);
          position.push_back(at);
          from.push_back(
              body.inside(body.seen(windows, axis, at, body.loop(axis)), sizes[axis + 1]));
        }
        from.push_back(body.add(body.multiply(body.divide(to, outGroup), group), body.loop(axes)));
        position.push_back(to);
        Value lhs = body.element(op.getX(), from);
        return std::pair(
            lhs, Value(tensor::ExtractOp::create(body.builder(), op.getCotangent(), position)));
      });
}

} // namespace mlir::weft
