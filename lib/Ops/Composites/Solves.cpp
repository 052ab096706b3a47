// Solves of linear systems: by LU, Cholesky's factor, or triangles.
#include "Ops/Composites/MatrixParts.h"

#include <array>
#include <optional>
#include <string>

#include "OpDefs/ShapeFunctions.h"
#include "Ops/Interpreter.h"
#include "Support/CallSite.h"

namespace weft::composites {

namespace {

/// With these batches, before so many axes.
Tensor in_batches(const Tensor &x, const Sizes &batches, std::int64_t axes) {
  Sizes sizes = batches;
  for (std::int64_t axis = x.rank() - axes; axis < x.rank(); ++axis)
    sizes.push_back(size_along(x, axis));
  return weft::broadcast(x, sizes);
}

} // namespace

std::optional<Sizes> common_batches(const char *function, const Tensor &a, const Tensor &b) {
  const Shape of_a = shape_of(a), of_b = shape_of(b);
  const Shape first(std::span(of_a).first(of_a.size() - 2)),
      second(std::span(of_b).first(of_b.size() - 2));
  if (first == second) return std::nullopt;
  const Result<Shape> both = broadcast_shapes(first, second);
  if (!both)
    raise(ErrorKind::shape, std::string(function) +
                                ": the batches do not broadcast: a has the shape " +
                                to_string(of_a) + ", and b " + to_string(of_b));
  Sizes sizes;
  for (std::size_t i = 0; i < both->size(); ++i) {
    // Counted from the end, where the larger one has a size.
    const std::size_t back = both->size() - i;
    const bool from_a =
        back <= first.size() && (back > second.size() || first[first.size() - back] != 1);
    const Tensor &x = from_a ? a : b;
    sizes.push_back(size_along(x, x.rank() - 2 - static_cast<std::int64_t>(back)));
  }
  return sizes;
}

/// Throws unless b, or itself as columns, has as many rows as a; the program checks it where a
/// trace does not know them.
static void check_rows(const char *function, const Tensor &a, const Tensor &b,
                       const Tensor &columns) {
  const Size rows = size_along(a, a.rank() - 2), has = size_along(columns, columns.rank() - 2);
  const bool known = rows.is_number() && has.is_number();
  if (known && rows.number() == has.number()) return;
  std::vector<Tensor> open;
  const std::string of_a = written(a, open), count = written(rows, open), of_b = written(b, open);
  const std::string text =
      std::string(function) + ": " + words::rows_differ("a", of_a, "b", count, "rows", of_b);
  if (known) refuse_shape(text);
  detail::check_sizes(equal(rows.tensor(), has.tensor()), text, open);
}

RightSide::RightSide(const char *function, const Tensor &a, const Tensor &b)
    : is_vector(b.rank() == 1) {
  if (b.rank() == 0)
    raise(ErrorKind::shape,
          std::string(function) + ": b is a scalar: a vector or a matrix is wanted");
  columns = is_vector ? with_axis(b, 1) : b;
  check_rows(function, a, b, columns);
}

Tensor identity_like(const Tensor &x) {
  const Tensor one = eye(size_along(x, x.rank() - 1), x.dtype());
  Sizes batches;
  for (std::int64_t axis = 0; axis < x.rank() - 2; ++axis) batches.push_back(size_along(x, axis));
  return x.rank() == 2 ? one : in_batches(one, batches, 2);
}

namespace {

/// The triangles of a matrix, without a derivative: what is solved with them knows the matrix.
struct Factors {
  Tensor triangles, pivots, permutation;

