// Losses of numbers: errors, distances between distributions.
#include "NN/Losses/Values.h"
#include "Ops/DeviceOps.h"
#include "Support/Messages.h"

#include <cmath>
#include <numbers>

#include <weft/activations.h>

namespace weft::losses {

Tensor mean_squared_error(const Operand &targets, const Operand &predictions,
                          const LossOptions &options) {
  const CallBeside site("mean_squared_error", targets, predictions);
  const Pair pair(targets, predictions);
  if (targets.dtype() == DType::boolean && predictions.dtype() == DType::boolean)
    throw DTypeError("mean_squared_error: targets and predictions must be numbers, but are bools");
  return reduced_means(square(pair.predictions - pair.targets), Weighting(options));
}

Tensor mean_absolute_error(const Operand &targets, const Operand &predictions,
                           const LossOptions &options) {
  const CallBeside site("mean_absolute_error", targets, predictions);
  const Pair pair(targets, predictions);
  return reduced_means(abs(pair.predictions - pair.targets), Weighting(options));
}

Tensor huber(const Operand &targets, const Operand &predictions, const HuberOptions &options) {
  const CallBeside site("huber", targets, predictions);
  const double delta = options.delta;
  if (!(delta > 0 && std::isfinite(delta)))
    throw ValueError("huber: delta is " + number_text(delta) + ", but must be positive and finite");
  const Pair pair(targets, predictions);
  // e^2 / 2 of the part of the error up to delta, and delta times the rest.
  const Tensor error = abs(pair.predictions - pair.targets), near = minimum(error, delta);
  return reduced_means(near * (error - 0.5 * near), Weighting(options));
}

Tensor log_cosh(const Operand &targets, const Operand &predictions, const LossOptions &options) {
  const CallBeside site("log_cosh", targets, predictions);
  const Pair pair(targets, predictions);
  const Tensor error = pair.predictions - pair.targets;
  return reduced_means(error + softplus(-2 * error) - std::numbers::ln2, Weighting(options));
}

Tensor kl_divergence(const Operand &targets, const Operand &predictions,
                     const LossOptions &options) {
  const CallBeside site("kl_divergence", targets, predictions);
  const Pair pair(targets, predictions);
  const Tensor y = clip(with_last_axis("targets", pair.targets), kEpsilon, 1),
               p = clip(pair.predictions, kEpsilon, 1);
  return reduced(sum_of_last(y * log(y / p)), Weighting(options));
}

Tensor poisson(const Operand &targets, const Operand &predictions, const LossOptions &options) {
  const CallBeside site("poisson", targets, predictions);
  const Pair pair(targets, predictions);
  const Tensor &p = pair.predictions;
  return reduced_means(p - pair.targets * log(p + kEpsilon), Weighting(options));
}

} // namespace weft::losses
