// Copies the scalar body of a structured op into loops, on elements or on vectors of them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Builders.h"

namespace mlir::weft {

/// Whether `op` of a body works on vectors as on elements; others do so lane by lane.
bool hasVectorForm(Operation &op);

/// How the values of a body differ from lane to lane along one dimension of the op.
class LaneSteps {
public:
  /// \param isSame whether an argument of the body is the same in all lanes
  LaneSteps(Block &body, unsigned laneDim, llvm::function_ref<bool(unsigned argument)> isSame);

  /// By how much an integer grows from lane to lane: 0 for what all lanes share; nothing if that is
  /// not known.
  std::optional<int64_t> of(Value value) const;
  /// By how many elements of the memref the lanes of a load in the body are apart, if these lie in
  /// one run.
  std::optional<int64_t> ofLoad(memref::LoadOp load) const;

private:
  llvm::DenseMap<Value, int64_t> steps_;
};

/// What a body works on in one place of the loops.
struct BodyArguments {
  /// One per block argument: a scalar where the element is the same in all lanes, else a vector.
  llvm::SmallVector<Value, 4> values;
  /// Index of each dimension of the op in lane 0.
  llvm::SmallVector<Value, 4> indices;
  /// The dimension that lanes count along, or -1.
  int64_t laneDim = -1;
  /// Lanes; 0 for scalar code.
  int64_t lanes = 0;
  /// Combiners that are not copied, each once or null: the element that one would combine with its
  /// output stands for its result.
  llvm::ArrayRef<Operation *> leftOut;
};

/// Makes the body's code at the builder and returns what it yields; with lanes, everything that
/// does not differ between lanes stays scalar, the yielded values as well.
llvm::SmallVector<Value, 2> buildBody(OpBuilder &builder, Block &body,
                                      const BodyArguments &arguments);

/// `value` in all lanes, if it is not a vector yet; unchanged if lanes is 0.
Value toLanes(OpBuilder &builder, Location loc, Value value, int64_t lanes);

/// A copy of `op`, which combines two values, on other operands.
Value buildCombine(OpBuilder &builder, Operation *combiner, Value lhs, Value rhs);

/// The value that a combiner leaves the other operand as it is with.
TypedAttr neutralElement(Operation *combiner);

/// Whether the bits of what a combiner makes of many elements hang on the order in which it takes
/// them. Those of the largest and the smallest number do not, NaN and zeros of both signs included,
/// nor those of integers.
bool dependsOnOrder(Operation *combiner);

} // namespace mlir::weft
