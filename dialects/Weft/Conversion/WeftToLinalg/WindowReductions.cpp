// Reductions over windows and what their derivatives need: calls of the library later on, or loops.
#include "WindowLoops.h"

namespace mlir::weft {

/// A call of the library's routine with what all of them take, or null where it cannot be called.
static Value callIfLibrary(LinalgBuilder &b, StringRef routine, const Windows &windows,
                           ValueRange inputs, const Sizes &sizes, Type element) {
  if (b.withoutLibrary()) return {};
  return callLibrary(b, routine, {windows.images.front(), windows.images.back()}, windows, inputs,
                     sizes, element);
}

/// The windows over images x, after the check that they fit.
template <class Op>
static Windows windowsOver(LinalgBuilder &b, Op op) {
  Windows windows = windowsOf(op);
  windows.images = b.sizesOf(op.getX());
  countPositions(b, windows, Op::getOperationName().drop_front(5));
  windows.positions.push_back(windows.images.back());
  return windows;
}

/// The windows of which x lies at the positions.
template <class Op>
static Windows windowsBehind(LinalgBuilder &b, Op op) {
  Windows windows = windowsOf(op);
  windows.positions = b.sizesOf(op.getX());
  countImages(b, windows, op.getExtra(), Op::getOperationName().drop_front(5));
  windows.images.push_back(windows.positions.back());
  return windows;
}

static SmallVector<Value> valuesOf(LinalgBuilder &b, const Sizes &sizes) {
  return llvm::map_to_vector(sizes, [&](OpFoldResult size) { return b.toValue(size); });
}

/// Where taps see from the position whose loops are the first ones: a place in the images.
static SmallVector<Value> placeSeen(BodyBuilder &body, const Windows &windows, ValueRange sizes,
                                    ArrayRef<Value> taps) {
  SmallVector<Value> at{body.loop(0)};
  for (auto [axis, tap] : llvm::enumerate(taps))
    at.push_back(body.inside(body.seen(windows, axis, body.loop(axis + 1), tap), sizes[axis + 1]));
  at.push_back(body.loop(windows.axes() + 1));
  return at;
}

/// The taps that the loops behind those of the result are at.
static SmallVector<Value> tapsOf(BodyBuilder &body, const Windows &windows) {
  SmallVector<Value> taps;
  for (int64_t axis = 0; axis < windows.axes(); ++axis)
    taps.push_back(body.loop(windows.axes() + 2 + axis));
  return taps;
}

/// The number of a tap in its window, as i32.
static Value numberOf(BodyBuilder &body, ArrayRef<int64_t> window, ArrayRef<Value> taps) {
  Value number = body.constant(0);
  for (auto [size, tap] : llvm::zip_equal(window, taps))
    number = body.add(body.multiply(number, body.constant(size)), tap);
  return arith::IndexCastOp::create(body.builder(), body.builder().getI32Type(), number);
}

/// Whether an element takes the place of the best so far: it is better, or the first NaN.
static Value isBetter(ScalarBuilder &s, bool largest, Value next, Value best) {
  return largest ? s.isBetterMaximum(next, best) : s.isBetterMinimum(next, best);
}

template <class Op>
static Value lowerExtremum(LinalgBuilder &b, Op op, StringRef routine, bool largest) {
  const Windows windows = windowsOver(b, op);
  Type element = getElementTypeOrSelf(op.getX().getType());
  if (Value result = callIfLibrary(b, routine, windows, op.getX(), windows.positions, element))
    return result;
  ScalarBuilder scalar(b, b.getLoc());
  const SmallVector<Value> sizes = valuesOf(b, windows.images);
  return overLoops(b, windows.positions, windows.window,
                   largest ? scalar.lowest(element) : scalar.highest(element),
                   [&](BodyBuilder &body, ValueRange best) {
                     ScalarBuilder s(body.builder(), b.getLoc());
                     Value next = body.element(
                         op.getX(), placeSeen(body, windows, sizes, tapsOf(body, windows)));
                     Value takes =
                         s.logicalAnd(body.holds(), isBetter(s, largest, next, best.front()));
                     return SmallVector<Value>{s.select(takes, next, best.front())};
                   })
      .front();
}

Value lowerWindowMax(LinalgBuilder &b, WindowMaxOp op) {
  return lowerExtremum(b, op, "window_max", true);
}
Value lowerWindowMin(LinalgBuilder &b, WindowMinOp op) {
  return lowerExtremum(b, op, "window_min", false);
}

template <class Op>
static Value lowerPlaces(LinalgBuilder &b, Op op, StringRef routine, bool largest) {
  const Windows windows = windowsOver(b, op);
  Type element = getElementTypeOrSelf(op.getX().getType()), i32 = b.getI32Type();
  if (Value result = callIfLibrary(b, routine, windows, op.getX(), windows.positions, i32))
    return result;
  ScalarBuilder scalar(b, b.getLoc());
  const SmallVector<Value> sizes = valuesOf(b, windows.images);
  Value best = largest ? scalar.lowest(element) : scalar.highest(element);
  // -1 as long as nothing was seen.
  Value place =
      overLoops(
          b, windows.positions, windows.window, {best, scalar.constant(-1, i32)},
          [&](BodyBuilder &body, ValueRange so) {
            ScalarBuilder s(body.builder(), b.getLoc());
            const SmallVector<Value> taps = tapsOf(body, windows);
            Value next = body.element(op.getX(), placeSeen(body, windows, sizes, taps));
            Value isFirst = s.less(so[1], s.zero(i32));
            Value takes =
                s.logicalAnd(body.holds(), s.logicalOr(isFirst, isBetter(s, largest, next, so[0])));
            Value here = numberOf(body, op.getWindow(), taps);
            return SmallVector<Value>{s.select(takes, next, so[0]), s.select(takes, here, so[1])};
          })
          .back();
  return b.elementwise(windows.positions, i32, place,
                       b.getMultiDimIdentityMap(windows.positions.size()),
                       [&](OpBuilder &builder, Location loc, ValueRange args) {
                         ScalarBuilder s(builder, loc);
                         return s.maximum(args[0], s.zero(i32));
                       });
}

Value lowerWindowArgmax(LinalgBuilder &b, WindowArgmaxOp op) {
  return lowerPlaces(b, op, "window_argmax", true);
}
Value lowerWindowArgmin(LinalgBuilder &b, WindowArgminOp op) {
  return lowerPlaces(b, op, "window_argmin", false);
}

Value lowerWindowSum(LinalgBuilder &b, WindowSumOp op) {
  const Windows windows = windowsOver(b, op);
  Type element = getElementTypeOrSelf(op.getX().getType());
  if (Value result = callIfLibrary(b, "window_sum", windows, op.getX(), windows.positions, element))
    return result;
  const SmallVector<Value> sizes = valuesOf(b, windows.images);
  return overLoops(b, windows.positions, windows.window, ScalarBuilder(b, b.getLoc()).zero(element),
                   [&](BodyBuilder &body, ValueRange sum) {
                     Value next = body.element(
                         op.getX(), placeSeen(body, windows, sizes, tapsOf(body, windows)));
                     return SmallVector<Value>{
                         ScalarBuilder(body.builder(), b.getLoc()).add(sum.front(), next)};
                   })
      .front();
}

Value lowerWindowTake(LinalgBuilder &b, WindowTakeOp op) {
  const Windows windows = windowsOver(b, op);
  const Sizes has = b.sizesOf(op.getPlaces());
  for (auto [axis, size, wanted] : llvm::enumerate(has, windows.positions))
    b.requireEqual(size, wanted,
                   "window_take: axis " + Twine(axis) +
                       " of places has size {}, but there are {} windows along it");
  Type element = getElementTypeOrSelf(op.getX().getType());
  if (Value result = callIfLibrary(b, "window_take", windows, {op.getX(), op.getPlaces()},
                                   windows.positions, element))
    return result;
  const SmallVector<Value> sizes = valuesOf(b, windows.images);
  return b.elementwise(
      windows.positions, element, op.getPlaces(), b.getMultiDimIdentityMap(has.size()),
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        BodyBuilder body(builder, loc);
        // What is below 0 is larger than every number, as an unsigned one.
        Value number = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), args[0]);
        SmallVector<Value> taps(op.getWindow().size());
        for (size_t axis = taps.size(); axis-- > 0;) {
          Value size = body.constant(op.getWindow()[axis]);
          taps[axis] = axis == 0 ? body.inside(number, size) : body.remainder(number, size);
          number = body.divide(number, size);
        }
        return body.element(op.getX(), placeSeen(body, windows, sizes, taps));
      });
}

