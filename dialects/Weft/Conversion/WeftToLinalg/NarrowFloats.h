// Sums of products of floats of 16 bits, for targets without the library: each number is widened
// where it is read, and the sum, in f32, rounded once.
#pragma once

#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

/// The number whose bits an integer is, in f32, by the target's own conversion: what multiplies the
/// bits as they are finds them by it.
inline Value widenedBits(OpBuilder &b, Location loc, FloatType format, Value bits) {
  Value number = arith::BitcastOp::create(b, loc, format, bits);
  return arith::ExtFOp::create(b, loc, b.getF32Type(), number);
}

/// The bits of numbers of f32, rounded to the format of an op's operands.
inline Value roundedToBits(LinalgBuilder &b, const Signs &signs, Value numbers,
                           const Sizes &sizes) {
  return b.elementwise(sizes, b.getI16Type(), numbers, b.getMultiDimIdentityMap(sizes.size()),
                       [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
                         return ScalarBuilder(builder, loc,
                                              {.resultFormat = signs.operandFormat,
                                               .convertsFloats = signs.convertsFloats})
                             .cast(args[0], builder.getI16Type());
                       });
}

} // namespace mlir::weft
