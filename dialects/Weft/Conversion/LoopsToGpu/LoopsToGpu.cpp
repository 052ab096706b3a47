// The pass weft-loops-to-gpu: every structured op on buffers as one launch, a thread per element.
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::weft {

#define GEN_PASS_DEF_LOOPSTOGPUPASS
#include "Weft/Conversion/Passes.h.inc"

using linalg::GenericOp;

/// Threads of a block: enough to hide latency, few enough for any register use.
static constexpr int64_t kBlockSize = 256;

namespace {

/// An empty launch, the kernel of which will be `kernel` in `module`; `b` is put into it.
gpu::LaunchOp launchOf(OpBuilder &b, Location loc, Value blocks, Value threads, StringRef module,
                       StringRef kernel) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto launch = gpu::LaunchOp::create(b, loc, blocks, one, one, threads, one, one);
  launch.setModuleAttr(FlatSymbolRefAttr::get(b.getStringAttr(module)));
  launch.setFunctionAttr(FlatSymbolRefAttr::get(b.getStringAttr(kernel)));
  b.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

/// Builds the launch of one structured op.
class LaunchBuilder {
public:
  /// `isProduct`: of what the library has routines for, of which one axis is summed over.
  LaunchBuilder(RewriterBase &rewriter, GenericOp op, bool isProduct)
      : b(op.getLoc(), rewriter), op(op), isProduct(isProduct) {
    b.setInsertionPoint(op);
  }

  /// `module` is the name of the kernels' module, `kernel` that of this one.
  gpu::LaunchOp build(StringRef module, StringRef kernel) {
    SmallVector<unsigned> parallel, reduced;
    op.getParallelDims(parallel);
    op.getReductionDims(reduced);
    auto structured = cast<linalg::LinalgOp>(op.getOperation());
    for (Range range : structured.createLoopRanges(b, op.getLoc()))
      sizes.push_back(toValue(range.size));
    Value count = index(1);
    for (unsigned loop : parallel) count = b.createOrFold<arith::MulIOp>(count, sizes[loop]);

    Value threads = index(kBlockSize);
    Value blocks = b.createOrFold<arith::CeilDivUIOp>(count, threads);
    gpu::LaunchOp launch = launchOf(b, op.getLoc(), blocks, threads, module, kernel);
    Value element = arith::AddIOp::create(
        b, arith::MulIOp::create(b, launch.getBlockIds().x, index(kBlockSize)),
        launch.getThreadIds().x);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, element, count);
    auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());

    // The last parallel loop runs fastest, so that neighbouring threads meet neighbouring elements.
    ivs.resize(sizes.size());
    for (unsigned loop : llvm::reverse(parallel)) {
      if (loop == parallel.front()) {
        ivs[loop] = element;
        break;
      }
      ivs[loop] = arith::RemUIOp::create(b, element, sizes[loop]);
      element = arith::DivUIOp::create(b, element, sizes[loop]);
    }
    SmallVector<Value> results = reduced.empty() ? body({}) : reduce(reduced);
    for (auto [number, result] : llvm::enumerate(results)) {
      OpOperand *init = op.getDpsInitOperand(number);
      memref::StoreOp::create(b, result, init->get(), subscripts(*init));
    }
    return launch;
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  Value toValue(OpFoldResult size) {
    if (auto value = dyn_cast<Value>(size)) return value;
    return index(*getConstantIntValue(size));
  }

  /// Where an operand is read or written in the present iteration.
  SmallVector<Value> subscripts(OpOperand &operand) {
    SmallVector<Value> result;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        result.push_back(ivs[dim.getPosition()]);
        continue;
      }
      AffineMap single = AffineMap::get(map.getNumDims(), 0, expr);
      SmallVector<Value> dims(ivs);
      for (Value &dim : dims)
        if (!dim) dim = index(0);
      result.push_back(affine::AffineApplyOp::create(b, single, dims));
    }
    return result;
  }

  Value load(OpOperand &operand) {
    if (!isa<MemRefType>(operand.get().getType())) return operand.get();
    return memref::LoadOp::create(b, operand.get(), subscripts(operand));
  }

  /// The loops over `reduced`, with the partial results carried in registers.
  SmallVector<Value> reduce(ArrayRef<unsigned> reduced) {
    SmallVector<Value> partial;
    for (OpOperand &init : op.getDpsInitsMutable()) partial.push_back(load(init));
    SmallVector<scf::ForOp> loops;
    for (unsigned number : reduced) {
      auto loop = scf::ForOp::create(b, index(0), sizes[number], index(1), partial);
      loops.push_back(loop);
      ivs[number] = loop.getInductionVar();
      partial = SmallVector<Value>(loop.getRegionIterArgs());
      b.setInsertionPointToStart(loop.getBody());
    }
    SmallVector<Value> results = body(partial);
    if (isProduct && reduced.size() == 1) results.front() = fused(results.front(), partial.front());
    for (scf::ForOp loop : llvm::reverse(loops)) {
      scf::YieldOp::create(b, results);
      results = SmallVector<Value>(loop.getResults());
      b.setInsertionPointAfter(loop);
    }
    return results;
  }

  /// A sum of `partial` and a product, rounded once: as the library's products do.
  Value fused(Value sum, Value partial) {
    auto add = sum.getDefiningOp<arith::AddFOp>();
    if (!add) return sum;
    Value other = add.getLhs() == partial ? add.getRhs() : add.getLhs();
    auto product = other.getDefiningOp<arith::MulFOp>();
    if (!product || (add.getLhs() != partial && add.getRhs() != partial)) return sum;
    Value result = math::FmaOp::create(b, product.getLhs(), product.getRhs(), partial);
    add.erase();
    if (product->use_empty()) product.erase();
    return result;
  }

  /// The op's body for the present iteration. `outs` are what it continues from; empty: as stored.
  SmallVector<Value> body(ArrayRef<Value> outs) {
    IRMapping mapping;
    Block *block = op.getBody();
    for (OpOperand *input : op.getDpsInputOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(input);
      if (!argument.use_empty()) mapping.map(argument, load(*input));
    }
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      BlockArgument argument = op.getMatchingBlockArgument(&init);
      if (!outs.empty()) mapping.map(argument, outs[number]);
      else if (!argument.use_empty()) mapping.map(argument, load(init));
    }
    for (Operation &inner : block->without_terminator()) {
      if (auto at = dyn_cast<linalg::IndexOp>(inner)) mapping.map(at.getResult(), ivs[at.getDim()]);
      else b.clone(inner, mapping);
    }
    return llvm::map_to_vector(block->getTerminator()->getOperands(),
                               [&](Value value) { return mapping.lookupOrDefault(value); });
  }

  ImplicitLocOpBuilder b;
  GenericOp op;
  SmallVector<Value> sizes; ///< of all loops
  SmallVector<Value> ivs;   ///< the present iteration
  bool isProduct;
};

