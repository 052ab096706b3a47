// A driver of its own for each test, by way of cuGetProcAddress, and short ways to use it.
#pragma once

#include <dlfcn.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <vector>

#include "Cuda/Driver.h"
#include "Emulator/Driver/Control.h"

namespace weft::emulator {

using namespace cuda;

/// Opens the emulator's library anew: a copy of the file is another library, with a state of its
/// own.
class EmulatedDriver {
public:
#define WEFT_CUDA_FUNCTION(name, symbol, version, parameters) CUresult(*name) parameters = nullptr;
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
  decltype(&weft_emulator_counters) counters = nullptr;
  decltype(&weft_emulator_reset_counters) reset_counters = nullptr;
  decltype(&weft_emulator_take_report) take_report = nullptr;
  decltype(&weft_emulator_schedule) schedule = nullptr;
  decltype(&weft_emulator_memory) memory = nullptr;

  explicit EmulatedDriver(const std::string &options = "", int version = 13000) {
    setenv("WEFT_GPU_EMULATOR", ("quiet," + options).c_str(), 1);
    static int copies = 0;
    const std::filesystem::path copy =
        std::filesystem::temp_directory_path() /
        ("weft-emulator-" + std::to_string(getpid()) + "-" + std::to_string(copies++) + ".so");
    std::filesystem::copy_file(WEFT_GPU_EMULATOR_LIBRARY, copy);
    library_ = dlopen(copy.c_str(), RTLD_NOW | RTLD_LOCAL); // for good: it watches for faults
    std::filesystem::remove(copy);
    if (library_ == nullptr) throw std::runtime_error(dlerror());
    auto *find =
        reinterpret_cast<decltype(cuGetProcAddress)>(dlsym(library_, "cuGetProcAddress_v2"));
#define WEFT_CUDA_FUNCTION(name, symbol, since, parameters)                                        \
  find(#name, reinterpret_cast<void **>(&name), version, 0, nullptr);
#include "Cuda/Functions.def"
#undef WEFT_CUDA_FUNCTION
    take(counters, "weft_emulator_counters");
    take(reset_counters, "weft_emulator_reset_counters");
    take(take_report, "weft_emulator_take_report");
    take(schedule, "weft_emulator_schedule");
    take(memory, "weft_emulator_memory");
  }

  /// Begins, with the first device's context.
  EmulatedDriver &start(int device = 0) {
    EXPECT_EQ(cuInit(0), CUDA_SUCCESS);
    CUcontext context = nullptr;
    EXPECT_EQ(cuDevicePrimaryCtxRetain(&context, device), CUDA_SUCCESS);
    EXPECT_EQ(cuCtxSetCurrent(context), CUDA_SUCCESS);
    return *this;
  }

  std::string next_report() const {
    std::array<char, 1024> text{};
    return take_report(text.data(), text.size()) ? text.data() : "";
  }

  template <class T>
  CUdeviceptr put(const std::vector<T> &values, CUstream stream = nullptr) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAlloc(&address, values.size() * sizeof(T)), CUDA_SUCCESS);
    EXPECT_EQ(cuMemcpyHtoDAsync(address, values.data(), values.size() * sizeof(T), stream),
              CUDA_SUCCESS);
    return address;
  }
  template <class T>
  std::vector<T> get(CUdeviceptr address, std::size_t count, CUstream stream = nullptr) {
    std::vector<T> values(count);
    EXPECT_EQ(cuMemcpyDtoHAsync(values.data(), address, count * sizeof(T), stream), CUDA_SUCCESS);
    return values;
  }

  CUmodule load(const std::string &text) {
    CUmodule module = nullptr;
    std::array<char, 512> log{};
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log.data(), reinterpret_cast<void *>(log.size())};
    EXPECT_EQ(cuModuleLoadDataEx(&module, text.c_str(), 2, options, values), CUDA_SUCCESS)
        << log.data();
    return module;
  }
  CUfunction function(const std::string &text, const char *name = "k") {
    CUfunction found = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&found, load(text), name), CUDA_SUCCESS);
    return found;
  }

  CUresult launch(CUfunction function, unsigned blocks, unsigned threads,
                  std::initializer_list<std::uint64_t> arguments, CUstream stream = nullptr,
                  unsigned shared = 0) {
    std::vector<std::uint64_t> values(arguments);
    std::vector<void *> pointers;
    for (std::uint64_t &value : values) pointers.push_back(&value);
    CUlaunchConfig config{blocks, 1, 1, threads, 1, 1, shared, stream, nullptr, 0};
    return cuLaunchKernelEx(&config, function, pointers.data(), nullptr);
  }

  CUstream stream(unsigned flags = CU_STREAM_NON_BLOCKING) {
    CUstream made = nullptr;
    EXPECT_EQ(cuStreamCreate(&made, flags), CUDA_SUCCESS);
    return made;
  }
  CUevent event() {
    CUevent made = nullptr;
    EXPECT_EQ(cuEventCreate(&made, CU_EVENT_DEFAULT), CUDA_SUCCESS);
    return made;
  }

private:
  template <class T>
  void take(T &function, const char *name) {
    function = reinterpret_cast<T>(dlsym(library_, name));
    if (function == nullptr) throw std::runtime_error(name);
  }
  void *library_ = nullptr;
};

/// The text of a kernel `k` with parameters of 64 bits, p0, p1 and so on.
inline std::string driver_kernel(int parameters, const std::string &body,
                                 const std::string &outside = "") {
  std::string text =
      ".version 8.0\n.target sm_75\n.address_size 64\n" + outside + "\n.visible .entry k(";
  for (int i = 0; i < parameters; ++i)
    text += std::string(i == 0 ? "" : ", ") + ".param .u64 p" + std::to_string(i);
  return text + ")\n{\n" + body + "\n}\n";
}

/// Each thread adds p1 to its number of the array p0.
inline const std::string kAdd =
    driver_kernel(2, R"(.reg .b64 %x, %n, %i; .reg .b32 %t, %b, %s, %v, %w;
mov.u32 %t, %tid.x; mov.u32 %b, %ctaid.x; mov.u32 %s, %ntid.x; mad.lo.u32 %t, %b, %s, %t;
ld.param.u64 %x, [p0]; ld.param.u64 %n, [p1]; mad.wide.u32 %x, %t, 4, %x;
ld.global.u32 %v, [%x]; cvt.u32.u64 %w, %n; add.u32 %v, %v, %w; st.global.u32 [%x], %v; ret;)");

} // namespace weft::emulator
