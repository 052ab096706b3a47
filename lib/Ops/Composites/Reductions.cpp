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
  std::vector<Tensor> open;
  const std::string sizes = written(x, open);
  Tensor some;
  for (const std::int64_t axis : axes) {
    const Size size = size_along(x, axis);
    if (size.is_number() && size.number() == 0) raise(ErrorKind::shape, text(to_string(shape)));
    if (size.is_number()) continue; // the trace knows it after all
    const Tensor is_some = size.tensor() > std::int64_t{0};
    some = some.defined() ? some & is_some : is_some;
  }
  if (some.defined()) detail::check_sizes(some, text(sizes), open);
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
    const Tensor squares =
        is_complex(x.dtype()) ? square(real(away)) + square(imag(away)) : square(away);
    found = mean(squares, {.axes = axes, .keepdims = keepdims});
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
  return is_inexact(x.dtype()) ? select(x != x, other, x) : x;
}

Tensor extremum_but_nan(const char *function, const Tensor &x, const Ints &axes, bool keepdims) {
  check_not_empty(function, x, axes);
  const bool largest = std::string_view(function) == "nanmax";
  Tensor found =
      extremum(without_nan(x, largest ? -kInfinity : kInfinity), axes, keepdims, largest);
  if (!is_floating(x.dtype())) return found;
  const Tensor some = any(x == x, {.axes = axes, .keepdims = keepdims});
  return select(some, found, std::numeric_limits<double>::quiet_NaN());
}

/// The elements over the axes in order, along a last axis, and how many there are: a value where a
/// trace does not know it.
struct Sorted {
  Tensor rows;
  Size count;
};

/// The tensor with the axes as one, its last.
Tensor merged_last(const Tensor &x, const Ints &axes) {
  Ints order;
  Sizes sizes;
  Size count = 1;
  for (std::int64_t i = 0; i < x.rank(); ++i) {
    if (std::ranges::find(axes, i) != axes.end()) {
      count = count * size_along(x, i);
      continue;
    }
    order.push_back(i);
    sizes.push_back(size_along(x, i));
  }
  if (static_cast<std::int64_t>(axes.size()) == x.rank()) return reshape(x, {-1});
  for (const std::int64_t axis : axes) order.push_back(axis);
  sizes.push_back(count);
  const Tensor moved = std::ranges::is_sorted(order) ? x : transpose(x, order);
  return axes.size() == 1 ? moved : reshape(moved, sizes);
}

Sorted sorted(const char *function, const Tensor &x, const Ints &axes) {
  check_not_empty(function, x, axes);
  const Tensor rows = merged_last(x, axes);
  return {sort(rows), pinned_size(rows, rows.rank() - 1)};
}

/// That at a position from the front.
Tensor at_position(const Tensor &rows, const Size &position) {
  const std::int64_t last = rows.rank() - 1;
  if (position.is_number()) return along(rows, last, position.number());
  return along(between(rows, last, position, position + 1), last, 0);
}

/// A result without the axes, or with size 1 for them.
Tensor with_reduced(const Tensor &found, const Ints &axes, bool keepdims) {
  return keepdims ? composites::expand_dims(found, IntList(axes)) : found;
}

/// What is `part` of the way from a number to the next one.
Tensor on_the_way(const Tensor &value, const Tensor &second, const Tensor &part) {
  // Infinite ones have no difference, and nothing is between -inf and a number but -inf.
  const Tensor low_end = (value == -kInfinity) & (second < kInfinity);
  const Tensor same = low_end | ((value == second) & (abs(value) == kInfinity));
  return select(same, value, value + (second - value) * part);
}

/// Of sorted elements that at a share of the way from the first to the last, or what the method
/// gives between two.
Tensor element_at(const Tensor &rows, double share, std::int64_t count, QuantileMethod method) {
  const double position = share * static_cast<double>(count - 1);
  const auto element = [&](std::int64_t i) { return at_position(rows, std::min(i, count - 1)); };
  const auto low = static_cast<std::int64_t>(position);
  double part = position - static_cast<double>(low);
  switch (method) {
  case QuantileMethod::linear: break;
  case QuantileMethod::lower: part = 0; break;
  case QuantileMethod::higher: part = part > 0; break;
  case QuantileMethod::midpoint: part = part > 0 ? 0.5 : 0; break;
  case QuantileMethod::nearest: part = std::nearbyint(position) - static_cast<double>(low); break;
  }
  if (part == 0 || part == 1) return element(low + static_cast<std::int64_t>(part));
  return on_the_way(element(low), element(low + 1), cast(part, rows.dtype()));
}

