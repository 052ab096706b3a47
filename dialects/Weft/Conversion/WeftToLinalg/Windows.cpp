// Convolution and its gradients: calls of the library later on, or loops over sums of products.
#include "Weft/Conversion/WeftToLinalg/NarrowFloats.h"
#include "WindowLoops.h"

#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::weft {

/// Of the kernel's axis of input channels and the images' channels, after the check that they
/// agree.
static void checkChannels(LinalgBuilder &b, const Windows &windows, StringRef name) {
  OpFoldResult has = windows.images.back();
  OpFoldResult wanted = b.multiply(windows.window[windows.axes()], b.getIndexAttr(windows.groups));
  b.requireEqual(has, wanted, name + ": x has {} channels, but the kernel is for {}");
}

/// A call of the library's routine with what all three take.
static Value callLibrary(LinalgBuilder &b, StringRef routine, const Windows &windows,
                         ValueRange inputs, const Sizes &sizes) {
  return callLibrary(b, routine,
                     {windows.images.front(), windows.images.back(), windows.positions.back(),
                      b.getIndexAttr(windows.groups)},
                     windows, inputs, sizes, getElementTypeOrSelf(inputs.front().getType()));
}

/// A tensor whose every element is the sum over further loops, of `summed` sizes, of the product of
/// the two elements that `factors` gives. Of floats of 16 bits they are the bits.
static Value sumOfProducts(LinalgBuilder &b, const Sizes &sizes, const Sizes &summed, Type element,
                           const Signs &signs,
                           llvm::function_ref<std::pair<Value, Value>(BodyBuilder &)> factors) {
  const FloatType format = signs.operandFormat;
  if (format) element = b.getF32Type();
  Value zero = ScalarBuilder(b, b.getLoc()).zero(element);
  const auto step = [&](BodyBuilder &body, ValueRange sums) {
    auto [lhs, rhs] = factors(body);
    if (format) {
      lhs = widenedBits(body.builder(), b.getLoc(), format, lhs);
      rhs = widenedBits(body.builder(), b.getLoc(), format, rhs);
    }
    Value sum = sums.front();
    // Rounded once, as in the library.
    if (element.isF32() || element.isF64())
      return SmallVector<Value>{math::FmaOp::create(body.builder(), b.getLoc(), lhs, rhs, sum)};
    ScalarBuilder scalar(body.builder(), b.getLoc());
    return SmallVector<Value>{scalar.add(sum, scalar.multiply(lhs, rhs))};
  };
  Value result = overLoops(b, sizes, summed, zero, step).front();
  return format ? roundedToBits(b, signs, result, sizes) : result;
}

/// Channel `number` of the group, of `size` channels, that channel `of` of the other side is in, of
/// which a group has `ofSize`. Of one group it is the number, which `of` does not decide.
static Value inGroupOf(BodyBuilder &body, const Windows &windows, Value of, Value ofSize,
                       Value size, Value number) {
  if (windows.groups == 1) return number;
  return body.add(body.multiply(body.divide(of, ofSize), size), number);
}

Value lowerConvolution(LinalgBuilder &b, ConvolutionOp op) {
  Windows windows = windowsOf(op);
  windows.images = b.sizesOf(op.getX());
  windows.window = b.sizesOf(op.getKernel());
  checkChannels(b, windows, "convolution");
  countPositions(b, windows, "convolution");
  windows.positions.push_back(windows.window.back());
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution", windows, {op.getX(), op.getKernel()}, windows.positions);
  const int64_t axes = windows.axes();
  Value inGroup = b.toValue(windows.window[axes]);
  Value out = b.toValue(windows.window.back());
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.images) sizes.push_back(b.toValue(size));
  // Loops: batch, positions, channels of the result; taps, channels of the group.
  return sumOfProducts(
      b, windows.positions, windows.windowAnd(windows.window[axes]),
      getElementTypeOrSelf(op.getX().getType()), b.signsOf(op), [&](BodyBuilder &body) {
        SmallVector<Value> from{body.loop(0)}, weight;
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value tap = body.loop(axes + 2 + axis);
          weight.push_back(tap);
          from.push_back(
              body.inside(body.seen(windows, axis, body.loop(1 + axis), tap), sizes[axis + 1]));
        }
        Value channel = body.loop(2 * axes + 2), to = body.loop(axes + 1);
        weight.append({channel, to});
        from.push_back(inGroupOf(body, windows, to, body.divide(out, body.constant(windows.groups)),
                                 inGroup, channel));
        Value lhs = body.element(op.getX(), from);
        return std::pair(lhs,
                         Value(tensor::ExtractOp::create(body.builder(), op.getKernel(), weight)));
      });
}

