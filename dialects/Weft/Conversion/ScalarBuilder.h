// Builds the scalar code of op records: one function per word of IR/Vocabulary.td.
#pragma once

#include "OpDefs/OpInfo.h"
#include "mlir/IR/Builders.h"

namespace mlir::weft {

enum class SpecialFunction : uint32_t;

/// The product of `exponent` times `base`, for an exponent above 0.
template <typename Multiply>
Value powerBySquaring(Value base, uint64_t exponent, Multiply multiply) {
  Value result;
  for (; exponent != 0; exponent >>= 1) {
    if (exponent & 1) result = result ? multiply(result, base) : base;
    if (exponent > 1) base = multiply(base, base);
  }
  return result;
}

/// What types do not say below the weft dialect, where integers have no sign and floats of 16
/// and 8 bits are integers: whether those that an op takes, and those that it gives, are unsigned,
/// and which floats they are, null of others.
struct Signs {
  bool operandsUnsigned = false, resultUnsigned = false;
  FloatType operandFormat = {}, resultFormat = {};
  /// Whether the target has instructions that convert floats of 16 bits, of which NaN may become
  /// another NaN.
  bool convertsFloats = false;
};

/// Builds arith and math operations that compute what a word of the vocabulary means. Every
/// function chooses the operation by the element type (i1 is bool, other integers are as `Signs`
/// says) and takes scalars as well as vectors of them; operands of one call have one type.
class ScalarBuilder {
public:
  ScalarBuilder(OpBuilder &builder, Location loc, Signs signs = {})
      : b(builder), loc(loc), signs(signs) {}

  /// Integers wrap around.
  Value add(Value lhs, Value rhs);
  Value subtract(Value lhs, Value rhs);
  Value multiply(Value lhs, Value rhs);
  /// Floating only.
  Value divide(Value lhs, Value rhs);
  /// Has the sign of the divisor. An integer remainder by 0 is 0, one by -1 never traps.
  Value remainder(Value lhs, Value rhs);
  /// C99 pow; integers wrap around, and by a constant are products.
  Value power(Value lhs, Value rhs);
  /// NaN if either is NaN.
  Value maximum(Value lhs, Value rhs);
  Value minimum(Value lhs, Value rhs);
  Value negate(Value x);
  Value abs(Value x);
  /// -1, 0 or 1; the sign of zero and NaN stay.
  Value sign(Value x);
  Value floor(Value x);
  Value ceil(Value x);

  /// Comparisons give i1. All are false on NaN, but for notEqual, which is true.
  Value equal(Value lhs, Value rhs);
  Value notEqual(Value lhs, Value rhs);
  Value less(Value lhs, Value rhs);
  Value lessEqual(Value lhs, Value rhs);
  Value greater(Value lhs, Value rhs);
  Value greaterEqual(Value lhs, Value rhs);

  Value logicalAnd(Value lhs, Value rhs);
  Value logicalOr(Value lhs, Value rhs);
  Value logicalXor(Value lhs, Value rhs);
  Value logicalNot(Value x);
  /// Every bit the other way.
  Value invert(Value x);
  /// By less than 0, or by the width or more, what is left is zeros, or copies of the sign.
  Value shiftLeft(Value x, Value count);
  Value shiftRight(Value x, Value count);
  /// A count of bits as one that a shift may have.
  Value shiftable(Value count);
  /// Whether x has a negative sign, zeros and NaN too.
  Value signbit(Value x);
  /// The next number of the format on the way to `towards`; floating only.
  Value nextafter(Value x, Value towards);
  Value select(Value pred, Value onTrue, Value onFalse);
  /// Whether the next element of a line takes the place of its largest so far: it is larger, so
  /// that the first of equals stays, or the first NaN.
  Value isBetterMaximum(Value next, Value best);
  /// The same of its smallest.
  Value isBetterMinimum(Value next, Value best);

  /// The value as another element type. Floating to integer truncates and saturates, NaN becomes 0;
  /// to bool: whether the value differs from 0. Floats of 16 and 8 bits, as `Signs` says which, are
  /// rounded once, whatever the number is of.
  Value cast(Value x, Type elementType);
  /// The f32 that an operand stands for, and what stands for one in the result, if `Signs` says
  /// that these are floats of 16 or 8 bits; others are as they are.
  Value decoded(Value x);
  Value encoded(Value x);

  Value exp(Value x);
  Value log(Value x);
  Value expm1(Value x);
  Value log2(Value x);
  Value log10(Value x);
  Value log1p(Value x);
  Value tanh(Value x);
  Value erf(Value x);
  Value sqrt(Value x);
  Value rsqrt(Value x);
  Value sin(Value x);
  Value cos(Value x);
  Value special(SpecialFunction function, ValueRange operands);

  /// A number as a value of `type`, which may be a vector (a splat).
  Value constant(double value, Type type);

  /// Neutral elements of reductions; `lowest` of a floating type is -inf.
  Value zero(Type type) { return constant(0, type); }
  Value one(Type type) { return constant(1, type); }
  Value lowest(Type type);
  Value highest(Type type);
  Value no(Type type) { return constant(0, type); }
  Value yes(Type type) { return constant(1, type); }

private:
  Value splat(Attribute element, Type type);
  Value bitsOf(Value x);
  Value isBetter(Value better, Value next, Value best);
  Value castFloatToInteger(Value x, Type resultType);
  Value castToBeRounded(Value x);
  Value castToOdd(Value x);
  Value integerRemainder(Value lhs, Value rhs);
  Value compare(Value lhs, Value rhs, bool isLess, bool orEqual);
  bool isUnsigned(Value x) const;

  OpBuilder &b;
  Location loc;
  Signs signs;
};

/// The scalar code of one elementwise op on its operands' elements, or of one step of a reduction
/// or cumulative op on (accumulator, elements). `resultElementType` matters to cast alone. Null for
/// ops without a body.
Value buildScalarBody(::weft::OpCode op, ScalarBuilder &s, ValueRange args, Type resultElementType);

/// The neutral element of a reduction or cumulative op over elements of `type`.
Value buildReductionInit(::weft::OpCode op, ScalarBuilder &s, Type type);

} // namespace mlir::weft
