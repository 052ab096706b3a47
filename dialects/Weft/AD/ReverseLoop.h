// The loop that is built as the reverse of another.
#pragma once

#include "Weft/AD/Residuals.h"

namespace mlir::weft {

/// A counted loop, from the last turn to the first. Its state is what `carried` values of the
/// forward loop have for cotangents before the iteration that comes next in reverse.
class ReverseLoop {
public:
  /// `carried` are arguments of the forward loop's region, `inits` their cotangents behind the last
  /// iteration; `captured` are values around the loop, whose cotangents go on adding up. The
  /// builder stands in the body until `finish`.
  ReverseLoop(Context &context, Location location, Value count, ArrayRef<Value> carried,
              ArrayRef<Value> inits, ArrayRef<Value> captured);

  /// The cotangents that an iteration begins with.
  ValueRange cotangents() { return loop.getRegionIterArgs().take_front(states.size()); }
  /// The number of the forward iteration.
  Value number() const { return iteration; }

  /// Ends the body, drops what did not change in it and hands on the cotangents of the captured
  /// values. Those of the carried ones, before the first iteration, are the results.
  SmallVector<Value> finish();

  /// Whether anything comes out of the loop; otherwise it is erased, and the notes on what its
  /// iterations keep with it.
  bool hasResults();
  /// Null if it is erased.
  Operation *getOperation() { return loop ? loop.getOperation() : nullptr; }
  /// A loop with further state takes its place; it is erased.
  void replaceBy(scf::ForOp larger) {
    loop.erase();
    loop = larger;
  }
  /// All ops of an iteration, those excepted that number it.
  ReverseIteration wholeIteration() {
    return {loop.getBody(), firstOfIteration, nullptr, iteration};
  }

private:
  Context &context;
  ArrayRef<Value> captured;
  SmallVector<Value> states;
  SmallVector<bool> known;
  size_t notesBefore;
  scf::ForOp loop;
  std::optional<RegionScope> scope;
  Value iteration;
  Operation *firstOfIteration = nullptr;
};

} // namespace mlir::weft
