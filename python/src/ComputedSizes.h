// Sizes that a traced function computes, where a shape is wanted: `wf.zeros([wf.size(x, 0), 3])`.
#pragma once

#include "Binding.h"

namespace weft::python {

/// A size as an i64 scalar, and the axis of some tensor of which it is the size, if that is known.
struct ComputedSize {
  Tensor value;
  std::optional<std::int64_t> axis = std::nullopt;
};

/// The sizes of a shape if a trace computes one of them: a list with a traced
/// integer in it, or a traced tensor of rank 1. Nothing for sizes that are numbers. Throws
/// DTypeError for what is no integer, ShapeError for what is no scalar, or a tensor of which it is
/// not known how many sizes it has.
std::optional<std::vector<ComputedSize>> computed_sizes(PyObject *shape, const Place &place);

/// A scalar in all places of a tensor of these sizes.
Tensor replicated(Tensor scalar, std::span<const ComputedSize> sizes);

/// `reshape` to computed sizes, of which one may be the number -1 and follows. The program checks
/// that they fit the elements.
Tensor reshape_computed(const Tensor &x, std::span<const ComputedSize> sizes);

/// `broadcast` to computed sizes.
Tensor broadcast_computed(const Tensor &x, std::span<const ComputedSize> sizes);

/// `tile` with computed numbers.
Tensor tile_computed(const Tensor &x, std::span<const ComputedSize> reps);

/// `arange` between bounds that a trace computes, all three scalars; of integers unless `dtype` is
/// floating.
Tensor arange_computed(const Tensor &start, const Tensor &stop, const Tensor &step, DType dtype);

/// `size`, which is noted to be that of an axis of `x` while its function is traced.
Tensor noted_size(const Tensor &size, std::int64_t axis, const Tensor &x);

/// Entry number `at` of the tensor of all sizes that `sizes_of` gave: a number where that is known.
/// Undefined for other tensors.
Tensor size_in(const Tensor &sizes, std::int64_t at);

void define_computed_sizes(nb::module_ &module);

} // namespace weft::python
