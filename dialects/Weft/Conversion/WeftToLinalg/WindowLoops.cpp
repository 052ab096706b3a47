// How windows lie, and loops over what they see.
#include "WindowLoops.h"

namespace mlir::weft {

/// The inputs that a window goes over along an axis, after the check that the window is not empty.
static OpFoldResult reachOf(LinalgBuilder &b, const Windows &windows, int64_t axis,
                            StringRef name) {
  OpFoldResult window = windows.window[axis];
  if (!getConstantIntValue(window))
    b.requireAtMost(b.getIndexAttr(1), window,
                    name + ": axis " + Twine(axis) + " of the kernel is empty", {});
  OpFoldResult more =
      b.multiply(b.add(window, b.getIndexAttr(-1)), b.getIndexAttr(windows.dilations[axis]));
  return b.add(more, b.getIndexAttr(1));
}

void countPositions(LinalgBuilder &b, Windows &windows, StringRef name) {
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

void countImages(LinalgBuilder &b, Windows &windows, ArrayRef<int64_t> extra, StringRef name) {
  windows.images = {windows.positions.front()};
  for (int64_t axis = 0; axis < windows.axes(); ++axis) {
    const int64_t stride = windows.strides[axis];
    const int64_t more = extra[axis] - stride - windows.low[axis] - windows.high[axis];
    OpFoldResult size = b.add(b.multiply(windows.positions[axis + 1], b.getIndexAttr(stride)),
                              b.getIndexAttr(more));
    size = b.add(size, reachOf(b, windows, axis, name));
    b.requireNotNegative(
        size, name + ": spatial axis " + Twine(axis) + " of the result would have {} elements",
        {size});
    windows.images.push_back(size);
  }
}

Value callLibrary(LinalgBuilder &b, StringRef routine, ArrayRef<OpFoldResult> leading,
                  const Windows &windows, ValueRange inputs, const Sizes &sizes, Type element) {
  SmallVector<OpFoldResult> numbers(leading);
  for (int64_t missing = windows.axes(); missing < 3; ++missing)
    for (int64_t number : {1, 1, 1, 1, 0, 1}) numbers.push_back(b.getIndexAttr(number));
  for (int64_t axis = 0; axis < windows.axes(); ++axis) {
    numbers.append({windows.images[axis + 1], windows.window[axis], windows.positions[axis + 1]});
    for (ArrayRef<int64_t> entries : {windows.strides, windows.low, windows.dilations})
      numbers.push_back(b.getIndexAttr(entries[axis]));
  }
  return b.called(routine, inputs, numbers, sizes, element);
}

SmallVector<Value>
overLoops(LinalgBuilder &b, const Sizes &sizes, const Sizes &reduced, ArrayRef<Value> inits,
          llvm::function_ref<SmallVector<Value>(BodyBuilder &, ValueRange)> step) {
  const unsigned kept = sizes.size(), all = kept + reduced.size();
  SmallVector<Value> results;
  for (Value init : inits) results.push_back(b.filled(sizes, init));
  // Loops have their sizes from operands: the further ones from a tensor that nobody reads.
  Value extents = b.empty(reduced, inits.front().getType());
  AffineMap identity = AffineMap::getMultiDimIdentityMap(all, b.getContext());
  SmallVector<AffineMap> maps{identity.getMinorSubMap(reduced.size())};
  maps.append(inits.size(), identity.getMajorSubMap(kept));
  SmallVector<utils::IteratorType> loops(kept, utils::IteratorType::parallel);
  loops.append(reduced.size(), utils::IteratorType::reduction);
  auto generic = linalg::GenericOp::create(
      b, ValueRange(results).getTypes(), extents, results, maps, loops,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        BodyBuilder body(builder, loc);
        linalg::YieldOp::create(builder, loc, step(body, args.drop_front()));
      });
  results.assign(generic.result_begin(), generic.result_end());
  for (Value result : results) b.setSizes(result, sizes);
  return results;
}

Value positionThatSees(BodyBuilder &body, const Windows &windows, int64_t axis, Value at, Value tap,
                       Value positions) {
  Value stride = body.constant(windows.strides[axis]);
  Value from = body.add(at, body.constant(windows.low[axis]));
  from = body.subtract(from, body.multiply(tap, body.constant(windows.dilations[axis])));
  // What is below 0 is larger than every size, as an unsigned number and divided too.
  body.require(arith::CmpIOp::create(body.builder(), arith::CmpIPredicate::eq,
                                     body.remainder(from, stride), body.constant(0)));
  body.require(
      arith::CmpIOp::create(body.builder(), arith::CmpIPredicate::sge, from, body.constant(0)));
  return body.inside(body.divide(from, stride), positions);
}

} // namespace mlir::weft
