// Helpers for IR with tokens.
#pragma once

#include "Weft/IR/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace mlir::weft {

/// Drops all tokens of the module, from signatures and the operands, results and arguments of
/// structured ops too, and the ops that are about tokens alone.
void eraseTokens(ModuleOp module);

/// The ops of its block that `op` waits for by tokens, and tokens alone, through whatever else is
/// between.
llvm::SmallPtrSet<Operation *, 16> tokenPredecessors(Operation *op);

/// The op with other operands and result types instead: same attributes, and its regions moved.
/// The old one is left, unlinked from nothing, without regions.
Operation *rebuild(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange results);

} // namespace mlir::weft
