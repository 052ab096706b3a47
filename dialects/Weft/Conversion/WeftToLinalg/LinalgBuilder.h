// What the conversions of single weft ops to linalg share: sizes, empty tensors, loops over
// elements.
#pragma once

#include "OpDefs/OpInfo.h"
#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::weft {

/// The sizes of a tensor: an index attribute where known, an index value elsewhere.
using Sizes = SmallVector<OpFoldResult>;

/// Builds the linalg form of one op after another. It remembers the sizes of what it built, so that
/// they are expressed by the sizes of the function's arguments and equal ones are the same value.
class LinalgBuilder : public ImplicitLocOpBuilder {
public:
  /// `withoutLibrary`: what routines of the library do is done by loops, for targets that cannot
  /// call it. `stagesRoutines`: it can after all, at the price of copies.
  LinalgBuilder(Operation *first, bool withoutLibrary, bool stagesRoutines,
                const llvm::DenseMap<Operation *, Signs> &signs)
      : ImplicitLocOpBuilder(first->getLoc(), first), signs_(signs),
        withoutLibrary_(withoutLibrary), stagesRoutines_(stagesRoutines) {}

  /// What the types of an op said before all integers became signless.
  Signs signsOf(Operation *op) const { return signs_.lookup(op); }

  /// Whether loops are to be preferred to routines of the library.
  bool withoutLibrary() const { return withoutLibrary_; }
  /// Whether routines may be called, if only where loops would be much worse.
  bool hasRoutines() const { return !withoutLibrary_ || stagesRoutines_; }

  /// The sizes of `tensor`. Dimensions not asked for before become tensor.dim right after the
  /// tensor's definition.
  Sizes sizesOf(Value tensor);
  void setSizes(Value tensor, ArrayRef<OpFoldResult> sizes) {
    sizes_[tensor] = Sizes(sizes.begin(), sizes.end());
  }

  /// The sizes of a list of an op, of which `values` begin with its operands: these are index
  /// values then, each checked that it is not negative, and gone from `values`.
  Sizes sizesIn(ArrayRef<int64_t> list, OperandRange &values, StringRef op);

  /// Where a vector of integers begins that counts up by 1, as far as that is known: a gather by it
  /// is a slice.
  std::optional<OpFoldResult> rangeStartOf(Value tensor) const {
    auto found = rangeStarts_.find(tensor);
    if (found == rangeStarts_.end()) return std::nullopt;
    return found->second;
  }
  void setRangeStart(Value tensor, OpFoldResult start) { rangeStarts_[tensor] = start; }
  /// 0, 1, ... as a vector of that size.
  Value range(OpFoldResult size, Type elementType);

  /// An uninitialised tensor, and one filled with `scalar`.
  Value empty(ArrayRef<OpFoldResult> sizes, Type elementType);
  Value filled(ArrayRef<OpFoldResult> sizes, Value scalar);

  using Body = llvm::function_ref<Value(OpBuilder &, Location, ValueRange)>;
  /// A tensor whose every element is `body` of the inputs' elements that `maps` pick, one map per
  /// input, over parallel loops in the result's order.
  Value elementwise(ArrayRef<OpFoldResult> sizes, Type elementType, ValueRange inputs,
                    ArrayRef<AffineMap> maps, Body body);
  /// The same where the body only passes its first argument on: a movement of elements.
  Value moved(ArrayRef<OpFoldResult> sizes, Value input, AffineMap map);
  /// `input` with its axes in another order: axis i of the result is axis permutation[i].
  Value permuted(Value input, ArrayRef<int64_t> permutation);

  /// What a routine of the library gives for `inputs`, maybe of unsigned integers, and `numbers`.
  Value called(StringRef routine, ValueRange inputs, ArrayRef<OpFoldResult> numbers,
               ArrayRef<OpFoldResult> sizes, Type elementType, bool isUnsigned = false);
  /// What the routine of such an op gives, of these sizes. Without the library there is none: an
  /// error, and a null value.
  Value routine(Operation *op, ArrayRef<OpFoldResult> sizes);
  /// The same of an op with several results, each of its sizes; none after the error. Complex
  /// numbers come and go as weft-expand-complex has them for such an op: as casts of tensors of
  /// their parts.
  SmallVector<Value> routines(Operation *op, ArrayRef<Sizes> sizes);
  /// A tensor of `sizes` seen along an axis: the product of the sizes before it, its own, and that
  /// of those after it.
  Sizes linesOf(ArrayRef<OpFoldResult> sizes, int64_t axis);

