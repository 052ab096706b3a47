// The order of streams and events: what is done when, and what nothing orders.
#include "EmulatedDriver.h"

namespace weft::emulator {
namespace {

TEST(Order, OperationsOfAStreamAreInOrder) {
  for (const char *options : {"", "stress", "stress,seed=3"}) {
    EmulatedDriver driver(options);
    driver.start();
    const CUfunction add = driver.function(kAdd);
    const CUstream stream = driver.stream();
    const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64), stream);
    for (int i = 0; i < 5; ++i) EXPECT_EQ(driver.launch(add, 2, 32, {a, 10}, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.get<std::uint32_t>(a, 64, stream), std::vector<std::uint32_t>(64, 50));
    EXPECT_EQ(driver.cuStreamDestroy(stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_ERROR_INVALID_HANDLE);
  }
}

TEST(Order, NothingIsDoneBeforeItIsWaitedFor) {
  EmulatedDriver driver("stress,seed=5");
  driver.start();
  const CUstream stream = driver.stream();
  void *memory = nullptr;
  ASSERT_EQ(driver.cuMemHostAlloc(&memory, 256, 0), CUDA_SUCCESS);
  auto *pinned = static_cast<std::uint32_t *>(memory);
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64, 7), stream);
  pinned[0] = 1;
  EXPECT_EQ(driver.cuMemcpyDtoHAsync(pinned, a, 256, stream), CUDA_SUCCESS);
  EXPECT_EQ(pinned[0], 1U) << "the copy is done at once in stress mode";
  EXPECT_EQ(driver.cuStreamQuery(stream), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(driver.cuStreamSynchronize(stream), CUDA_SUCCESS);
  EXPECT_EQ(pinned[0], 7U);
  EXPECT_EQ(driver.cuStreamQuery(stream), CUDA_SUCCESS);
  // Pinned memory is read when the copy is done, other memory when it is asked for.
  std::vector<std::uint32_t> plain(64, 3);
  pinned[0] = 3;
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a, plain.data(), 4, stream), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemcpyHtoDAsync(a + 4, pinned, 4, stream), CUDA_SUCCESS);
  plain[0] = pinned[0] = 99;
  EXPECT_EQ(driver.get<std::uint32_t>(a, 2, stream), (std::vector<std::uint32_t>{3, 99}));
}

TEST(Order, WhoAsksAgainAndAgainIsToldInTheEnd) {
  EmulatedDriver driver("stress");
  driver.start();
  const CUstream stream = driver.stream(), other = driver.stream();
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64), other);
  const CUevent event = driver.event();
  EXPECT_EQ(driver.cuEventQuery(event), CUDA_SUCCESS); // never recorded
  EXPECT_EQ(driver.cuMemsetD32Async(a, 1, 64, other), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(event, other), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuStreamWaitEvent(stream, event, 0), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD32Async(a, 2, 64, stream), CUDA_SUCCESS);
  int asked = 0;
  while (driver.cuStreamQuery(stream) == CUDA_ERROR_NOT_READY && asked < 100) ++asked;
  EXPECT_GT(asked, 1);
  EXPECT_LT(asked, 100);
  EXPECT_EQ(driver.cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(driver.get<std::uint32_t>(a, 1, stream)[0], 2U);
}

/// Two streams change one array, with and without an event between them; the result of the last.
std::string race_between_streams(const std::string &options, bool with_event,
                                 unsigned flags = CU_STREAM_NON_BLOCKING,
                                 bool wait_on_host = false) {
  EmulatedDriver driver(options);
  driver.start();
  const CUfunction add = driver.function(kAdd);
  const CUstream first = driver.stream(flags), second = driver.stream(flags);
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64), first);
  const CUevent event = driver.event();
  EXPECT_EQ(driver.launch(add, 1, 64, {a, 1}, first), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(event, first), CUDA_SUCCESS);
  if (with_event) EXPECT_EQ(driver.cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  if (wait_on_host) EXPECT_EQ(driver.cuEventSynchronize(event), CUDA_SUCCESS);
  driver.launch(add, 1, 64, {a, 1}, second);
  const CUresult result = driver.cuCtxSynchronize();
  EXPECT_EQ(result == CUDA_SUCCESS, driver.next_report().empty());
  const char *name = nullptr;
  driver.cuGetErrorName(result, &name);
  return name;
}

