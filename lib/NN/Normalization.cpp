// Normalization layers: their statistics, and what they keep of them.
#include <weft/nn/normalization.h>

#include <cmath>
#include <numeric>
#include <tuple>
#include <utility>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include "NN/Rows.h"
#include "Support/Messages.h"
#include <weft/detail/synchronized.h>
#include <weft/ops.h>

namespace weft::nn {

namespace {

void check_epsilon(const LayerCall &site, double epsilon) {
  if (!(epsilon > 0 && std::isfinite(epsilon)))
    throw ValueError(site.prefix() + "epsilon is " + number_text(epsilon) +
                     ", but must be positive and finite");
}

void initialize(const std::optional<Variable> &variable, std::int64_t size) {
  if (variable) variable->initialize({size});
}

/// Builds variables of the size of the last axis of x, or compares it with theirs.
void fit(const LayerCall &site, const Tensor &x, std::size_t rank,
         std::initializer_list<const Variable *> variables) {
  check_rank(site.prefix(), x, rank);
  for (const Variable *variable : variables) {
    if (variable == nullptr) continue;
    if (!variable->initialized()) variable->initialize({size_for_building(site.prefix(), x, -1)});
    check_dtype(site.prefix(), x, variable->dtype());
    check_last_axis(site.prefix(), x, rank, variable->shape()[0]);
  }
}

const Variable *pointer(const std::optional<Variable> &variable) {
  return variable ? &*variable : nullptr;
}

/// That of variables of which one may be there, f32 if there is none.
DType dtype_of(const std::optional<Variable> &one, const std::optional<Variable> &other) {
  return one ? one->dtype() : other ? other->dtype() : DType::f32;
}

Tensor value_of(const std::optional<Variable> &variable) {
  return variable ? variable->value() : Tensor();
}

/// How many elements there are along the axes, an i64 scalar.
Tensor count_of(const Tensor &x, const Ints &axes) {
  Tensor count = tensor(std::int64_t{1});
  for (const std::int64_t axis : axes) count = count * count_along(x, axis);
  return count;
}

/// Throws ValueError if there is nothing along the axes to have a mean: in a trace that does not
/// know the sizes AssertionError, when it runs.
void check_not_empty(const LayerCall &site, const Tensor &x, const Ints &axes) {
  const TensorType type = detail::type_of(x);
  bool known = true;
  for (const std::int64_t axis : axes) {
    const std::int64_t size = type.shape[static_cast<std::size_t>(axis)];
    if (size == 0)
      throw ValueError(site.prefix() + "x is " + to_string(type) +
                       ": a batch of no elements has no mean to train by");
    known &= size != unknown;
  }
  if (known) return;
  weft::check(count_of(x, axes) > 0,
              site.prefix() + "a batch of no elements has no mean to train by");
}

/// The moments of all ranks' elements, of which each rank has its own and how many there are; and
/// how many there are of all. Sums of squares about the mean of all are never a difference of large
/// numbers.
std::pair<Moments, Tensor> joined(const Moments &own, const Tensor &count,
                                  const detail::ReplicasInStep &replicas,
                                  const std::string &prefix) {
  const std::int64_t channels = own.mean.shape().back();
  Tensor counts = reshape(count, {1});
  if (const Tensor weight = detail::WeightOfRows::current(); weight.defined())
    counts = counts * cast(reshape(weight, {1}) > 0, count.dtype());
  const Tensor told = concatenate(
      {reshape(own.mean, {channels}), reshape(own.variance, {channels}), counts}, {.axis = 0});
  const Tensor all = replicas.rows_of_all(prefix, told);
  const Tensor means = all[{ellipsis, slice(0, channels)}],
               variances = all[{ellipsis, slice(channels, 2 * channels)}],
               elements = all[{ellipsis, slice(2 * channels, 2 * channels + 1)}];
  const Tensor total = sum(elements);
  const Tensor mean = sum(elements * means, {.axes = Ints{0}}) / total;
  const Tensor variance =
      sum(elements * (variances + square(means - mean)), {.axes = Ints{0}}) / total;
  const Shape shape = own.mean.shape();
  return {{reshape(mean, shape), reshape(variance, shape)}, total};
}

std::optional<Variable> scale_of(const VariableMaker &make, bool used, DType dtype) {
  return make.optional(used, "gamma", dtype, initializers::ones());
}
std::optional<Variable> center_of(const VariableMaker &make, bool used, DType dtype) {
  return make.optional(used, "beta", dtype, initializers::zeros());
}

} // namespace

BatchNorm::BatchNorm(const BatchNormOptions &options, std::source_location where)
    : BatchNorm(VariableMaker("BatchNorm", options.name), options, where) {}

BatchNorm::BatchNorm(const VariableMaker &make, const BatchNormOptions &options,
                     const std::source_location &where)
    : gamma(scale_of(make, options.scale, options.dtype)),
      beta(center_of(make, options.center, options.dtype)),
      moving_mean(make("moving_mean", options.dtype, initializers::zeros(), /*trainable=*/false)),
      moving_variance(make("moving_variance", options.dtype, initializers::ones(), false)),
      momentum_(options.momentum), epsilon_(options.epsilon), unbiased_(options.unbiased),
      synchronized_(options.synchronized), name_("BatchNorm", options.name) {
  const LayerCall site(name_, where);
  check_epsilon(site, epsilon_);
  if (!(momentum_ >= 0 && momentum_ <= 1))
    throw ValueError(site.prefix() + "momentum is " + number_text(momentum_) +
                     ", but must be from 0 to 1");
}

Tensor BatchNorm::operator()(const Operand &x, const CallOptions &options) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.wide_input(x, moving_mean.dtype());
  fit(site, value, 2, {pointer(gamma), pointer(beta), &moving_mean, &moving_variance});
  if (!options.training)
    return site.result(normalized(value, {moving_mean.value(), moving_variance.value()}, epsilon_,
                                  value_of(gamma), value_of(beta)));
  Ints axes(static_cast<std::size_t>(value.rank() - 1), 0);
  std::iota(axes.begin(), axes.end(), 0);
  check_not_empty(site, value, axes);
  Moments batch = moments_of_channels(value);
  Tensor count;
  if (unbiased_) count = cast(count_of(value, axes), batch.variance.dtype());
  if (const auto *replicas = detail::ReplicasInStep::current();
      replicas != nullptr && synchronized_) {
    if (!unbiased_) count = cast(count_of(value, axes), batch.variance.dtype());
    std::tie(batch, count) = joined(batch, count, *replicas, site.prefix());
  }
  const auto follow = [&](const Variable &moving, const Tensor &now) {
    const Tensor flat = stop_gradient(reshape(now, moving.shape()));
    moving.assign(moving * momentum_ + flat * (1 - momentum_));
  };
  follow(moving_mean, batch.mean);
  if (unbiased_) {
    // Of a single element there is no variance.
    follow(moving_variance, batch.variance * (count / maximum(count - 1, 1.)));
  } else {
    follow(moving_variance, batch.variance);
  }
  return site.result(normalized(value, batch, epsilon_, value_of(gamma), value_of(beta)));
}

