// Creating and freeing tensors.
#include "Runtime/NewTensor.h"

#include <algorithm>
#include <memory>

#include "Device/Device.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/Enumerators.h"
#include "Support/Fault.h"
#include <weft/detail/binding.h>

namespace weft::detail {

void check_rank(std::size_t rank) {
  if (rank > static_cast<std::size_t>(max_rank))
    throw ShapeError("a tensor has at most " + std::to_string(max_rank) +
                     " dimensions, but here are " + std::to_string(rank));
}

std::size_t checked_tensor_bytes(DType dtype, std::span<const std::int64_t> dims) {
  if (!is_dtype(dtype)) throw DTypeError(no_dtype(dtype));
  std::int64_t bytes = static_cast<std::int64_t>(item_size(dtype));
  bool empty = false, overflow = false;
  for (std::size_t axis = 0; axis < dims.size(); ++axis) {
    const std::int64_t dim = dims[axis];
    if (dim < 0)
      throw ShapeError("a tensor cannot have the size " + std::to_string(dim) + " in axis " +
                       std::to_string(axis) +
                       (dim == unknown ? "; -1 is what size() and shape() say of a size that a "
                                         "traced function does not know: use size_of(x) or "
                                         "zeros_like(x), which do when it runs"
                                       : ""));
    // A zero further on makes any product fine, so that one is looked for to the end.
    if (dim == 0) empty = true;
    else overflow |= __builtin_mul_overflow(bytes, dim, &bytes);
  }
  check_rank(dims.size());
  if (empty) return 0;
  if (overflow)
    throw ShapeError("a tensor of shape " + to_string(Shape(dims)) +
                     " has more bytes than 2^63 - 1");
  return static_cast<std::size_t>(bytes);
}

namespace {

/// Whether strides are those of a row-major tensor; sizes 1 may have any stride.
bool is_row_major(const TensorImpl &impl) {
  if (impl.size == 0) return true;
  std::int64_t stride = 1;
  for (int i = impl.rank; i-- > 0;) {
    if (impl.dims()[i] != 1 && impl.strides()[i] != stride) return false;
    stride *= impl.dims()[i];
  }
  return true;
}

} // namespace

bool in_order(const TensorImpl &impl) {
  if (impl.plain) return true;
  return impl.device != Device() && impl.storage != Storage::traced && is_row_major(impl);
}

namespace {

/// The tensor that owns the elements of `impl`.
TensorImpl *owner_of(TensorImpl *impl) {
  return impl->storage == Storage::view ? static_cast<TensorImpl *>(impl->base) : impl;
}

} // namespace

Tensor new_view(const Tensor &of, std::span<const std::int64_t> dims,
                std::span<const std::int64_t> strides, std::int64_t offset) {
  return new_view_as(of, of.impl()->dtype, dims, strides, offset);
}

Tensor new_view_as(const Tensor &of, DType dtype, std::span<const std::int64_t> dims,
                   std::span<const std::int64_t> strides, std::int64_t offset) {
  check_rank(dims.size());
  TensorImpl *source = of.impl();
  Tensor result(allocate_tensor(header_bytes(dims.size()), dtype, dims, Storage::view));
  TensorImpl *impl = result.impl();
  impl->device = source->device;
  impl->uncommitted = source->uncommitted;
  std::uint64_t size = 1; // unsigned: it may wrap around before it meets a size 0
  for (std::size_t i = 0; i < dims.size(); ++i) {
    size *= static_cast<std::uint64_t>(dims[i]);
    impl->strides()[i] = strides[i];
  }
  impl->size = static_cast<std::int64_t>(size);
  impl->plain = impl->device == Device() && is_row_major(*impl);
  // A view without elements points at the first, which is inside the block even if it is empty.
  impl->data = source->data +
               (impl->size == 0 ? 0 : offset) * static_cast<std::int64_t>(item_size(impl->dtype));
  impl->base = owner_of(source);
  retain(static_cast<TensorImpl *>(impl->base));
  return result;
}

Tensor new_external(DType dtype, std::span<const std::int64_t> dims, void *data,
                    ExternalOwner owner) {
  try {
    static_cast<void>(checked_tensor_bytes(dtype, dims));
    auto kept = std::make_unique<ExternalOwner>(owner);
    TensorImpl *impl = allocate_tensor(header_bytes(dims.size()), dtype, dims, Storage::external);
    set_row_major(impl);
    impl->data = static_cast<std::byte *>(data);
    impl->base = kept.release();
    return Tensor(impl);
  } catch (...) {
    owner.release(owner.context);
    throw;
  }
}

Tensor new_traced(DType dtype, std::span<const std::int64_t> dims, TraceRef *trace,
                  std::uint32_t value) {
  check_rank(dims.size());
  TensorImpl *impl = allocate_tensor(header_bytes(dims.size()), dtype, dims, Storage::traced);
  std::uint64_t size = 1;
  bool is_static = true;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    is_static &= dims[i] != unknown;
    size *= static_cast<std::uint64_t>(dims[i]);
    impl->strides()[i] = 0;
  }
  impl->size = is_static ? static_cast<std::int64_t>(size) : unknown;
  impl->plain = false; // nobody takes a short cut to elements that are not there
  trace->references.fetch_add(1, std::memory_order_relaxed);
  impl->base = trace;
  impl->trace_value = value;
  return Tensor(impl);
}

