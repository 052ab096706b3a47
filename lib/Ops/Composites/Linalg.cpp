// Linear algebra: factorizations, determinants, least squares and powers, made of the ops that
// routines compute.
#include "Ops/Composites/MatrixParts.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <tuple>

#include "OpDefs/ShapeFunctions.h"

namespace weft::composites {

void check_matrices(const char *function, const char *name, const Tensor &x) {
  if (x.rank() < 2)
    raise(ErrorKind::shape, std::string(function) + ": " + name + " has the shape " +
                                to_string(shape_of(x)) + ": a matrix is wanted");
}

void check_square(const char *function, const char *name, const Tensor &x) {
  const Shape shape = shape_of(x);
  check_matrices(function, name, x);
  const std::int64_t rows = shape[shape.size() - 2], columns = shape[shape.size() - 1];
  if (rows == columns && rows != unknown) return;
  std::vector<Tensor> open;
  const std::string text = std::string(function) + ": " + words::not_square(name, written(x, open));
  if (rows != unknown && columns != unknown) refuse_shape(text);
  detail::check_sizes(
      equal(size_along(x, x.rank() - 2).tensor(), size_along(x, x.rank() - 1).tensor()), text,
      open);
}

namespace {

std::vector<Tensor> listed(const Tensor &result) { return {result}; }
template <class... Parts>
std::vector<Tensor> listed(const std::tuple<Parts...> &results) {
  return std::apply([](const Parts &...parts) { return std::vector<Tensor>{parts...}; }, results);
}

template <class Result>
Result from_list(const std::vector<Tensor> &list) {
  if constexpr (std::is_same_v<Result, Tensor>) return list.front();
  else
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return Result(list[I]...);
    }(std::make_index_sequence<std::tuple_size_v<Result>>());
}

/// What `f` gives of whether matrices have more columns than rows: that of a branch where a trace
/// does not know their sizes.
template <class F>
auto by_form(const char *function, const char *name, const Tensor &x, F f) {
  check_matrices(function, name, x);
  const Size rows = pinned_size(x, x.rank() - 2), columns = pinned_size(x, x.rank() - 1);
  if (rows.is_number() && columns.is_number()) return f(rows.number() < columns.number());
  return from_list<decltype(f(true))>(
      branched(rows.tensor() < columns.tensor(), [&](bool wide) { return listed(f(wide)); }));
}

/// How large the values are, in parts of the largest, that count as 0 by rounding alone.
Tensor rounding_of(const Tensor &tall) {
  const DType dtype = component_of(tall.dtype());
  const Size rows = pinned_size(tall, tall.rank() - 2);
  if (rows.is_number()) return cast(epsilon_of(dtype) * static_cast<double>(rows.number()), dtype);
  return cast(rows.tensor(), dtype) * epsilon_of(dtype);
}

/// Singular values and vectors of a matrix with at least as many rows as columns.
struct Singular {
  Tensor values, left, right;

  explicit Singular(const Tensor &tall) {
    std::vector<Tensor> found = dispatch_all(OpCode::svd, {&tall, 1});
    values = std::move(found[0]);
    left = std::move(found[1]);
    right = std::move(found[2]);
  }

  /// The numbers up to which values count as 0: a part of the largest, which is the first.
  Tensor cutoffs(const Operand &part) const {
    const std::int64_t last = values.rank() - 1;
    if (shape_of(values).back() != unknown) return along(values, last, weft::slice({}, 1)) * part;
    // There may be none, which a slice of an open axis must not meet.
    const Tensor first = select(positions_along(values, last) == 0, values, 0);
    return sum(first, {.axes = Ints{last}, .keepdims = true}) * part;
  }
  /// How many are more than that.
  Tensor rank(const Operand &part) const {
    return sum(values > cutoffs(part), {.axes = Ints{values.rank() - 1}});
  }
  /// The pseudo-inverse, whose derivative is by the matrix, so that equal values are no trouble.
  Tensor pseudo_inverse(const Tensor &tall, const Operand &part) const {
    const Singular fixed = without_derivative();
    // NaN does not count as 0.
    const Tensor none = fixed.values <= fixed.cutoffs(part);
    const Tensor inverses =
        select(none, cast(0, values.dtype()), 1 / select(none, 1, fixed.values));
    return dispatch(OpCode::pinv,
                    std::array{tall, cast(inverses, tall.dtype()), fixed.left, fixed.right});
  }

private:
  Singular(Tensor s, Tensor u, Tensor v)
      : values(std::move(s)), left(std::move(u)), right(std::move(v)) {}
  Singular without_derivative() const {
    return {stop_gradient(values), stop_gradient(left), stop_gradient(right)};
  }
};

/// The diagonal of the upper triangle, and 1 or -1 for an even or odd number of exchanges.
struct Diagonal {
  Tensor elements, sign;

