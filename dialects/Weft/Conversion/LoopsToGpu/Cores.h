// Instructions of kernels on tensor cores: matrices of shared memory, products of fragments, and
// copies beside the program.
#pragma once

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// Rows and columns of a product of fragments, and along its sum, of floats of 16 bits.
inline constexpr int64_t kFragmentRows = 16, kFragmentColumns = 8, kFragmentDepth = 16;

LLVM::LLVMPointerType pointerIn(ImplicitLocOpBuilder &b, NVVM::NVVMMemorySpace space);

/// `pointer`, so many bytes on.
Value bytesBehind(ImplicitLocOpBuilder &b, Value pointer, LLVM::GEPArg bytes);

/// Four 8x8 matrices of numbers of 16 bits, of which a warp's lanes point to a line of 8 each: a
/// register of each, as products of that format take them. `transposed`: of the matrices across.
SmallVector<Value> readMatrices(ImplicitLocOpBuilder &b, Value pointer, bool transposed,
                                FloatType format);

/// Adds to four sums what fragments of 16 x `depth` and of `depth` x 8 numbers make of them.
void addProduct(ImplicitLocOpBuilder &b, NVVM::MMATypes type, int64_t depth, ValueRange left,
                ValueRange right, MutableArrayRef<Value> sums);
/// The same of bf16 or f16, of the depth of their fragments.
void addProduct(ImplicitLocOpBuilder &b, FloatType format, ValueRange left, ValueRange right,
                MutableArrayRef<Value> sums);

/// Begins a copy of 16 bytes to shared memory, of which `bytes` are read, if that is given, and
/// the others are zero.
void beginCopy(ImplicitLocOpBuilder &b, Value target, Value source, Value bytes);

/// Waits for all but the latest `pending` groups of copies, those of all threads of the block.
void waitForCopies(ImplicitLocOpBuilder &b, int64_t pending);

} // namespace mlir::weft
