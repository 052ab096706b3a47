// Sizes that a traced function computes, where a shape is wanted: `wf.zeros([wf.size(x, 0), 3])`.
#pragma once

#include "Binding.h"

namespace weft::python {

/// The sizes of a shape as i64 scalars if a trace computes one of them: a list with a traced
/// integer in it, or a traced tensor of rank 1. Nothing for sizes that are numbers. Throws
/// DTypeError for what is no integer, ShapeError for what is no scalar, or a tensor of which it is
/// not known how many sizes it has.
std::optional<std::vector<Tensor>> computed_sizes(PyObject *shape, const Place &place);

/// A scalar in all places of a tensor of these sizes.
Tensor replicated(Tensor scalar, std::span<const Tensor> sizes);

/// `reshape` to computed sizes, of which one may be the number -1 and follows. The program checks
/// that they fit the elements.
Tensor reshape_computed(const Tensor &x, std::span<const Tensor> sizes);

/// `broadcast` to computed sizes.
Tensor broadcast_computed(const Tensor &x, std::span<const Tensor> sizes);

} // namespace weft::python
