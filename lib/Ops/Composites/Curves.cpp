// Curves through points, their slopes and integrals, polynomials, and how vectors and variables go
// together, made of ops.
#include "Ops/Composites/Parts.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "Support/Messages.h"
#include <weft/windows.h>

namespace weft::composites {

namespace {

void check_vector(const char *function, const char *name, const Tensor &x) {
  if (x.rank() != 1)
    raise(ErrorKind::shape, std::string(function) + ": " + name + " has the shape " +
                                to_string(shape_of(x)) + ": a vector is wanted");
}

/// The size of a vector that is to have elements.
Size size_of_some(const char *function, const char *name, const Tensor &x) {
  check_vector(function, name, x);
  Size size = pinned_size(x, 0);
  const std::string text = std::string(function) + ": " + name + " has no element";
  if (size.is_number() && size.number() == 0) refuse_shape(text);
  if (!size.is_number()) detail::check_sizes(size.tensor() > std::int64_t{0}, text, {});
  return size;
}

/// Throws ShapeError unless two sizes are the same, "`first` has 3 elements and y 4"; the program
/// checks those that a trace does not know.
void check_same(const std::string &first, const Size &size, const char *what,
                const std::string &second, const Size &other) {
  const bool known = size.is_number() && other.is_number();
  if (known && size.number() == other.number()) return;
  std::vector<Tensor> open;
  const std::string has = written(size, open), others = written(other, open);
  const std::string text = first + " has " + has + " " + what + " and " + second + " " + others;
  if (known) refuse_shape(text);
  detail::check_sizes(equal(size.tensor(), other.tensor()), text, open);
}

} // namespace

static Tensor interpolated(const Tensor &x, const Tensor &xp, const Tensor &fp, const Size &count,
                           const InterpOptions &options) {
  const Tensor most = (count - 1).tensor();
  const Tensor end =
      maximum(minimum(cast(search_sorted(xp, stop_gradient(x), {.right = true}), DType::i64), most),
              minimum(most, std::int64_t{1}));
  const Tensor begin = maximum(end - std::int64_t{1}, std::int64_t{0});
  const Tensor x0 = gather(xp, begin), y0 = gather(fp, begin), y1 = gather(fp, end);
  const Tensor wide = gather(xp, end) - x0, none = wide == 0;
  const Tensor slope = select(none, 0, (y1 - y0) / select(none, 1, wide));
  // From the other end where one is infinite, and of a point what it has, as NumPy does.
  const Tensor from_first = y0 + (x - x0) * slope, from_second = y1 + (x - gather(xp, end)) * slope;
  const Tensor either = select(from_first == from_first, from_first,
                               select((from_second == from_second) | (y0 != y1), from_second, y0));
  const Tensor line = select(x == x0, y0, either);
  const Tensor first = along(xp, 0, 0), last = along(xp, 0, -1);
  const Tensor left = options.left ? cast(*options.left, fp.dtype()) : along(fp, 0, 0);
  const Tensor right = options.right ? cast(*options.right, fp.dtype()) : along(fp, 0, -1);
  const Tensor behind = select(x == last, along(fp, 0, -1), select(x > last, right, line));
  const Tensor found = select(x < first, left, behind);
  return select(x == x, found, x);
}

Tensor interp(const Tensor &x, const Tensor &xp, const Tensor &fp, const InterpOptions &options) {
  const Size count = size_of_some("interp", "xp", xp);
  check_same("interp: xp", count, "elements", "fp", size_of_some("interp", "fp", fp));
  if (!options.period) return interpolated(x, xp, fp, count, options);
  const double period = std::abs(*options.period);
  if (period == 0 || !std::isfinite(period))
    raise(ErrorKind::value,
          "interp: the period is " + number_text(*options.period) + ": it is finite and not 0");
  // All within one period, in order, with the last point before them and the first behind them.
  const Tensor within = remainder(xp, period);
  const Tensor order = argsort(stop_gradient(within));
  const Tensor at = gather(within, order), values = gather(fp, order);
  const auto around = [&](const Tensor &all, double apart) {
    return concatenate(
        {along(all, 0, Slice{-1, {}}) - apart, all, along(all, 0, Slice{{}, 1}) + apart},
        {.axis = 0});
  };
  return interpolated(remainder(x, period), around(at, period), around(values, 0), count + 2, {});
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
  if (at < x.rank())
    check_same("trapezoid: y", size_along(y, axis), "elements", "x", size_along(x, at));
  Tensor wide = later(x, at) - earlier(x, at);
  if (x.rank() == 1)
    for (std::int64_t i = axis + 1; i < y.rank(); ++i) wide = with_axis(wide, wide.rank());
  return sum(pairs * wide, {.axes = Ints{axis}});
}

/// Slopes along an axis by the elements around each, which are `apart` from each other: one number,
/// or a vector of as many as there are elements, less one, that broadcasts along the axis. Those of
/// parabolas through three elements (Fornberg, Math. Comp. 51, 1988), and of lines at the ends
/// where the order is 1.
static Tensor slopes(const Tensor &f, std::int64_t axis, const Size &size, const Tensor &apart,
                     std::int64_t edge_order) {
  const auto gap = [&](const Size &from, const Size &to) {
    return apart.rank() == 0 ? apart : between(apart, 0, from, to);
  };
  // The axes behind f's axis, which the gaps lack.
  const auto beside = [&](Tensor gaps) {
    if (gaps.rank() != 0)
      for (std::int64_t i = axis + 1; i < f.rank(); ++i) gaps = with_axis(gaps, gaps.rank());
    return gaps;
  };
  const auto at = [&](std::int64_t i) {
    const Size from = i < 0 ? size + i : Size(i);
    return between(f, axis, from, from + 1);
  };
  const auto gap_at = [&](std::int64_t i) {
    const Size from = i < 0 ? size + (i - 1) : Size(i);
    return beside(gap(from, from + 1));
  };
  const auto first = (at(1) - at(0)) / gap_at(0), last = (at(-1) - at(-2)) / gap_at(-1);
  const auto curved = [&](const Tensor &line, const Tensor &next, const Tensor &wide,
                          const Tensor &next_wide) {
    return line + (line - next) * (wide / (wide + next_wide));
  };
  const auto inside = [&] {
    const Tensor back = between(f, axis, 0, size - 2), ahead = between(f, axis, 2, size);
    if (apart.rank() == 0) return (ahead - back) / (2 * apart);
    const Tensor before = beside(gap(0, size - 2)), behind = beside(gap(1, size - 1));
    const Tensor here = between(f, axis, 1, size - 1);
    const Tensor rise = (here - back) / before;
    return rise + ((ahead - here) / behind - rise) * (before / (before + behind));
  };
  const Tensor inner = inside();
  if (edge_order == 1) return concatenate({first, inner, last}, {.axis = axis});
  const Tensor second = (at(2) - at(1)) / gap_at(1), last_but_one = (at(-2) - at(-3)) / gap_at(-2);
  return concatenate({curved(first, second, gap_at(0), gap_at(1)), inner,
                      curved(last, last_but_one, gap_at(-1), gap_at(-2))},
                     {.axis = axis});
}

std::vector<Tensor> gradient(const Tensor &f, const Tensor &coordinates,
                             const NumericGradientOptions &options) {
  if (options.edge_order != 1 && options.edge_order != 2)
    raise(ErrorKind::value,
          "gradient: edge_order is " + std::to_string(options.edge_order) + ": it is 1 or 2");
  if (coordinates.defined()) check_vector("gradient", "coordinates", coordinates);
  call::checked_axes("gradient", "axis", options.axes, f.rank()); // that they differ
  std::vector<Tensor> found;
  for (const std::int64_t given : options.axes ? *options.axes : axes_of(f)) {
    const std::int64_t axis = given < 0 ? given + f.rank() : given;
    const Size size = size_along(f, axis);
    std::vector<Tensor> open;
    const std::string text = "gradient: axis " + std::to_string(axis) +
                             " of f, which has the shape " + written(f, open) +
                             ": there are at least " + std::to_string(options.edge_order + 1) +
                             " elements";
    if (size.is_number() && size.number() <= options.edge_order) refuse_shape(text);
    if (!size.is_number()) detail::check_sizes(size.tensor() > options.edge_order, text, open);
    Tensor apart = cast(options.spacing, f.dtype());
    if (coordinates.defined()) {
      check_same("gradient: axis " + std::to_string(axis), size, "elements", "coordinates",
                 pinned_size(coordinates, 0));
      apart = along(coordinates, 0, Slice{1, {}}) - along(coordinates, 0, Slice{0, -1});
    }
    found.push_back(slopes(f, axis, size, apart, options.edge_order));
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
  const Size count = size_of_some("polyfit", "x", x);
  if (y.rank() != 1 && y.rank() != 2)
    raise(ErrorKind::shape, "polyfit: y has the shape " + to_string(shape_of(y)) +
                                ": a vector or a matrix is wanted");
  if (w.defined()) check_vector("polyfit", "w", w);
  const auto check_size = [&](const char *name, const Tensor &other) {
    check_same("polyfit: x", count, "elements", name, pinned_size(other, 0));
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
  const Tensor part = options.rcond
                          ? cast(*options.rcond < 0 ? epsilon : *options.rcond, DType::f64)
                          : cast(count.tensor(), DType::f64) * epsilon;
  const Tensor found = least_squares("polyfit", columns / scales, wanted, part).x;
  const Tensor coefficients = cast(found / with_axis(scales, 1), x.dtype());
  return y.rank() == 1 ? along(coefficients, 1, 0) : coefficients;
}

namespace {

/// Complex sums of products, of sums of products of the parts.
template <class Sums>
Tensor of_parts(const Tensor &a, const Tensor &b, Sums sums) {
  const Tensor ar = real_part(a), ai = imaginary_part(a), br = real_part(b), bi = imaginary_part(b);
  return complex(sums(ar, br) - sums(ai, bi), sums(ar, bi) + sums(ai, br));
}

/// Sums of products of the longer vector with the shorter one at each position.
Tensor slid(const Tensor &longer, const Tensor &shorter, std::int64_t size, ConvolveMode mode) {
  const std::int64_t low = mode == ConvolveMode::full   ? size - 1
                           : mode == ConvolveMode::same ? size / 2
                                                        : 0;
  const std::int64_t high = mode == ConvolveMode::same ? size - 1 - low : low;
  if (is_complex(longer.dtype()))
    return of_parts(longer, shorter,
                    [&](const Tensor &x, const Tensor &y) { return slid(x, y, size, mode); });
  const Tensor found = convolution(reshape(longer, {1, -1, 1}), reshape(shorter, {size, 1, 1}),
                                   {.padding = {{low, high}}});
  return reshape(found, {-1});
}

/// The same of vectors of which a trace does not know which one is longer: the sums at all
/// positions, and of these the ones that are wanted.
Tensor slid_by_size(const Tensor &a, const Tensor &v, const Size &m, const Size &n,
                    ConvolveMode mode, bool turned) {
  if (is_complex(a.dtype()))
    return of_parts(a, v, [&](const Tensor &x, const Tensor &y) {
      return slid_by_size(x, y, m, n, mode, turned);
    });
  Sizes behind;
  behind.push_back(n - 1);
  const Tensor zero = cast(0, a.dtype()), padded = weft::pad(a, zero, behind, behind, Ints{0});
  Tensor found = reshape(
      convolution(reshape(padded, {1, -1, 1}), reshape(v, {-1, 1, 1}), {.padding = {{0, 0}}}),
      {-1});
  if (mode == ConvolveMode::full) return found;
  const Size larger = max(m, n), smaller = min(m, n);
  if (mode == ConvolveMode::valid) return between(found, 0, smaller - 1, larger);
  // Half of the shorter one hangs out; of an even one more in front, or behind if both are
  // reversed.
  const Size in_front = smaller - 1 - smaller / 2;
  const Size start =
      turned ? in_front
             : Size(select(m.tensor() < n.tensor(), (smaller / 2).tensor(), in_front.tensor()));
  return between(found, 0, start, start + larger);
}

} // namespace

Tensor convolve(const Tensor &a, const Tensor &v, ConvolveMode mode) {
  const Size m = size_of_some("convolve", "a", a), n = size_of_some("convolve", "v", v);
  const Tensor turned = reverse(v, {.axes = Ints{0}});
  if (!m.is_number() || !n.is_number()) return slid_by_size(a, turned, m, n, mode, /*turned=*/true);
  if (m.number() >= n.number()) return slid(a, turned, n.number(), mode);
  return slid(v, reverse(a, {.axes = Ints{0}}), m.number(), mode);
}

Tensor correlate(const Tensor &a, const Tensor &v, ConvolveMode mode) {
  const Size m = size_of_some("correlate", "a", a), n = size_of_some("correlate", "v", v);
  const Tensor with = is_complex(v.dtype()) ? conj(v) : v;
  if (!m.is_number() || !n.is_number()) return slid_by_size(a, with, m, n, mode, /*turned=*/false);
  if (m.number() >= n.number()) return slid(a, with, n.number(), mode);
  return reverse(slid(with, a, m.number(), mode), {.axes = Ints{0}});
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
  check_same(std::string(function) + ": x", size_along(first, 1), "observations", "y",
             size_along(second, 1));
  return concatenate({first, second}, {.axis = 0});
}

/// Of variables that are rows, of observations that count as often as `times` says, if it is
/// defined, and as much as `weights`.
Tensor covariances(const Tensor &rows, std::int64_t ddof, const Tensor &times = {},
                   const Tensor &weights = {}) {
  const auto conjugate = [](const Tensor &x) { return is_complex(x.dtype()) ? conj(x) : x; };
  if (!times.defined() && !weights.defined()) {
    const Tensor away = rows - mean(rows, {.axes = Ints{1}, .keepdims = true});
    const Tensor divisor = maximum(size_along(rows, 1).tensor() - ddof, std::int64_t{0});
    return matmul(away, conjugate(away), {.transpose_rhs = true}) / cast(divisor, rows.dtype());
  }
  // As NumPy's cov divides.
  const Tensor all = times.defined() && weights.defined() ? times * weights
                     : times.defined()                    ? times
                                                          : weights;
  const Tensor total = sum(all);
  const Tensor away =
      rows - sum(rows * all, {.axes = Ints{1}, .keepdims = true}) / cast(total, rows.dtype());
  const Tensor less = weights.defined() ? static_cast<double>(ddof) * sum(all * weights) / total
                                        : cast(static_cast<double>(ddof), total.dtype());
  const Tensor divisor = maximum(total - less, 0.0);
  return matmul(away * all, conjugate(away), {.transpose_rhs = true}) / cast(divisor, rows.dtype());
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

Tensor cov(const Tensor &x, const Tensor &y, const Tensor &fweights, const Tensor &aweights,
           const CovOptions &options) {
  const Tensor rows = variables("cov", x, y, options.rowvar);
  const auto weights = [&](const std::string &name, const Tensor &given) {
    if (!given.defined()) return given;
    check_vector("cov", name.c_str(), given);
    check_same("cov: x", size_along(rows, 1), "observations", name, pinned_size(given, 0));
    // Beside complex observations they have become complex.
    const bool is_real = !is_complex(given.dtype());
    const Tensor real = is_real ? given : real_part(given);
    if (!is_real)
      check(weft::all(imaginary_part(given) == 0),
            "cov: there is a weight in " + name + " that is not real");
    check(weft::all(real >= 0),
          "cov: there is a weight in " + name + " that is negative or no number");
    return cast(real, component_of(rows.dtype()));
  };
  const Tensor found = covariances(rows, options.ddof.value_or(options.bias ? 0 : 1),
                                   weights("fweights", fweights), weights("aweights", aweights));
  return of_one("cov", found);
}

Tensor corrcoef(const Tensor &x, const Tensor &y, const CorrcoefOptions &options) {
  const Tensor found = covariances(variables("corrcoef", x, y, options.rowvar), 1);
  const bool complex_numbers = is_complex(found.dtype());
  const Tensor variances = diagonal(found, 0, 0, 1);
  const Tensor deviations = sqrt(complex_numbers ? real_part(variances) : variances);
  const Tensor shares = found / with_axis(deviations, 1) / deviations;
  const auto bounded = [](const Tensor &x) { return minimum(maximum(x, -1), 1); };
  return of_one("corrcoef", complex_numbers ? complex(bounded(real_part(shares)),
                                                      bounded(imaginary_part(shares)))
                                            : bounded(shares));
}

} // namespace weft::composites
