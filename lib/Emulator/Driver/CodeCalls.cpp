// Functions for code: modules, kernels and their attributes, launches.
#include <algorithm>
#include <cstring>

#include "Emulator/Driver/Driver.h"
#include "Emulator/Driver/Exports.h"
#include "Emulator/Driver/Launches.h"
#include "Emulator/Ptx/Lexer.h"

namespace weft::emulator {

using namespace cuda;

namespace {

/// The arguments as the kernel's parameters are laid out: from a pointer to each, or from one
/// buffer.
CUresult take_parameters(const Kernel &kernel, void **parameters, void **extra,
                         std::vector<std::byte> &out) {
  out.resize(kernel.parameter_bytes);
  if (parameters != nullptr) {
    if (extra != nullptr) return CUDA_ERROR_INVALID_VALUE;
    for (std::size_t i = 0; i < kernel.parameters.size(); ++i) {
      const auto &[offset, size] = kernel.parameters[i];
      if (parameters[i] == nullptr) return CUDA_ERROR_INVALID_VALUE;
      std::memcpy(out.data() + offset, parameters[i], size);
    }
    return CUDA_SUCCESS;
  }
  if (extra == nullptr) return kernel.parameters.empty() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  const void *buffer = nullptr;
  std::size_t size = 0;
  for (; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    const auto what = reinterpret_cast<std::uintptr_t>(extra[0]);
    if (what == CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT) buffer = extra[1];
    else if (what == CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT) std::memcpy(&size, extra[1], sizeof size);
    else return CUDA_ERROR_INVALID_VALUE;
  }
  if (buffer == nullptr || size < out.size()) return CUDA_ERROR_INVALID_VALUE;
  std::memcpy(out.data(), buffer, out.size());
  return CUDA_SUCCESS;
}

/// The highest version of PTX, as 80 for 8.0, that drivers of a version of CUDA take.
int ptx_version_of(int driver_version) {
  static constexpr std::pair<int, int> kVersions[] = {
      {13000, 90}, {12090, 88}, {12080, 87}, {12070, 86}, {12050, 85}, {12040, 84},
      {12030, 83}, {12020, 82}, {12010, 81}, {12000, 80}, {11080, 78}, {0, 77}};
  for (const auto &[driver, ptx] : kVersions)
    if (driver_version >= driver) return ptx;
  return 0;
}

/// Where a caller of cuModuleLoadDataEx wants to read what went wrong.
void write_log(const std::string &text, unsigned count, const CUjit_option *options,
               void **values) {
  char *buffer = nullptr;
  void **size = nullptr;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER) buffer = static_cast<char *>(values[i]);
    if (options[i] == CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES) size = &values[i];
  }
  if (buffer == nullptr || size == nullptr) return;
  const auto room = reinterpret_cast<std::uintptr_t>(*size);
  if (room == 0) return;
  const std::size_t length = std::min(text.size(), static_cast<std::size_t>(room) - 1);
  std::memcpy(buffer, text.data(), length);
  buffer[length] = 0;
  *size = reinterpret_cast<void *>(length + 1); // how much was written
}

/// How many blocks of a kernel fit a multiprocessor.
int occupancy(const Limits &limits, const Kernel &kernel, std::uint32_t threads,
              std::size_t dynamic_shared) {
  const std::uint32_t warps = (threads + kLanes - 1) / kLanes;
  const std::uint32_t registers = (kernel.registers_per_thread + 7) / 8 * 8 * warps * kLanes;
  const std::size_t shared = kernel.static_shared_bytes + dynamic_shared;
  if (threads == 0 || threads > limits.threads_per_block || shared > limits.shared_per_block_optin)
    return 0;
  std::size_t blocks = std::min(limits.blocks_per_multiprocessor,
                                limits.threads_per_multiprocessor / (warps * kLanes));
  blocks =
      std::min<std::size_t>(blocks, limits.registers_per_multiprocessor / std::max(registers, 1U));
  if (shared > 0) blocks = std::min(blocks, limits.shared_per_multiprocessor / (shared + 1024));
  return static_cast<int>(blocks);
}

} // namespace

