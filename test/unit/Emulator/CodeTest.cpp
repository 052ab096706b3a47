// Modules and launches through the driver: what is refused, what a fault leaves, what is counted.
#include "EmulatedDriver.h"

namespace weft::emulator {
namespace {

/// The result of loading a text, and what the JIT's log says.
std::pair<CUresult, std::string> loading(EmulatedDriver &driver, const std::string &text) {
  std::array<char, 256> log{};
  CUjit_option options[] = {CU_JIT_OPTIMIZATION_LEVEL, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                            CU_JIT_ERROR_LOG_BUFFER};
  void *values[] = {reinterpret_cast<void *>(3), reinterpret_cast<void *>(log.size()), log.data()};
  CUmodule module = nullptr;
  const CUresult result = driver.cuModuleLoadDataEx(&module, text.c_str(), 3, options, values);
  if (result != CUDA_SUCCESS)
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(values[1]), std::strlen(log.data()) + 1);
  return {result, log.data()};
}

TEST(Code, TheJitLogHasTheLine) {
  EmulatedDriver driver;
  driver.start();
  EXPECT_EQ(
      loading(driver, driver_kernel(0, "ret;\nsqueak;")),
      std::pair(CUDA_ERROR_INVALID_PTX, std::string("PTX, line 8: unknown instruction 'squeak'")));
  EXPECT_EQ(loading(driver, "\x7f"
                            "ELF")
                .first,
            CUDA_ERROR_INVALID_IMAGE);
  EXPECT_EQ(loading(driver, "").first, CUDA_ERROR_INVALID_PTX);
  CUmodule module = nullptr;
  EXPECT_EQ(driver.cuModuleLoadDataEx(&module, "nothing", 0, nullptr, nullptr),
            CUDA_ERROR_INVALID_PTX);
  std::uint64_t bytes = 0, allocations = 0;
  EXPECT_EQ(loading(driver, driver_kernel(0, "squeak;", ".global .b32 x[100];")).first,
            CUDA_ERROR_INVALID_PTX);
  driver.memory(0, &bytes, &allocations);
  EXPECT_EQ(allocations, 0U);
}

TEST(Code, TargetsAndVersions) {
  EmulatedDriver driver("chip=sm_80,driver=12000");
  driver.start();
  const auto module = [](const std::string &version, const std::string &target) {
    return ".version " + version + "\n.target " + target +
           "\n.address_size 64\n.visible .entry k() { ret; }\n";
  };
  EXPECT_EQ(loading(driver, module("8.0", "sm_80")).first, CUDA_SUCCESS);
  EXPECT_EQ(loading(driver, module("8.0", "sm_90")),
            std::pair(CUDA_ERROR_NO_BINARY_FOR_GPU,
                      std::string("PTX: it is for sm_90, and the device is a sm_80")));
  EXPECT_EQ(loading(driver, module("8.1", "sm_75")),
            std::pair(CUDA_ERROR_UNSUPPORTED_PTX_VERSION,
                      std::string("PTX: version 8.1, where the driver takes 8.0")));
}

TEST(Code, KernelsAreFoundByName) {
  EmulatedDriver driver;
  driver.start();
  const CUmodule module = driver.load(kAdd);
  CUfunction function = nullptr;
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "k"), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "z"), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(driver.cuModuleUnload(module), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuModuleUnload(module), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuModuleGetFunction(&function, module, "k"), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.launch(function, 1, 1, {0, 0}), CUDA_ERROR_INVALID_HANDLE);
}

TEST(Code, VariablesOfModules) {
  EmulatedDriver driver;
  driver.start();
  const CUmodule module =
      driver.load(driver_kernel(0, "ret;", ".visible .global .align 4 .b32 x[3] = {7, 8};"));
  CUdeviceptr address = 0;
  std::size_t bytes = 0;
  EXPECT_EQ(driver.cuModuleGetGlobal(&address, &bytes, module, "x"), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 12U);
  EXPECT_EQ(driver.get<std::uint32_t>(address, 3), (std::vector<std::uint32_t>{7, 8, 0}));
  EXPECT_EQ(driver.cuModuleGetGlobal(&address, &bytes, module, "y"), CUDA_ERROR_NOT_FOUND);
}

