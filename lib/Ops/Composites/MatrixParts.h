// What functions of matrices have in common: their checks, and batches.
#pragma once

#include <optional>

#include "Ops/Composites/Parts.h"

namespace weft::composites {

/// Throws ShapeError where x has fewer than two axes.
void check_matrices(const char *function, const char *name, const Tensor &x);
/// Throws ShapeError unless the last two sizes are the same; the program checks it where a trace
/// does not know them.
void check_square(const char *function, const char *name, const Tensor &x);

/// The right side of a system: columns, of which a b of rank 1 is one.
struct RightSide {
  Tensor columns;
  bool is_vector;

  /// Throws ShapeError unless b has as many rows as a.
  RightSide(const char *function, const Tensor &a, const Tensor &b);
  /// A solution as b is.
  Tensor like_b(const Tensor &y) const { return is_vector ? along(y, y.rank() - 1, 0) : y; }
};

inline Tensor transposed(const Tensor &x) { return weft::swapaxes(x, -2, -1); }
inline Tensor adjoint(const Tensor &x) { return conj(transposed(x)); }

/// The batches that both have, axes before the last two of each; nothing where they are the same.
std::optional<Sizes> common_batches(const char *function, const Tensor &a, const Tensor &b);
/// The identity in the batches of a matrix.
Tensor identity_like(const Tensor &x);

} // namespace weft::composites
