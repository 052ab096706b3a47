// Loops in reverse that keep at most so many states at a time.
#pragma once

#include "Weft/AD/Recompute.h"
#include "Weft/AD/Rerun.h"
#include "Weft/AD/ReverseLoop.h"

namespace mlir::weft {

/// Gives each iteration of `reverse`, a loop over all iterations of `loop` from the last to the
/// first, the state that its forward iteration begins with: the values that `recompute` keeps. They
/// are computed again from the state before the loop or from one of at most so many snapshots as
/// `checkpoint` allows, and new snapshots are kept on the way where Revolve puts them (Griewank and
/// Walther, Algorithm 799, ACM Transactions on Mathematical Software 26, 2000), which makes the
/// fewest iterations run again.
void revolve(Context &context, Operation *loop, const IterationOps &ops, Value iterations,
             ReverseLoop &reverse, Recompute &recompute, ::weft::CheckpointBudget checkpoint);

} // namespace mlir::weft