TEST(Code, ArgumentsComeByPointersOrInABuffer) {
  EmulatedDriver driver;
  driver.start();
  const CUfunction function = driver.function(
      ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k(.param .b8 a, .param .b32 "
      "b, "
      ".param .b64 c) {\n.reg .b32 %r<3>; .reg .b64 %d; ld.param.u8 %r0, [a]; ld.param.u32 %r1, "
      "[b];\n"
      "add.u32 %r0, %r0, %r1; ld.param.u64 %d, [c]; st.global.u32 [%d], %r0; ret; }\n");
  const CUdeviceptr to = driver.put(std::vector<std::uint32_t>(1));
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, nullptr, 0};
  std::uint8_t a = 200;
  std::uint32_t b = 1000;
  CUdeviceptr c = to;
  void *pointers[] = {&a, &b, &c};
  EXPECT_EQ(driver.cuLaunchKernelEx(&config, function, pointers, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.get<std::uint32_t>(to, 1)[0], 1200U);
  struct {
    std::uint8_t a = 100;
    std::uint32_t b = 1;
    CUdeviceptr c;
  } buffer;
  buffer.c = to;
  std::size_t size = sizeof buffer;
  void *extra[] = {reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_POINTER_AS_INT), &buffer,
                   reinterpret_cast<void *>(CU_LAUNCH_PARAM_BUFFER_SIZE_AS_INT), &size,
                   CU_LAUNCH_PARAM_END};
  EXPECT_EQ(driver.cuLaunchKernelEx(&config, function, nullptr, extra), CUDA_SUCCESS);
  EXPECT_EQ(driver.get<std::uint32_t>(to, 1)[0], 101U);
  EXPECT_EQ(driver.cuLaunchKernelEx(&config, function, nullptr, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(Code, LaunchesBeyondTheLimitsAreRefused) {
  EmulatedDriver driver;
  driver.start();
  const CUfunction function = driver.function(
      driver_kernel(0, ".shared .b8 room[1024]; .reg .b32 %r; mov.u32 %r, room; ret;"));
  EXPECT_EQ(driver.launch(function, 0, 1, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.launch(function, 1, 1025, {}), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.launch(function, 1, 1, {}, reinterpret_cast<CUstream>(&driver)),
            CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.launch(function, 1, 1, {}, nullptr, 47 << 10), CUDA_SUCCESS);
  EXPECT_EQ(driver.launch(function, 1, 1, {}, nullptr, 48 << 10), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      227 << 10),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                      226 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(driver.launch(function, 1, 1, {}, nullptr, 226 << 10), CUDA_SUCCESS);
  int value = 0;
  EXPECT_EQ(driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(driver.cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 1024);
  EXPECT_EQ(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 256, 0),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 8);
  EXPECT_EQ(driver.cuOccupancyMaxActiveBlocksPerMultiprocessor(&value, function, 32, 100 << 10),
            CUDA_SUCCESS);
  EXPECT_EQ(value, 2);
  CUlaunchAttribute cooperative{CU_LAUNCH_ATTRIBUTE_COOPERATIVE, {}, {}};
  cooperative.value.cooperative = 1;
  CUlaunchConfig config{1, 1, 1, 1, 1, 1, 0, nullptr, &cooperative, 1};
  EXPECT_EQ(driver.cuLaunchKernelEx(&config, function, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS) << "a refused launch does no harm";
}

// A kernel that fails does so for good: every call says so, until the context is reset.
TEST(Code, AFaultStays) {
  const struct {
    const char *body;
    CUresult result;
  } faults[] = {{"trap;", CUDA_ERROR_LAUNCH_FAILED},
                {".reg .b64 %d; .reg .b32 %r; mov.u64 %d, 64; ld.global.u32 %r, [%d];",
                 CUDA_ERROR_ILLEGAL_ADDRESS},
                {".reg .b64 %d; .reg .b32 %r; mov.u64 %d, 66; ld.global.u32 %r, [%d];",
                 CUDA_ERROR_MISALIGNED_ADDRESS},
                {"bar.sync 17;", CUDA_ERROR_ILLEGAL_INSTRUCTION},
                {"L: bra L;", CUDA_ERROR_LAUNCH_TIMEOUT}};
  for (const auto &[body, result] : faults) {
    EmulatedDriver driver("timeout=0");
    driver.start();
    EXPECT_EQ(
        driver.launch(driver.function(driver_kernel(0, std::string(body) + " ret;")), 1, 1, {}),
        CUDA_SUCCESS);
    EXPECT_EQ(driver.cuCtxSynchronize(), result) << body;
    EXPECT_NE(driver.next_report().find("kernel k, block (0, 0, 0)"), std::string::npos);
    CUdeviceptr address = 0;
    EXPECT_EQ(driver.cuMemAlloc(&address, 4), result);
    EXPECT_EQ(driver.cuDevicePrimaryCtxReset(0), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
  }
}

TEST(Code, ARaceIsAFailureTooAndIsReportedOnce) {
  EmulatedDriver driver;
  driver.start();
  const CUdeviceptr to = driver.put(std::vector<std::uint32_t>(1));
  EXPECT_EQ(driver.launch(driver.function(driver_kernel(
                              1, ".reg .b32 %t; .reg .b64 %x; mov.u32 %t, %tid.x; ld.param.u64 %x, "
                                 "[p0]; st.global.u32 [%x], %t; ret;")),
                          4, 64, {to}),
            CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(driver.next_report().find("race: "), std::string::npos);
  EXPECT_EQ(driver.next_report(), "");
}

TEST(Code, CountersAreOfKernels) {
  EmulatedDriver driver;
  driver.start();
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(256));
  const CUfunction add = driver.function(kAdd);
  for (int i = 0; i < 3; ++i) driver.launch(add, 4, 64, {a, 1});
  weft_emulator_counters_t counters{};
  EXPECT_TRUE(driver.counters("k", &counters));
  EXPECT_EQ(counters.launches, 3U);
  EXPECT_EQ(counters.blocks, 12U);
  EXPECT_EQ(counters.global_bytes_loaded, 3U * 256 * 4);
  EXPECT_EQ(counters.global_bytes_stored, 3U * 256 * 4);
  EXPECT_EQ(counters.global_sectors, 4 * counters.global_requests);
  EXPECT_FALSE(driver.counters("z", &counters));
  driver.reset_counters();
  EXPECT_TRUE(driver.counters(nullptr, &counters));
  EXPECT_EQ(counters.launches, 0U);
}

} // namespace
} // namespace weft::emulator
