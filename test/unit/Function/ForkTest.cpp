// Children of a process whose other threads work: eager ops, variables, loops on all threads and
// compiled functions go on in them.
#include "../Testing.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>
#include <weft/weft.h>

namespace weft {
namespace {

/// Whether a child that runs `work` ends well within a time in which it could do it a thousand
/// times.
bool works_in_a_child(const std::function<bool()> &work) {
  const pid_t child = fork();
  if (child == 0) {
    try {
      _exit(work() ? 0 : 1);
    } catch (const std::exception &error) {
      std::fprintf(stderr, "%s\n", error.what());
      _exit(2);
    }
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  int status = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(child, SIGKILL);
      waitpid(child, &status, 0);
      return false;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return status == 0;
}

TEST(Fork, ChildrenOfABusyProcessWork) {
  const Variable read(ones({100}), "read"), shared(zeros({4}), "shared"), own(zeros({4}), "own");
  auto scaled = function([&](const Tensor &x) { return sum(x * read) + 1; }, {.name = "scaled"});
  auto step = function([&](const Tensor &x) { own.assign_add(x); }, {.name = "step"});
  const Tensor x = full({100}, 2), large = ones({1 << 20}), four = ones({4});
  const auto compiled = [&] { return scaled(x).item<float>() == 201; };
  ASSERT_TRUE(compiled());
  step(four);
  ASSERT_EQ(sum(large).item<float>(), 1 << 20);

  std::atomic<bool> done = false;
  std::vector<std::thread> threads;
  const std::vector<std::function<void()>> busy = {
      [&] { static_cast<void>(compiled()); },
      [&] { // blocks of all sizes, which come and go through the common store
        std::vector<Tensor> kept;
        for (int i = 1; i < 40; ++i) kept.push_back(zeros({i * 100}) + 1);
      },
      [&] { shared.assign(shared.value() + 1); },
  };
  for (const auto &work : busy)
    threads.emplace_back([&] {
      while (!done) work();
    });
  const auto works = [&] {
    std::vector<Tensor> kept;
    for (int i = 1; i < 40; ++i) kept.push_back(zeros({i * 100}) + 1);
    shared.assign(ones({4}));
    step(four);
    return compiled() && sum(large + large).item<float>() == 2 << 20 &&
           sum(shared.value()).item<float>() == 4 && sum(own.value()).item<float>() == 8;
  };
  int failed = 0;
  for (int i = 0; i < 200 && failed == 0; ++i) failed += !works_in_a_child(works);
  done = true;
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(failed, 0);
}

// A compiled call of another thread was in the middle of an update: there is no value to read.
TEST(Fork, AVariableThatWasBeingUpdated) {
  const Variable v(zeros({2}), "v");
  std::atomic<bool> inside = false, done = false;
  auto f = function([&](const Tensor &x) {
    v.assign_add(x);
    host_call(
        [&](const Tensor &) {
          inside = true;
          while (!done) std::this_thread::yield();
        },
        {}, x);
    v.assign_add(x);
  });
  std::thread updating([&] { f(ones({2})); });
  while (!inside) std::this_thread::yield();
  EXPECT_TRUE(works_in_a_child([&] {
    try {
      static_cast<void>(v.value());
      return false;
    } catch (const StateError &error) {
      if (error.message().find("was being updated by another thread") == std::string_view::npos)
        return false;
    }
    v.assign(ones({2}));
    return sum(v.value()).item<float>() == 2;
  }));
  done = true;
  updating.join();
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{2, 2}));
}

// The compiler's lock stayed closed, and what it guards half written.
TEST(Fork, ChildrenTraceWhileTheParentCompiles) {
  std::atomic<bool> done = false;
  std::atomic<int> compiled = 0;
  std::thread compiling([&] {
    for (int i = 0; !done; ++i, ++compiled)
      function([=](const Tensor &x) { return x * float(i); })(ones({3}));
  });
  while (compiled == 0) std::this_thread::yield();
  int failed = 0;
  for (int i = 0; i < 20 && failed == 0; ++i)
    failed += !works_in_a_child([&] {
      return sum(function([=](const Tensor &x) { return x - float(i); })(ones({4})))
                 .item<float>() == static_cast<float>(4 - 4 * i);
    });
  done = true;
  compiling.join();
  EXPECT_EQ(failed, 0);
}

// Nobody else traces in the child, whichever thread forked.
TEST(Fork, ChildrenTraceWhileTheParentTraces) {
  const auto works = [](float by) {
    return works_in_a_child([=] {
      return sum(function([=](const Tensor &x) { return x * by; })(ones({4}))).item<float>() ==
             4 * by;
    });
  };
  std::atomic<bool> inside = false, done = false;
  std::thread tracing([&] {
    function([&](const Tensor &x) {
      inside = true;
      while (!done) std::this_thread::yield();
      return x + 11;
    })(ones({4}));
  });
  while (!inside) std::this_thread::yield();
  EXPECT_TRUE(works(12));
  done = true;
  tracing.join();

  bool within = false;
  function([&](const Tensor &x) {
    within = works_in_a_child([&] {
      std::thread([] { function([](const Tensor &y) { return y * 13; })(ones({4})); }).join();
      return true;
    });
    return x + 13;
  })(ones({4}));
  EXPECT_TRUE(within);
}

} // namespace
} // namespace weft
