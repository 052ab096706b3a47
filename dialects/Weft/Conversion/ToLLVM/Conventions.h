// The steps of the pass weft-entry, which settles how compiled code is called and calls.
#pragma once

#include "Weft/Conversion/ToLLVM/Memory.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringSet.h"

namespace mlir::weft {

/// On a declaration: a function of the library. Memrefs are passed as one pointer each.
inline constexpr llvm::StringLiteral kRuntimeFunction = "weft.runtime";
/// On such a declaration: the call's context is passed first.
inline constexpr llvm::StringLiteral kTakesContext = "weft.context";
/// On an allocation: where in the arena it lies, in bytes.
inline constexpr llvm::StringLiteral kArenaOffset = "weft.arena_offset";
/// On an allocation: it is that output of unknown size.
inline constexpr llvm::StringLiteral kOutput = "weft.output";

/// On an argument: which of the entry's sizes its unknown dimensions are, if not the next ones.
inline constexpr llvm::StringLiteral kDims = "weft.dims";
/// On a kernel's argument: which of the entry's sizes its unknown strides are.
inline constexpr llvm::StringLiteral kStrides = "weft.strides";

/// What the steps share.
struct Conventions {
  ModuleOp module;
  SymbolTable symbols;
  const LLVMTypeConverter &converter;
  /// Library functions that take the call's context first.
  llvm::StringSet<> takesContext = {};

  /// The declaration of a library function in the LLVM dialect, made if there is none.
  LLVM::LLVMFuncOp runtimeFunction(StringRef name, Type result, ArrayRef<Type> parameters);
  /// Moves the body, whose block arguments fit already, into a function of the LLVM dialect that
  /// returns nothing or 0.
  LLVM::LLVMFuncOp toLLVMFunction(func::FuncOp function, StringRef name, Type result,
                                  ArrayRef<Type> parameters, LLVM::Linkage linkage);
};

/// Declarations of library functions become declarations in the LLVM dialect.
LogicalResult declareRuntimeFunctions(Conventions &conventions);
/// Calls of library functions in `function` become LLVM calls on pointers.
LogicalResult lowerRuntimeCalls(Conventions &conventions, func::FuncOp function, Value context);
/// Calls marked for threads go through weft_rt_parallel_for; their callees take a closure.
void lowerParallelCalls(Conventions &conventions, func::FuncOp function);
/// Allocations become places in the arena, outputs, or calls of the library.
LogicalResult lowerAllocations(Conventions &conventions, func::FuncOp function, Value context);

} // namespace mlir::weft
