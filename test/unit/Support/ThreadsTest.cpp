// Tests of the thread pool: ranges cover the loop once, faults reach the caller, nesting is serial.

#include "Support/Threads.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft::threads {
namespace {

class ThreadsTest : public ::testing::Test {
protected:
  ThreadsTest() : before_(max_threads()) {}
  ~ThreadsTest() override { set_num_threads(before_); }

private:
  int before_;
};

TEST_F(ThreadsTest, EveryIterationRunsOnce) {
  for (const int count : {1, 2, 3, 8}) {
    set_num_threads(count);
    for (const int64_t length : {0, 1, 2, 3, 7, 100, 1001})
      for (const int64_t grain : {-1, 0, 1, 2, 10, 5000}) {
        std::vector<std::atomic<int>> runs(static_cast<size_t>(length));
        parallel_for(-5, length - 5, grain, [&](int64_t begin, int64_t end) {
          EXPECT_LT(begin, end);
          for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i + 5)];
        });
        for (const auto &run : runs) ASSERT_EQ(run, 1) << length << " by " << grain;
      }
  }
}

TEST_F(ThreadsTest, RangesAreFewAndNotShorterThanTheGrain) {
  set_num_threads(4);
  std::mutex mutex;
  std::vector<int64_t> lengths;
  parallel_for(0, 35, 10, [&](int64_t begin, int64_t end) {
    const std::lock_guard lock(mutex);
    lengths.push_back(end - begin);
  });
  EXPECT_EQ(lengths.size(), 3u);
  for (const int64_t length : lengths) EXPECT_GE(length, 10);
}

TEST_F(ThreadsTest, UsesSeveralThreads) {
  set_num_threads(3);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  const auto count = [&] {
    const std::lock_guard lock(mutex);
    return ids.size();
  };
  // Who has a range waits for the others, or it could be through with theirs before they come.
  parallel_for(0, 3, 1, [&](int64_t, int64_t) {
    {
      const std::lock_guard lock(mutex);
      ids.insert(std::this_thread::get_id());
    }
    EXPECT_TRUE(in_parallel_region());
    const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (count() < 3 && std::chrono::steady_clock::now() < late) std::this_thread::yield();
  });
  EXPECT_EQ(ids.size(), 3u);
  EXPECT_FALSE(in_parallel_region());
}

TEST_F(ThreadsTest, SerialLoopsStayOnTheirThread) {
  set_num_threads(3);
  int calls = 0;
  {
    const SerialLoops outer;
    {
      const SerialLoops inner;
    }
    parallel_for(0, 3, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(end - begin, 3);
      ++calls;
    });
  }
  EXPECT_EQ(calls, 1);
  std::atomic<int> ranges{0};
  parallel_for(0, 3, 1, [&](int64_t, int64_t) { ++ranges; });
  EXPECT_EQ(ranges, 3);
}

TEST_F(ThreadsTest, SmallAndNestedLoopsStayOnTheirThread) {
  set_num_threads(4);
  const auto caller = std::this_thread::get_id();
  int calls = 0;
  parallel_for(0, 100, 100, [&](int64_t begin, int64_t end) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_EQ(end - begin, 100);
    ++calls;
  });
  EXPECT_EQ(calls, 1);
  parallel_for(0, 4, 1, [](int64_t, int64_t) {
    const auto outer = std::this_thread::get_id();
    int inner = 0;
    parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) {
      EXPECT_EQ(std::this_thread::get_id(), outer);
      EXPECT_EQ(end - begin, 1000);
      ++inner;
    });
    EXPECT_EQ(inner, 1);
  });
}

TEST_F(ThreadsTest, AnExceptionReachesTheCallerAndTheOthersEnd) {
  set_num_threads(4);
  for (int repeat = 0; repeat < 100; ++repeat) {
    std::atomic<int> ended{0};
    try {
      parallel_for(0, 4, 1, [&](int64_t begin, int64_t end) {
        for (; begin < end; ++begin) {
          if (begin >= 2) throw std::runtime_error("range " + std::to_string(begin));
          ++ended;
        }
      });
      FAIL() << "no exception";
    } catch (const std::runtime_error &error) {
      EXPECT_TRUE(std::string(error.what()) == "range 2" || std::string(error.what()) == "range 3");
    }
    EXPECT_EQ(ended, 2);
  }
}

TEST_F(ThreadsTest, CompiledCodesLoopCoversTheRange) {
  set_num_threads(2);
  std::atomic<int64_t> sum{0};
  weft_rt_parallel_for(
      0, 1000, 1,
      [](void *closure, int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) *static_cast<std::atomic<int64_t> *>(closure) += i;
      },
      &sum);
  EXPECT_EQ(sum, 499500);
}

