// Chooses arith and math operations by element type, with the numeric rules of the op records.
#include "Weft/Conversion/ScalarBuilder.h"

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

Value ScalarBuilder::lowest(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto floating = dyn_cast<FloatType>(element))
    return splat(b.getFloatAttr(element, APFloat::getInf(floating.getFloatSemantics(), true)),
                 type);
  return splat(b.getIntegerAttr(element, APInt::getSignedMinValue(element.getIntOrFloatBitWidth())),
               type);
}

Value ScalarBuilder::highest(Type type) {
  Type element = getElementTypeOrSelf(type);
  if (auto floating = dyn_cast<FloatType>(element))
    return splat(b.getFloatAttr(element, APFloat::getInf(floating.getFloatSemantics())), type);
  return splat(b.getIntegerAttr(element, APInt::getSignedMaxValue(element.getIntOrFloatBitWidth())),
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
  Value special = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, add(rhs, one), one);
  Value divisor = select(special, one, rhs), rest;
  if (getElementTypeOrSelf(type).isInteger(32)) {
    // There are vectors of floating divisions only. A quotient of f64 is nearer to the exact one
    // than that is to the next integer, so it truncates to the same.
    Value quotient = divide(cast(lhs, b.getF64Type()), cast(divisor, b.getF64Type()));
    Value whole = arith::FPToSIOp::create(b, loc, type, quotient);
    rest = subtract(lhs, multiply(whole, divisor));
  } else {
    rest = arith::RemSIOp::create(b, loc, lhs, divisor);
  }
  Value differ = less(arith::XOrIOp::create(b, loc, rest, rhs), zero);
  return select(logicalAnd(notEqual(rest, zero), differ), add(rest, rhs), rest);
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
  Value zero = constant(0, type), one = constant(1, type), minusOne = constant(-1, type);
  Value base = lhs, exponent = rhs, result = one;
  for (unsigned bit = 0; bit + 1 < width; ++bit) {
    Value odd = notEqual(arith::AndIOp::create(b, loc, exponent, one), zero);
    result = select(odd, multiply(result, base), result);
    if (bit + 2 == width) break;
    base = multiply(base, base);
    exponent = arith::ShRUIOp::create(b, loc, exponent, one);
  }
  // A negative exponent asks for 1 / base^n: not 0 only for the bases 1 and -1.
  Value odd = notEqual(arith::AndIOp::create(b, loc, rhs, one), zero);
  Value inverse =
      select(equal(lhs, one), one, select(equal(lhs, minusOne), select(odd, minusOne, one), zero));
  return select(less(rhs, zero), inverse, result);
}

Value ScalarBuilder::maximum(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::MaximumFOp::create(b, loc, lhs, rhs);
  if (isBool(lhs.getType())) return logicalOr(lhs, rhs);
  return arith::MaxSIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::minimum(Value lhs, Value rhs) {
  if (isFloat(lhs.getType())) return arith::MinimumFOp::create(b, loc, lhs, rhs);
  if (isBool(lhs.getType())) return logicalAnd(lhs, rhs);
  return arith::MinSIOp::create(b, loc, lhs, rhs);
}

Value ScalarBuilder::negate(Value x) {
  if (isFloat(x.getType())) return arith::NegFOp::create(b, loc, x);
  return subtract(constant(0, x.getType()), x);
}

Value ScalarBuilder::abs(Value x) {
  if (isFloat(x.getType())) return math::AbsFOp::create(b, loc, x);
  return math::AbsIOp::create(b, loc, x);
}

Value ScalarBuilder::sign(Value x) {
  Type type = x.getType();
  Value zero = constant(0, type);
  // What is neither positive nor negative stays, a zero or NaN; of -0.0 the sum is 0.0.
  Value rest = isFloat(type) ? add(x, zero) : x;
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

/// `boolean` is the predicate on i1, where false < true.
static Value compare(OpBuilder &b, Location loc, Value lhs, Value rhs,
                     arith::CmpFPredicate floating, arith::CmpIPredicate integer,
                     arith::CmpIPredicate boolean) {
  if (isFloat(lhs.getType())) return arith::CmpFOp::create(b, loc, floating, lhs, rhs);
  return arith::CmpIOp::create(b, loc, isBool(lhs.getType()) ? boolean : integer, lhs, rhs);
}

Value ScalarBuilder::equal(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::OEQ, arith::CmpIPredicate::eq,
                 arith::CmpIPredicate::eq);
}
Value ScalarBuilder::notEqual(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::UNE, arith::CmpIPredicate::ne,
                 arith::CmpIPredicate::ne);
}
Value ScalarBuilder::less(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::OLT, arith::CmpIPredicate::slt,
                 arith::CmpIPredicate::ult);
}
Value ScalarBuilder::lessEqual(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::OLE, arith::CmpIPredicate::sle,
                 arith::CmpIPredicate::ule);
}
Value ScalarBuilder::greater(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::OGT, arith::CmpIPredicate::sgt,
                 arith::CmpIPredicate::ugt);
}
Value ScalarBuilder::greaterEqual(Value lhs, Value rhs) {
  return compare(b, loc, lhs, rhs, arith::CmpFPredicate::OGE, arith::CmpIPredicate::sge,
                 arith::CmpIPredicate::uge);
}

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
  Value shifted = arith::ShLIOp::create(b, loc, x, select(inside, count, zero));
  return select(inside, shifted, zero);
}