  explicit Diagonal(const Tensor &x) {
    const std::vector<Tensor> lu = dispatch_all(OpCode::lu, {&x, 1});
    elements = weft::diagonal(lu[0], 0, -2, -1);
    const Tensor moved = lu[1] != positions_along(lu[1], lu[1].rank() - 1);
    const Tensor odd = sum(moved, {.axes = Ints{lu[1].rank() - 1}}) % 2;
    sign = cast(1 - 2 * odd, x.dtype());
  }
};

} // namespace

Tensor cholesky(const Tensor &x, const linalg::CholeskyOptions &options) {
  check_square("cholesky", "x", x);
  const Tensor lower = dispatch(OpCode::cholesky, {&x, 1});
  return options.upper ? adjoint(lower) : lower;
}

linalg::LuFactor lu_factor(const Tensor &x) {
  check_matrices("lu_factor", "x", x);
  std::vector<Tensor> results = dispatch_all(OpCode::lu, {&x, 1});
  return {std::move(results[0]), std::move(results[1])};
}

linalg::Qr qr(const Tensor &x, const linalg::QrOptions &options) {
  auto [basis, triangle] = by_form("qr", "x", x, [&](bool wide) {
    const std::int64_t rank = x.rank();
    const Size rows = pinned_size(x, rank - 2), columns = pinned_size(x, rank - 1);
    // Of more columns than rows the first ones determine the basis, of which the others are sums.
    const Tensor square = wide ? between(x, rank - 1, 0, rows) : x;
    const bool complete = options.mode == linalg::QrMode::complete && !wide;
    std::vector<Tensor> results = dispatch_all(OpCode::qr, {&square, 1}, Attrs{complete});
    Tensor q = std::move(results[0]), r = std::move(results[1]);
    if (wide)
      r = weft::concatenate(
          {r, matmul(conj(q), between(x, rank - 1, rows, columns), {.transpose_lhs = true})},
          {.axis = rank - 1});
    return std::tuple(std::move(q), std::move(r));
  });
  return {std::move(basis), std::move(triangle)};
}

Tensor det(const Tensor &x) {
  check_square("det", "x", x);
  return dispatch(OpCode::det, {&x, 1});
}

linalg::Slogdet slogdet(const Tensor &x) {
  check_square("slogdet", "x", x);
  const Diagonal diagonal(x);
  const Axes last = Ints{diagonal.elements.rank() - 1};
  return {diagonal.sign * prod(sign(diagonal.elements), {.axes = last}),
          sum(log(abs(diagonal.elements)), {.axes = last})};
}

linalg::Eigh eigh(const Tensor &x) {
  check_square("eigh", "x", x);
  std::vector<Tensor> results = dispatch_all(OpCode::eigh, {&x, 1});
  return {std::move(results[0]), std::move(results[1])};
}

Tensor eigvalsh(const Tensor &x) {
  check_square("eigvalsh", "x", x);
  return dispatch_all(OpCode::eigh, {&x, 1})[0];
}

linalg::Eig eig(const Tensor &x) {
  check_square("eig", "x", x);
  std::vector<Tensor> results = dispatch_all(OpCode::eig, {&x, 1});
  return {std::move(results[0]), std::move(results[1])};
}