  explicit Factors(const Tensor &x) {
    const Tensor operand = stop_gradient(x);
    std::vector<Tensor> results = dispatch_all(OpCode::lu, {&operand, 1});
    triangles = std::move(results[0]);
    pivots = std::move(results[1]);
    permutation = std::move(results[2]);
  }
};

/// A solve of matrices, where a b of rank 1 is a column.
template <class Solve>
Tensor of_columns(const char *function, const Tensor &a, const Tensor &b, Solve solve) {
  check_square(function, "a", a);
  const RightSide right(function, a, b);
  return right.like_b(solve(right.columns, common_batches(function, a, right.columns)));
}

/// Which matrix a solve is of.
enum class Of { itself, transposed, adjoint };

Tensor triangular_solve(const Tensor &a, const Tensor &b, bool lower, Of of, bool unit) {
  return dispatch(OpCode::triangular_solve, std::array{of == Of::adjoint ? conj(a) : a, b},
                  Attrs{lower, of != Of::itself, unit});
}

Tensor solve_with(const Tensor &a, const Factors &f, const Tensor &b) {
  return dispatch(OpCode::lu_solve, std::array{a, f.triangles, f.permutation, b}, Attrs{false});
}

/// What matrices take to columns, with the batches of both where these differ.
Tensor solved(const Tensor &a, const Tensor &columns, const std::optional<Sizes> &batches) {
  // Where nobody records the call the triangles are of no use.
  if (!batches)
    if (const Tensor operands[] = {a, columns}; runs_here(operands))
      return dispatch(OpCode::gesv, operands);
  Factors factors(a);
  if (!batches) return solve_with(a, factors, columns);
  factors.triangles = in_batches(factors.triangles, *batches, 2);
  factors.permutation = in_batches(factors.permutation, *batches, 1);
  return solve_with(in_batches(a, *batches, 2), factors, in_batches(columns, *batches, 2));
}

} // namespace

Tensor solve(const Tensor &a, const Tensor &b) {
  return of_columns("solve", a, b, [&](const Tensor &columns, const std::optional<Sizes> &batches) {
    return solved(a, columns, batches);
  });
}

Tensor inv(const Tensor &x) {
  check_square("inv", "x", x);
  return solved(x, identity_like(x), std::nullopt);
}

Tensor solve_triangular(const Tensor &a, const Tensor &b,
                        const linalg::SolveTriangularOptions &options) {
  if (options.trans < 0 || options.trans > 2)
    raise(ErrorKind::value,
          "solve_triangular: trans is " + std::to_string(options.trans) + ": 0, 1 or 2 is wanted");
  constexpr Of kOf[] = {Of::itself, Of::transposed, Of::adjoint};
  return of_columns(
      "solve_triangular", a, b, [&](const Tensor &columns, const std::optional<Sizes> &batches) {
        return triangular_solve(batches ? in_batches(a, *batches, 2) : a,
                                batches ? in_batches(columns, *batches, 2) : columns, options.lower,
                                kOf[options.trans], options.unit_diagonal);
      });
}

Tensor cho_solve(const Tensor &c, const Tensor &b, const linalg::ChoSolveOptions &options) {
  return of_columns("cho_solve", c, b,
                    [&](const Tensor &columns, const std::optional<Sizes> &batches) {
                      const Tensor triangle = batches ? in_batches(c, *batches, 2) : c;
                      const Tensor right = batches ? in_batches(columns, *batches, 2) : columns;
                      const auto solve = [&](const Tensor &by, bool first) {
                        return triangular_solve(triangle, by, !options.upper,
                                                first == options.upper ? Of::adjoint : Of::itself,
                                                /*unit=*/false);
                      };
                      return solve(solve(right, true), false);
                    });
}

/// Where each row is from once rows are exchanged, each with the one that `pivots` names, one after
/// the other. Exchanges are permutations, of which neighbours are made one until there is one left.
static Tensor permutation_of(const Tensor &pivots) {
  const std::int64_t last = pivots.rank() - 1;
  std::int64_t count = detail::size_for_call(pivots, last);
  if (count == 0) return pivots;
  const Tensor from = iota(DType::i64, {count}), rows = with_axis(from, 1),
               with = with_axis(pivots, last + 1);
  Tensor each = select(from == rows, with, select(from == with, rows, from));
  const IndexWord word("pivot");
  for (; count > 1; count = (count + 1) / 2) {
    const std::int64_t paired = count - count % 2;
    Tensor pairs =
        gather_along_axis(along(each, last, weft::slice(0, paired, 2)),
                          along(each, last, weft::slice(1, paired, 2)), {.axis = last + 1});
    if (paired != count)
      pairs = weft::concatenate({pairs, between(each, last, paired, count)}, {.axis = last});
    each = std::move(pairs);
  }
  return gather(from, along(each, last, 0)); // which is itself, or an IndexError
}

/// Rows of matrices in another order.
static Tensor rows_of(const Tensor &x, const Tensor &order) {
  Sizes sizes;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) sizes.push_back(size_along(x, axis));
  const IndexWord word("pivot");
  return gather_along_axis(x, weft::broadcast(with_axis(order, order.rank()), sizes), {.axis = -2});
}

Tensor lu_solve(const Tensor &lu, const Tensor &pivots, const Tensor &b, std::int64_t trans) {
  if (trans < 0 || trans > 2)
    raise(ErrorKind::value,
          "lu_solve: trans is " + std::to_string(trans) + ": 0, 1 or 2 is wanted");
  check_square("lu_solve", "lu", lu);
  const Shape shape = detail::shape_for_call(lu), has = detail::shape_for_call(pivots);
  const Shape wanted(std::span(shape).first(shape.size() - 1));
  if (has != wanted)
    raise(ErrorKind::shape, "lu_solve: lu has the shape " + to_string(shape) + ", so pivots have " +
                                to_string(wanted) + ", but it is " + to_string(has));
  if (std::ranges::count(wanted, unknown) != 0)
    raise(ErrorKind::shape, "lu_solve: lu has the shape " + to_string(shape) +
                                ": the sizes of its matrices must be known: solve takes others");
  constexpr Of kOf[] = {Of::itself, Of::transposed, Of::adjoint};
  const Of of = kOf[trans];
  const Tensor permutation = permutation_of(cast(pivots, DType::i64));
  return of_columns(
      "lu_solve", lu, b, [&](const Tensor &columns, const std::optional<Sizes> &batches) {
        const Tensor triangles = batches ? in_batches(lu, *batches, 2) : lu,
                     order = batches ? in_batches(permutation, *batches, 1) : permutation,
                     right = batches ? in_batches(columns, *batches, 2) : columns;
        if (of == Of::itself)
          return triangular_solve(triangles,
                                  triangular_solve(triangles, rows_of(right, order), true, of,
                                                   /*unit=*/true),
                                  false, of, /*unit=*/false);
        const Tensor found = triangular_solve(
            triangles, triangular_solve(triangles, right, false, of, /*unit=*/false), true, of,
            /*unit=*/true);
        return rows_of(found, weft::argsort(order, {.axis = -1}));
      });
}

} // namespace weft::composites
