// Chooses arith and math operations by element type, with the numeric rules of the op records.
#include "Weft/Conversion/ScalarBuilder.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

static bool isFloat(Type type) { return isa<FloatType>(getElementTypeOrSelf(type)); }
static bool isBool(Type type) { return getElementTypeOrSelf(type).isInteger(1); }

/// `type` with another element type: the same shape of vector, or the scalar itself.
static Type withElement(Type type, Type elementType) {
  if (auto vector = dyn_cast<VectorType>(type)) return vector.clone(elementType);
  return elementType;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value ScalarBuilder::splat(Attribute element, Type type) {
  if (auto vector = dyn_cast<VectorType>(type)) element = DenseElementsAttr::get(vector, element);
  return arith::ConstantOp::create(b, loc, cast<TypedAttr>(element));
}

Value ScalarBuilder::constant(double value, Type type) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element)) return splat(b.getFloatAttr(element, value), type);
  return splat(b.getIntegerAttr(element, static_cast<int64_t>(value)), type);
}

bool ScalarBuilder::isUnsigned(Value x) const {
  return signs.operandsUnsigned || isBool(x.getType());
}

Value ScalarBuilder::lowest(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto floating = dyn_cast<FloatType>(element))
    return splat(b.getFloatAttr(element, APFloat::getInf(floating.getFloatSemantics(), true)),
                 type);
  const unsigned width = element.getIntOrFloatBitWidth();
  return splat(b.getIntegerAttr(element, signs.operandsUnsigned ? APInt::getMinValue(width)
                                                                : APInt::getSignedMinValue(width)),
               type);
}

