// Convolution as users call it, and what calls of ops on windows have in common: lists that are
// left out, and padding by name.
#include "OpDefs/ShapeFunctions.h"
#include "Ops/Call.h"
#include "Ops/WindowOptions.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

#include <algorithm>
#include <weft/ops.h>

namespace weft {

namespace windows {

Ints entries(const Ints &given, std::size_t axes, std::int64_t otherwise) {
  return given.empty() ? Ints(axes, otherwise) : given;
}

std::size_t spatial_axes(const char *function, const Shape &shape) {
  if (shape.size() >= 3 && shape.size() <= 5) return shape.size() - 2;
  raise(ErrorKind::shape, std::string(function) +
                              ": x must be (batch, 1 to 3 spatial axes, channels), but has shape " +
                              to_string(shape));
}

std::int64_t reach_of(const Ints &window, const Ints &dilations, std::size_t axis) {
  if (axis >= window.size() || axis >= dilations.size()) return 1;
  std::int64_t reach = 0;
  if (window[axis] < 1 || dilations[axis] < 1 ||
      __builtin_mul_overflow(window[axis] - 1, dilations[axis], &reach) ||
      reach == std::numeric_limits<std::int64_t>::max())
    return 1;
  return reach + 1;
}

Amounts pairs_of(const char *function, const Padding &padding, std::size_t axes) {
  if (padding.count() != axes)
    raise(ErrorKind::shape, std::string(function) + ": padding has " +
                                std::to_string(padding.count()) + " pairs, but there are " +
                                std::to_string(axes) + " spatial axes");
  Amounts amounts;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    amounts.low.push_back(padding.pair(axis)[0]);
    amounts.high.push_back(padding.pair(axis)[1]);
  }
  return amounts;
}

Amounts amounts_of(const char *function, const Shape &images, const Padding &padding,
                   const Ints &window, const Ints &strides, const Ints &dilations,
                   std::vector<std::size_t> &open) {
  const std::size_t axes = images.size() - 2;
  if (padding.kind() == Padding::Kind::pairs) return pairs_of(function, padding, axes);
  Amounts amounts{Ints(axes, 0), Ints(axes, 0)};
  if (padding.kind() == Padding::Kind::valid) return amounts;
  if (padding.kind() == Padding::Kind::causal && axes != 1)
    raise(ErrorKind::value, std::string(function) +
                                ": only one spatial axis can be padded as causal, but there are " +
                                std::to_string(axes));
  for (std::size_t axis = 0; axis < axes; ++axis) {
    const std::int64_t reach = reach_of(window, dilations, axis);
    const std::int64_t stride =
        axis < strides.size() ? std::max<std::int64_t>(strides[axis], 1) : 1;
    if (padding.kind() == Padding::Kind::causal) {
      amounts.low[axis] = reach - 1;
      continue;
    }
    const std::int64_t size = images[axis + 1];
    std::int64_t total = reach - 1; // with a stride of 1 whatever the size is
    if (size == unknown && stride != 1) {
      open.push_back(axis);
      continue;
    }
    if (size != unknown) total = std::max<std::int64_t>(reach - 1 - (size - 1) % stride, 0);
    if (size == 0) total = 0;
    amounts.low[axis] = total / 2;
    amounts.high[axis] = total - total / 2;
  }
  return amounts;
}

Tensor number(std::int64_t value) { return cast(static_cast<double>(value), DType::i64); }

Tensor quotient(const Tensor &value, std::int64_t divisor) {
  // Exact, as both are whole numbers below 2^53 and one is a multiple of the other.
  const Tensor multiple = value - remainder(value, number(divisor));
  return cast(cast(multiple, DType::f64) / static_cast<double>(divisor), DType::i64);
}

OpenPadding same_padding(const Tensor &size, std::int64_t stride, std::int64_t reach) {
  // The last window begins at size - 1 less what the stride leaves of that.
  const Tensor left = remainder(size - number(1), number(stride));
  const Tensor total = maximum(number(reach - 1) - left, number(0));
  return {quotient(total, 2), total};
}

} // namespace windows

namespace {

using namespace windows;

/// An axis of a size that is not known, with the zeros of `same`, whose number follows from the
/// size.
Tensor padded_same(const Tensor &x, std::size_t axis, std::int64_t stride, std::int64_t reach) {
  const Tensor size = size_of(x, {.axis = static_cast<std::int64_t>(axis)});
  const OpenPadding padding = same_padding(size, stride, reach);
  const Ints none(static_cast<std::size_t>(x.rank()), 0);
  Sizes low(none), high(none);
  low.set(axis, padding.before);
  high.set(axis, padding.total - padding.before);
  return pad(x, cast(0.0, x.dtype()), low, high, none);
}

} // namespace