/// The same of as many as a run finds.
Tensor element_at(const Tensor &rows, double share, const Size &count, QuantileMethod method) {
  if (count.is_number()) return element_at(rows, share, count.number(), method);
  const Tensor position = share * cast((count - 1).tensor(), f64), low = floor(position);
  Tensor part = position - low;
  switch (method) {
  case QuantileMethod::linear: break;
  case QuantileMethod::lower: part = zeros_like(part); break;
  case QuantileMethod::higher: part = cast(part > 0, f64); break;
  case QuantileMethod::midpoint: part = cast(part > 0, f64) * 0.5; break;
  case QuantileMethod::nearest: part = round(position) - low; break;
  }
  const Tensor first = cast(low, DType::i64);
  const Tensor value = at_position(rows, Size(first)),
               second =
                   at_position(rows, Size(minimum(first + std::int64_t{1}, (count - 1).tensor())));
  const Tensor between_them = on_the_way(value, second, cast(part, rows.dtype()));
  return select(part == 0, value, select(part == 1, second, between_them));
}

Tensor quantiles(const char *function, const Tensor &x, const RealList &q, double whole,
                 const Ints &axes, QuantileMethod method, bool keepdims) {
  const auto [unlike, count] = sorted(function, x, axes);
  const Tensor rows = is_floating(unlike.dtype()) ? unlike : cast(unlike, f32);
  const Tensor last = along(rows, rows.rank() - 1, -1);
  std::vector<Tensor> found;
  for (const double percent : q.values()) {
    const double share = percent / whole;
    if (!(share >= 0 && share <= 1))
      raise(ErrorKind::value,
            std::string(function) + ": q is from 0 to " + std::to_string(static_cast<int>(whole)));
    const Tensor value = element_at(rows, share, count, method);
    // NaN is the largest.
    found.push_back(with_reduced(select(last != last, last, value), axes, keepdims));
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
  const auto [rows, count] = sorted("median", x, *options.axes);
  const std::int64_t at = rows.rank() - 1;
  const Tensor middle =
      count.is_number() ? along(rows, at, Slice{(count.number() - 1) / 2, count.number() / 2 + 1})
                        : between(rows, at, (count - 1) / 2, count / 2 + 1);
  Tensor found = mean(middle, {.axes = Ints{at}});
  if (is_floating(x.dtype())) {
    const Tensor last = along(rows, at, -1);
    found = select(last != last, last, found); // NaN is the largest
  }
  return with_reduced(found, *options.axes, options.keepdims);
}

// NOLINTBEGIN(performance-unnecessary-value-param): as all such attributes are handed over
Tensor quantile(const Tensor &x, RealList q, const QuantileOptions &options) {
  return quantiles("quantile", x, q, 1, *options.axes, options.method, options.keepdims);
}

Tensor percentile(const Tensor &x, RealList q, const PercentileOptions &options) {
  return quantiles("percentile", x, q, 100, *options.axes, options.method, options.keepdims);
}
// NOLINTEND(performance-unnecessary-value-param)

Tensor average(const Tensor &given, const Tensor &weights, const AverageOptions &options) {
  const auto number = [](const Tensor &t) {
    return cast(t, t.dtype() == DType::boolean ? f32 : dtype_info(t.dtype()).sum);
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
  shares = broadcast(shares, detail::sizes_of(x));
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
  const DType dtype = is_inexact(total.dtype()) ? total.dtype() : f32;
  return cast(total, dtype) / cast(count, dtype);
}

Tensor nanmax(const Tensor &x, const NanmaxOptions &options) {
  return extremum_but_nan("nanmax", x, *options.axes, options.keepdims);
}

Tensor nanmin(const Tensor &x, const NanminOptions &options) {
  return extremum_but_nan("nanmin", x, *options.axes, options.keepdims);
}

} // namespace weft::composites
