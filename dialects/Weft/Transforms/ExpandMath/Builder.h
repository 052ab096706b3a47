// Defines the value types in which the expansions of ExpandMath are written: with them
// `fma(r, q, 1.0) * pow2(n)` emits arith and math operations on a scalar or a vector of any shape.
#pragma once

#include "Weft/Transforms/ExpandMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::weft::expand {

/// The place where one expansion is emitted. It keeps every constant once, at the start of the
/// block, so that nested regions may share it.
class Scope {
public:
  Scope(OpBuilder &builder, Operation *op, ExpandMathTarget target = {})
      : builder(builder), loc(op->getLoc()), target(target), block(op->getBlock()) {}

  /// A constant of `type`; for a vector type, `element` itself if it has all of them, else a splat.
  Value constant(Type type, TypedAttr element);

  OpBuilder &builder;
  Location loc;
  ExpandMathTarget target;

private:
  Block *block;
  DenseMap<std::pair<Type, Attribute>, Value> known;
};

/// The numbers that describe an IEEE binary format, as the bit-level steps need them.
struct Format {
  int width;        ///< Bits in all: 32 or 64.
  int mantissaBits; ///< Bits of the mantissa that are stored: 23 or 52.
  int bias;         ///< 127 or 1023.

  /// 1.5 * 2^mantissaBits. Adding it to a smaller number rounds that number to an integer (ties to
  /// even) and leaves the integer in the low bits of the sum.
  double shifter() const { return 1.5 * static_cast<double>(int64_t(1) << mantissaBits); }
  int64_t exponentMask() const {
    return ((int64_t(1) << (width - 1 - mantissaBits)) - 1) << mantissaBits;
  }
  int64_t signMask() const { return width == 32 ? int64_t(0x80000000) : INT64_MIN; }
  int64_t mantissaMask() const { return (int64_t(1) << mantissaBits) - 1; }
};

/// What the three value types have in common.
struct Expr {
  Value value;
  Scope *scope = nullptr;

  /// The type of the value with its scalar replaced by `element`.
  Type typeWith(Type element) const;
  template <typename Op, typename... Args>
  Value emit(Args &&...args) const {
    return Op::create(scope->builder, scope->loc, std::forward<Args>(args)...);
  }
};

/// A truth value, i1.
struct Bool : Expr {};

/// An integer as wide as the floating-point format it belongs to. Arithmetic wraps.
struct Int : Expr {
  Int like(int64_t constant) const;
};

/// A floating-point number, f32 or f64.
struct Flt : Expr {
  /// A constant of the same type.
  Flt like(double constant) const;
  Flt infinity() const;
  Flt nan() const;
  Format format() const;
  bool isF32() const { return format().width == 32; }
  /// The choice between a value for f32 and one for f64.
  template <typename T>
  T pick(T forF32, T forF64) const {
    return isF32() ? forF32 : forF64;
  }
};

Flt operator+(Flt a, Flt b);
Flt operator-(Flt a, Flt b);
Flt operator*(Flt a, Flt b);
Flt operator/(Flt a, Flt b);
Flt operator-(Flt a);
inline Flt operator+(Flt a, double b) { return a + a.like(b); }
inline Flt operator-(Flt a, double b) { return a - a.like(b); }
inline Flt operator*(Flt a, double b) { return a * a.like(b); }
inline Flt operator+(double a, Flt b) { return b.like(a) + b; }
inline Flt operator-(double a, Flt b) { return b.like(a) - b; }
inline Flt operator*(double a, Flt b) { return b.like(a) * b; }
inline Flt operator/(double a, Flt b) { return b.like(a) / b; }

/// a * b + c with one rounding.
Flt fma(Flt a, Flt b, Flt c);
inline Flt fma(Flt a, double b, Flt c) { return fma(a, a.like(b), c); }
inline Flt fma(Flt a, Flt b, double c) { return fma(a, b, a.like(c)); }
inline Flt fma(Flt a, double b, double c) { return fma(a, a.like(b), a.like(c)); }

Flt abs(Flt a);
Flt sqrt(Flt a);
Flt trunc(Flt a);
/// The magnitude of the first with the sign of the second.
Flt copysign(Flt magnitude, Flt sign);
/// Conversions between f32 and f64, or from narrower formats; nothing if the type is right already.
Flt convert(Flt a, FloatType element);
/// A small integer (|a| < 2^24 for f32, 2^51 for f64) as a float of the same width.
Flt toFloat(Int a);
/// The bits of a float as an integer of the same width, and back.
Int bits(Flt a);
Flt fromBits(Int a);

