// Functions of real numbers over an emitter, for those of complex ones: what the ops lack, with the
// signs of zeros and of infinite numbers as IEEE 754 has them.
#pragma once

#include <limits>
#include <numbers>

#include "OpDefs/Emitter.h"

namespace weft::planar {

/// Calls of ops on real values of one dtype. All of it is arithmetic, so that whatever runs it,
/// on blocks of elements or as compiled code, has the same bits.
template <class E>
class Real {
public:
  using Value = typename E::Value;

  Real(E &emitter, DType of) : e(emitter), dtype(of) {}

  Value number(double value) const { return e.scalar(value, dtype); }

  Value add(const Value &x, const Value &y) const { return e.add(x, y); }
  Value sub(const Value &x, const Value &y) const { return e.subtract(x, y); }
  Value mul(const Value &x, const Value &y) const { return e.multiply(x, y); }
  Value div(const Value &x, const Value &y) const { return e.divide(x, y); }
  Value neg(const Value &x) const { return e.negate(x); }
  Value abs(const Value &x) const { return e.abs(x); }
  Value square(const Value &x) const { return e.multiply(x, x); }
  Value times(double factor, const Value &x) const { return e.multiply(x, number(factor)); }
  Value plus(const Value &x, double summand) const { return e.add(x, number(summand)); }

  Value less(const Value &x, const Value &y) const { return e.less(x, y); }
  Value less(const Value &x, double y) const { return e.less(x, number(y)); }
  Value greater(const Value &x, double y) const { return e.greater(x, number(y)); }
  Value equal(const Value &x, double y) const { return e.equal(x, number(y)); }
  Value both(const Value &x, const Value &y) const { return e.logical_and(x, y); }
  Value either(const Value &x, const Value &y) const { return e.logical_or(x, y); }
  Value no(const Value &x) const { return e.logical_not(x); }
  Value where(const Value &holds, const Value &x, const Value &y) const {
    return e.select(holds, x, y);
  }
  Value where(const Value &holds, double x, const Value &y) const {
    return e.select(holds, number(x), y);
  }
  Value where(const Value &holds, const Value &x, double y) const {
    return e.select(holds, x, number(y));
  }

  Value is_infinite(const Value &x) const { return equal(abs(x), kInfinity); }
  /// Neither infinite nor NaN.
  Value is_finite(const Value &x) const { return less(abs(x), kInfinity); }
  /// The size of x, which has a sign of its own, with that of another number.
  Value with_sign(const Value &size, const Value &of) const {
    return where(e.signbit(of), neg(size), size);
  }

  /// sinh and cosh of numbers from 0 on, divided by `scale`, which is 1 where they are no larger
  /// than e^700.
  struct Hyperbolic {
    Value sinh, cosh, scale;
  };
  Hyperbolic hyperbolic(const Value &x) const {
    const Value large = greater(x, kLarge);
    const Value rest = where(large, sub(x, number(kLarge)), x);
    const Value power = e.exp(rest), less_one = e.expm1(where(large, 0, x));
    const Value half = times(0.5, power), inverse = div(number(0.5), power);
    const Value sine = times(0.5, add(less_one, div(less_one, plus(less_one, 1))));
    return {where(large, half, sine), where(large, half, add(half, inverse)),
            where(large, number(kExpOfLarge), 1)};
  }

  /// The arc tangent of numbers from 0 to 1, by that of the difference to an angle nearby.
  ///
  /// For any angle a, atan(x) = a + atan((x cos a - sin a) / (cos a + x sin a)). A rational
  /// function gives one that is within 0.005, so that the series of what is left ends after three
  /// terms in either dtype; as this holds for all x around, derivatives are as exact.
  Value small_angle(const Value &x) const {
    const Value near = e.stop_gradient(div(x, add(number(1), mul(number(0.28125), square(x)))));
    const Value cosine = e.cos(near), sine = e.sin(near);
    const Value rest = div(sub(mul(x, cosine), sine), add(cosine, mul(x, sine)));
    const Value squared = square(rest);
    const Value series =
        sub(number(1), mul(squared, sub(number(1.0 / 3), div(squared, number(5)))));
    return add(near, mul(rest, series));
  }

  Value atan(const Value &x) const {
    const Value below = e.signbit(x); // so that -0.0 gives itself
    const Value size = where(below, neg(x), x), steep = greater(size, 1);
    Value angle = small_angle(where(steep, div(number(1), where(steep, size, 1)), size));
    angle = where(steep, sub(number(std::numbers::pi / 2), angle), angle);
    return where(below, neg(angle), angle);
  }

  Value atan2(const Value &y, const Value &x) const {
    const Value height = abs(y), width = abs(x), steep = e.greater(height, width);
    const Value below = where(steep, width, height), above = where(steep, height, width);
    const Value both_zero = equal(add(height, width), 0);
    const Value both_infinite = both(equal(height, kInfinity), equal(width, kInfinity));
    const Value ratio = div(below, where(either(both_zero, both_infinite), 1, above));
    Value angle = small_angle(where(both_infinite, 1, ratio));
    angle = where(steep, sub(number(std::numbers::pi / 2), angle), angle);
    angle = where(e.signbit(x), sub(number(std::numbers::pi), angle), angle);
    return where(e.signbit(y), neg(angle), angle);
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();

  E &e;
  DType dtype;

private:
  static constexpr double kLarge = 700;
  static constexpr double kExpOfLarge = 1.0142320547350045e304;
};

} // namespace weft::planar
