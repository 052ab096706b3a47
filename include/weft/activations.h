// Activations: functions of each element, to be handed to layers: `Dense(64, {.activation =
// gelu})`.
#pragma once

#include <weft/tensor.h>

namespace weft {

// `relu`, `tanh` and `logistic` are in weft/ops.h. All take floating elements; integers become
// floating. Where a function has a kink, its derivative there is said.

/// x times the standard normal distribution's share below x, x/2 (1 + erf(x / sqrt(2)))
/// (Hendrycks and Gimpel 2016).
Tensor gelu(const Operand &x);
/// Its approximation x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), off by up to 0.0005.
Tensor gelu_tanh(const Operand &x);
/// x sigmoid(x), also called swish.
Tensor silu(const Operand &x);
/// 1 / (1 + exp(-x)), the op `logistic` by its other name.
Tensor sigmoid(const Operand &x);
/// log(1 + exp(x)), without overflow.
Tensor softplus(const Operand &x);
/// x, and exp(x) - 1 where x is not above 0 (Clevert et al. 2015).
Tensor elu(const Operand &x);
/// `elu` whose lower part is scaled by 1.673263242354377 and whole by 1.050700987355480, so that
/// layers keep mean 0 and variance 1 (Klambauer et al. 2017).
Tensor selu(const Operand &x);
/// x, and 0.2 x where x is not above 0.
Tensor leaky_relu(const Operand &x);
/// min(max(x, 0), 6), with the derivative 0 at 0 and 6.
Tensor relu6(const Operand &x);
/// relu6(x + 3) / 6.
Tensor hard_sigmoid(const Operand &x);
/// x tanh(softplus(x)) (Misra 2019).
Tensor mish(const Operand &x);
/// x / (1 + |x|).
Tensor softsign(const Operand &x);

} // namespace weft