Tensor new_alias(const Tensor &of) {
  const TensorImpl *impl = of.impl();
  if (impl->storage == Storage::traced)
    return new_traced(impl->dtype, impl->sizes(), static_cast<TraceRef *>(impl->base),
                      impl->trace_value);
  return new_view(of, impl->sizes(), {impl->strides(), impl->rank}, 0);
}

namespace {
bool is_only_ours(const Tensor &tensor) {
  return tensor.impl()->references.load(std::memory_order_acquire) == 1;
}
} // namespace

Tensor uncommitted(Tensor made) {
  if (!made.defined() || made.traced() || made.impl()->uncommitted) return made;
  if (!is_only_ours(made)) made = new_alias(made);
  made.impl()->uncommitted = true;
  return made;
}

Tensor committed(Tensor tensor) {
  if (!tensor.defined() || !tensor.impl()->uncommitted) return tensor;
  if (!is_only_ours(tensor)) tensor = new_alias(tensor);
  tensor.impl()->uncommitted = false;
  return tensor;
}

void destroy(TensorImpl *impl) noexcept {
  switch (impl->storage) {
  case Storage::own: break;
  case Storage::device: static_cast<device::Runtime *>(impl->base)->release(impl->data); break;
  case Storage::view: release(static_cast<TensorImpl *>(impl->base)); break;
  case Storage::external: {
    auto *owner = static_cast<ExternalOwner *>(impl->base);
    owner->release(owner->context);
    delete owner;
    break;
  }
  case Storage::traced: {
    auto *trace = static_cast<TraceRef *>(impl->base);
    if (trace->references.fetch_sub(1, std::memory_order_acq_rel) == 1) trace->destroy(trace);
    break;
  }
  }
  allocator::deallocate(impl, impl->size_class);
}

// Tensors for bindings of other languages: without elements yet, and on foreign memory.

Tensor unset_tensor(DType dtype, std::span<const std::int64_t> dims) {
  check_rank(dims.size());
  return new_tensor(dtype, dims);
}

Tensor foreign_tensor(DType dtype, std::span<const std::int64_t> dims,
                      std::span<const std::int64_t> strides, void *data, ExternalOwner owner) {
  if (strides.empty()) return new_external(dtype, dims, data, owner);
  // A view takes any strides: one of the first element, whose owner it keeps.
  const std::int64_t one = 1;
  const Tensor base = new_external(dtype, {&one, 1}, data, owner);
  static_cast<void>(checked_tensor_bytes(dtype, dims));
  return new_view(base, dims, strides, 0);
}

// Memory with room behind a tensor's last slice, and the mark of how much of it is taken.

namespace {

/// What the tensors share that began as one: each is a view of some first slices.
struct Room {
  Tensor memory;
  /// Slices that some tensor has; only who moves this may write the slice behind it.
  std::atomic<std::int64_t> taken;
};

void release_room(void *room) { delete static_cast<Room *>(room); }

/// The tensor on all of the room that `x` is in, or null.
TensorImpl *owner_of_room(const TensorImpl *x) {
  if (x->storage != Storage::view || !x->plain) return nullptr;
  auto *owner = static_cast<TensorImpl *>(x->base);
  if (owner->storage != Storage::external || owner->data != x->data) return nullptr;
  return static_cast<ExternalOwner *>(owner->base)->release == &release_room ? owner : nullptr;
}

/// Takes the slice behind the last one of `x`, if there is room and nobody has it.
bool take(const TensorImpl *x, const TensorImpl *owner) {
  auto *room = static_cast<Room *>(static_cast<ExternalOwner *>(owner->base)->context);
  std::int64_t count = x->dims()[0];
  if (x->rank != owner->rank || count == owner->dims()[0] ||
      !std::equal(x->dims() + 1, x->dims() + x->rank, owner->dims() + 1))
    return false;
  return room->taken.compare_exchange_strong(count, count + 1, std::memory_order_acq_rel);
}

Tensor with_room(const TensorImpl *x) {
  Ints dims(x->sizes().begin(), x->sizes().end());
  dims[0] = std::max<std::int64_t>(8, 2 * dims[0]);
  Tensor memory = new_tensor(x->dtype, dims);
  const TensorImpl *to = memory.impl();
  copy_strided(item_size(x->dtype), x->sizes(), x->data, {x->strides(), x->rank}, to->data,
               {to->strides(), to->rank});
  std::byte *data = to->data;
  auto *room = new Room{std::move(memory), x->dims()[0] + 1};
  return new_external(x->dtype, dims, data, {&release_room, room});
}

} // namespace

Tensor append_slice(const Tensor &x, const Tensor &slice) {
  const TensorImpl *impl = x.impl(), *value = slice.impl();
  TensorImpl *shared = owner_of_room(impl);
  Tensor owner;
  if (shared != nullptr && take(impl, shared)) {
    retain(shared);
    owner = Tensor(shared);
  } else {
    owner = with_room(impl);
  }
  const TensorImpl *to = owner.impl();
  const std::size_t item = item_size(impl->dtype);
  const std::int64_t count = impl->dims()[0];
  copy_strided(item, value->sizes(), value->data, {value->strides(), value->rank},
               to->data + count * to->strides()[0] * static_cast<std::int64_t>(item),
               {to->strides() + 1, to->rank - std::size_t{1}});
  Ints dims(impl->sizes().begin(), impl->sizes().end());
  dims[0] = count + 1;
  return new_view(owner, dims, Ints(to->strides(), to->strides() + to->rank), 0);
}

} // namespace weft::detail
