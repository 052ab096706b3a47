// The pass weft-densify-reductions: copies of what sums and products would read in another order
// than their loops have.
#include "Weft/Conversion/Loops/Body.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

#define GEN_PASS_DEF_DENSIFYREDUCTIONSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// A structured op that reduces, and its loops.
struct Reduction {
  linalg::GenericOp op;
  SmallVector<int64_t> sizes;   ///< of the loops
  SmallVector<unsigned> group;  ///< the reduced loops, but those of size 1; they are neighbours
  std::optional<unsigned> last; ///< the last loop that is not of size 1
};

/// How far the elements of neighbours along each loop are apart in memory; nothing for what is not
/// known, and nothing at all for an operand that is read in another way.
using Strides = SmallVector<std::optional<int64_t>>;

} // namespace

/// Whether an output's bits hang on the order in which its elements are combined.
static bool isSensitive(linalg::GenericOp op, unsigned output) {
  auto yield = cast<linalg::YieldOp>(op.getBody()->getTerminator());
  Operation *combiner = yield.getOperand(output).getDefiningOp();
  return combiner ? dependsOnOrder(combiner) : isa<FloatType>(yield.getOperand(output).getType());
}

/// Nothing if the op does not reduce in an order that matters.
static std::optional<Reduction> asReduction(linalg::GenericOp op) {
  Reduction reduction{op, op.getStaticLoopRanges(), {}, std::nullopt};
  if (op.getNumReductionLoops() == 0 || !op.hasPureBufferSemantics()) return std::nullopt;
  bool sensitive = false;
  for (unsigned i = 0; i < op.getNumDpsInits(); ++i) sensitive |= isSensitive(op, i);
  if (!sensitive) return std::nullopt;
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (auto [loop, size] : llvm::enumerate(reduction.sizes)) {
    if (size == 1) continue;
    reduction.last = loop;
    if (iterators[loop] == utils::IteratorType::reduction) reduction.group.push_back(loop);
  }
  return reduction;
}

static std::optional<Strides> stridesOf(linalg::GenericOp op, OpOperand &operand) {
  auto type = dyn_cast<MemRefType>(operand.get().getType());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (!type) return std::nullopt;
  SmallVector<int64_t> numbers;
  int64_t offset;
  if (failed(type.getStridesAndOffset(numbers, offset))) return std::nullopt;
  Strides strides(map.getNumDims(), int64_t{0});
  for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
    if (isa<AffineConstantExpr>(expr)) continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    // A diagonal, a step, or from the end: none of them is row after row.
    if (!dim || strides[dim.getPosition()] != int64_t{0}) return std::nullopt;
    if (!ShapedType::isDynamic(numbers[axis])) strides[dim.getPosition()] = numbers[axis];
    else strides[dim.getPosition()] = std::nullopt;
  }
  return strides;
}

/// Whether the axes that two neighbouring loops go along are neighbours of a dense buffer, as those
/// of unknown sizes are told by.
static bool areDense(linalg::GenericOp op, OpOperand &operand, unsigned outer, unsigned inner) {
  auto type = cast<MemRefType>(operand.get().getType());
  if (!type.getLayout().isIdentity()) return false;
  ArrayRef<AffineExpr> exprs = op.getMatchingIndexingMap(&operand).getResults();
  for (unsigned axis = 0; axis + 1 < exprs.size(); ++axis)
    if (exprs[axis].isFunctionOfDim(outer)) return exprs[axis + 1].isFunctionOfDim(inner);
  return false;
}

/// Whether the elements of an operand come in the order of the loops: the reduced ones are one run,
/// or none of them matters, and the last loop goes from neighbour to neighbour.
static bool isInOrder(const Reduction &reduction, OpOperand &operand) {
  linalg::GenericOp op = reduction.op;
  if (!isa<MemRefType>(operand.get().getType())) return true;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  const auto has = [&](unsigned loop) { return map.isFunctionOfDim(loop); };
  const bool varies = llvm::any_of(reduction.group, has);
  if (!varies && !has(*reduction.last)) return true;
  std::optional<Strides> strides = stridesOf(op, operand);
  if (!strides) return false;
  if (has(*reduction.last) && (*strides)[*reduction.last] != int64_t{1}) return false;
  if (!varies) return true;
  for (size_t i = 0; i < reduction.group.size(); ++i) {
    if (!has(reduction.group[i])) return false;
    if (i == 0) continue;
    const unsigned outer = reduction.group[i - 1], inner = reduction.group[i];
    const std::optional<int64_t> far = (*strides)[outer], near = (*strides)[inner];
    const int64_t size = reduction.sizes[inner];
    const bool known = far && near && !ShapedType::isDynamic(size);
    if (known ? *far != *near * size : !areDense(op, operand, outer, inner)) return false;
  }
  return true;
}

