// DLPack: tensors for other libraries, and tensors of their arrays.
#include <weft/detail/dlpack.h>

#include <algorithm>
#include <limits>
#include <memory>

#include "Device/Gpu.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include <weft/foreign_memory.h>

namespace weft {

namespace detail::dlpack {

namespace {

/// With its work done, as other libraries have streams of their own.
ArrayDevice device_of(const TensorImpl &impl) {
  if (on_cpu(impl)) return {kCpu, 0};
  static_cast<void>(address(impl));
  device::runtime_of(impl.device).wait();
  return {kCuda, impl.device.index};
}

Array described(TensorImpl *impl) {
  const DTypeInfo &info = dtype_info(impl->dtype);
  return {.data = impl->data,
          .device = device_of(*impl),
          .rank = impl->rank,
          .dtype = {.code = info.dlpack, .bits = static_cast<std::uint8_t>(info.bits), .lanes = 1},
          .shape = impl->dims(),
          .strides = impl->strides(),
          .byte_offset = 0};
}

template <class Managed>
void drop(Managed *managed) {
  release(static_cast<TensorImpl *>(managed->context));
  delete managed;
}

/// Whether the elements are in memory that this library did not take.
bool is_foreign(const TensorImpl *impl) {
  if (impl->storage == Storage::view) impl = static_cast<const TensorImpl *>(impl->base);
  return impl->storage == Storage::external;
}

void check_elements(const Tensor &tensor, const char *function) {
  if (tensor.traced())
    throw StateError(std::string(function) +
                     ": the tensor stands for a value of a traced function and has no elements");
}

/// The array, until somebody else is its owner.
template <class Managed>
struct Delete {
  void operator()(Managed *array) const {
    if (array->deleter != nullptr) array->deleter(array);
  }
};

template <class Managed>
Tensor take(Managed *array, std::optional<bool> copy) {
  if (array == nullptr)
    throw ValueError("from_dlpack: the pointer is null, where that to an array is wanted");
  const std::shared_ptr<Managed> owner(array, Delete<Managed>());
  const std::string what = "from_dlpack: the array";
  bool exclusive = false;
  if constexpr (requires { array->flags; }) {
    check_version(*array, what);
    exclusive = (array->flags & kCopied) != 0;
  }
  const DataType &type = array->array.dtype;
  const std::optional<DType> dtype = dtype_of(type);
  if (!dtype)
    throw DTypeError(what + " has elements of DLPack's type " + std::to_string(type.code) +
                     " with " + std::to_string(type.bits) + " bits and " +
                     std::to_string(type.lanes) + " lanes, which no dtype holds");
  if (is_cuda(array->array)) {
    auto *held = new std::shared_ptr<Managed>(owner);
    const auto drop_it = [](void *context) {
      delete static_cast<std::shared_ptr<Managed> *>(context);
    };
    return cuda_tensor(array->array, what, {drop_it, held}, copy == true && !exclusive);
  }
  const Layout layout = layout_of(array->array, what);
  const bool aligned = reinterpret_cast<std::uintptr_t>(layout.data) % item_size(*dtype) == 0;
  if (!aligned && copy == false)
    throw ValueError(what + " has elements that are not aligned, and copy is false");
  return tensor_on({.data = layout.data, .dtype = *dtype, .strides = &layout.strides}, layout.shape,
                   {.owner = owner, .copy = !aligned || (copy == true && !exclusive)},
                   CallSite::current());
}

} // namespace

std::optional<DType> dtype_of(const DataType &dtype) {
  if (dtype.lanes != 1) return std::nullopt;
  for (int i = 0; i < kNumDTypes; ++i) {
    const DTypeInfo &info = dtype_info(static_cast<DType>(i));
    if (info.dlpack == dtype.code && info.bits == dtype.bits) return static_cast<DType>(i);
  }
  return std::nullopt;
}

/// The same, whatever device it is on.
static Layout layout_anywhere(const Array &array, const std::string &what) {
  if (array.rank < 0 || array.rank > max_rank)
    throw ShapeError(what + " has " + std::to_string(array.rank) + " axes: a tensor has at most " +
                     std::to_string(max_rank));
  const auto rank = static_cast<std::size_t>(array.rank);
  if (rank != 0 && array.shape == nullptr)
    throw ValueError(what + " has " + std::to_string(rank) +
                     " axes, but no sizes: its pointer to them is null");
  Layout layout;
  std::uint64_t stride = 1; // which may wrap around before it meets a size 0
  for (std::size_t i = 0; i < rank; ++i) layout.shape.push_back(array.shape[i]);
  layout.strides = Ints(layout.shape);
  for (std::size_t i = rank; i-- > 0; stride *= static_cast<std::uint64_t>(layout.shape[i]))
    layout.strides[i] =
        array.strides != nullptr ? array.strides[i] : static_cast<std::int64_t>(stride);
  if (array.data != nullptr) layout.data = static_cast<std::byte *>(array.data) + array.byte_offset;
  else if (std::ranges::find(layout.shape, 0) == layout.shape.end())
    throw ValueError(what + " is of shape " + to_string(layout.shape) +
                     ", but has no elements: its pointer to them is null");
  return layout;
}

Layout layout_of(const Array &array, const std::string &what) {
  if (array.device.type != kCpu && array.device.type != kCudaHost)
    throw ValueError(what + " is on a device of DLPack's kind " +
                     std::to_string(array.device.type) + ": move it to the CPU first");
  return layout_anywhere(array, what);
}

Tensor cuda_tensor(const Array &array, const std::string &what, ExternalOwner owner, bool copy) {
  const auto made = [&]() -> Tensor {
    const std::optional<DType> dtype = dtype_of(array.dtype);
    if (!dtype) throw DTypeError(what + " has elements on a GPU of a type that no dtype holds");
    const Layout layout = layout_anywhere(array, what);
    if (reinterpret_cast<std::uintptr_t>(layout.data) % item_size(*dtype) != 0)
      throw ValueError(what + " has elements on a GPU that are not aligned");
    if (array.device.index < 0 || array.device.index > std::numeric_limits<std::uint8_t>::max())
      throw ValueError(what + " is on GPU " + std::to_string(array.device.index));
    const Device device(DeviceKind::gpu, static_cast<std::uint8_t>(array.device.index));
    static_cast<device::Gpu &>(device::runtime_of(device)).wait_for_all();
    Tensor result = new_external(*dtype, layout.shape, layout.data, {[](void *) {}, nullptr});
    TensorImpl &impl = *result.impl();
    impl.plain = false;
    impl.device = device;
    std::ranges::copy(layout.strides, impl.strides());
    return result;
  };
  Tensor result;
  try {
    result = made();
  } catch (...) {
    owner.release(owner.context);
    throw;
  }
  *static_cast<ExternalOwner *>(result.impl()->base) = owner;
  return copy ? copy_of(result) : result;
}

void check_version(const ManagedVersioned &array, const std::string &what) {
  if (array.major != kMajor)
    throw ValueError(what + " speaks version " + std::to_string(array.major) +
                     " of DLPack, and Weft version " + std::to_string(kMajor));
}

} // namespace detail::dlpack

using namespace detail::dlpack;

DLManagedTensorVersioned *to_dlpack(const Tensor &tensor, bool copy, std::source_location where) {
  const CompositeCall site("to_dlpack", where);
  check_elements(tensor, "to_dlpack");
  Tensor given = copy ? detail::copy_of(tensor) : tensor;
  auto array = std::make_unique<ManagedVersioned>(
      ManagedVersioned{kMajor, kMinor, given.impl(), drop<ManagedVersioned>,
                       copy ? kCopied : kReadOnly, described(given.impl())});
  static_cast<void>(std::move(given).detach());
  return reinterpret_cast<DLManagedTensorVersioned *>(array.release());
}

DLManagedTensor *to_dlpack_unversioned(const Tensor &tensor, bool copy,
                                       std::source_location where) {
  const CompositeCall site("to_dlpack_unversioned", where);
  check_elements(tensor, "to_dlpack_unversioned");
  Tensor given = copy || is_foreign(tensor.impl()) ? detail::copy_of(tensor) : tensor;
  auto array =
      std::make_unique<Managed>(Managed{described(given.impl()), given.impl(), drop<Managed>});
  static_cast<void>(std::move(given).detach());
  return reinterpret_cast<DLManagedTensor *>(array.release());
}

Tensor from_dlpack(DLManagedTensorVersioned *array, std::optional<bool> copy,
                   std::source_location where) {
  const CompositeCall site("from_dlpack", where);
  return take(managed(array), copy);
}
Tensor from_dlpack(DLManagedTensor *array, std::optional<bool> copy, std::source_location where) {
  const CompositeCall site("from_dlpack", where);
  return take(managed(array), copy);
}

} // namespace weft
