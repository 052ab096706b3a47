// Memory through the driver: what fits, what is copied, what is counted, and what is wrong.
#include "EmulatedDriver.h"

#include <numeric>

namespace weft::emulator {
namespace {

std::vector<std::uint32_t> counted(std::size_t count, std::uint32_t from = 0) {
  std::vector<std::uint32_t> values(count);
  std::iota(values.begin(), values.end(), from);
  return values;
}

TEST(DriverMemory, CopiesGoThereAndBack) {
  EmulatedDriver driver;
  driver.start();
  const auto values = counted(1000);
  const CUdeviceptr a = driver.put(values), b = driver.put(counted(1000, 5));
  EXPECT_EQ(driver.get<std::uint32_t>(a, 1000), values);
  EXPECT_EQ(driver.cuMemcpyDtoDAsync(b + 40, a, 400, nullptr), CUDA_SUCCESS);
  auto expected = counted(1000, 5);
  std::copy(values.begin(), values.begin() + 100, expected.begin() + 10);
  EXPECT_EQ(driver.get<std::uint32_t>(b, 1000), expected);
  EXPECT_EQ(driver.cuMemFree(a), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFree(a), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemFree(0), CUDA_SUCCESS);
}

TEST(DriverMemory, Fills) {
  EmulatedDriver driver;
  driver.start();
  const CUdeviceptr a = driver.put(std::vector<std::uint8_t>(16));
  EXPECT_EQ(driver.cuMemsetD8Async(a + 1, 0x11, 3, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD16Async(a + 4, 0x2233, 2, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD32Async(a + 8, 0x44556677, 1, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.get<std::uint8_t>(a, 16),
            (std::vector<std::uint8_t>{0, 0x11, 0x11, 0x11, 0x33, 0x22, 0x33, 0x22, 0x77, 0x66,
                                       0x55, 0x44, 0, 0, 0, 0}));
  EXPECT_EQ(driver.cuMemsetD32Async(a + 2, 0, 1, nullptr), CUDA_ERROR_INVALID_VALUE); // not aligned
  EXPECT_EQ(driver.cuMemsetD8Async(a, 0, 17, nullptr), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverMemory, RangesAreChecked) {
  EmulatedDriver driver;
  driver.start();
  std::vector<std::uint8_t> host(64);
  const CUdeviceptr a = driver.put(host);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a, host.data(), 65, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_NE(driver.next_report().find("1 bytes behind the end of the 64"), std::string::npos);
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(host.data(), a + 60, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(host.data(), 4096, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a, reinterpret_cast<void *>(a), 8, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a, nullptr, 8, nullptr), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a, nullptr, 0, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFree(a + 4), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.get<std::uint8_t>(a, 64), host); // none of it did any harm
}

TEST(DriverMemory, WhatNobodyWroteDoesNotComeToTheHost) {
  EmulatedDriver driver;
  driver.start();
  CUdeviceptr a = 0;
  ASSERT_EQ(driver.cuMemAlloc(&a, 64), CUDA_SUCCESS);
  std::vector<std::uint8_t> host(64);
  driver.cuMemsetD8Async(a, 1, 32, nullptr);
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(host.data(), a, 32, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(host.data(), a, 33, nullptr), CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_NE(driver.next_report().find("nobody wrote"), std::string::npos);
}

TEST(DriverMemory, MayBeFull) {
  EmulatedDriver driver("memory=1M");
  driver.start();
  CUdeviceptr a = 0, b = 0;
  std::size_t free = 0, total = 0;
  EXPECT_EQ(driver.cuMemAlloc(&a, 700 << 10), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemGetInfo(&free, &total), CUDA_SUCCESS);
  EXPECT_EQ(free, 324U << 10);
  EXPECT_EQ(total, 1U << 20);
  EXPECT_EQ(driver.cuMemAlloc(&b, 400 << 10), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemAlloc(&b, std::size_t{1} << 50), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemFree(a), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&b, 400 << 10), CUDA_SUCCESS); // and it goes on
  EXPECT_NE(a, b) << "an address does not come back soon";
}

TEST(DriverMemory, PoolsKeepWhatTheyAreToldTo) {
  EmulatedDriver driver("memory=1M");
  driver.start();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(driver.cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  const auto attribute = [&](CUmemPool_attribute which) {
    cuuint64_t value = 0;
    EXPECT_EQ(driver.cuMemPoolGetAttribute(pool, which, &value), CUDA_SUCCESS);
    return value;
  };
  cuuint64_t threshold = ~0ULL;
  EXPECT_EQ(driver.cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold),
            CUDA_SUCCESS);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RELEASE_THRESHOLD), ~0ULL);
  CUdeviceptr a = 0, b = 0;
  EXPECT_EQ(driver.cuMemAllocFromPoolAsync(&a, 600 << 10, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFreeAsync(a, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_CURRENT), 0U);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_USED_MEM_HIGH), 600U << 10);
  EXPECT_EQ(attribute(CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT), 600U << 10);
  EXPECT_EQ(driver.cuMemAlloc(&b, 600 << 10), CUDA_ERROR_OUT_OF_MEMORY); // the pool has it
  EXPECT_EQ(driver.cuMemAllocFromPoolAsync(&a, 700 << 10, pool, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFreeAsync(a, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemPoolTrimTo(pool, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAlloc(&b, 600 << 10), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemAllocFromPoolAsync(&a, 600 << 10, pool, nullptr), CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_EQ(driver.cuMemPoolDestroy(pool), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemPoolDestroy(pool), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverMemory, FreedMemoryIsNotForKernels) {
  EmulatedDriver driver;
  driver.start();
  const CUfunction add = driver.function(kAdd);
  const CUdeviceptr a = driver.put(counted(64));
  EXPECT_EQ(driver.cuMemFreeAsync(a, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.launch(add, 1, 64, {a, 1}), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(driver.next_report().find("which were freed"), std::string::npos);
}

TEST(DriverMemory, PointersSayWhatTheyAre) {
  EmulatedDriver driver("devices=2");
  driver.start(1);
  const CUdeviceptr a = driver.put(counted(64));
  void *pinned = nullptr;
  EXPECT_EQ(driver.cuMemHostAlloc(&pinned, 256, 0), CUDA_SUCCESS);
  int number = 7;
  EXPECT_EQ(driver.cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, a + 8),
            CUDA_SUCCESS);
  EXPECT_EQ(number, 1);
  EXPECT_EQ(driver.cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, a),
            CUDA_SUCCESS);
  EXPECT_EQ(number, CU_MEMORYTYPE_DEVICE);
  EXPECT_EQ(driver.cuPointerGetAttribute(&number, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                         reinterpret_cast<CUdeviceptr>(pinned)),
            CUDA_SUCCESS);
  EXPECT_EQ(number, CU_MEMORYTYPE_HOST);
  CUdeviceptr begin = 0;
  EXPECT_EQ(driver.cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, a + 100),
            CUDA_SUCCESS);
  EXPECT_EQ(begin, a);
  EXPECT_EQ(driver.cuPointerGetAttribute(&begin, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, 4096),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.cuMemFreeHost(pinned), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemFreeHost(pinned), CUDA_ERROR_INVALID_VALUE);
}

TEST(DriverMemory, DevicesHaveMemoryOfTheirOwn) {
  EmulatedDriver driver("devices=2");
  driver.start(1);
  const CUdeviceptr there = driver.put(counted(64));
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
  driver.start(0);
  const CUdeviceptr here = driver.put(counted(64, 9));
  CUcontext first = nullptr, second = nullptr;
  driver.cuDevicePrimaryCtxRetain(&first, 0);
  driver.cuDevicePrimaryCtxRetain(&second, 1);
  EXPECT_EQ(driver.cuMemcpyPeerAsync(here, first, there, second, 128, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemcpyPeerAsync(here, second, there, first, 128, nullptr),
            CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(driver.get<std::uint32_t>(here, 33)[32], 41U);
  EXPECT_EQ(driver.get<std::uint32_t>(here, 32), counted(32));
  int can = 1;
  EXPECT_EQ(driver.cuDeviceCanAccessPeer(&can, 0, 1), CUDA_SUCCESS);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(driver.launch(driver.function(kAdd), 1, 64, {there, 1}), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_NE(driver.next_report().find("memory of device 1, and the kernel runs on device 0"),
            std::string::npos);
  // The other device is none the worse for it.
  driver.start(1);
  EXPECT_EQ(driver.get<std::uint32_t>(there, 64), counted(64));
}

TEST(DriverMemoryDeathTest, AHostAccessIsNamed) {
  EmulatedDriver driver;
  driver.start();
  const CUdeviceptr a = driver.put(counted(64));
  EXPECT_DEATH(*reinterpret_cast<volatile int *>(a) = 1, "the host touches device memory at 0x");
}

} // namespace
} // namespace weft::emulator
