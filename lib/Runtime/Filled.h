// New tensors where new ones of a thread go: of one element, or with room for what the host makes.
#pragma once

#include <span>

#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"

namespace weft::detail {

/// One element repeated, in memory of that device, which is not the CPU. Throws OutOfMemory.
Tensor filled_on(Device device, DType dtype, std::span<const std::int64_t> dims,
                 const std::byte *element);

/// Memory of default_device() for elements that are made on the host: taken before these are, as
/// who lacks it is the device that was asked for.
class Room {
public:
  Room(DType dtype, std::span<const std::int64_t> dims) {
    if (const Device device = default_device(); device != Device())
      there_ = new_tensor_on(device, dtype, dims);
  }
  /// The elements there; on the CPU the tensor itself.
  Tensor placed(Tensor made) const {
    if (!there_.defined()) return made;
    copy_elements(make_contiguous(made), there_);
    return there_;
  }

private:
  Tensor there_; ///< undefined on the CPU
};

} // namespace weft::detail
