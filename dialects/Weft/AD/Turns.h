// How often a counted loop turns, and what its number is in a turn.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// The turns of a loop.
struct Turns {
  Value count;                  ///< how many, an index
  std::optional<int64_t> known; ///< the same where it is known now

  /// Those of an scf.for with a step that is not 0, counted in front of it, as an unsigned
  /// number.
  static Turns of(OpBuilder &builder, scf::ForOp loop);
};

/// The number that a value is, where ops on constants say so.
std::optional<APInt> constantOf(Value value);

/// The number of the turn, an index, in the body of a counted loop.
Value turnOf(OpBuilder &builder, scf::ForOp loop);
/// What the loop counts with in turn number `turn`.
Value inductionVarOf(OpBuilder &builder, scf::ForOp loop, Value turn);

} // namespace mlir::weft
