// Functions that the generated rules of linear algebra call.
#pragma once

#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/UnknownSizes.h"

namespace weft::autodiff::rules {

/// The last two axes exchanged.
template <class E>
typename E::Value transposed(E &e, const typename E::Value &x) {
  Ints permutation;
  const std::int64_t rank = e.type(x).shape.rank();
  for (std::int64_t axis = 0; axis < rank; ++axis)
    permutation.push_back(axis < rank - 2 ? axis : 2 * rank - 3 - axis);
  return e.transpose(x, permutation);
}

/// The same, and complex elements conjugated.
template <class E>
typename E::Value adjoint_of(E &e, const typename E::Value &x) {
  return conjugated(e, transposed(e, x));
}

/// A product of matrices or their adjoints.
template <class E>
typename E::Value product(E &e, const typename E::Value &a, const typename E::Value &b,
                          bool adjoint_a = false, bool adjoint_b = false) {
  return e.matmul(adjoint_a ? conjugated(e, a) : a, adjoint_b ? conjugated(e, b) : b, adjoint_a,
                  adjoint_b);
}

/// Half of the sum of matrices and their adjoints.
template <class E>
typename E::Value hermitian_part(E &e, const typename E::Value &x) {
  return e.multiply(e.scalar(0.5, e.type(x).dtype), e.add(x, adjoint_of(e, x)));
}

/// Real numbers in another dtype, which may be complex.
template <class E>
typename E::Value in_dtype(E &e, const typename E::Value &x, DType dtype) {
  if (e.type(x).dtype == dtype) return x;
  return is_complex(dtype) ? e.complex(x, e.scalar(0, e.type(x).dtype)) : e.cast(x, dtype);
}

/// The real parts of numbers that may be complex.
template <class E>
typename E::Value real_of(E &e, const typename E::Value &x) {
  return is_complex(e.type(x).dtype) ? e.real_part(x) : x;
}

/// The rows of a matrix as large as those of `x`, as a column, and its columns, as a row.
template <class E>
struct Positions {
  typename E::Value rows, columns;

  Positions(E &e, const typename E::Value &x) {
    const std::size_t rank = e.type(x).shape.size();
    rows = e.iota(DType::i64, sizes(e, x, rank - 2), 0);
    columns = e.iota(DType::i64, sizes(e, x, rank - 1), 1);
  }

private:
  /// The size of an axis and 1, in the order of the axes.
  static SizeList<typename E::Value> sizes(E &e, const typename E::Value &x, std::size_t axis) {
    const Shape shape = e.type(x).shape;
    SizeList<typename E::Value> list;
    if (axis + 1 == shape.size()) list.push_back(1);
    if (shape[axis] != unknown) list.push_back(shape[axis]);
    else list.push_back(e.size_of(x, static_cast<std::int64_t>(axis)));
    if (axis + 1 != shape.size()) list.push_back(1);
    return list;
  }
};

/// The elements below the diagonal, or on and above it, and zeros.
template <class E>
typename E::Value below_diagonal(E &e, const typename E::Value &x) {
  const Positions<E> at(e, x);
  return e.select(e.greater(at.rows, at.columns), x, e.scalar(0, e.type(x).dtype));
}
template <class E>
typename E::Value upper_triangle(E &e, const typename E::Value &x) {
  const Positions<E> at(e, x);
  return e.select(e.greater(at.rows, at.columns), e.scalar(0, e.type(x).dtype), x);
}

/// The elements below the diagonal, half of those on it, and zeros.
template <class E>
typename E::Value lower_half(E &e, const typename E::Value &x) {
  const Positions<E> at(e, x);
  const DType dtype = e.type(x).dtype;
  const auto zero = e.scalar(0, dtype);
  return e.select(
      e.greater(at.rows, at.columns), x,
      e.select(e.equal(at.rows, at.columns), e.multiply(x, e.scalar(0.5, dtype)), zero));
}

/// b times the inverse of the upper triangle of x.
template <class E>
typename E::Value times_inverse(E &e, const typename E::Value &b, const typename E::Value &x) {
  return transposed(e,
                    e.triangular_solve(x, transposed(e, b), /*lower=*/false, /*transposed=*/true));
}
/// b times the inverse of that triangle transposed.
template <class E>
typename E::Value times_inverse_transposed(E &e, const typename E::Value &b,
                                           const typename E::Value &x) {
  return transposed(e, e.triangular_solve(x, transposed(e, b), /*lower=*/false));
}

/// Rows of matrices: those of these numbers, or, if `back`, the rows that these numbers took.
template <class E>
typename E::Value permuted_rows(E &e, const typename E::Value &x,
                                const typename E::Value &permutation, bool back) {
  const std::int64_t rank = e.type(x).shape.rank();
  const auto rows = back ? e.argsort(permutation, rank - 2) : permutation;
  if (rank == 2) return e.gather(x, rows, 0);
  return e.gather_along_axis(
      x, e.broadcast(insert_axis(e, rows, static_cast<std::size_t>(rank - 1)), sizes_of(e, x)),
      rank - 2);
}

/// Of `lu`: with P A = L U it is P^T L^-T (below(L^T dL) + upper(dU U^T)) U^-T.
template <class E>
typename E::Value lu_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &factors,
                          const typename E::Value &permutation,
                          const typename E::Value &cotangent) {
  const Shape &shape = call.operand_type(0).shape;
  if (shape[shape.size() - 2] != shape[shape.size() - 1])
    raise(ErrorKind::state, "lu: its derivative is that of square matrices, not of " +
                                to_string(call.operand_type(0)));
  const auto below = below_diagonal(e, cotangent), upper = upper_triangle(e, cotangent);
  // Of the lower triangle the diagonal is ones.
  const auto from_lower = e.add(e.matmul(below_diagonal(e, factors), below, true, false), below);
  const auto from_upper = e.matmul(upper, upper_triangle(e, factors), false, true);
  const auto sum = e.add(below_diagonal(e, from_lower), upper_triangle(e, from_upper));
  const auto left = e.triangular_solve(factors, sum, /*lower=*/true, /*transposed=*/true,
                                       /*unit_diagonal=*/true);
  return permuted_rows(e, times_inverse_transposed(e, left, factors), permutation, /*back=*/true);
}

