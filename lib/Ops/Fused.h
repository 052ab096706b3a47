// Functions made of ops by their own kernels, where nobody records the ops.
#pragma once

#include "Ops/FusedTable.h"
#include "Ops/Interpreter.h"

namespace weft::call {

/// Whether a function made of ops may run as one kernel here: nobody sees its ops, and all operands
/// are given.
inline bool fuses(std::span<const Tensor> operands) {
  if (Interpreter::current() != nullptr) return false;
  for (const Tensor &operand : operands)
    if (!operand.defined()) return false;
  return true;
}

/// The result by the function's kernel, with the bits that its ops give; undefined where it has
/// none for these operands, and where the ops would refuse them. Operands are as its ops are given
/// them, and `fuses`.
Tensor fused(Fused function, std::span<const Tensor> operands);

} // namespace weft::call
