// Names of attributes that one library writes and another reads.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::weft {

/// Of a function's argument: a text for each axis, empty or a name. Sizes of one name are equal.
inline constexpr llvm::StringLiteral kDimNames = "weft.dim_names";

} // namespace mlir::weft
