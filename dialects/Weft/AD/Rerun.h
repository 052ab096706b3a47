// Iterations of a loop that are run again in its reverse, so that less of them is kept.
#pragma once

#include "Weft/AD/Context.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// Why the iterations of a loop cannot be run again; empty if they can. What only has an effect,
/// such as a print, is left out the second time, and a variable that no iteration assigns is read
/// once before the loop.
std::string whyNotRerun(Operation *loop);

/// The ops of a loop's iteration, taken down before any are added to it.
struct IterationOps {
  explicit IterationOps(Operation *loop);
  SmallVector<Operation *> before, after; ///< of a counted loop, only `after`
  unsigned states;                        ///< pieces of state that an iteration begins with
  unsigned handedOn = 0;                  ///< values that a condition hands on
};

/// Marks the loop that runs iterations again, for as long as others take its place.
inline constexpr llvm::StringLiteral againName = "weft.again";

/// Builds a counted loop of `count` iterations of `loop`, from number `first` on. Its state are
/// stand-ins for that of iteration `first`: the values in the region of `loop` that its iterations
/// begin with.
scf::ForOp rerun(Context &context, Operation *loop, const IterationOps &ops, Value first,
                 Value count);

/// Drops the state of such a loop that nothing needs, and what only computes that.
scf::ForOp dropUnneeded(Context &context, scf::ForOp again);

/// Lets reads of variables in the block, which runs iterations of `loop` again, use one before
/// `loop`.
void hoistReads(Operation *loop, Block *block);

} // namespace mlir::weft
