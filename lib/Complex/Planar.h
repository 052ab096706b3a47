// Arithmetic and functions of complex numbers as formulas over real ones: real and imaginary parts
// are values of their own, planes. Eager calls run the formulas on blocks of elements, the pass
// weft-expand-complex builds ops of them, so that both have the same bits.
//
// Methods: Kahan 1987 ("Branch cuts for complex elementary functions"); the logarithm near 1 as
// Hull, Fairgrieve and Tang 1994. Special values are those of C99's annex G.
#pragma once

#include <numbers>

#include "Complex/Real.h"

namespace weft::planar {

template <class Value>
struct Planes {
  Value re, im;
};

/// Formulas over f64. Numbers of c64 are given to them too, and the result is rounded once: their
/// products are exact there, and nothing overflows.
template <class E>
class Functions : public Real<E> {
public:
  using Base = Real<E>;
  using Value = typename E::Value;
  using Complex = Planes<Value>;
  using Base::abs;
  using Base::add;
  using Base::both;
  using Base::div;
  using Base::e;
  using Base::either;
  using Base::equal;
  using Base::greater;
  using Base::hyperbolic;
  using Base::is_finite;
  using Base::is_infinite;
  using Base::kExpOfShare;
  using Base::kInfinity;
  using Base::kLarge;
  using Base::kShare;
  using Base::less;
  using Base::mul;
  using Base::neg;
  using Base::no;
  using Base::number;
  using Base::plus;
  using Base::square;
  using Base::sub;
  using Base::times;
  using Base::where;
  using Base::with_sign;
  using typename Base::Hyperbolic;

  /// `narrow`: the parts are numbers of f32.
  Functions(E &emitter, bool narrow) : Base(emitter, DType::f64), narrow_(narrow) {}

  Complex multiply(const Complex &a, const Complex &b) const {
    return {sub(mul(a.re, b.re), mul(a.im, b.im)), add(mul(a.re, b.im), mul(a.im, b.re))};
  }

  /// (a conj(b)) / |b|^2, scaled by powers of two, so that no square overflows or vanishes. By a
  /// real number and by what is infinite each part by itself.
  Complex divide(const Complex &a, const Complex &b) const {
    const Value size = larger(b);
    Complex x = a, y = b;
    if (!narrow_) {
      x = scaled(a, root_of_scale(larger(a)));
      y = scaled(b, root_of_scale(size));
    }
    const Value norm = norm_of(y);
    Complex quotient = {div(add(mul(x.re, y.re), mul(x.im, y.im)), norm),
                        div(sub(mul(x.im, y.re), mul(x.re, y.im)), norm)};
    // In two steps, as both scales together may be beyond the range.
    if (!narrow_) quotient = scaled(quotient, div(root_of_scale(size), root_of_scale(larger(a))));
    const Value real = equal(b.im, 0);
    const Value endless = either(is_infinite(b.re), is_infinite(b.im));
    const Value vanishes = both(endless, both(is_finite(a.re), is_finite(a.im)));
    const auto part = [&](const Value &of_a, const Value &found) {
      const Value zero = with_sign(number(0), of_a);
      return where(real, div(of_a, b.re), where(vanishes, zero, found));
    };
    return {part(a.re, quotient.re), part(a.im, quotient.im)};
  }

  /// The distance from 0; infinite where a part is, also beside NaN.
  Value magnitude(const Complex &z) const {
    Value found;
    if (narrow_) {
      found = e.sqrt(norm_of(z));
    } else {
      const Value root = root_of_scale(larger(z)), back = div(number(1), root);
      found = mul(mul(e.sqrt(norm_of(scaled(z, root))), back), back);
    }
    return where(is_endless(z), kInfinity, found);
  }

  Complex sqrt(const Complex &z) const {
    Complex x = z;
    Value root = number(1);
    if (!narrow_) {
      root = root_of_scale(larger(z));
      x = scaled(z, root);
    }
    const Value size = where(is_endless(x), kInfinity, e.sqrt(norm_of(x)));
    Value larger_part = e.sqrt(times(0.5, add(abs(x.re), size)));
    Value smaller_part =
        where(equal(larger_part, 0), abs(x.im), div(abs(x.im), times(2, larger_part)));
    if (!narrow_) {
      larger_part = div(larger_part, root);
      smaller_part = div(smaller_part, root);
    }
    const Value left = less(z.re, 0), flat = is_infinite(z.im);
    const Value re = where(left, smaller_part, larger_part);
    const Value im = with_sign(where(left, larger_part, smaller_part), z.im);
    return {where(flat, kInfinity, re), where(flat, z.im, im)};
  }