Value ScalarBuilder::shiftRight(Value x, Value count) {
  Type type = x.getType();
  Value most = constant(getElementTypeOrSelf(type).getIntOrFloatBitWidth() - 1, type);
  return arith::ShRSIOp::create(b, loc, x, arith::MinUIOp::create(b, loc, count, most));
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
  Type type = x.getType();
  Value zero = constant(0, type), bits = bitsOf(x), one = constant(1, bits.getType());
  Value away = equal(less(x, towards), greater(x, zero));
  Value step = select(away, one, constant(-1, bits.getType()));
  Value moved = arith::BitcastOp::create(b, loc, type, add(bits, step));
  Value least = arith::BitcastOp::create(b, loc, type, one);
  Value next = select(equal(x, zero), math::CopySignOp::create(b, loc, least, towards), moved);
  Value known = logicalAnd(equal(x, x), equal(towards, towards));
  return select(equal(x, towards), towards, select(known, next, add(x, towards)));
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
    if (fromWidth > toWidth) return arith::TruncFOp::create(b, loc, to, x);
    // f16 and bf16 meet in f32.
    Type wide = withElement(from, b.getF32Type());
    return arith::TruncFOp::create(b, loc, to, arith::ExtFOp::create(b, loc, wide, x));
  }
  if (isFloat(from)) return castFloatToInteger(x, to);
  if (isFloat(to)) return arith::SIToFPOp::create(b, loc, to, x);
  if (fromWidth < toWidth) return arith::ExtSIOp::create(b, loc, to, x);
  return arith::TruncIOp::create(b, loc, to, x);
}

Value ScalarBuilder::castFloatToInteger(Value x, Type resultType) {
  // Out of range arith.fptosi is undefined, so it sees only values in range. Both limits are powers
  // of two and exact, unless the range is wider than the format's, where they become infinities and
  // the comparisons still say the right thing.
  const unsigned width = getElementTypeOrSelf(resultType).getIntOrFloatBitWidth();
  Type type = x.getType();
  const double limit = std::ldexp(1.0, static_cast<int>(width) - 1);
  Value low = constant(-limit, type), high = constant(limit, type);
  Value below = less(x, low), above = greaterEqual(x, high);
  Value inRange = logicalAnd(greaterEqual(x, low), less(x, high));
  Value whole = arith::FPToSIOp::create(b, loc, resultType, select(inRange, x, constant(0, type)));
  return select(below, lowest(resultType), select(above, highest(resultType), whole));
}

//===----------------------------------------------------------------------===//
// Exponentials, roots, trigonometry
//===----------------------------------------------------------------------===//

Value ScalarBuilder::exp(Value x) { return math::ExpOp::create(b, loc, x); }
Value ScalarBuilder::log(Value x) { return math::LogOp::create(b, loc, x); }
Value ScalarBuilder::expm1(Value x) { return math::ExpM1Op::create(b, loc, x); }
Value ScalarBuilder::log1p(Value x) { return math::Log1pOp::create(b, loc, x); }
Value ScalarBuilder::tanh(Value x) { return math::TanhOp::create(b, loc, x); }
Value ScalarBuilder::erf(Value x) { return math::ErfOp::create(b, loc, x); }
Value ScalarBuilder::sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
Value ScalarBuilder::rsqrt(Value x) { return math::RsqrtOp::create(b, loc, x); }
Value ScalarBuilder::sin(Value x) { return math::SinOp::create(b, loc, x); }
Value ScalarBuilder::cos(Value x) { return math::CosOp::create(b, loc, x); }

#include "ScalarBodies.inc"

} // namespace mlir::weft
