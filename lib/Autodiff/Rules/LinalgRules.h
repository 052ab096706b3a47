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

/// Half of the sum of matrices and themselves transposed.
template <class E>
typename E::Value symmetric_part(E &e, const typename E::Value &x) {
  return e.multiply(e.scalar(0.5, e.type(x).dtype), e.add(x, transposed(e, x)));
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
  return transposed(e, e.triangular_solve(x, transposed(e, b), /*lower=*/false, /*adjoint=*/true));
}
/// b times the inverse of that triangle transposed.
template <class E>
typename E::Value times_inverse_adjoint(E &e, const typename E::Value &b,
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
  const auto left = e.triangular_solve(factors, sum, /*lower=*/true, /*adjoint=*/true,
                                       /*unit_diagonal=*/true);
  return permuted_rows(e, times_inverse_adjoint(e, left, factors), permutation, /*back=*/true);
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
  return e.lu_solve(x, factors, permutation, cotangent, !LuSolveAttrs(call.attrs()).adjoint);
}

/// What the matrix of a solve gets: -db y^T, or itself transposed.
template <class E>
typename E::Value outer_of_solve(E &e, const typename E::Value &db, const typename E::Value &y,
                                 bool adjoint) {
  return e.negate(adjoint ? e.matmul(y, db, false, true) : e.matmul(db, y, false, true));
}

template <class E>
typename E::Value
lu_solve_back_matrix(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                     const typename E::Value &factors, const typename E::Value &permutation,
                     const typename E::Value &y, const typename E::Value &cotangent) {
  return outer_of_solve(e, lu_solve_back(e, call, 0, x, factors, permutation, cotangent), y,
                        LuSolveAttrs(call.attrs()).adjoint);
}

/// What is solved for forward: db - dA y, of those that there are.
template <class E>
typename E::Value solved_for(E &e, JvpCall<E> &call, std::size_t b, const typename E::Value &y,
                             bool adjoint, auto masked) {
  if (!call.has_tangent(0)) return call.tangent(b);
  const auto product = e.matmul(masked(call.tangent(0)), y, adjoint, false);
  return call.has_tangent(b) ? e.subtract(call.tangent(b), product) : e.negate(product);
}

template <class E>
typename E::Value lu_solve_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                                   const typename E::Value &factors,
                                   const typename E::Value &permutation,
                                   const typename E::Value &y) {
  const bool adjoint = LuSolveAttrs(call.attrs()).adjoint;
  if (!call.has_tangent(0) && !call.has_tangent(3)) return {};
  const auto whole = [](const typename E::Value &matrix) { return matrix; };
  return e.lu_solve(x, factors, permutation, solved_for(e, call, 3, y, adjoint, whole), adjoint);
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
  return e.triangular_solve(x, cotangent, attrs.lower, !attrs.adjoint, attrs.unit_diagonal);
}

template <class E>
typename E::Value
triangular_solve_back_matrix(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                             const typename E::Value &y, const typename E::Value &cotangent) {
  const TriangularSolveAttrs attrs(call.attrs());
  return triangle_read(
      e, attrs,
      outer_of_solve(e, triangular_solve_back(e, call, 0, x, cotangent), y, attrs.adjoint));
}

template <class E>
typename E::Value triangular_solve_forward(E &e, JvpCall<E> &call, std::size_t,
                                           const typename E::Value &x, const typename E::Value &y) {
  const TriangularSolveAttrs attrs(call.attrs());
  const auto read = [&](const typename E::Value &matrix) {
    return triangle_read(e, attrs, matrix);
  };
  return e.triangular_solve(x, solved_for(e, call, 1, y, attrs.adjoint, read), attrs.lower,
                            attrs.adjoint, attrs.unit_diagonal);
}

/// Of `cholesky`: the symmetric part of L^-T half(L^T dL) L^-1.
template <class E>
typename E::Value cholesky_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &y,
                                const typename E::Value &cotangent) {
  const auto half = lower_half(e, e.matmul(y, cotangent, true, false));
  const auto left = e.triangular_solve(y, half, /*lower=*/true, /*adjoint=*/true);
  return symmetric_part(
      e, e.triangular_solve(y, transposed(e, left), /*lower=*/true, /*adjoint=*/true));
}

/// Forward: L half(L^-1 dA L^-T), of the symmetric part of dA.
template <class E>
typename E::Value cholesky_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &y,
                                   const typename E::Value &tangent) {
  const auto left = e.triangular_solve(y, symmetric_part(e, tangent), /*lower=*/true);
  const auto both = e.triangular_solve(y, transposed(e, left), /*lower=*/true);
  return e.matmul(y, lower_half(e, both), false, false);
}

/// Throws where the result of `qr` has columns that the matrix does not determine.
inline void check_qr(const TensorType &x, const Attrs &attrs) {
  const std::int64_t rows = x.shape[x.shape.rank() - 2], columns = x.shape[x.shape.rank() - 1];
  if (QrAttrs(attrs).complete && rows != columns)
    raise(ErrorKind::state, "qr: a complete basis has a derivative for square matrices alone, not "
                            "for " +
                                to_string(x));
}

