// Argmax along one axis: the one entry behind eager and compiled code.
#pragma once

#include "Kernels/Lines.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// Of each line of `x`, of i32, i64, f32 or f64, the first index of the largest element, where a
/// NaN is larger than every number; `indices` is (outer, inner). There is one right answer,
/// whatever the number of threads or the CPU level. Of lines without elements nothing is written.
void argmax(DType dtype, const Lines &lines, const void *x, std::int64_t *indices) noexcept;

} // namespace weft::kernels

// The same for compiled code, one symbol per dtype. `numbers` are outer, size, inner.
#define WEFT_ARGMAX_ENTRY(Type, Name)                                                              \
  extern "C" void weft_rt_argmax_##Name(const std::int64_t *numbers, const Type *x,                \
                                        std::int64_t *indices);
WEFT_ARGMAX_ENTRY(float, f32)
WEFT_ARGMAX_ENTRY(double, f64)
WEFT_ARGMAX_ENTRY(std::int32_t, i32)
WEFT_ARGMAX_ENTRY(std::int64_t, i64)
#undef WEFT_ARGMAX_ENTRY
