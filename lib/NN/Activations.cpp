// Activations, in terms of ops that the compiler fuses.
#include <weft/activations.h>

#include <cmath>
#include <numbers>

#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft {

namespace {

/// exp(x) - 1 where x is not above 0, and 0 elsewhere, where exp(x) would overflow in the gradient.
Tensor lower_part(const Tensor &x, const Tensor &above) { return expm1(select(above, 0, x)); }

/// min(max(x, 0), 6), without the gradient of those at 0 and 6.
Tensor clipped_at_6(const Tensor &x) { return select(x <= 0, 0, select(x >= 6, 6, x)); }

/// The operand; a C++ number as a tensor of rank 0, an integer as a floating one.
Tensor floating(const Operand &x) {
  const Tensor value = x.materialize();
  return is_floating(value.dtype()) ? value : value + 0.0;
}

} // namespace

Tensor gelu(const Operand &x) {
  const CompositeCall site("gelu", x.where());
  const Tensor v = floating(x);
  return 0.5 * v * (1 + erf(v * (1 / std::numbers::sqrt2)));
}

Tensor gelu_tanh(const Operand &x) {
  const CompositeCall site("gelu_tanh", x.where());
  const Tensor v = floating(x);
  return 0.5 * v *
         (1 + tanh(std::sqrt(2 * std::numbers::inv_pi) * (v + 0.044715 * (v * square(v)))));
}

Tensor silu(const Operand &x) {
  const CompositeCall site("silu", x.where());
  const Tensor v = floating(x);
  return v * logistic(v);
}

Tensor sigmoid(const Operand &x) {
  const CompositeCall site("sigmoid", x.where());
  return logistic(x);
}

Tensor softplus(const Operand &x) {
  const CompositeCall site("softplus", x.where());
  const Tensor v = floating(x);
  return maximum(v, 0) + log1p(exp(-abs(v)));
}

Tensor elu(const Operand &x) {
  const CompositeCall site("elu", x.where());
  const Tensor v = floating(x), above = v > 0;
  return select(above, v, lower_part(v, above));
}

Tensor selu(const Operand &x) {
  const CompositeCall site("selu", x.where());
  constexpr double kScale = 1.0507009873554804934193349852946,
                   kAlpha = 1.6732632423543772848170429916717;
  const Tensor v = floating(x), above = v > 0;
  return kScale * select(above, v, kAlpha * lower_part(v, above));
}

Tensor leaky_relu(const Operand &x) {
  const CompositeCall site("leaky_relu", x.where());
  const Tensor v = floating(x);
  return select(v > 0, v, 0.2 * v);
}

Tensor relu6(const Operand &x) {
  const CompositeCall site("relu6", x.where());
  return clipped_at_6(floating(x));
}

Tensor hard_sigmoid(const Operand &x) {
  const CompositeCall site("hard_sigmoid", x.where());
  return clipped_at_6(floating(x) + 3) * (1.0 / 6);
}

Tensor mish(const Operand &x) {
  const CompositeCall site("mish", x.where());
  const Tensor v = floating(x);
  return v * tanh(softplus(v));
}

Tensor softsign(const Operand &x) {
  const CompositeCall site("softsign", x.where());
  const Tensor v = floating(x);
  return v / (1 + abs(v));
}

} // namespace weft