// Ordered comparisons: false if one side is not a number.
Bool operator<(Flt a, Flt b);
Bool operator>(Flt a, Flt b);
Bool operator>=(Flt a, Flt b);
Bool operator==(Flt a, Flt b);
inline Bool operator<(Flt a, double b) { return a < a.like(b); }
inline Bool operator>(Flt a, double b) { return a > a.like(b); }
inline Bool operator>=(Flt a, double b) { return a >= a.like(b); }
inline Bool operator==(Flt a, double b) { return a == a.like(b); }
/// True if one of the two is not a number.
Bool unordered(Flt a, Flt b);

Bool operator&(Bool a, Bool b);
Bool operator|(Bool a, Bool b);
Bool operator!(Bool a);

Int operator+(Int a, Int b);
Int operator-(Int a, Int b);
Int operator*(Int a, Int b);
Int operator&(Int a, Int b);
Int operator|(Int a, Int b);
Int operator^(Int a, Int b);
inline Int operator+(Int a, int64_t b) { return a + a.like(b); }
inline Int operator-(Int a, int64_t b) { return a - a.like(b); }
inline Int operator&(Int a, int64_t b) { return a & a.like(b); }
inline Int operator|(Int a, int64_t b) { return a | a.like(b); }
Int shiftLeft(Int a, Int by);
Int shiftRight(Int a, Int by);
/// Shifts right and copies the sign bit in.
Int shiftRightSigned(Int a, Int by);
inline Int shiftLeft(Int a, int64_t by) { return shiftLeft(a, a.like(by)); }
inline Int shiftRight(Int a, int64_t by) { return shiftRight(a, a.like(by)); }
inline Int shiftRightSigned(Int a, int64_t by) { return shiftRightSigned(a, a.like(by)); }
Bool operator==(Int a, Int b);
inline Bool operator==(Int a, int64_t b) { return a == a.like(b); }
/// Signed comparison.
Bool operator>(Int a, Int b);
inline Bool operator>(Int a, int64_t b) { return a > a.like(b); }

Flt select(Bool condition, Flt yes, Flt no);
Int select(Bool condition, Int yes, Int no);
inline Flt select(Bool condition, Flt yes, double no) {
  return select(condition, yes, yes.like(no));
}
inline Flt select(Bool condition, double yes, Flt no) {
  return select(condition, no.like(yes), no);
}

/// The smaller and the larger of a number and a constant; a NaN stays what it is.
inline Flt atMost(Flt a, double bound) { return select(a > bound, bound, a); }
inline Flt atLeast(Flt a, double bound) { return select(a < bound, bound, a); }

/// One i1: whether the condition holds in any lane. Returns null for a vector type it cannot
/// reduce.
Value anyLane(Bool condition);

/// The first of two values of the type of `like` where `condition`, one i1, holds, else the second;
/// the other is not computed.
Flt branch(Value condition, llvm::function_ref<Flt()> yes, llvm::function_ref<Flt()> no, Flt like);

/// The result of `yes` where the condition holds in any lane, else `no`, and that is then not
/// computed.
Flt branchWhereAny(Bool condition, llvm::function_ref<Flt()> yes, Flt no);

/// The state after as many steps as it takes until `more` holds in no lane; `step` computes them in
/// all lanes.
SmallVector<Value> loop(Scope &scope, SmallVector<Value> state,
                        llvm::function_ref<Bool(ValueRange)> more,
                        llvm::function_ref<SmallVector<Value>(ValueRange)> step);
/// The same of a state of floats, of which a lane that is done stays as it is: it depends on no
/// other.
SmallVector<Flt> loop(SmallVector<Flt> state, llvm::function_ref<Bool(ArrayRef<Flt>)> more,
                      llvm::function_ref<SmallVector<Flt>(ArrayRef<Flt>)> step);

/// 2^n for an n that a normal number of the given format can have as its exponent.
Flt pow2(Int n, Format format);

/// c[0] + c[1] x + ...
Flt polynomial(Flt x, ArrayRef<double> c);

/// For each index the number that stands there in a table of eight, of f32; of the index only the
/// lowest three bits count. One instruction for a vector where the target permutes them, else
/// choices by those bits.
Flt lookUp(ArrayRef<double> table, Int index);

/// An integer, as a float and as an integer.
struct Rounded {
  Flt asFloat;
  Int asInt;
};

/// The integer in `shifted`, which is some x plus the format's shifter: x rounded, ties to even.
/// |x| must be below 2^(mantissaBits - 2); any other x gives some number or other, never undefined
/// behaviour.
Rounded takeInteger(Flt shifted);

/// An unevaluated sum of two floats: the low part is at most half a unit in the last place of the
/// high part.
struct Pair {
  Flt high, low;
};

/// The exact sum of two numbers, of which the first is the larger in magnitude or zero (Dekker
/// 1971).
Pair fastTwoSum(Flt a, Flt b);
/// The exact sum of any two numbers (Knuth 1969; Moller 1965).
Pair twoSum(Flt a, Flt b);
/// The exact product of two numbers, barring underflow.
Pair twoProduct(Flt a, Flt b);

} // namespace mlir::weft::expand
