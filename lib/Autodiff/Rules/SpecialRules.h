// Functions that the generated rules of special functions call: slopes whose terms cancel, and the
// refusal of those that nothing is known of.
#pragma once

#include <limits>

#include "Autodiff/Rules/ElementwiseRules.h"

namespace weft::autodiff::rules {

/// Of an operand by which no derivative is known.
template <class E, class Call>
typename E::Value no_derivative(E &, Call &call, std::size_t i) {
  const OpInfo &info = op_info(call.op());
  raise(ErrorKind::state, std::string(info.name) + ": there is no derivative by " +
                              std::string(info.operands[i].name) +
                              "; hand over stop_gradient of it if that is to count as zero");
}

/// c[0] + c[1] x + ...
template <class E>
typename E::Value polynomial(E &e, const typename E::Value &x,
                             std::initializer_list<double> coefficients) {
  const DType dtype = e.type(x).dtype;
  typename E::Value sum = e.scalar(*(coefficients.end() - 1), dtype);
  for (const double *c = coefficients.end() - 1; c-- != coefficients.begin();)
    sum = e.add(e.multiply(sum, x), e.scalar(*c, dtype));
  return sum;
}

/// Of `erfcx`: 2 x y - 2 / sqrt(pi). Far out both are nearly the same: it is -y / x times a series.
template <class E, class Call>
typename E::Value erfcx_slope(E &e, Call &, std::size_t, const typename E::Value &x,
                              const typename E::Value &y) {
  const auto number = [&](double value) { return e.scalar(value, e.type(x).dtype); };
  const auto direct =
      e.subtract(e.multiply(e.multiply(x, number(2)), y), number(1.1283791670955126));
  const auto far = e.maximum(x, number(20));
  const auto inverse = e.divide(number(-1), far);
  const auto series =
      polynomial(e, rules::squared(e, inverse), {1, -1, 2.5, -9.25, 44.125, -255.0625, 1725.15625});
  return e.select(e.greater(x, number(20)), e.multiply(e.multiply(y, inverse), series), direct);
}

/// Of `asinh`: the root of 1 + x^2, of real numbers without overflow of the square.
template <class E, class Call>
typename E::Value asinh_slope(E &e, Call &, std::size_t, const typename E::Value &x) {
  const auto one = e.scalar(1, e.type(x).dtype);
  if (!is_complex(e.type(x).dtype)) return e.hypot(one, x);
  return e.sqrt(e.add(one, rules::squared(e, x)));
}

/// Of `sinc`: (cos(pi x) - y) / x, around 0 the series of that.
template <class E, class Call>
typename E::Value sinc_slope(E &e, Call &, std::size_t, const typename E::Value &x,
                             const typename E::Value &y) {
  const auto number = [&](double value) { return e.scalar(value, e.type(x).dtype); };
  const auto small = e.less(e.abs(x), number(0.25));
  const auto series = polynomial(e, rules::squared(e, x),
                                 {-3.2898681336964528, 3.246969701133414, -1.144510944732505,
                                  0.20918278254123832, -0.023460810354558225, 0.001781145516372851,
                                  -9.7662231263189277e-5, 4.0499478466192413e-6});
  const auto divisor = e.select(small, number(1), x);
  const auto direct = e.divide(e.subtract(e.cospi(x), y), divisor);
  return e.select(small, e.multiply(x, series), direct);
}

/// Of `log_ndtr`: the density over the distribution. The quotient of `erfcx` is exact in the lower
/// tail and has no slope where erfcx is infinite; above 0 the difference of logarithms is exact.
template <class E, class Call>
typename E::Value log_ndtr_slope(E &e, Call &, std::size_t, const typename E::Value &x,
                                 const typename E::Value &y) {
  const auto number = [&](double value) { return e.scalar(value, e.type(x).dtype); };
  const auto positive = e.greater(x, number(0));
  const auto low = e.select(positive, number(0), x), high = e.select(positive, x, number(0));
  // sqrt(2 / pi), sqrt(1 / 2) and 1 / sqrt(2 pi).
  const auto lower =
      e.divide(number(0.79788456080286541), e.erfcx(e.multiply(number(-0.70710678118654757), low)));
  const auto upper = e.multiply(number(0.3989422804014327),
                                e.exp(e.subtract(e.multiply(number(-0.5), rules::squared(e, high)),
                                                 e.select(positive, y, number(0)))));
  return e.select(positive, upper, lower);
}

/// i1(x) / x, of which the derivatives cancel near 0, where it is a series.
template <class E>
typename E::Value bessel_series(E &e, const typename E::Value &x) {
  return polynomial(e, rules::squared(e, x),
                    {0.5, 0.0625, 0.0026041666666666665, 5.425347222222222e-5, 6.781684027777778e-7,
                     5.651403356481481e-9, 3.363930569334215e-11, 1.5017547184527746e-13});
}

/// Of `i1`: i0(x) - y / x; where y is infinite the former alone says so.
template <class E, class Call>
typename E::Value i1_over_x(E &e, Call &, std::size_t, const typename E::Value &x,
                            const typename E::Value &y) {
  const auto number = [&](double value) { return e.scalar(value, e.type(x).dtype); };
  const auto small = e.less(e.abs(x), number(0.5));
  const auto infinite = e.equal(e.abs(y), number(std::numeric_limits<double>::infinity()));
  const auto quotient = e.divide(e.select(infinite, number(0), y), e.select(small, number(1), x));
  return e.select(small, bessel_series(e, e.select(small, x, number(0))), quotient);
}

/// Of `i1e`: the same times exp(-|x|).
template <class E, class Call>
typename E::Value i1e_over_x(E &e, Call &, std::size_t, const typename E::Value &x,
                             const typename E::Value &y) {
  const auto number = [&](double value) { return e.scalar(value, e.type(x).dtype); };
  const auto small = e.less(e.abs(x), number(0.5));
  const auto near = e.select(small, x, number(0));
  const auto series = e.multiply(e.exp(e.negate(e.abs(near))), bessel_series(e, near));
  return e.select(small, series, e.divide(y, e.select(small, number(1), x)));
}

/// x / length, 0 where the length is.
template <class E, class Call>
typename E::Value quotient_of_length(E &e, Call &, std::size_t, const typename E::Value &x,
                                     const typename E::Value &length) {
  return quotient_or(e, x, length, 0);
}

/// power * log(x), 0 where the power is.
template <class E>
typename E::Value power_in_logarithm(E &e, const typename E::Value &power,
                                     const typename E::Value &logarithm) {
  const auto zero = e.scalar(0, e.type(power).dtype);
  return e.select(e.equal(power, zero), zero, e.multiply(power, logarithm));
}

/// Of `gammainc` by x: x^(a - 1) exp(-x) / gamma(a).
template <class E, class Call>
typename E::Value gammainc_slope(E &e, Call &, std::size_t, const typename E::Value &a,
                                 const typename E::Value &x) {
  const auto power = e.subtract(a, e.scalar(1, e.type(a).dtype));
  const auto logarithm = power_in_logarithm(e, power, e.log(x));
  return e.exp(e.subtract(e.subtract(logarithm, x), e.lgamma(a)));
}

/// Of `betainc` by x: x^(a - 1) (1 - x)^(b - 1) / beta(a, b).
template <class E, class Call>
typename E::Value betainc_slope(E &e, Call &, std::size_t, const typename E::Value &a,
                                const typename E::Value &b, const typename E::Value &x) {
  const auto one = e.scalar(1, e.type(a).dtype);
  const auto rising = power_in_logarithm(e, e.subtract(a, one), e.log(x));
  const auto falling = power_in_logarithm(e, e.subtract(b, one), e.log1p(e.negate(x)));
  return e.exp(e.subtract(e.add(rising, falling), e.betaln(a, b)));
}

} // namespace weft::autodiff::rules
