// Functions of rows as ops.
#include "NN/Rows.h"

#include <weft/composites.h>
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft::nn::rows {

namespace {

Tensor sum_along(const Tensor &x, std::int64_t axis) {
  return sum(x, {.axes = Ints{axis}, .keepdims = true});
}
Tensor mean_of_rows(const Tensor &x) { return mean(x, {.axes = Ints{-1}, .keepdims = true}); }

/// Less the largest along the axis, through which no gradient flows: it cancels.
Tensor shifted(const Tensor &x, std::int64_t axis) {
  return x - stop_gradient(reduce_max(x, {.axes = Ints{axis}, .keepdims = true}));
}

/// x / sqrt(variance + epsilon) gamma + beta, where gamma and beta may be undefined.
Tensor scaled(const Tensor &x, const Tensor &variance, const Operand &epsilon, const Tensor &gamma,
              const Tensor &beta) {
  Tensor y = x * rsqrt(variance + epsilon);
  if (gamma.defined()) y = y * gamma;
  if (beta.defined()) y = y + beta;
  return y;
}

/// What `function` pulls the cotangent to, by a tape of its own.
template <class Of>
Tensor pulled_to(const Tensor &x, const Tensor &cotangent, const Of &function) {
  GradientTape tape({.watch_accessed_variables = false});
  tape.watch(x);
  const Tensor y = function(x);
  return tape.gradient(y, x, {.output_gradients = {cotangent}});
}

} // namespace

Tensor softmax_ops(const Tensor &x, std::int64_t axis) {
  const Tensor e = exp(shifted(x, axis));
  return e / sum_along(e, axis);
}

Tensor log_softmax_ops(const Tensor &x, std::int64_t axis) {
  const Tensor away = shifted(x, axis);
  return away - log(sum_along(exp(away), axis));
}

Moments moments_ops(const Tensor &x, const Ints &axes) {
  const Tensor mean = weft::mean(x, {.axes = axes, .keepdims = true});
  return {mean, weft::mean(square(x - mean), {.axes = axes, .keepdims = true})};
}

Tensor normalized_ops(const Tensor &x, const Moments &moments, const Operand &epsilon,
                      const Tensor &gamma, const Tensor &beta) {
  return scaled(x - moments.mean, moments.variance, epsilon, gamma, beta);
}

Tensor layer_norm_ops(const Tensor &x, const Operand &epsilon, const Tensor &gamma,
                      const Tensor &beta) {
  const Tensor away = x - mean_of_rows(x);
  return scaled(away, mean_of_rows(square(away)), epsilon, gamma, beta);
}

Tensor rms_ops(const Tensor &x, const Operand &epsilon) {
  return x * rsqrt(mean_of_rows(square(x)) + epsilon);
}

Tensors softmax(std::span<const Tensor> x) { return {softmax_ops(x[0], -1)}; }
Tensors log_softmax(std::span<const Tensor> x) { return {log_softmax_ops(x[0], -1)}; }

Tensors layer_norm(std::span<const Tensor> x) { return {layer_norm_ops(x[0], x[3], x[1], x[2])}; }

Tensors rms_norm(std::span<const Tensor> x) { return {rms_ops(x[0], x[2]) * x[1]}; }

Tensors cross_entropy(std::span<const Tensor> x) {
  const Tensor most = reduce_max(x[0], {.axes = Ints{-1}, .keepdims = true});
  return {log(sum_along(exp(x[0] - most), -1)), most};
}

Tensors logsumexp(std::span<const Tensor> x) {
  return {weft::logsumexp(x[0], {.axes = Ints{-1}, .keepdims = true})};
}

Tensors variance(std::span<const Tensor> x) {
  return {var(x[0], {.axes = Ints{-1}, .keepdims = true})};
}

Tensors sum_of_squares(std::span<const Tensor> x) { return {sum_along(square(x[0]), -1)}; }

Tensors batch_squares(std::span<const Tensor> x) {
  return {sum(square(x[0] - x[1]), {.axes = Ints{0}})};
}

Tensors batch_norm(std::span<const Tensor> x) {
  return {normalized_ops(x[0], {x[1], x[2]}, x[5], x[3], x[4])};
}

Tensors pulled(Function function, std::span<const Tensor> x) {
  return {pulled_to(x[0], x[1], [&](const Tensor &by) { return function({&by, 1})[0]; })};
}

Tensors cross_entropy_pullback(std::span<const Tensor> x) {
  const Tensor by = pulled_to(x[0], x[1], [](const Tensor &scores) {
    return log(sum_along(exp(shifted(scores, -1)), -1));
  });
  return {by + 0}; // as the other labels' 0 are added
}

Tensors layer_norm_pullback(std::span<const Tensor> x) {
  const auto of = [&](const Tensor &by, const Tensor &gamma) {
    return layer_norm_ops(by, x[2], gamma, Tensor());
  };
  return {pulled_to(x[0], x[3], [&](const Tensor &by) { return of(by, x[1]); }),
          x[3] * of(x[0], Tensor())};
}

Tensors rms_norm_pullback(std::span<const Tensor> x) {
  return {pulled_to(x[0], x[3], [&](const Tensor &by) { return rms_ops(by, x[2]) * x[1]; }),
          x[3] * rms_ops(x[0], x[2])};
}

} // namespace weft::nn::rows
