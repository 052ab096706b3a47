// What bindings of other languages need of the library and C++ programs do not: tensors on foreign
// memory, and indices whose number is not known when the call is compiled.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>

#include <weft/tensor.h>

namespace weft::detail {

/// A contiguous tensor whose elements are not set yet: write them through `impl()->data` before
/// anyone else sees it. Throws ShapeError for sizes that cannot be, OutOfMemory.
Tensor unset_tensor(DType dtype, std::span<const std::int64_t> dims);

/// The tensor as one of elements that have no device of their own, so that it goes where the
/// operands beside it are; a traced one as it is.
Tensor uncommitted(Tensor made);
/// The tensor as one that stays where it is.
Tensor committed(Tensor tensor);

/// A tensor on memory of somebody else, which must not change as long as it lives: `strides`, in
/// elements, may be empty for row-major ones. `owner.release` runs when the last tensor on it is
/// gone, on any thread, or at once when this throws. The first element must be aligned as its C++
/// type asks; bools must be 0 or 1.
Tensor foreign_tensor(DType dtype, std::span<const std::int64_t> dims,
                      std::span<const std::int64_t> strides, void *data, ExternalOwner owner);

/// As `x[{...}]`.
Tensor index_tensor(const Tensor &x, std::span<const Index> indices);

/// A bound of a slice: a number, or an integer scalar, which a trace may compute.
using SliceBound = std::optional<std::variant<std::int64_t, Tensor>>;
/// As `x[{..., slice(start, stop, step), ...}]` along one axis, with bounds that are clipped when
/// it runs: the size along the axis is not known to a trace.
Tensor slice_between(const Tensor &x, std::int64_t axis, const SliceBound &start,
                     const SliceBound &stop, std::int64_t step);

/// As `check`, of sizes: throws an error with the message, in which `sizes`, scalars of i64,
/// replace the {}: a ShapeError, a ValueError or an IndexError.
void check_sizes(const Tensor &condition, std::string_view message, std::span<const Tensor> sizes,
                 ErrorKind error = ErrorKind::shape);

} // namespace weft::detail