Value ScalarBuilder::highest(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto floating = dyn_cast<FloatType>(element))
    return splat(b.getFloatAttr(element, APFloat::getInf(floating.getFloatSemantics())), type);
  const unsigned width = element.getIntOrFloatBitWidth();
  return splat(b.getIntegerAttr(element, signs.operandsUnsigned ? APInt::getMaxValue(width)
                                                                : APInt::getSignedMaxValue(width)),
               type);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value ScalarBuilder::add(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::AddFOp::create(b, loc, lhs, rhs);
  return arith::AddIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::subtract(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::SubFOp::create(b, loc, lhs, rhs);
  return arith::SubIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::multiply(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::MulFOp::create(b, loc, lhs, rhs);
  return arith::MulIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::divide(Value lhs, Value rhs) {
  return arith::DivFOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::remainder(Value lhs, Value rhs) {
  Type type = lhs.getType();
  Value zero = constant(0, type);
  if (isFloat(type)) {
    // fmod has the dividend's sign, or is a zero, which takes the divisor's sign.
    Value rest = arith::RemFOp::create(b, loc, lhs, rhs);
    Value differ = logicalXor(less(rest, zero), less(rhs, zero));
    Value signedZero = math::CopySignOp::create(b, loc, zero, rhs);
    return select(equal(rest, zero), signedZero, select(differ, add(rest, rhs), rest));
  }
  // The processor traps on a divisor of 0, and on -1 when the quotient overflows; by 1 the rest is
  // 0 as well. Both are the divisors d with d + 1 <= 1 unsigned.
  Value one = constant(1, type);
  if (isUnsigned(lhs)) return integerRemainder(lhs, select(equal(rhs, zero), one, rhs));
  Value special = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, add(rhs, one), one);
  Value rest = integerRemainder(lhs, select(special, one, rhs));
  Value differ = less(arith::XOrIOp::create(b, loc, rest, rhs), zero);
  return select(logicalAnd(notEqual(rest, zero), differ), add(rest, rhs), rest);
}

/// What truncated division leaves, by a divisor for which there is a quotient.
Value ScalarBuilder::integerRemainder(Value lhs, Value rhs) {
  Type type = lhs.getType();
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width > 32) {
    if (isUnsigned(lhs)) return arith::RemUIOp::create(b, loc, lhs, rhs);
    return arith::RemSIOp::create(b, loc, lhs, rhs);
  }
  // There are vectors of floating divisions only. A quotient of twice the bits is nearer to the
  // exact one than that is to the next integer, so it truncates to the same.
  Type wide = width == 32 ? Type(b.getF64Type()) : Type(b.getF32Type());
  Value quotient = divide(cast(lhs, wide), cast(rhs, wide));
  Value whole;
  if (width < 32) {
    Type i32 = withElement(type, b.getI32Type());
    whole = arith::TruncIOp::create(b, loc, type,
                                    arith::FPToSIOp::create(b, loc, i32, quotient).getResult());
  } else if (isUnsigned(lhs)) {
    whole = arith::FPToUIOp::create(b, loc, type, quotient);
  } else {
    whole = arith::FPToSIOp::create(b, loc, type, quotient);
  }
  return subtract(lhs, multiply(whole, rhs));
}

Value ScalarBuilder::power(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return math::PowFOp::create(b, loc, lhs, rhs);
  // Squaring, with a select for each bit of the exponent instead of a branch: math.ipowi has no
  // vector form further down.
  Type type = lhs.getType();
  APInt known;
  if (matchPattern(rhs, m_ConstantInt(&known)) && known.isStrictlyPositive())
    return powerBySquaring(lhs, known.getZExtValue(),
                           [&](Value x, Value y) { return multiply(x, y); });
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  const unsigned bits = isUnsigned(lhs) ? width : width - 1; // of an exponent that is not negative
  Value zero = constant(0, type), one = constant(1, type), minusOne = constant(-1, type);
  Value base = lhs, exponent = rhs, result = one;
  for (unsigned bit = 0; bit < bits; ++bit) {
    Value odd = notEqual(arith::AndIOp::create(b, loc, exponent, one), zero);
    result = select(odd, multiply(result, base), result);
    if (bit + 1 == bits) break;
    base = multiply(base, base);
    exponent = arith::ShRUIOp::create(b, loc, exponent, one);
  }
  if (isUnsigned(lhs)) return result;
  // A negative exponent asks for 1 / base^n: not 0 only for the bases 1 and -1.
  Value odd = notEqual(arith::AndIOp::create(b, loc, rhs, one), zero);
  Value inverse =
      select(equal(lhs, one), one, select(equal(lhs, minusOne), select(odd, minusOne, one), zero));
  return select(less(rhs, zero), inverse, result);
}

Value ScalarBuilder::maximum(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::MaximumFOp::create(b, loc, lhs, rhs);
  if (isBool(lhs.getType())) return logicalOr(lhs, rhs);
  if (isUnsigned(lhs)) return arith::MaxUIOp::create(b, loc, lhs, rhs);
  return arith::MaxSIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::minimum(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::MinimumFOp::create(b, loc, lhs, rhs);
  if (isBool(lhs.getType())) return logicalAnd(lhs, rhs);
  if (isUnsigned(lhs)) return arith::MinUIOp::create(b, loc, lhs, rhs);
  return arith::MinSIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::negate(Value x) {
  if (isFloat(x.getType())) return arith::NegFOp::create(b, loc, x);
  return subtract(constant(0, x.getType()), x);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloat(x.getType())) return math::AbsFOp::create(b, loc, x);
  if (isUnsigned(x)) return x;
  return math::AbsIOp::create(b, loc, x);
}

Value ScalarBuilder::sign(Value x) {
  Type type = x.getType();
  Value zero = constant(0, type);
  // What is neither positive nor negative stays, a zero or NaN; of -0.0 the sum is 0.0.
  Value rest = isFloat(type) ? add(x, zero) : x;
  if (isUnsigned(x)) return select(greater(x, zero), constant(1, type), rest);
  Value negative = select(less(x, zero), constant(-1, type), rest);
  return select(greater(x, zero), constant(1, type), negative);
}

Value ScalarBuilder::floor(Value x) {
  return isFloat(x.getType()) ? math::FloorOp::create(b, loc, x) : x;
}
Value ScalarBuilder::ceil(Value x) {
  return isFloat(x.getType()) ? math::CeilOp::create(b, loc, x) : x;
}

//===----------------------------------------------------------------------===//
// Comparison, logic, selection
//===----------------------------------------------------------------------===//

Value ScalarBuilder::equal(Value lhs, Value rhs) {
  if (isFloat(lhs.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, lhs, rhs);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, lhs, rhs);
}
Value ScalarBuilder::notEqual(Value lhs, Value rhs) {
  if (isFloat(lhs.getType()))
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, lhs, rhs);
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, lhs, rhs);
}

/// Of bools false < true.
Value ScalarBuilder::compare(Value lhs, Value rhs, bool isLess, bool orEqual) {
  using Floats = arith::CmpFPredicate;
  using Integers = arith::CmpIPredicate;
  if (isFloat(lhs.getType())) {
    const Floats strict = isLess ? Floats::OLT : Floats::OGT,
                 weak = isLess ? Floats::OLE : Floats::OGE;
    return arith::CmpFOp::create(b, loc, orEqual ? weak : strict, lhs, rhs);
  }
  const Integers withSign = isLess ? (orEqual ? Integers::sle : Integers::slt)
                                   : (orEqual ? Integers::sge : Integers::sgt);
  const Integers without = isLess ? (orEqual ? Integers::ule : Integers::ult)
                                  : (orEqual ? Integers::uge : Integers::ugt);
  return arith::CmpIOp::create(b, loc, isUnsigned(lhs) ? without : withSign, lhs, rhs);
}

Value ScalarBuilder::less(Value lhs, Value rhs) { return compare(lhs, rhs, true, false); }
Value ScalarBuilder::lessEqual(Value lhs, Value rhs) { return compare(lhs, rhs, true, true); }
Value ScalarBuilder::greater(Value lhs, Value rhs) { return compare(lhs, rhs, false, false); }
Value ScalarBuilder::greaterEqual(Value lhs, Value rhs) { return compare(lhs, rhs, false, true); }

Value ScalarBuilder::logicalAnd(Value lhs, Value rhs) {
  return arith::AndIOp::create(b, loc, lhs, rhs);
}
Value ScalarBuilder::logicalOr(Value lhs, Value rhs) {
  return arith::OrIOp::create(b, loc, lhs, rhs);
}
Value ScalarBuilder::logicalXor(Value lhs, Value rhs) {
  return arith::XOrIOp::create(b, loc, lhs, rhs);
}
Value ScalarBuilder::logicalNot(Value x) { return logicalXor(x, constant(1, x.getType())); }

Value ScalarBuilder::invert(Value x) {
  return logicalXor(x, constant(isBool(x.getType()) ? 1 : -1, x.getType()));
}

Value ScalarBuilder::shiftLeft(Value x, Value count) {
  Type type = x.getType();
  Value width = constant(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), type);
  Value zero = constant(0, type);
  // A negative count is a large unsigned one.
  Value inside = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, count, width);
  Value shifted = arith::ShLIOp::create(b, loc, x, shiftable(count));
  return select(inside, shifted, zero);
}

