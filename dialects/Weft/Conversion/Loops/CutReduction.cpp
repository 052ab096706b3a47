// The three nests of a reduction that is cut into blocks.

#include "Weft/Conversion/Loops/CutReduction.h"

#include "OpDefs/ReductionOrder.h"
#include "Weft/Conversion/Loops/Body.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::weft;

namespace {

/// The sizes by which eager code decides: elements before, in and behind the reduced axes.
struct Extents {
  Product outer, reduced, inner;

  bool known() const { return outer.isStatic() && reduced.isStatic() && inner.isStatic(); }
};

/// The op's own loops, before any were merged, since eager code knows no others. Nothing if the
/// reduced loops are not neighbours.
std::optional<Extents> extentsOf(const LoopNest &nest) {
  Extents extents;
  bool inside = false;
  for (const LoopDim &dim : nest.own) {
    if (dim.size.isConstant(1)) continue;
    if (dim.reduction) {
      if (!extents.inner.isConstant(1)) return std::nullopt;
      inside = true;
      extents.reduced = extents.reduced * dim.size;
    } else {
      Product &side = inside ? extents.inner : extents.outer;
      side = side * dim.size;
    }
  }
  return extents;
}

/// A ReductionCut whose numbers may be known only when it runs.
struct Cut {
  Product rows, blocks, rest, parts;
  /// Whether the reduction is cut; null if it is known to be.
  Value wanted;
};

/// OpDefs/ReductionOrder.h for unknown sizes.
Cut cutAtRunTime(OpBuilder &b, Location loc, const Extents &extents) {
  auto number = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(b, loc, value);
  };
  auto atLeast = [&](Value value, int64_t least) -> Value {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::sge, value, number(least));
  };
  Cut cut;
  Value zero = number(0), wanted;
  auto require = [&](Value condition) {
    wanted = wanted ? Value(arith::AndIOp::create(b, loc, wanted, condition)) : condition;
  };
  if (!extents.outer.isStatic())
    require(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt,
                                  extents.outer.materialize(b, loc), number(::weft::kEnoughOuter)));
  Value rows;
  if (extents.inner.isStatic()) {
    const int64_t inner = std::max<int64_t>(extents.inner.constant, 1);
    cut.rows = Product(::weft::kReductionBlock / inner);
    rows = number(cut.rows.constant);
  } else {
    Value inner = arith::MaxSIOp::create(b, loc, extents.inner.materialize(b, loc), number(1));
    // Where rows would be too few it is not cut; nothing is divided by zero for that.
    rows = arith::DivUIOp::create(b, loc, number(::weft::kReductionBlock), inner);
    require(atLeast(rows, ::weft::kFewestRows));
    rows = arith::MaxSIOp::create(b, loc, rows, number(1));
    cut.rows = Product(rows);
  }
  Value reduced = extents.reduced.materialize(b, loc);
  Value blocks = arith::DivUIOp::create(b, loc, reduced, rows);
  Value rest = arith::RemUIOp::create(b, loc, reduced, rows);
  require(atLeast(blocks, 2));
  Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, rest, zero);
  Value one = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), more);
  cut.blocks = Product(blocks);
  cut.rest = Product(rest);
  cut.parts = Product(arith::AddIOp::create(b, loc, blocks, one).getResult());
  cut.wanted = wanted;
  return cut;
}

/// How the nest is cut, if it is or may be.
std::optional<Cut> cutOf(OpBuilder &b, Location loc, const Extents &extents) {
  const auto &[outer, reduced, inner] = extents;
  if (extents.known()) {
    auto cut = ::weft::cut_reduction(outer.constant, reduced.constant, inner.constant);
    if (!cut) return std::nullopt;
    return Cut{cut->rows, cut->blocks, cut->rest, cut->parts(), Value()};
  }
  // What is known may tell already that it is not cut.
  if (outer.isStatic() && outer.constant >= ::weft::kEnoughOuter) return std::nullopt;
  const int64_t fewestRows = inner.isStatic()
                                 ? ::weft::kReductionBlock / std::max<int64_t>(inner.constant, 1)
                                 : ::weft::kFewestRows;
  if (fewestRows < ::weft::kFewestRows) return std::nullopt;
  if (reduced.isStatic() && reduced.constant / fewestRows < 2) return std::nullopt;
  return cutAtRunTime(b, loc, extents);
}

/// The only loop that reduces; -1 if there are several.
int onlyReduction(const LoopNest &nest) {
  int found = -1;
  for (auto [d, dim] : llvm::enumerate(nest.dims)) {
    if (!dim.reduction) continue;
    if (found >= 0) return -1;
    found = static_cast<int>(d);
  }
  return found;
}

/// Builds the nests around one buffer of partial results.
class Cutter {
public:
  Cutter(OpBuilder &builder, LoopNest &nest, unsigned reduced, Operation *combiner, const Cut &cut)
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
  LoopNest toPartials(const Product &rows);
  Value sum(Value offset, const Product &more);

