// Instructions of kernels on tensor cores, as ops of the NVVM dialect.
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::weft {

LLVM::LLVMPointerType pointerIn(ImplicitLocOpBuilder &b, NVVM::NVVMMemorySpace space) {
  return LLVM::LLVMPointerType::get(b.getContext(), static_cast<unsigned>(space));
}

Value bytesBehind(ImplicitLocOpBuilder &b, Value pointer, LLVM::GEPArg bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, bytes);
}

SmallVector<Value> readMatrices(ImplicitLocOpBuilder &b, Value pointer, bool transposed,
                                FloatType format) {
  auto words =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getI32Type()));
  Value found = NVVM::LdMatrixOp::create(
      b, words, pointer, 4u, transposed ? NVVM::MMALayout::col : NVVM::MMALayout::row,
      NVVM::LdStMatrixShapeAttr::get(b.getContext(), 8, 8), NVVM::LdStMatrixEltType::B16);
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 4; ++i) {
    Value part = LLVM::ExtractValueOp::create(b, found, i);
    if (!format.isBF16()) part = LLVM::BitcastOp::create(b, VectorType::get(2, format), part);
    parts.push_back(part);
  }
  return parts;
}

void addProduct(ImplicitLocOpBuilder &b, NVVM::MMATypes type, int64_t depth, ValueRange left,
                ValueRange right, MutableArrayRef<Value> sums) {
  auto result =
      LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
  auto product = NVVM::MmaOp::create(b, result, left, right, ValueRange(sums),
                                     {kFragmentRows, kFragmentColumns, depth}, std::nullopt,
                                     std::nullopt, std::array{type, type},
                                     std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  for (int64_t i = 0; i < 4; ++i) sums[i] = LLVM::ExtractValueOp::create(b, product, i);
}

void addProduct(ImplicitLocOpBuilder &b, FloatType format, ValueRange left, ValueRange right,
                MutableArrayRef<Value> sums) {
  addProduct(b, format.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16, kFragmentDepth, left,
             right, sums);
}

void beginCopy(ImplicitLocOpBuilder &b, Value target, Value source, Value bytes) {
  NVVM::CpAsyncOp::create(b, target, source, uint32_t{kAccessBytes},
                          NVVM::LoadCacheModifierKind::CG, bytes);
}

void waitForCopies(ImplicitLocOpBuilder &b, int64_t pending) {
  NVVM::CpAsyncWaitGroupOp::create(b, static_cast<int32_t>(pending));
  gpu::BarrierOp::create(b);
}

} // namespace mlir::weft
