// Functions that the generated rules of eigenvalues and singular values call. What is said of a
// transposed real matrix holds of a complex one that is conjugated too.
#pragma once

#include "Autodiff/Rules/LinalgRules.h"

namespace weft::autodiff::rules {

/// i x, of real numbers.
template <class E>
typename E::Value imaginary(E &e, const typename E::Value &x) {
  return e.complex(zeros_beside(e, x), x);
}

/// Complex vectors, as columns, of each of which one element is a positive real number: the number
/// of length 1 that they leave open is fixed by that, and with it how they move.
template <class E>
class Phases {
public:
  using Value = typename E::Value;

  Phases(E &e, const Value &vectors) : e_(e), vectors_(vectors) {
    const Value re = e.real_part(vectors), zero = zeros_beside(e, re);
    const std::int64_t axis = e.type(vectors).shape.rank() - 2;
    const Value row = e.argmax_along(e.select(e.equal(e.imaginary_part(vectors), zero), re, zero),
                                     axis, /*keepdims=*/true);
    fixed_ = e.equal(Positions<E>(e, vectors).rows, row);
    size_ = of_fixed(re);
  }

  /// How far a move turns each vector, by its element that must stay real.
  Value turn(const Value &move) const {
    return e_.divide(of_fixed(e_.imaginary_part(move)), size_);
  }
  /// The adjoint of that.
  Value turn_back(const Value &row) const {
    const Value shares = e_.select(fixed_, e_.divide(row, size_), zeros_beside(e_, row));
    return imaginary(e_, shares);
  }
  /// v^H x of each vector.
  Value along(const Value &x) const { return sums(e_.multiply(e_.conjugate(vectors_), x)); }
  /// The vectors times these numbers.
  Value times(const Value &row) const { return e_.multiply(vectors_, row); }

private:
  /// The sums over the rows, as a row.
  Value sums(const Value &x) const {
    return e_.sum(x, Ints{e_.type(x).shape.rank() - 2}, /*keepdims=*/true);
  }
  Value of_fixed(const Value &x) const {
    return sums(e_.select(fixed_, x, e_.scalar(0, e_.type(x).dtype)));
  }

  E &e_;
  Value vectors_, fixed_, size_;
};

/// Of `eigh`: V (diag(dw) + gaps * V^T dV) V^T, with the inverse gaps between eigenvalues.
template <class E>
typename E::Value eigh_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &values,
                            const typename E::Value &vectors, const typename E::Value &dvalues,
                            const typename E::Value &dvectors) {
  const DType dtype = e.type(vectors).dtype;
  auto inner = with_diagonal(e, in_dtype(e, dvalues, dtype), vectors);
  if (call.has_cotangent(1)) {
    auto move = dvectors;
    if (is_complex(dtype)) {
      const Phases<E> phases(e, vectors);
      move = e.subtract(move, phases.turn_back(e.imaginary_part(phases.along(move))));
    }
    const auto gaps = in_dtype(e, inverse_gaps(e, values), dtype);
    inner = e.add(inner, e.multiply(gaps, product(e, vectors, move, true)));
  }
  return hermitian_part(e,
                        product(e, e.matmul(vectors, inner, false, false), vectors, false, true));
}

/// Forward: with P = V^T dA V it is diag(P) and V (gaps * P).
template <class E>
std::vector<typename E::Value>
eigh_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &values,
             const typename E::Value &vectors, const typename E::Value &tangent) {
  const DType dtype = e.type(vectors).dtype;
  const auto p =
      e.matmul(product(e, vectors, hermitian_part(e, tangent), true), vectors, false, false);
  const auto gaps = in_dtype(e, inverse_gaps(e, values), dtype);
  auto move = e.matmul(vectors, e.multiply(gaps, p), false, false);
  if (is_complex(dtype)) {
    const Phases<E> phases(e, vectors);
    move = e.subtract(move, phases.times(imaginary(e, phases.turn(move))));
  }
  return {real_of(e, diagonal_of(e, p)), move};
}

/// Of `eig`: V^-H (diag(dw) + conj(gaps) * V^H dV) V^H, of a real matrix its real part. Vectors
/// keep their length.
template <class E>
typename E::Value eig_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &values,
                           const typename E::Value &vectors, const typename E::Value &dvalues,
                           const typename E::Value &dvectors) {
  auto inner = with_diagonal(e, dvalues, vectors);
  if (call.has_cotangent(1)) {
    const Phases<E> phases(e, vectors);
    const auto along = phases.along(dvectors), length = e.real_part(along);
    const auto stretched = phases.times(e.complex(length, zeros_beside(e, length)));
    const auto turned = phases.turn_back(e.imaginary_part(along));
    const auto move = e.subtract(dvectors, e.add(stretched, turned));
    const auto gaps = e.conjugate(inverse_gaps(e, values));
    inner = e.add(inner, e.multiply(gaps, product(e, vectors, move, true)));
  }
  const auto conjugates = e.conjugate(vectors);
  const auto lu = e.lu(e.stop_gradient(conjugates)); // lu_solve knows the matrix
  const auto found = e.lu_solve(conjugates, lu[0], lu[2], product(e, inner, vectors, false, true),
                                /*transposed=*/true);
  return is_complex(call.operand_type(0).dtype) ? found : e.real_part(found);
}