Tensor eigvals(const Tensor &x) {
  check_square("eigvals", "x", x);
  return dispatch_all(OpCode::eig, {&x, 1})[0];
}

/// An orthonormal basis with columns more, as many as it has rows.
static Tensor completed(const Tensor &basis) {
  const std::int64_t last = basis.rank() - 1;
  const std::vector<Tensor> all = dispatch_all(OpCode::qr, {&basis, 1}, Attrs{true});
  return weft::concatenate(
      {basis, between(all[0], last, pinned_size(basis, last), pinned_size(basis, last - 1))},
      {.axis = last});
}

linalg::Svd svd(const Tensor &x, const linalg::SvdOptions &options) {
  auto [left, values, right] = by_form("svd", "x", x, [&](bool wide) {
    std::vector<Tensor> found = dispatch_all(OpCode::svd, std::array{wide ? transposed(x) : x});
    if (!wide) return std::tuple(found[1], found[0], found[2]);
    return std::tuple(transposed(found[2]), found[0], transposed(found[1]));
  });
  const Size rows = pinned_size(x, x.rank() - 2), columns = pinned_size(x, x.rank() - 1);
  const bool square = rows.is_number() && columns.is_number() && rows.number() == columns.number();
  if (!options.full_matrices || square) return {left, values, right};
  // Apart from the values, whose derivative needs no complete basis, which has none.
  const Tensor some = left, others = transposed(right);
  return {by_form("svd", "x", x, [&](bool wide) { return wide ? some : completed(some); }), values,
          by_form("svd", "x", x,
                  [&](bool wide) { return transposed(wide ? completed(others) : others); })};
}

Tensor singular_values(const char *function, const Tensor &x) {
  return by_form(function, "x", x,
                 [&](bool wide) { return Singular(wide ? transposed(x) : x).values; });
}

Tensor svdvals(const Tensor &x) { return singular_values("svdvals", x); }

/// The part of the largest singular value up to which others count as 0: what is given for each
/// matrix, or that of rounding.
static Tensor part_of(const char *function, const Tensor &tall, const Tensor &rtol) {
  if (!rtol.defined()) return rounding_of(tall);
  const Shape shape = shape_of(tall), of = shape_of(rtol);
  const Shape batches(std::span(shape).first(shape.size() - 2));
  bool fits = of.size() <= batches.size();
  for (std::size_t i = 0; fits && i < of.size(); ++i) {
    const std::int64_t size = of[of.size() - 1 - i];
    fits = size == 1 || shapes::may_equal(size, batches[batches.size() - 1 - i]);
  }
  if (!fits)
    raise(ErrorKind::shape, std::string(function) + ": rtol has the shape " + to_string(of) +
                                ", and x, of " + to_string(shape) + ", the batches " +
                                to_string(batches) + ": it does not broadcast with them");
  const Tensor part = stop_gradient(is_complex(rtol.dtype()) ? real_part(rtol) : rtol);
  return of.empty() ? part : with_axis(part, part.rank());
}

Tensor matrix_rank(const Tensor &x, const Tensor &rtol) {
  return by_form("matrix_rank", "x", x, [&](bool wide) {
    const Tensor tall = wide ? transposed(x) : x;
    return Singular(stop_gradient(tall)).rank(part_of("matrix_rank", tall, rtol));
  });
}

Tensor pinv(const Tensor &x, const Tensor &rtol) {
  return by_form("pinv", "x", x, [&](bool wide) {
    const Tensor tall = wide ? transposed(x) : x;
    const Tensor found =
        Singular(stop_gradient(tall)).pseudo_inverse(tall, part_of("pinv", tall, rtol));
    return wide ? transposed(found) : found;
  });
}