LayerNorm::LayerNorm(const LayerNormOptions &options, std::source_location where)
    : LayerNorm(VariableMaker("LayerNorm", options.name), std::nullopt, options, where) {}

LayerNorm::LayerNorm(std::int64_t size, const LayerNormOptions &options, std::source_location where)
    : LayerNorm(VariableMaker("LayerNorm", options.name), size, options, where) {}

LayerNorm::LayerNorm(const VariableMaker &make, std::optional<std::int64_t> size,
                     const LayerNormOptions &options, const std::source_location &where)
    : gamma(scale_of(make, options.scale, options.dtype)),
      beta(center_of(make, options.center, options.dtype)), epsilon_(options.epsilon),
      name_("LayerNorm", options.name) {
  const LayerCall site(name_, where);
  check_epsilon(site, epsilon_);
  if (!size) return;
  check_size(name_, "size", *size);
  initialize(gamma, *size);
  initialize(beta, *size);
}

Tensor LayerNorm::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.wide_input(x, dtype_of(gamma, beta));
  fit(site, value, 1, {pointer(gamma), pointer(beta)});
  return site.result(normalized_rows(value, epsilon_, value_of(gamma), value_of(beta)));
}

RMSNorm::RMSNorm(const RMSNormOptions &options, std::source_location where)
    : RMSNorm(VariableMaker("RMSNorm", options.name), std::nullopt, options, where) {}

RMSNorm::RMSNorm(std::int64_t size, const RMSNormOptions &options, std::source_location where)
    : RMSNorm(VariableMaker("RMSNorm", options.name), size, options, where) {}

RMSNorm::RMSNorm(const VariableMaker &make, std::optional<std::int64_t> size,
                 const RMSNormOptions &options, const std::source_location &where)
    : scale(make("scale", options.dtype, initializers::ones())), epsilon_(options.epsilon),
      name_("RMSNorm", options.name) {
  const LayerCall site(name_, where);
  check_epsilon(site, epsilon_);
  if (!size) return;
  check_size(name_, "size", *size);
  scale.initialize({*size});
}

Tensor RMSNorm::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.wide_input(x, scale.dtype());
  fit(site, value, 1, {&scale});
  return site.result(rms_norm_of_rows(value, scale.value(), epsilon_));
}

GroupNorm::GroupNorm(std::int64_t groups, const GroupNormOptions &options,
                     std::source_location where)
    : GroupNorm(VariableMaker("GroupNorm", options.name), groups, options, where) {}

GroupNorm::GroupNorm(const VariableMaker &make, std::int64_t groups,
                     const GroupNormOptions &options, const std::source_location &where)
    : gamma(scale_of(make, options.scale, options.dtype)),
      beta(center_of(make, options.center, options.dtype)), groups_(groups),
      epsilon_(options.epsilon), name_("GroupNorm", options.name) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "group", groups);
  check_epsilon(site, epsilon_);
}

Tensor GroupNorm::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.wide_input(x, dtype_of(gamma, beta));
  fit(site, value, 2, {pointer(gamma), pointer(beta)});
  const std::int64_t channels = size_for_building(site.prefix(), value, -1);
  if (channels % groups_ != 0)
    throw ShapeError(site.prefix() + "the " + std::to_string(groups_) +
                     " groups do not divide the " + std::to_string(channels) + " channels of x");
  // Means over the axes between, then over the channels of each group, which all have the same
  // number of elements; only the batch may be unknown where the groups are taken apart.
  Ints between;
  for (std::int64_t axis = 1; axis + 1 < value.rank(); ++axis) between.push_back(axis);
  Ints whole(static_cast<std::size_t>(value.rank()), 1);
  whole.front() = -1;
  whole.back() = channels;
  const auto of_groups = [&](const Tensor &v) {
    const Tensor of_channels = between.empty() ? v : mean(v, {.axes = between, .keepdims = true});
    const Tensor means = mean(reshape(of_channels, {-1, groups_, channels / groups_}),
                              {.axes = Ints{-1}, .keepdims = true});
    return reshape(means * ones({channels / groups_}, means.dtype()), whole);
  };
  const Tensor centered = value - of_groups(value);
  Tensor y = centered * rsqrt(of_groups(square(centered)) + epsilon_);
  if (gamma) y = y * *gamma;
  if (beta) y = y + *beta;
  return site.result(y);
}

} // namespace weft::nn