/// Forward: with P = V^-1 dA V it is diag(P) and V (gaps * P), as far as vectors neither turn nor
/// stretch.
template <class E>
std::vector<typename E::Value>
eig_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &values,
            const typename E::Value &vectors, const typename E::Value &tangent) {
  const auto lu = e.lu(e.stop_gradient(vectors)); // lu_solve knows the matrix
  const auto moved = e.matmul(in_dtype(e, tangent, e.type(vectors).dtype), vectors, false, false);
  const auto p = e.lu_solve(vectors, lu[0], lu[2], moved);
  const auto move = e.matmul(vectors, e.multiply(inverse_gaps(e, values), p), false, false);
  const Phases<E> phases(e, vectors);
  const auto length = e.real_part(phases.along(move));
  return {diagonal_of(e, p), e.subtract(move, phases.times(e.complex(length, phases.turn(move))))};
}

/// Of `svd`: U (diag(ds) + (X + X^T) S + S (Y + Y^T)) V^T + (I - U U^T) dU S^-1 V^T, with
/// X = gaps * U^T dU and Y = gaps * V^T dV of the inverse gaps between squares of singular values.
/// Of complex matrices vectors of V turn against those of U by the imaginary parts of U^H dA V over
/// the values.
template <class E>
typename E::Value svd_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &values,
                           const typename E::Value &left, const typename E::Value &right,
                           const typename E::Value &dvalues, const typename E::Value &dleft,
                           const typename E::Value &dright) {
  const DType dtype = e.type(left).dtype;
  const auto gaps = in_dtype(e, inverse_gaps(e, squared(e, values)), dtype);
  const auto s = in_dtype(e, values, dtype);
  const auto both = [&](const typename E::Value &x) {
    const auto scaled = e.multiply(gaps, x);
    return e.add(scaled, adjoint_of(e, scaled));
  };
  const bool moves_right = call.has_cotangent(2),
             moves_left = call.has_cotangent(1) || (is_complex(dtype) && moves_right);
  auto inner = with_diagonal(e, in_dtype(e, dvalues, dtype), right);
  auto of_left = dleft;
  if (is_complex(dtype) && moves_left) {
    const Phases<E> phases(e, left);
    auto turn = e.imaginary_part(phases.along(dleft));
    if (moves_right) {
      const auto own = e.imaginary_part(e.sum(e.multiply(right, e.conjugate(dright)),
                                              Ints{e.type(right).shape.rank() - 1},
                                              /*keepdims=*/false));
      turn = e.add(turn, as_row(e, own));
      const auto apart = e.multiply(own, inverse_or_zero(e, values));
      inner = e.subtract(inner, with_diagonal(e, imaginary(e, apart), right));
    }
    of_left = e.subtract(dleft, phases.turn_back(turn));
  }
  if (moves_left)
    inner = e.add(inner, e.multiply(both(product(e, left, of_left, true)), as_row(e, s)));
  if (moves_right)
    inner = e.add(inner, e.multiply(as_column(e, s), both(product(e, right, dright, false, true))));
  auto sum = e.matmul(left, inner, false, false);
  if (moves_left) {
    const auto inverses = in_dtype(e, inverse_or_zero(e, values), dtype);
    const auto scaled = e.multiply(of_left, as_row(e, inverses));
    sum = e.add(sum,
                e.subtract(scaled, e.matmul(left, product(e, left, scaled, true), false, false)));
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
  const DType dtype = e.type(left).dtype;
  const auto turned = product(e, tangent, right, false, true);
  const auto p = product(e, left, turned, true);
  const auto gaps = in_dtype(e, inverse_gaps(e, squared(e, values)), dtype);
  const auto s = in_dtype(e, values, dtype), row = as_row(e, s), column = as_column(e, s);
  const auto inverses = inverse_or_zero(e, values);
  const auto ps = e.multiply(p, row), sp = e.multiply(column, p);
  const auto of_left = e.multiply(gaps, e.add(ps, adjoint_of(e, ps)));
  const auto of_right = e.multiply(gaps, e.add(sp, adjoint_of(e, sp)));
  const auto outside = e.multiply(e.subtract(turned, e.matmul(left, p, false, false)),
                                  as_row(e, in_dtype(e, inverses, dtype)));
  auto dleft = e.add(e.matmul(left, of_left, false, false), outside);
  auto dright = product(e, of_right, right, true);
  if (is_complex(dtype)) {
    const Phases<E> phases(e, left);
    const auto turn = phases.turn(dleft);
    const auto apart = e.multiply(e.imaginary_part(diagonal_of(e, p)), inverses);
    dleft = e.subtract(dleft, phases.times(imaginary(e, turn)));
    const auto both = e.add(as_column(e, apart), transposed(e, turn));
    dright = e.add(dright, e.multiply(imaginary(e, both), right));
  }
  return {real_of(e, diagonal_of(e, p)), dleft, dright};
}

} // namespace weft::autodiff::rules
