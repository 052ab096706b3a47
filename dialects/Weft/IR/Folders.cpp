// Folders: what a reader expects to vanish without a pass of its own.
#include "Weft/IR/Bridge.h"
#include "Weft/IR/SizeLists.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::weft {

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult MatchShapeOp::fold(FoldAdaptor) {
  if (getX().getType() != getType()) return {};
  const bool known = getType().hasStaticShape() && getLike().getType().hasStaticShape();
  return known || getX() == getLike() ? getX() : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  const bool isStatic = getType().hasStaticShape() && getSizes().empty();
  if (getX().getType() == getType() && isStatic) return getX();
  // Sizes that are operands are compared with the elements.
  if (auto inner = getX().getDefiningOp<ReshapeOp>();
      inner && isStatic && inner.getSizes().empty()) {
    getXMutable().assign(inner.getX());
    setShape(getType().getShape());
    return getResult();
  }
  if (auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()); elements && isStatic)
    return elements.reshape(getType());
  return {};
}

OpFoldResult WidenOp::fold(FoldAdaptor) {
  // Of an unknown size it stays, for the day when more is known of x (weft-to-linalg).
  if (getX().getType() == getType() && getType().hasStaticShape()) return getX();
  if (auto inner = getX().getDefiningOp<WidenOp>()) {
    if (inner == *this) return {}; // in code that is never run
    setOperand(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool isIdentity = true;
  for (auto [i, axis] : llvm::enumerate(getPermutation()))
    isIdentity &= static_cast<int64_t>(i) == axis;
  if (isIdentity && getX().getType() == getType()) return getX();
  if (isIdentity) return {};
  if (auto inner = getX().getDefiningOp<TransposeOp>(); inner && !knowsMoreThanInferred(inner)) {
    SmallVector<int64_t> composed;
    for (int64_t axis : getPermutation()) composed.push_back(inner.getPermutation()[axis]);
    setOperand(inner.getX());
    setPermutation(composed);
    return getResult();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor) {
  // A size that is unknown may be 1 and stretch.
  const bool same =
      getX().getType() == getType() && getType().hasStaticShape() && getSizes().empty();
  return same ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // With positive strides a slice of x's own static type takes every element in place.
  const bool whole =
      getX().getType() == getType() && getType().hasStaticShape() && getSizes().empty();
  return whole ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  const int64_t axis = getAxis();
  if (!getX().getType().isDynamicDim(axis))
    return DenseElementsAttr::get(getType(), getX().getType().getDimSize(axis));
  Operation *same = getX().getDefiningOp();
  // A size that was given.
  if (same && opInfoOf(same))
    if (Value size = sizeOperandOf(same, "shape", axis)) return size;
  // What these give has the sizes of their first operand.
  if (!isa_and_nonnull<GuardOp, UpdateSliceOp, WidenOp>(same) || same->getOperand(0) == getX())
    return {};
  setOperand(same->getOperand(0));
  return getResult();
}

LogicalResult ReshapeOp::canonicalize(ReshapeOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult BroadcastOp::canonicalize(BroadcastOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult IotaOp::canonicalize(IotaOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult SliceOp::canonicalize(SliceOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult DrawUniformOp::canonicalize(DrawUniformOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult DrawPermutationOp::canonicalize(DrawPermutationOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}
LogicalResult PadOp::canonicalize(PadOp op, PatternRewriter &rewriter) {
  return canonicalizeSizes(op, rewriter);
}

OpFoldResult ItemOp::fold(FoldAdaptor adaptor) {
  auto elements = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX());
  return elements ? OpFoldResult(elements.getValues<Attribute>()[0]) : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Tokens
//===----------------------------------------------------------------------===//

/// The operands that say something, each once, in order.
static SmallVector<Value> distinctTokens(ValueRange tokens) {
  llvm::SetVector<Value> distinct;
  for (Value token : tokens)
    if (!token.getDefiningOp<BeginOp>()) distinct.insert(token);
  return distinct.takeVector();
}

OpFoldResult JoinOp::fold(FoldAdaptor) {
  SmallVector<Value> distinct = distinctTokens(getTokens());
  if (distinct.empty()) return getTokens().front();
  if (distinct.size() == 1) return distinct.front();
  if (distinct.size() == getTokens().size()) return {};
  getTokensMutable().assign(distinct);
  return getToken();
}

LogicalResult FinishOp::canonicalize(FinishOp op, PatternRewriter &rewriter) {
  SmallVector<Value> distinct = distinctTokens(op.getTokens());
  if (distinct.empty()) return rewriter.eraseOp(op), success();
  if (distinct.size() == op.getTokens().size()) return failure();
  rewriter.modifyOpInPlace(op, [&] { op.getTokensMutable().assign(distinct); });
  return success();
}

/// What only moves elements, or forgets sizes, goes behind the guard, where the op that is guarded
/// may absorb it.
LogicalResult GuardOp::canonicalize(GuardOp op, PatternRewriter &rewriter) {
  Operation *mover = op.getX().getDefiningOp();
  if (!isa_and_nonnull<TransposeOp, BroadcastOp, WidenOp>(mover)) return failure();
  Value guarded = GuardOp::create(rewriter, op.getLoc(), mover->getOperand(0), op.getAfter());
  Operation *behind = rewriter.clone(*mover);
  behind->setOperand(0, guarded);
  rewriter.replaceOp(op, behind);
  return success();
}

/// A read that nobody looks at hands its token on.
LogicalResult ReadOp::canonicalize(ReadOp op, PatternRewriter &rewriter) {
  if (!op.getToken() || !op.getValue().use_empty()) return failure();
  rewriter.replaceAllUsesWith(op.getToken(), op.getAfter());
  rewriter.eraseOp(op);
  return success();
}

} // namespace mlir::weft
