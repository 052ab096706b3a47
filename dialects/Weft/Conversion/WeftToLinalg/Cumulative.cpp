// Cumulative ops: loops along the axis, whose steps are elements of a few lines or whole slices
// across it.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

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

  /// Whether the operand of that number is read one place before the step.
  bool isEarlier(size_t operand) const { return shifted && operand + 1 != operands.size(); }

  /// One step from `acc` with the operands' elements; null is not the first.
  Value step(OpBuilder &builder, Location loc, Value isFirst, Value acc,
             ValueRange elements) const {
    ScalarBuilder scalar(builder, loc);
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

namespace {
/// Where lines read and write; all elements of an operand are one line to it.
struct LineBuilder {
  LinalgBuilder &b;
  const Cumulative &op;
  SmallVector<Value> operands;
  Value init;

  Value size() const { return b.toValue(op.sizes[op.axis]); }
  /// Place of a step in a line that begins at `start`.
  Value at(Value start, Value step) const {
    return arith::AddIOp::create(b, start, placeOf(b, op, step, op.sizes[op.axis]));
  }
  /// The operands' elements for a step.
  SmallVector<Value> elements(Value start, Value step) const {
    SmallVector<Value> values;
    for (auto [i, operand] : llvm::enumerate(operands))
      values.push_back(tensor::ExtractOp::create(
          b, operand, at(start, op.isEarlier(i) ? stepBefore(b, step) : step)));
    return values;
  }
};
} // namespace

/// The only line, which has elements: a step waits for nothing but the one before.
static Value stepLine(const LineBuilder &line, Value result) {
  LinalgBuilder &b = line.b;
  const Cumulative &op = line.op;
  Value zero = b.index(0), one = b.index(1);
  Value first = tensor::ExtractOp::create(b, line.operands.back(), line.at(zero, zero));
  result =
      tensor::InsertOp::create(b, op.exclusive ? line.init : first, result, line.at(zero, zero));
  auto loop = scf::ForOp::create(b, one, line.size(), one, ValueRange{result, first});
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value number = loop.getInductionVar(), acc = loop.getRegionIterArg(1);
  Value next = op.step(b, b.getLoc(), {}, acc, line.elements(zero, number));
  Value into = tensor::InsertOp::create(b, op.exclusive ? acc : next, loop.getRegionIterArg(0),
                                        line.at(zero, number));
  scf::YieldOp::create(b, ValueRange{into, next});
  return loop.getResult(0);
}

/// `iterations` times `together` lines, the first of which begins at place `begin`; their steps do
/// not wait for each other. One loop goes through all: bufferization does not find the result of
/// nested ones in place.
static Value stepLines(const LineBuilder &line, Value result, Value begin, Value iterations,
                       int64_t together) {
  LinalgBuilder &b = line.b;
  const Cumulative &op = line.op;
  Value zero = b.index(0), one = b.index(1), size = line.size();
  SmallVector<Value> carried{result, begin, zero};
  carried.append(together, line.init);
  auto loop = scf::ForOp::create(b, zero, arith::MulIOp::create(b, iterations, size), one, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value start = loop.getRegionIterArg(1), step = loop.getRegionIterArg(2);
  SmallVector<Value> starts{start};
  while (static_cast<int64_t>(starts.size()) < together)
    starts.push_back(arith::AddIOp::create(b, starts.back(), size));
  Value isFirst = isZero(b, step), following = arith::AddIOp::create(b, step, one);
  Value isLast = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, following, size);
  Value past = arith::MulIOp::create(b, size, b.index(together));
  SmallVector<Value> next{
      {},
      arith::SelectOp::create(b, isLast, arith::AddIOp::create(b, start, past), start),
      arith::SelectOp::create(b, isLast, zero, following)};
  SmallVector<Value> given;
  for (auto [begin, acc] : llvm::zip_equal(starts, loop.getRegionIterArgs().drop_front(3))) {
    next.push_back(op.step(b, b.getLoc(), isFirst, acc, line.elements(begin, step)));
    given.push_back(op.exclusive ? arith::SelectOp::create(b, isFirst, line.init, acc).getResult()
                                 : next.back());
  }
  next[0] = loop.getRegionIterArg(0);
  for (auto [begin, value] : llvm::zip_equal(starts, given))
    next[0] = tensor::InsertOp::create(b, value, next[0], line.at(begin, step));
  scf::YieldOp::create(b, next);
  return loop.getResult(0);
}

/// Lines whose elements are neighbours, a few at a time.
static Value lowerLines(LinalgBuilder &b, const Cumulative &op, Value init) {
  /// More lines than a cache has ways for, twice, would not stay in it if they are powers of two
  /// apart.
  constexpr int64_t kTogether = 4;
  OpFoldResult total = b.countOf(op.sizes);
  OpFoldResult count = b.countOf(ArrayRef(op.sizes).take_front(op.axis));
  LineBuilder line{b, op, {}, init};
  for (Value operand : op.operands) line.operands.push_back(b.flattened(operand));
  Value result = b.empty(total, op.element);
  const std::optional<int64_t> lines = getConstantIntValue(count);
  if (lines == 1 && getConstantIntValue(op.sizes[op.axis])) {
    result = stepLine(line, result);
  } else {
    Value all = b.toValue(count), zero = b.index(0), four = b.index(kTogether);
    Value iterations = arith::DivUIOp::create(b, all, four);
    Value done = arith::MulIOp::create(b, iterations, four);
    if (!lines || *lines >= kTogether)
      result = stepLines(line, result, zero, iterations, kTogether);
    if (!lines || *lines % kTogether != 0) {
      Value begin = arith::MulIOp::create(b, done, line.size());
      result = stepLines(line, result, begin, arith::SubIOp::create(b, all, done), 1);
    }
  }
  b.setSizes(result, total);
  return b.expanded(result, op.sizes);
}

/// All lines at once, a slice across the axis after the other.
static Value lowerSlices(LinalgBuilder &b, const Cumulative &op, Value init) {
  OpFoldResult size = op.sizes[op.axis];
  Sizes across = op.sizes;
  across.erase(across.begin() + op.axis);
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
                        flag("shifted")};
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
  ScalarBuilder scalar(b, b.getLoc());
  Value init = buildReductionInit(info.op, scalar, cumulative.element);
  const bool neighbours =
      llvm::all_of(ArrayRef(sizes).drop_front(cumulative.axis + 1),
                   [](OpFoldResult size) { return isConstantIntValue(size, 1); });
  return neighbours ? lowerLines(b, cumulative, init) : lowerSlices(b, cumulative, init);
}

} // namespace mlir::weft
