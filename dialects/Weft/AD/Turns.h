// How often a counted loop turns, and what its number is in a turn.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// The turns of a loop.
struct Turns {
  Value count;                  ///< how many, an index
  std::optional<int64_t> known; ///< the same where it is known now

  /// Those of an scf.for, counted in front of it.
  static Turns of(OpBuilder &builder, scf::ForOp loop);
};

/// The number of the turn, an index, in the body of a counted loop.
Value turnOf(OpBuilder &builder, scf::ForOp loop);
/// What the loop counts with in turn number `turn`.
Value inductionVarOf(OpBuilder &builder, scf::ForOp loop, Value turn);

} // namespace mlir::weft
