// Functions that the generated rules of complex matrices call, whose ops have real and imaginary
// parts. Linear systems are solved as real ones of twice the size.
#pragma once

#include "Autodiff/Rules/FourierRules.h"
#include "Autodiff/Rules/MatrixFunctionRules.h"

namespace weft::autodiff::rules {

/// A complex matrix A as the real one [[re, -im], [im, re]], factored, which takes complex columns
/// as their real parts above their imaginary ones. Transposed it is the adjoint of A.
template <class E>
class RealSystem {
public:
  using Value = typename E::Value;

  RealSystem(E &e, const Value &re, const Value &im)
      : e_(e), like_(re), rows_(e.type(re).shape.rank() - 2) {
    const Value above[] = {re, e.negate(im)}, below[] = {im, re};
    const Value both[] = {e.concatenate(above, rows_ + 1), e.concatenate(below, rows_ + 1)};
    matrix_ = e.concatenate(both, rows_);
    triangles_ = e.lu(e.stop_gradient(matrix_)); // lu_solve knows the matrix
  }

  /// A^-1 x, or with `adjoint` A^-H x, of a complex matrix.
  Value solve(const Value &x, bool adjoint) const {
    const Value parts[] = {e_.real_part(x), e_.imaginary_part(x)};
    const Value y =
        e_.lu_solve(matrix_, triangles_[0], triangles_[2], e_.concatenate(parts, rows_), adjoint);
    return e_.complex(half(y, false), half(y, true));
  }

private:
  /// The first or the second half of the rows.
  Value half(const Value &y, bool second) const {
    const auto axis = static_cast<std::size_t>(rows_);
    const Shape shape = e_.type(y).shape;
    const std::int64_t size = e_.type(like_).shape[axis];
    if (size == unknown) {
      const Value count = size_value(e_, like_, axis);
      return slice_axis(e_, y, axis, second ? count : e_.scalar(0, DType::i64), count);
    }
    Ints starts(shape.size(), 0), limits, strides(shape.size(), 1);
    for (const std::int64_t all : shape) limits.push_back(all == unknown ? -1 : all);
    starts[axis] = second ? size : 0;
    limits[axis] = second ? 2 * size : size;
    return e_.slice(y, starts, limits, strides);
  }

  E &e_;
  Value like_;
  std::int64_t rows_; ///< the axis of rows
  Value matrix_;
  std::vector<Value> triangles_;
};

/// The adjoint of a complex matrix.
template <class E>
typename E::Value adjoint_of(E &e, const typename E::Value &x) {
  return e.conjugate(transposed(e, x));
}

/// The sums over the rows of a matrix, as a row.
template <class E>
typename E::Value column_sums(E &e, const typename E::Value &x) {
  return e.sum(x, Ints{e.type(x).shape.rank() - 2}, /*keepdims=*/true);
}

/// Eigenvectors of length 1, of each of which one element is a positive real number: how they move
/// with that.
template <class E>
class Phases {
public:
  using Value = typename E::Value;

  Phases(E &e, const Value &re, const Value &im) : e_(e), vectors_(e.complex(re, im)) {
    const Value zero = e.scalar(0, e.type(re).dtype);
    const std::int64_t axis = e.type(re).shape.rank() - 2;
    const Value row =
        e.argmax_along(e.select(e.equal(im, zero), re, zero), axis, /*keepdims=*/true);
    fixed_ = e.equal(Positions<E>(e, re).rows, row);
    size_ = of_fixed(re);
  }

  /// What is left of a move in any direction.
  Value forward(const Value &move) const {
    return e_.subtract(
        move,
        e_.multiply(vectors_, e_.complex(e_.real_part(along(move)),
                                         e_.divide(of_fixed(e_.imaginary_part(move)), size_))));
  }
  /// The adjoint of that.
  Value back(const Value &cotangent) const {
    const Value sums = along(cotangent), zero = e_.scalar(0, e_.type(size_).dtype);
    const Value length = e_.real_part(sums);
    const Value phase = e_.select(fixed_, e_.divide(e_.imaginary_part(sums), size_), zero);
    const Value stretched = e_.multiply(vectors_, e_.complex(length, zeros_beside(e_, length)));
    return e_.subtract(cotangent, e_.add(stretched, e_.complex(zeros_beside(e_, phase), phase)));
  }

  const Value &vectors() const { return vectors_; }

private:
  /// v^H x of each column.
  Value along(const Value &x) const {
    return column_sums(e_, e_.multiply(e_.conjugate(vectors_), x));
  }
  /// The element of each column that is real.
  Value of_fixed(const Value &x) const {
    return column_sums(e_, e_.select(fixed_, x, e_.scalar(0, e_.type(x).dtype)));
  }

