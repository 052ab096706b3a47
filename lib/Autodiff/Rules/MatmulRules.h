// Functions that the generated rule of `matmul` calls.
#pragma once

#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/UnknownSizes.h"

namespace weft::autodiff::rules {

/// `type` as the matrix that stands for it in a product: a vector is a row (lhs) or a column (rhs).
inline TensorType matrix_type(TensorType type, bool is_lhs) {
  if (type.shape.size() == 1) type.shape.insert(is_lhs ? 0 : 1, 1);
  return type;
}

/// A value of that type as such a matrix.
template <class E>
typename E::Value as_matrix(E &e, const typename E::Value &value, bool is_lhs) {
  if (e.type(value).shape.size() != 1) return value;
  return insert_axis(e, value, is_lhs ? 0 : 1);
}

/// The cotangent of a product with the axes that vectors left out of it.
template <class E>
typename E::Value matrix_cotangent(E &e, VjpCall<E> &call, typename E::Value cotangent) {
  if (call.operand_type(1).shape.size() == 1)
    cotangent = insert_axis(e, cotangent, e.type(cotangent).shape.size());
  if (call.operand_type(0).shape.size() == 1)
    cotangent = insert_axis(e, cotangent, e.type(cotangent).shape.size() - 1);
  return cotangent;
}

/// The gradient of an operand from that of its matrix: summed over repeated batches, a vector
/// again.
template <class E>
typename E::Value from_matrix(E &e, VjpCall<E> &call, std::size_t i,
                              const typename E::Value &gradient) {
  const TensorType &type = call.operand_type(i);
  const typename E::Value summed = unbroadcast(e, gradient, matrix_type(type, i == 0));
  return type.shape.size() == 1 ? e.reshape(summed, type.shape) : summed;
}

/// With Y = op(L) op(R): dL = dY op(R)^T, or its transpose where L is used transposed.
template <class E>
typename E::Value matmul_back_lhs(E &e, VjpCall<E> &call, std::size_t i,
                                  const typename E::Value &rhs,
                                  const typename E::Value &cotangent) {
  const bool transpose_lhs = MatmulAttrs(call.attrs()).transpose_lhs;
  const bool transpose_rhs = MatmulAttrs(call.attrs()).transpose_rhs;
  const typename E::Value r = as_matrix(e, rhs, /*is_lhs=*/false);
  const typename E::Value dy = matrix_cotangent(e, call, cotangent);
  return from_matrix(e, call, i,
                     transpose_lhs ? e.matmul(r, dy, transpose_rhs, true)
                                   : e.matmul(dy, r, false, !transpose_rhs));
}

/// Whether the gradient of a matrix, by which all those of a batch are multiplied, is better one
/// sum over all their rows than one for each of them and a sum of these: where all of these, which
/// processors and GPUs can compute side by side, are more than a cache has.
template <class E>
bool is_sum_over_rows(E &e, VjpCall<E> &call, const typename E::Value &lhs,
                      const typename E::Value &cotangent) {
  constexpr double kManyElements = 1 << 24;
  const Shape rows = e.type(lhs).shape, dy = e.type(cotangent).shape;
  if (call.operand_type(1).shape.size() != 2 || rows.size() <= 2 || !rows.is_static() ||
      !dy.is_static() || !std::equal(rows.begin(), rows.end() - 1, dy.begin(), dy.end() - 1))
    return false;
  double elements = static_cast<double>(rows.back()) * static_cast<double>(dy.back());
  for (std::size_t axis = 0; axis + 2 < rows.size(); ++axis)
    elements *= static_cast<double>(rows[axis]);
  return elements > kManyElements;
}

/// The matrix of all rows of a batch.
template <class E>
typename E::Value all_rows(E &e, const typename E::Value &batch) {
  const Shape shape = e.type(batch).shape;
  std::int64_t count = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) count *= shape[axis];
  return e.reshape(batch, Shape{count, shape.back()});
}

/// With Y = op(L) op(R): dR = op(L)^T dY, or its transpose where R is used transposed.
template <class E>
typename E::Value matmul_back_rhs(E &e, VjpCall<E> &call, std::size_t i,
                                  const typename E::Value &lhs,
                                  const typename E::Value &cotangent) {
  const bool transpose_lhs = MatmulAttrs(call.attrs()).transpose_lhs;
  const bool transpose_rhs = MatmulAttrs(call.attrs()).transpose_rhs;
  typename E::Value l = as_matrix(e, lhs, /*is_lhs=*/true);
  typename E::Value dy = matrix_cotangent(e, call, cotangent);
  if (!transpose_lhs && is_sum_over_rows(e, call, l, dy)) {
    l = all_rows(e, l);
    dy = all_rows(e, dy);
  }
  return from_matrix(e, call, i,
                     transpose_rhs ? e.matmul(dy, l, true, transpose_lhs)
                                   : e.matmul(l, dy, !transpose_lhs, false));
}

} // namespace weft::autodiff::rules
