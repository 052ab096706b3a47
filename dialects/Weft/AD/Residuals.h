// What the reverse of an op with regions needs of the values in these regions: some are kept from
// the forward part, the others computed again.
#pragma once

#include "Weft/AD/Context.h"
#include "Weft/AD/Turns.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// Ops in a row that stand for one turn of a loop in reverse.
struct ReverseTurn {
  Block *block;
  Operation *before; ///< the op in front of the first one, or null
  Operation *behind; ///< the op behind the last one, or null
  Value number;      ///< of the forward turn, an index that can be used from the first op on
};

/// `reverse` branches as `op` does, and uses values in the branches of `op`. Replaces `op` by one
/// that gives what must be kept as further results, and lets the reverse use these.
LogicalResult saveOfBranches(Context &context, Operation *op, Operation *reverse);

/// The same of a counted loop, which keeps values of all its turns in stacks. `why`, if not empty,
/// is why its turns are not run again although the budget wants it.
LogicalResult saveOfFor(Context &context, scf::ForOp op, const Turns &turns,
                        const ReverseTurn &reverse, StringRef why);

/// The same of another loop, whose last state counts its turns.
LogicalResult saveOfWhile(Context &context, scf::WhileOp op, ArrayRef<ReverseTurn> reverse,
                          StringRef why);

} // namespace mlir::weft
