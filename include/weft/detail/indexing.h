// What bindings of other languages need of indices in brackets that are tensors.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <weft/composites.h>
#include <weft/size.h>
#include <weft/tensor.h>

namespace weft::detail {

/// Integers as i64, those of u64 beyond it as its largest: behind the end of every axis, where the
/// cast would count them from it.
Tensor as_positions(const Tensor &numbers);

/// The slices of `x` at these positions along an axis, as `x[positions]` has them. Throws
/// IndexError in the words of an index.
Tensor gather_indexed(const Tensor &x, const Tensor &positions, std::int64_t axis);

/// The slices where a mask, which is of the first sizes of `x`, holds, as `x[mask]` has them.
/// Throws IndexError in the words of an index.
Tensor masked(const Tensor &x, const Tensor &mask);

/// The positions, along each axis of a mask, where it holds; it is of the sizes of `x` from an axis
/// on.
std::vector<Tensor> mask_positions(const Tensor &x, const Tensor &mask, std::int64_t axis);

/// x with the elements that an index picks replaced by items that broadcast to them, or that is a
/// ShapeError, in the words of an assignment. `positions` are for each entry of the index an
/// integer scalar in its stead, or an undefined tensor. Undefined where x has an open axis of which
/// a slice is taken that only positions can name.
Tensor replace_entries(const Tensor &x, std::span<const Index> indices,
                       std::span<const Tensor> positions, const Tensor &items);

/// x with the elements of slices where a mask holds replaced: `x[mask] = items`, for items that
/// broadcast to one such slice. Throws IndexError for the mask and ShapeError for the items, in the
/// words of an assignment.
Tensor replace_masked(const Tensor &x, const Tensor &mask, const Tensor &items);

/// x with elements updated whose positions, i64 numbers of them in row-major order, are within it,
/// as `scatter_elements` does it. The items broadcast to the positions, or that is a ShapeError, in
/// the words of an assignment.
Tensor update_positions(const Tensor &x, const Tensor &positions, const Tensor &items,
                        ScatterReduction reduction);

/// Writes `items`, which broadcast to `x[indices]` and are of its dtype, to the memory of x where
/// nobody but the caller can see that: x is the one tensor on its memory, and neither a trace nor a
/// derivative is recorded. False if it is not so, and nothing is done.
bool assign_in_place(const Tensor &x, std::span<const Index> indices, const Tensor &items);

/// How many elements there are.
Size size_of_all(const Tensor &x);

} // namespace weft::detail
