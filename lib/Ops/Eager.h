// Eager execution: shape function, then kernel. One function per op, or one for all of a kind.
#pragma once

#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"

namespace weft {

/// Executes a call at once. Throws what the shape function finds, named after the op.
Tensor execute_eager(OpCode op, std::span<const Tensor> operands, const Attrs &attrs);

/// Executes one op; `result` is what the shape function gave. Undefined for ops without a result.
using EagerFunction = Tensor (*)(const OpInfo &info, std::span<const Tensor> operands,
                                 const Attrs &attrs, const TensorType &result);

// The functions, one per op or one for all of a kind, declared from the records.
#include "EagerTable.inc"

} // namespace weft
