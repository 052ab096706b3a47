// Argsort: a merge sort of all lines in one loop.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

/// The line behind itself: sorting goes from one half to the other and back.
static Value doubled(LinalgBuilder &b, Value line) {
  OpFoldResult count = b.sizesOf(line)[0], first = b.getIndexAttr(0), step = b.getIndexAttr(1);
  Value both = b.empty(b.multiply(count, b.getIndexAttr(2)), getElementTypeOrSelf(line.getType()));
  return tensor::InsertSliceOp::create(b, line, both, first, count, step);
}

/// How often runs double until one is a line of `size` elements: the number of bits of size - 1.
static Value passesFor(LinalgBuilder &b, OpFoldResult size) {
  if (std::optional<int64_t> known = getConstantIntValue(size))
    return b.index(*known <= 1 ? 0 : llvm::Log2_64_Ceil(*known));
  Value last = arith::SubIOp::create(b, b.larger(b.toValue(size), b.index(1)), b.index(1));
  auto loop = scf::ForOp::create(b, b.index(0), b.index(63), b.index(1), b.index(0));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value rest = arith::ShRUIOp::create(b, last, loop.getInductionVar());
  Value some = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, rest, b.index(0));
  Value more = arith::AddIOp::create(b, loop.getRegionIterArg(0), b.index(1));
  Value passes = arith::SelectOp::create(b, some, more, loop.getRegionIterArg(0));
  scf::YieldOp::create(b, passes);
  return loop.getResult(0);
}

/// Whether `lhs` must stand before `rhs`; NaN counts as largest.
static Value mustPrecede(LinalgBuilder &b, Value lhs, Value rhs, bool descending) {
  ScalarBuilder scalar(b, b.getLoc());
  if (descending) std::swap(lhs, rhs);
  Value less = scalar.less(lhs, rhs);
  if (!isa<FloatType>(lhs.getType())) return less;
  Value onlyRightIsNan = scalar.logicalAnd(scalar.equal(lhs, lhs), scalar.notEqual(rhs, rhs));
  return scalar.logicalOr(less, onlyRightIsNan);
}

// One loop, because one-shot bufferization finds the state of one loop in place, not that of nested
// ones: each turn moves one element of one pass. A pass merges neighbouring runs of `width`
// elements of each line, which stand in one half of the state, into runs twice as long in the other
// half.
Value lowerArgsort(LinalgBuilder &b, ArgsortOp op) {
  const int64_t axis = op.getAxis(), rank = op.getX().getType().getRank();
  Type i64 = b.getI64Type();
  Sizes sizes = b.sizesOf(op.getX());
  if (llvm::any_of(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 0); }))
    return b.empty(sizes, i64);
  SmallVector<int64_t> order, back;
  for (int64_t i = 0; i < rank; ++i) {
    if (i != axis) order.push_back(i);
    back.push_back(i < axis ? i : i == axis ? rank - 1 : i - 1);
  }
  order.push_back(axis);
  const bool isLast = axis == rank - 1;
  Value x = isLast ? op.getX() : b.permuted(op.getX(), order);
  Sizes inLines = b.sizesOf(x);
  Value places =
      b.elementwise(inLines, i64, {}, {}, [&](OpBuilder &builder, Location loc, ValueRange) {
        Value at = linalg::IndexOp::create(builder, loc, rank - 1);
        return arith::IndexCastOp::create(builder, loc, i64, at).getResult();
      });

  Value zero = b.index(0), one = b.index(1);
  Value size = b.toValue(sizes[axis]), total = b.toValue(b.countOf(sizes));
  Value passes = passesFor(b, sizes[axis]);
  Value turns = arith::MulIOp::create(b, passes, total);
  Value keys = doubled(b, b.flattened(x)), indices = doubled(b, b.flattened(places));
  // What else is carried: where the turn is in its pass; ends of its line and of its pair of runs;
  // the end of the pair's first run; heads of both runs; the width; where the pass reads.
  enum { kKeys, kIndices, kAt, kLineEnd, kPairEnd, kMiddle, kLeft, kRight, kWidth, kFrom };
  auto loop =
      scf::ForOp::create(b, zero, turns, one,
                         ValueRange{keys, indices, zero, zero, zero, zero, zero, zero, one, zero});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    const auto state = [&](int number) -> Value { return loop.getRegionIterArg(number); };
    const auto add = [&](Value lhs, Value rhs) -> Value {
      return arith::AddIOp::create(b, lhs, rhs);
    };
    const auto equal = [&](Value lhs, Value rhs) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lhs, rhs);
    };
    const auto select = [&](Value which, Value yes, Value no) -> Value {
      return arith::SelectOp::create(b, which, yes, no);
    };
    Value at = state(kAt), width = state(kWidth), from = state(kFrom);
    // A new pair of runs, maybe in a new line. The last ones of a line are short.
    Value newLine = equal(at, state(kLineEnd)), newPair = equal(at, state(kPairEnd));
    Value lineEnd = select(newLine, add(at, size), state(kLineEnd));
    Value runEnd = arith::MinSIOp::create(b, add(at, width), lineEnd);
    Value nextEnd = arith::MinSIOp::create(b, add(runEnd, width), lineEnd);
    Value middle = select(newPair, runEnd, state(kMiddle));
    Value pairEnd = select(newPair, nextEnd, state(kPairEnd));
    Value left = select(newPair, at, state(kLeft)), right = select(newPair, middle, state(kRight));

    // The heads; that of a run with none left is that of the other.
    Value noneLeft = equal(left, middle), noneRight = equal(right, pairEnd);
    Value leftAt = add(from, select(noneLeft, right, left));
    Value rightAt = add(from, select(noneRight, left, right));
    Value leftKey = tensor::ExtractOp::create(b, state(kKeys), leftAt);
    Value rightKey = tensor::ExtractOp::create(b, state(kKeys), rightAt);
    Value precedes = mustPrecede(b, rightKey, leftKey, op.getDescending());
    ScalarBuilder scalar(b, b.getLoc());
    Value takesRight =
        scalar.logicalOr(noneLeft, scalar.logicalAnd(scalar.logicalNot(noneRight), precedes));
    Value taken = select(takesRight, rightAt, leftAt);
    Value to = add(at, arith::SubIOp::create(b, total, from));
    Value index = tensor::ExtractOp::create(b, state(kIndices), taken);
    Value newKeys =
        tensor::InsertOp::create(b, select(takesRight, rightKey, leftKey), state(kKeys), to);
    Value newIndices = tensor::InsertOp::create(b, index, state(kIndices), to);
    left = select(takesRight, left, add(left, one));
    right = select(takesRight, add(right, one), right);

    // After the last element the next pass begins.
    Value following = add(at, one), passEnds = equal(following, total);
    Value nextWidth = select(passEnds, add(width, width), width);
    Value nextFrom = select(passEnds, arith::SubIOp::create(b, total, from), from);
    scf::YieldOp::create(b, ValueRange{newKeys, newIndices, select(passEnds, zero, following),
                                       select(passEnds, zero, lineEnd),
                                       select(passEnds, zero, pairEnd), middle, left, right,
                                       nextWidth, nextFrom});
  }
  OpFoldResult count = b.countOf(sizes), step = b.getIndexAttr(1);
  Value sorted = tensor::ExtractSliceOp::create(b, loop.getResult(kIndices),
                                                OpFoldResult(loop.getResult(kFrom)), count, step);
  b.setSizes(sorted, count);
  Value result = b.expanded(sorted, inLines);
  return isLast ? result : b.permuted(result, back);
}

} // namespace mlir::weft
