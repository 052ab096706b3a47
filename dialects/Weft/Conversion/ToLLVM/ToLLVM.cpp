// The pass weft-to-llvm: what the other passes left, as one conversion to the LLVM dialect.

#include "Weft/Conversion/Passes.h"
#include "mlir/Conversion/AffineToStandard/AffineToStandard.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/Iterators.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace mlir::weft {
#define GEN_PASS_DEF_TOLLVMPASS
#include "Weft/Conversion/Passes.h.inc"
} // namespace mlir::weft

using namespace mlir;
using namespace mlir::weft;

namespace {

/// A view of no elements has strides of 0. MLIR calls some of them unknown even in contiguous
/// types (of 2x0 the first), and fills descriptors with its mark of that, the least integer, by
/// which the runtime would multiply.
struct EmptyViewStrides : OpRewritePattern<memref::ExtractStridedMetadataOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(memref::ExtractStridedMetadataOp view,
                                PatternRewriter &rewriter) const final {
    if (!llvm::is_contained(view.getSource().getType().getShape(), 0) ||
        llvm::all_of(view.getStrides(), [](Value stride) { return stride.use_empty(); }))
      return failure();
    Value zero = arith::ConstantIndexOp::create(rewriter, view.getLoc(), 0);
    for (Value stride : view.getStrides()) rewriter.replaceAllUsesWith(stride, zero);
    return success();
  }
};

struct ToLLVMPass : mlir::weft::impl::ToLLVMPassBase<ToLLVMPass> {
  void runOnOperation() final {
    if (failed(expandViews()) || failed(flattenControlFlow()) || failed(convert()))
      return signalPassFailure();
    SmallVector<UnrealizedConversionCastOp> casts, left;
    getOperation().walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
    reconcileUnrealizedCasts(casts, &left);
    for (UnrealizedConversionCastOp op : left) {
      op.emitError("has no meaning in LLVM");
      return signalPassFailure();
    }
    takeDescriptorsApart();
  }

private:
  /// Views of memrefs as arithmetic on sizes and strides, where there are any.
  LogicalResult expandViews() {
    bool any = getOperation()
                   .walk([](Operation *op) {
                     bool view = isa<memref::SubViewOp, memref::ExpandShapeOp,
                                     memref::CollapseShapeOp, memref::ExtractStridedMetadataOp>(op);
                     return view ? WalkResult::interrupt() : WalkResult::advance();
                   })
                   .wasInterrupted();
    if (!any) return success();
    RewritePatternSet patterns(&getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    patterns.add<EmptyViewStrides>(&getContext(), /*benefit=*/2);
    return applyPatternsGreedily(getOperation(), std::move(patterns));
  }

  /// Reads fields of descriptors where they were put in, and drops the descriptors nobody needs: it
  /// is most of the code, and LLVM would need longer for it than this does.
  void takeDescriptorsApart() {
    SmallVector<LLVM::ExtractValueOp> reads;
    getOperation().walk([&](LLVM::ExtractValueOp op) { reads.push_back(op); });
    for (LLVM::ExtractValueOp read : reads) {
      ArrayRef<int64_t> place = read.getPosition();
      Value container = read.getContainer();
      while (auto put = container.getDefiningOp<LLVM::InsertValueOp>()) {
        if (put.getPosition() == place) {
          read.replaceAllUsesWith(put.getValue());
          read.erase();
          break;
        }
        // A part or a whole of what is read; left alone.
        size_t common = std::min(place.size(), put.getPosition().size());
        if (put.getPosition().take_front(common) == place.take_front(common)) break;
        container = put.getContainer();
      }
    }
    getOperation().walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
      if (isOpTriviallyDead(op)) op->erase();
    });
  }

  /// Loops and branches as blocks. The last comes first: each moves what follows it in its block
  /// into a new one, which from the front would be the rest of the function every time.
  LogicalResult flattenControlFlow() {
    RewritePatternSet set(&getContext());
    populateSCFToControlFlowConversionPatterns(set);
    populateAffineToStdConversionPatterns(set);
    FrozenRewritePatternSet patterns(std::move(set));
    PatternApplicator applicator(patterns);
    applicator.applyDefaultCostModel();
    PatternRewriter rewriter(&getContext());
    while (true) {
      SmallVector<Operation *> structured;
      getOperation().walk<WalkOrder::PreOrder, ReverseIterator>([&](Operation *op) {
        if (isa<scf::SCFDialect, affine::AffineDialect>(op->getDialect()) &&
            !op->hasTrait<OpTrait::IsTerminator>())
          structured.push_back(op);
      });
      if (structured.empty()) return success();
      for (Operation *op : structured) {
        rewriter.setInsertionPoint(op);
        if (failed(applicator.matchAndRewrite(op, rewriter)))
          return op->emitError("has no form in blocks");
      }
    }
  }

  LogicalResult convert() {
    LLVMTypeConverter converter(&getContext());
    RewritePatternSet patterns(&getContext());
    arith::populateArithExpandOpsPatterns(patterns);
    vector::populateVectorMaskOpLoweringPatterns(patterns);
    vector::populateVectorStepLoweringPatterns(patterns);
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    // Instructions and intrinsics where there are any, else functions of libm.
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false,
                                         /*benefit=*/2);
    populateMathToLibmConversionPatterns(patterns, /*benefit=*/1);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    ub::populateUBToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    LLVMConversionTarget target(getContext());
    target.addLegalOp<ModuleOp>();
    return applyPartialConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
