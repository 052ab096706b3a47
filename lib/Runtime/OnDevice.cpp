// Elements in memory of devices, and copies from one to another.
#include "Runtime/OnDevice.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"

namespace weft::detail {

namespace {

std::size_t bytes_of(const TensorImpl &impl) {
  return static_cast<std::size_t>(impl.size) * item_size(impl.dtype);
}

/// The elements of a view as they lie on a device, with the gaps between them, on the host.
Tensor fetched(const TensorImpl &impl) {
  const std::size_t item = item_size(impl.dtype);
  const auto wide = static_cast<std::int64_t>(item);
  std::int64_t first = 0, last = 0; // offsets of elements from `data`
  for (std::size_t axis = 0; axis < impl.rank; ++axis) {
    const std::int64_t reach = (impl.dims()[axis] - 1) * impl.strides()[axis];
    (reach < 0 ? first : last) += reach;
  }
  std::vector<std::byte> memory(static_cast<std::size_t>((last - first) * wide) + item);
  const std::byte *const begin = address(impl) + first * wide;
  device::runtime_of(impl.device).copy_out(memory.data(), begin, memory.size());
  Tensor result = new_tensor(impl.dtype, impl.sizes());
  copy_strided(item, impl.sizes(), memory.data() - first * wide, {impl.strides(), impl.rank},
               result.impl()->data, {result.impl()->strides(), impl.rank});
  return result;
}

} // namespace

bool all_on_cpu(std::span<const Tensor> tensors) {
  return std::ranges::all_of(
      tensors, [](const Tensor &tensor) { return !tensor.defined() || on_cpu(tensor); });
}

Tensor new_tensor_on(Device device, DType dtype, std::span<const std::int64_t> dims) {
  if (device == Device()) return new_tensor(dtype, dims);
  const std::size_t bytes = checked_tensor_bytes(dtype, dims);
  device::Runtime &runtime = device::runtime_of(device);
  TensorImpl *impl = allocate_tensor(header_bytes(dims.size()), dtype, dims, Storage::device);
  impl->plain = false;
  impl->device = device;
  impl->base = &runtime;
  set_row_major(impl);
  Tensor result(impl); // frees the header if there is no memory
  impl->data = runtime.allocate(bytes);
  return result;
}

Tensor moved(const Tensor &tensor, Device device) {
  const TensorImpl &impl = *tensor.impl();
  if (impl.device == device) return tensor;
  check_device(device);
  if (impl.size == 0) return new_tensor_on(device, impl.dtype, impl.sizes());
  if (device != Device() && on_cpu(impl)) {
    const Tensor dense = make_contiguous(tensor);
    Tensor result = new_tensor_on(device, impl.dtype, impl.sizes());
    copy_elements(dense, result);
    return result;
  }
  if (!in_order(impl)) {
    const Tensor host = fetched(impl);
    return device == Device() ? host : moved(host, device);
  }
  Tensor result = new_tensor_on(device, impl.dtype, impl.sizes());
  copy_elements(tensor, result);
  return result;
}

Tensor copy_of(const Tensor &tensor) {
  const Tensor dense = make_contiguous(tensor);
  Tensor copy = new_tensor_on(tensor.device(), tensor.dtype(), tensor.impl()->sizes());
  copy_elements(dense, copy);
  return copy;
}

void copy_elements(const Tensor &from, const Tensor &to) {
  const TensorImpl &source = *from.impl(), &target = *to.impl();
  const std::size_t bytes = bytes_of(source);
  if (bytes == 0) return;
  if (on_cpu(source) && on_cpu(target)) {
    std::memcpy(target.data, source.data, bytes);
  } else if (on_cpu(source)) {
    device::runtime_of(target.device).copy_in(target.data, source.data, bytes);
  } else if (on_cpu(target)) {
    device::runtime_of(source.device).copy_out(target.data, source.data, bytes);
  } else if (source.device == target.device) {
    device::runtime_of(target.device).copy(target.data, source.data, bytes);
  } else {
    device::runtime_of(target.device)
        .copy_from(target.data, device::runtime_of(source.device), source.data, bytes);
  }
}

std::byte *address(const TensorImpl &impl, bool writes) {
  if (!on_cpu(impl) && impl.size != 0) device::runtime_of(impl.device).use(impl.data, writes);
  return impl.data;
}

void check_on_cpu(const Tensor &tensor, std::string_view what) {
  if (on_cpu(tensor)) return;
  raise(ErrorKind::device, std::string(what) + ": the tensor is on " + to_string(tensor.device()) +
                               ", whose memory the host cannot read: take .to(\"cpu\") first");
}

} // namespace weft::detail