/// Of `qr`: with M = R dR^T - dQ^T Q it is (dQ + Q symmetric(M)) R^-T, where the lower triangle of
/// M counts.
template <class E>
typename E::Value qr_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &q,
                          const typename E::Value &r, const typename E::Value &dq,
                          const typename E::Value &dr) {
  check_qr(call.operand_type(0), call.attrs());
  const auto m =
      e.subtract(e.matmul(r, upper_triangle(e, dr), false, true), e.matmul(dq, q, true, false));
  const auto half = lower_half(e, m);
  const auto both = e.add(half, transposed(e, half));
  return times_inverse_adjoint(e, e.add(dq, e.matmul(q, both, false, false)), r);
}

/// Forward: with C = Q^T dA R^-1 and what O = below(C) - below(C)^T turns, dQ = Q (O - C) + dA R^-1
/// and dR = (C - O) R.
template <class E>
std::vector<typename E::Value> qr_forward(E &e, JvpCall<E> &call, std::size_t,
                                          const typename E::Value &q, const typename E::Value &r,
                                          const typename E::Value &tangent) {
  check_qr(call.operand_type(0), call.attrs());
  const auto right = times_inverse(e, tangent, r);
  const auto c = e.matmul(q, right, true, false);
  const auto below = below_diagonal(e, c);
  const auto rest = e.subtract(c, e.subtract(below, transposed(e, below)));
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

/// Of `eigh`: V (diag(dw) + gaps * V^T dV) V^T, with the inverse gaps between eigenvalues.
template <class E>
typename E::Value eigh_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &values,
                            const typename E::Value &vectors, const typename E::Value &dvalues,
                            const typename E::Value &dvectors) {
  auto inner = with_diagonal(e, dvalues, vectors);
  if (call.has_cotangent(1))
    inner =
        e.add(inner, e.multiply(inverse_gaps(e, values), e.matmul(vectors, dvectors, true, false)));
  return symmetric_part(e, e.matmul(e.matmul(vectors, inner, false, false), vectors, false, true));
}

/// Forward: with P = V^T dA V it is diag(P) and V (gaps * P).
template <class E>
std::vector<typename E::Value>
eigh_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &values,
             const typename E::Value &vectors, const typename E::Value &tangent) {
  const auto p =
      e.matmul(e.matmul(vectors, symmetric_part(e, tangent), true, false), vectors, false, false);
  return {diagonal_of(e, p),
          e.matmul(vectors, e.multiply(inverse_gaps(e, values), p), false, false)};
}

/// Of `svd`: U (diag(ds) + (X + X^T) S + S (Y + Y^T)) V^T + (I - U U^T) dU S^-1 V^T, with
/// X = gaps * U^T dU and Y = gaps * V^T dV of the inverse gaps between squares of singular values.
template <class E>
typename E::Value svd_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &values,
                           const typename E::Value &left, const typename E::Value &right,
                           const typename E::Value &dvalues, const typename E::Value &dleft,
                           const typename E::Value &dright) {
  auto inner = with_diagonal(e, dvalues, right);
  const auto gaps = inverse_gaps(e, squared(e, values));
  const auto both = [&](const typename E::Value &x) {
    const auto scaled = e.multiply(gaps, x);
    return e.add(scaled, transposed(e, scaled));
  };
  if (call.has_cotangent(1))
    inner = e.add(inner, e.multiply(both(e.matmul(left, dleft, true, false)), as_row(e, values)));
  if (call.has_cotangent(2))
    inner =
        e.add(inner, e.multiply(as_column(e, values), both(e.matmul(right, dright, false, true))));
  auto sum = e.matmul(left, inner, false, false);
  if (call.has_cotangent(1)) {
    const auto scaled = e.multiply(dleft, as_row(e, inverse_or_zero(e, values)));
    sum = e.add(
        sum, e.subtract(scaled, e.matmul(left, e.matmul(left, scaled, true, false), false, false)));
  }
  return e.matmul(sum, right, false, false);
}

/// Forward: with P = U^T dA V it is diag(P), U (gaps * (P S + S P^T)) + (dA V - U P) S^-1 and
/// V (gaps * (S P + P^T S)), transposed.
template <class E>
std::vector<typename E::Value>
svd_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &values,
            const typename E::Value &left, const typename E::Value &right,
            const typename E::Value &tangent) {
  const auto turned = e.matmul(tangent, right, false, true);
  const auto p = e.matmul(left, turned, true, false);
  const auto gaps = inverse_gaps(e, squared(e, values));
  const auto row = as_row(e, values), column = as_column(e, values);
  const auto ps = e.multiply(p, row), sp = e.multiply(column, p);
  const auto of_left = e.multiply(gaps, e.add(ps, transposed(e, ps)));
  const auto of_right = e.multiply(gaps, e.add(sp, transposed(e, sp)));
  const auto outside = e.multiply(e.subtract(turned, e.matmul(left, p, false, false)),
                                  as_row(e, inverse_or_zero(e, values)));
  return {diagonal_of(e, p), e.add(e.matmul(left, of_left, false, false), outside),
          e.matmul(of_right, right, true, false)};
}

} // namespace weft::autodiff::rules
