// Declares the steps of weft-fuse-elementwise that rewrite loops; which loops to merge is decided
// there.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

/// Reads through a reshape that only adds or drops axes of size 1, which is a matter of the map.
/// Returns whether it did.
bool foldUnitReshape(RewriterBase &rewriter, linalg::GenericOp op, OpOperand &operand);

/// Puts the scalars of inputs that are filled with one, constants or not, into the body of `op`.
void foldSplatInputs(RewriterBase &rewriter, linalg::GenericOp op);

/// Gives `op` every input once: a producer read twice would be merged, and computed, twice.
void dropEqualInputs(RewriterBase &rewriter, linalg::GenericOp op);

/// Whether mergeMoving may merge the producer of an operand's value into the operand's owner, which
/// reads all results of the producer that it reads at one place. `asksIndex`: the producer's body
/// has a linalg.index.
bool canMergeMoving(OpOperand &operand, bool asksIndex);

/// Merges a producer that is not needed afterwards into the consumer that reads it, as
/// linalg::fuseElementwiseOps does, with operands and operations in its order. But that clones both
/// bodies, once for each result that is read; this moves the shorter one: a line of n ops becomes a
/// loop in n steps. Null, and nothing has changed, if the merged loop would not know its sizes.
linalg::GenericOp mergeMoving(RewriterBase &rewriter, OpOperand &operand);

} // namespace mlir::weft
