// Loading and unloading of object code.

#include "Compile.h"

#include <fstream>
#include <thread>

#include <unistd.h>

#if __has_feature(address_sanitizer)
#include <sanitizer/allocator_interface.h>
#endif

namespace weft::jit {
namespace {

constexpr const char *kDouble = R"(
  func.func @f(%x: memref<4xf32>, %y: memref<4xf32>) {
    linalg.add ins(%x, %x : memref<4xf32>, memref<4xf32>) outs(%y : memref<4xf32>)
    return
  })";

/// Memory of this process that is in use, in bytes. AddressSanitizer keeps freed memory back for a
/// while, so there it is what the program has allocated and not freed.
std::int64_t bytesInUse() {
#if __has_feature(address_sanitizer)
  return static_cast<std::int64_t>(__sanitizer_get_current_allocated_bytes());
#else
  std::ifstream file("/proc/self/statm");
  std::int64_t total = 0, resident = 0;
  file >> total >> resident;
  return resident * sysconf(_SC_PAGESIZE);
#endif
}

TEST(Loader, runsWhatItLoaded) {
  Compiled twice(kDouble);
  const float x[] = {1, 2, 3, 4};
  float y[4] = {};
  twice({}, x, y);
  EXPECT_EQ(y[3], 8);
}

TEST(Loader, namesWhatIsMissing) {
  auto object = loadObject(std::move(objectOf(kDouble, TargetOptions::host())).value());
  auto missing = (*object)->lookup("g_weft_entry");
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.fault().message.find("g_weft_entry"), std::string::npos);
}

// The same object, loaded and unloaded thousands of times, leaves nothing behind.
TEST(Loader, unloadsWithoutALeak) {
  auto object = std::move(objectOf(kDouble, TargetOptions::host())).value();
  auto cycle = [&] {
    auto copy = llvm::MemoryBuffer::getMemBufferCopy(object->getBuffer());
    auto loaded = loadObject(std::move(copy)).value();
    ASSERT_TRUE(loaded->lookup("f_weft_entry").ok());
  };
  for (int i = 0; i < 500; ++i) cycle();
  const std::int64_t before = bytesInUse();
  for (int i = 0; i < 3000; ++i) cycle();
  EXPECT_LT((bytesInUse() - before) / 3000, 800);
}

// Many compilations, each with its own context, at once.
TEST(Loader, compilesOnManyThreads) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([] {
      for (int i = 0; i < 5; ++i) {
        Compiled twice(kDouble);
        const float x[] = {1, 2, 3, 4};
        float y[4] = {};
        twice({}, x, y);
        EXPECT_EQ(y[0], 2);
      }
    });
  for (std::thread &thread : threads) thread.join();
}

TEST(Loader, countsTheTimeOfEachPhase) {
  PhaseTimes times;
  auto loaded =
      loadObject(std::move(objectOf(kDouble, TargetOptions::host())).value(), &times).value();
  EXPECT_GT(times.link, 0);
}

} // namespace
} // namespace weft::jit