  /// In two factors where e^x overflows and the result need not.
  Complex exp(const Complex &z) const {
    const Value large = greater(z.re, kLarge);
    const Value power = e.exp(where(large, plus(z.re, -kShare), z.re));
    const Value factor = where(large, number(kExpOfShare), 1);
    const auto part = [&](const Value &of_angle) { return mul(mul(power, of_angle), factor); };
    Complex result = {part(e.cos(z.im)), part(e.sin(z.im))};
    const Value turning = is_finite(z.im); // its angle is a number
    const Value nothing = both(equal(z.re, -kInfinity), no(turning));
    const Value all = both(equal(z.re, kInfinity), no(turning));
    result.re = where(nothing, 0, where(all, kInfinity, result.re));
    result.im = where(nothing, 0, where(equal(z.im, 0), z.im, result.im));
    return result;
  }

  Complex expm1(const Complex &z) const {
    const Complex whole = exp(z);
    const Value half = e.sin(times(0.5, z.im));
    const Value near = sub(mul(e.expm1(z.re), e.cos(z.im)), times(2, square(half)));
    const Value is_near = less(abs(z.re), 1);
    const Value found = where(is_near, near, plus(whole.re, -1));
    return {where(equal(found, 0), 0, found), whole.im}; // e^z - 1 is nowhere -0
  }

  Complex log(const Complex &z) const { return {log_of_size(z), e.atan2(z.im, z.re)}; }
  Complex log2(const Complex &z) const { return in_parts_of(std::numbers::ln2, log(z)); }
  Complex log10(const Complex &z) const { return in_parts_of(std::numbers::ln10, log(z)); }

  Complex log1p(const Complex &z) const {
    const Complex one = {plus(z.re, 1), z.im};
    const Value norm = norm_of(one);
    // |1 + z|^2 - 1.
    const Value beyond = add(mul(z.re, plus(z.re, 2)), square(z.im));
    const Value near = times(0.5, e.log1p(beyond));
    return {where(is_near_one(norm), near, log_of_size(one)), e.atan2(one.im, one.re)};
  }

  Complex sinh(const Complex &z) const {
    const Hyperbolic x = hyperbolic(z.re);
    const Value re = mul(mul(x.sinh, e.cos(z.im)), x.scale);
    const Value im = mul(mul(x.cosh, e.sin(z.im)), x.scale);
    const Value keeps = both(no(is_finite(z.im)), either(equal(z.re, 0), is_infinite(z.re)));
    return {where(keeps, z.re, re), where(equal(z.im, 0), z.im, im)};
  }

  Complex cosh(const Complex &z) const {
    const Hyperbolic x = hyperbolic(z.re);
    const Value re = mul(mul(x.cosh, e.cos(z.im)), x.scale);
    const Value im = mul(mul(x.sinh, e.sin(z.im)), x.scale);
    const Value turning = is_finite(z.im);
    const Value grows = both(is_infinite(z.re), no(turning));
    const Value keeps = both(equal(z.re, 0), no(turning));
    const Value one = number(1);
    const Value zero = with_sign(number(0), mul(with_sign(one, z.re), with_sign(one, z.im)));
    return {where(grows, kInfinity, re), where(equal(z.im, 0), zero, where(keeps, z.re, im))};
  }

  Complex sin(const Complex &z) const { return over_i(sinh(times_i(z))); }
  Complex cos(const Complex &z) const { return cosh(times_i(z)); }

