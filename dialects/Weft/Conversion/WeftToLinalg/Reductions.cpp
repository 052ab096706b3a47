// Reductions as linalg.generic with reduction loops; argmax as such loops, or as a call of the
// library later on.
#include "Weft/Conversion/Cost.h"
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

namespace {
/// The loops of a reduction of `sizes` over `axes`.
struct ReductionLoops {
  Sizes kept;       ///< sizes of the result without the reduced axes
  AffineMap result; ///< from the loops to the result
  SmallVector<utils::IteratorType> kinds;

  ReductionLoops(OpBuilder &b, const Sizes &sizes, ArrayRef<int64_t> axes) {
    SmallVector<AffineExpr> exprs;
    for (auto [axis, size] : llvm::enumerate(sizes)) {
      const bool reduced = llvm::is_contained(axes, static_cast<int64_t>(axis));
      kinds.push_back(reduced ? utils::IteratorType::reduction : utils::IteratorType::parallel);
      if (reduced) continue;
      kept.push_back(size);
      exprs.push_back(b.getAffineDimExpr(axis));
    }
    result = AffineMap::get(sizes.size(), 0, exprs, b.getContext());
  }
};
} // namespace

/// `x` reduced along `axes`, which are neighbours.
static Value reduceNeighbours(LinalgBuilder &b, Value x, ArrayRef<int64_t> axes,
                              const ::weft::OpInfo &info, Signs signs) {
  Type element = getElementTypeOrSelf(x.getType());
  Sizes sizes = b.sizesOf(x);
  ReductionLoops loops(b, sizes, axes);
  ScalarBuilder scalar(b, b.getLoc(), signs);
  Value init = b.filled(loops.kept, buildReductionInit(info.op, scalar, element));
  auto generic = linalg::GenericOp::create(
      b, init.getType(), x, init, {b.getMultiDimIdentityMap(sizes.size()), loops.result},
      loops.kinds, [&](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder step(builder, loc, signs);
        Value sum = buildScalarBody(info.op, step, {args[1], args[0]}, element);
        linalg::YieldOp::create(builder, loc, sum);
      });
  b.setSizes(generic.getResult(0), loops.kept);
  return generic.getResult(0);
}

Value lowerReduction(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info) {
  Value result = op->getOperand(0);
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  ArrayRef<int64_t> axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  auto keepdims = op->getAttrOfType<BoolAttr>("keepdims");
  Sizes sizes = b.sizesOf(result);
  // Axes that are not neighbours go one after the other, the innermost first, as eager code has it.
  for (size_t end = axes.size(); end != 0 || axes.empty();) {
    size_t begin = end;
    while (begin != 0 && (begin == end || axes[begin - 1] + 1 == axes[begin])) --begin;
    result = reduceNeighbours(b, result, axes.slice(begin, end - begin), info, b.signsOf(op));
    if (begin == 0) break;
    end = begin;
  }
  const Sizes kept = b.sizesOf(result);

  if (isa<MeanOp>(op)) {
    OpFoldResult count = b.getIndexAttr(1);
    for (int64_t axis : axes) count = b.multiply(count, sizes[axis]);
    ScalarBuilder scalar(b, b.getLoc());
    Value divisor;
    if (std::optional<int64_t> known = getConstantIntValue(count))
      divisor = scalar.constant(static_cast<double>(*known), element);
    else
      divisor =
          scalar.cast(arith::IndexCastOp::create(b, b.getI64Type(), b.toValue(count)), element);
    result = b.elementwise(kept, element, result, b.getMultiDimIdentityMap(kept.size()),
                           [&](OpBuilder &builder, Location loc, ValueRange args) {
                             return ScalarBuilder(builder, loc).divide(args[0], divisor);
                           });
  }
  if (keepdims && keepdims.getValue()) result = b.addUnitAxes(result, axes);
  return result;
}

/// Argmax in one loop that carries the largest element and its place, which suits lines side by
/// side.
static Value placeAndMaximum(LinalgBuilder &b, Value x, const Sizes &sizes,
                             const ReductionLoops &loops, int64_t axis) {
  Type element = getElementTypeOrSelf(x.getType()), i64 = b.getI64Type();
  ScalarBuilder scalar(b, b.getLoc());
  Value best = b.filled(loops.kept, scalar.lowest(element));
  Value where = b.filled(loops.kept, scalar.constant(0, i64));
  auto generic = linalg::GenericOp::create(
      b, TypeRange{best.getType(), where.getType()}, x, ValueRange{best, where},
      {b.getMultiDimIdentityMap(sizes.size()), loops.result, loops.result}, loops.kinds,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder s(builder, loc);
        Value larger = s.isBetterMaximum(args[0], args[1]);
        Value at = arith::IndexCastOp::create(builder, loc, i64,
                                              linalg::IndexOp::create(builder, loc, axis));
        linalg::YieldOp::create(
            builder, loc,
            ValueRange{s.select(larger, args[0], args[1]), s.select(larger, at, args[2])});
      });
  return generic.getResult(1);
}

