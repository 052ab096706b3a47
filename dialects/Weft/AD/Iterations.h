// How often the body of a counted loop runs, and what its number is in an iteration.
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// The iterations of a loop.
struct Iterations {
  Value count;                  ///< how many, an index
  std::optional<int64_t> known; ///< the same where it is known now

  /// Those of an scf.for with a step that is not 0, counted in front of it, as an unsigned
  /// number.
  static Iterations of(OpBuilder &builder, scf::ForOp loop);
};

/// The number that a value is, where ops on constants say so.
std::optional<APInt> constantOf(Value value);

/// The number of the iteration, an index, in the body of a counted loop.
Value iterationOf(OpBuilder &builder, scf::ForOp loop);
/// What the loop counts with in iteration number `iteration`.
Value inductionVarOf(OpBuilder &builder, scf::ForOp loop, Value iteration);

} // namespace mlir::weft