TEST(Order, AMissingEventIsARace) {
  for (const char *options : {"", "stress", "stress,seed=1", "stress,seed=2"}) {
    EXPECT_EQ(race_between_streams(options, true), "CUDA_SUCCESS");
    EXPECT_EQ(race_between_streams(options, false), "CUDA_ERROR_LAUNCH_FAILED") << options;
    EXPECT_EQ(race_between_streams(options, false, CU_STREAM_NON_BLOCKING, true), "CUDA_SUCCESS");
  }
  EXPECT_EQ(race_between_streams("races=off", false), "CUDA_SUCCESS");
}

TEST(Order, RacesNameBothSidesAndTheAddress) {
  EmulatedDriver driver;
  driver.start();
  const CUstream first = driver.stream(), second = driver.stream();
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64), first);
  driver.cuStreamSynchronize(first);
  EXPECT_EQ(driver.launch(driver.function(kAdd), 1, 64, {a, 1}, first), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD32Async(a + 128, 0, 1, second), CUDA_SUCCESS);
  const std::string text = driver.next_report();
  EXPECT_NE(text.find("a fill of 4 bytes and the kernel k touch the memory at 0x"),
            std::string::npos)
      << text;
  // Readers do not disturb each other, nor do neighbours.
  driver.cuDevicePrimaryCtxReset(0);
  const CUstream third = driver.stream(), fourth = driver.stream();
  const CUdeviceptr b = driver.put(std::vector<std::uint32_t>(64), third);
  driver.cuStreamSynchronize(third);
  EXPECT_EQ(driver.cuMemsetD32Async(b, 0, 32, third), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD32Async(b + 128, 0, 32, fourth), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_SUCCESS);
}

TEST(Order, TheDefaultStreamIsInOrderWithBlockingOnes) {
  for (const char *options : {"", "stress,seed=1", "stress,seed=2"}) {
    EXPECT_EQ(race_between_streams(options, false, CU_STREAM_DEFAULT), "CUDA_ERROR_LAUNCH_FAILED");
    EmulatedDriver driver(options);
    driver.start();
    const CUfunction add = driver.function(kAdd);
    const CUstream stream = driver.stream(CU_STREAM_DEFAULT);
    const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(64));
    EXPECT_EQ(driver.launch(add, 1, 64, {a, 1}, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.launch(add, 1, 64, {a, 1}, nullptr), CUDA_SUCCESS);
    EXPECT_EQ(driver.launch(add, 1, 64, {a, 1}, stream), CUDA_SUCCESS);
    EXPECT_EQ(driver.get<std::uint32_t>(a, 1)[0], 3U);
    EXPECT_EQ(driver.next_report(), "");
  }
}

TEST(Order, MemoryOfAPoolIsForOthersBehindItsAllocation) {
  EmulatedDriver driver;
  driver.start();
  CUmemPoolProps properties{};
  properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.location = {CU_MEM_LOCATION_TYPE_DEVICE, 0};
  CUmemoryPool pool = nullptr;
  ASSERT_EQ(driver.cuMemPoolCreate(&pool, &properties), CUDA_SUCCESS);
  const CUstream first = driver.stream(), second = driver.stream();
  CUdeviceptr a = 0;
  EXPECT_EQ(driver.cuMemAllocFromPoolAsync(&a, 256, pool, first), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuMemsetD32Async(a, 0, 64, second), CUDA_SUCCESS);
  EXPECT_NE(driver.next_report().find("an allocation of 256 bytes"), std::string::npos);
  EXPECT_EQ(driver.cuCtxSynchronize(), CUDA_ERROR_LAUNCH_FAILED);
}

TEST(Order, EventsKeepTime) {
  EmulatedDriver driver;
  driver.start();
  const CUevent start = driver.event(), end = driver.event();
  float milliseconds = -1;
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuEventRecord(start, nullptr), CUDA_SUCCESS);
  const CUdeviceptr a = driver.put(std::vector<std::uint32_t>(1 << 20));
  EXPECT_EQ(driver.launch(driver.function(kAdd), 4096, 256, {a, 1}), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(end, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GT(milliseconds, 0);
  CUevent untimed = nullptr;
  EXPECT_EQ(driver.cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuEventDestroy(untimed), CUDA_SUCCESS);
  EXPECT_EQ(driver.cuEventRecord(untimed, nullptr), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(driver.cuEventCreate(&untimed, 64), CUDA_ERROR_INVALID_VALUE);
}

} // namespace
} // namespace weft::emulator
