// DLPack, by which libraries exchange arrays without copies. The types are those of its own header,
// dlpack/dlpack.h, which this one does without.
#pragma once

#include <optional>

#include <weft/tensor.h>

struct DLManagedTensor;
struct DLManagedTensorVersioned;

namespace weft {

/// The tensor for another library, by version 1.1 of DLPack; its `deleter` gives it up. Without
/// `copy` the elements are the tensor's own, and marked as to be read only; with it they are the
/// receiver's, and marked as copied. Throws StateError for a traced tensor.
DLManagedTensorVersioned *to_dlpack(const Tensor &tensor, bool copy = false,
                                    std::source_location where = WEFT_HERE);
/// The same for libraries from before version 1, which cannot be told that elements are only to be
/// read: those in memory of somebody else, which may be read-only, are copied.
DLManagedTensor *to_dlpack_unversioned(const Tensor &tensor, bool copy = false,
                                       std::source_location where = WEFT_HERE);

/// A tensor of an array of another library, which must not change as long as the tensor lives.
/// Takes the array over: its deleter is called once, when the last tensor on it is gone, on any
/// thread, or before this returns if it copies or throws. Elements that are not aligned are copied.
/// `copy` true: always copies, unless the array says that it is a copy already; false: throws
/// ValueError where it would have to. Throws DTypeError for elements of no dtype of Weft,
/// ValueError for an array of another device, of another version of DLPack, or without elements.
Tensor from_dlpack(DLManagedTensorVersioned *array, std::optional<bool> copy = std::nullopt,
                   std::source_location where = WEFT_HERE);
Tensor from_dlpack(DLManagedTensor *array, std::optional<bool> copy = std::nullopt,
                   std::source_location where = WEFT_HERE);

} // namespace weft
