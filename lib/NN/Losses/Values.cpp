// What losses and metrics share: operands of one shape, class numbers, and what becomes of values.
#include "NN/Losses/Values.h"

#include "NN/Rows.h"
#include "Support/CallSite.h"

namespace weft::losses {

namespace {

/// "mean_squared_error: ".
std::string prefix() { return std::string(CallSite::function()) + ": "; }

void check_known(std::int64_t classes) {
  if (classes == unknown)
    throw ShapeError(prefix() +
                     "this trace does not know the number of classes, the size of the last axis");
}

/// Whether x stretches to the shape of values, and values not to its.
bool may_stretch(const Shape &x, const Shape &values) {
  if (x.size() > values.size()) return false;
  const std::size_t skipped = values.size() - x.size();
  for (std::size_t i = 0; i < x.size(); ++i)
    if (x[i] != 1 && !may_equal(x[i], values[i + skipped])) return false;
  return true;
}

void check_stretches(const char *what, const Tensor &x, const Tensor &values) {
  const Shape shape = detail::type_of(x).shape, wanted = detail::type_of(values).shape;
  if (!may_stretch(shape, wanted))
    throw ShapeError(prefix() + what + " of shape " + to_string(shape) +
                     " do not broadcast to the values of shape " + to_string(wanted));
}

void check_mask(const Tensor &mask, const Tensor &values) {
  if (mask.dtype() != DType::boolean)
    throw DTypeError(prefix() + "the mask must be bools, but is " + described(mask));
  check_stretches("masks", mask, values);
}

/// The result of an op on x and values, which must have the shape of values.
Tensor unstretched(const Tensor &result, const Tensor &x, const Tensor &values) {
  const bool known =
      detail::type_of(x).shape.is_static() && detail::type_of(values).shape.is_static();
  return known ? result : match_shape(result, values);
}

} // namespace

bool may_equal(std::span<const std::int64_t> a, std::span<const std::int64_t> b) {
  bool equal = a.size() == b.size();
  for (std::size_t i = 0; equal && i < a.size(); ++i) equal = may_equal(a[i], b[i]);
  return equal;
}

std::string described(const Tensor &tensor) { return to_string(detail::type_of(tensor)); }

Tensor floating(const Operand &x) {
  const Tensor value = x.materialize();
  return is_floating(value.dtype()) ? value : cast(value, DType::f32);
}

Tensor with_last_axis(const char *what, const Tensor &x) {
  if (x.rank() == 0) throw ShapeError(prefix() + what + " must have a last axis, but are a scalar");
  return x;
}

Tensor sum_of_last(const Tensor &x, bool keepdims) {
  return sum(x, {.axes = Ints{-1}, .keepdims = keepdims});
}

Tensor mean_of_last(const Tensor &x) { return mean(x, {.axes = Ints{-1}}); }

Tensor total(const Tensor &x) { return x.rank() == 0 ? x : sum(x); }

Tensor quotient(const Tensor &a, const Tensor &b) {
  const Tensor none = b == 0;
  return select(none, 0, a / select(none, 1, b));
}

Pair::Pair(const Operand &targets, const Operand &predictions) {
  if (predictions.weak() && !targets.weak()) {
    this->targets = floating(targets);
    this->predictions = predictions.materialize(this->targets.dtype());
    this->predictions = this->predictions + zeros_like(this->targets);
    return;
  }
  this->predictions = floating(predictions);
  if (targets.weak()) {
    this->targets = targets.materialize(this->predictions.dtype());
    this->targets = this->targets + zeros_like(this->predictions);
    return;
  }
  this->targets = targets.materialize();
  const Shape given = detail::type_of(this->targets).shape,
              shape = detail::type_of(this->predictions).shape;
  if (!may_equal(given, shape))
    throw ShapeError(prefix() + "targets and predictions must have the same shape, but are " +
                     described(this->targets) + " and " + described(predictions.materialize()));
  if (!is_floating(this->targets.dtype()))
    this->targets = cast(this->targets, this->predictions.dtype());
  if (given.is_static() && shape.is_static()) return;
  this->targets = match_shape(this->targets, this->predictions);
  this->predictions = match_shape(this->predictions, this->targets);
}

void check_scores(const Tensor &scores) {
  if (!is_floating(scores.dtype()))
    throw DTypeError(prefix() + "scores must be floating, but are " + described(scores));
  if (scores.rank() == 0)
    throw ShapeError(prefix() + "scores must be (..., classes), but are a scalar");
}

bool are_class_numbers(const Tensor &labels, const Tensor &scores) {
  const Shape given = detail::type_of(labels).shape, shape = detail::type_of(scores).shape;
  return is_integer(labels.dtype()) &&
         may_equal(given, std::span<const std::int64_t>(shape).first(shape.size() - 1));
}

Tensor checked_classes(const Tensor &labels, std::int64_t classes) {
  check_known(classes);
  const IndexWord word("label");
  return gather(iota(labels.dtype(), {classes}), labels);
}

Tensor chosen(const Tensor &x, const Tensor &labels, bool keepdims) {
  const std::int64_t classes = weft::detail::size_for_call(x, -1);
  check_known(classes);
  // As a column, and an error where there is no such class.
  const IndexWord word("label");
  const Tensor numbers = iota(labels.dtype(), {classes}),
               column = gather(reshape(numbers, {classes, 1}), labels);
  return sum_of_last(select(equal(column, numbers), x, 0), keepdims);
}

Tensor sparse_values(const Tensor &labels, const Tensor &scores, bool from_logits,
                     double smoothing) {
  const auto of_label = [&](const Tensor &x) {
    const Tensor at = chosen(x, labels);
    return smoothing == 0 ? at : (1 - smoothing) * at + smoothing * mean_of_last(x);
  };
  if (!from_logits)
    return -of_label(log(clip(scores / sum_of_last(scores, true), kEpsilon, 1 - kEpsilon)));
  const auto from = [](const Tensor &given) {
    return given - stop_gradient(reduce_max(given, {.axes = Ints{-1}, .keepdims = true}));
  };
  if (smoothing == 0)
    return nn::cross_entropy_of_rows(scores, labels, [](std::span<const Tensor> given) {
      const Tensor x = decltype(from)()(given[0]);
      return log(sum_of_last(exp(x))) - chosen(x, given[1]);
    });
  const Tensor x = from(scores);
  return log(sum_of_last(exp(x))) - of_label(x);
}

Weighted weighted(const Tensor &values, const Weighting &weighting) {
  const Tensor &mask = weighting.mask;
  if (!weighting.weights.defined() && !mask.defined()) return {values, Tensor()};
  Tensor all = ones_like(values), result = values;
  if (weighting.weights.defined()) {
    const Tensor weights = cast(stop_gradient(weighting.weights), values.dtype());
    check_stretches("weights", weights, values);
    result = unstretched(values * weights, weights, values);
    all = unstretched(all * weights, weights, values);
  }
  if (mask.defined()) {
    check_mask(mask, values);
    result = unstretched(select(mask, result, 0), mask, values);
    all = unstretched(select(mask, all, 0), mask, values);
  }
  return {result, all};
}

Tensor masked(const Tensor &counts, const Tensor &mask) {
  check_mask(mask, counts);
  return unstretched(logical_and(counts, mask), mask, counts);
}

Tensor reduced(const Tensor &values, const Weighting &weighting) {
  if (weighting.plain_mean()) return values.rank() == 0 ? values : mean(values);
  const Weighted kept = weighted(values, weighting);
  switch (weighting.reduction) {
  case Reduction::none: return kept.values;
  case Reduction::sum: return total(kept.values);
  case Reduction::mean: break;
  case Reduction::weighted_mean:
    if (!kept.weights.defined()) break;
    return quotient(total(kept.values), total(kept.weights));
  default:
    throw ValueError(prefix() + "there is no reduction of the number " +
                     std::to_string(static_cast<int>(weighting.reduction)));
  }
  if (!weighting.mask.defined()) return kept.values.rank() == 0 ? kept.values : mean(kept.values);
  const Tensor counts = select(weighting.mask, ones_like(values), 0);
  return total(kept.values) / maximum(total(counts), 1);
}

Tensor reduced_means(const Tensor &elements, const Weighting &weighting) {
  const bool direct = elements.rank() < 2 || weighting.plain_mean();
  return reduced(direct ? elements : mean_of_last(elements), weighting);
}

} // namespace weft::losses
