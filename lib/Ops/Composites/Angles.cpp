// Inverse trigonometric and hyperbolic functions, made of ops: exact to a few units in the last
// place in either dtype, with derivatives that are as exact.
#include "Ops/Composites/Composites.h"

#include <limits>
#include <numbers>

namespace weft::composites {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// The arc tangent of numbers from 0 to 1, by that of the difference to an angle nearby.
///
/// For any angle a, atan(x) = a + atan((x cos a - sin a) / (cos a + x sin a)). A rational function
/// gives one that is within 0.005, so that the series of what is left ends after three terms in
/// either dtype; as this holds for all x around, derivatives are as exact.
Tensor small_angle(const Tensor &x) {
  const Tensor near = stop_gradient(x / (1 + 0.28125 * square(x)));
  const Tensor cosine = cos(near), sine = sin(near);
  const Tensor rest = (x * cosine - sine) / (cosine + x * sine);
  const Tensor squared = square(rest);
  return near + rest * (1 - squared * (1.0 / 3 - squared / 5));
}

/// sinh(x / 2), which does not overflow where sinh(x) does not.
Tensor half_sinh(const Tensor &x) {
  const Tensor half = x / 2;
  return (expm1(half) - expm1(-half)) / 2;
}

} // namespace

Tensor atan(const Tensor &x) {
  const Tensor below = signbit(x); // so that -0.0 gives itself
  const Tensor size = select(below, -x, x), steep = size > 1;
  Tensor angle = small_angle(select(steep, 1 / select(steep, size, 1), size));
  angle = select(steep, std::numbers::pi / 2 - angle, angle);
  return select(below, -angle, angle);
}

Tensor atan2(const Tensor &y, const Tensor &x) {
  const Tensor height = abs(y), width = abs(x), steep = height > width;
  const Tensor less = select(steep, width, height), more = select(steep, height, width);
  const Tensor both_zero = height + width == 0;
  const Tensor both_infinite = (height == kInfinity) & (width == kInfinity);
  const Tensor ratio = less / select(both_zero | both_infinite, 1, more);
  Tensor angle = small_angle(select(both_infinite, 1, ratio));
  angle = select(steep, std::numbers::pi / 2 - angle, angle);
  angle = select(signbit(x), std::numbers::pi - angle, angle);
  return select(signbit(y), -angle, angle);
}

Tensor sinh(const Tensor &x) {
  const Tensor half = x / 2;
  return half_sinh(x) * (exp(half) + exp(-half)); // twice cosh(x / 2)
}

Tensor cosh(const Tensor &x) {
  const Tensor sine = half_sinh(x);
  return 1 + 2 * sine * sine;
}

Tensor asinh(const Tensor &x) {
  const Tensor small = abs(x) < 1, near = select(small, x, 0);
  const Tensor inside = weft::atanh(near / sqrt(1 + square(near)));
  const Tensor size = select(small, 1, abs(x));
  const Tensor rest = log1p(sqrt(1 + square(1 / size)));
  return select(small, inside, sign(x) * (log(size) + rest));
}

Tensor acosh(const Tensor &x) {
  const Tensor large = x > 2, near = select(large, 2, x) - 1;
  const Tensor inside = log1p(near + sqrt(near) * sqrt(near + 2));
  const Tensor far = select(large, x, 2);
  const Tensor unit = sqrt(1 - square(1 / far));
  return select(large, log(far) + log1p(unit), inside);
}

} // namespace weft::composites
