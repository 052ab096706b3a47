// Reductions' combiners, and how threads combine what they have.
#pragma once

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// Threads that run in lockstep.
inline constexpr int64_t kWarp = 32;

/// The op that combines each result of a reduction with the next element (arith.addf, maximumf and
/// their like), one a result; none if the body is anything else.
SmallVector<Operation *> combinersOf(linalg::GenericOp op);

/// Builds code that combines partial results, one for each combiner.
class Combining {
public:
  using Values = SmallVector<Value>;

  Combining(ImplicitLocOpBuilder &b, SmallVector<Operation *> combiners)
      : b(b), combiners(std::move(combiners)) {}

  size_t size() const { return combiners.size(); }
  SmallVector<Type> types() const;
  /// The elements that change nothing.
  Values neutral();
  Value combine(size_t result, Value one, Value other);
  Values combine(const Values &ones, const Values &others);

  /// What `threads` neighbouring threads have together, a power of two and at most a warp: known to
  /// each of them.
  Values acrossLanes(Values partial, int64_t threads);
  /// Shared memory of `launch` for a value of each combiner at every place of a shape.
  SmallVector<Value> shared(gpu::LaunchOp launch, ArrayRef<int64_t> shape);

private:
  Value fromLane(Value value, int64_t mask);

  ImplicitLocOpBuilder &b;
  SmallVector<Operation *> combiners;
};

} // namespace mlir::weft