/// Images whose every element is the sum, over the windows that see it in the order of their
/// positions, of what `element` gives of a window's position and the tap that sees.
static Value
sumOfWindows(LinalgBuilder &b, const Windows &windows, ArrayRef<int64_t> window, Type type,
             llvm::function_ref<Value(BodyBuilder &, ArrayRef<Value>, ArrayRef<Value>)> element) {
  const SmallVector<Value> sizes = valuesOf(b, windows.positions);
  return overLoops(b, windows.images, windows.window, ScalarBuilder(b, b.getLoc()).zero(type),
                   [&](BodyBuilder &body, ValueRange sum) {
                     SmallVector<Value> at{body.loop(0)}, taps;
                     for (auto [axis, turn] : llvm::enumerate(tapsOf(body, windows))) {
                       // The last tap that sees an element is that of the first position.
                       taps.push_back(body.subtract(body.constant(window[axis] - 1), turn));
                       at.push_back(positionThatSees(body, windows, axis, body.loop(axis + 1),
                                                     taps.back(), sizes[axis + 1]));
                     }
                     at.push_back(body.loop(windows.axes() + 1));
                     return SmallVector<Value>{ScalarBuilder(body.builder(), b.getLoc())
                                                   .add(sum.front(), element(body, at, taps))};
                   })
      .front();
}

