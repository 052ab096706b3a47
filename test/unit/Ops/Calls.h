// Calls of every op for every dtype its record admits, made from the op table: a new elementwise op
// or reduction has some without a line here.
#pragma once

#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <gtest/gtest.h>
#include <weft/tensor.h>

namespace weft::test {

/// A valid call, on eager operands.
struct Call {
  std::string name; ///< "add f32(5, 1) f32(1, 7)"
  OpCode op;
  std::vector<Tensor> operands;
  Attrs attrs;
};

/// Calls of an op: of rank 0, without elements, of odd and even sizes, with operands that broadcast
/// and views that are not contiguous, on NaN, infinities, -0 and denormal numbers. None for an
/// effect. Not none for any other op: a structural op gets its own in Calls.cpp.
std::vector<Call> calls_of(const OpInfo &info);

/// A tensor of ordinary and of special values, the same on every run.
Tensor sample(DType dtype, const Shape &shape, int seed);

/// The tensor as an op `constant` holds it.
ConstantRef constant_of(const Tensor &tensor);

/// Whether types and all bits of the elements are equal, NaNs counting as one value; and if not,
/// the first element that differs.
testing::AssertionResult same_bits(const Tensor &expected, const Tensor &actual);

} // namespace weft::test
