// Triangles of matrices: what they take to rows of right sides, in place.
#pragma once

#include <optional>

#include "Linalg/Matrix.h"

namespace weft::kernels {

/// Which triangle of a matrix is meant, and whether its diagonal is ones that are not read.
struct Triangle {
  bool lower, unit;
};

/// B becomes T^-1 B. Rows of B are adjacent elements, as rows or columns of T are.
template <class T>
void solve_triangle(const Matrix<const std::type_identity_t<T>> &t, Triangle which,
                    const Matrix<T> &b, Workspace<T> &work);

/// The first number on the diagonal that is 0; none if there is none.
template <class T>
std::optional<std::int64_t> zero_on_diagonal(const Matrix<const T> &t);

} // namespace weft::kernels
