// Loss scales: gradients of 16-bit floats kept in their range.
#include <weft/optimizers.h>

#include <cmath>

#include "Support/CallSite.h"
#include "Support/Messages.h"
#include <weft/composites.h>
#include <weft/control_flow.h>

namespace weft::optimizers {

namespace {

void need_positive(const char *what, double value, double least) {
  if (!(value > least) || !std::isfinite(value))
    throw ValueError("LossScale: " + std::string(what) + " is " + number_text(value) +
                     ": it must be finite and above " + number_text(least));
}

} // namespace

LossScale::LossScale(const LossScaleOptions &options, std::source_location where)
    : scale_(tensor(static_cast<float>(options.initial)), options.name + ".scale",
             /*trainable=*/false),
      updates_(tensor(std::int64_t{0}), options.name + ".updates", /*trainable=*/false),
      dynamic_(options.dynamic), growth_interval_(options.growth_interval),
      factor_(options.factor) {
  const CompositeCall site("LossScale", where);
  need_positive("initial", options.initial, 0);
  need_positive("factor", options.factor, 1);
  need_positive("growth_interval", static_cast<double>(options.growth_interval), 0);
}

Tensor LossScale::scaled(const Operand &loss) const {
  const CompositeCall site("LossScale", loss.where());
  const Tensor value = loss.materialize();
  if (!is_floating(value.dtype()))
    throw DTypeError("LossScale: the loss must be floating, but it is " +
                     std::string(name_of(value.dtype())));
  const Tensor wide = item_size(value.dtype()) < 4 ? cast(value, DType::f32) : value;
  return wide * cast(scale_, wide.dtype());
}

Tensor LossScale::apply_gradients(const Optimizer &optimizer, const std::vector<Tensor> &gradients,
                                  std::source_location where) const {
  const CompositeCall site("LossScale", where);
  const Tensor inverse = 1 / scale_.value();
  Tensor finite = tensor(true);
  std::vector<Tensor> unscaled;
  for (const Tensor &gradient : gradients) {
    unscaled.push_back(gradient.defined() ? gradient * cast(inverse, gradient.dtype()) : gradient);
    if (gradient.defined()) finite = logical_and(finite, all(isfinite(unscaled.back())));
  }
  if_(finite, [&] { optimizer.apply_gradients(unscaled, where); });
  if (!dynamic_) return finite;
  const Tensor before = scale_.value(), since = updates_.value() + std::int64_t{1};
  const Tensor grown = logical_and(finite, since >= growth_interval_);
  constexpr double kMost = 0x1p126; // times most factors it is finite
  const Tensor larger = minimum(before * factor_, kMost), smaller = maximum(before / factor_, 1);
  scale_.assign(select(grown, larger, select(finite, before, smaller)));
  updates_.assign(select(logical_or(grown, logical_not(finite)), tensor(std::int64_t{0}), since));
  return finite;
}

} // namespace weft::optimizers
