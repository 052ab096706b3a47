// Curves through points, their slopes and integrals, polynomials, and how vectors and variables go
// together, made of ops.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <string>
#include <vector>

#include <weft/windows.h>

namespace weft::composites {

namespace {

void check_vector(const char *function, const char *name, const Tensor &x) {
  if (x.rank() != 1)
    raise(ErrorKind::shape, std::string(function) + ": " + name + " has the shape " +
                                to_string(shape_of(x)) + ": a vector is wanted");
}

/// The size of a vector that is to have elements, which are known.
std::int64_t known_size(const char *function, const char *name, const Tensor &x) {
  check_vector(function, name, x);
  const std::int64_t size = detail::size_for_call(x, 0);
  if (size < 1)
    raise(ErrorKind::shape,
          std::string(function) + ": " + name +
              (size == unknown ? " is of a size that is not known yet" : " has no element"));
  return size;
}

} // namespace

Tensor interp(const Tensor &x, const Tensor &xp, const Tensor &fp, const InterpOptions &options) {
  const std::int64_t count = known_size("interp", "xp", xp);
  if (const std::int64_t other = known_size("interp", "fp", fp); other != count)
    raise(ErrorKind::shape,
          "interp: xp has " + std::to_string(count) + " elements and fp " + std::to_string(other));
  const Tensor end =
      maximum(minimum(search_sorted(xp, stop_gradient(x), {.right = true}), count - 1),
              std::min<std::int64_t>(count - 1, 1));
  const Tensor begin = maximum(end - std::int64_t{1}, std::int64_t{0});
  const Tensor x0 = gather(xp, begin), y0 = gather(fp, begin), y1 = gather(fp, end);
  const Tensor wide = gather(xp, end) - x0, none = wide == 0;
  const Tensor line = y0 + (x - x0) * select(none, 0, (y1 - y0) / select(none, 1, wide));
  const Tensor first = along(xp, 0, 0), last = along(xp, 0, count - 1);
  const Tensor left = options.left ? cast(*options.left, fp.dtype()) : along(fp, 0, 0);
  const Tensor right = options.right ? cast(*options.right, fp.dtype()) : along(fp, 0, count - 1);
  const Tensor behind = select(x == last, along(fp, 0, count - 1), select(x > last, right, line));
  const Tensor found = select(x < first, left, behind);
  return select(x == x, found, x);
}

Tensor trapezoid(const Tensor &y, const Tensor &x, const TrapezoidOptions &options) {
  const std::int64_t axis = options.axis;
  const auto later = [&](const Tensor &of, std::int64_t at) { return along(of, at, Slice{1, {}}); };
  const auto earlier = [&](const Tensor &of, std::int64_t at) {
    return along(of, at, Slice{0, -1});
  };
  const Tensor pairs = (later(y, axis) + earlier(y, axis)) / 2;
  if (!x.defined()) return sum(pairs, {.axes = Ints{axis}}) * options.dx;
  const std::int64_t at = x.rank() == 1 ? 0 : axis;
  Tensor wide = later(x, at) - earlier(x, at);
  if (x.rank() == 1)
    for (std::int64_t i = axis + 1; i < y.rank(); ++i) wide = with_axis(wide, wide.rank());
  return sum(pairs * wide, {.axes = Ints{axis}});
}

std::vector<Tensor> gradient(const Tensor &f, const NumericGradientOptions &options) {
  if (options.edge_order != 1 && options.edge_order != 2)
    raise(ErrorKind::value,
          "gradient: edge_order is " + std::to_string(options.edge_order) + ": it is 1 or 2");
  std::vector<Tensor> found;
  for (const std::int64_t axis : *options.axes) {
    const std::int64_t size = detail::size_for_call(f, axis);
    if (size <= options.edge_order)
      raise(ErrorKind::shape,
            "gradient: axis " + std::to_string(axis) + " of f, which has the shape " +
                to_string(shape_of(f)) +
                (size == unknown ? ", is of a size that is not known yet"
                                 : ": there are at least " +
                                       std::to_string(options.edge_order + 1) + " elements"));
    const auto at = [&](std::int64_t i) {
      const std::int64_t from = i < 0 ? i + size : i;
      return along(f, axis, Slice{from, from + 1});
    };
    // At an end the slope of the line, or of the parabola, through the elements there.
    const auto end = [&](std::int64_t i, std::int64_t step) {
      Tensor line = at(i + step) - at(i);
      if (options.edge_order == 1) return line;
      return (4 * at(i + step) - 3 * at(i) - at(i + 2 * step)) / 2;
    };
    const Tensor inner = (along(f, axis, Slice{2, {}}) - along(f, axis, Slice{0, size - 2})) / 2;
    const std::vector<Tensor> parts = {end(0, 1), inner, -end(-1, -1)};
    found.push_back(concatenate(std::span<const Tensor>(parts), {.axis = axis}) / options.spacing);
  }
  return found;
}

Tensor polyval(const Tensor &p, const Tensor &x) {
  check_vector("polyval", "p", p);
  const std::int64_t count = detail::size_for_call(p, 0);
  if (count == unknown || count > max_parts)
    raise(ErrorKind::shape, count == unknown
                                ? std::string("polyval: p is of a size that is not known yet")
                                : "polyval: p has " + std::to_string(count) + " coefficients");
  Tensor y = zeros_like(x);
  for (std::int64_t i = 0; i < count; ++i) y = y * x + along(p, 0, i);
  return y;
}

Tensor polyfit(const Tensor &x, const Tensor &y, const Tensor &w, std::int64_t deg,
               const PolyfitOptions &options) {
  constexpr std::int64_t highest = 64;
  if (deg < 0 || deg > highest)
    raise(ErrorKind::value, "polyfit: deg is " + std::to_string(deg) + ": it is from 0 to " +
                                std::to_string(highest));
  const std::int64_t count = known_size("polyfit", "x", x);
  if (y.rank() != 1 && y.rank() != 2)
    raise(ErrorKind::shape, "polyfit: y has the shape " + to_string(shape_of(y)) +
                                ": a vector or a matrix is wanted");
  if (w.defined()) check_vector("polyfit", "w", w);
  const auto check_size = [&](const char *name, const Tensor &other) {
    if (const std::int64_t size = detail::size_for_call(other, 0); size != count)
      raise(ErrorKind::shape, "polyfit: x has " + std::to_string(count) + " elements and " + name +
                                  " " + std::to_string(size));
  };
  check_size("y", y);
  if (w.defined()) check_size("w", w);
  // Powers of f32 numbers are too close to each other for f32, so that all is computed in f64.
  const auto wide = [](const Tensor &tensor) { return cast(tensor, DType::f64); };
  std::vector<Tensor> powers{ones_like(wide(x))};
  for (std::int64_t i = 0; i < deg; ++i) powers.push_back(powers.back() * wide(x));
  std::ranges::reverse(powers);
  Tensor columns = weft::stack(powers, 1), wanted = y.rank() == 1 ? with_axis(wide(y), 1) : wide(y);
  if (w.defined()) {
    const Tensor weights = with_axis(wide(w), 1);
    columns = columns * weights;
    wanted = wanted * weights;
  }
  const Tensor lengths = sqrt(sum(square(columns), {.axes = Ints{0}}));
  const Tensor scales = select(lengths == 0, 1, lengths);
  const double epsilon = epsilon_of(x.dtype());
  const double rcond = options.rcond.value_or(static_cast<double>(count) * epsilon);
  const Tensor found = linalg::lstsq(columns / scales, wanted, rcond < 0 ? epsilon : rcond).x;
  const Tensor coefficients = cast(found / with_axis(scales, 1), x.dtype());
  return y.rank() == 1 ? along(coefficients, 1, 0) : coefficients;
}

namespace {

/// Sums of products of the longer vector with the shorter one at each position.
Tensor slid(const Tensor &longer, const Tensor &shorter, std::int64_t size, ConvolveMode mode) {
  const std::int64_t low = mode == ConvolveMode::full   ? size - 1
                           : mode == ConvolveMode::same ? size / 2
                                                        : 0;
  const std::int64_t high = mode == ConvolveMode::same ? size - 1 - low : low;
  const Tensor found = convolution(reshape(longer, {1, -1, 1}), reshape(shorter, {size, 1, 1}),
                                   {.padding = {{low, high}}});
  return reshape(found, {-1});
}

} // namespace

Tensor convolve(const Tensor &a, const Tensor &v, ConvolveMode mode) {
  const std::int64_t m = known_size("convolve", "a", a), n = known_size("convolve", "v", v);
  const Tensor &longer = m >= n ? a : v, &shorter = m >= n ? v : a;
  return slid(longer, reverse(shorter, {.axes = Ints{0}}), std::min(m, n), mode);
}

Tensor correlate(const Tensor &a, const Tensor &v, ConvolveMode mode) {
  const std::int64_t m = known_size("correlate", "a", a), n = known_size("correlate", "v", v);
  if (m >= n) return slid(a, v, n, mode);
  return reverse(slid(v, a, m, mode), {.axes = Ints{0}});
}

namespace {

/// Variables as rows, those of y below those of x.
Tensor variables(const char *function, const Tensor &x, const Tensor &y, bool rowvar) {
  const auto rows = [&](const Tensor &given, const char *name) {
    if (given.rank() > 2)
      raise(ErrorKind::shape, std::string(function) + ": " + name + " has the shape " +
                                  to_string(shape_of(given)) + ": it has at most two axes");
    const Tensor matrix = atleast_2d(given);
    return rowvar || given.rank() < 2 ? matrix : matrix.mT();
  };
  Tensor first = rows(x, "x");
  if (!y.defined()) return first;
  const Tensor second = rows(y, "y");
  const std::int64_t m = shape_of(first)[1], n = shape_of(second)[1];
  if (m != n && m != unknown && n != unknown)
    raise(ErrorKind::shape, std::string(function) + ": x has " + std::to_string(m) +
                                " observations and y " + std::to_string(n));
  return concatenate({first, second}, {.axis = 0});
}

Tensor covariances(const Tensor &rows, std::int64_t ddof) {
  const Tensor away = rows - mean(rows, {.axes = Ints{1}, .keepdims = true});
  const Tensor count = cast(size_along(rows, 1).tensor(), rows.dtype());
  return matmul(away, away, {.transpose_rhs = true}) / maximum(count - ddof, 0);
}

} // namespace

/// That of one variable is a number, so a trace is pinned to how many there are. One for any number
/// of them has a matrix, and stops a call of one.
static Tensor of_one(const char *function, const Tensor &matrix) {
  const std::int64_t variables = detail::size_for_call(matrix, 0);
  if (variables == 1) return reshape(matrix, Ints{});
  if (variables == unknown) {
    const Tensor count = size_along(matrix, 0).tensor();
    detail::check_sizes(count != std::int64_t{1},
                        std::string(function) +
                            ": there is {} variable, of which a number is given: where the size "
                            "of their axis is open there are two or more",
                        {&count, 1});
  }
  return matrix;
}

Tensor cov(const Tensor &x, const Tensor &y, const CovOptions &options) {
  const Tensor rows = variables("cov", x, y, options.rowvar);
  const Tensor found = covariances(rows, options.ddof.value_or(options.bias ? 0 : 1));
  return of_one("cov", found);
}

Tensor corrcoef(const Tensor &x, const Tensor &y, const CorrcoefOptions &options) {
  const Tensor found = covariances(variables("corrcoef", x, y, options.rowvar), 1);
  const Tensor deviations = sqrt(diagonal(found, 0, 0, 1));
  const Tensor shares = found / with_axis(deviations, 1) / deviations;
  const Tensor bounded = minimum(maximum(shares, -1), 1);
  return of_one("corrcoef", bounded);
}

} // namespace weft::composites