/// The sums of squares that a solution leaves, as many as columns where rows are left over,
/// whatever the rank is, which no size depends on; none of others.
static Tensor residuals_of(const char *function, const Tensor &a, const Tensor &columns,
                           const Tensor &x) {
  const Size rows = pinned_size(a, a.rank() - 2), unknowns = pinned_size(a, a.rank() - 1);
  const bool known = rows.is_number() && unknowns.is_number();
  if (known && rows.number() <= unknowns.number()) return zeros({0}, component_of(a.dtype()));
  Tensor all = sum(square(real_magnitudes(columns - matmul(a, x))), {.axes = Ints{-2}});
  if (known) return all;
  if (all.rank() != 1)
    raise(ErrorKind::shape, std::string(function) + ": a has the shape " + to_string(shape_of(a)) +
                                ": of batches of matrices how many residuals there are must be "
                                "known: trace it for known sizes, or take pinv");
  const Tensor over = rows.tensor() > unknowns.tensor();
  return between(all, 0, 0, select(over, size_along(all, 0).tensor(), std::int64_t{0}));
}

linalg::Lstsq least_squares(const char *function, const Tensor &a, const Tensor &b,
                            const Operand &part) {
  check_matrices(function, "a", a);
  const RightSide right(function, a, b);
  const Tensor &columns = right.columns;
  common_batches(function, a, columns);
  auto [x, rank, values] = by_form(function, "a", a, [&](bool wide) {
    const Tensor tall = wide ? transposed(a) : a;
    const Singular found(tall);
    const Tensor inverse = found.pseudo_inverse(tall, part);
    return std::tuple(matmul(inverse, columns, {.transpose_lhs = wide}), found.rank(part),
                      found.values);
  });
  const Tensor residuals = residuals_of(function, a, columns, x);
  return {right.like_b(x), residuals, std::move(rank), std::move(values)};
}

linalg::Lstsq lstsq(const Tensor &a, const Tensor &b, std::optional<double> rcond) {
  check_matrices("lstsq", "a", a);
  const double epsilon = epsilon_of(component_of(a.dtype()));
  if (rcond) return least_squares("lstsq", a, b, *rcond < 0 ? epsilon : *rcond);
  const Size rows = pinned_size(a, a.rank() - 2), columns = pinned_size(a, a.rank() - 1);
  const Size larger = max(rows, columns);
  if (larger.is_number())
    return least_squares("lstsq", a, b, epsilon * static_cast<double>(larger.number()));
  return least_squares("lstsq", a, b, cast(larger.tensor(), component_of(a.dtype())) * epsilon);
}

Tensor expm(const Tensor &x) {
  check_square("expm", "x", x);
  return dispatch(OpCode::expm, {&x, 1});
}

Tensor matrix_power(const Tensor &x, std::int64_t n) {
  check_square("matrix_power", "x", x);
  if (n == 0) return identity_like(x);
  Tensor power = n < 0 ? inv(x) : x, result;
  // A negative number that has no positive one is as good as unsigned.
  for (std::uint64_t left = n < 0 ? -static_cast<std::uint64_t>(n) : static_cast<std::uint64_t>(n);
       ;) {
    if ((left & 1) != 0) result = result.defined() ? matmul(result, power) : power;
    left >>= 1;
    if (left == 0) return result;
    power = matmul(power, power);
  }
}

Tensor diagonal_of_matrix(const Tensor &x, const linalg::DiagonalOptions &options) {
  check_matrices("diagonal", "x", x);
  return weft::diagonal(x, options.offset, -2, -1);
}

Tensor trace_of_matrix(const Tensor &x, const linalg::TraceOptions &options) {
  check_matrices("trace", "x", x);
  return sum(weft::diagonal(x, options.offset, -2, -1), {.axes = Ints{-1}, .dtype = options.dtype});
}

Tensor cross_of_linalg(const Tensor &a, const Tensor &b, const linalg::CrossOptions &options) {
  return weft::cross(a, b, options.axis);
}

Tensor outer_of_vectors(const Tensor &a, const Tensor &b) {
  for (const auto &[name, x] : {std::pair("a", &a), std::pair("b", &b)})
    if (x->rank() != 1)
      raise(ErrorKind::shape, std::string("outer: ") + name + " has the shape " +
                                  to_string(shape_of(*x)) + ": a vector is wanted");
  return weft::outer(a, b);
}