  /// `tensor` in that type: a tensor.cast if it changes anything.
  Value typed(Value tensor, Type type);
  /// `tensor`, which is of these sizes, in a type that has those that are known: insert_slice wants
  /// what it inserts to be of the static sizes of its place.
  Value ofSizes(Value tensor, ArrayRef<OpFoldResult> sizes);
  /// `tensor` without the static unit dimensions in `axes`, or with new ones there.
  Value dropUnitAxes(Value tensor, ArrayRef<int64_t> axes);
  Value addUnitAxes(Value tensor, ArrayRef<int64_t> axes);
  /// `tensor` as a tensor of rank 1, and such a line as one of other sizes.
  Value flattened(Value tensor);
  Value expanded(Value line, ArrayRef<OpFoldResult> sizes);
  /// How far the neighbours along each axis of a tensor of `sizes` are apart in its line; and, in
  /// the body of a loop over the tensor, where its element is there. Null for a scalar.
  SmallVector<Value> stridesOf(ArrayRef<OpFoldResult> sizes);
  static Value placeInLine(OpBuilder &builder, Location loc, ArrayRef<Value> strides);
  /// The sizes of a slice across an axis: without the first axis, and 1 along any other. LLVM 22
  /// folds a slice that loses an axis into one that loses its first axis of size 1, whichever of
  /// them that is, once an offset is known.
  static Sizes sizesAcross(Builder &builder, ArrayRef<OpFoldResult> sizes, int64_t axis);
  /// The type of such a slice of `tensor`.
  RankedTensorType sliceType(Value tensor, ArrayRef<OpFoldResult> sizes, int64_t axis);
  /// The slice of `tensor` at position `at` of an axis, of `sizesAcross`; and `tensor` with another
  /// there. The slice has static sizes where the tensor's remembered ones are known.
  Value sliceAcross(Value tensor, int64_t axis, OpFoldResult at);
  Value insertAcross(Value slice, Value tensor, int64_t axis, OpFoldResult at);

  Value index(int64_t value);
  Value toValue(OpFoldResult size);
  OpFoldResult add(OpFoldResult lhs, OpFoldResult rhs);
  /// A sum of sizes, of tensors that may have no elements, after the check that it is one.
  OpFoldResult checkedSum(OpFoldResult lhs, OpFoldResult rhs, const Twine &message);
  OpFoldResult multiply(OpFoldResult lhs, OpFoldResult rhs);
  /// The product of sizes.
  OpFoldResult countOf(ArrayRef<OpFoldResult> sizes);
  /// How often a loop over an axis runs whose body does something to all of `others`: not at all
  /// where those have no elements, as the axis may be of any size then.
  Value iterations(OpFoldResult size, ArrayRef<OpFoldResult> others);
  /// The larger of two numbers.
  Value larger(Value lhs, Value rhs);

  /// Stops the call at run time with a ShapeError unless the sizes are equal; no code if that is
  /// known now. The message names `named`.
  void requireEqual(OpFoldResult lhs, OpFoldResult rhs, const Twine &message,
                    ArrayRef<OpFoldResult> named);
  /// The same, where the message names both.
  void requireEqual(OpFoldResult lhs, OpFoldResult rhs, const Twine &message) {
    requireEqual(lhs, rhs, message, {lhs, rhs});
  }
  /// The same unless size >= 0.
  void requireNotNegative(OpFoldResult size, const Twine &message, ArrayRef<OpFoldResult> named);
  /// The same unless size > 0.
  void requirePositive(OpFoldResult size, const Twine &message, ArrayRef<OpFoldResult> named);
  /// The same unless that holds.
  void requireTrue(Value holds, const Twine &message, ArrayRef<OpFoldResult> named) {
    require(holds, message, named);
  }
  /// The same unless lhs <= rhs.
  void requireAtMost(OpFoldResult lhs, OpFoldResult rhs, const Twine &message,
                     ArrayRef<OpFoldResult> named, LeaveKind error = LeaveKind::shape);

  /// The shape of a tensor for a message, "(3, {})"; the sizes that {} stand for join `named`.
  std::string written(Value tensor, SmallVectorImpl<OpFoldResult> &named);

  /// `value`, which the conversion made of a result of `type`, in that type. What the type knows of
  /// the sizes and the value does not is required at run time, and is its size from then on.
  Value asWritten(Value value, RankedTensorType type, StringRef op);

private:
  void require(Value holds, const Twine &message, ArrayRef<OpFoldResult> named,
               LeaveKind error = LeaveKind::shape);

  DenseMap<Value, Sizes> sizes_;
  DenseMap<Value, OpFoldResult> rangeStarts_;
  DenseMap<Value, Value> indices_; ///< of i64 scalars
  const llvm::DenseMap<Operation *, Signs> &signs_;
  bool withoutLibrary_, stagesRoutines_;
};

/// The conversions. Each gives the value that replaces the op's result, in any type that differs
/// from it only by dimensions known or not; a null value after an error was emitted.
Value lowerElementwise(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info);
Value lowerReduction(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info);
Value lowerCumulative(LinalgBuilder &b, Operation *op, const ::weft::OpInfo &info);
#define WEFT_LOWERING_DECLARATIONS
#include "Lowerings.inc"
#undef WEFT_LOWERING_DECLARATIONS
Value lowerStackEmpty(LinalgBuilder &b, StackEmptyOp op);
Value lowerStackStore(LinalgBuilder &b, StackStoreOp op);
Value lowerStackLoad(LinalgBuilder &b, StackLoadOp op);
Value lowerStackAdd(LinalgBuilder &b, StackAddOp op);

} // namespace mlir::weft
