// Metrics that are means: of numbers, of hits, of errors.
#include <weft/metrics.h>

#include "NN/Losses/Values.h"
#include "NN/Metrics/State.h"
#include "Ops/DeviceOps.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft::metrics {

using losses::are_class_numbers;
using losses::described;
using losses::Pair;

Variable zeros_of(const Shape &shape) {
  return Variable(zeros(shape, DType::f64), "", /*trainable=*/false);
}

Variable zeros_later() {
  return Variable::uninitialized(
      DType::f64,
      [](const Shape &shape, DType dtype, const std::optional<std::uint64_t> &) {
        return zeros(shape, dtype);
      },
      "", /*trainable=*/false);
}

void add_to(std::initializer_list<std::pair<const Variable *, Tensor>> sums) {
  std::vector<Tensor> next;
  // Sums are where what is counted is, so that no update waits for a device.
  for (const auto &[variable, value] : sums)
    if (!value.traced() && variable->state()->device() != value.device())
      static_cast<void>(variable->state()->load_on(value.device()));
  for (const auto &[variable, value] : sums) next.push_back(*variable + stop_gradient(value));
  auto value = next.begin();
  for (const auto &[variable, added] : sums) variable->assign(*value++);
}

void add_up(std::initializer_list<std::pair<const Variable *, const Variable *>> sums) {
  for (const auto &[variable, other] : sums)
    if (other->initialized()) variable->initialize(other->shape());
  for (const auto &[variable, other] : sums)
    if (other->initialized()) variable->assign_add(*other);
}

void forget(std::initializer_list<const Variable *> sums) {
  for (const Variable *variable : sums)
    if (variable->initialized()) variable->assign(0);
}

namespace {

/// Scores and labels that are class numbers for them, or an error.
struct Classified {
  Tensor labels, scores;

  Classified(const Operand &labels, const Operand &scores)
      : labels(labels.materialize()), scores(scores.materialize()) {
    const std::string name = std::string(CallSite::function()) + ": ";
    if (!is_integer(this->labels.dtype()))
      throw DTypeError(name + "labels must be class numbers of an integer dtype, but are " +
                       described(this->labels));
    const Shape shape = detail::type_of(this->scores).shape;
    if (shape.empty()) throw ShapeError(name + "scores must be (..., classes), but are a scalar");
    if (!are_class_numbers(this->labels, this->scores))
      throw ShapeError(name +
                       "labels must have the shape of scores but for its last axis, but are " +
                       described(this->labels) + " for scores of shape " + to_string(shape));
  }
};

/// Whether the largest score is at the label; one that is NaN is at no label.
Tensor hits(const Classified &of) {
  const Tensor best = reduce_max(of.scores, {.axes = Ints{-1}});
  const Tensor right =
      equal(cast(argmax_along(of.scores), of.labels.dtype()),
            losses::checked_classes(of.labels, weft::detail::size_for_call(of.scores, -1)));
  return logical_and(right, equal(best, best));
}

/// The samples: means over the last axis, or the elements if there is no other.
Tensor samples(const Tensor &elements) {
  return elements.rank() < 2 ? elements : losses::mean_of_last(elements);
}

} // namespace

Tensor accuracy(const Operand &labels, const Operand &scores) {
  const CallBeside site("accuracy", labels, scores);
  return weft::mean(cast(hits(Classified(labels, scores)), DType::f32));
}

Mean::Mean() : total(zeros_of({})), count(zeros_of({})) {}

void Mean::update(const Operand &values, const Tensor &weights) const {
  const CallBeside site("Mean", values);
  const Tensor numbers = cast(values, DType::f64);
  const losses::Weighted kept =
      losses::weighted(numbers, losses::Weighting(losses::LossOptions{.weights = weights}));
  add_to({{&total, losses::total(kept.values)},
          {&count, losses::total(kept.weights.defined() ? kept.weights : ones_like(numbers))}});
}

Tensor Mean::result() const { return losses::quotient(total, count); }
void Mean::reset() const { forget({&total, &count}); }
void Mean::merge(const Mean &other) const {
  add_up({{&total, &other.total}, {&count, &other.count}});
}

void BinaryAccuracy::update(const Operand &labels, const Operand &scores,
                            const Tensor &weights) const {
  const CallBeside site("BinaryAccuracy", labels, scores);
  const Pair pair(labels, scores);
  const Tensor said = cast(pair.predictions > threshold_, pair.targets.dtype());
  mean_.update(samples(cast(equal(pair.targets, said), DType::f64)), weights);
}

void CategoricalAccuracy::update(const Operand &labels, const Operand &scores,
                                 const Tensor &weights) const {
  const CallBeside site("CategoricalAccuracy", labels, scores);
  const Pair pair(labels, scores);
  losses::with_last_axis("labels", pair.targets);
  mean_.update(hits(Classified(argmax_along(pair.targets), pair.predictions)), weights);
}

void SparseCategoricalAccuracy::update(const Operand &labels, const Operand &scores,
                                       const Tensor &weights) const {
  const CallBeside site("SparseCategoricalAccuracy", labels, scores);
  mean_.update(hits(Classified(labels, scores)), weights);
}

TopKAccuracy::TopKAccuracy(std::int64_t k) : k_(k) {
  if (k < 1)
    throw ValueError("TopKAccuracy: k is " + std::to_string(k) + ", but must be at least 1");
}

void TopKAccuracy::update(const Operand &labels, const Operand &scores,
                          const Tensor &weights) const {
  const CallBeside site("TopKAccuracy", labels, scores);
  const Classified of(labels, scores);
  const Tensor at = losses::chosen(of.scores, of.labels, /*keepdims=*/true);
  const Tensor above = losses::sum_of_last(cast(of.scores > at, DType::i64));
  const Tensor is_number = any(equal(at, at), {.axes = Ints{-1}});
  mean_.update(logical_and(above < k_, is_number), weights);
}

void MeanSquaredError::update(const Operand &targets, const Operand &predictions,
                              const Tensor &weights) const {
  const CallBeside site("MeanSquaredError", targets, predictions);
  const Pair pair(targets, predictions);
  mean_.update(samples(square(pair.predictions - pair.targets)), weights);
}

void MeanAbsoluteError::update(const Operand &targets, const Operand &predictions,
                               const Tensor &weights) const {
  const CallBeside site("MeanAbsoluteError", targets, predictions);
  const Pair pair(targets, predictions);
  mean_.update(samples(abs(pair.predictions - pair.targets)), weights);
}

void Perplexity::update(const Operand &labels, const Operand &scores, const Tensor &weights) const {
  const CallBeside site("Perplexity", labels, scores);
  const Tensor values =
      losses::sparse_categorical_cross_entropy(labels, scores,
                                               {.from_logits = from_logits_,
                                                .ignored_label = ignored_label_,
                                                .reduction = losses::Reduction::none});
  if (!ignored_label_) return mean_.update(values, weights);
  const Tensor counts = cast(not_equal(labels.materialize(), *ignored_label_), DType::f64);
  mean_.update(values, weights.defined()
                           ? losses::weighted(
                                 counts, losses::Weighting(losses::LossOptions{.weights = weights}))
                                 .values
                           : counts);
}

Tensor Perplexity::result() const { return select(equal(mean_.count, 0), 0, exp(mean_.result())); }

} // namespace weft::metrics
