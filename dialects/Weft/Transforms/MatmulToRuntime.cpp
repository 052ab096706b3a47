// The pass weft-matmul-to-runtime: contractions on buffers as calls of the library's matmul.
#include "Weft/IR/Attributes.h"
#include "Weft/Transforms/AccumulateProducts.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

#define GEN_PASS_DEF_MATMULTORUNTIMEPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

enum { kLhs, kRhs, kResult };

/// One loop of the product: its size and the distance of neighbours in each buffer, 0 where the
/// buffer lacks the loop.
struct Loop {
  OpFoldResult size;
  std::array<OpFoldResult, 3> strides;
  std::array<bool, 3> has = {false, false, false}; ///< whether a buffer has it
};

/// A contraction as the loops it runs over.
struct Product {
  std::array<Value, 3> buffers;
  SmallVector<Loop> batch, rows, columns; ///< outermost first
  Loop inner;
};

} // namespace

/// Whether the elements of the product, integers, are the bits of bf16.
static bool isOfBf16(linalg::LinalgOp op) { return op->hasAttr(kBf16Product); }

/// The name of the runtime's function for the product, or "".
static StringRef runtimeFunction(linalg::LinalgOp op, bool adds = false) {
  if (isOfBf16(op)) return "weft_rt_matmul_bf16";
  Type element = getElementTypeOrSelf(op.getDpsInitOperand(0)->get().getType());
  if (element.isF32()) return adds ? "weft_rt_matmul_add_f32" : "weft_rt_matmul_f32";
  if (element.isF64()) return adds ? "weft_rt_matmul_add_f64" : "weft_rt_matmul_f64";
  if (element.isInteger(32)) return adds ? "weft_rt_matmul_add_i32" : "weft_rt_matmul_i32";
  if (element.isInteger(64)) return adds ? "weft_rt_matmul_add_i64" : "weft_rt_matmul_i64";
  return "";
}

/// Splits the loops of `op` into batches, rows, columns and the inner one. Nothing if the runtime
/// has no such product.
static std::optional<Product> analyse(ImplicitLocOpBuilder &b, linalg::LinalgOp op) {
  Product product;
  product.buffers = {op.getDpsInputOperand(0)->get(), op.getDpsInputOperand(1)->get(),
                     op.getDpsInitOperand(0)->get()};
  Type element = getElementTypeOrSelf(product.buffers[kResult].getType());
  for (Value buffer : product.buffers)
    if (getElementTypeOrSelf(buffer.getType()) != element) return std::nullopt;
  if (runtimeFunction(op).empty()) return std::nullopt;

  SmallVector<Loop> loops(op.getNumLoops());
  for (auto [number, map] : llvm::enumerate(op.getIndexingMapsArray())) {
    if (!map.isProjectedPermutation()) return std::nullopt;
    auto metadata = memref::ExtractStridedMetadataOp::create(b, product.buffers[number]);
    SmallVector<OpFoldResult> sizes = metadata.getConstifiedMixedSizes();
    SmallVector<OpFoldResult> strides = metadata.getConstifiedMixedStrides();
    for (auto [axis, expr] : llvm::enumerate(map.getResults())) {
      Loop &loop = loops[cast<AffineDimExpr>(expr).getPosition()];
      if (!loop.size || isa<Attribute>(sizes[axis])) loop.size = sizes[axis];
      loop.strides[number] = strides[axis];
      loop.has[number] = true;
    }
  }
  bool hasInner = false;
  for (Loop &loop : loops) {
    for (OpFoldResult &stride : loop.strides)
      if (!stride) stride = b.getIndexAttr(0);
    if (!loop.has[kResult]) {
      if (hasInner || !loop.has[kLhs] || !loop.has[kRhs]) return std::nullopt;
      product.inner = loop;
      hasInner = true;
    } else if (loop.has[kLhs] && loop.has[kRhs]) {
      product.batch.push_back(loop);
    } else {
      (loop.has[kLhs] ? product.rows : product.columns).push_back(loop);
    }
  }
  if (!hasInner) return std::nullopt;
  return product;
}

/// Whether stepping through `outer` goes on where `inner` ends, in every buffer.
static bool continues(const Loop &outer, const Loop &inner) {
  std::optional<int64_t> size = getConstantIntValue(inner.size);
  if (!size) return false;
  for (int buffer : {kLhs, kRhs, kResult}) {
    std::optional<int64_t> far = getConstantIntValue(outer.strides[buffer]);
    std::optional<int64_t> near = getConstantIntValue(inner.strides[buffer]);
    if (!far || !near || *far != *near * *size) return false;
  }
  return true;
}

/// Merges neighbours that are one loop in memory: (batch, rows) x matrix is one large product.
static void merge(ImplicitLocOpBuilder &b, SmallVector<Loop> &loops) {
  for (size_t i = loops.size(); i-- > 1;) {
    std::optional<int64_t> outer = getConstantIntValue(loops[i - 1].size);
    if (!outer || !continues(loops[i - 1], loops[i])) continue;
    loops[i - 1].strides = loops[i].strides;
    loops[i - 1].size = b.getIndexAttr(*outer * *getConstantIntValue(loops[i].size));
    loops.erase(loops.begin() + i);
  }
}

