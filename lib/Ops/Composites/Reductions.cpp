// Statistics over axes, made of ops.
#include "Ops/Composites/Parts.h"
#include "Ops/Composites/Root.h"
#include "Ops/Fused.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

namespace weft::composites {

void check_not_empty(const char *function, const Tensor &x, const Ints &axes) {
  const Shape shape = shape_of(x);
  const auto any_of_size = [&](std::int64_t size) {
    return std::ranges::any_of(
        axes, [&](std::int64_t axis) { return shape[static_cast<std::size_t>(axis)] == size; });
  };
  const auto text = [&](const std::string &of_shape) {
    const std::string along = axes.size() == 1              ? "axis " + std::to_string(axes[0])
                              : axes.size() == shape.size() ? "its axes"
                                                            : "axes " + to_string(Shape(axes));
    return std::string(function) + ": x has the shape " + of_shape +
           ": there is no element to choose along " + along;
  };
  if (any_of_size(0)) raise(ErrorKind::shape, text(to_string(shape)));
  if (!any_of_size(unknown)) return;
  std::string sizes;
  std::vector<Tensor> open;
  Tensor some;
  for (std::int64_t axis = 0; axis < shape.rank(); ++axis) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    sizes += (axis == 0 ? "" : ", ") + (size == unknown ? "{}" : std::to_string(size));
    if (size != unknown) continue;
    open.push_back(size_of(x, {.axis = axis}));
    if (std::ranges::find(axes, axis) == axes.end()) continue;
    const Tensor is_some = open.back() > std::int64_t{0};
    some = some.defined() ? some & is_some : is_some;
  }
  detail::check_sizes(some, text("(" + sizes + (shape.rank() == 1 ? ",)" : ")")), open);
}

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// How many elements the axes have together, in that dtype.
Tensor count_along(const Tensor &x, const Ints &axes, DType dtype) {
  const Shape shape = shape_of(x);
  Tensor count = tensor(std::int64_t{1});
  for (const std::int64_t axis : axes) {
    const std::int64_t size = shape[static_cast<std::size_t>(axis)];
    count = size == unknown ? count * size_of(x, {.axis = axis}) : count * size;
  }
  return cast(count, dtype);
}

Tensor variance(const Tensor &x, const Ints &axes, double correction, bool keepdims) {
  Tensor found = call::fused_over(FusedRows::variance, x, axes, keepdims);
  if (!found.defined()) {
    const Tensor away = x - mean(x, {.axes = axes, .keepdims = true});
    found = mean(square(away), {.axes = axes, .keepdims = keepdims});
  }
  if (correction == 0) return found;
  const Tensor count = count_along(x, axes, found.dtype());
  return found * (count / maximum(count - correction, 0));
}

Tensor extremum(const Tensor &x, const Ints &axes, bool keepdims, bool largest) {
  if (x.dtype() == DType::boolean)
    return largest ? any(x, {.axes = axes, .keepdims = keepdims})
                   : reduce_all(x, {.axes = axes, .keepdims = keepdims});
  return largest ? reduce_max(x, {.axes = axes, .keepdims = keepdims})
                 : reduce_min(x, {.axes = axes, .keepdims = keepdims});
}

/// Another number in place of NaN.
Tensor without_nan(const Tensor &x, double other) {
  return is_floating(x.dtype()) ? select(x != x, other, x) : x;
}

Tensor extremum_but_nan(const char *function, const Tensor &x, const Ints &axes, bool keepdims) {
  check_not_empty(function, x, axes);
  const bool largest = std::string_view(function) == "nanmax";
  const Tensor found =
      extremum(without_nan(x, largest ? -kInfinity : kInfinity), axes, keepdims, largest);
  if (!is_floating(x.dtype())) return found;
  const Tensor some = any(x == x, {.axes = axes, .keepdims = keepdims});
  return select(some, found, std::numeric_limits<double>::quiet_NaN());
}

/// The sorted elements along the axis at which they are then, and how many there are.
struct Sorted {
  Tensor rows;
  std::int64_t axis, count;
};

Sorted sorted(const char *function, const Tensor &x, const std::optional<std::int64_t> &axis) {
  check_not_empty(function, x, axis ? Ints{*axis} : axes_of(x));
  const Tensor flat = axis ? x : reshape(x, {-1});
  const std::int64_t at = axis.value_or(0);
  const std::int64_t count = detail::size_for_call(flat, at);
  if (count == unknown)
    raise(ErrorKind::shape,
          std::string(function) + ": how many elements there are is not known yet");
  return {sort(flat, {.axis = at}), at, count};
}

