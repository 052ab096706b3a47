// What the reverse of an op with regions needs of the values in these regions: some are kept from
// the forward part, the others computed again.
#pragma once

#include "Weft/AD/Context.h"
#include "Weft/AD/Iterations.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// Ops in a row that stand for one iteration of a loop in reverse.
struct ReverseIteration {
  Block *block;
  Operation *before; ///< the op in front of the first one, or null
  Operation *behind; ///< the op behind the last one, or null
  Value number;      ///< of the forward iteration, an index that can be used from the first op on
};

/// `reverse` branches as `op` does, and uses values in the branches of `op`. Replaces `op` by one
/// that gives what must be kept as further results, and lets the reverse use these.
LogicalResult saveOfBranches(Context &context, Operation *op, Operation *reverse);

/// The same of a counted loop, which keeps values of all its iterations in stacks. `why`, if not
/// empty, is why its iterations are not run again although the budget wants it.
LogicalResult saveOfFor(Context &context, scf::ForOp op, const Iterations &iterations,
                        const ReverseIteration &reverse, StringRef why);

/// The same of another loop, whose last state counts its iterations.
LogicalResult saveOfWhile(Context &context, scf::WhileOp op, ArrayRef<ReverseIteration> reverse,
                          StringRef why);

} // namespace mlir::weft
