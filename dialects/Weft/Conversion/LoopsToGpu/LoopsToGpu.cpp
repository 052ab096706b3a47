// The pass weft-loops-to-gpu: every structured op on buffers as one launch, a thread per element.
#include "Weft/Conversion/LoopsToGpu/Attention.h"
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"
#include "Weft/Conversion/LoopsToGpu/Products.h"
#include "Weft/Conversion/LoopsToGpu/Reductions.h"
#include "Weft/Conversion/LoopsToGpu/RowKernels.h"
#include "Weft/Conversion/LoopsToGpu/Transposes.h"
#include "Weft/Conversion/Passes.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Attributes.h"
#include "Weft/Transforms/RuntimeCalls.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/StringExtras.h"

namespace mlir::weft {

#define GEN_PASS_DEF_LOOPSTOGPUPASS
#include "Weft/Conversion/Passes.h.inc"

using linalg::GenericOp;

namespace {

/// What an init is filled with by the op right before, as no other sees it: the fill; null if it is
/// not.
linalg::FillOp fillOf(GenericOp op, OpOperand &init) {
  if (llvm::is_contained(op.getStaticLoopRanges(), 0)) return {};
  // Every element of it is a result.
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (!map.isProjectedPermutation() || op.getMatchingBlockArgument(&init).use_empty()) return {};
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()) && mayShare(init.get(), input->get())) return {};
  for (Value buffer : readByBody(op))
    if (mayShare(init.get(), buffer)) return {};
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (auto fill = dyn_cast<linalg::FillOp>(before))
      return fill.getOutputs().front() == init.get() ? fill : linalg::FillOp();
    if (!isPure(before) && !isa<memref::AllocOp>(before)) break;
  }
  return {};
}

/// Builds the launches of one structured op in its place.
class LaunchBuilder {
public:
  /// `isProduct`: of what the library has routines for, of which one axis is summed over.
  LaunchBuilder(RewriterBase &rewriter, GenericOp op, bool isProduct)
      : b(op.getLoc(), rewriter), op(op), isProduct(isProduct) {
    b.setInsertionPoint(op);
  }

  /// `module` is the name of the kernels' module, `kernel` that of this one. `starts` are what the
  /// results begin with, null where it is stored there.
  SmallVector<gpu::LaunchOp> build(StringRef module, StringRef kernel, ArrayRef<Value> starts) {
    SmallVector<unsigned> parallel, reduced;
    op.getParallelDims(parallel);
    op.getReductionDims(reduced);
    if (!reduced.empty() && (!isProduct || isWithVector(op)) && isWorthThreads(op))
      return buildReduction(b, op, starts, module, kernel);

    KernelBody nest(b, op);
    const int64_t width = reduced.empty() ? widthOf(parallel) : 1;
    Value count = b.createOrFold<arith::DivUIOp>(nest.count(parallel), nest.index(width));
    Value threads = nest.index(kBlockSize);
    Value blocks = b.createOrFold<arith::CeilDivUIOp>(count, threads);
    gpu::LaunchOp launch = launchOf(b, op.getLoc(), blocks, threads, module, kernel);
    Value element = arith::AddIOp::create(
        b, arith::MulIOp::create(b, launch.getBlockIds().x, nest.index(kBlockSize)),
        launch.getThreadIds().x);
    Value inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, element, count);
    auto guard = scf::IfOp::create(b, inside, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    if (width > 1) {
      nest.setPlaces(parallel, arith::MulIOp::create(b, element, nest.index(width)));
      storeNeighbours(nest, parallel.back(), width, starts);
      return {launch};
    }
    nest.setPlaces(parallel, element);
    SmallVector<Value> results =
        reduced.empty()
            ? nest.body({}, [&](OpOperand &operand) { return nest.loadOrStart(operand, starts); })
            : reduce(nest, reduced, starts);
    for (auto [number, result] : llvm::enumerate(results)) nest.store(number, result);
    return {launch};
  }

private:
  /// From so many threads on each has several elements, which it reads and writes at once.
  static constexpr int64_t kManyThreads = 1 << 17;

  /// How many elements of an op without reductions a thread has.
  int64_t widthOf(ArrayRef<unsigned> parallel) {
    const std::optional<int64_t> count = knownCount(op, parallel);
    if (!count || parallel.empty()) return 1;
    const unsigned fastest = parallel.back();
    int64_t width = 16;
    while (width > 1 && *count / width < kManyThreads) width /= 2;
    NeighbourReads reads(op, op.getBody()->getTerminator()->getOperands(), fastest);
    width = reads.readsAnything() ? reads.width(width) : width;
    for (OpOperand &init : op.getDpsInitsMutable()) width = accessWidth(op, init, fastest, width);
    return width;
  }

