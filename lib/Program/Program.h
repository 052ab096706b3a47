// Programs: what a tracer records and a compiler takes. Straight lines of op calls, no LLVM.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "OpDefs/OpInfo.h"
#include <weft/tensor.h>

namespace weft {

/// The number of a value in its program.
using ValueId = std::uint32_t;
inline constexpr ValueId kNoValue = ~ValueId{0};

/// One op call of a program. Constants are nodes of op `constant`; reads and assigns carry their
/// variable as first attribute.
struct ProgramNode {
  OpCode op;
  detail::InlineVector<ValueId, 4> operands;
  Attrs attrs;
  ValueId result = kNoValue;
};

/// A traced function.
struct Program {
  std::string name;
  std::vector<TensorType> values;     ///< the type of every value
  std::vector<ValueId> inputs;        ///< the tensors of the arguments
  std::vector<ValueId> captured;      ///< hidden inputs: eager tensors that the callable used
  std::vector<Tensor> captures;       ///< their tensors, in the same order
  std::vector<VariableRef> variables; ///< in the order of their first use
  std::vector<bool> written;          ///< whether the variable of that number is assigned
  std::vector<ProgramNode> nodes;     ///< in the order of the calls
  std::vector<ValueId> outputs;

  /// The number of a variable, which must be in `variables`.
  std::size_t variable_index(const VariableRef &variable) const;
};

} // namespace weft
