// Linear algebra: routines of the library, which compare the sizes themselves.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

/// The batches of a matrix, and these sizes behind them.
static Sizes behind(ArrayRef<OpFoldResult> matrix, ArrayRef<OpFoldResult> sizes) {
  Sizes all(matrix.drop_back(2));
  llvm::append_range(all, sizes);
  return all;
}

SmallVector<Value> lowerLu(LinalgBuilder &b, LuOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  OpFoldResult rows = sizes[sizes.size() - 2], columns = sizes.back(), smaller = rows;
  const std::optional<int64_t> known = getConstantIntValue(rows),
                               other = getConstantIntValue(columns);
  if (known && other) smaller = b.getIndexAttr(std::min(*known, *other));
  else if (rows != columns)
    smaller = arith::MinSIOp::create(b, b.toValue(rows), b.toValue(columns)).getResult();
  return b.routines(op, {sizes, behind(sizes, smaller), behind(sizes, rows)});
}

Value lowerLuSolve(LinalgBuilder &b, LuSolveOp op) { return b.routine(op, b.sizesOf(op.getB())); }

Value lowerGesv(LinalgBuilder &b, GesvOp op) { return b.routine(op, b.sizesOf(op.getB())); }

Value lowerTriangularSolve(LinalgBuilder &b, TriangularSolveOp op) {
  return b.routine(op, b.sizesOf(op.getB()));
}

Value lowerCholesky(LinalgBuilder &b, CholeskyOp op) { return b.routine(op, b.sizesOf(op.getX())); }

SmallVector<Value> lowerQr(LinalgBuilder &b, QrOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  OpFoldResult rows = sizes[sizes.size() - 2], columns = sizes.back();
  OpFoldResult kept = op.getComplete() ? rows : columns;
  return b.routines(op, {behind(sizes, {rows, kept}), behind(sizes, {kept, columns})});
}

SmallVector<Value> lowerEigh(LinalgBuilder &b, EighOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  return b.routines(op, {behind(sizes, sizes.back()), sizes});
}

SmallVector<Value> lowerEig(LinalgBuilder &b, EigOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  return b.routines(op, {behind(sizes, sizes.back()), sizes});
}

SmallVector<Value> lowerSvd(LinalgBuilder &b, SvdOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  OpFoldResult columns = sizes.back();
  return b.routines(op, {behind(sizes, columns), sizes, behind(sizes, {columns, columns})});
}

Value lowerDet(LinalgBuilder &b, DetOp op) {
  return b.routine(op, behind(b.sizesOf(op.getX()), {}));
}

Value lowerCofactors(LinalgBuilder &b, CofactorsOp op) {
  return b.routine(op, b.sizesOf(op.getX()));
}

Value lowerCofactorsAlong(LinalgBuilder &b, CofactorsAlongOp op) {
  return b.routine(op, b.sizesOf(op.getX()));
}

Value lowerPinv(LinalgBuilder &b, PinvOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  return b.routine(op, behind(sizes, {sizes.back(), sizes[sizes.size() - 2]}));
}

Value lowerExpm(LinalgBuilder &b, ExpmOp op) { return b.routine(op, b.sizesOf(op.getX())); }

} // namespace mlir::weft