/// An operand and the axis of it along which a loop goes one by one, and whose size it so has.
static std::optional<std::pair<Value, unsigned>> axisOf(linalg::GenericOp op, unsigned loop) {
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType())) continue;
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      if (auto dim = dyn_cast<AffineDimExpr>(expr); dim && dim.getPosition() == loop)
        return std::pair(operand.get(), static_cast<unsigned>(axis));
  }
  return std::nullopt;
}

/// Makes the operand a dense copy over the loops that it has, and over all reduced ones if it has
/// one or that is wanted; and with loop `more`. Stays as it is if the size of one of these is
/// neither known nor that of an axis.
static void densify(const Reduction &reduction, OpOperand &operand, bool withAll = false,
                    std::optional<unsigned> more = std::nullopt) {
  linalg::GenericOp op = reduction.op;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  AffineMap map = op.getMatchingIndexingMap(&operand);
  const bool varies =
      llvm::any_of(reduction.group, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  SmallVector<unsigned> loops;
  for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
    if (map.isFunctionOfDim(loop) || loop == more ||
        ((varies || withAll) && llvm::is_contained(reduction.group, loop)))
      loops.push_back(loop);
  const auto sizeIsThere = [&](unsigned loop) {
    return !ShapedType::isDynamic(reduction.sizes[loop]) || axisOf(op, loop);
  };
  if (!llvm::all_of(loops, sizeIsThere)) return;
  SmallVector<int64_t> shape;
  SmallVector<Value> open;
  SmallVector<AffineExpr> inCopy(map.getNumDims(), b.getAffineConstantExpr(0)), ofLoops;
  for (auto [axis, loop] : llvm::enumerate(loops)) {
    inCopy[loop] = b.getAffineDimExpr(axis);
    ofLoops.push_back(b.getAffineDimExpr(loop));
    shape.push_back(reduction.sizes[loop]);
    if (!ShapedType::isDynamic(shape.back())) continue;
    const std::pair<Value, unsigned> at = *axisOf(op, loop);
    open.push_back(memref::DimOp::create(b, at.first, at.second));
  }
  auto type = MemRefType::get(shape, cast<MemRefType>(operand.get().getType()).getElementType());
  Value copy = memref::AllocOp::create(b, type, open);
  AffineMap from = map.replaceDimsAndSymbols(inCopy, {}, loops.size(), 0);
  linalg::GenericOp::create(
      b, operand.get(), copy, ArrayRef<AffineMap>{from, b.getMultiDimIdentityMap(loops.size())},
      SmallVector<utils::IteratorType>(loops.size(), utils::IteratorType::parallel),
      [](OpBuilder &builder, Location loc, ValueRange elements) {
        linalg::YieldOp::create(builder, loc, elements.front());
      });
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] = AffineMap::get(map.getNumDims(), 0, ofLoops, b.getContext());
  op.setIndexingMapsAttr(b.getAffineMapArrayAttr(maps));
  operand.set(copy);
}

namespace {

/// Where no operand has both a loop that stays and the last one, which is reduced, vectors would
/// run along the one that stays: an operand gets both.
void keepRuns(const Reduction &reduction) {
  linalg::GenericOp op = reduction.op;
  for (unsigned loop = 0; loop < reduction.sizes.size(); ++loop) {
    if (reduction.sizes[loop] == 1 || llvm::is_contained(reduction.group, loop)) continue;
    OpOperand *given = nullptr;
    bool both = false;
    for (OpOperand *operand : op.getDpsInputOperands()) {
      if (!isa<MemRefType>(operand->get().getType())) continue;
      AffineMap map = op.getMatchingIndexingMap(operand);
      const bool has = map.isFunctionOfDim(loop);
      if (has || !given) given = operand;
      both |= has && map.isFunctionOfDim(*reduction.last);
    }
    if (given && !both) densify(reduction, *given, /*withAll=*/true, loop);
  }
}

struct DensifyReductionsPass : impl::DensifyReductionsPassBase<DensifyReductionsPass> {
  void runOnOperation() final {
    SmallVector<linalg::GenericOp> ops;
    getOperation().walk([&](linalg::GenericOp op) { ops.push_back(op); });
    for (linalg::GenericOp op : ops) {
      std::optional<Reduction> reduction = asReduction(op);
      if (!reduction || reduction->group.empty()) continue;
      for (OpOperand *operand : op.getDpsInputOperands())
        if (!isInOrder(*reduction, *operand)) densify(*reduction, *operand);
      if (llvm::is_contained(reduction->group, *reduction->last)) keepRuns(*reduction);
    }
  }
};

} // namespace

} // namespace mlir::weft