  OpBuilder &b_;
  LoopNest &nest_;
  unsigned reduced_;
  Operation *combiner_;
  Cut cut_;
  Value partials_;
  Product total_{1};
  /// Distances of neighbours among the partial results, per loop; that of blocks at `reduced_`.
  SmallVector<Product, 4> strides_;
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
    total_ = total_ * (d == reduced_ ? cut_.parts : nest_.dims[d].size);
  }
  Location loc = nest_.op.getLoc();
  const int64_t known = total_.isStatic() ? total_.constant : ShapedType::kDynamic;
  auto type = MemRefType::get({known}, output(nest_).elementType);
  SmallVector<Value, 1> sizes;
  if (!total_.isStatic()) sizes.push_back(total_.materialize(b_, loc));
  partials_ = memref::AllocOp::create(b_, loc, type, sizes);
}

/// The nest over `rows` of the reduced elements, with the first block's partial results as output.
LoopNest Cutter::toPartials(const Product &rows) {
  LoopNest nest = nest_;
  nest.dims[reduced_].size = rows;
  nest.combiners = {combiner_};
  nest.fromNeutral = true;
  Access &to = output(nest);
  to.memref = partials_;
  to.offset = Value();
  to.staticOffset = 0;
  to.extent = total_.isStatic() ? total_.constant : -1;
  for (auto [d, stride] : llvm::enumerate(strides_)) to.strides[d] = stride;
  to.strides[reduced_] = Product(0);
  return nest;
}

/// All whole blocks, as the outermost loop.
LoopNest Cutter::blocks() {
  LoopNest nest = toPartials(cut_.rows);
  // Its number in the op is the reduced loop's, which stands inside and has the last word.
  LoopDim block{cut_.blocks, /*reduction=*/false, nest.dims[reduced_].source};
  nest.dims.insert(nest.dims.begin(), block);
  ++nest.vectorDim;
  for (Access &access : nest.accesses) {
    Product stride = access.strides[reduced_] * cut_.rows;
    access.strides.insert(access.strides.begin(), stride);
  }
  output(nest).strides.front() = strides_[reduced_];
  return nest;
}

/// `offset`, which may be null, and so many elements more.
Value Cutter::sum(Value offset, const Product &more) {
  Location loc = nest_.op.getLoc();
  Value value = more.materialize(b_, loc);
  return offset ? Value(arith::AddIOp::create(b_, loc, offset, value)) : value;
}

LoopNest Cutter::rest() {
  LoopNest nest = toPartials(cut_.rest);
  auto skip = [&](Access &access, const Product &elements) {
    if (elements.isStatic()) access.staticOffset += elements.constant;
    else access.offset = sum(access.offset, elements);
  };
  for (Access &access : nest.accesses)
    skip(access, access.strides[reduced_] * cut_.blocks * cut_.rows);
  skip(output(nest), cut_.blocks * strides_[reduced_]);
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
  nest.dims[reduced_].size = cut_.parts;
  nest.form = nest_.form;
  nest.vectorDim = nest_.vectorDim;
  nest.lanes = nest_.lanes;
  nest.combiners = {findCombiner(nest.op, 0)};
  nest.accesses = {toPartials(1).accesses.back(), output(nest_)};
  nest.accesses[0].strides[reduced_] = strides_[reduced_];
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
  const std::optional<Extents> extents = extentsOf(nest);
  Operation *combiner = findCombiner(nest.op, 0);
  if (reduced < 0 || !extents || !combiner) return std::nullopt;
  // A body that asks where it stands would have to be told the block.
  if (!nest.op.getBlock()->getOps<linalg::IndexOp>().empty()) return std::nullopt;
  Location loc = nest.op.getLoc();
  // Code without threads are the kernels of the table: who calls them with such sizes has cut.
  if (options.parallelWork == 0 && !extents->known()) return std::nullopt;
  const std::optional<Cut> cut = cutOf(rewriter, loc, *extents);
  if (!cut) return std::nullopt;

  SmallVector<ParallelLoop, 2> parallel;
  auto emit = [&](LoopNest part) {
    if (auto loop = emitLoopNest(rewriter, part, views, options)) parallel.push_back(*loop);
  };
  OpBuilder::InsertionGuard guard(rewriter);
  if (cut->wanted) {
    auto choice = scf::IfOp::create(rewriter, loc, cut->wanted, /*withElseRegion=*/true);
    rewriter.setInsertionPointToStart(choice.elseBlock());
    emit(nest);
    rewriter.setInsertionPointToStart(choice.thenBlock());
  }
  Cutter cutter(rewriter, nest, reduced, combiner, *cut);
  emit(cutter.blocks());
  if (!cut->rest.isStatic()) {
    Value none = arith::ConstantIndexOp::create(rewriter, loc, 0);
    Value some = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne,
                                       cut->rest.materialize(rewriter, loc), none);
    auto rest = scf::IfOp::create(rewriter, loc, some, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(rewriter);
    rewriter.setInsertionPointToStart(rest.thenBlock());
    emit(cutter.rest());
  } else if (!cut->rest.isZero()) {
    emit(cutter.rest());
  }
  LoopNest combination = cutter.combination();
  linalg::LinalgOp op = combination.op;
  emit(std::move(combination));
  rewriter.eraseOp(op);
  memref::DeallocOp::create(rewriter, loc, cutter.partials());
  return parallel;
}
