// Complex matrices as real ones of twice the size, for functions of linear algebra whose ops are of
// real numbers.
#pragma once

#include "Ops/Composites/Composites.h"

namespace weft::composites {

/// [[re, -im], [im, re]], which takes `stacked` columns to stacked ones. Its transposed one is that
/// of the adjoint matrix.
Tensor as_real(const Tensor &x);
/// The real parts of matrices above their imaginary parts.
Tensor stacked(const Tensor &x);
/// The complex matrices of stacked ones.
Tensor unstacked(const Tensor &x);

/// The same with [[re, -im], [im, re]] for each element: triangles are triangles, where the
/// diagonal is real.
Tensor interleaved(const Tensor &x);
/// The lower triangles, whose diagonal is real, of such matrices.
Tensor lower_of_interleaved(const Tensor &x);

} // namespace weft::composites
