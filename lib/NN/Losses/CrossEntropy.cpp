// Cross entropies: of class numbers, of probabilities, of two classes.
#include "NN/Losses/Values.h"
#include "Ops/DeviceOps.h"
#include "Support/Messages.h"
#include <weft/nn/functions.h>

namespace weft::losses {

namespace {

double checked_share(const char *function, double smoothing) {
  if (!(smoothing >= 0 && smoothing <= 1))
    throw ValueError(std::string(function) + ": label_smoothing is " + number_text(smoothing) +
                     ", but must be from 0 to 1");
  return smoothing;
}

/// -sum(labels * log(probabilities)) along the last axis.
Tensor categorical_values(const Tensor &labels, const Tensor &scores, bool from_logits) {
  const Tensor logs = from_logits
                          ? nn::log_softmax(scores)
                          : log(clip(scores / sum_of_last(scores, true), kEpsilon, 1 - kEpsilon));
  return -sum_of_last(labels * logs);
}

} // namespace

Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits) {
  const CallBeside site("softmax_cross_entropy", labels, logits);
  const Tensor scores = logits.materialize(), targets = labels.materialize();
  const Shape shape = detail::type_of(scores).shape, given = detail::type_of(targets).shape;
  if (shape.size() != 2)
    throw ShapeError("softmax_cross_entropy: logits must be (batch, classes), but have shape " +
                     to_string(shape));
  if (!is_floating(scores.dtype()))
    throw DTypeError("softmax_cross_entropy: logits must be floating, but are " +
                     described(scores));
  const bool numbers = is_integer(targets.dtype()) && given.size() == 1;
  if (numbers ? !may_equal(given[0], shape[0]) : !may_equal(given, shape))
    throw ShapeError("softmax_cross_entropy: labels must be class numbers (batch,) of an integer "
                     "dtype, or probabilities (batch, classes), but are " +
                     described(targets) + " for logits of shape " + to_string(shape));
  if (numbers) return mean(sparse_values(targets, scores, /*from_logits=*/true, 0));
  const Pair pair(targets, scores);
  return mean(categorical_values(pair.targets, pair.predictions, /*from_logits=*/true));
}

Tensor categorical_cross_entropy(const Operand &labels, const Operand &scores,
                                 const CrossEntropyOptions &options) {
  const char *const name = "categorical_cross_entropy";
  const CallBeside site(name, labels, scores);
  const double smoothing = checked_share(name, options.label_smoothing);
  const Tensor found = scores.materialize();
  check_scores(found);
  if (options.ignored_label)
    throw ValueError("categorical_cross_entropy: there is an ignored_label among class numbers "
                     "only, which sparse_categorical_cross_entropy takes: mask these");
  const Pair pair(labels, found);
  Tensor targets = pair.targets;
  if (smoothing != 0) {
    const std::int64_t classes = weft::detail::size_for_call(found, -1);
    if (classes == unknown)
      throw ShapeError("categorical_cross_entropy: this trace does not know the number of classes, "
                       "the size of the last axis");
    if (classes != 0)
      targets = targets * (1 - smoothing) + smoothing / static_cast<double>(classes);
  }
  return reduced(categorical_values(targets, pair.predictions, options.from_logits),
                 Weighting(options));
}

Tensor sparse_categorical_cross_entropy(const Operand &labels, const Operand &scores,
                                        const CrossEntropyOptions &options) {
  const char *const name = "sparse_categorical_cross_entropy";
  const CallBeside site(name, labels, scores);
  const double smoothing = checked_share(name, options.label_smoothing);
  const Tensor found = scores.materialize();
  Tensor numbers = labels.materialize();
  check_scores(found);
  if (!is_integer(numbers.dtype()))
    throw DTypeError("sparse_categorical_cross_entropy: labels must be class numbers of an integer "
                     "dtype, but are " +
                     described(numbers));
  if (!are_class_numbers(numbers, found))
    throw ShapeError("sparse_categorical_cross_entropy: labels must have the shape of scores but "
                     "for its last axis, but are " +
                     described(numbers) + " for scores of shape " +
                     to_string(detail::type_of(found).shape));
  Weighting weighting(options);
  if (options.ignored_label) {
    const Tensor counts = not_equal(numbers, *options.ignored_label);
    numbers = select(counts, numbers, 0);
    weighting.mask = weighting.mask.defined() ? masked(counts, weighting.mask) : counts;
  }
  return reduced(sparse_values(numbers, found, options.from_logits, smoothing), weighting);
}

Tensor binary_cross_entropy(const Operand &labels, const Operand &scores,
                            const BinaryCrossEntropyOptions &options) {
  const char *const name = "binary_cross_entropy";
  const CallBeside site(name, labels, scores);
  const double smoothing = checked_share(name, options.label_smoothing);
  const Pair pair(labels, scores);
  const Tensor y = smoothing == 0 ? pair.targets : pair.targets * (1 - smoothing) + smoothing / 2;
  const Tensor &x = pair.predictions;
  if (options.from_logits)
    return reduced_means(maximum(x, 0) - x * y + log1p(exp(-abs(x))), Weighting(options));
  const Tensor p = clip(x, kEpsilon, 1 - kEpsilon);
  return reduced_means(-(y * log(p) + (1 - y) * log(1 - p)), Weighting(options));
}

} // namespace weft::losses
