// The elements of tensors in memory of devices, for code that is not Weft's: functions that
// weft-compile made for GPUs, and kernels of others.
#pragma once

#include <functional>

#include <weft/tensor.h>

namespace weft {

/// Where the elements of a tensor are, row-major, on its device; only to be read. The host cannot
/// read a GPU's memory. What this thread does on the device from then on comes behind the work that
/// makes the elements; another library waits for that first (`weft_gpu_wait` of weft/c/gpu.h).
/// Throws ValueError for a view whose elements lie otherwise, of which `contiguous()` is a copy,
/// and StateError for a tensor of a trace.
const void *device_data(const Tensor &tensor, std::source_location where = WEFT_HERE);

/// A new tensor on a device, whose elements `fill` writes, row-major from `data` on, as work of
/// this thread on the device, or all of it before it returns. Throws what `fill` throws;
/// DeviceError, which says why, for a device that cannot be used; OutOfMemory.
///
/// ```
/// Tensor y = filled_on("gpu:0", f32, {4, 2}, [&](void *data) {
///   step(0, static_cast<const float *>(device_data(x)), static_cast<float *>(data), nullptr, 0);
/// });
/// ```
Tensor filled_on(Device device, DType dtype, const Shape &shape,
                 const std::function<void(void *data)> &fill,
                 std::source_location where = WEFT_HERE);

} // namespace weft
