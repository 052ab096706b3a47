// Functions for memory: pools, allocations, copies and fills in the order of streams.
#include <cstring>
#include <memory>

#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Exports.h"
#include "Emulator/Driver/Transfers.h"

namespace weft::cuda {

using namespace emulator;

namespace {

/// Whether both sides of a copy are there; a report says what is wrong.
bool is_possible(Driver &driver, const CopyCall &call) {
  const std::string wrong = check_copy(driver, call);
  if (!wrong.empty()) driver.report("a copy of " + std::to_string(call.width) + " bytes: " + wrong);
  return wrong.empty();
}

/// Puts a copy into a stream, or says what is wrong with it.
CUresult enqueue_copy(Driver &driver, Device &device, CUstream handle, CopyCall call,
                      std::function<void()> afterwards = {}) {
  Stream *stream = driver.find_stream(handle, device);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (!is_possible(driver, call)) return CUDA_ERROR_INVALID_VALUE;
  const std::string name = "a copy of " + std::to_string(call.width) + " bytes " +
                           (call.from.host ? "to the device"
                            : call.to.host ? "to the host"
                                           : "on the device");
  driver.scheduler.enqueue(*stream, name, [&driver, call, after = std::move(afterwards)] {
    Footprint footprint = run_copy(driver, call);
    if (after) after();
    return footprint;
  });
  return CUDA_SUCCESS;
}

bool is_pinned(const Driver &driver, const void *memory) {
  const Allocation *found = driver.space.find(reinterpret_cast<std::uint64_t>(memory));
  return found != nullptr && found->backing == Backing::pinned;
}

template <class T>
CUresult fill(CUdeviceptr to, T value, std::size_t count, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    Stream *stream = driver.find_stream(handle, device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const FillCall call{to, value, sizeof(T), count, 1, 0};
    const std::string wrong = check_fill(driver, call);
    if (!wrong.empty()) {
      driver.report("a fill: " + wrong);
      return CUDA_ERROR_INVALID_VALUE;
    }
    driver.scheduler.enqueue(*stream, "a fill of " + std::to_string(count * sizeof(T)) + " bytes",
                             [&driver, call] { return run_fill(driver, call); });
    return CUDA_SUCCESS;
  });
}

} // namespace

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties) {
  return call([&](Driver &driver) {
    if (pool == nullptr || properties == nullptr ||
        properties->allocType != CU_MEM_ALLOCATION_TYPE_PINNED ||
        properties->location.type != CU_MEM_LOCATION_TYPE_DEVICE)
      return CUDA_ERROR_INVALID_VALUE;
    Device *device = driver.find_device(properties->location.id);
    if (device == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    Pool made;
    made.device = device;
    *pool = driver.pools.make(made);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolDestroy(CUmemoryPool pool) {
  return call([&](Driver &driver) {
    if (driver.pools.find(pool) == nullptr) return CUDA_ERROR_INVALID_VALUE;
    driver.pools.erase(pool); // its allocations live on until they are freed
    return CUDA_SUCCESS;
  });
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return call([&](Driver &driver) {
    Pool *found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    cuuint64_t number = 0;
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return CUDA_SUCCESS; // nothing is reused
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      std::memcpy(&found->threshold, value, sizeof found->threshold);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: // may be reset only
      std::memcpy(&number, value, sizeof number);
      if (number != 0) return CUDA_ERROR_INVALID_VALUE;
      if (attribute == CU_MEMPOOL_ATTR_USED_MEM_HIGH) found->used_high = found->used;
      else found->reserved_high = found->reserved;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value) {
  return call([&](Driver &driver) {
    const Pool *found = driver.pools.find(pool);
    if (found == nullptr || value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const auto answer = [&](auto number) {
      std::memcpy(value, &number, sizeof number);
      return CUDA_SUCCESS;
    };
    switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES: return answer(int{1});
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD: return answer(found->threshold);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT: return answer(found->reserved);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH: return answer(found->reserved_high);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT: return answer(found->used);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH: return answer(found->used_high);
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, std::size_t bytes) {
  return call([&](Driver &driver) {
    Pool *found = driver.pools.find(pool);
    if (found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    found->reserved = std::max(found->used, std::min<std::uint64_t>(found->reserved, bytes));
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, std::size_t bytes, CUmemoryPool pool,
                                 CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    Pool *found = driver.pools.find(pool);
    Stream *stream = driver.find_stream(handle, device);
    if (address == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (stream == nullptr || found->device != &device) return CUDA_ERROR_INVALID_HANDLE;
    const std::uint64_t made = bytes == 0 ? 0 : driver.allocate(device, bytes, found);
    if (made == 0 && bytes != 0) return CUDA_ERROR_OUT_OF_MEMORY;
    *address = made;
    if (bytes == 0) return CUDA_SUCCESS;
    // Other streams may use it only behind this.
    driver.scheduler.enqueue(*stream, "an allocation of " + std::to_string(bytes) + " bytes",
                             [made, bytes] {
                               Footprint footprint;
                               footprint.writes.add(made, bytes);
                               return footprint;
                             });
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (address == 0) return CUDA_SUCCESS;
    Stream *stream = driver.find_stream(handle, device);
    const Allocation *found = driver.space.find_begin(address);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (found == nullptr || found->backing != Backing::device) return CUDA_ERROR_INVALID_VALUE;
    const std::uint64_t bytes = found->region.size;
    driver.scheduler.enqueue(*stream, "the end of " + std::to_string(bytes) + " bytes",
                             [&driver, address, bytes] {
                               Footprint footprint;
                               footprint.writes.add(address, bytes);
                               Allocation *allocation = driver.space.find_begin(address);
                               if (allocation == nullptr)
                                 throw Fault{FaultKind::illegal_address, "memory is freed twice"};
                               driver.free(*allocation);
                               return footprint;
                             });
    return CUDA_SUCCESS;
  });
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, std::size_t bytes) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    *address = driver.allocate(device, bytes, nullptr);
    return *address == 0 ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS;
  });
}

CUresult cuMemFree_v2(CUdeviceptr address) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (address == 0) return CUDA_SUCCESS;
    driver.scheduler.synchronize(device); // waits for all that may use it
    if (device.error != CUDA_SUCCESS) return device.error;
    Allocation *found = driver.space.find_begin(address);
    if (found == nullptr || found->backing != Backing::device) return CUDA_ERROR_INVALID_VALUE;
    driver.free(*found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemGetInfo_v2(std::size_t *free, std::size_t *total) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (free != nullptr) *free = driver.left(device);
    if (total != nullptr) *total = device.total;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemHostAlloc(void **memory, std::size_t bytes, unsigned) {
  return call_on_device([&](Driver &driver, Device &) {
    if (memory == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
    const Allocation *made = driver.space.allocate_pinned(bytes);
    if (made == nullptr) return CUDA_ERROR_OUT_OF_MEMORY;
    *memory = made->region.bytes;
    return CUDA_SUCCESS;
  });
}

CUresult cuMemFreeHost(void *memory) {
  return call([&](Driver &driver) {
    Allocation *found = driver.space.find_begin(reinterpret_cast<std::uint64_t>(memory));
    if (found == nullptr || found->backing != Backing::pinned) return CUDA_ERROR_INVALID_VALUE;
    for (const auto &device : driver.devices) driver.scheduler.synchronize(*device);
    driver.free(*found);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, std::size_t bytes,
                              CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (bytes == 0) return CUDA_SUCCESS;
    if (from == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyCall call;
    call.from = {true, reinterpret_cast<std::uint64_t>(from)};
    call.to = {false, to};
    call.width = bytes;
    // Memory that is not pinned is read before the function returns: what becomes of it later does
    // not matter.
    std::shared_ptr<std::byte[]> staged;
    if (!is_pinned(driver, from)) {
      if (!is_possible(driver, call)) return CUDA_ERROR_INVALID_VALUE;
      staged = std::shared_ptr<std::byte[]>(new std::byte[bytes]);
      std::memcpy(staged.get(), from, bytes);
      call.from.address = reinterpret_cast<std::uint64_t>(staged.get());
    }
    return enqueue_copy(driver, device, handle, call, [staged] {});
  });
}

CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, std::size_t bytes, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (bytes == 0) return CUDA_SUCCESS;
    if (to == nullptr) return CUDA_ERROR_INVALID_VALUE;
    CopyCall call;
    call.from = {false, from};
    call.to = {true, reinterpret_cast<std::uint64_t>(to)};
    call.width = bytes;
    const CUresult result = enqueue_copy(driver, device, handle, call);
    if (result != CUDA_SUCCESS || is_pinned(driver, to)) return result;
    // To memory that is not pinned the function returns when all is there.
    driver.scheduler.synchronize(*driver.find_stream(handle, device));
    return device.error;
  });
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, std::size_t bytes,
                              CUstream handle) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (bytes == 0) return CUDA_SUCCESS;
    CopyCall call;
    call.from = {false, from};
    call.to = {false, to};
    call.width = bytes;
    return enqueue_copy(driver, device, handle, call);
  });
}

CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from,
                           CUcontext from_context, std::size_t bytes, CUstream handle) {
  return call_on_device([&](Driver &driver, Device &) {
    const auto lies_on = [&](CUdeviceptr address, CUcontext context) {
      const Device *device = driver.find_device(context);
      const Allocation *found = driver.space.find(address);
      return device != nullptr && found != nullptr && found->device == device->ordinal;
    };
    if (bytes == 0) return CUDA_SUCCESS;
    if (!lies_on(to, to_context) || !lies_on(from, from_context)) return CUDA_ERROR_INVALID_VALUE;
    return cuMemcpyDtoDAsync_v2(to, from, bytes, handle);
  });
}

CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, std::size_t count, CUstream stream) {
  return fill(to, value, count, stream);
}
CUresult cuMemsetD16Async(CUdeviceptr to, unsigned short value, std::size_t count,
                          CUstream stream) {
  return fill(to, value, count, stream);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, std::size_t count, CUstream stream) {
  return fill(to, value, count, stream);
}

CUresult cuPointerGetAttribute(void *value, CUpointer_attribute attribute, CUdeviceptr address) {
  return call([&](Driver &driver) {
    const Allocation *found = driver.space.find(address);
    if (value == nullptr || found == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const bool pinned = found->backing == Backing::pinned;
    const auto answer = [&](auto number) {
      std::memcpy(value, &number, sizeof number);
      return CUDA_SUCCESS;
    };
    switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      return answer(pinned ? nullptr : driver.find_device(found->device)->context());
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      return answer(pinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE);
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER: return answer(address);
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      return pinned ? answer(address) : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL: return answer(pinned ? 0 : found->device);
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR: return answer(found->region.address);
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE: return answer(found->region.size);
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

} // namespace weft::cuda
