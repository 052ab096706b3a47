// What weft-accumulate-products tells weft-matmul-to-runtime.
#pragma once

#include "llvm/ADT/StringRef.h"

namespace mlir::weft {

/// On a linalg.contract: each element of the product is summed up from zero, and then added to what
/// the output held. Without it the sum starts with that, and has other bits.
inline constexpr llvm::StringLiteral addsWholeName = "weft.adds_whole";

} // namespace mlir::weft
