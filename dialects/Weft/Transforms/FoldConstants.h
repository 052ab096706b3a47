// Declares the folding of ops on constants by eager execution.
#pragma once

#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

/// Adds a pattern that executes a pure weft op whose operands are all constants, with the kernels
/// of eager execution, so that folded and executed results are the same bits. Results of more than
/// `maxBytes` are left alone, and so are calls that fail, which then fail where they stand.
void populateFoldConstantsPatterns(RewritePatternSet &patterns, int64_t maxBytes);

} // namespace mlir::weft
