// The quantile function of the normal distribution around its middle, as a quotient of polynomials.
#include "Random/Source.h"

#include <span>

#include <weft/ops.h>

namespace weft::random::detail {

namespace {

/// The value at x of the polynomial with these coefficients, the highest power's first.
Tensor polynomial(const Tensor &x, std::span<const double> coefficients) {
  Tensor value = x * coefficients[0] + coefficients[1];
  for (const double coefficient : coefficients.subspan(2)) value = value * x + coefficient;
  return value;
}

/// The numerators and denominators in the middle, where |q| <= 0.425, and beside it.
struct Approximation {
  std::span<const double> middle_above, middle_below, side_above, side_below;
};

constexpr double kMiddleAbove7[] = {59.109374720, 159.29113202, 50.434271938, 3.3871327179};
constexpr double kMiddleBelow7[] = {67.187563600, 78.757757664, 17.895169469, 1};
constexpr double kSideAbove7[] = {0.17023821103, 1.3067284816, 2.7568153900, 1.4234372777};
constexpr double kSideBelow7[] = {0.12021132975, 0.73700164250, 1};

constexpr double kMiddleAbove16[] = {
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.387132872796366608};
constexpr double kMiddleBelow16[] = {
    5226.495278852545925,  28729.085735721942674, 39307.89580009271061,  21213.794301586595867,
    5394.1960214247511077, 687.1870074920579083,  42.313330701600911252, 1};
constexpr double kSideAbove16[] = {7.7454501427834140764e-4, .0227238449892691845833,
                                   .24178072517745061177,    1.27045825245236838258,
                                   3.64784832476320460504,   5.7694972214606914055,
                                   4.6303378461565452959,    1.42343711074968357734};
constexpr double kSideBelow16[] = {1.05075007164441684324e-9, 5.475938084995344946e-4,
                                   .0151986665636164571966,   .14810397642748007459,
                                   .68976733498510000455,     1.6763848301838038494,
                                   2.05319162663775882187,    1};

constexpr Approximation k7Digits{kMiddleAbove7, kMiddleBelow7, kSideAbove7, kSideBelow7};
constexpr Approximation k16Digits{kMiddleAbove16, kMiddleBelow16, kSideAbove16, kSideBelow16};

} // namespace

Tensor normal_quantile(const Tensor &q) {
  const Approximation &fit = q.dtype() == DType::f32 ? k7Digits : k16Digits;
  const Tensor r = 0.180625 - q * q;
  const Tensor middle = q * (polynomial(r, fit.middle_above) / polynomial(r, fit.middle_below));
  const Tensor s = sqrt(negate(log(0.5 - abs(q)))) - 1.6;
  const Tensor side = sign(q) * (polynomial(s, fit.side_above) / polynomial(s, fit.side_below));
  return select(abs(q) <= 0.425, middle, side);
}

} // namespace weft::random::detail
