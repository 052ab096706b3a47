// Argsort and sort: routines of the library, or loops in which every element counts those that
// stand before it.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

/// Whether the element `x` at place `i` of its line must stand before `y` at place `j`; NaN counts
/// as largest, and equal elements keep their order.
static Value mustPrecede(ScalarBuilder &scalar, OpBuilder &b, Location loc, Value x, Value i,
                         Value y, Value j, bool descending) {
  const auto less = [&](Value lhs, Value rhs) -> Value {
    Value less = scalar.less(lhs, rhs);
    if (!isa<FloatType>(lhs.getType())) return less;
    Value onlyRightIsNan = scalar.logicalAnd(scalar.equal(lhs, lhs), scalar.notEqual(rhs, rhs));
    return scalar.logicalOr(less, onlyRightIsNan);
  };
  Value before = descending ? less(y, x) : less(x, y), after = descending ? less(x, y) : less(y, x);
  Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, j);
  return scalar.logicalOr(before, scalar.logicalAnd(scalar.logicalNot(after), first));
}

/// Lines of x sorted by counting: the place of each element is the number of those before it, and
/// what stands at a place is the element that has it. Quadratic, but each element is on its own.
static Value sortByCounting(LinalgBuilder &b, Value x, int64_t axis, bool descending, bool values,
                            OpFoldResult count) {
  Sizes sizes = b.sizesOf(x), wanted = sizes;
  wanted[axis] = count;
  const auto rank = static_cast<int64_t>(sizes.size());
  Type element = getElementTypeOrSelf(x.getType()), i64 = b.getI64Type();
  // The last loop goes through the line once more.
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  AffineMap here = AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext()).dropResult(rank);
  SmallVector<AffineExpr> exprs(here.getResults());
  exprs[axis] = b.getAffineDimExpr(rank);
  AffineMap along = AffineMap::get(rank + 1, 0, exprs, b.getContext());

  ScalarBuilder zeros(b, b.getLoc());
  Value none = b.filled(sizes, zeros.zero(i64));
  Value places =
      linalg::GenericOp::create(
          b, none.getType(), ValueRange{x, x}, none, {here, along, here}, loops,
          [&](OpBuilder &builder, Location loc, ValueRange args) {
            ScalarBuilder scalar(builder, loc);
            Value i = linalg::IndexOp::create(builder, loc, rank);
            Value j = linalg::IndexOp::create(builder, loc, axis);
            Value before = mustPrecede(scalar, builder, loc, args[1], i, args[0], j, descending);
            Value one = arith::ExtUIOp::create(builder, loc, i64, before);
            linalg::YieldOp::create(builder, loc,
                                    arith::AddIOp::create(builder, loc, args[2], one).getResult());
          })
          .getResult(0);
  b.setSizes(places, sizes);
  if (isConstantIntValue(count, 0)) return b.empty(wanted, values ? element : i64);
  Type type = values ? element : i64;
  Value init = b.filled(wanted, zeros.zero(type));
  SmallVector<Value> inputs{places};
  SmallVector<AffineMap> maps{along};
  if (values) {
    inputs.push_back(x);
    maps.push_back(along);
  }
  maps.push_back(here);
  Value result =
      linalg::GenericOp::create(
          b, init.getType(), inputs, init, maps, loops,
          [&](OpBuilder &builder, Location loc, ValueRange args) {
            Value at = linalg::IndexOp::create(builder, loc, axis);
            Value from = linalg::IndexOp::create(builder, loc, rank);
            Value place = arith::IndexCastOp::create(builder, loc, builder.getIndexType(), args[0]);
            Value found = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, place, at);
            Value what =
                values ? args[1] : arith::IndexCastOp::create(builder, loc, i64, from).getResult();
            Value kept = arith::SelectOp::create(builder, loc, found, what, args[values ? 2 : 1]);
            linalg::YieldOp::create(builder, loc, kept);
          })
          .getResult(0);
  b.setSizes(result, wanted);
  return result;
}

Value lowerArgsort(LinalgBuilder &b, ArgsortOp op) {
  OpFoldResult size = b.sizesOf(op.getX())[op.getAxis()], count = size;
  const auto wanted = static_cast<int64_t>(op.getCount());
  if (wanted != -1) {
    count = b.getIndexAttr(wanted);
    b.requireAtMost(count, size,
                    "argsort: count is {}, but axis " + Twine(op.getAxis()) + " of x has size {}",
                    {count, size});
  }
  if (b.withoutLibrary())
    return sortByCounting(b, op.getX(), op.getAxis(), op.getDescending(), /*values=*/false, count);
  Sizes sizes = b.sizesOf(op.getX());
  sizes[op.getAxis()] = count;
  return b.routine(op, sizes);
}

Value lowerSort(LinalgBuilder &b, SortOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  if (!b.withoutLibrary()) return b.routine(op, sizes);
  return sortByCounting(b, op.getX(), op.getAxis(), op.getDescending(), /*values=*/true,
                        sizes[op.getAxis()]);
}

} // namespace mlir::weft
