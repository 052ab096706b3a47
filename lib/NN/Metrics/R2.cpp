// The coefficient of determination, by running means (Chan, Golub and LeVeque 1979).
#include <weft/metrics.h>

#include "NN/Losses/Values.h"
#include "NN/Metrics/State.h"
#include "Ops/DeviceOps.h"
#include "Support/CallSite.h"

namespace weft::metrics {

using losses::quotient;

namespace {

/// What a set of targets has: weights, means and squared deviations by output, and squared errors.
struct Part {
  Tensor count, mean, deviation, residual;
};

/// What two sets have together.
Part joined(const Part &a, const Part &b) {
  const Tensor count = a.count + b.count, share = quotient(b.count, count);
  const Tensor apart = b.mean - a.mean;
  return {count, a.mean + apart * share,
          a.deviation + b.deviation + square(apart) * a.count * share, a.residual + b.residual};
}

void assign(const R2 &metric, const Part &part) {
  metric.count.assign(stop_gradient(part.count));
  metric.mean.assign(stop_gradient(part.mean));
  metric.deviation.assign(stop_gradient(part.deviation));
  metric.residual.assign(stop_gradient(part.residual));
}

Part part_of(const R2 &metric) {
  return {metric.count, metric.mean, metric.deviation, metric.residual};
}

void initialize(const R2 &metric, const Shape &shape) {
  for (const Variable *variable :
       {&metric.count, &metric.mean, &metric.deviation, &metric.residual})
    variable->initialize(shape);
}

} // namespace

R2::R2()
    : count(zeros_later()), mean(zeros_later()), deviation(zeros_later()), residual(zeros_later()) {
}

void R2::update(const Operand &targets, const Operand &predictions, const Tensor &weights) const {
  const CallBeside site("R2", targets, predictions);
  const losses::Pair pair(targets, predictions);
  Tensor y = cast(pair.targets, DType::f64), p = cast(pair.predictions, DType::f64);
  if (y.rank() == 1) {
    y = y[{all, newaxis}];
    p = p[{all, newaxis}];
  }
  if (y.rank() != 2)
    throw ShapeError("R2: predictions must be (batch, outputs) or (batch,), but are " +
                     losses::described(pair.predictions));
  const std::int64_t outputs = weft::detail::size_for_call(y, 1);
  if (mean.initialized() && mean.shape()[0] != outputs)
    throw ShapeError("R2: there were " + std::to_string(mean.shape()[0]) +
                     " outputs, but now there are " + std::to_string(outputs));
  const losses::Weighting weighting(
      losses::LossOptions{.weights = weights.defined() ? weights[{ellipsis, newaxis}] : weights});
  const auto sums = [&](const Tensor &x) {
    return sum(losses::weighted(x, weighting).values, {.axes = Ints{0}});
  };
  const Tensor n = sums(ones_like(y)), middle = quotient(sums(y), n);
  const Part batch{n, middle, sums(square(y - middle)), sums(square(y - p))};
  initialize(*this, {outputs});
  assign(*this, joined(part_of(*this), batch));
}

Tensor R2::result() const {
  const Tensor spread = deviation, none = spread == 0;
  return weft::mean(select(none, 0, 1 - residual / select(none, 1, spread)));
}
void R2::reset() const { forget({&count, &mean, &deviation, &residual}); }
void R2::merge(const R2 &other) const {
  if (!other.mean.initialized()) return;
  initialize(*this, other.mean.shape());
  assign(*this, joined(part_of(*this), part_of(other)));
}

} // namespace weft::metrics
