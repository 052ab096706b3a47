// Losses and metrics.
#include "Support/CallSite.h"
#include <weft/nn.h>
#include <weft/ops.h>

namespace weft {

namespace losses {

Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits) {
  const CallSite site(labels.where());
  const Tensor scores = logits.materialize();
  if (scores.rank() != 2)
    throw ShapeError("softmax_cross_entropy: logits must be (batch, classes), but have shape " +
                     to_string(detail::type_of(scores).shape));
  Tensor targets = labels.materialize();
  if (is_integer(targets.dtype()) && targets.rank() == 1)
    targets = nn::one_hot(targets, scores.size(1), scores.dtype());
  if (targets.rank() != 2)
    throw ShapeError("softmax_cross_entropy: labels must be class numbers (batch,) or "
                     "probabilities (batch, classes), but are " +
                     to_string(detail::type_of(targets)));
  return mean(negate(sum(targets * nn::log_softmax(scores), {.axes = Ints{1}})));
}

Tensor mean_squared_error(const Operand &targets, const Operand &predictions) {
  const CallSite site(targets.where());
  return mean(square(predictions.materialize() - targets));
}

} // namespace losses

namespace metrics {

Tensor accuracy(const Operand &labels, const Operand &scores) {
  const CallSite site(labels.where());
  const Tensor predicted = cast(argmax(scores), labels.dtype());
  return mean(cast(equal(predicted, labels), DType::f32));
}

} // namespace metrics

} // namespace weft
