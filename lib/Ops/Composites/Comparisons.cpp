// Norms, whether tensors are the same, and picked elements, made of ops.
#include "Ops/Composites/Parts.h"
#include "Ops/Composites/Root.h"
#include "Ops/Fused.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

namespace weft::composites {

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Tensor end_of(const Tensor &x, bool largest, std::int64_t axis, bool keepdims) {
  check_not_empty("norm", x, {axis});
  return largest ? reduce_max(x, {.axes = Ints{axis}, .keepdims = keepdims})
                 : reduce_min(x, {.axes = Ints{axis}, .keepdims = keepdims});
}

/// As users wrote it.
std::string text_of(const NormOrder &order) {
  if (!order.number()) return "'" + order.word() + "'";
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%g", *order.number());
  return buffer;
}

Tensor length_of(const Tensor &given, const Ints &axes, bool keepdims) {
  const Tensor x = real_magnitudes(given);
  const Tensor fused = call::fused_over(FusedRows::sum_of_squares, x, axes, keepdims);
  return root(fused.defined() ? fused : sum(square(x), {.axes = axes, .keepdims = keepdims}));
}

Tensor vector_norm(const Tensor &x, const NormOrder &order, std::int64_t axis, bool keepdims) {
  const Ints axes{axis};
  if (!order.word().empty())
    raise(ErrorKind::value, "norm: ord of vectors is " + text_of(order) + ": a number is wanted");
  if (!order.number() || *order.number() == 2) return length_of(x, axes, keepdims);
  const double p = *order.number();
  const Tensor sizes = abs(x);
  if (std::isinf(p)) return end_of(sizes, p > 0, axis, keepdims);
  if (p == 0) return cast(sum(x != 0, {.axes = axes, .keepdims = keepdims}), sizes.dtype());
  if (p == 1) return sum(sizes, {.axes = axes, .keepdims = keepdims});
  const Tensor total = sum(power(sizes, p), {.axes = axes, .keepdims = keepdims});
  if (p < 0) return power(total, 1 / p);
  const Tensor none = total == 0; // where the root has no slope
  return select(none, total, power(select(none, 1, total), 1 / p));
}

/// The largest, smallest or sum of singular values.
Tensor spectral_norm(const Tensor &x, double p, std::int64_t row, std::int64_t column,
                     bool keepdims) {
  Ints order;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis)
    if (axis != row && axis != column) order.push_back(axis);
  const auto last = static_cast<std::int64_t>(order.size());
  order.push_back(row);
  order.push_back(column);
  // Of no sign, but so one that is 0 has no slope, as its vectors have no direction.
  const Tensor values = abs(singular_values("norm", transpose(x, order)));
  Tensor found =
      p == 0 ? sum(values, {.axes = Ints{last}}) : end_of(values, p > 0, last, /*keepdims=*/false);
  if (keepdims)
    for (const std::int64_t axis : {std::min(row, column), std::max(row, column)})
      found = with_axis(found, axis);
  return found;
}

Tensor matrix_norm(const Tensor &x, const NormOrder &order, std::int64_t row, std::int64_t column,
                   bool keepdims) {
  const std::string &word = order.word();
  if (!order.number() && (word.empty() || word == "fro" || word == "f"))
    return length_of(x, {row, column}, keepdims);
  const double p = order.number().value_or(0);
  if (word == "nuc" || std::abs(p) == 2) return spectral_norm(x, p, row, column, keepdims);
  if (std::abs(p) != 1 && !std::isinf(p))
    raise(ErrorKind::value, "norm: ord of matrices is " + text_of(order) +
                                ": it is 'fro', 'nuc', 1, -1, 2, -2, inf or -inf");
  const bool of_columns = std::abs(p) == 1;
  const std::int64_t summed = of_columns ? row : column, rest = of_columns ? column : row;
  const Tensor sums = sum(abs(x), {.axes = Ints{summed}, .keepdims = true});
  const Tensor found = end_of(sums, p > 0, rest, true);
  return keepdims ? found : squeeze(found, Axes{row, column});
}

} // namespace

Tensor norm(const Tensor &x, const NormOptions &options) {
  const NormOrder &order = options.ord;
  const Axes &axes = options.axes;
  if (!axes && !order.number() && order.word().empty())
    return root(sum(square(real_magnitudes(x)), {.keepdims = options.keepdims}));
  if (!axes && x.rank() != 1 && x.rank() != 2)
    raise(ErrorKind::shape, "norm: x has rank " + std::to_string(x.rank()) +
                                ": with ord and without axis it is a vector or a matrix");
  Ints over;
  call::checked_axes("norm", "axis", axes, x.rank());
  if (!axes)
    for (std::int64_t i = 0; i < x.rank(); ++i) over.push_back(i);
  else
    for (const std::int64_t axis : *axes)
      over.push_back(call::checked_axis("norm", "axis", axis, x.rank()));
  if (over.size() == 1) return vector_norm(x, order, over[0], options.keepdims);
  if (over.size() == 2) return matrix_norm(x, order, over[0], over[1], options.keepdims);
  raise(ErrorKind::value,
        "norm: axis has " + std::to_string(over.size()) + " entries: there is one, or two");
}

