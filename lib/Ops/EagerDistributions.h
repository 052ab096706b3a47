// Distributions that are computed at once: all steps on one part of a tensor, then on the next, by
// the kernels of the ops that a trace would record, so the bits are the same.
#pragma once

#include <weft/size.h>

namespace weft::eager {

/// Whether a draw of that size is to be computed at once: nobody records it, and there may be
/// memory for it.
bool in_one_pass(const Sizes &sizes);

/// minimum(offset + unit * scale, last) of uniform numbers of a floating dtype.
Tensor uniform_in_one_pass(const Tensor &state, const Shape &shape, DType dtype, double offset,
                           double scale, double last);

/// Normal numbers from two streams, by Box and Muller.
Tensor normal_in_one_pass(const Tensor &state, const Shape &shape, DType dtype, double mean,
                          double stddev);

/// The integers low + floor(unit * width) of an integer dtype.
Tensor randint_in_one_pass(const Tensor &state, const Shape &shape, std::int64_t low,
                           std::int64_t width, DType dtype);

} // namespace weft::eager
