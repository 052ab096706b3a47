// Elements in memory of devices, and copies from one to another.
#include "Runtime/OnDevice.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "Runtime/Filled.h"
#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"
#include "Support/Fault.h"

namespace weft::detail {

namespace {

std::size_t bytes_of(const TensorImpl &impl) {
  return static_cast<std::size_t>(impl.size) * item_size(impl.dtype);
}

/// Views that reach over so many elements are gathered if that many times fewer are theirs.
constexpr std::int64_t kManyElements = 1 << 16, kMostGaps = 4;

std::atomic<ViewCopier> view_copier = nullptr;

/// Offsets of the lowest and the highest element of a view, from its first.
std::pair<std::int64_t, std::int64_t> reach_of(const TensorImpl &impl) {
  std::int64_t first = 0, last = 0;
  for (std::size_t axis = 0; axis < impl.rank; ++axis) {
    const std::int64_t reach = (impl.dims()[axis] - 1) * impl.strides()[axis];
    (reach < 0 ? first : last) += reach;
  }
  return {first, last};
}

/// The elements of a view as they lie on a device, with the gaps between them, on the host.
Tensor fetched(const TensorImpl &impl) {
  const std::size_t item = item_size(impl.dtype);
  const auto wide = static_cast<std::int64_t>(item);
  const auto [first, last] = reach_of(impl);
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
  bool uncommitted = false;
  for (const Tensor &tensor : tensors) {
    if (!tensor.defined()) continue;
    if (!on_cpu(tensor)) return false;
    uncommitted |= tensor.impl()->uncommitted;
  }
  return !uncommitted || !std::ranges::all_of(tensors, [](const Tensor &tensor) {
    return !tensor.defined() || moves_by_itself(tensor);
  });
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

Tensor filled_on(Device device, DType dtype, std::span<const std::int64_t> dims,
                 const std::byte *element) {
  Tensor result = new_tensor_on(device, dtype, dims);
  const std::size_t item = item_size(dtype), bytes = bytes_of(*result.impl());
  if (bytes == 0) return result;
  device::Runtime &runtime = device::runtime_of(device);
  std::byte *const memory = result.impl()->data;
  if (std::all_of(element, element + item, [](std::byte b) { return b == std::byte{}; })) {
    runtime.clear(memory, bytes);
    return result;
  }
  // Each copy doubles what there is.
  runtime.copy_in(memory, element, item);
  for (std::size_t done = item; done < bytes; done *= 2)
    runtime.copy(memory + done, memory, std::min(done, bytes - done));
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
    // Gaps are fetched too, unless there is much of them: then the elements are gathered there.
    const auto [first, last] = reach_of(impl);
    const std::int64_t elements = last - first + 1;
    if (elements > kManyElements && elements / kMostGaps > impl.size) {
      if (const ViewCopier copier = view_copier; copier != nullptr)
        if (const Tensor copy = copier(tensor); copy.defined()) return moved(copy, device);
    }
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

static thread_local Device tls_traced_for;

Device traced_for() { return tls_traced_for; }
TracedFor::TracedFor(Device device) : outer_(tls_traced_for) {
  if (device != Device()) tls_traced_for = device;
}
TracedFor::~TracedFor() { tls_traced_for = outer_; }

void check_on_cpu(const Tensor &tensor, std::string_view what) {
  if (on_cpu(tensor)) return;
  raise(ErrorKind::device, std::string(what) + ": the tensor is on " + to_string(tensor.device()) +
                               ", whose memory the host cannot read: take .to(\"cpu\") first");
}

void set_view_copier(ViewCopier copier) { view_copier = copier; }

Tensor in_order_on_device(const Tensor &tensor) {
  if (in_order(*tensor.impl())) return tensor;
  if (const ViewCopier copier = view_copier; copier != nullptr && tensor.size() != 0)
    if (Tensor copy = copier(tensor); copy.defined()) return copy;
  return moved(moved(tensor, Device()), tensor.device());
}

} // namespace weft::detail

namespace weft {

using detail::on_cpu;

/// One element on a device, with the sizes of `tensor`.
static Tensor repeated_on(Device device, const Tensor &tensor) {
  const detail::TensorImpl &impl = *tensor.impl();
  if (impl.size == 0 || impl.rank == 0) return detail::moved(tensor, device);
  const Tensor one = detail::moved(detail::new_view(tensor, {}, {}, 0), device);
  const Ints still(impl.rank, 0);
  return detail::new_view(one, impl.sizes(), still, 0);
}

/// Whether it is one element, repeated.
static bool is_one_element(const Tensor &tensor) {
  const detail::TensorImpl &impl = *tensor.impl();
  for (std::size_t axis = 0; axis < impl.rank; ++axis)
    if (impl.dims()[axis] != 1 && impl.strides()[axis] != 0) return false;
  return true;
}

bool moves_by_itself(const Tensor &tensor) {
  return tensor.impl()->uncommitted || (detail::on_cpu(tensor) && is_one_element(tensor));
}

Device gather_on_one_device(std::string_view function, std::span<Tensor> tensors,
                            FunctionRef<std::string(std::size_t)> name) {
  const Tensor *there = nullptr;  // the first that is committed to a GPU
  bool here = false, any = false; // whether one is committed to the CPU, and one to nothing
  for (const Tensor &tensor : tensors) {
    if (!tensor.defined()) continue;
    if (tensor.traced()) return {};
    any |= tensor.impl()->uncommitted;
    if (moves_by_itself(tensor)) continue;
    if (detail::on_cpu(tensor)) here = true;
    else if (there == nullptr) there = &tensor;
  }
  const Device device = there != nullptr ? there->device()
                        : here || !any   ? Device()
                                         : default_device();
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    Tensor &tensor = tensors[i];
    if (!tensor.defined() || tensor.device() == device) continue;
    if (moves_by_itself(tensor)) {
      tensor = is_one_element(tensor) ? repeated_on(device, tensor) : detail::moved(tensor, device);
      continue;
    }
    const auto at = static_cast<std::size_t>(there - tensors.data());
    const std::size_t one = std::min(at, i), other = std::max(at, i);
    raise(ErrorKind::device, std::string(function) + ": " + name(one) + " is on " +
                                 to_string(tensors[one].device()) + " and " + name(other) + " on " +
                                 to_string(tensors[other].device()) + ": move one with .to()");
  }
  return device;
}

} // namespace weft
