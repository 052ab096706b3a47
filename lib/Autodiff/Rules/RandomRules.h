// Functions that the generated rules of random numbers call.
#pragma once

#include "Autodiff/Rules/Calls.h"

namespace weft::autodiff::rules {

/// The derivative of the logarithm y of a number x of a gamma distribution by its parameter a, at a
/// fixed share P of the distribution: -(dP/da) / (x dP/dx). (Figurnov, Mohamed and Mnih, "Implicit
/// reparameterization gradients", 2018.) Of small x it is what the series of P begins with; of
/// large a, where P is a difference of large numbers, Wilson and Hilferty's: the third root z of x
/// / a is nearly normal. In f64, whatever the dtype is.
template <class E, class Call>
typename E::Value log_gamma_slope(E &e, Call &, std::size_t, const typename E::Value &parameter,
                                  const typename E::Value &logarithm) {
  using Value = typename E::Value;
  const DType dtype = e.type(parameter).dtype;
  const auto number = [&](double value) { return e.scalar(value, DType::f64); };
  const Value a = e.cast(parameter, DType::f64), y = e.cast(logarithm, DType::f64), one = number(1);
  const Value large = e.greater(a, number(1e6)), small = e.less(y, number(-37));
  const Value ordinary = e.select(large, one, a), x = e.exp(e.select(small, number(0), y));
  const Value density =
      e.exp(e.subtract(e.subtract(e.multiply(ordinary, e.log(x)), x), e.lgamma(ordinary)));
  const Value of_share = e.negate(e.divide(e.gammainc_da(ordinary, x), density));
  const Value of_small = e.divide(e.subtract(e.add(e.digamma(a), e.divide(one, a)), y), a);
  const Value ninth = e.divide(one, e.multiply(number(9), a));
  const Value z = e.exp(e.divide(e.subtract(y, e.log(a)), number(3)));
  const Value above = e.divide(e.add(e.subtract(z, one), ninth), number(2));
  const Value of_z = e.divide(e.subtract(ninth, above), a);
  const Value of_large = e.add(e.divide(one, a), e.divide(e.multiply(number(3), of_z), z));
  return e.cast(e.select(large, of_large, e.select(small, of_small, of_share)), dtype);
}

} // namespace weft::autodiff::rules
