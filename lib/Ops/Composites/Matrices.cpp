// Products of vectors and parts of matrices, made of ops.
#include "Ops/Composites/Parts.h"
#include "Ops/Composites/Root.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <tuple>

namespace weft::composites {

namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int32_t>::min(),
                       kMost = std::numeric_limits<std::int32_t>::max();

void check_matrix(const char *function, const Tensor &x) {
  if (x.rank() < 2)
    raise(ErrorKind::shape, std::string(function) + ": x has the shape " + to_string(shape_of(x)) +
                                ": a matrix is wanted");
}

/// The positions along an axis, also where a trace does not know how many.
Tensor positions(const Tensor &x, std::int64_t axis) { return arange(size_along(x, axis)); }

/// The elements where the mask holds, and zeros.
Tensor held(const Tensor &mask, const Tensor &x) { return select(mask, x, cast(0, x.dtype())); }

/// How far right of the main diagonal each position of a matrix is.
Tensor away(const Tensor &x) {
  const std::int64_t rank = x.rank();
  return positions(x, rank - 1) - with_axis(positions(x, rank - 2), 1);
}

Tensor diagonals(const char *function, const Tensor &x, std::int64_t offset, std::int64_t axis1,
                 std::int64_t axis2) {
  if (axis1 == axis2)
    raise(ErrorKind::value,
          std::string(function) + ": axis1 and axis2 are the same, " + std::to_string(axis1));
  const Size rows = size_along(x, axis1), columns = size_along(x, axis2);
  Ints order;
  Sizes sizes;
  for (std::int64_t i = 0; i < x.rank(); ++i)
    if (i != axis1 && i != axis2) {
      order.push_back(i);
      sizes.push_back(size_along(x, i));
    }
  const auto rest = static_cast<std::int64_t>(order.size());
  order.push_back(axis1);
  order.push_back(axis2);
  sizes.push_back(rows * columns);
  // An offset beyond the matrix has no element.
  const Size by = min(max(offset, 0 - rows), columns);
  const Size start = max(0, 0 - by), stop = max(start, min(rows, columns - by));
  // In a row the elements of a diagonal are columns + 1 apart.
  const Tensor found = iota(DType::i64, {stop - start}) * (columns + 1).tensor() +
                       (start * columns + start + by).tensor();
  return gather(reshape(transpose(x, order), sizes), found, {.axis = rest});
}

} // namespace

Tensor cross(const Tensor &a, const Tensor &b, std::int64_t axis) {
  std::vector<Tensor> u, v;
  for (const auto &[name, x, parts] : {std::tuple("a", &a, &u), std::tuple("b", &b, &v)}) {
    const std::int64_t at = call::checked_axis("cross", "axis", axis, x->rank());
    const Size size = size_along(*x, at);
    std::vector<Tensor> open;
    const std::string text = std::string("cross: ") + name + " has the shape " + written(*x, open) +
                             ": vectors of three numbers along axis " + std::to_string(axis) +
                             " are wanted";
    if (size.is_number() && size.number() != 3) refuse_shape(text);
    if (!size.is_number()) detail::check_sizes(size.tensor() == std::int64_t{3}, text, open);
    for (std::int64_t i = 0; i < 3; ++i) parts->push_back(along(*x, at, i));
  }
  const auto part = [&](std::size_t i, std::size_t j) { return u[i] * v[j] - u[j] * v[i]; };
  const std::vector<Tensor> parts = {part(1, 2), part(2, 0), part(0, 1)};
  return composites::stack(parts, axis);
}

Tensor outer(const Tensor &a, const Tensor &b) {
  return with_axis(reshape(a, {-1}), 1) * reshape(b, {-1});
}

Tensor kron(const Tensor &a, const Tensor &b) {
  // Axes of both in turn, counted from the end; one that is missing is of size 1.
  const std::int64_t rank = std::max(a.rank(), b.rank());
  Sizes of_a, of_b, joined;
  for (std::int64_t i = -rank; i < 0; ++i) {
    const auto size = [&](const Tensor &x) {
      return i + x.rank() < 0 ? Size(1) : size_along(x, i + x.rank());
    };
    for (const Size &n : {size(a), Size(1)}) of_a.push_back(n);
    for (const Size &n : {Size(1), size(b)}) of_b.push_back(n);
    joined.push_back(size(a) * size(b));
  }
  return reshape(reshape(a, of_a) * reshape(b, of_b), joined);
}

Tensor cdist(const Tensor &a, const Tensor &b, double p) {
  check_matrix("cdist", a);
  check_matrix("cdist", b);
  if (!(p >= 0))
    raise(ErrorKind::value, "cdist: p is " + std::to_string(p) + ": it is not negative");
  const std::int64_t of_a = shape_of(a)[static_cast<std::size_t>(a.rank() - 1)];
  const std::int64_t of_b = shape_of(b)[static_cast<std::size_t>(b.rank() - 1)];
  if (of_a != of_b && of_a != unknown && of_b != unknown)
    raise(ErrorKind::shape, "cdist: a has vectors of " + std::to_string(of_a) +
                                " numbers, and b of " + std::to_string(of_b));
  const Tensor away = with_axis(a, a.rank() - 1) - with_axis(b, b.rank() - 2);
  const Ints last{away.rank() - 1};
  if (p == 2) return root(sum(square(away), {.axes = last}));
  if (p == 0) return cast(sum(away != 0, {.axes = last}), away.dtype());
  const Tensor size = abs(away);
  if (p == 1) return sum(size, {.axes = last});
  if (std::isinf(p)) return maximum(reduce_max(size, {.axes = last}), 0);
  const Tensor total = sum(power(size, p), {.axes = last}), none = total == 0;
  return select(none, total, power(select(none, 1, total), 1 / p));
}

Tensor diagonal(const Tensor &x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  check_matrix("diagonal", x);
  return diagonals("diagonal", x, offset, axis1, axis2);
}

Tensor diag(const Tensor &x, std::int64_t k) {
  if (x.rank() == 2) return diagonals("diag", x, k, 0, 1);
  if (x.rank() != 1)
    raise(ErrorKind::shape,
          "diag: x has the shape " + to_string(shape_of(x)) + ": a vector or a matrix is wanted");
  const Tensor unit = eye(size_along(x, 0), DType::boolean);
  Tensor matrix = held(unit, with_axis(x, 1));
  if (k == 0) return matrix;
  const std::int64_t below = k < 0 ? (k == std::numeric_limits<std::int64_t>::min() ? k : -k) : 0;
  const std::int64_t above = k < 0 ? 0 : k;
  return pad(matrix, cast(0, x.dtype()), {below, above}, {above, below}, {0, 0});
}

Tensor trace(const Tensor &x, std::int64_t offset, std::int64_t axis1, std::int64_t axis2) {
  check_matrix("trace", x);
  return sum(diagonals("trace", x, offset, axis1, axis2), {.axes = Ints{-1}});
}

// No matrix has a diagonal beyond the numbers of i32.
Tensor tril(const Tensor &x, std::int64_t k) {
  check_matrix("tril", x);
  return held(away(x) <= std::clamp<std::int64_t>(k, kLowest, kMost), x);
}

Tensor triu(const Tensor &x, std::int64_t k) {
  check_matrix("triu", x);
  return held(away(x) >= std::clamp<std::int64_t>(k, kLowest, kMost), x);
}

} // namespace weft::composites
