// Activations, in terms of ops that the compiler fuses.
#include <weft/activations.h>

#include <cmath>
#include <numbers>

#include "NN/FusedCall.h"
#include "Ops/DeviceOps.h"
#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft {

namespace {

/// exp(x) - 1 where x is not above 0, and 0 elsewhere, where exp(x) would overflow in the gradient.
Tensor lower_part(const Tensor &x, const Tensor &above) { return expm1(select(above, 0, x)); }

/// min(max(x, 0), 6), without the gradient of those at 0 and 6.
Tensor clipped_at_6(const Tensor &x) { return select(x <= 0, 0, select(x >= 6, 6, x)); }

// What the activations are as ops.

Tensor gelu_ops(const Tensor &x) { return 0.5 * x * (1 + erf(x * (1 / std::numbers::sqrt2))); }

Tensor gelu_tanh_ops(const Tensor &x) {
  return 0.5 * x *
         (1 + tanh(std::sqrt(2 * std::numbers::inv_pi) * (x + 0.044715 * (x * square(x)))));
}

Tensor silu_ops(const Tensor &x) { return x * logistic(x); }

Tensor softplus_ops(const Tensor &x) { return maximum(x, 0) + log1p(exp(-abs(x))); }

Tensor elu_ops(const Tensor &x) {
  const Tensor above = x > 0;
  return select(above, x, lower_part(x, above));
}

Tensor selu_ops(const Tensor &x) {
  constexpr double kScale = 1.0507009873554804934193349852946,
                   kAlpha = 1.6732632423543772848170429916717;
  const Tensor above = x > 0;
  return kScale * select(above, x, kAlpha * lower_part(x, above));
}

Tensor leaky_relu_ops(const Tensor &x) { return select(x > 0, x, 0.2 * x); }

Tensor hard_sigmoid_ops(const Tensor &x) { return clipped_at_6(x + 3) * (1.0 / 6); }

Tensor mish_ops(const Tensor &x) { return x * tanh(softplus_ops(x)); }

Tensor softsign_ops(const Tensor &x) { return x / (1 + abs(x)); }

/// The operand; a C++ number as a tensor of rank 0, an integer as a floating one.
Tensor floating(const Operand &x) {
  const Tensor value = x.materialize();
  return is_floating(value.dtype()) ? value : value + 0.0;
}

/// One of them as users call it, by the kernels of that name.
template <Fused forward, Fused pullback, Tensor (*ops)(const Tensor &)>
Tensor activation(const char *name, const Operand &x) {
  const CallBeside site(name, x);
  const nn::FusedFunction function{.name = name,
                                   .active = 1,
                                   .forward = [](std::span<const Tensor> of) -> nn::FusedResult {
                                     return {call::fused(forward, of)};
                                   },
                                   .backward =
                                       [](std::span<const Tensor> of) {
                                         const Tensor operands[] = {of[1], of[0]};
                                         Tensor gradient = call::fused(pullback, operands);
                                         return gradient.defined()
                                                    ? std::vector{std::move(gradient)}
                                                    : std::vector<Tensor>();
                                       },
                                   .ops = [](std::span<const Tensor> of) { return ops(of[0]); }};
  const Tensor value = floating(x);
  return nn::fused_call(function, {&value, 1});
}

} // namespace

#define WEFT_ACTIVATION(name, ops)                                                                 \
  Tensor name(const Operand &x) {                                                                  \
    return activation<Fused::name, Fused::name##_pullback, ops>(#name, x);                         \
  }

WEFT_ACTIVATION(gelu, gelu_ops)
WEFT_ACTIVATION(gelu_tanh, gelu_tanh_ops)
WEFT_ACTIVATION(silu, silu_ops)
WEFT_ACTIVATION(softplus, softplus_ops)
WEFT_ACTIVATION(elu, elu_ops)
WEFT_ACTIVATION(selu, selu_ops)
WEFT_ACTIVATION(leaky_relu, leaky_relu_ops)
WEFT_ACTIVATION(relu6, clipped_at_6)
WEFT_ACTIVATION(hard_sigmoid, hard_sigmoid_ops)
WEFT_ACTIVATION(mish, mish_ops)
WEFT_ACTIVATION(softsign, softsign_ops)

#undef WEFT_ACTIVATION

Tensor sigmoid(const Operand &x) {
  const CallBeside site("sigmoid", x);
  return logistic(x);
}

} // namespace weft
