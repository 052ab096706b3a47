// The coefficient of determination, by running means (Chan, Golub and LeVeque 1979).
#include <weft/metrics.h>

#include "NN/Losses/Values.h"
#include "NN/Metrics/State.h"
#include "Ops/DeviceOps.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"

namespace weft::metrics {

using losses::quotient;

namespace {

/// What a set of targets has: weights, means and squared deviations by output, and squared errors.
struct Part {
  Tensor count, mean, deviation, residual;

  Part(Tensor count, Tensor mean, Tensor deviation, Tensor residual)
      : count(std::move(count)), mean(std::move(mean)), deviation(std::move(deviation)),
        residual(std::move(residual)) {}
  explicit Part(const Tensor &moments) : Part(moments[0], moments[1], moments[2], moments[3]) {}
  Tensor moments() const {
    return concatenate(
        {count[{newaxis}], mean[{newaxis}], deviation[{newaxis}], residual[{newaxis}]},
        {.axis = 0});
  }
};

/// What two sets have together; one of zeros changes nothing.
Part joined(const Part &a, const Part &b) {
  const Tensor count = a.count + b.count, share = quotient(b.count, count);
  const Tensor apart = b.mean - a.mean;
  return {count, a.mean + apart * share,
          a.deviation + b.deviation + square(apart) * a.count * share, a.residual + b.residual};
}

Tensor merged(const Tensor &a, const Tensor &b) { return joined(Part(a), Part(b)).moments(); }

} // namespace

R2::R2() : moments(zeros_later()) { moments.state()->merges_by(merged); }

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
  if (moments.initialized() && moments.shape()[1] != outputs)
    throw ShapeError("R2: there were " + std::to_string(moments.shape()[1]) +
                     " outputs, but now there are " + std::to_string(outputs));
  const losses::Weighting weighting(
      losses::LossOptions{.weights = weights.defined() ? weights[{ellipsis, newaxis}] : weights});
  const auto sums = [&](const Tensor &x) {
    return sum(losses::weighted(x, weighting).values, {.axes = Ints{0}});
  };
  const Tensor n = sums(ones_like(y)), middle = quotient(sums(y), n);
  const Part batch{n, middle, sums(square(y - middle)), sums(square(y - p))};
  moments.initialize({4, outputs});
  moments.assign(stop_gradient(joined(Part(moments), batch).moments()));
}

Tensor R2::result() const {
  const Part part(moments);
  const Tensor none = part.deviation == 0;
  return weft::mean(select(none, 0, 1 - part.residual / select(none, 1, part.deviation)));
}
void R2::reset() const { forget({&moments}); }
void R2::merge(const R2 &other) const {
  if (!other.moments.initialized()) return;
  moments.initialize(other.moments.shape());
  moments.assign(merged(moments, other.moments));
}

} // namespace weft::metrics
