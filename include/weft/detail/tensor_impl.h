// The object behind a Tensor: a counted header with inline sizes and strides, and usually the
// elements right behind it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <weft/device.h>
#include <weft/dtype.h>

namespace weft::detail {

/// What keeps `data` alive, and who may look at it.
enum class Storage : std::uint8_t {
  own,      ///< elements are in this allocation, behind the strides
  view,     ///< elements belong to `base`
  device,   ///< elements are in memory of `device`; `base` is its device::Runtime
  external, ///< elements belong to somebody else; `base` is an ExternalOwner
  traced,   ///< there are no elements: the tensor stands for a value of a trace
};

/// One tensor. Immutable after construction but for the counts.
struct TensorImpl {
  std::atomic<std::uint32_t> references;
  DType dtype;
  std::uint8_t rank;
  Storage storage;
  bool plain;              ///< row-major without gaps, and in host memory; false for traced tensors
  Device device;           ///< where `data` points
  std::uint8_t size_class; ///< of the allocator
  /// Made of what has no device, a list or an array of the host: it goes to that of the operands
  /// beside it. Never changed where somebody else may see the tensor.
  bool uncommitted;
  std::uint32_t trace_value; ///< traced: number of the value in its trace
  std::int64_t size;         ///< number of elements
  std::byte *data;           ///< the first element; null for traced tensors
  /// view: the owning TensorImpl; device: device::Runtime; external: ExternalOwner; traced:
  /// TraceRef
  void *base;
  std::atomic<std::uint64_t> identity; ///< unique number, given when a tape first asks; 0 before
  // Followed by rank sizes and rank strides (in elements) of std::int64_t.

  std::int64_t *dims() { return reinterpret_cast<std::int64_t *>(this + 1); }
  const std::int64_t *dims() const { return reinterpret_cast<const std::int64_t *>(this + 1); }
  std::int64_t *strides() { return dims() + rank; }
  const std::int64_t *strides() const { return dims() + rank; }
  std::span<const std::int64_t> sizes() const { return {dims(), rank}; }
};
static_assert(sizeof(TensorImpl) % alignof(std::int64_t) == 0);

/// Keeps foreign memory alive: `release(context)` runs when the last tensor on it dies.
struct ExternalOwner {
  void (*release)(void *context);
  void *context;
};

/// The counted base of a trace; its tensors keep it alive. `destroy` runs when the last one is
/// gone.
struct TraceRef {
  std::atomic<std::uint32_t> references;
  void (*destroy)(TraceRef *self);
  /// The traced function's name.
  const char *name;
  /// What a size which the trace leaves open is in the call that the trace is for, or the value of
  /// an integer scalar (`axis` -1); `unknown` if it is for no call, or the size depends on values.
  std::int64_t (*hint)(TraceRef *self, const TensorImpl &impl, int axis);
  /// The program depends on the sizes of that call from now on.
  void (*pin)(TraceRef *self);
};

/// The hint of a traced tensor's trace, which is pinned to it if there is one.
std::int64_t pinned_hint(const TensorImpl &impl, int axis);

/// Whether the elements are row-major without gaps, on whatever device; false for traced tensors.
bool in_order(const TensorImpl &impl);

/// Frees a tensor whose last reference is gone.
void destroy(TensorImpl *impl) noexcept;

inline void retain(TensorImpl *impl) noexcept {
  if (impl != nullptr) impl->references.fetch_add(1, std::memory_order_relaxed);
}
inline void release(TensorImpl *impl) noexcept {
  if (impl == nullptr) return;
  // The only owner needs no read-modify-write: nobody else can see the count.
  if (impl->references.load(std::memory_order_acquire) == 1 ||
      impl->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy(impl);
}

} // namespace weft::detail
