// Functions that begin: the driver, its devices, their contexts.
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Exports.h"
#include "Emulator/Driver/HostFault.h"

namespace weft::cuda {

using namespace emulator;

CUresult cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  if (driver.process == getpid()) return CUDA_SUCCESS;
  if (driver.process != 0) return CUDA_ERROR_NOT_INITIALIZED; // as CUDA after a fork
  const char *text = std::getenv("WEFT_GPU_EMULATOR");
  auto read = read_options(text == nullptr ? "" : text);
  if (const auto *wrong = std::get_if<std::string>(&read)) {
    std::fprintf(stderr, "weft-gpu-emulator: %s\n", wrong->c_str());
    return CUDA_ERROR_INVALID_VALUE;
  }
  driver.options = std::get<Options>(read);
  if (driver.options.devices == 0) return CUDA_ERROR_NO_DEVICE;
  driver.process = getpid();
  for (int i = 0; i < driver.options.devices; ++i) {
    auto device = std::make_unique<Device>();
    device->ordinal = i;
    device->total = driver.options.memory;
    driver.devices.push_back(std::move(device));
  }
  driver.scheduler.checks_races = driver.options.schedule.check_races;
  driver.scheduler.configure(
      driver.options.schedule.stress, driver.options.schedule.seed,
      [&](Device &device, const Fault &fault) { driver.fail(device, fault); });
  watch_host_faults(driver.space);
  return CUDA_SUCCESS;
}

CUresult cuDriverGetVersion(int *version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  Driver &driver = Driver::get();
  const std::scoped_lock lock(driver.mutex);
  const char *text = std::getenv("WEFT_GPU_EMULATOR"); // may be asked before cuInit
  const auto read = read_options(text == nullptr ? "" : text);
  const auto *options = std::get_if<Options>(&read);
  *version = options == nullptr ? Options().driver_version : options->driver_version;
  return CUDA_SUCCESS;
}

CUresult cuDeviceGet(CUdevice *device, int ordinal) {
  return call([&](Driver &driver) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver.find_device(ordinal) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *device = ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetCount(int *count) {
  return call([&](Driver &driver) {
    if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *count = static_cast<int>(driver.devices.size());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetName(char *name, int length, CUdevice device) {
  return call([&](Driver &driver) {
    if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (driver.find_device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    std::snprintf(name, static_cast<std::size_t>(length), "Weft GPU emulator (%s)",
                  driver.options.chip->name.data());
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetUuid_v2(CUuuid *uuid, CUdevice device) {
  return call([&](Driver &driver) {
    if (uuid == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver.find_device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    std::memcpy(uuid->bytes, "weft-emulator-0", sizeof uuid->bytes);
    uuid->bytes[14] = static_cast<char>('0' + device);
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceTotalMem_v2(std::size_t *bytes, CUdevice device) {
  return call([&](Driver &driver) {
    Device *found = driver.find_device(device);
    if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    *bytes = found->total;
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice device, CUdevice peer) {
  return call([&](Driver &driver) {
    if (can == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver.find_device(device) == nullptr || driver.find_device(peer) == nullptr)
      return CUDA_ERROR_INVALID_DEVICE;
    *can = 0; // kernels reach the memory of their own device only
    return CUDA_SUCCESS;
  });
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice device) {
  return call([&](Driver &driver) {
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (driver.find_device(device) == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    const Chip &chip = *driver.options.chip;
    const Limits &limits = chip.limits;
    const auto answer = [&](std::uint64_t number) {
      *value = static_cast<int>(number);
      return CUDA_SUCCESS;
    };
    switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK: return answer(limits.threads_per_block);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X: return answer(limits.block[0]);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y: return answer(limits.block[1]);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z: return answer(limits.block[2]);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X: return answer(limits.grid[0]);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y: return answer(limits.grid[1]);
    case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z: return answer(limits.grid[2]);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK: return answer(limits.shared_per_block);
    case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY: return answer(64 << 10);
    case CU_DEVICE_ATTRIBUTE_WARP_SIZE: return answer(kLanes);
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
    case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
      return answer(limits.registers_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_CLOCK_RATE: return answer(1000000);
    case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT: return answer(limits.multiprocessors);
    case CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT: return answer(1);
    case CU_DEVICE_ATTRIBUTE_INTEGRATED: return answer(0);
    case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY: return answer(1);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_MODE: return answer(0);
    case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS: return answer(1);
    case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE: return answer(1000000);
    case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH: return answer(256);
    case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE: return answer(32 << 20);
    case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
      return answer(limits.threads_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT: return answer(2);
    case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING: return answer(1);
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
      return answer(static_cast<unsigned>(chip.major));
    case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
      return answer(static_cast<unsigned>(chip.minor));
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
      return answer(limits.shared_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY: return answer(0);
    case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH: return answer(0);
    case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
      return answer(limits.shared_per_block_optin);
    case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
      return answer(limits.blocks_per_multiprocessor);
    case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK: return answer(1024);
    case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED: return answer(1);
    case CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH: return answer(chip.has_clusters ? 1 : 0);
    case CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED: return answer(0);
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
  return call([&](Driver &driver) {
    Device *found = driver.find_device(device);
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    ++found->retained;
    *context = found->context();
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
  return call([&](Driver &driver) {
    Device *found = driver.find_device(device);
    if (found == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    if (found->retained == 0) return CUDA_ERROR_INVALID_CONTEXT;
    if (--found->retained == 0) driver.reset(*found);
    return CUDA_SUCCESS;
  });
}

CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
  return call([&](Driver &driver) {
    Device *found = driver.find_device(device);
    if (found == nullptr) return CUDA_ERROR_INVALID_DEVICE;
    driver.reset(*found);
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSetCurrent(CUcontext context) {
  return call([&](Driver &driver) {
    Device *found = driver.find_device(context);
    if (context != nullptr && found == nullptr) return CUDA_ERROR_INVALID_CONTEXT;
    current_device() = found;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetCurrent(CUcontext *context) {
  return call([&](Driver &) {
    if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *context = current_device() == nullptr ? nullptr : current_device()->context();
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxGetDevice(CUdevice *device) {
  return call_on_device([&](Driver &, Device &current) {
    if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
    *device = current.ordinal;
    return CUDA_SUCCESS;
  });
}

CUresult cuCtxSynchronize() {
  return call_on_device([&](Driver &driver, Device &device) {
    driver.scheduler.synchronize(device);
    return device.error;
  });
}

} // namespace weft::cuda