/// Argmax along the last axis in two loops, each of which reduces vectors: the largest element, and
/// the least place that has it.
static Value firstPlaceOfMaximum(LinalgBuilder &b, Value x, const Sizes &sizes,
                                 const ReductionLoops &loops) {
  Type element = getElementTypeOrSelf(x.getType());
  // Vectors of i32 have twice the lanes.
  std::optional<int64_t> size = getConstantIntValue(sizes.back());
  const bool isShort = size && *size <= std::numeric_limits<int32_t>::max();
  Type integer = isShort ? b.getI32Type() : b.getI64Type();
  AffineMap all = b.getMultiDimIdentityMap(sizes.size());
  ScalarBuilder scalar(b, b.getLoc());
  Value lowest = b.filled(loops.kept, scalar.lowest(element));
  Value largest =
      linalg::GenericOp::create(b, lowest.getType(), x, lowest, {all, loops.result}, loops.kinds,
                                [](OpBuilder &builder, Location loc, ValueRange args) {
                                  Value larger =
                                      ScalarBuilder(builder, loc).maximum(args[1], args[0]);
                                  linalg::YieldOp::create(builder, loc, larger);
                                })
          .getResult(0);
  Value nowhere = b.filled(loops.kept, scalar.highest(integer));
  Value place = linalg::GenericOp::create(
                    b, nowhere.getType(), ValueRange{x, largest}, nowhere,
                    {all, loops.result, loops.result}, loops.kinds,
                    [&](OpBuilder &builder, Location loc, ValueRange args) {
                      ScalarBuilder s(builder, loc);
                      Value isIt = s.equal(args[0], args[1]);
                      if (isa<FloatType>(element)) // A NaN is the largest if there is one.
                        isIt = s.logicalOr(isIt, s.logicalAnd(s.notEqual(args[0], args[0]),
                                                              s.notEqual(args[1], args[1])));
                      Value index = linalg::IndexOp::create(builder, loc, sizes.size() - 1);
                      Value at = arith::IndexCastOp::create(builder, loc, integer, index);
                      at = s.select(isIt, at, s.highest(integer));
                      linalg::YieldOp::create(builder, loc, s.minimum(args[2], at));
                    })
                    .getResult(0);
  if (!isShort) return place;
  return b.elementwise(loops.kept, b.getI64Type(), place,
                       b.getMultiDimIdentityMap(loops.kept.size()),
                       [&](OpBuilder &builder, Location loc, ValueRange args) {
                         return ScalarBuilder(builder, loc).cast(args[0], builder.getI64Type());
                       });
}

/// Whether `x` is computed element by element for nobody else, and so cheaply that loops which
/// reduce it may do so once more: to store it for the library takes longer than all else.
static bool isCheapChain(Value x) {
  /// The chain itself, twice.
  constexpr int64_t kMost = 4;
  int64_t cost = 0;
  bool computes = false;
  SmallVector<Value> values{x};
  while (!values.empty()) {
    Value value = values.pop_back_val();
    auto loops = value.getDefiningOp<linalg::GenericOp>();
    if (!loops || !value.hasOneUse() || loops.getNumParallelLoops() != loops.getNumLoops())
      continue;
    cost += costOf(*loops.getBody());
    if (cost > kMost) return false;
    computes = true;
    llvm::append_range(values, loops.getInputs());
  }
  return computes;
}

Value lowerArgmax(LinalgBuilder &b, ArgmaxOp op) {
  Value x = op.getX();
  const int64_t axis = op.getAxis();
  Sizes sizes = b.sizesOf(x);
  ReductionLoops loops(b, sizes, axis);
  b.requireAtMost(b.getIndexAttr(1), sizes[axis],
                  "argmax: axis " + Twine(axis) + " has size {}, so there is no largest element",
                  sizes[axis]);

  const bool neighbours = axis + 1 == static_cast<int64_t>(sizes.size());
  Value result;
  if (!b.withoutLibrary() && !isCheapChain(x))
    result = b.called("argmax", x, b.linesOf(sizes, axis), loops.kept, b.getI64Type());
  else if (neighbours) result = firstPlaceOfMaximum(b, x, sizes, loops);
  else result = placeAndMaximum(b, x, sizes, loops, axis);
  b.setSizes(result, loops.kept);
  if (op.getKeepdims()) result = b.addUnitAxes(result, axis);
  return result;
}

} // namespace mlir::weft
