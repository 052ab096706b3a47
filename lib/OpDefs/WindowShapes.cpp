// Shape functions of the ops on windows of images.
#include "OpDefs/ShapeFunctions.h"

#include <limits>
#include <utility>

namespace weft::shapes {

namespace {

using Size = std::int64_t;

std::string text(Size value) { return std::to_string(value); }

/// What the attributes of ops on windows say, an entry for each spatial axis; what has no groups
/// has one.
struct Windows {
  const Ints &strides, &low, &high, &dilations;
  Size groups = 1;
};

template <class Attributes>
Windows windows_of(const Attributes &attrs) {
  if constexpr (requires { attrs.groups; })
    return {attrs.strides, attrs.low, attrs.high, attrs.dilations, attrs.groups};
  else return {attrs.strides, attrs.low, attrs.high, attrs.dilations};
}

Check check_list(const Ints &values, std::string_view name, std::size_t axes, Size least) {
  if (values.size() != axes)
    return Fault{ErrorKind::shape,
                 std::string(name) + " has " + text(static_cast<Size>(values.size())) +
                     " entries, but there are " + text(static_cast<Size>(axes)) + " spatial axes"};
  for (const Size value : values)
    if (value < least)
      return Fault{ErrorKind::value, std::string(name) + " has " + text(value) +
                                         ", but must be at least " + text(least)};
  return std::nullopt;
}

Check check_images(const TensorType &type, std::string_view name) {
  if (type.shape.size() >= 3 && type.shape.size() <= 5) return std::nullopt;
  return Fault{ErrorKind::shape,
               std::string(name) +
                   " must be (batch, 1 to 3 spatial axes, channels), but has shape " +
                   to_string(type.shape)};
}

Check check_windows(const Windows &windows, std::size_t axes) {
  if (Check fault = check_list(windows.strides, "strides", axes, 1)) return fault;
  if (Check fault = check_list(windows.low, "low", axes, 0)) return fault;
  if (Check fault = check_list(windows.high, "high", axes, 0)) return fault;
  if (Check fault = check_list(windows.dilations, "dilations", axes, 1)) return fault;
  if (windows.groups < 1)
    return Fault{ErrorKind::value,
                 "groups is " + text(windows.groups) + ", but must be at least 1"};
  return std::nullopt;
}

Check check_groups(Size channels, Size groups, std::string_view what) {
  if (channels == unknown || channels % groups == 0) return std::nullopt;
  return Fault{ErrorKind::shape, std::string(what) + " has " + text(channels) +
                                     " channels, which " + text(groups) + " groups do not divide"};
}

/// The kernel against the channels of what it is applied to; `in` is the number of the kernel's
/// axis that the channels of a group are along.
Check check_kernel(const TensorType &images, const TensorType &kernel, const Windows &windows) {
  if (images.dtype != kernel.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(images.dtype)) +
                                       " and kernel is " + std::string(name_of(kernel.dtype))};
  if (Check fault = check_images(images, "x")) return fault;
  const std::size_t rank = images.shape.size();
  if (kernel.shape.size() != rank)
    return Fault{ErrorKind::shape,
                 "kernel must be (window, channels / groups, result's channels) and of rank " +
                     text(static_cast<Size>(rank)) + " as x is, but has shape " +
                     to_string(kernel.shape)};
  if (Check fault = check_windows(windows, rank - 2)) return fault;
  for (std::size_t axis = 0; axis + 2 < rank; ++axis)
    if (kernel.shape[axis] == 0)
      return Fault{ErrorKind::shape,
                   "the window of the kernel must not be empty, but kernel has shape " +
                       to_string(kernel.shape)};
  return check_groups(kernel.shape[rank - 1], windows.groups, "kernel");
}

/// How many inputs a window goes over; a fault if they are too many to be counted.
Result<Size> reach_of(Size window, Size dilation) {
  if (window == unknown) return unknown;
  Size reach = 0;
  if (__builtin_mul_overflow(window - 1, dilation, &reach) ||
      __builtin_add_overflow(reach, 1, &reach))
    return Fault{ErrorKind::shape, "a window of " + text(window) + " with dilation " +
                                       text(dilation) + " goes over more than 2^63 - 1 elements"};
  return reach;
}

/// How many windows there are along an axis.
Result<Size> positions(Size in, Size window, const Windows &windows, std::size_t axis) {
  Result<Size> reach = reach_of(window, windows.dilations[axis]);
  if (!reach) return reach;
  if (in == unknown || *reach == unknown) return unknown;
  Size padded = 0;
  if (__builtin_add_overflow(in, windows.low[axis], &padded) ||
      __builtin_add_overflow(padded, windows.high[axis], &padded))
    return Fault{ErrorKind::shape, "spatial axis " + text(static_cast<Size>(axis)) +
                                       " has more than 2^63 - 1 elements with its padding"};
  if (*reach > padded)
    return Fault{ErrorKind::shape, "a window over " + text(*reach) +
                                       " elements does not fit in spatial axis " +
                                       text(static_cast<Size>(axis)) + ", which has " +
                                       text(padded) + " with its padding"};
  return (padded - *reach) / windows.strides[axis] + 1;
}

/// The size of an axis of images of which `count` windows are made, with so many elements behind
/// the last one.
Result<Size> transposed_size(Size count, Size window, const Windows &windows, const Ints &extra,
                             std::size_t axis) {
  const Size stride = windows.strides[axis];
  if (extra[axis] >= stride)
    return Fault{ErrorKind::value, "extra has " + text(extra[axis]) +
                                       ", but must be below the stride, " + text(stride)};
  Result<Size> reach = reach_of(window, windows.dilations[axis]);
  if (!reach) return reach;
  if (count == unknown || *reach == unknown) return unknown;
  // (count - 1) stride + reach + extra - low - high; of no position nothing is known but that.
  Size size = 0;
  const bool fits = !__builtin_mul_overflow(count - 1, stride, &size) &&
                    !__builtin_add_overflow(size, *reach, &size) &&
                    !__builtin_add_overflow(size, extra[axis], &size) &&
                    !__builtin_sub_overflow(size, windows.low[axis], &size) &&
                    !__builtin_sub_overflow(size, windows.high[axis], &size);
  if (!fits || size < 0)
    return Fault{ErrorKind::shape, "spatial axis " + text(static_cast<Size>(axis)) +
                                       " of the result would have " +
                                       (fits ? text(size) : "more than 2^63 - 1") + " elements"};
  return size;
}

/// The attributes of an op whose windows have their sizes from one. Padding is smaller than what a
/// window goes over, so that windows see something, and the elements of a window have numbers of 32
/// bits.
Check check_window(const TensorType &images, const Ints &window, const Windows &windows) {
  if (Check fault = check_images(images, "x")) return fault;
  const std::size_t axes = images.shape.size() - 2;
  if (Check fault = check_list(window, "window", axes, 1)) return fault;
  if (Check fault = check_windows(windows, axes)) return fault;
  Size elements = 1;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    Result<Size> reach = reach_of(window[axis], windows.dilations[axis]);
    if (!reach) return reach.fault();
    for (const auto &[padding, name] :
         {std::pair(windows.low[axis], "low"), std::pair(windows.high[axis], "high")})
      if (padding >= *reach)
        return Fault{ErrorKind::value, std::string(name) + " has " + text(padding) +
                                           ", but must be below the " + text(*reach) +
                                           (*reach == 1 ? " element" : " elements") +
                                           " that a window goes over"};
    if (__builtin_mul_overflow(elements, window[axis], &elements) ||
        elements > std::numeric_limits<std::int32_t>::max())
      return Fault{ErrorKind::shape, "a window has more than 2^31 - 1 elements"};
  }
  return std::nullopt;
}

