// Pooling layers: calls of the ops on windows, and reductions over whole images.
#include <weft/nn/pooling.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/ops.h>

namespace weft::nn {

namespace {

constexpr const char *kMax[] = {"MaxPooling1D", "MaxPooling2D", "MaxPooling3D"};
constexpr const char *kAverage[] = {"AveragePooling1D", "AveragePooling2D", "AveragePooling3D"};
constexpr const char *kGlobalMax[] = {"GlobalMaxPooling1D", "GlobalMaxPooling2D",
                                      "GlobalMaxPooling3D"};
constexpr const char *kGlobalAverage[] = {"GlobalAveragePooling1D", "GlobalAveragePooling2D",
                                          "GlobalAveragePooling3D"};

Ints spatial_axes(int rank) {
  Ints axes;
  for (std::int64_t axis = 1; axis <= rank; ++axis) axes.push_back(axis);
  return axes;
}

} // namespace

template <int Rank>
MaxPooling<Rank>::MaxPooling(const PerAxis &window, const PoolingOptions &options,
                             std::source_location where)
    : name_(kMax[Rank - 1]), padding_(options.padding) {
  const LayerCall site(name_, where);
  window_ = positive_per_axis(name_, "the window", window, Rank);
  strides_ = positive_per_axis(name_, "strides", options.strides.value_or(window), Rank);
}

template <int Rank>
Tensor MaxPooling<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_images(site.prefix(), value, Rank);
  return site.result(max_pool(value, window_, {.strides = strides_, .padding = padding_}));
}

template <int Rank>
AveragePooling<Rank>::AveragePooling(const PerAxis &window, const PoolingOptions &options,
                                     std::source_location where)
    : name_(kAverage[Rank - 1]), padding_(options.padding) {
  const LayerCall site(name_, where);
  window_ = positive_per_axis(name_, "the window", window, Rank);
  strides_ = positive_per_axis(name_, "strides", options.strides.value_or(window), Rank);
}

template <int Rank>
Tensor AveragePooling<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_images(site.prefix(), value, Rank);
  return site.result(average_pool(value, window_, {.strides = strides_, .padding = padding_}));
}

template <int Rank>
GlobalAveragePooling<Rank>::GlobalAveragePooling(bool keepdims)
    : keepdims_(keepdims), name_(kGlobalAverage[Rank - 1]) {}

template <int Rank>
Tensor GlobalAveragePooling<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_images(site.prefix(), value, Rank);
  return site.result(mean(value, {.axes = spatial_axes(Rank), .keepdims = keepdims_}));
}

template <int Rank>
GlobalMaxPooling<Rank>::GlobalMaxPooling(bool keepdims)
    : keepdims_(keepdims), name_(kGlobalMax[Rank - 1]) {}

template <int Rank>
Tensor GlobalMaxPooling<Rank>::operator()(const Operand &x) const {
  const LayerCall site(name_, x.where());
  const Tensor value = x.materialize();
  check_images(site.prefix(), value, Rank);
  return site.result(reduce_max(value, {.axes = spatial_axes(Rank), .keepdims = keepdims_}));
}

template class MaxPooling<1>;
template class MaxPooling<2>;
template class MaxPooling<3>;
template class AveragePooling<1>;
template class AveragePooling<2>;
template class AveragePooling<3>;
template class GlobalAveragePooling<1>;
template class GlobalAveragePooling<2>;
template class GlobalAveragePooling<3>;
template class GlobalMaxPooling<1>;
template class GlobalMaxPooling<2>;
template class GlobalMaxPooling<3>;

} // namespace weft::nn