  /// The results of neighbouring iterations.
  void storeNeighbours(KernelBody &nest, unsigned fastest, int64_t width, ArrayRef<Value> starts) {
    NeighbourReads reads(op, op.getBody()->getTerminator()->getOperands(), fastest);
    const SmallVector<SmallVector<Value>> found = reads.values(nest, width, starts);
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      auto type = VectorType::get(width, cast<MemRefType>(init.get().getType()).getElementType());
      const auto results =
          llvm::map_to_vector(found, [&](ArrayRef<Value> values) { return values[number]; });
      storeAll(b, vector::FromElementsOp::create(b, type, results), init.get(),
               nest.subscripts(init));
    }
  }

  /// The loops over `reduced`, with the partial results carried in registers.
  SmallVector<Value> reduce(KernelBody &nest, ArrayRef<unsigned> reduced, ArrayRef<Value> starts) {
    SmallVector<Value> partial;
    for (OpOperand &init : op.getDpsInitsMutable())
      partial.push_back(nest.loadOrStart(init, starts));
    SmallVector<scf::ForOp> loops;
    for (unsigned number : reduced) {
      auto loop = scf::ForOp::create(b, nest.index(0), nest.size(number), nest.index(1), partial);
      loops.push_back(loop);
      nest.setPlace(number, loop.getInductionVar());
      partial = SmallVector<Value>(loop.getRegionIterArgs());
      b.setInsertionPointToStart(loop.getBody());
    }
    SmallVector<Value> results = nest.body(partial);
    if (isProduct && reduced.size() == 1)
      results.front() = fuseProduct(b, results.front(), partial.front());
    for (scf::ForOp loop : llvm::reverse(loops)) {
      scf::YieldOp::create(b, results);
      results = SmallVector<Value>(loop.getResults());
      b.setInsertionPointAfter(loop);
    }
    return results;
  }

  ImplicitLocOpBuilder b;
  GenericOp op;
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
  using LoopsToGpuPassBase::LoopsToGpuPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    // All kernels are one module, which is one text of PTX, also of no kernels.
    SymbolTable symbols(module);
    OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
    kernels = gpu::GPUModuleOp::create(b, module.getLoc(), "weft_kernels");
    chip = ChipTraits::of(capability, warpgroups);
    chip.roundsToTf32 = module->hasAttr(kTf32);
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
      if (isa<linalg::LinalgOp>(op) || op->hasTrait<IsOneKernel>() ||
          (store && !isOfHost(store.getMemRef())) || (copy && !isDense(copy)))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      auto isPlain = [](Type type) { return !isa<TensorType, UnrankedMemRefType>(type); };
      if (llvm::all_of(op->getOperandTypes(), isPlain)) continue;
      return op->emitOpError("is not on buffers of known rank, as a kernel is");
    }
    // What results begin with is known before any fill is a launch.
    SmallVector<Nest> nests(ops.size());
    for (auto [op, nest] : llvm::zip_equal(ops, nests)) {
      nest.op = op;
      if (isa<memref::StoreOp, linalg::FillOp>(op) || op->hasTrait<IsOneKernel>()) continue;
      nest.isProduct = isMatrixProduct(op) || op->hasAttr(kNarrowProduct);
      rewriter.setInsertionPoint(op);
      FailureOr<GenericOp> generic = generalized(rewriter, op);
      if (failed(generic)) return op->emitOpError("has no form as a loop nest");
      nest.op = *generic;
    }
    for (auto [number, nest] : llvm::enumerate(nests)) {
      if (!nest.generic()) continue;
      for (OpOperand &init : nest.generic().getDpsInitsMutable()) {
        linalg::FillOp fill = fillOf(nest.generic(), init);
        nest.starts.push_back(fill ? fill.getInputs().front() : Value());
        if (!fill) continue;
        for (size_t before = number; before-- > 0;) {
          if (nests[before].op != fill) continue;
          nests[before].op = nullptr;
          break;
        }
        rewriter.eraseOp(fill);
      }
    }
    llvm::erase_if(nests, [](const Nest &nest) { return !nest.op; });

    SmallVector<gpu::LaunchOp> launches;
    for (size_t number = 0; number < nests.size();) {
      const std::string name = spelledForPtx(function.getName()) + "_" + std::to_string(number);
      ArrayRef<Nest> rest = ArrayRef(nests).drop_front(number);
      if (const size_t length = lengthOfChain(rest); length != 0) {
        launches.push_back(buildChain(rewriter, rest.take_front(length), kernels.getName(), name));
        for (const Nest &nest : rest.take_front(length)) rewriter.eraseOp(nest.op);
        number += length;
        continue;
      }
      Nest &nest = nests[number++];
      rewriter.setInsertionPoint(nest.op);
      if (auto store = dyn_cast<memref::StoreOp>(nest.op)) {
        launches.push_back(storeOnDevice(rewriter, store, name));
        continue;
      }
      if (nest.op->hasTrait<IsOneKernel>()) {
        ImplicitLocOpBuilder b(nest.op->getLoc(), rewriter);
        b.setInsertionPoint(nest.op);
        launches.push_back(buildAttention(b, nest.op, kernels.getName(), name));
        rewriter.eraseOp(nest.op);
        continue;
      }
      if (isa<linalg::FillOp>(nest.op)) {
        nest.op = *linalg::generalizeNamedOp(rewriter, cast<linalg::LinalgOp>(nest.op));
        nest.starts.emplace_back();
      }
      // Of no elements there is no launch, but an output of them has to stay in use.
      if (llvm::is_contained(nest.generic().getStaticLoopRanges(), 0)) continue;
      if (isWorthTiles(nest.generic())) {
        const bool more = number < nests.size() && isEpilogue(nest, nests[number]);
        const Nest *epilogue = more ? &nests[number++] : nullptr;
        ImplicitLocOpBuilder b(nest.op->getLoc(), rewriter);
        b.setInsertionPoint(epilogue ? epilogue->op : nest.op);
        launches.append(buildProduct(b, nest, epilogue, chip, kernels.getName(), name));
        if (epilogue) rewriter.eraseOp(epilogue->op);
      } else if (isTranspose(nest.generic())) {
        ImplicitLocOpBuilder b(nest.op->getLoc(), rewriter);
        b.setInsertionPoint(nest.op);
        launches.push_back(buildTranspose(b, nest, kernels.getName(), name));
      } else {
        launches.append(LaunchBuilder(rewriter, nest.generic(), nest.isProduct)
                            .build(kernels.getName(), name, nest.starts));
      }
      rewriter.eraseOp(nest.op);
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
  ChipTraits chip;
};

} // namespace

} // namespace mlir::weft