Tensor isclose(const Tensor &a, const Tensor &b, double rtol, double atol, bool equal_nan) {
  // Integers in f64, where differences do not wrap and more of them are apart.
  const bool floating = is_inexact(a.dtype());
  const Tensor x = floating ? a : cast(a, f64), y = floating ? b : cast(b, f64);
  const Tensor near = abs(x - y) <= abs(y) * rtol + atol;
  const Tensor close = (near & (abs(y) < kInfinity)) | (x == y);
  return equal_nan ? close | ((x != x) & (y != y)) : close;
}

Tensor allclose(const Tensor &a, const Tensor &b, double rtol, double atol, bool equal_nan) {
  return reduce_all(isclose(a, b, rtol, atol, equal_nan));
}

Tensor array_equal(const Tensor &a, const Tensor &b) {
  const Shape x = shape_of(a), y = shape_of(b);
  bool same = x.size() == y.size();
  for (std::size_t i = 0; same && i < x.size(); ++i)
    same = x[i] == y[i] || x[i] == unknown || y[i] == unknown;
  return same ? reduce_all(a == b) : tensor(false);
}

/// Indices of an axis counted from the front. Others are out of range, which the op says of the
/// number that was given.
static Tensor from_front(const Tensor &x, std::int64_t axis, const Tensor &indices) {
  const std::int64_t size = shape_of(x)[static_cast<std::size_t>(axis)];
  const Tensor wide = cast(indices, i64);
  const Tensor back = size == unknown ? wide + size_of(x, {.axis = axis}) : wide + size;
  return select((wide < 0) & (back >= 0), back, wide);
}

Tensor take(const Tensor &given, const Tensor &indices, std::optional<std::int64_t> axis,
            TakeMode mode) {
  const Tensor x = axis ? given : reshape(given, {-1});
  const std::int64_t at = axis.value_or(0);
  if (mode == TakeMode::raise) return gather(x, from_front(x, at, indices), {.axis = at});
  const Tensor size = size_of(x, {.axis = at}), wide = cast(indices, i64);
  // Of an axis without elements no number is right, which the op says of 0.
  const Tensor place = mode == TakeMode::wrap
                           ? remainder(wide, maximum(size, std::int64_t{1}))
                           : maximum(minimum(wide, size - std::int64_t{1}), std::int64_t{0});
  return gather(x, place, {.axis = at});
}

Tensor take_along_axis(const Tensor &x, const Tensor &indices,
                       const TakeAlongAxisOptions &options) {
  return gather_along_axis(x, from_front(x, options.axis, indices), {.axis = options.axis});
}

Tensor where(const Tensor &condition, const Tensor &x, const Tensor &y) {
  return select(condition.dtype() == DType::boolean ? condition : condition != 0, x, y);
}

Tensor searchsorted(const Tensor &a, const Tensor &v, const Tensor &sorter, SearchSide side) {
  const auto number = [](const Tensor &x) {
    return x.dtype() == DType::boolean ? cast(x, DType::i32) : x;
  };
  if (a.rank() == 0)
    raise(ErrorKind::shape, "searchsorted: a is a scalar: a sorted vector is wanted");
  const Tensor sorted = sorter.defined() ? gather_along_axis(number(a), sorter) : number(a);
  return search_sorted(sorted, number(v), {.right = side == SearchSide::right});
}

/// Whether each value is one of a line; NaN may count as itself.
static Tensor among(const Tensor &values, const Tensor &line) {
  const Tensor sorted = sort(line, {.axis = 0});
  return search_sorted(sorted, values) != search_sorted(sorted, values, {.right = true});
}

/// The same of complex numbers, of which each part has the number of its place in the line's.
static Tensor among_complex(const Tensor &values, const Tensor &line) {
  const Tensor count = size_along(line, 0).tensor() + 1;
  const auto places = [&](const Tensor &x) {
    const auto place = [&](const Tensor &part, const Tensor &all) {
      return cast(search_sorted(sort(all, {.axis = 0}), part), DType::i64);
    };
    return place(real_part(x), real_part(line)) * count +
           place(imaginary_part(x), imaginary_part(line));
  };
  return among(places(values), places(line)) & among(real_part(values), real_part(line)) &
         among(imaginary_part(values), imaginary_part(line));
}

Tensor isin(const Tensor &x1, const Tensor &x2, const IsinOptions &options) {
  const Tensor x = x1.dtype() == DType::boolean ? cast(x1, DType::i32) : x1;
  const Tensor of = x2.dtype() == DType::boolean ? cast(x2, DType::i32) : x2;
  const Tensor line = reshape(of, {-1});
  const Tensor is_in = (is_complex(x.dtype()) ? among_complex(x, line) : among(x, line)) & (x == x);
  return options.invert ? !is_in : is_in;
}

} // namespace weft::composites
