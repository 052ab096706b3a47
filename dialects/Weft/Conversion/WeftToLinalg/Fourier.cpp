// Fourier transforms: routines of the library, which compare the sizes themselves.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

SmallVector<Value> lowerFft(LinalgBuilder &b, FftOp op) {
  Sizes sizes = b.sizesOf(op.getRe());
  return b.routines(op, {sizes, sizes});
}

SmallVector<Value> lowerRfft(LinalgBuilder &b, RfftOp op) {
  Sizes sizes = b.sizesOf(op.getX());
  OpFoldResult &size = sizes[op.getAxis()];
  if (std::optional<int64_t> known = getConstantIntValue(size)) size = b.getIndexAttr(*known / 2);
  else size = arith::DivUIOp::create(b, b.toValue(size), b.index(2)).getResult();
  size = b.add(size, b.getIndexAttr(1));
  return b.routines(op, {sizes, sizes});
}

Value lowerIrfft(LinalgBuilder &b, IrfftOp op) {
  Sizes sizes = b.sizesOf(op.getRe());
  OpFoldResult &size = sizes[op.getAxis()];
  size = b.add(b.multiply(size, b.getIndexAttr(2)), b.getIndexAttr(op.getOdd() ? -1 : -2));
  b.requirePositive(
      size, "irfft: the result would have {} elements along axis " + Twine(op.getAxis()), {size});
  return b.routine(op, sizes);
}

} // namespace mlir::weft
