// Copying elements between arrays of any strides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/tensor.h>

namespace weft {

/// Copies an array of the sizes `dims` of elements of `item` bytes (1, 2, 4, 8 or 16). Strides
/// count elements and may be 0 or negative for the source; no element of the target is written
/// twice. Large arrays are copied by several threads.
void copy_strided(std::size_t item, std::span<const std::int64_t> dims, const std::byte *source,
                  std::span<const std::int64_t> source_strides, std::byte *target,
                  std::span<const std::int64_t> target_strides) noexcept;

/// A contiguous tensor with the elements of `tensor`, which is not traced; itself if it is one.
Tensor make_contiguous(const Tensor &tensor);

} // namespace weft