CUresult make_kernel_call(Driver &driver, Device &device, const Function &function,
                          const Shape &shape, void **parameters, void **extra, KernelCall &call) {
  const Kernel &kernel = *function.kernel;
  call.program = function.module->program;
  call.kernel = &kernel;
  call.shape = shape;
  if (function.module->device != &device) return CUDA_ERROR_INVALID_HANDLE;
  if (const CUresult result = take_parameters(kernel, parameters, extra, call.parameters);
      result != CUDA_SUCCESS) {
    driver.report("kernel " + kernel.name + ": " + std::to_string(kernel.parameters.size()) +
                  " parameters are wanted, each with a value");
    return result;
  }
  Launch launch;
  launch.kernel = &kernel;
  launch.shape = shape;
  launch.limits = driver.options.chip->limits;
  launch.parameters = call.parameters;
  std::string wrong = Machine::check(launch);
  CUresult result = CUDA_ERROR_INVALID_VALUE;
  const std::uint64_t shared = std::uint64_t{kernel.static_shared_bytes} + shape.dynamic_shared;
  if (wrong.empty() && shared > launch.limits.shared_per_block &&
      shape.dynamic_shared > function.most_dynamic_shared)
    wrong = std::to_string(shared) +
            " bytes of shared memory, of which the kernel's attribute "
            "MAX_DYNAMIC_SHARED_SIZE_BYTES allows " +
            std::to_string(function.most_dynamic_shared);
  if (wrong.empty() &&
      kernel.registers_per_thread * shape.threads() > launch.limits.registers_per_multiprocessor) {
    wrong = "more registers than a multiprocessor has";
    result = CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES;
  }
  if (wrong.empty()) return CUDA_SUCCESS;
  driver.report("kernel " + kernel.name + ": " + wrong);
  return result;
}

} // namespace weft::emulator

