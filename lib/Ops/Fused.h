// Functions made of ops by their own kernels, where nobody records the ops.
#pragma once

#include "Ops/FusedTable.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"

namespace weft::call {

/// Whether a function made of ops may run as one kernel here: nobody sees its ops, and all operands
/// are given, in host memory, where one of them stays.
inline bool fuses(std::span<const Tensor> operands) {
  if (Interpreter::current() != nullptr) return false;
  bool uncommitted = false;
  for (const Tensor &operand : operands) {
    if (!operand.defined() || !detail::on_cpu(operand)) return false;
    uncommitted |= operand.impl()->uncommitted;
  }
  return !uncommitted || detail::all_on_cpu(operands);
}

/// The result by the function's kernel, with the bits that its ops give; undefined where it has
/// none for these operands, and where the ops would refuse them. Operands are as its ops are given
/// them, and `fuses`.
Tensor fused(Fused function, std::span<const Tensor> operands);

/// Writes the results, dense tensors, of a function of rows by its kernel, with the bits that its
/// ops give: operands are of (rows, size) elements, or what its table says. Says false, and has
/// done nothing, where there is none, or rows are so long and few that sums of them go in parts.
bool fused_rows(FusedRows function, std::span<const Tensor> operands,
                std::span<const Tensor> results, std::int64_t rows, std::int64_t size);

/// A derivative whose kernel gives the cotangent of its first operand, written to `result`, and for
/// each element what the one of its scale is summed of over rows: these sums, and, unless
/// `of_cotangent` is undefined, those of the last operand, which is the result's cotangent. As
/// above.
bool fused_pullback(FusedRows function, std::span<const Tensor> operands, const Tensor &result,
                    const Tensor &of_scale, const Tensor &of_cotangent, std::int64_t rows,
                    std::int64_t size);

/// A function that gives one number for each row, over the last axes of x; undefined where it has
/// no kernel, or somebody sees its ops.
Tensor fused_over(FusedRows function, const Tensor &x, const Ints &axes, bool keepdims);

/// Writes the sums over rows of a function whose result is one for each column, in the order that
/// sums have: the first operand has rows of as many elements as the result, the others are a row.
/// As above.
bool fused_columns(FusedRows function, std::span<const Tensor> operands, const Tensor &result);

} // namespace weft::call
