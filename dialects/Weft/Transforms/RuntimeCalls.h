// Calls of the runtime (lib/Runtime/CallContext.h) from code on buffers.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// Called for whether an interrupt is requested; the conversion to LLVM makes it a look at the
/// runtime's flag.
inline constexpr llvm::StringLiteral kInterrupted = "weft_rt_interrupted";

/// Calls the runtime function `name`, which is declared in the module on first use. A memref
/// operand arrives as a pointer to its first element, whatever its type; the context, if
/// `withContext`, comes before all operands. Both are done by the conversion to LLVM.
func::CallOp callRuntime(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands,
                         bool withContext, TypeRange results = {});

/// On a call: how many of its last operands it writes; those before are only read.
inline constexpr llvm::StringLiteral kWrites = "weft.writes";
inline void noteWrites(func::CallOp call, std::size_t count) {
  call->setAttr(kWrites, Builder(call).getI64IntegerAttr(static_cast<int64_t>(count)));
}

/// Whether an op is a product of matrices, for which the library has routines.
inline bool isMatrixProduct(Operation *op) {
  return isa<linalg::ContractOp, linalg::MatmulOp, linalg::BatchMatmulOp>(op);
}

/// An array of 64-bit numbers on the stack that outlives the branch it is filled in: allocated at
/// the function's entry, so that loops do not let the stack grow.
Value stackArray(ImplicitLocOpBuilder &b, int64_t size);

/// Puts a 64-bit number in an array.
void put(ImplicitLocOpBuilder &b, Value array, int64_t at, Value value);

/// Puts sizes or strides in an array, from place `from` on.
void putAll(ImplicitLocOpBuilder &b, Value array, int64_t from, ArrayRef<OpFoldResult> values);

/// A size or stride as a 64-bit number.
Value number(ImplicitLocOpBuilder &b, OpFoldResult value);

/// The address of a buffer's first element, as a 64-bit number.
Value address(ImplicitLocOpBuilder &b, Value buffer);

/// An array of weft::RuntimeValue {i32 dtype, i32 rank, dims, data} that describes `buffers`, which
/// are contiguous, with elements of these types, or of their own; of complex ones the parts are the
/// last axis.
Value runtimeValues(ImplicitLocOpBuilder &b, ValueRange buffers, TypeRange elements = {});

/// The same of the types of tensors that are not there yet: no elements, and sizes may be unknown.
Value runtimeTypes(ImplicitLocOpBuilder &b, TypeRange types);

/// Appends what describes the indices in a contiguous buffer: dtype, pointer, count; then the size
/// that they are compared with.
void appendIndices(ImplicitLocOpBuilder &b, Value buffer, Value size,
                   SmallVectorImpl<Value> &operands);

/// A pointer to constant text (with a NUL after it).
Value textPointer(ImplicitLocOpBuilder &b, StringRef text);

/// The number of the op call that a location stands for (Program/Sites.h), as a constant; -1 if it
/// stands for none. It is part of the location: `fused<7>["train.cpp":41:3]`.
Value siteOf(ImplicitLocOpBuilder &b, Location location);

} // namespace mlir::weft
