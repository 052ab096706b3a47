// Cumulative ops: calls of the library later on, or a loop along the axis whose steps are slices
// across it.
#include "Kernels/KernelTable.h"
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

namespace {
/// A cumulative op: its operands, of which the last is what the first step takes as it is, and the
/// way it goes.
struct Cumulative {
  const ::weft::OpInfo &info;
  SmallVector<Value> operands;
  Type element;
  Sizes sizes;
  int64_t axis;
  bool reverse, exclusive, shifted;
  Signs signs;

  /// Whether the operand of that number is read one place before the step.
  bool isEarlier(size_t operand) const { return shifted && operand + 1 != operands.size(); }

  /// One step from `acc` with the operands' elements; null is not the first.
  Value step(OpBuilder &builder, Location loc, Value isFirst, Value acc,
             ValueRange elements) const {
    ScalarBuilder scalar(builder, loc, signs);
    SmallVector<Value> arguments{acc};
    llvm::append_range(arguments, elements);
    Value next = buildScalarBody(info.op, scalar, arguments, element);
    return isFirst ? scalar.select(isFirst, elements.back(), next) : next;
  }
};
} // namespace

static Value isZero(LinalgBuilder &b, Value index) {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, b.index(0));
}

/// Where a step of that number is, of `count` of them.
static Value placeOf(LinalgBuilder &b, const Cumulative &op, Value step, OpFoldResult count) {
  if (!op.reverse) return step;
  Value last = arith::SubIOp::create(b, b.toValue(count), b.index(1));
  return arith::SubIOp::create(b, last, step);
}

/// The number of the step before, or of the first one.
static Value stepBefore(LinalgBuilder &b, Value step) {
  return b.larger(arith::SubIOp::create(b, step, b.index(1)), b.index(0));
}

/// All lines at once, a slice across the axis after the other.
static Value lowerSlices(LinalgBuilder &b, const Cumulative &op, Value init) {
  OpFoldResult size = op.sizes[op.axis];
  const Sizes across = LinalgBuilder::sizesAcross(b, op.sizes, op.axis);
  Value result = b.empty(op.sizes, op.element), start = b.filled(across, init);
  auto loop = scf::ForOp::create(b, b.index(0), b.iterations(size, across), b.index(1),
                                 ValueRange{result, start});
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value number = loop.getInductionVar(), at = placeOf(b, op, number, size);
    Value into = loop.getRegionIterArg(0), acc = loop.getRegionIterArg(1);
    b.setSizes(into, op.sizes);
    b.setSizes(acc, across);
    SmallVector<Value> slices;
    for (auto [i, operand] : llvm::enumerate(op.operands)) {
      Value place = op.isEarlier(i) ? placeOf(b, op, stepBefore(b, number), size) : at;
      slices.push_back(b.sliceAcross(operand, op.axis, place));
    }
    if (op.exclusive) into = b.insertAcross(acc, into, op.axis, at);
    Value isFirst = isZero(b, number);
    const unsigned rank = across.size();
    SmallVector<AffineMap> maps(slices.size() + 1, b.getMultiDimIdentityMap(rank));
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    auto step = linalg::GenericOp::create(b, acc.getType(), slices, acc, maps, loops,
                                          [&](OpBuilder &builder, Location loc, ValueRange args) {
                                            Value next = op.step(builder, loc, isFirst, args.back(),
                                                                 args.drop_back());
                                            linalg::YieldOp::create(builder, loc, next);
                                          });
    Value next = step.getResult(0);
    if (!op.exclusive) into = b.insertAcross(next, into, op.axis, at);
    scf::YieldOp::create(b, ValueRange{into, next});
  }
  b.setSizes(loop.getResult(0), op.sizes);
  return loop.getResult(0);
}

Value lowerCumulative(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info) {
  const auto flag = [&](StringRef name) {
    auto set = op->getAttrOfType<BoolAttr>(name);
    return set && set.getValue();
  };
  Cumulative cumulative{info,
                        SmallVector<Value>(op->getOperands()),
                        getElementTypeOrSelf(op->getResult(0).getType()),
                        b.sizesOf(op->getOperands().back()),
                        op->getAttrOfType<IntegerAttr>("axis").getInt(),
                        flag("reverse"),
                        flag("exclusive"),
                        flag("shifted"),
                        b.signsOf(op)};
  Sizes &sizes = cumulative.sizes;
  for (Value operand : op->getOperands().drop_back())
    for (auto [axis, size, other] : llvm::enumerate(sizes, b.sizesOf(operand))) {
      b.requireEqual(size, other,
                     "linear_recurrence: a is not of the shape of x: {} meets {} in axis " +
                         Twine(axis));
      if (isa<Attribute>(other)) size = other;
    }
  // There is nothing to step through, and slices would begin past the end.
  if (llvm::any_of(sizes, [](OpFoldResult size) { return isConstantIntValue(size, 0); }))
    return b.empty(sizes, cumulative.element);
  if (b.hasRoutines()) { // a loop would be a launch for each slice
    Sizes numbers = b.linesOf(sizes, cumulative.axis);
    numbers.push_back(b.getIndexAttr((cumulative.reverse ? ::weft::kReverse : 0) |
                                     (cumulative.exclusive ? ::weft::kExclusive : 0) |
                                     (cumulative.shifted ? ::weft::kShifted : 0)));
    return b.called(info.name, op->getOperands(), numbers, sizes, cumulative.element,
                    cumulative.signs.operandsUnsigned);
  }
  // Slices must have one type. What is known of an operand here holds here only: it may come from
  // around a region.
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes)
    shape.push_back(getConstantIntValue(size).value_or(ShapedType::kDynamic));
  for (Value &operand : cumulative.operands) {
    Value before = operand;
    operand = b.typed(operand, cast<RankedTensorType>(operand.getType()).clone(shape));
    if (operand != before) b.setSizes(operand, sizes);
  }
  ScalarBuilder scalar(b, b.getLoc(), cumulative.signs);
  Value init = buildReductionInit(info.op, scalar, cumulative.element);
  return lowerSlices(b, cumulative, init);
}

} // namespace mlir::weft
