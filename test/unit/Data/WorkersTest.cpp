// Threads that make elements: side by side, in order, with their errors, and gone when they should.
#include <weft/data/dataset.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <weft/function.h>
#include <weft/ops.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <stdexcept>
#include <thread>

namespace weft::data {
namespace {

using Numbers = std::vector<std::int64_t>;

Numbers numbers(const BasicDataset<Tensor> &dataset) {
  Numbers all;
  for (const Tensor &x : dataset) all.push_back(x.item<std::int64_t>());
  return all;
}

TEST(Workers, CallTheFunctionSideBySide) {
  // Each call waits for another one: with one thread this would never end.
  auto together = std::make_shared<std::barrier<>>(2);
  const auto dataset = range(8).map(
      [together](const Tensor &x) {
        together->arrive_and_wait();
        return x;
      },
      {.workers = 2});
  EXPECT_EQ(numbers(dataset), (Numbers{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Workers, OfALaterStageNeverCallAFunctionTwiceAtATime) {
  auto inside = std::make_shared<std::atomic<int>>(0);
  const auto dataset = range(200)
                           .map([inside](const Tensor &x) {
                             EXPECT_EQ(inside->fetch_add(1), 0);
                             std::this_thread::yield();
                             inside->fetch_sub(1);
                             return x;
                           })
                           .map([](const Tensor &x) { return x; }, {.workers = 4});
  EXPECT_EQ(numbers(dataset).size(), 200u);
}

TEST(Workers, HandOutElementsBeforeTheErrorOfALaterOne) {
  for (const int workers : {0, 1, 4}) {
    const auto dataset = range(20).map(
        [](const Tensor &x) -> Tensor {
          if (x.item<int>() == 7) throw IOError("cats/7.png: the file is truncated");
          return x;
        },
        {.workers = workers});
    Numbers seen;
    try {
      for (const Tensor &x : dataset) seen.push_back(x.item<std::int64_t>());
      ADD_FAILURE() << "no error";
    } catch (const IOError &error) {
      EXPECT_EQ(error.message(), "map: element 7: cats/7.png: the file is truncated");
    }
    EXPECT_EQ(seen, (Numbers{0, 1, 2, 3, 4, 5, 6}));
  }
}

TEST(Workers, HandOnErrorsOfAnyType) {
  const auto dataset = range(3)
                           .filter([](const Tensor &x) -> bool {
                             if (x.item<int>() == 1) throw std::out_of_range("mine");
                             return true;
                           })
                           .prefetch(2);
  Numbers seen;
  EXPECT_THROW(for (const Tensor &x : dataset) seen.push_back(x.item<std::int64_t>()),
               std::out_of_range);
  EXPECT_EQ(seen, Numbers{0});
}

TEST(Workers, EndWhenALoopIsLeft) {
  auto running = std::make_shared<std::atomic<int>>(0);
  for (int i = 0; i < 20; ++i) {
    const auto dataset = range(1000)
                             .map(
                                 [running](const Tensor &x) {
                                   ++*running;
                                   std::this_thread::sleep_for(std::chrono::microseconds(200));
                                   --*running;
                                   return x;
                                 },
                                 {.workers = 3})
                             .batch(2)
                             .prefetch(4);
    for (const Tensor &x : dataset) {
      static_cast<void>(x);
      if (i % 2 == 0) break;
      if (x[0].item<std::int64_t>() > 20) break;
    }
    EXPECT_EQ(*running, 0);
  }
}

TEST(Workers, PrefetchRunsAhead) {
  auto mapped = std::make_shared<std::atomic<int>>(0);
  const auto dataset = range(10)
                           .map([mapped](const Tensor &x) {
                             ++*mapped;
                             return x;
                           })
                           .prefetch(3);
  auto it = dataset.begin();
  // One is handed out and three wait; the thread does not go further.
  for (int i = 0; i < 1000 && *mapped < 4; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(*mapped, 4);
  EXPECT_EQ((*it).item<int>(), 0);
}

TEST(Workers, CallTracedFunctions) {
  const auto f = function([](const Tensor &x) { return x * x + 1; });
  EXPECT_EQ(numbers(range(5).map(f, {.workers = 2})), (Numbers{1, 2, 5, 10, 17}));
}

TEST(Workers, SeveralLoopsAtATime) {
  const auto dataset = range(300)
                           .shuffle({.seed = 1})
                           .map([](const Tensor &x) { return x + 1; }, {.workers = 2})
                           .cache();
  std::vector<Numbers> seen(4);
  std::vector<std::thread> threads;
  for (Numbers &mine : seen) threads.emplace_back([&] { mine = numbers(dataset); });
  for (std::thread &thread : threads) thread.join();
  for (const Numbers &mine : seen) EXPECT_EQ(mine, seen[0]);
  EXPECT_EQ(seen[0].size(), 300u);
}

TEST(Workers, AChildOfAForkSaysThatTheyAreGone) {
  const auto dataset = range(100).prefetch(2);
  auto it = dataset.begin();
  ++it;
  const pid_t child = fork();
  if (child == 0) {
    int status = 1;
    try {
      for (int i = 0; i < 10; ++i) ++it;
    } catch (const StateError &) {
      it = {}; // does not wait for threads that are not there
      status = numbers(dataset).size() == 100 ? 0 : 2;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  EXPECT_EQ(WEXITSTATUS(status), 0);
  ++it;
  EXPECT_EQ((*it).item<int>(), 2);
}

} // namespace
} // namespace weft::data
