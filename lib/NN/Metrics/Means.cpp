// Metrics that are means: of hits.
#include <weft/metrics.h>

#include "NN/Losses/Values.h"
#include "Support/CallSite.h"

namespace weft::metrics {

using losses::are_class_numbers;
using losses::described;

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
  const Tensor best = max(of.scores, {.axes = Ints{-1}});
  const Tensor right = equal(cast(argmax(of.scores), of.labels.dtype()),
                             losses::checked_classes(of.labels, of.scores.size(-1)));
  return logical_and(right, equal(best, best));
}

} // namespace

Tensor accuracy(const Operand &labels, const Operand &scores) {
  const CompositeCall site("accuracy", labels.where());
  return weft::mean(cast(hits(Classified(labels, scores)), DType::f32));
}

} // namespace weft::metrics
