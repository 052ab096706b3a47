// The mark of loops over blocks of rows.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::weft {

/// On an scf.for that counts blocks of rows: its iterations touch different rows, so that threads
/// may share them, and what its body allocates on the stack is each iteration's own.
inline constexpr llvm::StringLiteral kRowLoop = "weft.rows";

} // namespace mlir::weft
