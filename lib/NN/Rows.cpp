// Functions of rows as ops.
#include "NN/Rows.h"

#include "Ops/Interpreter.h"
#include <weft/composites.h>
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft::nn::rows {

namespace {

Tensor sum_along(const Tensor &x, std::int64_t axis) {
  return sum(x, {.axes = Ints{axis}, .keepdims = true});
}
Tensor mean_of_rows(const Tensor &x) { return mean(x, {.axes = Ints{-1}, .keepdims = true}); }

/// The largest along the axis, through which no gradient flows where it is taken off: it cancels.
Tensor most_along(const Tensor &x, std::int64_t axis) {
  return stop_gradient(reduce_max(x, {.axes = Ints{axis}, .keepdims = true}));
}

/// x / sqrt(variance + epsilon) gamma + beta, where gamma and beta may be undefined.
Tensor scaled(const Tensor &x, const Tensor &variance, const Operand &epsilon, const Tensor &gamma,
              const Tensor &beta) {
  Tensor y = x * rsqrt(variance + epsilon);
  if (gamma.defined()) y = y * gamma;
  if (beta.defined()) y = y + beta;
  return y;
}

/// `value`, which is what `computed` is, with the derivative of `computed`, which nobody need
/// compute then.
Tensor known(const Tensor &computed, const Tensor &value) {
  const detail::Body itself = [](std::span<const Tensor> cotangents) {
    return std::vector<Tensor>(cotangents.begin(), cotangents.end());
  };
  return attach_pullback({.name = "known",
                          .operands = {&computed, 1},
                          .results = {&value, 1},
                          .pullback = itself,
                          .natural = true})[0];
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

Tensors softmax_along(const Tensor &x, std::int64_t axis) {
  const Tensor most = most_along(x, axis), e = exp(x - most), all = sum_along(e, axis);
  return {e / all, most, all};
}

Tensors log_softmax_along(const Tensor &x, std::int64_t axis) {
  const Tensor most = most_along(x, axis), away = x - most, all = sum_along(exp(away), axis);
  return {away - log(all), most, all};
}

Moments moments_ops(const Tensor &x, const Ints &axes) {
  const Tensor mean = weft::mean(x, {.axes = axes, .keepdims = true});
  return {mean, weft::mean(square(x - mean), {.axes = axes, .keepdims = true})};
}

Tensor normalized_ops(const Tensor &x, const Moments &moments, const Operand &epsilon,
                      const Tensor &gamma, const Tensor &beta) {
  return scaled(x - moments.mean, moments.variance, epsilon, gamma, beta);
}

Tensors layer_norm_of(const Tensor &x, const Operand &epsilon, const Tensor &gamma,
                      const Tensor &beta) {
  const Tensor mean = mean_of_rows(x), away = x - mean, variance = mean_of_rows(square(away));
  return {scaled(away, variance, epsilon, gamma, beta), mean, variance};
}

Tensors softmax(std::span<const Tensor> x) { return softmax_along(x[0], -1); }
Tensors log_softmax(std::span<const Tensor> x) { return log_softmax_along(x[0], -1); }

Tensors layer_norm(std::span<const Tensor> x) { return layer_norm_of(x[0], x[3], x[1], x[2]); }

Tensors rms_norm(std::span<const Tensor> x) {
  const Tensor squares = mean_of_rows(square(x[0]));
  return {x[0] * rsqrt(squares + x[2]) * x[1], squares};
}

Tensors cross_entropy(std::span<const Tensor> x) {
  const Tensor most = most_along(x[0], -1), all = sum_along(exp(x[0] - most), -1);
  return {log(all), most, all};
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

Tensors softmax_pullback(std::span<const Tensor> x) {
  return {pulled_to(x[0], x[3], [&](const Tensor &by) {
    const Tensor e = exp(by - x[1]);
    return e / known(sum_along(e, -1), x[2]);
  })};
}

Tensors log_softmax_pullback(std::span<const Tensor> x) {
  return {pulled_to(x[0], x[3], [&](const Tensor &by) {
    const Tensor away = by - x[1];
    return away - log(known(sum_along(exp(away), -1), x[2]));
  })};
}

Tensors cross_entropy_pullback(std::span<const Tensor> x) {
  const Tensor by = pulled_to(x[0], x[3], [&](const Tensor &scores) {
    return log(known(sum_along(exp(scores - x[1]), -1), x[2]));
  });
  return {by + 0}; // as the other labels' 0 are added
}

Tensors layer_norm_pullback(std::span<const Tensor> x) {
  const auto of = [&](const Tensor &by, const Tensor &gamma) {
    const Tensor away = by - known(mean_of_rows(by), x[3]);
    return scaled(away, known(mean_of_rows(square(away)), x[4]), x[2], gamma, Tensor());
  };
  return {pulled_to(x[0], x[5], [&](const Tensor &by) { return of(by, x[1]); }),
          x[5] * of(x[0], Tensor())};
}

Tensors rms_norm_pullback(std::span<const Tensor> x) {
  const auto of = [&](const Tensor &by) {
    return by * rsqrt(known(mean_of_rows(square(by)), x[3]) + x[2]);
  };
  return {pulled_to(x[0], x[4], [&](const Tensor &by) { return of(by) * x[1]; }), x[4] * of(x[0])};
}

} // namespace weft::nn::rows