// A thread that the system does not run, or that is at something else, is waited for only where it
// is in the middle of a chunk.
TEST_F(ThreadsTest, WhatNobodyHasBegunIsTheCallers) {
  set_num_threads(2);
  const auto caller = std::this_thread::get_id();
  std::atomic<bool> stuck = false, over = false;
  std::atomic<int> by_caller = 0, ranges = 0;
  parallel_for(0, 8, 1, [&](int64_t begin, int64_t end) {
    ASSERT_EQ(end, begin + 1);
    if (std::this_thread::get_id() != caller) {
      stuck = true;
      while (!over) std::this_thread::yield();
    } else {
      const auto late = std::chrono::steady_clock::now() + std::chrono::seconds(30);
      while (!stuck && std::chrono::steady_clock::now() < late) std::this_thread::yield();
      ++by_caller;
    }
    // All but the one that the other is stuck in.
    if (++ranges == 7) over = true;
  });
  EXPECT_TRUE(stuck);
  EXPECT_EQ(by_caller, 7);
}

TEST_F(ThreadsTest, WorkersHaveNumbers) {
  set_num_threads(3);
  EXPECT_EQ(worker_number(), 0);
  std::atomic<bool> good = true;
  for (int repeat = 0; repeat < 100; ++repeat)
    parallel_for(0, 12, 1, [&](int64_t, int64_t) {
      if (worker_number() < 0 || worker_number() > 2) good = false;
    });
  EXPECT_TRUE(good);
}

TEST_F(ThreadsTest, ThreadsComeAndGoWithTheirCount) {
  std::atomic<int64_t> sum{0};
  for (int repeat = 0; repeat < 200; ++repeat) {
    set_num_threads(1 + repeat % 7);
    parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
  }
  EXPECT_EQ(sum, 200 * 100);
}

TEST_F(ThreadsTest, ManyCallersAtOnce) {
  set_num_threads(2);
  std::atomic<int64_t> sum{0};
  std::vector<std::thread> callers;
  for (int i = 0; i < 4; ++i)
    callers.emplace_back([&] {
      for (int repeat = 0; repeat < 50; ++repeat)
        parallel_for(0, 100, 1, [&](int64_t begin, int64_t end) { sum += end - begin; });
    });
  for (auto &caller : callers) caller.join();
  EXPECT_EQ(sum, 4 * 50 * 100);
}

TEST_F(ThreadsTest, CountsOutOfRangeAreRefused) {
  for (const int count : {0, -1, 1025}) EXPECT_THROW(weft::set_num_threads(count), ValueError);
  weft::set_num_threads(5);
  EXPECT_EQ(weft::num_threads(), 5);
  EXPECT_EQ(max_threads(), 5);
  set_num_threads(7);
  EXPECT_EQ(max_threads(), 7);
}

TEST_F(ThreadsTest, TheEnvironmentsCountIsChecked) {
  EXPECT_EQ(parse_num_threads("1"), 1);
  EXPECT_EQ(parse_num_threads("1024"), 1024);
  for (const char *text : {"", "0", "-4", "two", "2x", " 2", "1025", "99999999999999999999"}) try {
      parse_num_threads(text);
      FAIL() << text;
    } catch (const ValueError &error) {
      EXPECT_EQ(std::string(error.what()), "WEFT_NUM_THREADS is '" + std::string(text) +
                                               "' but must be a whole number from 1 to 1024");
    }
}

/// Whether a loop on four threads runs every iteration once.
bool loop_works() {
  set_num_threads(4);
  std::vector<int> runs(1000);
  parallel_for(0, 1000, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) ++runs[static_cast<size_t>(i)];
  });
  return runs == std::vector<int>(1000, 1);
}

TEST_F(ThreadsTest, RunsInAChildOfFork) {
  ASSERT_TRUE(loop_works());
  const pid_t child = fork();
  if (child == 0) _exit(loop_works() && loop_works() ? 0 : 1);
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

// As under a container's limit on pids.
TEST_F(ThreadsTest, RunsWhereNoThreadCanBeStarted) {
  GTEST_FLAG_SET(death_test_style, "threadsafe"); // a process of its own, without a team so far
  const auto limited = [] {
    const rlimit one{1, 1};
    setrlimit(RLIMIT_NPROC, &one);
    if (getuid() == 0 && setuid(65534) != 0) _exit(2); // the superuser has no such limit
    _exit(loop_works() && loop_works() ? 0 : 1);
  };
  EXPECT_EXIT(limited(), ::testing::ExitedWithCode(0), "");
}

} // namespace
} // namespace weft::threads
