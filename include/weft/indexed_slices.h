// Gradients of which only some slices are not zero.
#pragma once

#include <variant>

#include <weft/tensor.h>

namespace weft {

/// A gradient that is zero but for some slices along its first axis: row `indices[i]` is the sum of
/// the `values[i]` that go there. What gathers rows, as an embedding does, has such gradients.
struct IndexedSlices {
  Tensor values;  ///< (n, d1, ...), floating
  Tensor indices; ///< (n), integers, in any order, repeated ones too
  Shape dense_shape;

  /// The same as a tensor of dense_shape.
  Tensor dense(std::source_location where = WEFT_HERE) const;
};
/// A gradient as a tensor, or as slices.
using SlicedGradient = std::variant<Tensor, IndexedSlices>;

} // namespace weft
