// Functions that have other formulas where numbers are complex.
#pragma once

#include <weft/tensor.h>

namespace weft::composites {

Tensor complex_sinh(const Tensor &z);
Tensor complex_cosh(const Tensor &z);
Tensor complex_tan(const Tensor &z);
Tensor complex_asin(const Tensor &z);
Tensor complex_acos(const Tensor &z);
Tensor complex_atan(const Tensor &z);
Tensor complex_asinh(const Tensor &z);
Tensor complex_acosh(const Tensor &z);
Tensor complex_atanh(const Tensor &z);

} // namespace weft::composites
