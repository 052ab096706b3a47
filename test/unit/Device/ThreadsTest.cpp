// Several threads on one GPU: each has a stream, and work on the same memory is in order.
#include <thread>

#include "OnGpu.h"

namespace weft::device {
namespace {

void on_thread(const std::function<void()> &body) { std::thread(body).join(); }

TEST(Threads, UseMakesAnotherThreadsWorkVisible) {
  on_gpu("stress", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    std::byte *memory = put(gpu(), counting(64));
    for (int i = 0; i < 3; ++i) {
      add(gpu(), *program, memory, 1, 1, 64);
      on_thread([&] { add(gpu(), *program, memory, 10, 1, 64); });
    }
    EXPECT_EQ(get<int>(gpu(), memory, 64), counting(64, 33));
  });
}

TEST(Threads, MemoryIsReusedBehindAllThatReadIt) {
  on_gpu("stress", [] {
    for (int i = 0; i < 20; ++i) {
      std::byte *memory = put(gpu(), counting(64));
      std::byte *copy = nullptr;
      on_thread([&] {
        copy = gpu().allocate(256);
        gpu().copy(copy, memory, 256); // may be late
      });
      gpu().release(memory);
      std::byte *other = put(gpu(), counting(64, 1000));
      EXPECT_EQ(other, memory);
      EXPECT_EQ(get<int>(gpu(), copy, 64), counting(64));
      gpu().release(other);
      on_thread([&] { gpu().release(copy); });
    }
  });
}

TEST(Threads, ThatEndLeaveTheirStreamsToOthers) {
  on_gpu("", [] {
    std::byte *memory = nullptr;
    on_thread([&] {
      memory = put(gpu(), counting(64));
      gpu().release(memory);
    });
    on_thread([&] { EXPECT_EQ(gpu().allocate(256), memory); });
  });
}

TEST(Threads, AtOnce) {
  on_gpu("", [] {
    const std::shared_ptr<Program> program = gpu().load(kPtx, "step");
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 50; ++i) {
          std::byte *memory = put(gpu(), counting(64, t));
          add(gpu(), *program, memory, i, 1, 64);
          EXPECT_EQ(get<int>(gpu(), memory, 64), counting(64, t + i));
          gpu().release(memory);
        }
      });
    for (std::thread &thread : threads) thread.join();
    EXPECT_EQ(gpu().memory().current, 0U);
  });
}

} // namespace
} // namespace weft::device