/// Between sorted elements, in proportion.
Tensor quantiles(const char *function, const Tensor &x, const RealList &q, double whole,
                 const std::optional<std::int64_t> &axis, bool keepdims) {
  const auto [unlike, at, count] = sorted(function, x, axis);
  const Tensor rows = is_floating(unlike.dtype()) ? unlike : cast(unlike, f32);
  const auto element = [&](std::int64_t i) { return along(rows, at, i); };
  const Tensor last = element(count - 1);
  std::vector<Tensor> found;
  for (const double percent : q.values()) {
    const double share = percent / whole;
    if (!(share >= 0 && share <= 1))
      raise(ErrorKind::value,
            std::string(function) + ": q is from 0 to " + std::to_string(static_cast<int>(whole)));
    const double position = share * static_cast<double>(count - 1);
    const auto low = static_cast<std::int64_t>(position);
    const double part = position - static_cast<double>(low);
    Tensor value = element(low);
    if (part != 0) {
      const Tensor second = element(std::min(low + 1, count - 1));
      const Tensor same = (value == second) & (abs(value) == kInfinity);
      // Infinite ones have no difference.
      value = select(same, value, value + (second - value) * part);
    }
    value = select(last != last, last, value); // NaN is the largest
    if (keepdims) value = axis ? with_axis(value, at) : with_axes_of(x, value);
    found.push_back(value);
  }
  if (q.one()) return found[0];
  if (found.empty()) raise(ErrorKind::value, std::string(function) + ": q has no number");
  return composites::stack(found, 0);
}

} // namespace

Tensor max(const Tensor &x, const MaxOptions &options) {
  check_not_empty("max", x, *options.axes);
  return extremum(x, *options.axes, options.keepdims, true);
}

Tensor min(const Tensor &x, const MinOptions &options) {
  check_not_empty("min", x, *options.axes);
  return extremum(x, *options.axes, options.keepdims, false);
}

Tensor ptp(const Tensor &x, const PtpOptions &options) {
  const Ints &axes = *options.axes;
  check_not_empty("ptp", x, axes);
  return reduce_max(x, {.axes = axes, .keepdims = options.keepdims}) -
         reduce_min(x, {.axes = axes, .keepdims = options.keepdims});
}

Tensor count_nonzero(const Tensor &x, const CountNonzeroOptions &options) {
  return sum(x.dtype() == DType::boolean ? x : x != 0,
             {.axes = *options.axes, .keepdims = options.keepdims});
}

Tensor var(const Tensor &x, const VarOptions &options) {
  return variance(x, *options.axes, options.correction, options.keepdims);
}

Tensor stddev(const Tensor &x, const StddevOptions &options) {
  return root(variance(x, *options.axes, options.correction, options.keepdims));
}

Tensor median(const Tensor &x, const MedianOptions &options) {
  const auto [rows, at, count] = sorted("median", x, options.axis);
  const auto reduced = [&](Slice part) { return along(rows, at, part); };
  Tensor found = mean(reduced(Slice{(count - 1) / 2, count / 2 + 1}),
                      {.axes = Ints{at}, .keepdims = options.keepdims});
  if (is_floating(x.dtype())) {
    const Tensor last =
        sum(reduced(Slice{count - 1, {}}), {.axes = Ints{at}, .keepdims = options.keepdims});
    found = select(last != last, last, found); // NaN is the largest
  }
  return options.keepdims && !options.axis ? with_axes_of(x, found) : found;
}

Tensor quantile(const Tensor &x, RealList q, const QuantileOptions &options) {
  return quantiles("quantile", x, q, 1, options.axis, options.keepdims);
}

Tensor percentile(const Tensor &x, RealList q, const PercentileOptions &options) {
  return quantiles("percentile", x, q, 100, options.axis, options.keepdims);
}

Tensor average(const Tensor &given, const Tensor &weights, const AverageOptions &options) {
  const auto number = [](const Tensor &t) {
    return t.dtype() == DType::boolean ? cast(t, f32) : t;
  };
  const Tensor x = number(given);
  const Ints axes = call::checked_axes("average", "axis", options.axes, x.rank());
  if (!weights.defined()) return mean(x, {.axes = axes, .keepdims = options.keepdims});
  Tensor shares = number(weights);
  if (options.axes && shares.rank() == 1 && x.rank() > 1 && !axes.empty()) {
    // A vector along the axis.
    const std::int64_t first = call::checked_axis("average", "axis", (*options.axes)[0], x.rank());
    for (std::int64_t i = first + 1; i < x.rank(); ++i) shares = with_axis(shares, shares.rank());
  }
  const Shape shape = shape_of(x);
  // Sizes that are not known are those of a sum with x.
  shares = shape.is_static() ? broadcast(shares, shape) : select(x == x, shares, shares);
  const Tensor total = sum(x * shares, {.axes = axes, .keepdims = options.keepdims});
  return total / sum(shares, {.axes = axes, .keepdims = options.keepdims});
}

Tensor nansum(const Tensor &x, const NansumOptions &options) {
  return sum(without_nan(x, 0), {.axes = *options.axes, .keepdims = options.keepdims});
}

Tensor nanmean(const Tensor &x, const NanmeanOptions &options) {
  const Ints &axes = *options.axes;
  const Tensor total = sum(without_nan(x, 0), {.axes = axes, .keepdims = options.keepdims});
  const Tensor count = sum(x == x, {.axes = axes, .keepdims = options.keepdims});
  const DType dtype = is_floating(total.dtype()) ? total.dtype() : f32;
  return cast(total, dtype) / cast(count, dtype);
}

Tensor nanmax(const Tensor &x, const NanmaxOptions &options) {
  return extremum_but_nan("nanmax", x, *options.axes, options.keepdims);
}

Tensor nanmin(const Tensor &x, const NanminOptions &options) {
  return extremum_but_nan("nanmin", x, *options.axes, options.keepdims);
}

} // namespace weft::composites
