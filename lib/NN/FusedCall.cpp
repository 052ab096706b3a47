// One kernel forward and one backward, where tapes want no more.
#include "NN/FusedCall.h"

#include <weft/detail/function_core.h>

namespace weft::nn {

namespace {

Tensor without_record(Fused function, std::span<const Tensor> operands) {
  const Interpreter::Scope eager(nullptr);
  return call::fused(function, operands);
}

/// The derivative as a kernel; as ops where somebody records it, or there is none for this
/// cotangent.
Tensor pull(Fused pullback, const Tensor &x, const Tensor &cotangent, FunctionOfOne ops) {
  const Tensor operands[] = {x, cotangent};
  if (call::fuses(operands))
    if (Tensor gradient = call::fused(pullback, operands); gradient.defined()) return gradient;
  return pulled(ops, x, cotangent);
}

} // namespace

Tensor fused_call(const char *name, Fused function, Fused pullback, const Tensor &x,
                  FunctionOfOne ops) {
  const std::span<const Tensor> operands(&x, 1);
  if (call::fuses(operands)) {
    const Tensor y = call::fused(function, operands);
    return y.defined() ? y : ops(x);
  }
  if (!x.defined() || !is_watched(x) || !detail::FunctionCore::calls_are_entries()) return ops(x);
  const Tensor y = without_record(function, operands);
  if (!y.defined()) return ops(x);
  const detail::Body pullback_of_y = [=](std::span<const Tensor> cotangents) {
    return std::vector{pull(pullback, x, cotangents[0], ops)};
  };
  return attach_pullback({.name = name,
                          .operands = operands,
                          .results = {&y, 1},
                          .pullback = pullback_of_y,
                          .natural = true})[0];
}

} // namespace weft::nn
