// Functions of real numbers over an emitter, for those of complex ones: what the ops lack, with the
// signs of zeros and of infinite numbers as IEEE 754 has them.
#pragma once

#include <limits>

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

  /// sinh and cosh divided by `scale`, which is e^kShare where they could overflow.
  struct Hyperbolic {
    Value sinh, cosh, scale;
  };
  Hyperbolic hyperbolic(const Value &x) const {
    const Value size = abs(x), large = greater(size, kLarge);
    // Far from 0 both are half of e^|x|, but for what rounds away, here and without the share.
    const Value rest = where(large, with_sign(plus(size, -kShare), x), x);
    return {e.sinh(rest), e.cosh(rest), where(large, number(kExpOfShare), 1)};
  }

  static constexpr double kInfinity = std::numeric_limits<double>::infinity();
  static constexpr double kLarge = 700, kShare = 650; ///< e^700 is a number, and 50 is far from 0
  static constexpr double kExpOfShare = 1.956199921370272e+282;

  E &e;
  DType dtype;
};

} // namespace weft::planar
