// Functions of complex numbers made of ops: parts, signs and angles.
#include "Ops/Composites/Composites.h"

namespace weft::composites {

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

} // namespace weft::composites
