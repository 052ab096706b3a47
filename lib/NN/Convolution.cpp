// Convolutions as layers: their variables, and the calls of the op.
#include <weft/nn/convolution.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

constexpr const char *kind_of(const char *const (&names)[3], int rank) { return names[rank - 1]; }
constexpr const char *kConv[] = {"Conv1D", "Conv2D", "Conv3D"};
constexpr const char *kTranspose[] = {"Conv1DTranspose", "Conv2DTranspose", "Conv3DTranspose"};
constexpr const char *kDepthwise[] = {"DepthwiseConv1D", "DepthwiseConv2D", "DepthwiseConv3D"};

/// The channels of x, after the check of its rank and of what the layer was built for.
std::int64_t channels_of(const LayerCall &site, const Tensor &x, int rank,
                         std::optional<std::int64_t> built_for) {
  check_images(site.prefix(), x, rank);
  if (!built_for) return size_for_building(site.prefix(), x, -1);
  check_last_axis(site.prefix(), x, static_cast<std::size_t>(rank) + 2, *built_for);
  return *built_for;
}

/// The window's sizes, then the others.
Shape kernel_shape(const Ints &window, std::int64_t a, std::int64_t b) {
  Shape shape(window.begin(), window.end());
  shape.push_back(a);
  shape.push_back(b);
  return shape;
}

Tensor finished(const LayerCall &site, Tensor y, const std::optional<Variable> &bias,
                const Activation &activation) {
  if (bias) y = y + site.weight(*bias);
  return site.result(activation(y));
}

} // namespace

Ints PerAxis::of_rank(std::size_t rank, const std::string &what) const {
  if (one_for_all_) return Ints(rank, values_[0]);
  if (values_.size() != rank)
    throw ValueError(what + " needs a number for all axes or a list of " + std::to_string(rank) +
                     ", but " + std::to_string(values_.size()) +
                     (values_.size() == 1 ? " is given" : " are given"));
  return values_;
}

template <int Rank>
Conv<Rank>::Conv(std::int64_t filters, const PerAxis &window, const ConvOptions &options,
                 std::source_location where)
    : Conv(VariableMaker(kind_of(kConv, Rank), options.name), filters, window, options, where) {}

template <int Rank>
Conv<Rank>::Conv(const VariableMaker &make, std::int64_t filters, const PerAxis &window,
                 const ConvOptions &options, const std::source_location &where)
    : kernel(make("kernel", options.dtype, options.kernel_initializer)),
      bias(make.optional(options.use_bias, "bias", options.dtype, options.bias_initializer)),
      activation(options.activation), filters_(filters), name_(kind_of(kConv, Rank), options.name) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "filter", filters);
  check_at_least_one(name_, "group", options.groups);
  if (filters % options.groups != 0)
    throw ValueError(site.prefix() + "the " + std::to_string(options.groups) +
                     " groups do not divide the " + std::to_string(filters) + " filters");
  window_ = positive_per_axis(name_, "the window", window, Rank);
  options_ = {.strides = positive_per_axis(name_, "strides", options.strides, Rank),
              .padding = options.padding,
              .dilations = positive_per_axis(name_, "dilations", options.dilations, Rank),
              .groups = options.groups};
  if (bias) bias->initialize({filters});
}

template <int Rank>
Tensor Conv<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.input(x);
  const auto built =
      kernel.initialized() ? std::optional(kernel.shape()[Rank] * options_.groups) : std::nullopt;
  const std::int64_t channels = channels_of(site, value, Rank, built);
  if (!built) {
    if (channels % options_.groups != 0)
      throw ShapeError(site.prefix() + "the " + std::to_string(options_.groups) +
                       " groups do not divide the " + std::to_string(channels) + " channels of x");
    kernel.initialize(kernel_shape(window_, channels / options_.groups, filters_));
  }
  site.check_dtype(value, kernel);
  return finished(site, convolution(value, site.weight(kernel), options_), bias, activation);
}

template <int Rank>
ConvTranspose<Rank>::ConvTranspose(std::int64_t filters, const PerAxis &window,
                                   const ConvOptions &options, std::source_location where)
    : ConvTranspose(VariableMaker(kind_of(kTranspose, Rank), options.name), filters, window,
                    options, where) {}

