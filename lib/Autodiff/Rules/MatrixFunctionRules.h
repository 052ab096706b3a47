// Functions that the generated rules of determinants, pseudo-inverses and exponentials call.
#pragma once

#include "Autodiff/Rules/LinalgRules.h"

namespace weft::autodiff::rules {

/// A number of each batch as a matrix of one element.
template <class E>
typename E::Value as_matrix_of_one(E &e, const typename E::Value &x) {
  return insert_axis(e, as_column(e, x), e.type(x).shape.size());
}

/// The last two axes.
template <class E>
Ints matrix_axes(E &e, const typename E::Value &x) {
  const std::int64_t rank = e.type(x).shape.rank();
  return {rank - 2, rank - 1};
}

/// Of `det`: the cofactors, which a matrix without inverse has too.
template <class E>
typename E::Value det_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &x,
                           const typename E::Value &cotangent) {
  return e.multiply(as_matrix_of_one(e, cotangent), e.cofactors(x));
}
template <class E>
typename E::Value det_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &x,
                              const typename E::Value &tangent) {
  return e.sum(e.multiply(e.cofactors(x), tangent), matrix_axes(e, x), /*keepdims=*/false);
}

/// How the cofactors C change by two directions, of a matrix with an inverse: with M = x^-1 D and
/// N = x^-1 E it is C ((tr M tr N - tr NM) - tr M N^T - tr N M^T + M^T N^T + N^T M^T). It is
/// symmetric in the two and the cotangent of the third, so all derivatives are of this form.
template <class E>
typename E::Value cofactors_twice(E &e, auto &, std::size_t, const typename E::Value &x,
                                  const typename E::Value &d, const typename E::Value &other) {
  const auto lu = e.lu(e.stop_gradient(x)); // lu_solve knows the matrix
  const auto m = transposed(e, e.lu_solve(x, lu[0], lu[2], d)),
             n = transposed(e, e.lu_solve(x, lu[0], lu[2], other));
  const auto trace = [&](const typename E::Value &matrix) {
    return as_matrix_of_one(
        e, e.sum(diagonal_of(e, matrix), Ints{e.type(matrix).shape.rank() - 2}, false));
  };
  const auto of_m = trace(m), of_n = trace(n);
  const auto mn = product(e, m, n);
  const auto c = e.cofactors(x);
  const auto turned =
      e.subtract(e.add(mn, product(e, n, m)), e.add(e.multiply(of_m, n), e.multiply(of_n, m)));
  return e.add(e.multiply(e.subtract(e.multiply(of_m, of_n), trace(mn)), c), product(e, c, turned));
}

/// Of `pinv`, P of A: -P^H dP P^H + (I - A P) dP^H P P^H + P^H P dP^H (I - P A), in products no
/// larger than A.
template <class E>
typename E::Value pinv_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &x,
                            const typename E::Value &y, const typename E::Value &cotangent) {
  const auto inner = product(e, y, product(e, cotangent, y, false, true), true);
  const auto left = product(e, cotangent, product(e, y, y, false, true), true);
  const auto right = product(e, y, product(e, y, cotangent, false, true), true);
  const auto outside = e.subtract(left, e.matmul(x, e.matmul(y, left, false, false), false, false));
  const auto beside =
      e.subtract(right, e.matmul(right, e.matmul(y, x, false, false), false, false));
  return e.subtract(e.add(outside, beside), inner);
}

/// Forward: -P dA P + P P^H dA^H (I - A P) + (I - P A) dA^H P^H P.
template <class E>
typename E::Value pinv_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &x,
                               const typename E::Value &y, const typename E::Value &tangent) {
  const auto inner = e.matmul(e.matmul(y, tangent, false, false), y, false, false);
  const auto left = product(e, product(e, y, y, false, true), tangent, false, true);
  const auto right = e.matmul(product(e, tangent, y, true, true), y, false, false);
  const auto outside = e.subtract(left, e.matmul(e.matmul(left, x, false, false), y, false, false));
  const auto beside =
      e.subtract(right, e.matmul(e.matmul(y, x, false, false), right, false, false));
  return e.subtract(e.add(outside, beside), inner);
}

/// How exp(A) changes along a direction E: the upper right quarter of exp [[A, E], [0, A]]. E comes
/// to a norm of 1 for it, so that a large one costs no digits of A.
template <class E>
typename E::Value expm_along(E &e, const typename E::Value &a, const typename E::Value &direction) {
  const TensorType type = e.type(a);
  const std::int64_t rank = type.shape.rank();
  // Linear in E, so the scale itself is a constant. An empty matrix has no largest sum.
  const auto sums = e.sum(e.abs(e.stop_gradient(direction)), matrix_axes(e, a), /*keepdims=*/true);
  const auto some =
      e.select(e.equal(sums, zeros_beside(e, sums)), e.scalar(1, e.type(sums).dtype), sums);
  const auto scale = in_dtype(e, some, type.dtype);
  const auto zeros = e.broadcast(e.scalar(0, type.dtype), sizes_of(e, a));
  const typename E::Value top[] = {a, e.divide(direction, scale)}, bottom[] = {zeros, a};
  const typename E::Value rows[] = {e.concatenate(top, rank - 1), e.concatenate(bottom, rank - 1)};
  const auto whole = e.expm(e.concatenate(rows, rank - 2));
  const auto width = static_cast<std::size_t>(rank - 1), height = width - 1;
  const std::int64_t size = type.shape[width];
  typename E::Value quarter;
  if (size != unknown && type.shape[height] != unknown) {
    Ints starts(type.shape.size(), 0), limits(type.shape.size(), -1); // -1 is the axis whole
    limits[height] = starts[width] = size;
    limits[width] = 2 * size;
    quarter = e.slice(whole, starts, limits, Ints(type.shape.size(), 1));
  } else {
    const auto n = size_value(e, a, width);
    quarter = slice_axis(e, first_of_axis(e, whole, height, size_value(e, a, height)), width, n, n);
  }
  return e.multiply(quarter, scale);
}

/// Of `expm`: along the cotangent, of the transposed matrix.
template <class E>
typename E::Value expm_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &x,
                            const typename E::Value &cotangent) {
  return expm_along(e, transposed(e, x), cotangent);
}
template <class E>
typename E::Value expm_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &x,
                               const typename E::Value &tangent) {
  return expm_along(e, x, tangent);
}

} // namespace weft::autodiff::rules
