// Elements in memory of devices for code of others.
#include <weft/device_memory.h>

#include "Runtime/OnDevice.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft {

const void *device_data(const Tensor &tensor, std::source_location where) {
  const CallSite site(where);
  if (!tensor.defined()) throw ValueError("device_data: the tensor is undefined");
  if (tensor.traced())
    throw StateError("device_data: the tensor is one of a traced function, which has no elements "
                     "before the function runs");
  if (!detail::in_order(*tensor.impl()))
    throw ValueError("device_data: the tensor is a view whose elements are not row-major: take "
                     ".contiguous() first");
  return detail::address(*tensor.impl());
}

Tensor filled_on(Device device, DType dtype, const Shape &shape,
                 const std::function<void(void *data)> &fill, std::source_location where) {
  const CallSite site(where);
  check_device(device);
  Tensor made = detail::new_tensor_on(device, dtype, shape);
  fill(detail::address(*made.impl(), /*writes=*/true));
  return made;
}

} // namespace weft