/// The shape of what windows over images become.
Result<Shape> positions_of(const Shape &images, const Ints &window, const Windows &windows) {
  Shape shape{images[0]};
  for (std::size_t axis = 0; axis < window.size(); ++axis) {
    Result<Size> count = positions(images[axis + 1], window[axis], windows, axis);
    if (!count) return count.fault();
    shape.push_back(*count);
  }
  shape.push_back(images[images.size() - 1]);
  return shape;
}

/// The shape of the images of which windows with those attributes are made.
Result<Shape> images_of(const TensorType &x, const WindowTransposeAttrs &attrs) {
  const Windows windows = windows_of(attrs);
  if (Check fault = check_window(x, attrs.window, windows)) return *fault;
  if (Check fault = check_list(attrs.extra, "extra", attrs.window.size(), 0)) return *fault;
  Shape shape{x.shape[0]};
  for (std::size_t axis = 0; axis < attrs.window.size(); ++axis) {
    Result<Size> size =
        transposed_size(x.shape[axis + 1], attrs.window[axis], windows, attrs.extra, axis);
    if (!size) return size.fault();
    shape.push_back(*size);
  }
  shape.push_back(x.shape[x.shape.size() - 1]);
  return shape;
}

/// Places against the shape that they must have.
Check check_places(const TensorType &places, const Shape &wanted) {
  bool fits = places.shape.size() == wanted.size();
  for (std::size_t axis = 0; fits && axis < wanted.size(); ++axis)
    fits = places.shape[axis] == wanted[axis] || places.shape[axis] == unknown ||
           wanted[axis] == unknown;
  if (fits) return std::nullopt;
  return Fault{ErrorKind::shape, "places must have shape " + to_string(wanted) + ", but has " +
                                     to_string(places.shape)};
}

