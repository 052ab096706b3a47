// Argsort, sort and searchsorted: routines of the library, or loops in which every element counts
// those that stand before it.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "OpDefs/SizeWords.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

/// Whether an element is less than another; NaN counts as largest.
static Value isBefore(ScalarBuilder &scalar, Value lhs, Value rhs) {
  Value less = scalar.less(lhs, rhs);
  if (!isa<FloatType>(lhs.getType())) return less;
  Value onlyRightIsNan = scalar.logicalAnd(scalar.equal(lhs, lhs), scalar.notEqual(rhs, rhs));
  return scalar.logicalOr(less, onlyRightIsNan);
}

/// Whether the element `x` at place `i` of its line must stand before `y` at place `j`; NaN counts
/// as largest, and equal elements keep their order.
static Value mustPrecede(ScalarBuilder &scalar, OpBuilder &b, Location loc, Value x, Value i,
                         Value y, Value j, bool descending) {
  Value less = isBefore(scalar, x, y), greater = isBefore(scalar, y, x);
  Value before = descending ? greater : less, after = descending ? less : greater;
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

/// Whether lines of that size are sorted by loops in which each element counts those before it:
/// as many threads as elements, but the square of the work.
static bool countsBetter(LinalgBuilder &b, OpFoldResult size) {
  constexpr int64_t kLongest = 1 << 14;
  if (!b.withoutLibrary()) return false;
  return !b.hasRoutines() || getConstantIntValue(size).value_or(0) <= kLongest;
}

Value lowerArgsort(LinalgBuilder &b, ArgsortOp op) {
  OpFoldResult size = b.sizesOf(op.getX())[op.getAxis()], count = size;
  const auto wanted = static_cast<int64_t>(op.getCount());
  if (wanted != -1) {
    count = b.getIndexAttr(wanted);
    SmallVector<OpFoldResult> named;
    const std::string shape = b.written(op.getX(), named);
    b.requireAtMost(count, size, "argsort: " + ::weft::words::too_few(wanted, op.getAxis(), shape),
                    named, LeaveKind::value);
  }
  if (countsBetter(b, size))
    return sortByCounting(b, op.getX(), op.getAxis(), op.getDescending(), /*values=*/false, count);
  Sizes sizes = b.sizesOf(op.getX());
  sizes[op.getAxis()] = count;
  return b.routine(op, sizes);
}

Value lowerSort(LinalgBuilder &b, SortOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  if (!countsBetter(b, sizes[op.getAxis()])) return b.routine(op, sizes);
  return sortByCounting(b, op.getX(), op.getAxis(), op.getDescending(), /*values=*/true,
                        sizes[op.getAxis()]);
}

Value lowerSearchSorted(LinalgBuilder &b, SearchSortedOp op) {
  Value a = op.getA(), v = op.getV();
  Sizes rows = b.sizesOf(a), sizes = b.sizesOf(v);
  const size_t batch = rows.size() - 1, rank = sizes.size();
  for (size_t i = 0; i < batch; ++i)
    b.requireEqual(rows[i], sizes[i],
                   "searchsorted: v does not begin with the batch of a: {} meets {} in axis " +
                       Twine(i));
  if (!b.withoutLibrary()) return b.routine(op, sizes);
  // Every value counts the elements that stand before it.
  const Signs signs = b.signsOf(op);
  Type i64 = b.getI64Type();
  SmallVector<AffineExpr> exprs;
  for (size_t i = 0; i < batch; ++i) exprs.push_back(b.getAffineDimExpr(i));
  exprs.push_back(b.getAffineDimExpr(rank));
  AffineMap along = AffineMap::get(rank + 1, 0, exprs, b.getContext());
  AffineMap here = AffineMap::getMultiDimIdentityMap(rank + 1, b.getContext()).dropResult(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  Value none = b.filled(sizes, ScalarBuilder(b, b.getLoc()).zero(i64));
  Value result =
      linalg::GenericOp::create(
          b, none.getType(), ValueRange{a, v}, none, {along, here, here}, loops,
          [&](OpBuilder &builder, Location loc, ValueRange args) {
            ScalarBuilder scalar(builder, loc, signs);
            // Equal ones are in front of it if it stands behind them.
            Value before = op.getRight() ? scalar.logicalNot(isBefore(scalar, args[1], args[0]))
                                         : isBefore(scalar, args[0], args[1]);
            Value one = arith::ExtUIOp::create(builder, loc, i64, before);
            linalg::YieldOp::create(builder, loc,
                                    arith::AddIOp::create(builder, loc, args[2], one).getResult());
          })
          .getResult(0);
  b.setSizes(result, sizes);
  return result;
}

} // namespace mlir::weft
