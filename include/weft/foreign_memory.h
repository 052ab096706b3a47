// Tensors on memory of somebody else, and new tensors whose elements the caller writes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <type_traits>

#include <weft/tensor.h>

namespace weft {

/// How `Tensor::from_memory` takes memory. It is only ever read: it may be read-only, and what an
/// assignment or an update in place changes is a copy. The caller must not write it as long as a
/// tensor is on it, unless `copy` is set. Tensors of traced functions and views keep it too.
///
/// ```
/// std::shared_ptr<Frame> frame = camera.next();
/// Tensor image = Tensor::from_memory(frame->bytes(), {480, 640, 3}, {.owner = frame});
/// const auto unmap = [n](void *at) { munmap(at, n); };
/// Tensor table = Tensor::from_memory(mapped, {1000, 64}, {.deleter = unmap});
/// Tensor flipped = Tensor::from_memory(std::span(row), {4}, {.strides = {-1}, .offset = 3});
/// ```
struct MemoryOptions {
  /// The dtype of the elements, for pointers to void and bytes. Other pointers say it themselves.
  std::optional<DType> dtype = std::nullopt;
  /// Elements from one index to the next along each axis; 0 and negative ones are fine. Row-major
  /// if there are none.
  Ints strides = {};
  /// The number of the element at index 0, counted from the pointer; of a view, which says where
  /// its elements are, 0.
  std::int64_t offset = 0;
  /// Held until the last tensor on the memory is gone.
  std::shared_ptr<const void> owner = nullptr;
  /// Called with the pointer when the last tensor on the memory is gone, on whatever thread that
  /// is: once, also if from_memory throws. Must not throw.
  std::function<void(void *data)> deleter = nullptr;
  /// Whether the elements are copied, of any alignment: the owner is let go of at once then.
  bool copy = false;
};

namespace detail {

/// Memory and what its type says of it.
struct ForeignMemory {
  const void *data;
  std::optional<DType> dtype = std::nullopt; ///< nothing for void and bytes
  std::int64_t bytes = -1;                   ///< -1 if that is not known
  const Ints *strides = nullptr;             ///< of a view, which says them itself
  const char *fault = nullptr;               ///< why there can be no tensor on it
};

/// Checks everything, so that who owns the memory is told in one way that it is not needed.
Tensor tensor_on(const ForeignMemory &memory, const Shape &shape, const MemoryOptions &options,
                 const std::source_location &where);
/// A tensor to be written before anyone else sees it.
Tensor tensor_to_fill(DType dtype, const Shape &shape, const std::source_location &where);

/// Whether a pointer to such elements says nothing of their dtype.
template <class T>
constexpr bool is_raw_memory() {
  if constexpr (std::is_void_v<T> || std::is_same_v<T, std::byte>) return true;
  else return !Element<T> && sizeof(T) == 1 && std::is_integral_v<T>;
}

template <class T>
std::optional<DType> memory_dtype() {
  using Value = std::remove_cv_t<T>;
  static_assert(!std::is_volatile_v<T>, "from_memory reads elements that do not change");
  if constexpr (is_raw_memory<Value>()) {
    return std::nullopt;
  } else {
    static_assert(Element<Value>, WEFT_ELEMENT_WANTED("from_memory(T *)"));
    if constexpr (Element<Value>) return dtype_of<Value>;
    else return std::nullopt;
  }
}

} // namespace detail

template <class T>
Tensor Tensor::from_memory(T *data, const Shape &shape, const MemoryOptions &options,
                           std::source_location where) {
  return detail::tensor_on({.data = data, .dtype = detail::memory_dtype<T>()}, shape, options,
                           where);
}
template <class T>
Tensor Tensor::from_memory(T *data, const Shape &shape, std::source_location where) {
  return from_memory(data, shape, MemoryOptions(), where);
}

template <class T, std::size_t N>
Tensor Tensor::from_memory(std::span<T, N> memory, const Shape &shape, const MemoryOptions &options,
                           std::source_location where) {
  return detail::tensor_on({.data = memory.data(),
                            .dtype = detail::memory_dtype<T>(),
                            .bytes = static_cast<std::int64_t>(memory.size_bytes())},
                           shape, options, where);
}
template <class T, std::size_t N>
Tensor Tensor::from_memory(std::span<T, N> memory, const Shape &shape, std::source_location where) {
  return from_memory(memory, shape, MemoryOptions(), where);
}
template <class T, std::size_t N>
Tensor Tensor::from_memory(std::span<T, N> memory, std::source_location where) {
  return from_memory(memory, {static_cast<std::int64_t>(memory.size())}, MemoryOptions(), where);
}

template <class View, class Handle>
Tensor Tensor::from_memory(const View &view, const MemoryOptions &options,
                           std::source_location where) {
  static_assert(std::is_pointer_v<Handle>,
                "from_memory takes views whose data_handle() is a pointer to the elements");
  Shape shape;
  Ints strides;
  detail::ForeignMemory memory{.data = view.data_handle(),
                               .dtype = detail::memory_dtype<std::remove_pointer_t<Handle>>(),
                               .strides = &strides};
  if constexpr (requires { view.is_strided(); })
    if (!view.is_strided()) memory.fault = "the view's elements have no strides: copy them first";
  for (std::size_t i = 0; i < static_cast<std::size_t>(view.rank()); ++i) {
    shape.push_back(static_cast<std::int64_t>(view.extent(i)));
    if (memory.fault == nullptr) strides.push_back(static_cast<std::int64_t>(view.stride(i)));
  }
  return detail::tensor_on(memory, shape, options, where);
}
template <class View, class Handle>
Tensor Tensor::from_memory(const View &view, std::source_location where) {
  return from_memory(view, MemoryOptions(), where);
}

template <class T, class Fill>
Tensor Tensor::filled(const Shape &shape, const Fill &fill, std::source_location where) {
  static_assert(Element<T>, WEFT_ELEMENT_WANTED("filled<T>()"));
  if constexpr (Element<T>) {
    Tensor tensor = detail::tensor_to_fill(dtype_of<T>, shape, where);
    fill(std::span<T>(reinterpret_cast<T *>(tensor.impl_->data),
                      static_cast<std::size_t>(tensor.impl_->size)));
    return tensor;
  } else {
    return Tensor();
  }
}

} // namespace weft