namespace weft::cuda {

using namespace emulator;

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned count,
                            CUjit_option *options, void **values) {
  return call_on_device([&](Driver &driver, Device &device) {
    if (module == nullptr || image == nullptr) return CUDA_ERROR_INVALID_VALUE;
    const std::string_view text(static_cast<const char *>(image));
    const auto refuse = [&](CUresult result, const std::string &why) {
      write_log(why, count, options, values);
      driver.report(why);
      return result;
    };
    if (text.substr(0, 4) == "\x7f"
                             "ELF")
      return refuse(CUDA_ERROR_INVALID_IMAGE, "this is machine code, and only PTX can be run here");
    Module made;
    made.device = &device;
    const auto undo = [&] {
      for (const std::uint64_t address : made.globals)
        driver.free(*driver.space.find_begin(address));
    };
    try {
      made.program = load_program(text, [&](std::uint64_t size,
                                            const std::vector<std::uint8_t> &initial) {
        const std::uint64_t address =
            driver.allocate(device, std::max<std::uint64_t>(size, 1), nullptr);
        if (address == 0) throw std::bad_alloc();
        made.globals.push_back(address);
        const Region &region = driver.space.find_begin(address)->region;
        std::memset(region.bytes, 0, region.size);
        std::copy(initial.begin(), initial.end(), reinterpret_cast<std::uint8_t *>(region.bytes));
        region.shadow.mark_written(0, region.size);
        return address;
      });
    } catch (const ptx::SyntaxError &error) {
      undo();
      return refuse(CUDA_ERROR_INVALID_PTX,
                    "PTX, line " + std::to_string(error.line()) + ": " + error.what());
    } catch (...) {
      undo();
      throw;
    }
    const int most = ptx_version_of(driver.options.driver_version);
    if (made.program->version > most) {
      undo();
      return refuse(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                    "PTX: version " + std::to_string(made.program->version / 10) + "." +
                        std::to_string(made.program->version % 10) + ", where the driver takes " +
                        std::to_string(most / 10) + "." + std::to_string(most % 10));
    }
    if (!can_run(driver.options.chip->number(), made.program->target)) {
      undo();
      return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "PTX: it is for " + made.program->target +
                                                      ", and the device is a " +
                                                      std::string(driver.options.chip->name));
    }
    *module = driver.modules.make(std::move(made));
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name) {
  return call_on_device([&](Driver &driver, Device &) {
    Module *found = driver.modules.find(module);
    if (function == nullptr || name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const auto kernel = found->program->kernels.find(name);
    if (kernel == found->program->kernels.end()) return CUDA_ERROR_NOT_FOUND;
    Function made;
    made.module = found;
    made.kernel = kernel->second.get();
    *function = driver.functions.make(made);
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, std::size_t *bytes, CUmodule module,
                              const char *name) {
  return call_on_device([&](Driver &driver, Device &) {
    const Module *found = driver.modules.find(module);
    if (name == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const auto global = found->program->globals.find(name);
    if (global == found->program->globals.end()) return CUDA_ERROR_NOT_FOUND;
    if (address != nullptr) *address = global->second.address;
    if (bytes != nullptr) *bytes = global->second.size;
    return CUDA_SUCCESS;
  });
}

CUresult cuModuleUnload(CUmodule module) {
  return call([&](Driver &driver) {
    Module *found = driver.modules.find(module);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    driver.scheduler.synchronize(*found->device);
    for (const std::uint64_t address : found->globals)
      if (Allocation *global = driver.space.find_begin(address)) driver.free(*global);
    driver.functions.erase_if([&](const Function &function) { return function.module == found; });
    driver.modules.erase(module);
    return CUDA_SUCCESS;
  });
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function) {
  return call_on_device([&](Driver &driver, Device &) {
    const Function *found = driver.functions.find(function);
    if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    const Kernel &kernel = *found->kernel;
    const Limits &limits = driver.options.chip->limits;
    const auto answer = [&](std::uint32_t number) {
      *value = static_cast<int>(number);
      return CUDA_SUCCESS;
    };
    const auto &most = kernel.most_threads;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      return answer(most[0] == 0 ? limits.threads_per_block : most[0] * most[1] * most[2]);
    case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES: return answer(kernel.static_shared_bytes);
    case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES: return answer(0);
    case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES: return answer(kernel.local_bytes);
    case CU_FUNC_ATTRIBUTE_NUM_REGS: return answer(kernel.registers_per_thread);
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
      return answer(static_cast<std::uint32_t>(driver.options.chip->number()));
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      return answer(std::max(found->most_dynamic_shared,
                             limits.shared_per_block -
                                 std::min(limits.shared_per_block, kernel.static_shared_bytes)));
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return answer(0);
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      return answer(found->cluster_limit > limits.cluster ? 1 : 0);
    }
    return CUDA_ERROR_INVALID_VALUE;
  });
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value) {
  return call_on_device([&](Driver &driver, Device &) {
    Function *found = driver.functions.find(function);
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    if (value < 0) return CUDA_ERROR_INVALID_VALUE;
    const std::uint32_t most = driver.options.chip->limits.shared_per_block_optin;
    switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
      if (static_cast<std::uint64_t>(value) + found->kernel->static_shared_bytes > most)
        return CUDA_ERROR_INVALID_VALUE;
      found->most_dynamic_shared = static_cast<std::uint32_t>(value);
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT: return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
      found->cluster_limit = value != 0 ? 16 : 8;
      return CUDA_SUCCESS;
    default: return CUDA_ERROR_INVALID_VALUE;
    }
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     std::size_t shared_bytes) {
  return call_on_device([&](Driver &driver, Device &) {
    const Function *found = driver.functions.find(function);
    if (blocks == nullptr || threads <= 0) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    *blocks = occupancy(driver.options.chip->limits, *found->kernel,
                        static_cast<std::uint32_t>(threads), shared_bytes);
    return CUDA_SUCCESS;
  });
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **parameters,
                          void **extra) {
  return call_on_device([&](Driver &driver, Device &device) {
    const Function *found = driver.functions.find(function);
    if (config == nullptr) return CUDA_ERROR_INVALID_VALUE;
    if (found == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Stream *stream = driver.find_stream(config->hStream, device);
    if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
    Shape shape;
    shape.grid = {config->gridDimX, config->gridDimY, config->gridDimZ};
    shape.block = {config->blockDimX, config->blockDimY, config->blockDimZ};
    shape.dynamic_shared = config->sharedMemBytes;
    if (found->kernel->cluster[0] != 0) shape.cluster = found->kernel->cluster;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
      const CUlaunchAttribute &attribute = config->attrs[i];
      switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_IGNORE:
      case CU_LAUNCH_ATTRIBUTE_PRIORITY:
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE:
      case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION: // in order is one way to do it
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        shape.cluster = {attribute.value.clusterDim.x, attribute.value.clusterDim.y,
                         attribute.value.clusterDim.z};
        if (!driver.options.chip->has_clusters) return CUDA_ERROR_INVALID_VALUE;
        break;
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        if (attribute.value.cooperative != 0) return CUDA_ERROR_NOT_SUPPORTED;
        break;
      default: return CUDA_ERROR_INVALID_VALUE;
      }
    }
    KernelCall call;
    if (const CUresult result =
            make_kernel_call(driver, device, *found, shape, parameters, extra, call);
        result != CUDA_SUCCESS)
      return result;
    driver.scheduler.enqueue(*stream, "the kernel " + call.kernel->name,
                             [&driver, &device, call] { return driver.run(device, call); });
    return CUDA_SUCCESS; // what it does wrong, later calls say
  });
}

} // namespace weft::cuda
