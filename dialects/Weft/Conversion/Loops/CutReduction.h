// Cuts a long reduction into blocks that threads can share, in the order that eager code has.
#pragma once

#include "Weft/Conversion/Loops/NestEmitter.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

/// If `nest` reduces so much to so few results that eager code cuts it into blocks
/// (OpDefs/ReductionOrder.h): makes the loops over blocks, over what remains, and over the partial
/// results, and returns those that threads may share. Nothing is made and nothing returned
/// otherwise.
std::optional<llvm::SmallVector<ParallelLoop, 2>>
cutReduction(IRRewriter &rewriter, LoopNest &nest, FlatViews &views,
             const LowerLoopsPassOptions &options);

} // namespace mlir::weft
