// Memory with room behind a tensor's last slice, and the mark of how much of it is taken.
#include "Runtime/AppendSlice.h"

#include <algorithm>

#include "Runtime/NewTensor.h"
#include "Runtime/StridedCopy.h"

namespace weft::detail {

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
  if (x->storage != Storage::view || !x->contiguous) return nullptr;
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