/// Forward: with X = L^-1 P dA U^-1 it is L below(X) + upper(X) U.
template <class E>
std::vector<typename E::Value>
lu_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &factors,
           const typename E::Value &permutation, const typename E::Value &tangent) {
  const Shape &shape = call.operand_type(0).shape;
  if (shape[shape.size() - 2] != shape[shape.size() - 1])
    raise(ErrorKind::state, "lu: its derivative is that of square matrices, not of " +
                                to_string(call.operand_type(0)));
  const auto rows = permuted_rows(e, tangent, permutation, /*back=*/false);
  const auto x = times_inverse(e, e.triangular_solve(factors, rows, true, false, true), factors);
  const auto below = below_diagonal(e, x);
  const auto lower = e.add(e.matmul(below_diagonal(e, factors), below, false, false), below);
  const auto upper = e.matmul(upper_triangle(e, x), upper_triangle(e, factors), false, false);
  return {e.add(lower, upper), {}, {}};
}

/// Of a solve by b: the other of the two matrices, x or itself transposed.
template <class E>
typename E::Value lu_solve_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                                const typename E::Value &factors,
                                const typename E::Value &permutation,
                                const typename E::Value &cotangent) {
  return e.lu_solve(x, factors, permutation, cotangent, !LuSolveAttrs(call.attrs()).transposed);
}

/// What the matrix of a solve gets: -db y^T, or itself transposed.
template <class E>
typename E::Value outer_of_solve(E &e, const typename E::Value &db, const typename E::Value &y,
                                 bool is_transposed) {
  return e.negate(is_transposed ? e.matmul(y, db, false, true) : e.matmul(db, y, false, true));
}

template <class E>
typename E::Value
lu_solve_back_matrix(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                     const typename E::Value &factors, const typename E::Value &permutation,
                     const typename E::Value &y, const typename E::Value &cotangent) {
  return outer_of_solve(e, lu_solve_back(e, call, 0, x, factors, permutation, cotangent), y,
                        LuSolveAttrs(call.attrs()).transposed);
}

