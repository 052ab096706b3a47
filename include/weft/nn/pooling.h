// Pooling as layers: the largest element or the mean of windows, or of whole images.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/nn/convolution.h>
#include <weft/nn/layer.h>
#include <weft/options.h>
#include <weft/windows.h>

namespace weft::nn {

/// Options of pooling.
struct PoolingOptions {
  /// Without them windows lie side by side.
  std::optional<PerAxis> strides = std::nullopt;
  Padding padding = Padding::valid;
};
WEFT_OPTIONS(PoolingOptions, strides, padding)

/// `max_pool` of x (batch, spatial axes.., channels).
template <int Rank>
class MaxPooling {
public:
  /// Throws ValueError unless the window's sizes and the strides are at least 1.
  explicit MaxPooling(const PerAxis &window = 2, const PoolingOptions &options = {},
                      std::source_location where = WEFT_HERE);
  /// Throws ShapeError for another rank, or a window larger than x.
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(MaxPooling, window_, strides_, name_)

private:
  LayerName name_;
  Ints window_, strides_;
  Padding padding_;
};
using MaxPooling1D = MaxPooling<1>;
using MaxPooling2D = MaxPooling<2>;
using MaxPooling3D = MaxPooling<3>;

/// `average_pool` of x (batch, spatial axes.., channels), whose padding is not counted.
template <int Rank>
class AveragePooling {
public:
  explicit AveragePooling(const PerAxis &window = 2, const PoolingOptions &options = {},
                          std::source_location where = WEFT_HERE);
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(AveragePooling, window_, strides_, name_)

private:
  LayerName name_;
  Ints window_, strides_;
  Padding padding_;
};
using AveragePooling1D = AveragePooling<1>;
using AveragePooling2D = AveragePooling<2>;
using AveragePooling3D = AveragePooling<3>;

/// The mean of each channel: (batch, spatial axes.., channels) to (batch, channels), or with sizes
/// of 1 instead of the axes.
template <int Rank>
class GlobalAveragePooling {
public:
  explicit GlobalAveragePooling(bool keepdims = false);
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(GlobalAveragePooling, keepdims_, name_)

private:
  bool keepdims_;
  LayerName name_;
};
using GlobalAveragePooling1D = GlobalAveragePooling<1>;
using GlobalAveragePooling2D = GlobalAveragePooling<2>;
using GlobalAveragePooling3D = GlobalAveragePooling<3>;

/// The largest element of each channel.
template <int Rank>
class GlobalMaxPooling {
public:
  explicit GlobalMaxPooling(bool keepdims = false);
  Tensor operator()(const Operand &x) const;

  WEFT_FIELDS(GlobalMaxPooling, keepdims_, name_)

private:
  bool keepdims_;
  LayerName name_;
};
using GlobalMaxPooling1D = GlobalMaxPooling<1>;
using GlobalMaxPooling2D = GlobalMaxPooling<2>;
using GlobalMaxPooling3D = GlobalMaxPooling<3>;

} // namespace weft::nn