Value lowerWindowSumTranspose(LinalgBuilder &b, WindowSumTransposeOp op) {
  const Windows windows = windowsBehind(b, op);
  Type type = getElementTypeOrSelf(op.getX().getType());
  if (Value result =
          callIfLibrary(b, "window_sum_transpose", windows, op.getX(), windows.images, type))
    return result;
  return sumOfWindows(b, windows, op.getWindow(), type,
                      [&](BodyBuilder &body, ArrayRef<Value> at, ArrayRef<Value>) {
                        return body.element(op.getX(), SmallVector<Value>(at));
                      });
}

Value lowerWindowScatter(LinalgBuilder &b, WindowScatterOp op) {
  const Windows windows = windowsBehind(b, op);
  const Sizes has = b.sizesOf(op.getPlaces());
  for (auto [axis, size, wanted] : llvm::enumerate(has, windows.positions))
    b.requireEqual(size, wanted,
                   "window_scatter: axis " + Twine(axis) +
                       " of places has size {}, but that of x has {}");
  Type type = getElementTypeOrSelf(op.getX().getType());
  if (Value result = callIfLibrary(b, "window_scatter", windows, {op.getX(), op.getPlaces()},
                                   windows.images, type))
    return result;
  return sumOfWindows(b, windows, op.getWindow(), type,
                      [&](BodyBuilder &body, ArrayRef<Value> at, ArrayRef<Value> taps) {
                        ScalarBuilder s(body.builder(), b.getLoc());
                        Value place = body.element(op.getPlaces(), SmallVector<Value>(at));
                        body.require(s.equal(place, numberOf(body, op.getWindow(), taps)));
                        return body.element(op.getX(), SmallVector<Value>(at));
                      });
}

} // namespace mlir::weft
