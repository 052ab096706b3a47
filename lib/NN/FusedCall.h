// Functions of layers by their own kernels, alone and under tapes.
#pragma once

#include <functional>

#include "Ops/Fused.h"
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft::nn {

/// A result by kernels, undefined where there are none for the operands, and what the derivative
/// wants of it.
struct FusedResult {
  Tensor value;
  std::vector<Tensor> kept = {};
};

/// A function of tensors as kernels and as ops.
struct FusedFunction {
  const char *name;
  /// How many of the operands, the first, have derivatives.
  std::size_t active;
  /// By kernels, where nobody sees the ops.
  FusedResult (*forward)(std::span<const Tensor> x);
  /// The cotangents of the active operands: of all operands, behind them what `forward` kept, and
  /// the result's cotangent last. Empty where there are no kernels for it.
  std::vector<Tensor> (*backward)(std::span<const Tensor> x);
  Tensor (*ops)(std::span<const Tensor> x);
};

/// `function(x)`, of 16-bit floats in their compute dtype and rounded once, to what they promote
/// to.
Tensor in_wide(std::span<const Tensor> x,
               const std::function<Tensor(std::span<const Tensor>)> &function);

/// `function.ops(x)`: by its kernels where nobody sees the ops. Tapes note one entry. Of 16-bit
/// floats as `in_wide` has it.
Tensor fused_call(const FusedFunction &function, std::span<const Tensor> x);

/// The cotangent of x for the one of `function(x)`, which may have fewer axes, by a tape of its
/// own.
template <class Function>
Tensor pulled(const Function &function, const Tensor &x, const Tensor &cotangent) {
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(x);
  const Tensor y = function(x);
  const bool whole = cotangent.rank() >= y.rank();
  return tape.gradient(
      y, x, {.output_gradients = {whole ? cotangent : select(y == y, cotangent, cotangent)}});
}

} // namespace weft::nn