static Value toValue(ImplicitLocOpBuilder &b, OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size)) return value;
  return arith::ConstantIndexOp::create(b, *getConstantIntValue(size));
}

/// A view that starts at the loops' present position.
static Value advanced(ImplicitLocOpBuilder &b, Value buffer, int number, ArrayRef<Loop> outer,
                      ValueRange positions) {
  if (outer.empty()) return buffer;
  auto metadata = memref::ExtractStridedMetadataOp::create(b, buffer);
  Value offset = metadata.getOffset();
  for (auto [loop, position] : llvm::zip_equal(outer, positions)) {
    Value stride = toValue(b, loop.strides[number]);
    offset = arith::AddIOp::create(b, offset, arith::MulIOp::create(b, position, stride));
  }
  Type element = getElementTypeOrSelf(buffer.getType());
  auto layout = StridedLayoutAttr::get(b.getContext(), ShapedType::kDynamic, {});
  auto point = MemRefType::get({}, element, layout);
  return memref::ReinterpretCastOp::create(b, point, metadata.getBaseBuffer(), OpFoldResult(offset),
                                           ArrayRef<OpFoldResult>{}, ArrayRef<OpFoldResult>{});
}

/// Builds the call, in loops over all batches but the last.
static void buildCall(ImplicitLocOpBuilder &b, StringRef function, Product &product) {
  merge(b, product.batch);
  merge(b, product.rows);
  merge(b, product.columns);
  Loop unit;
  unit.size = b.getIndexAttr(1);
  unit.strides.fill(b.getIndexAttr(0));
  // The call has one loop of each kind; more rows or columns are batches in which one operand
  // stays.
  Loop row = product.rows.empty() ? unit : product.rows.pop_back_val();
  Loop column = product.columns.empty() ? unit : product.columns.pop_back_val();
  SmallVector<Loop> outer = std::move(product.batch);
  llvm::append_range(outer, product.rows);
  llvm::append_range(outer, product.columns);
  Loop batch = outer.empty() ? unit : outer.pop_back_val();

  SmallVector<Value> positions;
  OpBuilder::InsertionGuard guard(b);
  for (Loop &loop : outer) {
    Value zero = toValue(b, b.getIndexAttr(0)), one = toValue(b, b.getIndexAttr(1));
    auto nest = scf::ForOp::create(b, zero, toValue(b, loop.size), one);
    positions.push_back(nest.getInductionVar());
    b.setInsertionPointToStart(nest.getBody());
  }
  std::array<Value, 3> start;
  for (int buffer : {kLhs, kRhs, kResult})
    start[buffer] = advanced(b, product.buffers[buffer], buffer, outer, positions);
  SmallVector<Value> operands;
  auto pass = [&](OpFoldResult number) {
    operands.push_back(arith::IndexCastOp::create(b, b.getI64Type(), toValue(b, number)));
  };
  for (const Loop *loop : {&batch, &row, &column, &product.inner}) pass(loop->size);
  operands.push_back(start[kLhs]);
  for (const Loop *loop : {&batch, &row, &product.inner}) pass(loop->strides[kLhs]);
  operands.push_back(start[kRhs]);
  for (const Loop *loop : {&batch, &product.inner, &column}) pass(loop->strides[kRhs]);
  operands.push_back(start[kResult]);
  for (const Loop *loop : {&batch, &row}) pass(loop->strides[kResult]);
  callRuntime(b, function, operands, /*withContext=*/false);
}

/// Whether the runtime can write the result: its columns must be neighbours. A result with rows but
/// no columns is written as the transposed product.
static bool makeColumnsAdjacent(Product &product) {
  auto adjacent = [](ArrayRef<Loop> loops) {
    return loops.empty() || isConstantIntValue(loops.back().strides[kResult], 1) ||
           isConstantIntValue(loops.back().size, 1);
  };
  if (adjacent(product.columns)) return true;
  if (!adjacent(product.rows)) return false;
  std::swap(product.rows, product.columns);
  std::swap(product.buffers[kLhs], product.buffers[kRhs]);
  auto swapStrides = [](Loop &loop) { std::swap(loop.strides[kLhs], loop.strides[kRhs]); };
  for (auto *loops : {&product.batch, &product.rows, &product.columns})
    llvm::for_each(*loops, swapStrides);
  swapStrides(product.inner);
  return true;
}

/// The fill with zeros that `op` accumulates into, with nothing between them that uses the buffer.
static linalg::FillOp zeroFillBefore(linalg::LinalgOp op) {
  Value result = op.getDpsInitOperand(0)->get();
  for (Operation *other = op->getPrevNode(); other; other = other->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(other); fill && fill.output() == result) {
      Value value = fill.value();
      return matchPattern(value, m_PosZeroFloat()) || matchPattern(value, m_Zero()) ? fill
                                                                                    : nullptr;
    }
    bool uses = false;
    other->walk(
        [&](Operation *inner) { uses |= llvm::is_contained(inner->getOperands(), result); });
    if (uses) return nullptr;
  }
  return nullptr;
}