  E &e_;
  Value vectors_, fixed_, size_;
};

/// Of `eig`: V^-H (diag(dw) + conj(gaps) * V^H dV) V^H, with the inverse gaps between eigenvalues.
template <class E>
typename E::Value eig_back(E &e, VjpCall<E> &call, std::size_t i,
                           const typename E::Value &values_re, const typename E::Value &values_im,
                           const typename E::Value &vectors_re, const typename E::Value &vectors_im,
                           const typename E::Value &dvalues_re, const typename E::Value &dvalues_im,
                           const typename E::Value &dvectors_re,
                           const typename E::Value &dvectors_im) {
  return call.once([&]() -> std::vector<typename E::Value> {
    const Phases<E> phases(e, vectors_re, vectors_im);
    const auto adjoint = adjoint_of(e, phases.vectors());
    auto inner = with_diagonal(e, e.complex(dvalues_re, dvalues_im), phases.vectors());
    if (call.has_cotangent(2) || call.has_cotangent(3)) {
      const auto gaps = inverse_gaps(e, e.complex(values_re, values_im));
      const auto move = phases.back(e.complex(dvectors_re, dvectors_im));
      inner = e.add(inner, e.multiply(e.conjugate(gaps), e.matmul(adjoint, move, false, false)));
    }
    const auto found = RealSystem<E>(e, vectors_re, vectors_im)
                           .solve(e.matmul(inner, adjoint, false, false), /*adjoint=*/true);
    return {e.real_part(found), e.imaginary_part(found)};
  })[i];
}

/// Forward: with P = V^-1 dA V it is diag(P) and V (gaps * P), as far as phases do not turn.
template <class E>
std::vector<typename E::Value>
eig_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &values_re,
            const typename E::Value &values_im, const typename E::Value &vectors_re,
            const typename E::Value &vectors_im) {
  const Phases<E> phases(e, vectors_re, vectors_im);
  const auto [re, im] = both_tangents(e, call);
  const auto p = RealSystem<E>(e, vectors_re, vectors_im)
                     .solve(e.matmul(e.complex(re, im), phases.vectors(), false, false),
                            /*adjoint=*/false);
  const auto gaps = inverse_gaps(e, e.complex(values_re, values_im));
  const auto values = diagonal_of(e, p);
  const auto vectors =
      phases.forward(e.matmul(phases.vectors(), e.multiply(gaps, p), false, false));
  return {e.real_part(values), e.imaginary_part(values), e.real_part(vectors),
          e.imaginary_part(vectors)};
}

/// Of `complex_det`, y of A: conj(y) dy A^-H.
template <class E>
typename E::Value complex_det_back(E &e, VjpCall<E> &call, std::size_t i,
                                   const typename E::Value &re, const typename E::Value &im,
                                   const typename E::Value &y_re, const typename E::Value &y_im,
                                   const typename E::Value &dy_re, const typename E::Value &dy_im) {
  return call.once([&]() -> std::vector<typename E::Value> {
    const auto factor = e.multiply(e.conjugate(e.complex(y_re, y_im)), e.complex(dy_re, dy_im));
    const Positions<E> at(e, re);
    const auto zero = e.scalar(0, e.type(re).dtype);
    const auto ones = e.select(e.equal(at.rows, at.columns),
                               e.broadcast(e.scalar(1, e.type(re).dtype), sizes_of(e, re)), zero);
    const auto inverse =
        RealSystem<E>(e, re, im).solve(e.complex(ones, zeros_beside(e, ones)), /*adjoint=*/true);
    const auto found = e.multiply(as_matrix_of_one(e, factor), inverse);
    return {e.real_part(found), e.imaginary_part(found)};
  })[i];
}

/// Forward: y times the trace of A^-1 dA.
template <class E>
std::vector<typename E::Value>
complex_det_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &re,
                    const typename E::Value &im, const typename E::Value &y_re,
                    const typename E::Value &y_im) {
  const auto [dre, dim] = both_tangents(e, call);
  const auto solved = RealSystem<E>(e, re, im).solve(e.complex(dre, dim), /*adjoint=*/false);
  const auto trace =
      e.sum(diagonal_of(e, solved), Ints{e.type(re).shape.rank() - 2}, /*keepdims=*/false);
  const auto found = e.multiply(e.complex(y_re, y_im), trace);
  return {e.real_part(found), e.imaginary_part(found), {}};
}

} // namespace weft::autodiff::rules