Value ScalarBuilder::shiftRight(Value x, Value count) {
  Type type = x.getType();
  const unsigned bits = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (isUnsigned(x)) {
    Value inside =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, count, constant(bits, type));
    Value zero = constant(0, type);
    Value shifted = arith::ShRUIOp::create(b, loc, x, shiftable(count));
    return select(inside, shifted, zero);
  }
  // As many bits as are there, and more, leave the sign.
  return arith::ShRSIOp::create(b, loc, x, shiftable(count));
}

/// A count that any shift may have, in the place of larger ones. It is no selection by whether the
/// count is in range, which LLVM 22 takes for that of PTX's shifts, and drops the upper half of a
/// count of 64 bits.
Value ScalarBuilder::shiftable(Value count) {
  const unsigned bits = getElementTypeOrSelf(count.getType()).getIntOrFloatBitWidth();
  return arith::MinUIOp::create(b, loc, count, constant(bits - 1, count.getType()));
}

/// The bits of a floating number as an integer.
Value ScalarBuilder::bitsOf(Value x) {
  Type type = x.getType();
  Type bits = b.getIntegerType(getElementTypeOrSelf(type).getIntOrFloatBitWidth());
  return arith::BitcastOp::create(b, loc, withElement(type, bits), x);
}

Value ScalarBuilder::signbit(Value x) {
  Value bits = isFloat(x.getType()) ? bitsOf(x) : x;
  return less(bits, constant(0, bits.getType()));
}

