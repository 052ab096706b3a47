// Copies to, from, on and between GPUs, and what is known of them.
#include "OnGpu.h"

namespace weft::device {
namespace {

TEST(Copies, ThereAndBack) {
  on_gpu("stress", [] {
    for (const std::size_t count : {std::size_t{1}, std::size_t{1000}, std::size_t{3} << 20}) {
      std::vector<int> values = counting(count);
      const std::vector<int> expected = values;
      std::byte *memory = put(gpu(), values);
      std::ranges::fill(values, -1); // it may be reused at once
      std::byte *other = gpu().allocate(count * sizeof(int));
      gpu().copy(other, memory, count * sizeof(int));
      EXPECT_EQ(get<int>(gpu(), other, count), expected);
      gpu().clear(other, count * sizeof(int));
      EXPECT_EQ(get<int>(gpu(), other, count), std::vector<int>(count));
      gpu().release(memory);
      gpu().release(other);
    }
  });
}

TEST(Copies, ManySmallOnesGoThroughAllOfTheStagingMemory) {
  on_gpu("stress", [] {
    std::vector<std::byte *> blocks;
    for (int i = 0; i < 100; ++i) blocks.push_back(put(gpu(), counting(20000, i)));
    for (int i = 0; i < 100; ++i) EXPECT_EQ(get<int>(gpu(), blocks[i], 20000), counting(20000, i));
  });
}

TEST(Copies, BetweenDevices) {
  on_gpu("devices=2", [] {
    ASSERT_EQ(gpus().size(), 2U);
    EXPECT_EQ(gpus()[1]->device(), (Device{DeviceKind::gpu, 1}));
    std::byte *first = put(gpu(0), counting(5000));
    std::byte *second = gpu(1).allocate(5000 * sizeof(int));
    gpu(1).copy_from(second, gpu(0), first, 5000 * sizeof(int));
    EXPECT_EQ(get<int>(gpu(1), second, 5000), counting(5000));
    EXPECT_EQ(devices(), (std::vector<Device>{"cpu", "gpu:0", "gpu:1"}));
  });
}

TEST(Copies, Facts) {
  on_gpu("chip=sm_80,memory=1G,driver=12020", [] {
    const Facts &facts = gpu().facts();
    EXPECT_EQ(facts.name, "Weft GPU emulator (sm_80)");
    EXPECT_EQ(facts.major, 8);
    EXPECT_EQ(facts.minor, 0);
    EXPECT_EQ(facts.memory_bytes, 1U << 30);
    EXPECT_EQ(facts.multiprocessors, 108);
    EXPECT_EQ(facts.driver_version, 12020);
    EXPECT_TRUE(facts.graphs);
    EXPECT_FALSE(facts.conditional_nodes); // since 12.3
    EXPECT_EQ(why_none(), "");
  });
}

TEST(Copies, ScopesNest) {
  on_gpu("devices=2", [] {
    EXPECT_EQ(default_device(), "cpu:0");
    {
      const DeviceScope outer("gpu:1");
      EXPECT_EQ(default_device(), "gpu:1");
      {
        const DeviceScope inner("cpu");
        EXPECT_EQ(default_device(), "cpu:0");
      }
      EXPECT_EQ(said([] { const DeviceScope none("gpu:2"); }),
                "cannot use gpu:2: the CUDA driver knows 2 GPUs, the last of which is gpu:1");
      EXPECT_EQ(default_device(), "gpu:1");
    }
    EXPECT_EQ(default_device(), "cpu:0");
  });
}

} // namespace
} // namespace weft::device