Value lowerConvolutionTranspose(LinalgBuilder &b, ConvolutionTransposeOp op) {
  Windows windows = windowsOf(op);
  windows.positions = b.sizesOf(op.getX());
  windows.window = b.sizesOf(op.getKernel());
  b.requireEqual(windows.positions.back(), windows.window.back(),
                 "convolution_transpose: x has {} channels, but the kernel is for {}");
  const int64_t axes = windows.axes();
  countImages(b, windows, op.getExtra(), "convolution_transpose");
  windows.images.push_back(b.multiply(windows.window[axes], b.getIndexAttr(windows.groups)));
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution_transpose", windows, {op.getX(), op.getKernel()},
                       windows.images);
  Value inGroup = b.toValue(windows.window[axes]);
  Value outGroup =
      arith::DivUIOp::create(b, b.toValue(windows.window.back()), b.index(windows.groups));
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.positions) sizes.push_back(b.toValue(size));
  // Loops: batch, places in the images, their channels; taps, channels of the group of x.
  return sumOfProducts(
      b, windows.images, windows.windowAnd(OpFoldResult(outGroup)),
      getElementTypeOrSelf(op.getX().getType()), b.signsOf(op), [&](BodyBuilder &body) {
        SmallVector<Value> from{body.loop(0)}, weight;
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value tap = body.loop(axes + 2 + axis);
          weight.push_back(tap);
          from.push_back(
              positionThatSees(body, windows, axis, body.loop(1 + axis), tap, sizes[axis + 1]));
        }
        Value channel = body.loop(axes + 1);
        Value to = inGroupOf(body, windows, channel, inGroup, outGroup, body.loop(2 * axes + 2));
        from.push_back(to);
        const bool one = windows.groups == 1;
        weight.append({one ? channel : body.remainder(channel, inGroup), to});
        Value lhs = body.element(op.getX(), from);
        return std::pair(lhs,
                         Value(tensor::ExtractOp::create(body.builder(), op.getKernel(), weight)));
      });
}

Value lowerConvolutionKernelGradient(LinalgBuilder &b, ConvolutionKernelGradientOp op) {
  Windows windows = windowsOf(op);
  windows.images = b.sizesOf(op.getX());
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
                           " groups do not divide {} channels",
                       channels);
      }
    if (std::optional<int64_t> known = getConstantIntValue(inGroup))
      inGroup = b.getIndexAttr(*known / windows.groups);
    else
      inGroup = arith::DivUIOp::create(b, b.toValue(inGroup), b.index(windows.groups)).getResult();
  }
  windows.window.append({inGroup, has.back()});
  if (!b.withoutLibrary())
    return callLibrary(b, "convolution_kernel_gradient", windows, {op.getX(), op.getCotangent()},
                       windows.window);
  Value group = b.toValue(inGroup);
  Value outGroup = arith::DivUIOp::create(b, b.toValue(has.back()), b.index(windows.groups));
  SmallVector<Value> sizes;
  for (OpFoldResult size : windows.images) sizes.push_back(b.toValue(size));
  // Loops: taps, channels of the group and of the result; batch, positions.
  Sizes summed(windows.positions.begin(), windows.positions.end() - 1);
  return sumOfProducts(
      b, windows.window, summed, getElementTypeOrSelf(op.getX().getType()), b.signsOf(op),
      [&](BodyBuilder &body) {
        Value image = body.loop(axes + 2), to = body.loop(axes + 1);
        SmallVector<Value> from{image}, position{image};
        for (int64_t axis = 0; axis < axes; ++axis) {
          Value at = body.loop(axes + 3 + axis);
          position.push_back(at);
          from.push_back(
              body.inside(body.seen(windows, axis, at, body.loop(axis)), sizes[axis + 1]));
        }
        from.push_back(inGroupOf(body, windows, to, outGroup, group, body.loop(axes)));
        position.push_back(to);
        Value lhs = body.element(op.getX(), from);
        return std::pair(
            lhs, Value(tensor::ExtractOp::create(body.builder(), op.getCotangent(), position)));
      });
}

} // namespace mlir::weft
