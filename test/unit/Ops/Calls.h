// Calls of every op for every dtype its record admits, built from the samples of the record.
#pragma once

#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <gtest/gtest.h>
#include <weft/tensor.h>

namespace weft::test {

/// A valid call, on eager operands.
struct Call {
  std::string name; ///< "add(5x1; 1x7 | ) f32(5, 1) f32(1, 7)"
  OpCode op;
  std::vector<Tensor> operands;
  Attrs attrs;
  std::size_t sample; ///< of the record, by its number
};

/// Calls of an op: of rank 0, without elements, of odd and even sizes, with operands that broadcast
/// and views that are not contiguous, on NaN, infinities, -0 and denormal numbers. None for an
/// effect.
std::vector<Call> calls_of(const OpInfo &info);

/// Whether types and all bits of the elements are equal, NaNs counting as one value; and if not,
/// the first element that differs.
testing::AssertionResult same_bits(const Tensor &expected, const Tensor &actual);

} // namespace weft::test