Value ScalarBuilder::nextafter(Value x, Value towards) {
  // Bits count sizes: one more is the next number away from 0.
  const auto bitsIn = [&](Value value) { return isFloat(value.getType()) ? bitsOf(value) : value; };
  Value from = decoded(x), to = decoded(towards), bits = bitsIn(x), bitsOfTo = bitsIn(towards);
  Type type = bits.getType();
  Value zero = constant(0, from.getType()), one = constant(1, type);
  Value away = equal(less(from, to), greater(from, zero));
  Value moved = add(bits, select(away, one, constant(-1, type)));
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  Value sign = splat(b.getIntegerAttr(getElementTypeOrSelf(type), APInt::getSignMask(width)), type);
  Value least = logicalOr(logicalAnd(bitsOfTo, sign), one);
  Value next = select(equal(from, zero), least, moved);
  Value known = logicalAnd(equal(from, from), equal(to, to));
  Value result =
      select(equal(from, to), bitsOfTo, select(known, next, bitsIn(encoded(add(from, to)))));
  if (isFloat(x.getType())) return arith::BitcastOp::create(b, loc, x.getType(), result);
  return result;
}

Value ScalarBuilder::select(Value pred, Value onTrue, Value onFalse) {
  return arith::SelectOp::create(b, loc, pred, onTrue, onFalse);
}

