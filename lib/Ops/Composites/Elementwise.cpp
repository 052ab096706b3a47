// Elementwise functions made of ops: whole numbers, what is no number, quotients, logarithms and
// powers.
#include "Ops/Composites/Composites.h"

#include <cmath>
#include <limits>

#include <weft/dtype_info.h>

namespace weft::composites {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Floating numbers without their fractions, of two that are as near the even one.
Tensor half_even(const Tensor &x) {
  const Tensor low = floor(x), over = x - low;
  const Tensor half = (over == 0.5) & (remainder(low, 2) == 1);
  const Tensor whole = select((over > 0.5) | half, low + 1, low);
  const Tensor zero = stop_gradient(x) * 0;
  return select(whole == 0, zero, whole); // which keeps the sign of a zero
}

/// Of integers, by way of f64: exact for all of 32 bits, and put right for those of 64. By 0 it is
/// 0, as the remainder.
Tensor floor_divide_integers(const Tensor &x, const Tensor &y) {
  const DType dtype = x.dtype();
  const Tensor divisor = cast(y, f64);
  const Tensor quotient = cast(x, f64) / divisor;
  if (item_size(dtype) < 8) {
    const Tensor whole = select(y == 0, 0, cast(floor(quotient), dtype));
    // The quotient of the least number by -1 wraps, as in a negation; a cast would end at the
    // largest.
    return is_unsigned(dtype) ? whole : select(y == -1, negate(x), whole);
  }
  // What the nearest quotient leaves is less than a few y, of which the whole ones are exact. It
  // has a sign in any case.
  const Tensor nearest = cast(floor(quotient + 0.5), dtype);
  const Tensor left = cast(x - nearest * y, i64);
  // In f64, as they are up to twice the largest number apart.
  const Tensor whole = cast(left, f64) - cast(remainder(left, cast(y, i64)), f64);
  const Tensor more = cast(cast(floor(whole / divisor + 0.5), i64), dtype);
  Tensor result = select(y == 0, 0, nearest + more);
  if (!is_unsigned(dtype)) return result;
  return select(y >= std::uint64_t{1} << 63, cast(x >= y, dtype),
                result); // which i64 does not hold
}

/// Of floating numbers, by what division of their sizes leaves: no step is larger than they are.
Tensor floor_divide_floats(const Tensor &x, const Tensor &y) {
  const Tensor exact = x / y, size = abs(x), by = abs(y), left = remainder(size, by);
  const Tensor times = (size - left) / by; // a whole number, but for roundings
  const Tensor more = select(left == 0, times, times + 1);
  const Tensor of_sign = select((x < 0) ^ (y < 0), -more, times), low = floor(of_sign);
  const Tensor result = select(of_sign - low > 0.5, low + 1, low);
  // Zeros have the sign of the quotient, and of infinities it is that itself.
  const Tensor rounded = select(result == 0, exact * 0, result);
  const Tensor is_quotient = (y == 0) | (size == kInfinity) | (by == kInfinity);
  return select(is_quotient, exact, rounded);
}

} // namespace

Tensor round(const Tensor &x, std::int64_t decimals) {
  if (is_complex(x.dtype()))
    return complex(round(real_part(x), decimals), round(imaginary_part(x), decimals));
  const double tens = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  if (!is_floating(x.dtype())) {
    if (decimals >= 0 || x.dtype() == DType::boolean) return x;
    return cast(half_even(cast(x, f64) / tens) * tens, x.dtype());
  }
  if (decimals == 0) return half_even(x);
  return decimals > 0 ? half_even(x * tens) / tens : half_even(x / tens) * tens;
}

Tensor trunc(const Tensor &x) {
  if (!is_floating(x.dtype())) return x;
  return select(x < 0, ceil(x), floor(x));
}

Tensor isinf(const Tensor &x) {
  if (is_complex(x.dtype())) return isinf(real_part(x)) | isinf(imaginary_part(x));
  return is_floating(x.dtype()) ? abs(x) == kInfinity : x != x;
}

Tensor isfinite(const Tensor &x) {
  if (is_complex(x.dtype())) return isfinite(real_part(x)) & isfinite(imaginary_part(x));
  return is_floating(x.dtype()) ? abs(x) < kInfinity : x == x;
}

Tensor nan_to_num(const Tensor &x, const NanToNumOptions &options) {
  if (!is_floating(x.dtype())) return x;
  const double most = finfo(x.dtype()).max;
  Tensor kept = select(x != x, options.nan, x);
  kept = select(kept == kInfinity, options.posinf.value_or(most), kept);
  return select(kept == -kInfinity, options.neginf.value_or(-most), kept);
}

Tensor floor_divide(const Tensor &x, const Tensor &y) {
  return is_integer(x.dtype()) ? floor_divide_integers(x, y)
                               : floor_divide_floats(stop_gradient(x), stop_gradient(y));
}

Tensor logaddexp(const Tensor &x, const Tensor &y) {
  // Of infinite numbers that are the same, the difference is 0.
  const Tensor away = select(x == y, 0, abs(x - y));
  return maximum(x, y) + log1p(exp(-away));
}

Tensor xlogy(const Tensor &x, const Tensor &y) {
  // The logarithm of 1 where it is not wanted, so that its slope is a number.
  const Tensor none = (x == 0) & (y == y);
  return select(none, 0, x) * log(select(none, 1, y));
}

Tensor xlog1py(const Tensor &x, const Tensor &y) {
  const Tensor none = (x == 0) & (y == y);
  return select(none, 0, x) * log1p(select(none, 0, y));
}

Tensor polygamma(std::int64_t n, const Tensor &x) {
  if (n < 0)
    raise(ErrorKind::value,
          "polygamma: the order must not be negative, but is " + std::to_string(n));
  if (n == 0) return digamma(x);
  constexpr std::int64_t most = 170; // whose factorial is a number
  if (n > most)
    raise(ErrorKind::value, "polygamma: the order is at most " + std::to_string(most) +
                                ", but is " + std::to_string(n));
  // The factorial is no number of f32 from 35 on, and the other factor is 0.
  const double order = static_cast<double>(n);
  const Tensor wide = cast(x, f64);
  return cast(zeta(order + 1, wide) * ((n % 2 == 0 ? -1 : 1) * std::tgamma(order + 1)), x.dtype());
}

Tensor entr(const Tensor &x) {
  const Tensor none = x <= 0;
  const Tensor summand = 0 - x * log(select(none, 1, x));
  return select(x < 0, -kInfinity, select(none, 0, summand));
}

Tensor logit(const Tensor &x) {
  // Beside 1/2 both logarithms are nearly the same; 2 x - 1 and 1 - x are exact there, or nearly.
  const Tensor near = (x > 0.3) & (x < 0.65), middle = select(near, x, 0.5);
  const Tensor beside = log1p((2 * middle - 1) / (1 - middle));
  return select(near, beside, log(x) - log1p(-x));
}

Tensor copysign(const Tensor &x, const Tensor &y) {
  const Tensor size = abs(x);
  return select(signbit(y), -size, size);
}

} // namespace weft::composites