/// What is solved for forward: db - dA y, of those that there are.
template <class E>
typename E::Value solved_for(E &e, JvpCall<E> &call, std::size_t b, const typename E::Value &y,
                             bool is_transposed, auto masked) {
  if (!call.has_tangent(0)) return call.tangent(b);
  const auto moved = e.matmul(masked(call.tangent(0)), y, is_transposed, false);
  return call.has_tangent(b) ? e.subtract(call.tangent(b), moved) : e.negate(moved);
}

template <class E>
typename E::Value lu_solve_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                                   const typename E::Value &factors,
                                   const typename E::Value &permutation,
                                   const typename E::Value &y) {
  const bool is_transposed = LuSolveAttrs(call.attrs()).transposed;
  if (!call.has_tangent(0) && !call.has_tangent(3)) return {};
  const auto whole = [](const typename E::Value &matrix) { return matrix; };
  return e.lu_solve(x, factors, permutation, solved_for(e, call, 3, y, is_transposed, whole),
                    is_transposed);
}

template <class E>
typename E::Value gesv_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &x,
                            const typename E::Value &cotangent) {
  return e.gesv(transposed(e, x), cotangent);
}

template <class E>
typename E::Value gesv_back_matrix(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                                   const typename E::Value &y, const typename E::Value &cotangent) {
  return outer_of_solve(e, gesv_back(e, call, 1, x, cotangent), y, /*is_transposed=*/false);
}

template <class E>
typename E::Value gesv_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                               const typename E::Value &y) {
  if (!call.has_tangent(0) && !call.has_tangent(1)) return {};
  const auto whole = [](const typename E::Value &matrix) { return matrix; };
  return e.gesv(x, solved_for(e, call, 1, y, /*is_transposed=*/false, whole));
}

/// The part of a matrix that a triangular solve reads.
template <class E>
typename E::Value triangle_read(E &e, const TriangularSolveAttrs &attrs,
                                const typename E::Value &x) {
  const Positions<E> at(e, x);
  const auto &first = attrs.lower ? at.rows : at.columns,
             &second = attrs.lower ? at.columns : at.rows;
  return e.select(attrs.unit_diagonal ? e.greater(first, second) : e.greater_equal(first, second),
                  x, e.scalar(0, e.type(x).dtype));
}

template <class E>
typename E::Value triangular_solve_back(E &e, VjpCall<E> &call, std::size_t,
                                        const typename E::Value &x,
                                        const typename E::Value &cotangent) {
  const TriangularSolveAttrs attrs(call.attrs());
  return e.triangular_solve(x, cotangent, attrs.lower, !attrs.transposed, attrs.unit_diagonal);
}

template <class E>
typename E::Value
triangular_solve_back_matrix(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                             const typename E::Value &y, const typename E::Value &cotangent) {
  const TriangularSolveAttrs attrs(call.attrs());
  return triangle_read(
      e, attrs,
      outer_of_solve(e, triangular_solve_back(e, call, 0, x, cotangent), y, attrs.transposed));
}

template <class E>
typename E::Value triangular_solve_forward(E &e, JvpCall<E> &call, std::size_t,
                                           const typename E::Value &x, const typename E::Value &y) {
  const TriangularSolveAttrs attrs(call.attrs());
  const auto read = [&](const typename E::Value &matrix) {
    return triangle_read(e, attrs, matrix);
  };
  return e.triangular_solve(x, solved_for(e, call, 1, y, attrs.transposed, read), attrs.lower,
                            attrs.transposed, attrs.unit_diagonal);
}

/// The solution of L^H x = b, of a lower triangle.
template <class E>
typename E::Value solve_lower_adjoint(E &e, const typename E::Value &lower,
                                      const typename E::Value &b) {
  return e.triangular_solve(conjugated(e, lower), b, /*lower=*/true, /*transposed=*/true);
}

/// Of `cholesky`: the Hermitian part of L^-H half(L^H dL) L^-1.
template <class E>
typename E::Value cholesky_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &y,
                                const typename E::Value &cotangent) {
  const auto left = solve_lower_adjoint(e, y, lower_half(e, product(e, y, cotangent, true)));
  // The adjoint of (left L^-1), which has the same Hermitian part.
  return hermitian_part(e, solve_lower_adjoint(e, y, adjoint_of(e, left)));
}

