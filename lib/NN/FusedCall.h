// Functions of layers by their own kernels, alone and under tapes.
#pragma once

#include "Ops/Fused.h"
#include <weft/gradient_tape.h>

namespace weft::nn {

/// A function of one tensor, as ops.
using FunctionOfOne = Tensor (*)(const Tensor &x);

/// `ops(x)`: by the kernel `function` where nobody sees its ops. Tapes note one entry, whose
/// derivative is the kernel `pullback` of x and the result's cotangent. `name` is for messages.
Tensor fused_call(const char *name, Fused function, Fused pullback, const Tensor &x,
                  FunctionOfOne ops);

/// The cotangent of x for the one of `function(x)`, by a tape of its own.
template <class Function>
Tensor pulled(const Function &function, const Tensor &x, const Tensor &cotangent) {
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(x);
  const Tensor y = function(x);
  return tape.gradient(y, x, {.output_gradients = {cotangent}});
}

} // namespace weft::nn
