// The three nests of a reduction that is cut into blocks.

#include "Weft/Conversion/Loops/CutReduction.h"

#include "OpDefs/ReductionOrder.h"
#include "Weft/Conversion/Loops/Body.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::weft;

namespace {

/// How the op's own loops are cut: by their sizes before any were merged, since eager code knows no
/// others. Nothing if sizes are unknown or the reduced loops are not neighbours.
std::optional<::weft::ReductionCut> cutOf(linalg::LinalgOp op) {
  int64_t outer = 1, reduced = 1, inner = 1;
  bool inside = false;
  for (auto [size, kind] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(size)) return std::nullopt;
    if (size == 1) continue;
    if (kind == utils::IteratorType::reduction) {
      if (inner != 1) return std::nullopt;
      inside = true;
      reduced *= size;
    } else {
      (inside ? inner : outer) *= size;
    }
  }
  return ::weft::cut_reduction(outer, reduced, inner);
}

/// The only loop that reduces; -1 if there are several, or other loops have unknown sizes.
int onlyReduction(const LoopNest &nest) {
  int found = -1;
  for (auto [d, dim] : llvm::enumerate(nest.dims)) {
    if (!dim.size.isStatic()) return -1;
    if (!dim.reduction) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

/// Builds the nests around one buffer of partial results.
class Cutter {
public:
  Cutter(OpBuilder &builder, LoopNest &nest, unsigned reduced, Operation *combiner,
         const ::weft::ReductionCut &cut)
      : b_(builder), nest_(nest), reduced_(reduced), combiner_(combiner), cut_(cut) {
    placePartials();
  }

  LoopNest blocks();
  LoopNest rest();
  LoopNest combination();
  Value partials() const { return partials_; }

private:
  void placePartials();
  Access &output(LoopNest &nest) { return nest.accesses.back(); }
  LoopNest toPartials(int64_t rows);

  OpBuilder &b_;
  LoopNest &nest_;
  unsigned reduced_;
  Operation *combiner_;
  ::weft::ReductionCut cut_;
  Value partials_;
  int64_t total_ = 1;
  /// Distances of neighbours among the partial results, per loop; that of blocks at `reduced_`.
  SmallVector<int64_t, 4> strides_;
};

/// Lays the partial results out so that vectors run through them as they run through the elements.
void Cutter::placePartials() {
  SmallVector<unsigned, 4> order;
  for (unsigned d = 0; d < nest_.dims.size(); ++d)
    if (d != reduced_ && d != nest_.vectorDim) order.push_back(d);
  order.push_back(reduced_);
  if (nest_.vectorDim != reduced_) order.push_back(nest_.vectorDim);
  strides_.resize(nest_.dims.size());
  for (unsigned d : llvm::reverse(order)) {
    strides_[d] = total_;
    total_ *= d == reduced_ ? cut_.parts() : nest_.dims[d].size.constant;
  }
  auto type = MemRefType::get({total_}, output(nest_).elementType);
  partials_ = memref::AllocOp::create(b_, nest_.op.getLoc(), type);
}

/// The nest over `rows` of the reduced elements, with the first block's partial results as output.
LoopNest Cutter::toPartials(int64_t rows) {
  LoopNest nest = nest_;
  nest.dims[reduced_].size = Product(rows);
  nest.combiners = {combiner_};
  nest.fromNeutral = true;
  Access &to = output(nest);
  to.memref = partials_;
  to.offset = Value();
  to.staticOffset = 0;
  to.extent = total_;
  for (auto [d, stride] : llvm::enumerate(strides_)) to.strides[d] = Product(stride);
  to.strides[reduced_] = Product(0);
  return nest;
}

/// All whole blocks, as the outermost loop.
LoopNest Cutter::blocks() {
  LoopNest nest = toPartials(cut_.rows);
  // Its number in the op is the reduced loop's, which stands inside and has the last word.
  LoopDim block{Product(cut_.blocks), /*reduction=*/false, nest.dims[reduced_].source};
  nest.dims.insert(nest.dims.begin(), block);
  ++nest.vectorDim;
  for (Access &access : nest.accesses) {
    Product stride = access.strides[reduced_] * Product(cut_.rows);
    access.strides.insert(access.strides.begin(), stride);
  }
  output(nest).strides.front() = Product(strides_[reduced_]);
  return nest;
}

LoopNest Cutter::rest() {
  LoopNest nest = toPartials(cut_.rest);
  for (Access &access : nest.accesses) {
    Product skipped = access.strides[reduced_] * Product(cut_.blocks * cut_.rows);
    if (skipped.isStatic()) {
      access.staticOffset += skipped.constant;
      continue;
    }
    Location loc = nest_.op.getLoc();
    Value offset = skipped.materialize(b_, loc);
    access.offset =
        access.offset ? Value(arith::AddIOp::create(b_, loc, access.offset, offset)) : offset;
  }
  output(nest).staticOffset = cut_.blocks * strides_[reduced_];
  return nest;
}

/// From the partial results to the output; of an op of its own, which its user erases.
LoopNest Cutter::combination() {
  OpOperand *to = output(nest_).operand;
  AffineMap map = nest_.op.getMatchingIndexingMap(to);
  SmallVector<utils::IteratorType> iterators = nest_.op.getIteratorTypesArray();
  auto op = linalg::GenericOp::create(
      b_, nest_.op.getLoc(), partials_, to->get(), ArrayRef<AffineMap>{map, map}, iterators,
      [&](OpBuilder &builder, Location loc, ValueRange arguments) {
        linalg::YieldOp::create(builder, loc,
                                buildCombine(builder, combiner_, arguments[1], arguments[0]));
      });
  LoopNest nest;
  nest.op = op;
  nest.dims = nest_.dims;
  nest.dims[reduced_].size = Product(cut_.parts());
  nest.form = nest_.form;
  nest.vectorDim = nest_.vectorDim;
  nest.combiners = {findCombiner(nest.op, 0)};
  nest.accesses = {toPartials(1).accesses.back(), output(nest_)};
  nest.accesses[0].strides[reduced_] = Product(strides_[reduced_]);
  for (auto [access, operand] : llvm::zip_equal(nest.accesses, op->getOpOperands()))
    access.operand = &operand;
  return nest;
}

} // namespace

std::optional<SmallVector<ParallelLoop, 2>>
mlir::weft::cutReduction(IRRewriter &rewriter, LoopNest &nest, FlatViews &views,
                         const LowerLoopsPassOptions &options) {
  if (nest.form == NestForm::scalar || nest.op.getNumDpsInits() != 1) return std::nullopt;
  const int reduced = onlyReduction(nest);
  std::optional<::weft::ReductionCut> cut = cutOf(nest.op);
  Operation *combiner = findCombiner(nest.op, 0);
  if (reduced < 0 || !cut || !combiner) return std::nullopt;
  // A body that asks where it stands would have to be told the block.
  if (!nest.op.getBlock()->getOps<linalg::IndexOp>().empty()) return std::nullopt;

  Cutter cutter(rewriter, nest, reduced, combiner, *cut);
  SmallVector<ParallelLoop, 2> parallel;
  auto emit = [&](LoopNest part) {
    if (auto loop = emitLoopNest(rewriter, part, views, options)) parallel.push_back(*loop);
  };
  emit(cutter.blocks());
  if (cut->rest != 0) emit(cutter.rest());
  LoopNest combination = cutter.combination();
  linalg::LinalgOp op = combination.op;
  emit(std::move(combination));
  rewriter.eraseOp(op);
  memref::DeallocOp::create(rewriter, nest.op.getLoc(), cutter.partials());
  return parallel;
}
