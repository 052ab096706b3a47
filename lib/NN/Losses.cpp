// Losses and metrics.
#include <string>

#include "Support/CallSite.h"
#include <weft/nn.h>
#include <weft/ops.h>

namespace weft {

namespace {

bool may_equal(std::int64_t a, std::int64_t b) { return a == b || a == unknown || b == unknown; }

/// Whether the shapes are the same but for sizes that a trace does not know, which are compared
/// when it runs.
bool may_equal(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i) equal = may_equal(a[i], b[i]);
  return equal;
}

std::string described(const Tensor &tensor) { return to_string(detail::type_of(tensor)); }

/// Class numbers, of which one that is no class is an IndexError: in a trace when it runs.
Tensor checked(const Tensor &labels, std::int64_t classes) {
  if (classes == unknown)
    throw ShapeError(std::string(CallSite::function()) +
                     ": this trace does not know the number of classes, the size of the last axis");
  return gather(iota(labels.dtype(), {classes}), labels);
}

/// x[i, labels[i]] for x (batch, classes), as (batch, 1). What is not chosen is not looked at, so
/// that -inf for a class that is out of the question does no harm.
Tensor chosen(const Tensor &x, const Tensor &labels) {
  const std::int64_t classes = x.size(1);
  const Tensor column = reshape(checked(labels, classes), {-1, 1});
  return sum(select(equal(column, iota(labels.dtype(), {classes})), x, 0),
             {.axes = Ints{1}, .keepdims = true});
}

/// `x` with the sizes of 1 that `other` is known to have, where a trace does not know x's: the op
/// that takes both would stretch them.
Tensor held_to(const char *function, const Tensor &x, const Tensor &other) {
  const Shape shape = detail::type_of(x).shape, wanted = detail::type_of(other).shape;
  bool holds = true;
  for (std::size_t i = 0; i < shape.size(); ++i) holds &= shape[i] != unknown || wanted[i] != 1;
  if (holds) return x;
  if (!wanted.is_static())
    throw ShapeError(std::string(function) + ": the shapes " + to_string(shape) + " and " +
                     to_string(wanted) + " cannot be compared, as sizes of both are unknown");
  return broadcast(x, wanted);
}

/// Targets and predictions of one shape: sizes of 1 are not stretched, for then each element of one
/// would be compared with several of the other.
struct Pair {
  Tensor targets, predictions;

  Pair(const char *function, const Operand &targets, const Operand &predictions)
      : targets(targets.materialize()), predictions(predictions.materialize()) {
    if (targets.weak() || predictions.weak()) return;
    if (!may_equal(detail::type_of(this->targets).shape, detail::type_of(this->predictions).shape))
      throw ShapeError(std::string(function) +
                       ": targets and predictions must have the same "
                       "shape, but are " +
                       described(this->targets) + " and " + described(this->predictions));
    this->targets = held_to(function, this->targets, this->predictions);
    this->predictions = held_to(function, this->predictions, this->targets);
  }
};

} // namespace

namespace losses {

Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits) {
  const char *const name = "softmax_cross_entropy";
  const CompositeCall site(name, labels.where());
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
  if (!numbers)
    return mean(
        negate(sum(held_to(name, targets, scores) * nn::log_softmax(scores), {.axes = Ints{1}})));
  const Tensor x = scores - stop_gradient(max(scores, {.axes = Ints{1}, .keepdims = true}));
  return mean(log(sum(exp(x), {.axes = Ints{1}, .keepdims = true})) - chosen(x, targets));
}

Tensor mean_squared_error(const Operand &targets, const Operand &predictions) {
  const CompositeCall site("mean_squared_error", targets.where());
  const Pair pair("mean_squared_error", targets, predictions);
  return mean(square(pair.predictions - pair.targets));
}

} // namespace losses

namespace metrics {

Tensor accuracy(const Operand &labels, const Operand &scores) {
  const CompositeCall site("accuracy", labels.where());
  const Tensor right = labels.materialize(), found = scores.materialize();
  if (!is_integer(right.dtype()))
    throw DTypeError("accuracy: labels must be class numbers of an integer dtype, but are " +
                     described(right));
  const Shape given = detail::type_of(right).shape, shape = detail::type_of(found).shape;
  if (shape.empty()) throw ShapeError("accuracy: scores must be (..., classes), but are a scalar");
  if (!may_equal(given, std::span<const std::int64_t>(shape).first(shape.size() - 1)))
    throw ShapeError("accuracy: labels must have the shape of scores but for its last axis, but "
                     "are " +
                     described(right) + " for scores of shape " + to_string(shape));
  // A largest score that is NaN is at no label.
  const Ints last{-1};
  const Tensor best = max(found, {.axes = last});
  const Tensor right_ones =
      equal(cast(argmax(found), right.dtype()), checked(right, found.size(-1)));
  return mean(cast(logical_and(right_ones, equal(best, best)), DType::f32));
}

} // namespace metrics

} // namespace weft