/// Forward: L half(L^-1 dA L^-H), of the Hermitian part of dA.
template <class E>
typename E::Value cholesky_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &y,
                                   const typename E::Value &tangent) {
  const auto left = e.triangular_solve(y, hermitian_part(e, tangent), /*lower=*/true);
  const auto both = e.triangular_solve(y, adjoint_of(e, left), /*lower=*/true);
  return e.matmul(y, lower_half(e, both), false, false);
}

/// Throws where the result of `qr` has columns that the matrix does not determine.
inline void check_qr(const TensorType &x, const Attrs &attrs) {
  const std::int64_t rows = x.shape[x.shape.rank() - 2], columns = x.shape[x.shape.rank() - 1];
  if (QrAttrs(attrs).complete && rows != columns)
    raise(ErrorKind::state, "qr: a complete basis has a derivative for square matrices alone, not "
                            "for " +
                                to_string(x) +
                                ": ask qr for reduced factors, svd for full_matrices = false");
}

/// Of `qr`: with M = R dR^H - dQ^H Q it is (dQ + Q hermitian(M)) R^-H, where the lower triangle of
/// M counts.
template <class E>
typename E::Value qr_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &q,
                          const typename E::Value &r, const typename E::Value &dq,
                          const typename E::Value &dr) {
  check_qr(call.operand_type(0), call.attrs());
  const auto m =
      e.subtract(product(e, r, upper_triangle(e, dr), false, true), product(e, dq, q, true));
  const auto half = lower_half(e, m);
  const auto both = e.add(half, adjoint_of(e, half));
  return times_inverse_transposed(e, e.add(dq, e.matmul(q, both, false, false)), conjugated(e, r));
}

/// Forward: with C = Q^H dA R^-1 and what O, of the lower triangle L of C, turns, which is
/// below(L) - below(L)^H and the imaginary parts of the diagonal, as that of R is real:
/// dQ = Q (O - C) + dA R^-1 and dR = (C - O) R.
template <class E>
std::vector<typename E::Value> qr_forward(E &e, JvpCall<E> &call, std::size_t,
                                          const typename E::Value &q, const typename E::Value &r,
                                          const typename E::Value &tangent) {
  check_qr(call.operand_type(0), call.attrs());
  const auto right = times_inverse(e, tangent, r);
  const auto c = product(e, q, right, true);
  const auto below = below_diagonal(e, c);
  auto rest = e.subtract(c, e.subtract(below, adjoint_of(e, below)));
  if (is_complex(e.type(c).dtype)) {
    const Positions<E> at(e, c);
    const auto real = in_dtype(e, e.real_part(rest), e.type(c).dtype);
    rest = e.select(e.equal(at.rows, at.columns), real, rest);
  }
  return {e.subtract(right, e.matmul(q, rest, false, false)), e.matmul(rest, r, false, false)};
}

/// A vector as a row of a matrix, or as a column.
template <class E>
typename E::Value as_row(E &e, const typename E::Value &vector) {
  return insert_axis(e, vector, e.type(vector).shape.size() - 1);
}
template <class E>
typename E::Value as_column(E &e, const typename E::Value &vector) {
  return insert_axis(e, vector, e.type(vector).shape.size());
}

/// The diagonal of a matrix, and a matrix that has it and is as large as `like`.
template <class E>
typename E::Value diagonal_of(E &e, const typename E::Value &x) {
  const Positions<E> at(e, x);
  const auto kept = e.select(e.equal(at.rows, at.columns), x, e.scalar(0, e.type(x).dtype));
  return e.sum(kept, Ints{e.type(x).shape.rank() - 1}, /*keepdims=*/false);
}
template <class E>
typename E::Value with_diagonal(E &e, const typename E::Value &vector,
                                const typename E::Value &like) {
  const Positions<E> at(e, like);
  return e.select(e.equal(at.rows, at.columns), as_row(e, vector),
                  e.scalar(0, e.type(vector).dtype));
}

/// 1 / x, and 0 where x is 0, where no derivative goes either.
template <class E>
typename E::Value inverse_or_zero(E &e, const typename E::Value &x) {
  return quotient_or(e, e.scalar(1, e.type(x).dtype), x, 0);
}

/// 1 / (v[j] - v[i]), and 0 where they are equal.
template <class E>
typename E::Value inverse_gaps(E &e, const typename E::Value &v) {
  return inverse_or_zero(e, e.subtract(as_row(e, v), as_column(e, v)));
}

} // namespace weft::autodiff::rules
