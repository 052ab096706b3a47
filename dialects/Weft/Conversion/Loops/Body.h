// Copies the scalar body of a structured op into loops, on elements or on vectors of them.
#pragma once

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Builders.h"

namespace mlir::weft {

/// A rough count of simple instructions: 1 for an addition, more for divisions and functions.
int64_t costOf(Operation &op);

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

} // namespace mlir::weft
