// Inverse trigonometric and hyperbolic functions, made of ops: exact to a few units in the last
// place in either dtype, with derivatives that are as exact.
#include "Complex/Real.h"
#include "Ops/Composites/Composites.h"
#include "Ops/Composites/OfComplex.h"

namespace weft::composites {

namespace {

/// The emitter of formulas that calls ops.
class Calls : public EmitterOps<Calls, Tensor> {
public:
  Tensor emit(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
    return dispatch(op, operands, attrs);
  }
  Tensor scalar(double value, DType dtype) { return Operand(value).materialize(dtype); }
};

/// sinh(x / 2), which does not overflow where sinh(x) does not.
Tensor half_sinh(const Tensor &x) {
  const Tensor half = x / 2;
  return (expm1(half) - expm1(-half)) / 2;
}

} // namespace

Tensor atan(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_atan(x);
  Calls calls;
  return planar::Real<Calls>(calls, x.dtype()).atan(x);
}

Tensor atan2(const Tensor &y, const Tensor &x) {
  Calls calls;
  return planar::Real<Calls>(calls, x.dtype()).atan2(y, x);
}

Tensor tan(const Tensor &x) { return is_complex(x.dtype()) ? complex_tan(x) : sin(x) / cos(x); }

Tensor asin(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_asin(x);
  return weft::atan(x / sqrt((1 - x) * (1 + x)));
}

Tensor acos(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_acos(x);
  return weft::atan(sqrt((1 - x) / (1 + x))) * 2;
}

Tensor atanh(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_atanh(x);
  return (log1p(x) - log1p(-x)) / 2;
}

Tensor sinh(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_sinh(x);
  const Tensor half = x / 2;
  return half_sinh(x) * (exp(half) + exp(-half)); // twice cosh(x / 2)
}

Tensor cosh(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_cosh(x);
  const Tensor sine = half_sinh(x);
  return 1 + 2 * sine * sine;
}

Tensor asinh(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_asinh(x);
  const Tensor small = abs(x) < 1, near = select(small, x, 0);
  const Tensor inside = weft::atanh(near / sqrt(1 + square(near)));
  const Tensor size = select(small, 1, abs(x));
  const Tensor rest = log1p(sqrt(1 + square(1 / size)));
  return select(small, inside, real_sign(x) * (log(size) + rest));
}

Tensor acosh(const Tensor &x) {
  if (is_complex(x.dtype())) return complex_acosh(x);
  const Tensor large = x > 2, near = select(large, 2, x) - 1;
  const Tensor inside = log1p(near + sqrt(near) * sqrt(near + 2));
  const Tensor far = select(large, x, 2);
  const Tensor unit = sqrt(1 - square(1 / far));
  return select(large, log(far) + log1p(unit), inside);
}

} // namespace weft::composites