namespace {

/// Both in the dtype that they promote to, as those of a product.
std::pair<Tensor, Tensor> promoted(const char *function, const Operand &x, const Operand &kernel) {
  const auto of = [](const Tensor &t, DType dtype) {
    return detail::type_of(t).dtype == dtype ? t : cast(t, dtype);
  };
  const Tensor a = x.materialize(), b = kernel.materialize();
  const DType dtype =
      DTypeJoin{detail::type_of(a).dtype, detail::type_of(b).dtype}.common_or_throw(function);
  return {of(a, dtype), of(b, dtype)};
}

/// The kernel with the sizes of its window as numbers: those of the call that is traced, to which
/// the trace is pinned. Throws ShapeError where they are not known and the padding follows from
/// them.
Tensor with_known_window(const char *function, const Tensor &kernel, std::size_t axes,
                         bool decides) {
  const Shape shape = detail::type_of(kernel).shape;
  axes = std::min(axes, shape.size());
  if (std::ranges::count(std::span(shape).first(axes), unknown) == 0) return kernel;
  Sizes sizes;
  bool found = false;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    const auto at = static_cast<std::int64_t>(axis);
    Size size = kernel.size(at);
    if (axis < axes && shape[axis] == unknown) {
      if (const std::int64_t known = detail::size_for_call(kernel, at); known != unknown) {
        size = known;
        found = true;
      } else if (decides) {
        raise(ErrorKind::shape, std::string(function) + ": kernel has the shape " +
                                    to_string(shape) + ", and the padding follows from its axis " +
                                    std::to_string(axis) +
                                    ", whose size is not known in this trace: give it as pairs");
      }
    }
    sizes.push_back(size);
  }
  return found ? reshape(kernel, sizes) : kernel;
}

} // namespace

Tensor convolution(const Operand &x, const Operand &kernel, const ConvolutionOptions &options) {
  const CallSite site(call::where_of({&x, &kernel}));
  call::rank_of(OpCode::convolution, x);
  call::rank_of(OpCode::convolution, kernel);
  auto [images, weights] = promoted("convolution", x, kernel);
  const std::size_t axes = spatial_axes("convolution", detail::type_of(images).shape);
  const Ints strides = entries(options.strides, axes, 1);
  const Ints dilations = entries(options.dilations, axes, 1);
  const Padding::Kind kind = options.padding.kind();
  weights = with_known_window("convolution", weights, axes,
                              kind == Padding::Kind::same || kind == Padding::Kind::causal);
  const Ints window = detail::type_of(weights).shape;
  std::vector<std::size_t> open;
  const Amounts padding = amounts_of("convolution", detail::type_of(images).shape, options.padding,
                                     window, strides, dilations, open);
  for (const std::size_t axis : open)
    images = padded_same(images, axis + 1, strides[axis], reach_of(window, dilations, axis));
  const Operand padded(images), by(weights);
  return call::general(OpCode::convolution, {&padded, &by},
                       Attrs{Attr(strides), Attr(padding.low), Attr(padding.high), Attr(dilations),
                             Attr(options.groups)});
}

Tensor convolution_transpose(const Operand &x, const Operand &kernel,
                             const ConvolutionTransposeOptions &options) {
  const CallSite site(call::where_of({&x, &kernel}));
  call::rank_of(OpCode::convolution_transpose, x);
  call::rank_of(OpCode::convolution_transpose, kernel);
  auto [images, weights] = promoted("convolution_transpose", x, kernel);
  const std::size_t axes = spatial_axes("convolution_transpose", detail::type_of(images).shape);
  const Ints strides = entries(options.strides, axes, 1);
  const Ints dilations = entries(options.dilations, axes, 1);
  Amounts padding{Ints(axes, 0), Ints(axes, 0)};
  Ints extra(axes, 0);
  const Padding::Kind kind = options.padding.kind();
  if (kind == Padding::Kind::causal)
    raise(ErrorKind::value, "convolution_transpose: padding may not be causal");
  const bool covers = options.output_padding.empty() &&
                      std::ranges::any_of(strides, [](std::int64_t stride) { return stride > 1; });
  weights =
      with_known_window("convolution_transpose", weights, axes,
                        kind == Padding::Kind::same || (kind == Padding::Kind::valid && covers));
  const Shape window = detail::type_of(weights).shape;
  if (kind == Padding::Kind::pairs)
    padding = pairs_of("convolution_transpose", options.padding, axes);
  for (std::size_t axis = 0; axis < axes && axis < strides.size(); ++axis) {
    const std::int64_t reach = reach_of(window, dilations, axis);
    const std::int64_t stride = std::max<std::int64_t>(strides[axis], 1);
    if (kind == Padding::Kind::valid) {
      extra[axis] = std::max<std::int64_t>(stride - reach, 0);
    } else if (kind == Padding::Kind::same) {
      // (size - 1) stride + reach + extra less the padding is size * stride.
      extra[axis] = std::max<std::int64_t>(stride - reach, 0);
      const std::int64_t total = std::max<std::int64_t>(reach - stride, 0);
      padding.low[axis] = total / 2;
      padding.high[axis] = total - total / 2;
    }
  }
  if (!options.output_padding.empty()) extra = options.output_padding;
  const Operand of(images), by(weights);
  return call::general(OpCode::convolution_transpose, {&of, &by},
                       Attrs{Attr(strides), Attr(padding.low), Attr(padding.high), Attr(dilations),
                             Attr(options.groups), Attr(extra)});
}

} // namespace weft