  Complex tanh(const Complex &z) const {
    constexpr double kOne = 22; // where tanh is 1, but for what rounds away
    const Value size = abs(z.re), large = greater(size, kOne);
    const Value sine = e.sin(z.im), cosine = e.cos(z.im);
    const Value tangent = div(sine, cosine);
    const Value beta = plus(square(tangent), 1);
    const Value s = e.sinh(where(large, 0, z.re));
    const Value rho = e.sqrt(plus(square(s), 1));
    const Value below = plus(mul(beta, square(s)), 1);
    Complex result = {div(mul(beta, mul(rho, s)), below), div(tangent, below)};
    const Value endless = is_infinite(z.re);
    // Of large numbers 4 sin(y) cos(y) / e^(2 |x|), and NaN where there is no angle.
    const Value decay = e.exp(times(-2, size));
    const Value far = mul(times(4, mul(sine, cosine)), decay);
    const Value unit = add(with_sign(number(1), z.re), where(endless, 0, sub(z.im, z.im)));
    result.re = where(large, unit, result.re);
    result.im = where(large, far, result.im);
    result.re = where(equal(z.re, 0), z.re, result.re);
    // Of an infinite one C99 has the sign of sin(2 y), the array API standard that of y.
    result.im = where(endless, with_sign(number(0), z.im), result.im);
    result.im = where(equal(z.im, 0), z.im, result.im);
    return result;
  }

  Complex tan(const Complex &z) const { return over_i(tanh(times_i(z))); }

  // Inverse functions with the branch cuts of Kahan 1987.

  // Of what is infinite, also beside NaN, the angle of the point remains; beside a NaN a part that
  // is 0 for all numbers of that line remains it.

  Complex asin(const Complex &z) const {
    const Roots roots = roots_of(z);
    const Complex &m = roots.minus, &p = roots.plus;
    const Value endless = is_endless(z);
    const Value re = e.atan2(z.re, sub(mul(m.re, p.re), mul(m.im, p.im)));
    const Value im = e.asinh(sub(mul(m.re, p.im), mul(m.im, p.re)));
    const Value angle = where(endless, e.atan2(z.re, abs(z.im)), re);
    return {where(equal(z.re, 0), z.re, angle),
            where(endless, with_sign(number(kInfinity), z.im), im)};
  }
  Complex acos(const Complex &z) const {
    const Roots roots = roots_of(z);
    const Complex &m = roots.minus, &p = roots.plus;
    const Value endless = is_endless(z);
    const Value re = times(2, e.atan2(m.re, p.re));
    const Value im = e.asinh(sub(mul(p.re, m.im), mul(p.im, m.re)));
    const Value angle = where(endless, e.atan2(abs(z.im), z.re), re);
    return {where(equal(z.re, 0), kRight, angle),
            where(endless, with_sign(number(kInfinity), neg(z.im)), im)};
  }
  Complex asinh(const Complex &z) const { return over_i(asin(times_i(z))); }

  Complex acosh(const Complex &z) const {
    const Complex m = sqrt({plus(z.re, -1), z.im}), p = sqrt({plus(z.re, 1), z.im});
    const Value endless = is_endless(z);
    const Value re = e.asinh(add(mul(m.re, p.re), mul(m.im, p.im)));
    const Value angle = where(endless, e.atan2(z.im, z.re), times(2, e.atan2(m.im, p.re)));
    return {where(endless, kInfinity, re),
            where(equal(z.re, 0), with_sign(number(kRight), z.im), angle)};
  }

  Complex atanh(const Complex &z) const {
    const Value one = number(1), x = abs(z.re), y = z.im;
    const Value below = add(square(sub(one, x)), square(y));
    // Of large numbers x / |z|^2, whose square overflows, and a right angle.
    const Value endless = is_endless(z), size = larger(z);
    const Value large = either(endless, greater(size, 1e15));
    const Value scales = both(large, no(endless)), unit = where(scales, size, 1);
    const Value u = div(where(scales, x, 1), unit), v = div(where(scales, y, 0), unit);
    const Value far = where(endless, 0, div(u, mul(unit, add(square(u), square(v)))));
    const Value near = times(0.25, e.log1p(div(times(4, x), where(large, 1, below))));
    const Value re = where(equal(x, 0), 0, where(large, far, near));
    const Value angle = e.atan2(times(2, y), sub(mul(sub(one, x), plus(x, 1)), square(y)));
    const Value right = both(large, e.equal(y, y));
    const Value im = where(right, with_sign(number(kRight), y), times(0.5, angle));
    return {where(e.signbit(z.re), neg(re), re), im};
  }
  Complex atan(const Complex &z) const { return over_i(atanh(times_i(z))); }