Value ScalarBuilder::isBetter(Value better, Value next, Value best) {
  if (!isFloat(next.getType())) return better;
  return logicalOr(better, logicalAnd(notEqual(next, next), equal(best, best)));
}
Value ScalarBuilder::isBetterMaximum(Value next, Value best) {
  return isBetter(greater(next, best), next, best);
}
Value ScalarBuilder::isBetterMinimum(Value next, Value best) {
  return isBetter(less(next, best), next, best);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

Value ScalarBuilder::cast(Value x, Type elementType) {
  if (signs.operandFormat && signs.operandFormat == signs.resultFormat) return x;
  if (signs.operandFormat) {
    ScalarBuilder ofNumber(b, loc,
                           {.resultUnsigned = signs.resultUnsigned,
                            .resultFormat = signs.resultFormat,
                            .convertsFloats = signs.convertsFloats});
    return ofNumber.cast(decoded(x), elementType);
  }
  if (signs.resultFormat) return encoded(castToBeRounded(x));
  Type from = x.getType(), to = withElement(from, getElementTypeOrSelf(elementType));
  if (from == to) return x;
  if (isBool(to)) return notEqual(x, constant(0, from));
  const unsigned fromWidth = getElementTypeOrSelf(from).getIntOrFloatBitWidth();
  const unsigned toWidth = getElementTypeOrSelf(to).getIntOrFloatBitWidth();
  if (isBool(from)) {
    if (isFloat(to)) return arith::UIToFPOp::create(b, loc, to, x);
    return arith::ExtUIOp::create(b, loc, to, x);
  }
  if (isFloat(from) && isFloat(to)) {
    if (fromWidth < toWidth) return arith::ExtFOp::create(b, loc, to, x);
    return arith::TruncFOp::create(b, loc, to, x);
  }
  if (isFloat(from)) return castFloatToInteger(x, to);
  if (isFloat(to)) {
    if (signs.operandsUnsigned) return arith::UIToFPOp::create(b, loc, to, x);
    return arith::SIToFPOp::create(b, loc, to, x);
  }
  // Integers that differ by their sign alone.
  if (fromWidth == toWidth) return x;
  if (fromWidth > toWidth) return arith::TruncIOp::create(b, loc, to, x);
  if (signs.operandsUnsigned) return arith::ExtUIOp::create(b, loc, to, x);
  return arith::ExtSIOp::create(b, loc, to, x);
}

Value ScalarBuilder::castFloatToInteger(Value x, Type resultType) {
  // Out of range the conversion is undefined, so it sees only values in range. Both limits are 0 or
  // powers of two and exact, unless the range is wider than the format's, where they become
  // infinities and the comparisons still say the right thing.
  const unsigned width = getElementTypeOrSelf(resultType).getIntOrFloatBitWidth();
  const bool toUnsigned = signs.resultUnsigned;
  Type type = x.getType();
  const double above = std::ldexp(1.0, static_cast<int>(toUnsigned ? width : width - 1));
  if (width < 32) {
    // All numbers of the range are floating ones: a clamp, and the one conversion that processors
    // have.
    Value low = constant(toUnsigned ? 0 : -above, type), high = constant(above - 1, type);
    Value inside = select(greaterEqual(x, low), select(less(x, high), x, high), low);
    Value number = select(equal(x, x), inside, constant(0, type));
    Type i32 = withElement(type, b.getI32Type());
    return arith::TruncIOp::create(b, loc, resultType,
                                   arith::FPToSIOp::create(b, loc, i32, number).getResult());
  }
  Value low = constant(toUnsigned ? 0 : -above, type), high = constant(above, type);
  Value tooLow = less(x, low), tooHigh = greaterEqual(x, high);
  Value inRange = logicalAnd(greaterEqual(x, low), less(x, high));
  Value within = select(inRange, x, constant(0, type)), whole;
  if (toUnsigned) whole = arith::FPToUIOp::create(b, loc, resultType, within);
  else whole = arith::FPToSIOp::create(b, loc, resultType, within);
  ScalarBuilder result(b, loc, {.operandsUnsigned = toUnsigned});
  return select(tooLow, result.lowest(resultType),
                select(tooHigh, result.highest(resultType), whole));
}

//===----------------------------------------------------------------------===//
// Floats of 16 and 8 bits
//===----------------------------------------------------------------------===//

// By integers, as processors and LLVM's library calls differ in what they do, or lack it. The same
// in C++: weft/float16.h and float8.h, which say why.

namespace {
/// How a format of 8 bits is laid out, beside its sign, and the sizes, as those of a float, from
/// which numbers are `above` all finite ones, NaN or infinite.
struct Format8 {
  int64_t digits, bias, above;
  bool hasInfinity;

  explicit Format8(FloatType format)
      : digits(isa<Float8E5M2Type>(format) ? 2 : 3), bias(digits == 2 ? 15 : 7),
        above(digits == 2 ? 0x47700000 : 0x43e80001), hasInfinity(digits == 2) {}

  int64_t dropped() const { return 23 - digits; }
  int64_t rebias() const { return (127 - bias) << 23; }
  /// As a float the power of two of which the last bit is that of denormals.
  int64_t unit() const { return (127 - bias + 1 + dropped()) << 23; }
};

bool has8Bits(FloatType format) { return format.getIntOrFloatBitWidth() == 8; }
} // namespace

Value ScalarBuilder::decoded(Value x) {
  if (!signs.operandFormat) return x;
  if (signs.convertsFloats && !has8Bits(signs.operandFormat)) {
    Value narrow =
        arith::BitcastOp::create(b, loc, withElement(x.getType(), signs.operandFormat), x);
    return arith::ExtFOp::create(b, loc, withElement(x.getType(), b.getF32Type()), narrow);
  }
  Type i32 = withElement(x.getType(), b.getI32Type());
  Type f32 = withElement(x.getType(), b.getF32Type());
  const auto number = [&](int64_t value) { return splat(b.getI32IntegerAttr(value), i32); };
  const auto shifted = [&](Value value, int64_t bits) -> Value {
    return arith::ShLIOp::create(b, loc, value, number(bits));
  };
  const auto asFloat = [&](Value bits) -> Value {
    return arith::BitcastOp::create(b, loc, f32, bits);
  };
  Value bits = arith::ExtUIOp::create(b, loc, i32, x);
  if (signs.operandFormat.isBF16()) return asFloat(shifted(bits, 16));
  if (has8Bits(signs.operandFormat)) {
    const Format8 format(signs.operandFormat);
    Value size = logicalAnd(bits, number(0x7f)), sign = logicalAnd(bits, number(0x80));
    Value unit = number(format.unit());
    Value denormal = subtract(asFloat(add(size, unit)), asFloat(unit));
    Value normal = add(shifted(size, format.dropped()), number(format.rebias()));
    Value found = select(less(size, number(int64_t{1} << format.digits)), bitsOf(denormal), normal);
    if (format.hasInfinity) {
      Value special = logicalOr(shifted(logicalAnd(size, number(3)), 21), number(0x7f800000));
      found = select(greaterEqual(size, number(0x7c)), special, found);
    } else {
      found = select(equal(size, number(0x7f)), number(0x7fc00000), found);
    }
    return asFloat(logicalOr(found, shifted(sign, 24)));
  }
  Value size = logicalAnd(bits, number(0x7fff)), sign = logicalAnd(bits, number(0x8000));
  Value rebias = number(0x38000000), normal = add(shifted(size, 13), rebias);
  Value special = select(greaterEqual(size, number(0x7c00)), add(normal, rebias), normal);
  Value denormal = subtract(asFloat(add(size, number(0x3f000000))), constant(0.5, f32));
  Value found = select(less(size, number(0x400)), bitsOf(denormal), special);
  return asFloat(logicalOr(found, shifted(sign, 16)));
}

Value ScalarBuilder::encoded(Value x) {
  if (!signs.resultFormat) return x;
  Type stored =
      withElement(x.getType(), b.getIntegerType(signs.resultFormat.getIntOrFloatBitWidth()));
  if (signs.convertsFloats && !has8Bits(signs.resultFormat)) {
    Value narrow = arith::TruncFOp::create(b, loc, withElement(x.getType(), signs.resultFormat), x);
    return arith::BitcastOp::create(b, loc, stored, narrow);
  }
  Value bits = bitsOf(x);
  Type i32 = bits.getType();
  const auto number = [&](int64_t value) { return splat(b.getI32IntegerAttr(value), i32); };
  const auto upper = [&](Value value, int64_t shift) -> Value {
    return arith::ShRUIOp::create(b, loc, value, number(shift));
  };
  // Halves go to the even one.
  const auto rounded = [&](Value value, int64_t shift) {
    Value last = logicalAnd(upper(value, shift), number(1));
    return add(add(value, number((int64_t{1} << (shift - 1)) - 1)), last);
  };
  if (signs.resultFormat.isBF16()) {
    Value nan = logicalOr(bits, number(0x400000));
    Value result = upper(select(notEqual(x, x), nan, rounded(bits, 16)), 16);
    return arith::TruncIOp::create(b, loc, stored, result);
  }
  if (has8Bits(signs.resultFormat)) {
    const Format8 format(signs.resultFormat);
    Value size = logicalAnd(bits, number(0x7fffffff)),
          sign = logicalAnd(upper(bits, 24), number(0x80));
    const auto asFloat = [&](Value value) -> Value {
      return arith::BitcastOp::create(b, loc, x.getType(), value);
    };
    Value unit = number(format.unit());
    Value denormal = subtract(bitsOf(add(asFloat(size), asFloat(unit))), unit);
    Value normal =
        upper(subtract(rounded(size, format.dropped()), number(format.rebias())), format.dropped());
    Value smallest = number(format.rebias() + (int64_t{1} << 23));
    Value found = select(less(size, smallest), denormal, normal);
    found = select(greaterEqual(size, number(format.above)),
                   number(format.hasInfinity ? 0x7c : 0x7f), found);
    if (format.hasInfinity) found = select(greater(size, number(0x7f800000)), number(0x7e), found);
    return arith::TruncIOp::create(b, loc, stored, logicalOr(found, sign));
  }
  Value size = logicalAnd(bits, number(0x7fffffff)),
        sign = logicalAnd(upper(bits, 16), number(0x8000));
  Value asFloat = arith::BitcastOp::create(b, loc, x.getType(), size);
  Value normal = upper(subtract(rounded(size, 13), number(0x38000000)), 13);
  Value denormal = subtract(bitsOf(add(asFloat, constant(0.5, x.getType()))), number(0x3f000000));
  Value found = select(less(size, number(0x38800000)), denormal, normal);
  found = select(greaterEqual(size, number(0x477ff000)), number(0x7c00), found); // from 65520 on
  Value nan = logicalOr(logicalAnd(upper(size, 13), number(0x3ff)), number(0x7e00));
  found = select(greater(size, number(0x7f800000)), nan, found);
  return arith::TruncIOp::create(b, loc, stored, logicalOr(found, sign));
}

/// A number as the f32 that is rounded to fewer bits as the number itself.
Value ScalarBuilder::castToBeRounded(Value x) {
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  ScalarBuilder plain(b, loc, {.operandsUnsigned = signs.operandsUnsigned});
  const unsigned width = element.getIntOrFloatBitWidth();
  if (element.isF64()) return castToOdd(x);
  if (isFloat(type) || width <= 16) return plain.cast(x, b.getF32Type());
  if (width == 64) {
    // The last bit that f64 has of the largest numbers says whether any is set behind it.
    Value zero = constant(0, type), rest = logicalAnd(x, constant(0x7ff, type));
    Value sticky = select(equal(rest, zero), zero, constant(0x800, type));
    Value high = arith::ShRSIOp::create(b, loc, x, constant(53, type));
    Value fits = logicalOr(equal(high, zero), equal(high, constant(-1, type)));
    x = select(fits, x, logicalOr(subtract(x, rest), sticky));
  }
  return castToOdd(plain.cast(x, b.getF64Type()));
}

/// An f64 as the nearest f32, or beside a number that is none the one of both whose last bit is
/// odd.
Value ScalarBuilder::castToOdd(Value x) {
  Type f32 = withElement(x.getType(), b.getF32Type());
  Value nearest = arith::TruncFOp::create(b, loc, f32, x);
  Value back = arith::ExtFOp::create(b, loc, x.getType(), nearest), bits = bitsOf(nearest);
  Value zero = constant(0, bits.getType()), one = constant(1, bits.getType());
  Value differs = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, back, x);
  Value step = select(less(abs(back), abs(x)), one, constant(-1, bits.getType()));
  Value moves = logicalAnd(differs, equal(logicalAnd(bits, one), zero));
  return arith::BitcastOp::create(b, loc, f32, select(moves, add(bits, step), bits));
}

