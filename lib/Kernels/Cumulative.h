// Cumulative ops along one axis: the one entry behind eager and compiled code.
#pragma once

#include "Kernels/Lines.h"

#include <weft/detail/opcode.h>
#include <weft/dtype.h>

#include <cstdint>
#include <span>

namespace weft::kernels {

/// A call of a cumulative op of a dtype that it admits.
struct CumulativeCall {
  OpCode op;
  DType dtype;
  int cost;           ///< of a step, as its record says
  std::int64_t flags; ///< a sum of CumulativeFlags
  Lines lines;        ///< of every operand and the result
};

/// Computes `result`, which overlaps no operand. Every line is one chain of steps, so that the bits
/// do not depend on the number of threads.
void cumulative(const CumulativeCall &call, std::span<const void *const> operands,
                void *result) noexcept;

} // namespace weft::kernels

// The same for compiled code: one symbol per op and dtype, weft_rt_cumsum_f32(numbers, operand..,
// result), generated from the records. `numbers` are outer, size, inner, flags.
