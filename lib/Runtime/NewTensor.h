// Creating tensors: with elements of their own, as views, on foreign memory, for a trace, and with
// room behind their last slice.
#pragma once

#include <new>
#include <span>

#include "Support/Allocator.h"
#include <weft/tensor.h>

namespace weft::detail {

/// Bytes of the header of a tensor of that rank; elements start behind it, aligned to 64 bytes.
constexpr std::size_t header_bytes(std::size_t rank) {
  const std::size_t bytes = sizeof(TensorImpl) + 2 * rank * sizeof(std::int64_t);
  return (bytes + allocator::kAlignment - 1) / allocator::kAlignment * allocator::kAlignment;
}

static_assert(max_rank <= 255, "TensorImpl keeps the rank in 8 bits");

/// Throws ShapeError if a tensor cannot have so many dimensions.
void check_rank(std::size_t rank);

/// Bytes of a tensor with elements of its own. Throws ShapeError when the sizes overflow, are
/// negative, or too many.
std::size_t checked_tensor_bytes(DType dtype, std::span<const std::int64_t> dims);

/// A tensor in a block of `bytes`, which hold the header and what else the storage needs, with
/// sizes copied and everything else but strides, plain, size and data set.
inline TensorImpl *allocate_tensor(std::size_t bytes, DType dtype,
                                   std::span<const std::int64_t> dims, Storage storage) {
  const allocator::Block block = allocator::allocate(bytes);
  auto *impl = new (block.memory) TensorImpl{.references = 1,
                                             .dtype = dtype,
                                             .rank = static_cast<std::uint8_t>(dims.size()),
                                             .storage = storage,
                                             .plain = true,
                                             .device = {},
                                             .size_class = block.size_class,
                                             .uncommitted = false,
                                             .trace_value = 0,
                                             .size = 1,
                                             .data = nullptr,
                                             .base = nullptr,
                                             .identity = 0};
  for (std::size_t i = 0; i < dims.size(); ++i) impl->dims()[i] = dims[i];
  return impl;
}

/// Sets the strides of a row-major tensor, and its number of elements. (Unsigned, because a product
/// of sizes may wrap around when another size is 0.)
inline void set_row_major(TensorImpl *impl) {
  std::uint64_t stride = 1;
  for (int i = impl->rank; i-- > 0;) {
    impl->strides()[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(impl->dims()[i]);
  }
  impl->size = static_cast<std::int64_t>(stride);
}

/// A contiguous tensor whose elements are not set yet: write them through `data` before anyone else
/// sees it.
inline Tensor new_tensor(DType dtype, std::span<const std::int64_t> dims) {
  const std::size_t bytes = checked_tensor_bytes(dtype, dims);
  TensorImpl *impl = allocate_tensor(header_bytes(dims.size()) + bytes, dtype, dims, Storage::own);
  set_row_major(impl);
  impl->data = reinterpret_cast<std::byte *>(impl) + header_bytes(dims.size());
  return Tensor(impl);
}

/// `new_tensor` of the dtype `dtype` and the sizes of `like`, which is not traced: its sizes need
/// no check when `dtype` is no wider.
inline Tensor new_tensor_like(const TensorImpl *like, DType dtype) {
  const std::size_t header = header_bytes(like->rank);
  TensorImpl *impl =
      allocate_tensor(header + static_cast<std::size_t>(like->size) * item_size(dtype), dtype,
                      like->sizes(), Storage::own);
  set_row_major(impl);
  impl->data = reinterpret_cast<std::byte *>(impl) + header;
  return Tensor(impl);
}

/// The same where `like` is contiguous, so that its strides can be had as well: the fast path of
/// ops.
inline Tensor new_tensor_like_contiguous(const TensorImpl *like, DType dtype) {
  const std::size_t words = 2 * std::size_t{like->rank};
  const std::size_t header =
      (sizeof(TensorImpl) + words * sizeof(std::int64_t) + allocator::kAlignment - 1) &
      ~(allocator::kAlignment - 1);
  const allocator::Block block =
      allocator::allocate(header + static_cast<std::size_t>(like->size) * item_size(dtype));
  auto *impl =
      new (block.memory) TensorImpl{.references = 1,
                                    .dtype = dtype,
                                    .rank = like->rank,
                                    .storage = Storage::own,
                                    .plain = true,
                                    .device = like->device,
                                    .size_class = block.size_class,
                                    .uncommitted = false,
                                    .trace_value = 0,
                                    .size = like->size,
                                    .data = static_cast<std::byte *>(block.memory) + header,
                                    .base = nullptr,
                                    .identity = 0};
  std::int64_t *to = impl->dims();
  const std::int64_t *from = like->dims();
#pragma clang loop vectorize(disable) unroll(disable)
  for (std::size_t i = 0; i < words; ++i) to[i] = from[i]; // a few words: no call, no vectors
  return Tensor(impl);
}

/// A rank-0 tensor with that element.
template <class T>
Tensor new_scalar(T value) {
  Tensor result = new_tensor(dtype_of<T>, {});
  *reinterpret_cast<T *>(result.impl()->data) = value;
  return result;
}

/// Other sizes and strides (in elements) on the elements of `of`, starting `offset` elements after
/// its first.
Tensor new_view(const Tensor &of, std::span<const std::int64_t> dims,
                std::span<const std::int64_t> strides, std::int64_t offset);

/// The same of elements of another dtype, which those of `of` begin with or are made of: strides
/// and offset count its elements.
Tensor new_view_as(const Tensor &of, DType dtype, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> strides, std::int64_t offset);

/// A contiguous tensor on foreign memory; `owner.release` runs when the last tensor on it is gone,
/// or at once when this throws.
Tensor new_external(DType dtype, std::span<const std::int64_t> dims, void *data,
                    ExternalOwner owner);

/// A tensor that stands for value number `value` of a trace; sizes may be unknown. It keeps a
/// reference to `trace`.
Tensor new_traced(DType dtype, std::span<const std::int64_t> dims, TraceRef *trace,
                  std::uint32_t value);

/// Another tensor with the same elements, or for the same value of a trace: tapes tell it apart.
Tensor new_alias(const Tensor &of);

/// The elements as `T`, which must be the dtype's C++ type; to be written only by who created the
/// tensor.
template <class T>
T *elements(const Tensor &tensor) {
  return reinterpret_cast<T *>(tensor.impl()->data);
}

/// `x` with `slice` behind its last slice along the first axis; neither is traced, dtypes agree,
/// and the slice has x's sizes without the first. The memory has room for more slices: appending to
/// the result writes there, unless somebody did so before. Thread-safe.
Tensor append_slice(const Tensor &x, const Tensor &slice);

} // namespace weft::detail
