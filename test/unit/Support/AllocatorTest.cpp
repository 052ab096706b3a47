// The caching allocator: size classes, reuse, blocks freed on other threads, counters, limits.
#include "Support/Allocator.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <unistd.h>

#include <weft/error.h>
#include <weft/memory.h>
#include <weft/tensor.h>

namespace weft {
namespace {

using allocator::Block;

constexpr std::size_t kLarge = std::size_t{1} << 20;

TEST(Allocator, ClassesHoldWhatTheyAreAskedFor) {
  std::size_t last = 0;
  for (unsigned i = 0; i < allocator::kSmallClasses; ++i) {
    const std::size_t bytes = allocator::small_class_bytes(i);
    EXPECT_GT(bytes, last);
    EXPECT_EQ(bytes % allocator::kAlignment, 0u);
    EXPECT_EQ(allocator::small_class(bytes), i);
    EXPECT_EQ(allocator::small_class(last + 1), i);
    last = bytes;
  }
  EXPECT_EQ(last, allocator::kSmallLimit);
}

TEST(Allocator, BlocksAreAlignedAndDisjoint) {
  std::vector<std::pair<Block, std::size_t>> blocks;
  for (std::size_t bytes = 1; bytes < 4 * kLarge; bytes = bytes * 5 / 4 + 1) {
    const Block block = allocator::allocate(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.memory) % allocator::kAlignment, 0u);
    std::memset(block.memory, static_cast<int>(blocks.size() & 0xff), bytes);
    blocks.emplace_back(block, bytes);
  }
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto *bytes = static_cast<const unsigned char *>(blocks[i].first.memory);
    for (std::size_t j = 0; j < blocks[i].second; ++j) ASSERT_EQ(bytes[j], i & 0xff);
    allocator::deallocate(blocks[i].first.memory, blocks[i].first.size_class);
  }
}

TEST(Allocator, ReusesSmallBlocks) {
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  GTEST_SKIP() << "small blocks come from malloc under AddressSanitizer";
#endif
  const Block first = allocator::allocate(100);
  allocator::deallocate(first.memory, first.size_class);
  const Block second = allocator::allocate(128);
  EXPECT_EQ(first.memory, second.memory);
  allocator::deallocate(second.memory, second.size_class);
}

TEST(Allocator, ReusesLargeBlocksThatAreNotMuchTooLarge) {
  release_cached_memory();
  const Block first = allocator::allocate(kLarge);
  EXPECT_EQ(first.size_class, allocator::kLargeClass);
  allocator::deallocate(first.memory, first.size_class);
  const Block second = allocator::allocate(kLarge - kLarge / 10);
  EXPECT_EQ(first.memory, second.memory);
  allocator::deallocate(second.memory, second.size_class);
  const Block third = allocator::allocate(kLarge / 2);
  EXPECT_NE(first.memory, third.memory);
  allocator::deallocate(third.memory, third.size_class);
}

TEST(Allocator, ReusesTheLargeBlockThatWasFreedLast) {
  release_cached_memory();
  constexpr std::size_t bytes = std::size_t{4} << 20;
  Block blocks[3];
  for (Block &block : blocks) block = allocator::allocate(bytes);
  for (const int i : {1, 0, 2}) allocator::deallocate(blocks[i].memory, blocks[i].size_class);
  // Its elements are in the processor's caches, unless they were too many.
  for (const int i : {2, 0, 1}) EXPECT_EQ(allocator::allocate(bytes).memory, blocks[i].memory);
  for (const Block &block : blocks) allocator::deallocate(block.memory, block.size_class);
}

TEST(Allocator, CountsExactly) {
  const std::size_t before = memory_stats().current;
  reset_peak();
  {
    const Tensor small = zeros({8}), large = zeros({1 << 20});
    const std::size_t now = memory_stats().current - before;
    EXPECT_GE(now, (std::size_t{1} << 22) + 96);
    EXPECT_LE(now, (std::size_t{1} << 22) + 96 + 8192);
  }
  const MemoryStats after = memory_stats();
  EXPECT_EQ(after.current, before);
  EXPECT_GE(after.peak, before + (std::size_t{1} << 22));
  reset_peak();
  EXPECT_EQ(memory_stats().peak, before);
}

TEST(Allocator, PeakSeesLargeBlocksThatCameAndWent) {
  reset_peak();
  const std::size_t before = memory_stats().current;
  for (int i = 0; i < 3; ++i) zeros({1 << 20});
  const std::size_t peak = memory_stats().peak;
  EXPECT_GE(peak, before + (std::size_t{1} << 22));
  EXPECT_LT(peak, before + (std::size_t{2} << 22));
}

