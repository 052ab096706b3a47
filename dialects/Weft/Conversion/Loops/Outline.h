// Moves a loop into a function of its own, which threads can call on parts of the range.
#pragma once

#include "Weft/Conversion/Loops/NestEmitter.h"

namespace mlir::weft {

/// On a call: its callee may be called on disjoint parts of the range instead. The call's operands
/// are begin and end of the range, the fewest iterations worth a thread, then whatever the body
/// uses.
inline constexpr llvm::StringLiteral kParallelCall = "weft.parallel";

/// Replaces the loop by a call, marked with `kParallelCall`, of a new private function that runs
/// it.
void outlineParallelLoop(const ParallelLoop &parallel, SymbolTable &symbols);

} // namespace mlir::weft
