// What has to hold at run time for an op to be defined, as code in front of it: sizes, ranges of
// indices, numbers.
#pragma once

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::weft {

/// A size: a number that is known, a value, or what a tensor has along an axis. Equal ones are
/// equal at run time.
struct Size {
  int64_t known = ShapedType::kDynamic;
  Value source = {};
  int64_t axis = -1; ///< of the tensor `source`; -1 if that is the size itself

  bool isKnown() const { return !ShapedType::isDynamic(known); }
  bool operator==(const Size &other) const {
    return known == other.known && source == other.source && axis == other.axis;
  }
};

/// The size of a tensor, seen through the ops that keep it.
Size sizeOf(Value tensor, int64_t axis);

/// The numbers that an index may have, the ends included. They may have wrapped around; where both
/// are indices of a tensor, low before high, none in between did.
struct Interval {
  Value low, high;
  unsigned bits = 0; ///< high - low is less than 2^bits
};

/// Builds conditions at an insertion point; what is known folds.
class Conditions : public ImplicitLocOpBuilder {
public:
  explicit Conditions(Operation *before) : ImplicitLocOpBuilder(before->getLoc(), before) {}

  Value index(int64_t number);
  Value toValue(const Size &size);
  Value compare(arith::CmpIPredicate predicate, Value lhs, Value rhs);
  Value both(Value lhs, Value rhs);
  Value either(Value lhs, Value rhs);
  Value negated(Value condition);

  /// Whether lowest <= value.
  Value isAtLeast(Value value, int64_t lowest);
  /// Whether the factors are sizes whose product is `total`, itself a product of sizes.
  Value multiplyTo(ArrayRef<Value> factors, Value total);

  //===--- Ranges of indices ----------------------------------------------===//

  Interval exactly(Value value) { return {value, value, 0}; }
  /// What a loop over a size counts.
  Interval counted(const Size &size);
  std::optional<Interval> add(const Interval &lhs, const Interval &rhs);
  std::optional<Interval> subtract(const Interval &lhs, const Interval &rhs);
  std::optional<Interval> multiply(const Interval &range, int64_t factor);
  /// Of an expression on what loops count; the conditions under which it holds are added to `if`.
  std::optional<Interval> rangeOf(AffineExpr expr, ArrayRef<Interval> dims,
                                  SmallVectorImpl<Value> &when);
  /// The same of a value in the body of loops that count `dims`.
  std::optional<Interval> rangeOf(Value value, linalg::LinalgOp loops, ArrayRef<Interval> dims,
                                  SmallVectorImpl<Value> &when, unsigned depth = 0);
  /// Whether an index in that range is in [0, size).
  Value isInside(const Interval &range, Value size);

  //===--- Checks -----------------------------------------------------------===//

  /// Stops the call with a ShapeError unless the condition holds; each {} of the text is a size.
  void requireSizes(Value holds, const Twine &text, ValueRange sizes);
  /// Stops the call with an IndexError unless the index of `op` is in [0, size).
  void requireIndex(Value index, Value size, Operation *op);
  /// The same of several.
  void requireIndices(ValueRange indices, Value size, Operation *op);
  /// Stops the call with an AssertionError unless the condition holds.
  void requireNumbers(Value holds, const Twine &text);
};

/// Whether the operands of an integer division, a remainder or a shift are such that it is defined;
/// null where that is known, or the op is no such op.
Value isDefined(Conditions &b, Operation *op, ValueRange operands);
/// What is wrong if it is not.
std::string undefinedText(Operation *op);

/// Whether an op of upstream's is undefined for some operands, so that it gets a check in front of
/// it.
bool mayBeUndefined(Operation *op);

/// Whether checks have to know what an op in the body of a linalg op computes with.
bool needsCheck(Operation *op);

/// Checks in front of a structured op: that its operands agree in their sizes, and what its body
/// does. Fails after a diagnostic at what cannot be checked.
LogicalResult verifyAtRuntime(linalg::LinalgOp op);

/// Whether an op is others in one and nothing further down takes it, or is tensor.generate, which
/// is linalg.generic where its body is to be checked.
bool isDecomposed(Operation *op);
/// Makes such an op those that it is. Fails after a diagnostic.
LogicalResult decompose(Operation *op, RewriterBase &rewriter);
/// Makes an op whose sizes have been checked a loop if it makes several open sizes of one:
/// upstream's form on buffers ends the process there.
void expandInLoops(tensor::ExpandShapeOp op, RewriterBase &rewriter);

} // namespace mlir::weft
