// Interrupts of compiled loops and of the compiler: who is called, what variables hold then, and
// that calls go on.
#include "../Testing.h"

#include <atomic>
#include <chrono>
#include <thread>

#include <weft/detail/interrupts.h>
#include <weft/weft.h>

namespace weft {
namespace {

struct Interrupted {};

std::atomic<int> asked = 0;
std::atomic<bool> throws = true;

void handle() {
  ++asked;
  if (throws) throw Interrupted();
}

class Interrupts : public ::testing::Test {
protected:
  void SetUp() override {
    asked = 0;
    throws = true;
    detail::set_interrupt_handler(handle);
  }
  void TearDown() override { detail::set_interrupt_handler(nullptr); }
};

/// Requests an interrupt a little later.
std::jthread soon() {
  return std::jthread([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    detail::request_interrupt();
  });
}

TEST_F(Interrupts, EndALoopWithoutEnd) {
  auto f = function([](const Tensor &x) {
    return while_loop([](const Tensor &y) { return y > -1; }, [](const Tensor &y) { return y * 1; },
                      x);
  });
  const std::jthread later = soon();
  EXPECT_THROW(f(tensor(2.0f)), Interrupted);
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(f(tensor(-2.0f)).item<float>(), -2);
}

TEST_F(Interrupts, LeaveVariablesAsTheIterationFoundThem) {
  // In f64: more iterations than f32 can count are soon done.
  const Variable w(zeros({300}, DType::f64)), n(tensor(std::int64_t{0}));
  auto f = function([&](const Tensor &limit) {
    for_loop(limit, [&](const Tensor &) {
      w.assign(w + 1);
      n.assign(n + 1);
    });
  });
  f(tensor(std::int64_t{0})); // compiled before the interrupt comes
  const std::jthread later = soon();
  EXPECT_THROW(f(tensor(std::int64_t{1} << 60)), Interrupted);
  const auto iterations = n.value().item<std::int64_t>();
  EXPECT_GT(iterations, 0);
  const std::vector<double> values = w.value().to_vector<double>();
  for (const double value : values)
    EXPECT_EQ(value, static_cast<double>(iterations)) << "in the middle of an iteration";
  f(tensor(std::int64_t{5}));
  EXPECT_EQ(n.value().item<std::int64_t>(), iterations + 5);
}

TEST_F(Interrupts, GoOnWhereTheHandlerReturns) {
  throws = false;
  auto f = function([](const Tensor &limit) {
    return for_loop(
        limit, [](const Tensor &, const Tensor &s) { return s + 1; }, tensor(std::int64_t{0}));
  });
  f(tensor(std::int64_t{1}));
  detail::request_interrupt();
  EXPECT_EQ(f(tensor(std::int64_t{1000})).item<std::int64_t>(), 1000);
  EXPECT_EQ(asked, 1);
}

TEST_F(Interrupts, EndTheCompiler) {
  auto f = function([](const Tensor &x) { return x * 3 + 1; });
  detail::request_interrupt();
  EXPECT_THROW(f(tensor(2.0f)), Interrupted);
  EXPECT_EQ(asked, 1);
  detail::request_interrupt();
  EXPECT_THROW(f.ir(tensor(2.0f), Phase::bufferize), Interrupted);
  EXPECT_EQ(f(tensor(2.0f)).item<float>(), 7);
  // A handler that returns leaves it alone.
  throws = false;
  detail::request_interrupt();
  auto g = function([](const Tensor &x) { return x * 5 + 1; });
  EXPECT_EQ(g(tensor(2.0f)).item<float>(), 11);
  EXPECT_EQ(asked, 3);
}

TEST(NoInterrupts, AreLookedForWithoutHandler) {
  auto f = function([](const Tensor &limit) {
    return for_loop(
        limit, [](const Tensor &, const Tensor &s) { return s + 1; }, tensor(std::int64_t{0}));
  });
  EXPECT_EQ(f.ir(tensor(std::int64_t{7}), Phase::bufferize).find("interrupt"), std::string::npos);
}

} // namespace
} // namespace weft
