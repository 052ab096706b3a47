// The pass weft-gpu-to-nvvm: kernels to the LLVM and NVVM dialects, without calls of libdevice.
#include "Weft/Conversion/Passes.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MemRefToLLVM/MemRefToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::weft {

#define GEN_PASS_DEF_GPUTONVVMPASS
#include "Weft/Conversion/Passes.h.inc"

namespace {
/// Widens floats of 16 bits by what LLVM does not look into: of numbers that it knows to be widened
/// it computes in 16 bits what is the same there, two at a time and with f32, by instructions that
/// differ from chip to chip.
struct WidenOpaquely : OpConversionPattern<arith::ExtFOp> {
  WidenOpaquely(const LLVMTypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/10) {}
  LogicalResult matchAndRewrite(arith::ExtFOp op, OpAdaptor adaptor,
                                ConversionPatternRewriter &rewriter) const override {
    const Type from = adaptor.getIn().getType();
    if (!op.getType().isF32() || !(from.isF16() || from.isBF16())) return failure();
    const Location loc = op.getLoc();
    Value bits = LLVM::BitcastOp::create(rewriter, loc, rewriter.getI16Type(), adaptor.getIn());
    if (from.isF16()) {
      rewriter.replaceOpWithNewOp<LLVM::InlineAsmOp>(
          op, op.getType(), bits, "cvt.f32.f16 $0, $1;", "=f,h", /*has_side_effects=*/false,
          /*is_align_stack=*/false, LLVM::TailCallKind::None, nullptr, nullptr);
      return success();
    }
    Type i32 = rewriter.getI32Type();
    Value wide = LLVM::ZExtOp::create(rewriter, loc, i32, bits);
    Value sixteen = LLVM::ConstantOp::create(rewriter, loc, i32, 16);
    wide = LLVM::ShlOp::create(rewriter, loc, wide, sixteen);
    rewriter.replaceOpWithNewOp<LLVM::BitcastOp>(op, op.getType(), wide);
    return success();
  }
};

struct GpuToNVVM : impl::GpuToNVVMPassBase<GpuToNVVM> {
  void runOnOperation() override {
    LowerToLLVMOptions options(&getContext());
    options.overrideIndexBitwidth(64);
    LLVMTypeConverter converter(&getContext(), options);
    configureGpuToNVVMTypeConverter(converter);
    RewritePatternSet patterns(&getContext());
    arith::populateArithToLLVMConversionPatterns(converter, patterns);
    cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
    index::populateIndexToLLVMConversionPatterns(converter, patterns);
    populateFinalizeMemRefToLLVMConversionPatterns(converter, patterns);
    populateFuncToLLVMConversionPatterns(converter, patterns);
    populateVectorToLLVMConversionPatterns(converter, patterns);
    // Intrinsics, preferred to the calls of libdevice among the patterns for NVVM: every one of
    // them is an instruction, since the functions that are not were expanded before.
    populateMathToLLVMConversionPatterns(converter, patterns, /*approximateLog1p=*/false,
                                         /*benefit=*/10);
    populateGpuToNVVMConversionPatterns(converter, patterns);
    patterns.add<WidenOpaquely>(converter, &getContext());

    LLVMConversionTarget target(getContext());
    target.addLegalDialect<NVVM::NVVMDialect>();
    target.addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                             gpu::GPUDialect, math::MathDialect, memref::MemRefDialect,
                             vector::VectorDialect>();
    target.addLegalOp<gpu::GPUModuleOp>();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      signalPassFailure();
    // What launches give is declared, without a size: the conversion defines a byte beside it.
    getOperation()->walk([](LLVM::GlobalOp global) {
      auto type = dyn_cast<LLVM::LLVMArrayType>(global.getType());
      if (type && type.getNumElements() == 0 &&
          global.getAddrSpace() == static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared))
        global.setLinkage(LLVM::Linkage::External);
    });
  }
};
} // namespace

} // namespace mlir::weft