Result<TensorType> sized(DType dtype, Shape shape) {
  Result<Size> count = element_count(shape, item_size(dtype));
  if (!count) return count.fault();
  return TensorType{dtype, std::move(shape)};
}

} // namespace

Result<TensorType> convolution(const InferContext &call) {
  const TensorType &x = call.operands[0], &kernel = call.operands[1];
  const Windows windows = windows_of(ConvolutionAttrs(call.attrs));
  if (Check fault = check_kernel(x, kernel, windows)) return *fault;
  const std::size_t rank = x.shape.size();
  const Size channels = x.shape[rank - 1], in_group = kernel.shape[rank - 2];
  if (Check fault = check_groups(channels, windows.groups, "x")) return *fault;
  if (channels != unknown && in_group != unknown && channels / windows.groups != in_group)
    return Fault{ErrorKind::shape, "x has " + text(channels) + " channels in " +
                                       text(windows.groups) +
                                       (windows.groups == 1 ? " group" : " groups") +
                                       ", but the kernel is for " + text(in_group) + " in each"};
  Shape shape{x.shape[0]};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    Result<Size> count = positions(x.shape[axis + 1], kernel.shape[axis], windows, axis);
    if (!count) return count.fault();
    shape.push_back(*count);
  }
  shape.push_back(kernel.shape[rank - 1]);
  return sized(x.dtype, std::move(shape));
}

Result<TensorType> convolution_transpose(const InferContext &call) {
  const TensorType &x = call.operands[0], &kernel = call.operands[1];
  const ConvolutionTransposeAttrs attrs(call.attrs);
  const Windows windows = windows_of(attrs);
  if (Check fault = check_kernel(x, kernel, windows)) return *fault;
  const std::size_t rank = x.shape.size();
  if (Check fault = check_list(attrs.extra, "extra", rank - 2, 0)) return *fault;
  const Size channels = x.shape[rank - 1], out = kernel.shape[rank - 1];
  if (channels != unknown && out != unknown && channels != out)
    return Fault{ErrorKind::shape,
                 "x has " + text(channels) + " channels, but the kernel is for " + text(out)};
  Shape shape{x.shape[0]};
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    Result<Size> size =
        transposed_size(x.shape[axis + 1], kernel.shape[axis], windows, attrs.extra, axis);
    if (!size) return size.fault();
    shape.push_back(*size);
  }
  const Size in_group = kernel.shape[rank - 2];
  Size in_channels = unknown;
  if (in_group != unknown && __builtin_mul_overflow(in_group, windows.groups, &in_channels))
    return Fault{ErrorKind::shape, "the result would have more than 2^63 - 1 channels"};
  shape.push_back(in_channels);
  return sized(x.dtype, std::move(shape));
}

