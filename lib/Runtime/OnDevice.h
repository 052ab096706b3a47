// Tensors whose elements are in memory of a device: making them, moving them, and getting at their
// elements.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "Device/Device.h"
#include "Support/FunctionRef.h"
#include <weft/tensor.h>

namespace weft::detail {

/// Whether the host may look at the elements.
inline bool on_cpu(const TensorImpl &impl) { return impl.device == Device(); }
inline bool on_cpu(const Tensor &tensor) { return on_cpu(*tensor.impl()); }
/// Whether it may at those of all that are defined, and one of them is there to stay, or none is
/// uncommitted.
bool all_on_cpu(std::span<const Tensor> tensors);

/// A contiguous tensor whose elements are not set yet, in memory of that device; of the CPU, as
/// new_tensor. Throws OutOfMemory.
Tensor new_tensor_on(Device device, DType dtype, std::span<const std::int64_t> dims);

/// The elements, on that device: row-major and new, unless they are there already. Not of traced
/// tensors.
Tensor moved(const Tensor &tensor, Device device);
/// The same where the host can read them, at `impl()->data` with its strides. Waits for them.
inline Tensor on_host(const Tensor &tensor) {
  return on_cpu(tensor) ? tensor : moved(tensor, Device());
}
/// A copy with elements of its own, on its device.
Tensor copy_of(const Tensor &tensor);
/// Writes the elements of `from` to those of `to`; both contiguous, of one dtype and size, each on
/// any device.
void copy_elements(const Tensor &from, const Tensor &to);

/// For which device the present trace of this thread was begun, as far as its first call tells: for
/// choices among programs that are right everywhere. The CPU where nobody traces.
Device traced_for();
/// Sets it while it lives; the CPU stands for what the trace around has.
class TracedFor {
public:
  explicit TracedFor(Device device);
  ~TracedFor();
  TracedFor(const TracedFor &) = delete;
  TracedFor &operator=(const TracedFor &) = delete;

private:
  Device outer_;
};

/// What a creation function made in host memory, where this thread's new tensors go:
/// default_device().
inline Tensor placed(Tensor made) {
  const Device device = default_device();
  if (device == Device() || made.traced()) return made;
  return moved(made, device);
}

/// The same where it belongs beside something that is on `device`: there, if that is not the CPU.
inline Tensor placed_on(Device device, Tensor made) {
  if (device == Device()) return placed(std::move(made));
  if (made.traced()) return made;
  return moved(made, device);
}
inline Tensor placed_beside(const Tensor &of, Tensor made) {
  return placed_on(of.impl()->device, std::move(made));
}

/// The elements for code that runs on the tensor's device, and to be written where `writes`: this
/// thread's work there comes behind what other threads did with them.
std::byte *address(const TensorImpl &impl, bool writes = false);

/// Throws DeviceError, which tells the way out, unless the host may look at the elements; `what`
/// wants to, without a copy: "span".
void check_on_cpu(const Tensor &tensor, std::string_view what);

/// Copies a view of a device's memory that is not in order, on the device; undefined if it cannot.
using ViewCopier = Tensor (*)(const Tensor &view);
/// Gives one, once, while the library is loaded. Without one views are copied on the host.
void set_view_copier(ViewCopier copier);
/// The elements row-major, on their device.
Tensor in_order_on_device(const Tensor &tensor);

} // namespace weft::detail

namespace weft {

/// Whether a tensor goes to where it is used: one element of the host, repeated, and what is
/// uncommitted.
bool moves_by_itself(const Tensor &tensor);

/// The tensors on one device, and which it is: that of those which are committed to one other than
/// the CPU; or else the CPU, unless all move by themselves and one is uncommitted: then it is
/// default_device(). Where one is traced nothing is done. Those which move by themselves are moved.
/// Throws DeviceError where others are elsewhere: `name(i)` is what messages call tensor `i`.
Device gather_on_one_device(std::string_view function, std::span<Tensor> tensors,
                            FunctionRef<std::string(std::size_t)> name);

} // namespace weft