//===----------------------------------------------------------------------===//
// Exponentials, roots, trigonometry
//===----------------------------------------------------------------------===//

Value ScalarBuilder::exp(Value x) { return math::ExpOp::create(b, loc, x); }
Value ScalarBuilder::log(Value x) { return math::LogOp::create(b, loc, x); }
Value ScalarBuilder::expm1(Value x) { return math::ExpM1Op::create(b, loc, x); }
Value ScalarBuilder::log2(Value x) { return math::Log2Op::create(b, loc, x); }
Value ScalarBuilder::log10(Value x) { return math::Log10Op::create(b, loc, x); }
Value ScalarBuilder::log1p(Value x) { return math::Log1pOp::create(b, loc, x); }
Value ScalarBuilder::tanh(Value x) { return math::TanhOp::create(b, loc, x); }
Value ScalarBuilder::erf(Value x) { return math::ErfOp::create(b, loc, x); }
Value ScalarBuilder::sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
Value ScalarBuilder::rsqrt(Value x) { return math::RsqrtOp::create(b, loc, x); }
Value ScalarBuilder::sin(Value x) { return math::SinOp::create(b, loc, x); }
Value ScalarBuilder::cos(Value x) { return math::CosOp::create(b, loc, x); }
Value ScalarBuilder::special(SpecialFunction function, ValueRange operands) {
  return SpecialOp::create(b, loc, operands.front().getType(), function, operands);
}

#include "ScalarBodies.inc"

} // namespace mlir::weft
