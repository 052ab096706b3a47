// Elementwise functions made of ops: whole numbers, what is no number, quotients, logarithms and
// powers.
#include "Ops/Composites/Composites.h"
#include "Ops/Composites/Signs.h"

#include <cmath>
#include <limits>

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
/// the number of the dtype that is next to the quotient of floats.
Tensor floor_divide_integers(const Tensor &x, const Tensor &y) {
  const DType dtype = x.dtype();
  const auto ratio = [&](const Tensor &a) { return cast(a, f64) / cast(y, f64); };
  const auto rounded = [&](const Tensor &a) { return cast(floor(ratio(a) + 0.5), dtype); };
  // The quotient of the least number by -1 wraps, as in a negation; a cast would end at the
  // largest.
  if (dtype == i32) return select(y == -1, negate(x), cast(floor(ratio(x)), dtype));
  // What the nearest quotient leaves is less than a few y, of which the whole ones are exact.
  const Tensor nearest = rounded(x), left = x - nearest * y;
  // In f64, as they are up to twice the largest number apart.
  const Tensor whole = cast(left, f64) - cast(remainder(left, y), f64);
  return select(y == 0, nearest, nearest + rounded(whole));
}

} // namespace

Tensor round(const Tensor &x, std::int64_t decimals) {
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

Tensor isinf(const Tensor &x) { return is_floating(x.dtype()) ? abs(x) == kInfinity : x != x; }

Tensor isfinite(const Tensor &x) { return is_floating(x.dtype()) ? abs(x) < kInfinity : x == x; }

Tensor nan_to_num(const Tensor &x, const NanToNumOptions &options) {
  if (!is_floating(x.dtype())) return x;
  const double most =
      x.dtype() == f64 ? std::numeric_limits<double>::max() : std::numeric_limits<float>::max();
  Tensor kept = select(x != x, options.nan, x);
  kept = select(kept == kInfinity, options.posinf.value_or(most), kept);
  return select(kept == -kInfinity, options.neginf.value_or(-most), kept);
}

Tensor floor_divide(const Tensor &x, const Tensor &y) {
  if (is_integer(x.dtype())) return floor_divide_integers(x, y);
  const Tensor rest = remainder(x, y);
  // By an infinite number the rest of the other sign is infinite too.
  const Tensor small = (abs(y) == kInfinity) & (abs(x) < kInfinity);
  // A whole number but for what the difference and the quotient are rounded by.
  const Tensor whole = (x - rest) / y, low = floor(whole);
  const Tensor rounded = select(whole - low > 0.5, low + 1, low);
  return select(y == 0, x / y, select(small, select(rest == x, 0, -1), rounded));
}

Tensor logaddexp(const Tensor &x, const Tensor &y) {
  // Of infinite numbers that are the same, the difference is 0.
  const Tensor away = select(x == y, 0, abs(x - y));
  return maximum(x, y) + log1p(exp(-away));
}

Tensor hypot(const Tensor &x, const Tensor &y) {
  const Tensor a = abs(x), b = abs(y), most = stop_gradient(maximum(a, b));
  // Beside an infinite number NaN is one too.
  const Tensor a_infinite = a == kInfinity, infinite = a_infinite | (b == kInfinity);
  const Tensor plain = (most == 0) | infinite, unit = select(plain, 1, most);
  const Tensor squares = square(a / unit) + square(b / unit);
  const Tensor length = unit * sqrt(select(plain, 1, squares));
  return select(infinite, select(a_infinite, a, b), select(plain, maximum(a, b), length));
}

Tensor cbrt(const Tensor &x) {
  const Tensor size = abs(x), plain = (size == 0) | (size == kInfinity);
  // 1 / 3 is rounded: a step of Newton's from the power of it.
  const Tensor s = select(plain, 1, size), near = power(s, 1.0 / 3);
  return select(plain, x, sign(x) * (near - (near - s / square(near)) / 3));
}

Tensor copysign(const Tensor &x, const Tensor &y) {
  const Tensor size = abs(x);
  return select(is_negative(y), -size, size);
}

} // namespace weft::composites
