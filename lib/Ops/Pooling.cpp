// Reductions over windows as users call them: max, min, sum and mean, with padding by name.
#include "Ops/Call.h"
#include "Ops/DeviceOps.h"
#include "Ops/WindowOptions.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

#include <algorithm>
#include <weft/ops.h>

namespace weft {

namespace {

using namespace windows;

/// The windows of a call. Along the axes in `open`, whose `same` padding follows from sizes that
/// only the call knows, windows begin everywhere that padding may make them begin, and those that
/// are wanted are taken of the result.
struct Call {
  const char *name;
  Ints window, strides, dilations;
  Amounts padding;
  std::vector<std::size_t> open;

  std::int64_t reach(std::size_t axis) const { return reach_of(window, dilations, axis); }

  /// What `same` puts in front of an axis at most; at most the rest of what a window goes over is
  /// put behind.
  std::int64_t most_before(std::size_t axis) const { return (reach(axis) - 1) / 2; }

  Tensor reduce(OpCode op, const Tensor &x) const {
    Ints steps = strides;
    Amounts around = padding;
    for (const std::size_t axis : open) {
      steps[axis] = 1;
      around.low[axis] = most_before(axis);
      around.high[axis] = reach(axis) - 1 - most_before(axis);
    }
    const Operand images(x);
    Tensor result = call::general(
        op, {&images},
        Attrs{Attr(window), Attr(steps), Attr(around.low), Attr(around.high), Attr(dilations)});
    for (const std::size_t axis : open) {
      const auto along = static_cast<std::int64_t>(axis) + 1;
      const Tensor size = size_of(x, {.axis = along});
      const Tensor count = quotient(size + number(strides[axis] - 1), strides[axis]);
      const Tensor starts = iota(DType::i64, {Size(count)}) * number(strides[axis]);
      const Tensor before = same_padding(size, strides[axis], reach(axis)).before;
      result = gather(result, starts + (number(most_before(axis)) - before), {.axis = along});
    }
    return result;
  }
};

Call call_of(const char *name, const Tensor &x, const Ints &window,
             const ReduceWindowOptions &options) {
  const Shape shape = detail::type_of(x).shape;
  const std::size_t axes = spatial_axes(name, shape);
  Call call{.name = name,
            .window = window,
            .strides = entries(options.strides, axes, 1),
            .dilations = entries(options.dilations, axes, 1),
            .padding = {},
            .open = {}};
  call.padding =
      amounts_of(name, shape, options.padding, window, call.strides, call.dilations, call.open);
  return call;
}

/// How many elements of the image the windows along one axis see, of a shape that broadcasts with
/// the result; undefined where it is the size of the window for all.
Tensor counts_along(const Call &call, const Tensor &x, std::size_t axis) {
  const Shape shape = detail::type_of(x).shape;
  const bool is_open = std::ranges::find(call.open, axis) != call.open.end();
  if (!is_open && call.padding.low[axis] == 0 && call.padding.high[axis] == 0) return {};
  Ints row(shape.size(), 1);
  if (shape[axis + 1] == unknown) {
    const Size size = size_of(x, {.axis = static_cast<std::int64_t>(axis) + 1});
    const Tensor ones = broadcast(cast(1, x.dtype()), {1, size, 1});
    const auto only = [&](const Ints &list) { return Ints{list[axis]}; };
    const Call line{.name = call.name,
                    .window = only(call.window),
                    .strides = only(call.strides),
                    .dilations = only(call.dilations),
                    .padding = {only(call.padding.low), only(call.padding.high)},
                    .open = is_open ? std::vector<std::size_t>{0} : std::vector<std::size_t>()};
    row[axis + 1] = unknown;
    return reshape(line.reduce(OpCode::window_sum, ones), row);
  }
  const std::int64_t size = shape[axis + 1], dilation = call.dilations[axis];
  const std::int64_t padded = size + call.padding.low[axis] + call.padding.high[axis];
  std::vector<double> counts;
  for (std::int64_t start = -call.padding.low[axis];
       start + call.reach(axis) <= padded - call.padding.low[axis]; start += call.strides[axis]) {
    // Taps [first, last) are inside.
    const std::int64_t first = start < 0 ? (-start + dilation - 1) / dilation : 0;
    const std::int64_t last =
        start >= size ? 0 : std::min(call.window[axis], (size - 1 - start) / dilation + 1);
    counts.push_back(static_cast<double>(std::max<std::int64_t>(last - first, 0)));
  }
  row[axis + 1] = static_cast<std::int64_t>(counts.size());
  return cast(tensor(counts, Shape(row)), x.dtype());
}

Tensor mean(const Call &call, const Tensor &x, bool count_padding) {
  const Tensor sum = call.reduce(OpCode::window_sum, x);
  double count = 1;
  Tensor counts;
  for (std::size_t axis = 0; axis < call.window.size(); ++axis) {
    const Tensor along = count_padding ? Tensor() : counts_along(call, x, axis);
    if (!along.defined()) count *= static_cast<double>(call.window[axis]);
    else counts = counts.defined() ? counts * along : along;
  }
  if (!counts.defined()) return sum / count;
  return sum / (counts * count);
}

Tensor pool(const char *name, const Operand &x, WindowReduction reduction, const Ints &window,
            const ReduceWindowOptions &options) {
  const CompositeCall site(name, call::where_of({&x}));
  const OpCode op = reduction == WindowReduction::max   ? OpCode::window_max
                    : reduction == WindowReduction::min ? OpCode::window_min
                                                        : OpCode::window_sum;
  call::rank_of(op, x);
  Tensor images = x.materialize();
  if (reduction == WindowReduction::mean && !is_floating(images.dtype()))
    images = cast(images, DType::f32);
  DeviceOfOperands device;
  device.follow(images);
  const Call call = call_of(name, images, window, options);
  return reduction == WindowReduction::mean ? mean(call, images, options.count_padding)
                                            : call.reduce(op, images);
}

} // namespace

Tensor reduce_window(const Operand &x, WindowReduction reduction, const Ints &window,
                     const ReduceWindowOptions &options) {
  return pool("reduce_window", x, reduction, window, options);
}

Tensor max_pool(const Operand &x, const Ints &window, const PoolOptions &options) {
  return pool(
      "max_pool", x, WindowReduction::max, window,
      {.strides = options.strides.empty() ? window : options.strides, .padding = options.padding});
}

Tensor min_pool(const Operand &x, const Ints &window, const PoolOptions &options) {
  return pool(
      "min_pool", x, WindowReduction::min, window,
      {.strides = options.strides.empty() ? window : options.strides, .padding = options.padding});
}

Tensor average_pool(const Operand &x, const Ints &window, const AveragePoolOptions &options) {
  return pool("average_pool", x, WindowReduction::mean, window,
              {.strides = options.strides.empty() ? window : options.strides,
               .padding = options.padding,
               .count_padding = options.count_padding});
}

} // namespace weft
