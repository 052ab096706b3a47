// How a driver begins: options, devices, contexts, names of results, addresses of functions.
#include "EmulatedDriver.h"

#include <sys/wait.h>

#include <thread>

namespace weft::emulator {
namespace {

TEST(Start, NothingWorksBeforeInit) {
  EmulatedDriver driver;
  int count = 0;
  EXPECT_EQ(driver.cuDeviceGetCount(&count), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_EQ(driver.cuInit(7), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuInit(0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDeviceGetCount(&count), CUDA_SUCCESS);
  EXPECT_EQ(count, 1);
}

TEST(Start, FunctionsHaveVersions) {
  const EmulatedDriver old("driver=12020", 12020);
  EXPECT_EQ(old.cuGraphAddNode, nullptr); // since 12.3
  EXPECT_NE(old.cuLaunchKernelEx, nullptr);
  const EmulatedDriver now;
  EXPECT_NE(now.cuGraphAddNode, nullptr);
  void *found = nullptr;
  CUdriverProcAddressQueryResult status{};
  EXPECT_EQ(now.cuGetProcAddress("cuMemAlloc", &found, 2000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(now.cuGetProcAddress("cuMakeCoffee", &found, 13000, 0, &status), CUDA_ERROR_NOT_FOUND);
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
  EXPECT_EQ(now.cuGetProcAddress("cuMemAlloc", &found, 12000, 0, &status), CUDA_SUCCESS);
  EXPECT_EQ(found, reinterpret_cast<void *>(now.cuMemAlloc));
}

TEST(Start, OptionsThatAreNone) {
  for (const char *options :
       {"chip=sm_1", "devices=many", "memory=12Q", "races=on", "hello", "devices=99"}) {
    EmulatedDriver driver(options);
    testing::internal::CaptureStderr();
    EXPECT_EQ(driver.cuInit(0), CUDA_ERROR_INVALID_VALUE) << options;
    EXPECT_NE(
        testing::internal::GetCapturedStderr().find("WEFT_GPU_EMULATOR: '" + std::string(options)),
        std::string::npos);
  }
}

TEST(Start, DevicesAreWhatTheyAreToldToBe) {
  EmulatedDriver driver("chip=sm_80,devices=2,memory=1G,driver=12040");
  driver.start();
  int value = 0;
  EXPECT_EQ(driver.cuDeviceGetCount(&value), CUDA_SUCCESS);
  EXPECT_EQ(value, 2);
  EXPECT_EQ(driver.cuDriverGetVersion(&value), CUDA_SUCCESS);
  EXPECT_EQ(value, 12040);
  CUdevice device = 7;
  EXPECT_EQ(driver.cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDeviceGet(&device, 2), CUDA_ERROR_INVALID_DEVICE);
  const auto attribute = [&](CUdevice_attribute which) {
    EXPECT_EQ(driver.cuDeviceGetAttribute(&value, which, 1), CUDA_SUCCESS);
    return value;
  };
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR), 8);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT), 108);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 163 << 10);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH), 0);
  EXPECT_EQ(attribute(CU_DEVICE_ATTRIBUTE_WARP_SIZE), 32);
  EXPECT_EQ(driver.cuDeviceGetAttribute(&value, static_cast<CUdevice_attribute>(9999), 0),
            CUDA_ERROR_INVALID_VALUE);
  std::size_t bytes = 0;
  EXPECT_EQ(driver.cuDeviceTotalMem(&bytes, 0), CUDA_SUCCESS);
  EXPECT_EQ(bytes, 1U << 30);
  std::array<char, 64> name{};
  EXPECT_EQ(driver.cuDeviceGetName(name.data(), name.size(), 0), CUDA_SUCCESS);
  EXPECT_STREQ(name.data(), "Weft GPU emulator (sm_80)");
  CUuuid first{}, second{};
  EXPECT_EQ(driver.cuDeviceGetUuid(&first, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDeviceGetUuid(&second, 1), CUDA_SUCCESS);
  EXPECT_NE(std::memcmp(first.bytes, second.bytes, 16), 0);
}

TEST(Start, NoDevice) {
  EmulatedDriver driver("devices=0");
  EXPECT_EQ(driver.cuInit(0), CUDA_ERROR_NO_DEVICE);
}

TEST(Start, ContextsAreOfThreads) {
  EmulatedDriver driver("devices=2");
  CUdeviceptr address = 0;
  driver.cuInit(0);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_INVALID_CONTEXT);
  CUcontext context = nullptr, other = nullptr;
  EXPECT_EQ(driver.cuCtxSetCurrent(reinterpret_cast<CUcontext>(&address)),
            CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRetain(&context, 1), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSetCurrent(context), CUDA_SUCCESS);
  CUdevice device = 0;
  EXPECT_EQ(driver.cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  std::thread([&] { EXPECT_EQ(driver.cuCtxGetCurrent(&other), CUDA_SUCCESS); }).join();
  EXPECT_EQ(other, nullptr);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(1), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&address, 4), CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_EQ(driver.cuDevicePrimaryCtxRelease(1), CUDA_ERROR_INVALID_CONTEXT);
  std::uint64_t bytes = 0, allocations = 0;
  driver.memory(1, &bytes, &allocations);
  EXPECT_EQ(allocations, 0U) << "what a context had goes with it";
}

TEST(Start, AChildOfForkHasNoDriver) {
  EmulatedDriver driver;
  driver.start();
  const pid_t child = fork();
  if (child == 0) {
    CUdeviceptr address = 0;
    const bool as_it_should = driver.cuMemAlloc(&address, 4) == CUDA_ERROR_NOT_INITIALIZED &&
                              driver.cuInit(0) == CUDA_ERROR_NOT_INITIALIZED;
    _exit(as_it_should ? 0 : 1);
  }
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(Start, ResultsHaveNamesAndWords) {
  const EmulatedDriver driver;
  const char *text = nullptr;
  EXPECT_EQ(driver.cuGetErrorName(CUDA_ERROR_ILLEGAL_ADDRESS, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_ILLEGAL_ADDRESS");
  EXPECT_EQ(driver.cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "out of memory");
  EXPECT_EQ(driver.cuGetErrorName(static_cast<CUresult>(12345), &text), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(text, nullptr);
}

} // namespace
} // namespace weft::emulator
