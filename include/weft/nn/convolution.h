// Convolutions as layers: plain, transposed, depthwise and separable, in one to three dimensions.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>

#include <weft/nn/initializers.h>
#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/variable.h>
#include <weft/windows.h>

namespace weft::nn {

class VariableMaker;

/// A number for each spatial axis: one for all, 3, or a list, {3, 5}.
class PerAxis {
public:
  PerAxis(std::int64_t all) : values_{all} {}
  PerAxis(std::initializer_list<std::int64_t> values) : values_(values), one_for_all_(false) {}

  /// An entry per axis. Throws ValueError, in the words of who asks, if the list has another number
  /// of them.
  Ints of_rank(std::size_t rank, const std::string &what) const;

private:
  Ints values_;
  bool one_for_all_ = true;
};

/// Options of `Conv1D`, `Conv2D`, `Conv3D`, and of those that are transposed.
struct ConvOptions {
  Activation activation = {};
  PerAxis strides = 1;
  Padding padding = Padding::valid;
  PerAxis dilations = 1;
  std::int64_t groups = 1;
  bool use_bias = true;
  VariableInitializer kernel_initializer = initializers::glorot_uniform();
  VariableInitializer bias_initializer = initializers::zeros();
  DType dtype = DType::f32;
  /// Of the variables; without one they are called by their path in the model.
  std::string name = "";
};
WEFT_OPTIONS(ConvOptions, strides, padding, activation, dilations, groups, use_bias,
             kernel_initializer, bias_initializer, dtype, name)

/// y = activation(convolution(x, kernel) + bias), of x (batch, spatial axes.., channels); kernel
/// (window.., channels / groups, filters), bias (filters). The channels follow from the first call.
template <int Rank>
class Conv {
public:
  /// Throws ValueError unless there is at least one filter, the window's sizes, strides, dilations
  /// and groups are at least 1, and groups divide the filters.
  Conv(std::int64_t filters, const PerAxis &window, const ConvOptions &options = {},
       std::source_location where = WEFT_HERE);

  /// Throws ShapeError for another rank or number of channels, or a window larger than x.
  Tensor operator()(const Operand &x) const;

  Variable kernel;
  std::optional<Variable> bias;
  Activation activation;

  WEFT_FIELDS(Conv, kernel, bias, activation, name_)

private:
  Conv(const VariableMaker &make, std::int64_t filters, const PerAxis &window,
       const ConvOptions &options, const std::source_location &where);

  ConvolutionOptions options_;
  Ints window_;
  std::int64_t filters_;
  LayerName name_;
};
using Conv1D = Conv<1>;
using Conv2D = Conv<2>;
using Conv3D = Conv<3>;

/// The transpose of a convolution, which makes images larger by the strides; kernel (window..,
/// filters, channels), as Keras has it. With `same` the result is size * stride long.
template <int Rank>
class ConvTranspose {
public:
  /// Throws as Conv; ValueError if there are groups.
  ConvTranspose(std::int64_t filters, const PerAxis &window, const ConvOptions &options = {},
                std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x) const;

  Variable kernel;
  std::optional<Variable> bias;
  Activation activation;

  WEFT_FIELDS(ConvTranspose, kernel, bias, activation, name_)

private:
  ConvTranspose(const VariableMaker &make, std::int64_t filters, const PerAxis &window,
                const ConvOptions &options, const std::source_location &where);

  ConvolutionTransposeOptions options_;
  Ints window_;
  std::int64_t filters_;
  LayerName name_;
};
using Conv1DTranspose = ConvTranspose<1>;
using Conv2DTranspose = ConvTranspose<2>;
using Conv3DTranspose = ConvTranspose<3>;

/// Options of depthwise and separable convolutions.
struct DepthwiseConvOptions {
  Activation activation = {};
  PerAxis strides = 1;
  Padding padding = Padding::valid;
  PerAxis dilations = 1;
  /// How many results each channel has.
  std::int64_t multiplier = 1;
  bool use_bias = true;
  VariableInitializer kernel_initializer = initializers::glorot_uniform();
  VariableInitializer bias_initializer = initializers::zeros();
  DType dtype = DType::f32;
  std::string name = "";
};
WEFT_OPTIONS(DepthwiseConvOptions, strides, padding, multiplier, activation, dilations, use_bias,
             kernel_initializer, bias_initializer, dtype, name)

/// A convolution of each channel by itself: kernel (window.., channels, multiplier), whose result
/// `m` of channel `c` is channel c * multiplier + m.
template <int Rank>
class DepthwiseConv {
public:
  /// Throws as Conv.
  explicit DepthwiseConv(const PerAxis &window, const DepthwiseConvOptions &options = {},
                         std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x) const;

  Variable kernel;
  std::optional<Variable> bias;
  Activation activation;

  WEFT_FIELDS(DepthwiseConv, kernel, bias, activation, name_)

private:
  DepthwiseConv(const VariableMaker &make, const PerAxis &window,
                const DepthwiseConvOptions &options, const std::source_location &where);

  ConvolutionOptions options_;
  Ints window_;
  std::int64_t multiplier_;
  LayerName name_;
};
using DepthwiseConv1D = DepthwiseConv<1>;
using DepthwiseConv2D = DepthwiseConv<2>;

/// A depthwise convolution, then one of size 1 that mixes the channels (Chollet 2017): kernels
/// depthwise (window.., channels, multiplier) and pointwise (1.., channels * multiplier, filters).
template <int Rank>
class SeparableConv {
public:
  /// Throws as Conv.
  SeparableConv(std::int64_t filters, const PerAxis &window,
                const DepthwiseConvOptions &options = {}, std::source_location where = WEFT_HERE);

  Tensor operator()(const Operand &x) const { return pointwise(depthwise(x)); }

  DepthwiseConv<Rank> depthwise;
  Conv<Rank> pointwise;

  WEFT_FIELDS(SeparableConv, depthwise, pointwise)
};
using SeparableConv1D = SeparableConv<1>;
using SeparableConv2D = SeparableConv<2>;

} // namespace weft::nn
