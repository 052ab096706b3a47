// Functions for order: streams and events.
#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Exports.h"

namespace weft::cuda {

using namespace emulator;

CUresult cuStreamCreate(CUstream *stream, unsigned flags) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (stream == nullptr || (flags & ~CU_STREAM_NON_BLOCKING) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    Stream &made = driver.scheduler.create(device, (flags & CU_STREAM_NON_BLOCKING) == 0);
    *stream = reinterpret_cast<CUstream>(&made);
    driver.streams[*stream] = &made;
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamDestroy_v2(CUstream stream) {
  return call([&](Driver &driver) {
    const auto found = driver.streams.find(stream);
    if (found == driver.streams.end()) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.destroy(*found->second);
    driver.streams.erase(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuStreamSynchronize(CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    const Stream *stream = driver.find_stream(handle, device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.synchronize(*stream);
    return device.error;
  });
}

CUresult cuStreamQuery(CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    const Stream *stream = driver.find_stream(handle, device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const bool done =
        driver.scheduler.query({stream->number, stream->enqueued}, Clock(stream->clock));
    if (device.error != CUDA_SUCCESS) return device.error;
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  return call_on_device([&](Driver &driver, Device &device) {
    Stream *stream = driver.find_stream(handle, device);
    const Event *found = driver.events.find(event); // perhaps of another device
    if (stream == nullptr || found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.wait(*stream, *found);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventCreate(CUevent *event, unsigned flags) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (event == nullptr || (flags & ~(CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING)) != 0)
      return CUDA_ERROR_INVALID_VALUE;
    Event made;
    made.device = &device;
    made.timed = (flags & CU_EVENT_DISABLE_TIMING) == 0;
    *event = driver.events.make(made);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventRecord(CUevent event, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    Stream *stream = driver.find_stream(handle, device);
    Event *found = driver.events.find(event);
    if (stream == nullptr || found == nullptr || found->device != &device)
      return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.record(*found, *stream);
    return CUDA_SUCCESS;
  });
}

CUresult cuEventQuery(CUevent event) {
  return call_on_device([&](Driver &driver, Device &device) {
    const Event *found = driver.events.find(event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const bool done = !found->recorded || driver.scheduler.query(found->mark, found->clock);
    if (device.error != CUDA_SUCCESS) return device.error;
    return done ? CUDA_SUCCESS : CUDA_ERROR_NOT_READY;
  });
}

CUresult cuEventSynchronize(CUevent event) {
  return call_on_device([&](Driver &driver, Device &device) {
    const Event *found = driver.events.find(event);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (found->recorded) driver.scheduler.synchronize(found->mark, found->clock);
    return device.error;
  });
}

CUresult cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) {
  return call_on_device([&](Driver &driver, Device &) {
    const Event *first = driver.events.find(start), *second = driver.events.find(end);
    if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (first == nullptr || second == nullptr || !first->timed || !second->timed ||
        !first->recorded || !second->recorded)
      return CUDA_ERROR_INVALID_HANDLE;
    const std::chrono::steady_clock::time_point never;
    if (*first->time == never || *second->time == never) return CUDA_ERROR_NOT_READY;
    *milliseconds = std::chrono::duration<float, std::milli>(*second->time - *first->time).count();
    return CUDA_SUCCESS;
  });
}

CUresult cuEventDestroy_v2(CUevent event) {
  return call([&](Driver &driver) {
    if (driver.events.find(event) == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    driver.events.erase(event);
    return CUDA_SUCCESS;
  });
}

} // namespace weft::cuda
