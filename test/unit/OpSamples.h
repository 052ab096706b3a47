// Sample calls of every op, as the records give them: what the tests of every op are run on.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <weft/tensor.h>

namespace weft::test {

/// An operand of a sample; dialects/Weft/IR/Vocabulary.td says in which words.
struct SampleOperand {
  enum class Elements : std::uint8_t { drawn, finite, special, given, regular, definite };
  enum class View : std::uint8_t { whole, transposed, backwards, strided };

  Elements elements = Elements::drawn;
  View view = View::whole;
  std::optional<DType> dtype;       ///< if it does not follow that of the call
  Shape shape;                      ///< before the view is taken
  std::vector<std::int64_t> values; ///< if they are given

  /// The tensor of ordinary numbers, or regular or definite matrices by it.
  Tensor as_wanted(const Tensor &drawn) const;
  /// The view of a tensor of that shape.
  Tensor seen(const Tensor &whole) const;
};

struct OpSample {
  OpCode op;
  std::string text; ///< "gather(33; [[32, 0], [7, 7]] | 0)"
  std::vector<SampleOperand> operands;
  Attrs attrs;
};

/// The samples of an op, in the order of its record.
std::vector<OpSample> samples_of(OpCode op);

/// The dtypes that a record's operand admits.
std::vector<DType> admitted(const DTypeSet &set);

/// Which of the operands of the record is operand `i` of a call.
const OperandInfo &operand_info(const OpInfo &info, std::size_t i);

/// The values at which ops behave in their own way: how many there are of a dtype, and `count`
/// elements that repeat each of them `stride` times.
std::size_t special_count(DType dtype);
Tensor specials(DType dtype, std::size_t count, std::size_t stride);

/// A tensor of ordinary and, unless it is to be finite, of special values, the same on every run.
Tensor sample(DType dtype, const Shape &shape, int seed, bool finite = false);

/// Integers as a tensor of that dtype.
Tensor given(const std::vector<std::int64_t> &values, const Shape &shape, DType dtype);

/// The tensor as an op `constant` holds it.
ConstantRef constant_of(const Tensor &tensor);

} // namespace weft::test