  /// e^(b log a), but exact for the exponents 0, 1 and 2, and 0 of 0 where b has a positive real
  /// part.
  Complex power(const Complex &a, const Complex &b) const {
    const Complex found = exp(multiply(b, log(a))), squared = multiply(a, a);
    const Value real = equal(b.im, 0);
    const Value none = both(equal(a.re, 0), equal(a.im, 0));
    const Value vanishes = both(none, greater(b.re, 0));
    const auto is = [&](double exponent) { return both(real, equal(b.re, exponent)); };
    const Value zeroth = is(0), first = is(1), second = is(2);
    const auto part = [&](const Value &of_power, const Value &of_a, const Value &of_square,
                          double one) {
      const Value other = where(second, of_square, of_power);
      return where(zeroth, one, where(first, of_a, where(vanishes, 0, other)));
    };
    return {part(found.re, a.re, squared.re, 1), part(found.im, a.im, squared.im, 0)};
  }

protected:
  const bool narrow_;

private:
  Complex times_i(const Complex &z) const { return {neg(z.im), z.re}; }
  Complex over_i(const Complex &z) const { return {z.im, neg(z.re)}; }

  /// The roots of 1 - z and 1 + z, where zeros keep their signs.
  struct Roots {
    Complex minus, plus;
  };
  Roots roots_of(const Complex &z) const {
    return {sqrt({sub(number(1), z.re), neg(z.im)}), sqrt({plus(z.re, 1), z.im})};
  }

  Value norm_of(const Complex &z) const { return add(square(z.re), square(z.im)); }
  Value larger(const Complex &z) const { return e.maximum(abs(z.re), abs(z.im)); }
  Value is_endless(const Complex &z) const { return either(is_infinite(z.re), is_infinite(z.im)); }
  Value is_near_one(const Value &norm) const { return both(greater(norm, 0.5), less(norm, 3)); }

  /// The root of a power of two that takes numbers of that size to where squares and products are
  /// within the range.
  Value root_of_scale(const Value &size) const {
    return where(greater(size, 0x1p500), 0x1p-300, where(less(size, 0x1p-500), 0x1p300, number(1)));
  }
  Complex scaled(const Complex &z, const Value &root) const {
    return {mul(mul(z.re, root), root), mul(mul(z.im, root), root)};
  }

  /// A number as a sum of two, of which the second is what rounding lost.
  struct Pair {
    Value high, low;
  };
  Pair squared(const Value &x) const {
    const Value shifted = times(0x1p27 + 1, x);
    const Value high = sub(shifted, sub(shifted, x)), low = sub(x, high);
    const Value product = square(x);
    const Value lost = add(add(sub(square(high), product), times(2, mul(high, low))), square(low));
    return {product, lost};
  }

  /// Both parts divided by a number.
  Complex in_parts_of(double unit, const Complex &z) const {
    return {div(z.re, number(unit)), div(z.im, number(unit))};
  }

  /// The logarithm of the distance from 0. Near 1 it is that of 1 + (|z|^2 - 1), in pairs of
  /// numbers where squares are not exact.
  Value log_of_size(const Complex &z) const {
    const Value first = abs(z.re), second = abs(z.im);
    const Value a = e.maximum(first, second), b = e.minimum(first, second);
    Value beyond, far;
    if (narrow_) {
      beyond = add(mul(plus(a, -1), plus(a, 1)), square(b));
      far = times(0.5, e.log(norm_of(z)));
    } else {
      const Pair large = squared(a), small = squared(b);
      const Value less_one = plus(large.high, -1);
      const Value sum = add(less_one, small.high), part = sub(sum, less_one);
      const Value lost = add(sub(less_one, sub(sum, part)), sub(small.high, part));
      beyond = add(sum, add(lost, add(large.low, small.low)));
      const Value root = root_of_scale(a);
      const Value shift =
          where(greater(a, 0x1p500), kShift, where(less(a, 0x1p-500), -kShift, number(0)));
      far = add(times(0.5, e.log(norm_of(scaled(z, root)))), shift);
    }
    const Value near = times(0.5, e.log1p(beyond));
    const Value found = where(is_near_one(norm_of(z)), near, far);
    return where(is_endless(z), kInfinity, found);
  }

  static constexpr double kShift = 600 * std::numbers::ln2;
  static constexpr double kRight = std::numbers::pi / 2;
};

} // namespace weft::planar