/// `name` as PTX spells names: what is no letter, digit or underscore, and a digit in front, as `$`
/// and its number, so that different names stay different.
std::string spelledForPtx(StringRef name) {
  std::string spelled;
  for (char c : name) {
    if (llvm::isAlpha(c) || c == '_' || (llvm::isDigit(c) && !spelled.empty())) spelled += c;
    else spelled += "$" + llvm::utohexstr(static_cast<uint8_t>(c), /*LowerCase=*/true, 2);
  }
  return spelled;
}

struct LoopsToGpu : impl::LoopsToGpuPassBase<LoopsToGpu> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // All kernels are one module, which is one text of PTX, also of no kernels.
    SymbolTable symbols(module);
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "weft_kernels");
    symbols.insert(kernels);
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(toLaunches(function))) return signalPassFailure();
  }

  LogicalResult toLaunches(func::FuncOp function) {
    keepSizesOnHost(function);
    keepOutputs(function);
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> ops;
    function.walk([&](Operation *op) {
      auto store = dyn_cast<memref::StoreOp>(op);
      auto copy = dyn_cast<memref::CopyOp>(op);
      if (isa<linalg::LinalgOp>(op) || (store && !isOfHost(store.getMemRef())) ||
          (copy && !isDense(copy)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto isPlain = [](Type type) { return !isa<TensorType, UnrankedMemRefType>(type); };
      if (llvm::all_of(op->getOperandTypes(), isPlain)) continue;
      return op->emitOpError("is not on buffers of known rank, as a kernel is");
    }
    SmallVector<gpu::LaunchOp> launches;
    for (auto [number, op] : llvm::enumerate(ops)) {
      const std::string name = spelledForPtx(function.getName()) + "_" + std::to_string(number);
      rewriter.setInsertionPoint(op);
      if (auto store = dyn_cast<memref::StoreOp>(op)) {
        launches.push_back(storeOnDevice(rewriter, store, name));
        continue;
      }
      const bool isProduct = isa<linalg::ContractOp, linalg::MatmulOp, linalg::BatchMatmulOp>(op);
      FailureOr<GenericOp> generic = generalized(rewriter, op);
      if (failed(generic)) return op->emitOpError("has no form as a loop nest");
      // Of no elements there is no launch, but an output of them has to stay in use.
      if (llvm::is_contained(generic->getStaticLoopRanges(), 0)) continue;
      launches.push_back(
          LaunchBuilder(rewriter, *generic, isProduct).build(kernels.getName(), name));
      rewriter.eraseOp(*generic);
    }
    readOnDevice(function, launches);
    return success();
  }

  /// Whether the driver can copy: from one range of memory to another.
  static bool isDense(memref::CopyOp copy) {
    return llvm::all_of(copy->getOperandTypes(), [](Type type) {
      auto buffer = dyn_cast<MemRefType>(type);
      return buffer && buffer.areTrailingDimsContiguous(buffer.getRank());
    });
  }

  /// An output without elements that nobody writes is not to vanish as unused: a copy onto itself,
  /// which does nothing, uses it.
  static void keepOutputs(func::FuncOp function) {
    function.walk([](memref::AllocOp op) {
      if (!op->hasAttr(kOutput) || !llvm::all_of(op->getUsers(), isPure)) return;
      OpBuilder b(op->getContext());
      b.setInsertionPointAfter(op);
      memref::CopyOp::create(b, op.getLoc(), op, op);
    });
  }

  /// Lists of sizes, which only views read, are no tensors: they stay with the host.
  static void keepSizesOnHost(func::FuncOp function) {
    SmallVector<memref::AllocOp> lists;
    function.walk([&](memref::AllocOp op) {
      if (op.getType().getElementType().isIndex() && op.getType().hasStaticShape())
        lists.push_back(op);
    });
    for (memref::AllocOp list : lists) {
      OpBuilder b = OpBuilder::atBlockBegin(&function.getBody().front());
      for (Operation *user : llvm::make_early_inc_range(list->getUsers()))
        if (isa<memref::DeallocOp>(user)) user->erase();
      list.replaceAllUsesWith(
          memref::AllocaOp::create(b, list.getLoc(), list.getType()).getResult());
      list.erase();
    }
  }

  /// What the host stores in a buffer, stored by one thread.
  gpu::LaunchOp storeOnDevice(RewriterBase &rewriter, memref::StoreOp store, StringRef name) {
    Value one = arith::ConstantIndexOp::create(rewriter, store.getLoc(), 1);
    gpu::LaunchOp launch = launchOf(rewriter, store.getLoc(), one, one, kernels.getName(), name);
    rewriter.clone(*store);
    rewriter.eraseOp(store);
    return launch;
  }

  /// `op`, a structured op or a copy, as linalg.generic in its place.
  static FailureOr<GenericOp> generalized(RewriterBase &rewriter, Operation *op) {
    if (auto generic = dyn_cast<GenericOp>(op)) return generic;
    if (auto copy = dyn_cast<memref::CopyOp>(op)) {
      auto type = cast<MemRefType>(copy.getTarget().getType());
      AffineMap identity = rewriter.getMultiDimIdentityMap(type.getRank());
      SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
      auto generic = GenericOp::create(rewriter, op->getLoc(), copy.getSource(), copy.getTarget(),
                                       {identity, identity}, loops,
                                       [](OpBuilder &b, Location loc, ValueRange args) {
                                         linalg::YieldOp::create(b, loc, args[0]);
                                       });
      rewriter.eraseOp(copy);
      return generic;
    }
    return linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(op));
  }

  gpu::GPUModuleOp kernels;
};

} // namespace

} // namespace mlir::weft
