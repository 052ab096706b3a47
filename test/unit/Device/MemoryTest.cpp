// Device memory: what is kept for later, what goes back, and what happens when there is no more.
#include "OnGpu.h"

namespace weft::device {
namespace {

TEST(Memory, FreedBlocksServeTheirSize) {
  on_gpu("", [] {
    std::byte *first = gpu().allocate(1000), *large = gpu().allocate(1 << 20);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first) % 256, 0U);
    EXPECT_EQ(gpu().memory().current, 1024U + (1U << 20));
    gpu().release(first);
    gpu().release(large);
    EXPECT_EQ(gpu().memory().current, 0U);
    EXPECT_EQ(gpu().memory().cached, 1024U + (1U << 20));
    EXPECT_EQ(gpu().allocate(1010), first);
    EXPECT_EQ(gpu().allocate((1 << 20) - 1000), large);
    EXPECT_NE(gpu().allocate(1010), first);
    EXPECT_NE(gpu().allocate(1), nullptr);
    gpu().release(nullptr);
  });
}

TEST(Memory, CachesAreGivenBackBeforeAnAllocationFails) {
  on_gpu("memory=64M", [] {
    std::vector<std::byte *> held;
    for (int i = 0; i < 60; ++i) held.push_back(gpu().allocate(1 << 20));
    for (std::byte *memory : held) gpu().release(memory);
    std::byte *most = gpu().allocate(60 << 20); // none of the freed ones would do
    const std::string words = said<OutOfMemory>([] { static_cast<void>(gpu().allocate(8 << 20)); });
    EXPECT_EQ(words.find("gpu:0 is out of memory: asked for 8388608 bytes"), 0U) << words;
    gpu().release(most);
    EXPECT_NE(gpu().allocate(8 << 20), nullptr); // and goes on
    EXPECT_EQ(said<OutOfMemory>([] {
                static_cast<void>(gpu().allocate(std::size_t{1} << 60));
              }).find("gpu:0 is out of memory"),
              0U);
  });
}

TEST(Memory, WithoutTheCacheBlocksEndWhereTheyAreSaidTo) {
  setenv("WEFT_GPU_CACHE", "off", 1);
  on_gpu("quiet", [] {
    std::byte *memory = gpu().allocate(100);
    std::vector<char> host(104);
    EXPECT_NE(
        said([&] { gpu().copy_out(host.data(), memory, 104); }).find("gpu:0: the copy of 104"),
        std::string::npos);
    gpu().release(memory);
    EXPECT_EQ(gpu().memory().cached, 0U);
  });
  unsetenv("WEFT_GPU_CACHE");
}

} // namespace
} // namespace weft::device
