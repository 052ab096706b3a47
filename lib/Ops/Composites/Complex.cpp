// Functions of complex numbers made of ops: parts, angles, and inverse functions with the branch
// cuts of Kahan 1987.
#include "Ops/Composites/Composites.h"
#include "Ops/Composites/OfComplex.h"

#include <limits>
#include <numbers>

namespace weft::composites {

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Zeros shaped like that, also where it is infinite or NaN.
static Tensor zeros_beside(const Tensor &x) { return cast(x != x, x.dtype()) * 0; }

Tensor real(const Tensor &x) { return is_complex(x.dtype()) ? real_part(x) : x; }

Tensor imag(const Tensor &x) { return is_complex(x.dtype()) ? imaginary_part(x) : zeros_beside(x); }

Tensor conj(const Tensor &x) { return is_complex(x.dtype()) ? conjugate(x) : x; }

Tensor sign(const Tensor &x) {
  if (!is_complex(x.dtype())) return real_sign(x);
  const Tensor size = abs(x), none = size == 0, by = select(none, 1, size);
  return complex(select(none, 0, real_part(x) / by), select(none, 0, imaginary_part(x) / by));
}

Tensor angle(const Tensor &x) {
  if (is_complex(x.dtype())) return weft::atan2(imaginary_part(x), real_part(x));
  return weft::atan2(zeros_beside(x), x);
}

namespace {

Tensor times_i(const Tensor &z) { return complex(-imaginary_part(z), real_part(z)); }
Tensor over_i(const Tensor &z) { return complex(imaginary_part(z), -real_part(z)); }

/// The roots of 1 - z and 1 + z, where zeros keep their signs.
struct Roots {
  explicit Roots(const Tensor &z)
      : minus(sqrt(complex(1 - real_part(z), -imaginary_part(z)))),
        plus(sqrt(complex(1 + real_part(z), imaginary_part(z)))) {}
  Tensor minus, plus;
};

} // namespace

Tensor complex_sinh(const Tensor &z) { return over_i(sin(times_i(z))); }
Tensor complex_cosh(const Tensor &z) { return cos(times_i(z)); }
Tensor complex_tan(const Tensor &z) { return over_i(tanh(times_i(z))); }

Tensor complex_asin(const Tensor &z) {
  const Roots roots(z);
  const Tensor a = real_part(roots.minus), b = imaginary_part(roots.minus),
               c = real_part(roots.plus), d = imaginary_part(roots.plus);
  return complex(weft::atan2(real_part(z), a * c - b * d), weft::asinh(a * d - b * c));
}

Tensor complex_acos(const Tensor &z) {
  const Roots roots(z);
  const Tensor a = real_part(roots.minus), b = imaginary_part(roots.minus),
               c = real_part(roots.plus), d = imaginary_part(roots.plus);
  return complex(2 * weft::atan2(a, c), weft::asinh(c * b - d * a));
}

Tensor complex_asinh(const Tensor &z) { return over_i(complex_asin(times_i(z))); }

Tensor complex_acosh(const Tensor &z) {
  const Tensor minus = sqrt(complex(real_part(z) - 1, imaginary_part(z)));
  const Tensor plus = sqrt(complex(real_part(z) + 1, imaginary_part(z)));
  const Tensor a = real_part(minus), b = imaginary_part(minus), c = real_part(plus),
               d = imaginary_part(plus);
  return complex(weft::asinh(a * c + b * d), 2 * weft::atan2(b, c));
}

Tensor complex_atanh(const Tensor &z) {
  const Tensor x = abs(real_part(z)), y = imaginary_part(z);
  const Tensor below = square(1 - x) + square(y);
  // Of large numbers x / |z|^2, whose square overflows, and a right angle.
  const Tensor size = maximum(x, abs(y)), large = size > 1e15, endless = size == kInfinity;
  const Tensor unit = select(large & !endless, size, 1);
  const Tensor u = select(large & !endless, x, 1) / unit, v = select(large & !endless, y, 0) / unit;
  const Tensor far = select(endless, 0, u / (unit * (square(u) + square(v))));
  const Tensor near = log1p(4 * x / select(large, 1, below)) / 4;
  const Tensor re = select(large, far, near);
  const Tensor turn = weft::atan2(2 * y, (1 - x) * (1 + x) - square(y));
  const Tensor im = select(large, weft::copysign(std::numbers::pi, y), turn) / 2;
  const Tensor left = signbit(real_part(z));
  return complex(select(left, -re, re), im);
}

Tensor complex_atan(const Tensor &z) { return over_i(complex_atanh(times_i(z))); }

} // namespace weft::composites
