// Metrics that are made of counts: precision, recall, F1, areas under curves, confusion.
#include <weft/metrics.h>

#include "NN/Losses/Values.h"
#include "NN/Metrics/State.h"
#include "Ops/DeviceOps.h"
#include "Support/CallSite.h"

namespace weft::metrics {

using losses::described;
using losses::Pair;
using losses::quotient;

namespace {

/// x times the weights of its elements, if there are any, in f64.
Tensor weighted(const Tensor &x, const Tensor &weights) {
  return losses::weighted(cast(x, DType::f64),
                          losses::Weighting(losses::LossOptions{.weights = weights}))
      .values;
}

/// Labels, and whether scores say so, in f64.
struct Said {
  Tensor labels, said;

  Said(const Operand &labels, const Operand &scores, double threshold) {
    const Pair pair(labels, scores);
    this->labels = cast(pair.targets, DType::f64);
    said = cast(pair.predictions > threshold, DType::f64);
  }
};

/// Sums over all axes but the last, of which there is one.
Tensor by_class(const Tensor &x) { return sum(x, {.axes = Ints{0}}); }

} // namespace

Precision::Precision(double threshold)
    : true_positives(zeros_of({})), false_positives(zeros_of({})), threshold_(threshold) {}

void Precision::update(const Operand &labels, const Operand &scores, const Tensor &weights) const {
  const CallBeside site("Precision", labels, scores);
  const Said of(labels, scores, threshold_);
  add_to({{&true_positives, losses::total(weighted(of.said * of.labels, weights))},
          {&false_positives, losses::total(weighted(of.said * (1 - of.labels), weights))}});
}

Tensor Precision::result() const {
  return quotient(true_positives, true_positives + false_positives);
}
void Precision::reset() const { forget({&true_positives, &false_positives}); }
void Precision::merge(const Precision &other) const {
  add_up({{&true_positives, &other.true_positives}, {&false_positives, &other.false_positives}});
}

Recall::Recall(double threshold)
    : true_positives(zeros_of({})), false_negatives(zeros_of({})), threshold_(threshold) {}

void Recall::update(const Operand &labels, const Operand &scores, const Tensor &weights) const {
  const CallBeside site("Recall", labels, scores);
  const Said of(labels, scores, threshold_);
  add_to({{&true_positives, losses::total(weighted(of.said * of.labels, weights))},
          {&false_negatives, losses::total(weighted((1 - of.said) * of.labels, weights))}});
}

Tensor Recall::result() const { return quotient(true_positives, true_positives + false_negatives); }
void Recall::reset() const { forget({&true_positives, &false_negatives}); }
void Recall::merge(const Recall &other) const {
  add_up({{&true_positives, &other.true_positives}, {&false_negatives, &other.false_negatives}});
}

F1::F1(const F1Options &options)
    : true_positives(zeros_later()), false_positives(zeros_later()), false_negatives(zeros_later()),
      average_(options.average), threshold_(options.threshold) {}

void F1::update(const Operand &labels, const Operand &scores, const Tensor &weights) const {
  const CallBeside site("F1", labels, scores);
  Pair pair(labels, scores);
  const std::int64_t rank = pair.predictions.rank();
  if (rank == 1 && threshold_) {
    pair.targets = pair.targets[{all, newaxis}];
    pair.predictions = pair.predictions[{all, newaxis}];
  } else if (rank != 2) {
    throw ShapeError("F1: scores must be (batch, classes), or (batch,) with a threshold, but are " +
                     described(pair.predictions));
  }
  const Tensor &x = pair.predictions;
  const std::int64_t classes = weft::detail::size_for_call(x, 1);
  if (true_positives.initialized() && true_positives.shape()[0] != classes)
    throw ShapeError("F1: there were " + std::to_string(true_positives.shape()[0]) +
                     " classes, but now there are " + std::to_string(classes));
  const Tensor above =
      threshold_
          ? x > *threshold_
          : logical_and(x >= reduce_max(x, {.axes = Ints{-1}, .keepdims = true}), abs(x) > 1e-9);
  const Tensor said = cast(above, DType::f64), held = cast(pair.targets, DType::f64);
  const auto counted = [&](const Tensor &which) {
    return by_class(weights.defined() ? weighted(which, weights[{ellipsis, newaxis}]) : which);
  };
  const Tensor tp = counted(said * held), fp = counted(said * (1 - held)),
               fn = counted((1 - said) * held);
  for (const Variable *variable : {&true_positives, &false_positives, &false_negatives})
    variable->initialize({classes});
  add_to({{&true_positives, tp}, {&false_positives, fp}, {&false_negatives, fn}});
}

Tensor F1::result() const {
  Tensor tp = true_positives, fp = false_positives, fn = false_negatives;
  const Tensor held = tp + fn;
  if (average_ == Average::micro) {
    tp = sum(tp);
    fp = sum(fp);
    fn = sum(fn);
  }
  Tensor of_class = quotient(2 * tp, 2 * tp + fp + fn);
  if (average_ == Average::macro) return weft::mean(of_class);
  if (average_ == Average::weighted) return quotient(sum(of_class * held), sum(held));
  return of_class;
}
void F1::reset() const { forget({&true_positives, &false_positives, &false_negatives}); }
void F1::merge(const F1 &other) const {
  add_up({{&true_positives, &other.true_positives},
          {&false_positives, &other.false_positives},
          {&false_negatives, &other.false_negatives}});
}

AUC::AUC(const AUCOptions &options)
    : positives(zeros_of({options.thresholds < 2 ? 0 : options.thresholds})),
      negatives(positives.clone()), curve_(options.curve), from_logits_(options.from_logits) {
  if (options.thresholds < 2)
    throw ValueError("AUC: there must be at least 2 thresholds, but there are " +
                     std::to_string(options.thresholds));
}

void AUC::update(const Operand &labels, const Operand &scores, const Tensor &weights) const {
  const CallBeside site("AUC", labels, scores);
  const Pair pair(labels, scores);
  const Tensor y = cast(pair.targets, DType::f64);
  const Tensor p =
      clip(cast(from_logits_ ? logistic(pair.predictions) : pair.predictions, DType::f64), 0, 1);
  // The last threshold i / (n - 1) that is below p; that of 0 counts as below all.
  const std::int64_t steps = positives.shape()[0] - 1;
  const Tensor at =
      reshape(cast(maximum(ceil(p * static_cast<double>(steps)) - 1, 0), DType::i64), {-1});
  const auto counted = [&](const Tensor &which) {
    return scatter_add(zeros({steps + 1}, DType::f64), at, reshape(weighted(which, weights), {-1}));
  };
  add_to({{&positives, counted(y)}, {&negatives, counted(1 - y)}});
}

Tensor AUC::result() const {
  const auto above = [](const Variable &counts) {
    return cumsum(counts.value(), {.axis = 0, .reverse = true});
  };
  const Tensor tp = above(positives), fp = above(negatives);
  const auto high = [](const Tensor &x) { return x[slice({}, -1)]; };
  const auto low = [](const Tensor &x) { return x[slice(1, {})]; };
  if (curve_ == Curve::roc) {
    const Tensor recall = quotient(tp, tp[0]), wrong = quotient(fp, fp[0]);
    return sum((high(wrong) - low(wrong)) * (high(recall) + low(recall)) * 0.5);
  }
  const Tensor said = tp + fp, more = high(tp) - low(tp);
  const Tensor slope = quotient(more, maximum(high(said) - low(said), 0));
  const Tensor intercept = low(tp) - slope * low(said);
  const Tensor some = logical_and(high(said) > 0, low(said) > 0);
  const Tensor ratio = select(some, high(said) / select(some, low(said), 1), 1);
  return sum(quotient(slope * (more + intercept * log(ratio)), tp[0]));
}
void AUC::reset() const { forget({&positives, &negatives}); }
void AUC::merge(const AUC &other) const {
  add_up({{&positives, &other.positives}, {&negatives, &other.negatives}});
}

ConfusionMatrix::ConfusionMatrix(std::int64_t classes)
    : counts(zeros_of({classes < 1 ? 0 : classes, classes < 1 ? 0 : classes})) {
  if (classes < 1)
    throw ValueError("ConfusionMatrix: there must be at least one class, but there are " +
                     std::to_string(classes));
}

void ConfusionMatrix::update(const Operand &labels, const Operand &predictions,
                             const Tensor &weights) const {
  const CallBeside site("ConfusionMatrix", labels, predictions);
  const std::int64_t classes = counts.shape()[0];
  const Tensor right = labels.materialize();
  Tensor found = predictions.materialize();
  if (is_floating(found.dtype())) {
    losses::check_scores(found);
    if (!losses::may_equal(detail::type_of(found).shape.back(), classes))
      throw ShapeError("ConfusionMatrix: scores must be (..., " + std::to_string(classes) +
                       "), but are " + described(found));
    found = argmax_along(found);
  }
  if (!is_integer(right.dtype()) || !is_integer(found.dtype()))
    throw DTypeError("ConfusionMatrix: labels must be class numbers of an integer dtype, and "
                     "predictions such or floating scores, but they are " +
                     described(right) + " and " + described(found));
  if (!losses::may_equal(detail::type_of(right).shape, detail::type_of(found).shape))
    throw ShapeError("ConfusionMatrix: labels and predicted classes must have the same shape, but "
                     "are " +
                     described(right) + " and " + described(found));
  const auto checked = [&](const Tensor &numbers) {
    return losses::checked_classes(cast(numbers, DType::i64), classes);
  };
  const Tensor at = checked(right) * classes + checked(found);
  const Tensor counted = weighted(ones_like(cast(at, DType::f64)), weights);
  const Tensor added = scatter_add(zeros({classes * classes}, DType::f64), reshape(at, {-1}),
                                   reshape(counted, {-1}));
  add_to({{&counts, reshape(added, {classes, classes})}});
}

Tensor ConfusionMatrix::result() const { return counts; }
void ConfusionMatrix::reset() const { forget({&counts}); }
void ConfusionMatrix::merge(const ConfusionMatrix &other) const {
  add_up({{&counts, &other.counts}});
}

} // namespace weft::metrics