/// Whether the runtime adds to the output as if the product had been computed apart: a batch of
/// thin products with gaps between them would be cut into others.
static bool canAdd(linalg::LinalgOp op) {
  return cast<MemRefType>(op.getDpsInitOperand(0)->get().getType()).getLayout().isIdentity();
}

/// Computes a product in memory of its own, and behind it copies it or, if it `weft.adds_whole`,
/// adds it.
static void computeApart(ImplicitLocOpBuilder &b, linalg::ContractOp op) {
  Value sum = op.getOutputs()[0];
  const bool adds = op->hasAttr(addsWholeName);
  auto type = cast<MemRefType>(sum.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, sum, axis));
  auto plain = MemRefType::get(type.getShape(), type.getElementType());
  Value own = memref::AllocOp::create(b, plain, sizes);
  if (adds) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(type.getElementType()));
    linalg::FillOp::create(b, zero, own);
  }
  op->removeAttr(addsWholeName);
  op.getOutputsMutable().assign(own);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfter(op);
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, own, sum, {identity, identity}, loops, [&](OpBuilder &body, Location at, ValueRange args) {
        if (!adds) {
          linalg::YieldOp::create(body, at, args[0]);
          return;
        }
        Value total = isa<FloatType>(args[0].getType())
                          ? Value(arith::AddFOp::create(body, at, args[1], args[0]))
                          : arith::AddIOp::create(body, at, args[1], args[0]);
        linalg::YieldOp::create(body, at, total);
      });
}

/// Copies what lies in steps along every axis of its matrices: the library's kernels add in the
/// order of the layout, and eager execution copies it too.
static void copySteps(ImplicitLocOpBuilder &b, linalg::LinalgOp op) {
  AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  OpOperand *operands[] = {op.getDpsInputOperand(0), op.getDpsInputOperand(1)};
  AffineMap maps[] = {op.getMatchingIndexingMap(operands[0]),
                      op.getMatchingIndexingMap(operands[1])};
  for (auto [number, operand] : llvm::enumerate(operands)) {
    Value buffer = operand->get();
    auto type = cast<MemRefType>(buffer.getType());
    auto [strides, offset] = type.getStridesAndOffset();
    bool steps = false, adjacent = false;
    for (auto [axis, loop] : llvm::enumerate(maps[number].getResults())) {
      const bool batch = llvm::is_contained(result.getResults(), loop) &&
                         llvm::is_contained(maps[1 - number].getResults(), loop);
      if (batch || type.getDimSize(axis) == 1) continue;
      const bool near = strides[axis] == 0 || strides[axis] == 1;
      (near ? adjacent : steps) = true;
    }
    if (!steps || adjacent) continue;
    SmallVector<Value> sizes;
    for (int64_t axis = 0; axis < type.getRank(); ++axis)
      if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, buffer, axis));
    Value dense =
        memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
    AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
    SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
    linalg::GenericOp::create(b, buffer, dense, {identity, identity}, loops,
                              [](OpBuilder &body, Location at, ValueRange args) {
                                linalg::YieldOp::create(body, at, args[0]);
                              });
    operand->set(dense);
  }
}

/// A product of bf16 is always the library's, which overwrites the output: there are no loops with
/// its bits.
static LogicalResult replaceOfBf16(ImplicitLocOpBuilder &b, linalg::ContractOp op) {
  if (linalg::FillOp fill = zeroFillBefore(op)) fill.erase();
  std::optional<Product> product = analyse(b, op);
  if (!product) return op.emitOpError("of bf16 is no product of matrices");
  if (!makeColumnsAdjacent(*product)) {
    computeApart(b, op);
    product = analyse(b, op);
    makeColumnsAdjacent(*product);
  }
  buildCall(b, runtimeFunction(op), *product);
  op->erase();
  return success();
}

namespace {
struct MatmulToRuntime : impl::MatmulToRuntimePassBase<MatmulToRuntime> {
  void runOnOperation() override {
    SmallVector<linalg::LinalgOp> products;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (isMatrixProduct(op) && op.hasPureBufferSemantics()) products.push_back(op);
    });
    for (linalg::LinalgOp op : products) {
      ImplicitLocOpBuilder b(op.getLoc(), op);
      if (isOfBf16(op)) {
        if (failed(replaceOfBf16(b, cast<linalg::ContractOp>(op)))) return signalPassFailure();
        continue;
      }
      if (op->hasAttr(addsWholeName) && !canAdd(op)) computeApart(b, cast<linalg::ContractOp>(op));
      const bool adds = op->hasAttr(addsWholeName);
      linalg::FillOp fill = adds ? linalg::FillOp() : zeroFillBefore(op);
      if (!fill && !adds) continue;
      if (!runtimeFunction(op).empty()) copySteps(b, op);
      std::optional<Product> product = analyse(b, op);
      if (!product || !makeColumnsAdjacent(*product)) {
        if (adds) computeApart(b, cast<linalg::ContractOp>(op));
        continue;
      }
      buildCall(b, runtimeFunction(op, adds), *product);
      if (fill) fill.erase();
      op->erase();
    }
  }
};
} // namespace

} // namespace mlir::weft