template <int Rank>
ConvTranspose<Rank>::ConvTranspose(const VariableMaker &make, std::int64_t filters,
                                   const PerAxis &window, const ConvOptions &options,
                                   const std::source_location &where)
    : kernel(make("kernel", options.dtype, options.kernel_initializer)),
      bias(make.optional(options.use_bias, "bias", options.dtype, options.bias_initializer)),
      activation(options.activation), filters_(filters),
      name_(kind_of(kTranspose, Rank), options.name) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "filter", filters);
  if (options.groups != 1)
    throw ValueError(site.prefix() + "groups is " + std::to_string(options.groups) +
                     ", but transposed convolutions have one");
  window_ = positive_per_axis(name_, "the window", window, Rank);
  options_ = {.strides = positive_per_axis(name_, "strides", options.strides, Rank),
              .padding = options.padding,
              .dilations = positive_per_axis(name_, "dilations", options.dilations, Rank)};
  if (bias) bias->initialize({filters});
}

template <int Rank>
Tensor ConvTranspose<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.input(x);
  const auto built = kernel.initialized() ? std::optional(kernel.shape()[Rank + 1]) : std::nullopt;
  const std::int64_t channels = channels_of(site, value, Rank, built);
  if (!built) kernel.initialize(kernel_shape(window_, filters_, channels));
  site.check_dtype(value, kernel);
  return finished(site, convolution_transpose(value, site.weight(kernel), options_), bias,
                  activation);
}

template <int Rank>
DepthwiseConv<Rank>::DepthwiseConv(const PerAxis &window, const DepthwiseConvOptions &options,
                                   std::source_location where)
    : DepthwiseConv(VariableMaker(kind_of(kDepthwise, Rank), options.name), window, options,
                    where) {}

template <int Rank>
DepthwiseConv<Rank>::DepthwiseConv(const VariableMaker &make, const PerAxis &window,
                                   const DepthwiseConvOptions &options,
                                   const std::source_location &where)
    : kernel(make("kernel", options.dtype, options.kernel_initializer)),
      bias(make.optional(options.use_bias, "bias", options.dtype, options.bias_initializer)),
      activation(options.activation), multiplier_(options.multiplier),
      name_(kind_of(kDepthwise, Rank), options.name) {
  const LayerCall site(name_, where);
  check_size(name_, "multiplier", multiplier_);
  window_ = positive_per_axis(name_, "the window", window, Rank);
  options_ = {.strides = positive_per_axis(name_, "strides", options.strides, Rank),
              .padding = options.padding,
              .dilations = positive_per_axis(name_, "dilations", options.dilations, Rank)};
}

template <int Rank>
Tensor DepthwiseConv<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = site.input(x);
  const auto built = kernel.initialized() ? std::optional(kernel.shape()[Rank]) : std::nullopt;
  const std::int64_t channels = channels_of(site, value, Rank, built);
  if (!built) kernel.initialize(kernel_shape(window_, channels, multiplier_));
  site.check_dtype(value, kernel);
  if (bias && !bias->initialized()) bias->initialize({channels * multiplier_});
  ConvolutionOptions options = options_;
  options.groups = channels;
  const Tensor grouped =
      reshape(site.weight(kernel), kernel_shape(window_, 1, channels * multiplier_));
  return finished(site, convolution(value, grouped, options), bias, activation);
}

template <int Rank>
SeparableConv<Rank>::SeparableConv(std::int64_t filters, const PerAxis &window,
                                   const DepthwiseConvOptions &options, std::source_location where)
    : depthwise(window,
                {.strides = options.strides,
                 .padding = options.padding,
                 .dilations = options.dilations,
                 .multiplier = options.multiplier,
                 .use_bias = false,
                 .kernel_initializer = options.kernel_initializer,
                 .dtype = options.dtype,
                 .name = options.name.empty() ? "" : options.name + ".depthwise"},
                where),
      pointwise(filters, 1,
                {.activation = options.activation,
                 .use_bias = options.use_bias,
                 .kernel_initializer = options.kernel_initializer,
                 .bias_initializer = options.bias_initializer,
                 .dtype = options.dtype,
                 .name = options.name.empty() ? "" : options.name + ".pointwise"},
                where) {}

template class Conv<1>;
template class Conv<2>;
template class Conv<3>;
template class ConvTranspose<1>;
template class ConvTranspose<2>;
template class ConvTranspose<3>;
template class DepthwiseConv<1>;
template class DepthwiseConv<2>;
template class SeparableConv<1>;
template class SeparableConv<2>;

} // namespace weft::nn
