// Losses of margins and angles: hinges, cosine similarity, triplets.
#include "NN/Losses/Values.h"
#include "Ops/DeviceOps.h"
#include "Support/Messages.h"

#include <cmath>

namespace weft::losses {

namespace {

/// max(1 - y p, 0) of each element, for labels that are -1 or 0, and 1.
Tensor hinges(const Pair &pair) {
  const Tensor y = select(pair.targets == 0, -1, pair.targets);
  return maximum(1 - y * pair.predictions, 0);
}

/// x at length 1 along the last axis. The bound is under the root, so that the gradient of a vector
/// of zeros is finite.
Tensor normalized(const Tensor &x) {
  return x * rsqrt(maximum(sum_of_last(square(x), true), kEpsilon * kEpsilon));
}

Tensor distance(const Tensor &a, const Tensor &b) {
  return sqrt(sum_of_last(square(a - b + 1e-6)));
}

} // namespace

Tensor hinge(const Operand &labels, const Operand &predictions, const LossOptions &options) {
  const CallBeside site("hinge", labels, predictions);
  return reduced_means(hinges(Pair(labels, predictions)), Weighting(options));
}

Tensor squared_hinge(const Operand &labels, const Operand &predictions,
                     const LossOptions &options) {
  const CallBeside site("squared_hinge", labels, predictions);
  return reduced_means(square(hinges(Pair(labels, predictions))), Weighting(options));
}

Tensor categorical_hinge(const Operand &labels, const Operand &predictions,
                         const LossOptions &options) {
  const CallBeside site("categorical_hinge", labels, predictions);
  const Pair pair(labels, predictions);
  const Tensor y = with_last_axis("labels", pair.targets);
  const Tensor right = sum_of_last(y * pair.predictions),
               wrong = reduce_max((1 - y) * pair.predictions, {.axes = Ints{-1}});
  return reduced(maximum(wrong - right + 1, 0), Weighting(options));
}

Tensor cosine_similarity(const Operand &targets, const Operand &predictions,
                         const LossOptions &options) {
  const CallBeside site("cosine_similarity", targets, predictions);
  const Pair pair(targets, predictions);
  const Tensor y = normalized(with_last_axis("targets", pair.targets)),
               p = normalized(pair.predictions);
  return reduced(-sum_of_last(y * p), Weighting(options));
}

Tensor triplet(const Operand &anchor, const Operand &positive, const Operand &negative,
               const TripletOptions &options) {
  const CallBeside site("triplet", anchor, positive, negative);
  if (!std::isfinite(options.margin))
    throw ValueError("triplet: margin is " + number_text(options.margin) + ", but must be finite");
  const Pair near(positive, anchor), far(negative, near.predictions);
  with_last_axis("embeddings", far.predictions);
  const Tensor margin = distance(far.predictions, near.targets) -
                        distance(far.predictions, far.targets) + options.margin;
  return reduced(maximum(margin, 0), Weighting(options));
}

} // namespace weft::losses