Result<TensorType> convolution_kernel_gradient(const InferContext &call) {
  const TensorType &x = call.operands[0], &cotangent = call.operands[1];
  const ConvolutionKernelGradientAttrs attrs(call.attrs);
  const Windows windows = windows_of(attrs);
  if (x.dtype != cotangent.dtype)
    return Fault{ErrorKind::dtype, "the dtypes differ: x is " + std::string(name_of(x.dtype)) +
                                       " and cotangent is " +
                                       std::string(name_of(cotangent.dtype))};
  if (Check fault = check_images(x, "x")) return *fault;
  const std::size_t rank = x.shape.size();
  if (Check fault = check_windows(windows, rank - 2)) return *fault;
  for (const Size size : attrs.window)
    if (size == unknown)
      return Fault{ErrorKind::value,
                   "the sizes of the window must be known: the gradient by a kernel has them"};
  if (Check fault = check_list(attrs.window, "window", rank - 2, 1)) return *fault;
  bool fits = cotangent.shape.size() == rank;
  Shape wanted{x.shape[0]}, shape(attrs.window);
  for (std::size_t axis = 0; axis + 2 < rank; ++axis) {
    Result<Size> count = positions(x.shape[axis + 1], attrs.window[axis], windows, axis);
    if (!count) return count.fault();
    wanted.push_back(*count);
  }
  for (std::size_t axis = 0; fits && axis + 1 < rank; ++axis)
    fits = cotangent.shape[axis] == wanted[axis] || cotangent.shape[axis] == unknown ||
           wanted[axis] == unknown;
  if (!fits) {
    wanted.push_back(unknown);
    return Fault{ErrorKind::shape, "cotangent must have the shape of the convolution's result, " +
                                       to_string(wanted) + ", but has " +
                                       to_string(cotangent.shape)};
  }
  const Size channels = x.shape[rank - 1], out = cotangent.shape[rank - 1];
  if (Check fault = check_groups(channels, windows.groups, "x")) return *fault;
  if (Check fault = check_groups(out, windows.groups, "cotangent")) return *fault;
  shape.push_back(channels == unknown ? unknown : channels / windows.groups);
  shape.push_back(out);
  return sized(x.dtype, std::move(shape));
}

Result<TensorType> window_reduction(const InferContext &call) {
  const TensorType &x = call.operands[0];
  const WindowAttrs attrs(call.attrs);
  const Windows windows = windows_of(attrs);
  if (Check fault = check_window(x, attrs.window, windows)) return *fault;
  Result<Shape> shape = positions_of(x.shape, attrs.window, windows);
  if (!shape) return shape.fault();
  return sized(x.dtype, *std::move(shape));
}

Result<TensorType> window_places(const InferContext &call) {
  Result<TensorType> type = window_reduction(call);
  if (!type) return type;
  return sized(DType::i32, type->shape);
}

Result<TensorType> window_take(const InferContext &call) {
  Result<TensorType> type = window_reduction(call);
  if (!type) return type;
  if (Check fault = check_places(call.operands[1], type->shape)) return *fault;
  return type;
}

Result<TensorType> window_sum_transpose(const InferContext &call) {
  const TensorType &x = call.operands[0];
  Result<Shape> shape = images_of(x, WindowTransposeAttrs(call.attrs));
  if (!shape) return shape.fault();
  return sized(x.dtype, *std::move(shape));
}

Result<TensorType> window_scatter(const InferContext &call) {
  Result<TensorType> type = window_sum_transpose(call);
  if (!type) return type;
  if (Check fault = check_places(call.operands[1], call.operands[0].shape)) return *fault;
  return type;
}

} // namespace weft::shapes