TEST(Allocator, CacheLimit) {
  release_cached_memory();
  const std::size_t before = memory_stats().cached;
  {
    const Tensor a = zeros({1 << 20}), b = zeros({1 << 20});
  }
  EXPECT_GE(memory_stats().cached, before + (std::size_t{2} << 22));
  set_memory_cache_limit(std::size_t{6} << 20);
  EXPECT_LT(memory_stats().cached, before + (std::size_t{2} << 22));
  EXPECT_GE(memory_stats().cached, before + (std::size_t{1} << 22));
  set_memory_cache_limit(0);
  EXPECT_LE(memory_stats().cached, before);
  {
    const Tensor a = zeros({1 << 20});
  }
  EXPECT_LE(memory_stats().cached, before);
  set_memory_cache_limit(std::size_t{1} << 30);
}

TEST(Allocator, BlocksMayDieOnOtherThreads) {
  const std::size_t before = memory_stats().current;
  for (int round = 0; round < 20; ++round) {
    std::vector<Tensor> tensors;
    for (int i = 0; i < 1000; ++i) tensors.push_back(full({i % 50}, i));
    std::thread([moved = std::move(tensors)]() mutable {
      for (int i = 0; i < 1000; ++i) {
        const auto values = moved[static_cast<std::size_t>(i)].span<float>();
        if (!values.empty()) ASSERT_EQ(values.back(), static_cast<float>(i));
      }
      moved.clear();
    }).join();
  }
  EXPECT_EQ(memory_stats().current, before);
}

TEST(Allocator, ManyThreadsAtOnce) {
  const std::size_t before = memory_stats().current;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([t] {
      std::vector<Tensor> kept(64);
      for (int i = 0; i < 5000; ++i) {
        const std::size_t index = static_cast<std::size_t>(i * 7 + t) % kept.size();
        if (kept[index].defined())
          ASSERT_EQ(kept[index].span<std::int32_t>()[0], static_cast<std::int32_t>(index));
        const std::int64_t size = i % 100 == 0 ? 30000 : i % 300 + 1;
        kept[index] = full({size}, static_cast<double>(index), i32);
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(memory_stats().current, before);
}

TEST(Allocator, RefusesWhatTheMachineDoesNotHave) {
  try {
    zeros({std::int64_t{1} << 50});
    FAIL() << "4 PiB were given";
  } catch (const OutOfMemory &error) {
    const std::string text(error.message());
    EXPECT_EQ(text.find("zeros: out of memory: asked for 45035996273"), 0u) << text;
    EXPECT_NE(text.find(" bytes (4.0 PiB), in use "), std::string::npos) << text;
    EXPECT_NE(text.find(" bytes, cached "), std::string::npos) << text;
    EXPECT_NE(text.find(" bytes; the machine has "), std::string::npos) << text;
  }
  EXPECT_EQ(ones({3}).size(), 3); // and goes on
}

// Free blocks serve their own size only: all memory could be free, and none to be had.
TEST(Allocator, GivesBackPagesWhoseSmallBlocksAreAllFree) {
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  GTEST_SKIP() << "small blocks come from malloc under AddressSanitizer";
#endif
  release_cached_memory();
  const MemoryStats before = memory_stats();
  const Tensor kept = full({10}, 7);
  {
    std::vector<Tensor> small;
    for (int i = 0; i < 20000; ++i) small.push_back(zeros({i % 1000 + 1}));
  }
  EXPECT_GE(memory_stats().cached, before.cached + (std::size_t{30} << 20));
  release_cached_memory();
  const MemoryStats after = memory_stats();
  EXPECT_LE(after.cached, before.cached + (std::size_t{3} << 20));
  EXPECT_EQ(kept.to_vector<float>(), std::vector<float>(10, 7));
  std::vector<Tensor> again;
  for (int i = 0; i < 2000; ++i) again.push_back(full({i % 1000 + 1}, i));
  for (std::size_t i = 0; i < 2000; ++i)
    ASSERT_EQ(again[i].span<float>().back(), static_cast<float>(i));
}

TEST(Allocator, SmallBlocksThatAreFreeDoNotKeepOthersFromTheirMemory) {
#ifdef WEFT_UNCACHED_SMALL_BLOCKS
  GTEST_SKIP() << "small blocks come from malloc under AddressSanitizer";
#endif
  const auto limited = [](const Shape &then) {
    std::size_t pages = 0;
    std::ifstream("/proc/self/statm") >> pages;
    const rlim_t most = pages * 4096 + (std::size_t{64} << 20);
    const rlimit limit{most, most};
    setrlimit(RLIMIT_AS, &limit);
    try {
      std::vector<Tensor> all;
      while (true) all.push_back(ones({1000}));
      // NOLINTNEXTLINE(bugprone-empty-catch): OutOfMemory, or the vector's
    } catch (const std::exception &) {
    }
    std::vector<Tensor> kept;
    for (int i = 0; i < 40'000'000 / 4 / then[0]; ++i) kept.push_back(ones(then));
    _exit(0);
  };
  EXPECT_EXIT(limited({1'000'000}), testing::ExitedWithCode(0), "");
  EXPECT_EXIT(limited({100}), testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace weft