Tensor vecdot(const Tensor &a, const Tensor &b, const linalg::VecdotOptions &options) {
  // Of operands that broadcast the axis counts from the end.
  const std::int64_t rank = std::max(a.rank(), b.rank());
  const std::int64_t axis = options.axis < 0 ? options.axis : options.axis - rank;
  std::int64_t sizes[2];
  for (const auto &[number, name, x] : {std::tuple(0, "a", &a), std::tuple(1, "b", &b)})
    sizes[number] = shape_of(
        *x)[static_cast<std::size_t>(call::checked_axis("vecdot", "axis", axis, x->rank()))];
  if (sizes[0] != sizes[1] && sizes[0] != unknown && sizes[1] != unknown)
    raise(ErrorKind::shape, "vecdot: axis " + std::to_string(options.axis) + " has size " +
                                std::to_string(sizes[0]) + " in a and " + std::to_string(sizes[1]) +
                                " in b");
  const Tensor products = conj(a) * b;
  // It has their dtype, also where a sum has a larger one.
  return cast(sum(products, {.axes = Ints{products.rank() + axis}}), products.dtype());
}

Tensor vector_norm(const Tensor &x, const linalg::VectorNormOptions &options) {
  const std::int64_t rank = x.rank();
  const Ints over = call::checked_axes("vector_norm", "axis", options.axes, rank);
  // The axes in one line, behind the others.
  Ints order, kept(shape_of(x));
  Sizes sizes;
  for (std::int64_t axis = 0; axis < rank; ++axis)
    if (std::ranges::find(over, axis) == over.end()) {
      order.push_back(axis);
      sizes.push_back(size_along(x, axis));
    }
  for (const std::int64_t axis : over) order.push_back(axis);
  sizes.push_back(-1);
  const Tensor line = over.size() == 1 ? x : reshape(transpose(x, order), sizes);
  const std::int64_t at = over.size() == 1 ? over[0] : line.rank() - 1;
  Tensor found = weft::norm(line, {.ord = NormOrder(options.ord), .axes = Ints{at}});
  if (options.keepdims)
    for (const std::int64_t axis : over) found = with_axis(found, axis);
  return found;
}

Tensor matrix_norm(const Tensor &x, const linalg::MatrixNormOptions &options) {
  check_matrices("matrix_norm", "x", x);
  return weft::norm(x, {.ord = options.ord, .axes = Ints{-2, -1}, .keepdims = options.keepdims});
}

// NOLINTNEXTLINE(performance-unnecessary-value-param): as all such attributes are handed over
Tensor cond(const Tensor &x, NormOrder p) {
  check_matrices("cond", "x", x);
  const std::int64_t rank = x.rank();
  check_not_empty("cond", x, Ints{rank - 2, rank - 1});
  const double infinity = std::numeric_limits<double>::infinity();
  const double number = p.number().value_or(p.word().empty() ? 2 : 0);
  if (std::abs(number) == 2) {
    const Tensor values = singular_values("cond", x);
    const std::int64_t axis = values.rank() - 1;
    const Tensor largest = along(values, axis, 0), smallest = along(values, axis, -1);
    const Tensor &above = number > 0 ? largest : smallest, &below = number > 0 ? smallest : largest;
    const Tensor none = below == 0;
    return select(none, cast(infinity, values.dtype()), above / select(none, 1, below));
  }
  check_square("cond", "x", x);
  const Tensor triangles = lu_factor(stop_gradient(x)).lu;
  const Tensor none = weft::any(weft::diagonal(triangles, 0, -2, -1) == 0, {.axes = Ints{-1}});
  const Tensor regular =
      select(with_axis(with_axis(none, rank - 2), rank - 1), identity_like(x), x);
  const Tensor found = weft::norm(x, {.ord = p, .axes = Ints{-2, -1}}) *
                       weft::norm(inv(regular), {.ord = p, .axes = Ints{-2, -1}});
  return select(none, cast(infinity, found.dtype()), found);
}

} // namespace weft::composites
