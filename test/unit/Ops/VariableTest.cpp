// Variables: reads, updates, errors, threads, updates in place.
#include "Runtime/Variable.h"
#include "../Testing.h"

#include <thread>

#include <weft/composites.h>
#include <weft/print.h>
#include <weft/random.h>
#include <weft/variable.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

TEST(Variable, ReadsAndUpdates) {
  const Variable w(tensor({1.f, 2.f}), "w");
  EXPECT_EQ(w.name(), "w");
  EXPECT_TRUE(w.trainable());
  EXPECT_EQ(w.dtype(), f32);
  EXPECT_EQ(w.shape(), Shape{2});
  const Tensor before = w.value();
  w.assign({5.f, 6.f});
  w.assign_add(1).assign_sub(tensor({0.5f, 0.f}));
  EXPECT_EQ(w.value().to_vector<float>(), (Floats{5.5, 7}));
  EXPECT_EQ(before.to_vector<float>(), (Floats{1, 2}));
  w.assign(0);
  EXPECT_EQ(w.value().to_vector<float>(), (Floats{0, 0}));
}

TEST(Variable, StandsForItsValue) {
  const Variable w(tensor({{1.f, 2.f}, {3.f, 4.f}}), "w");
  const Tensor x = tensor({{1.f, 1.f}}), y = tensor(1.f);
  EXPECT_EQ((matmul(x, w) - y).to_vector<float>(), (Floats{3, 5}));
  EXPECT_EQ((w * w + 1).to_vector<float>(), (Floats{2, 5, 10, 17}));
  const Tensor value = w;
  EXPECT_EQ(value.shape(), (Shape{2, 2}));
}

TEST(Variable, CopiesShareOneValue) {
  const Variable a(tensor(1), "a"), b = a, c(tensor(1), "a"); // NOLINT
  a.assign(5);
  EXPECT_EQ(b.value().item<int>(), 5);
  EXPECT_EQ(c.value().item<int>(), 1);
  EXPECT_TRUE(a == b);
  EXPECT_FALSE(a == c);
}

TEST(Variable, NamesOfItsOwn) {
  const Variable a(tensor(1)), b(tensor(1));
  EXPECT_TRUE(a.name().starts_with("variable_")) << a.name();
  EXPECT_NE(a.name(), b.name());
}

TEST(Variable, Errors) {
  const Variable w(zeros({2, 3}), "w");
  EXPECT_THROWS(w.assign(zeros({3, 2})), ShapeError,
                "assign: the variable 'w' is f32(2, 3), but the value is f32(3, 2)");
  EXPECT_THROWS(w.assign_add(zeros({2, 3}, f64)), DTypeError,
                "assign_add: the variable 'w' is f32(2, 3), but the value is f64(2, 3)");
  EXPECT_THROWS(w.assign_sub(tensor(1.f)), ShapeError,
                "assign_sub: the variable 'w' is f32(2, 3), but the value is f32()");
  // A scalar loses nothing on its way.
  const Variable n(3, "n"), flag(true, "flag");
  EXPECT_THROWS(n.assign(0.5), DTypeError,
                "assign: the variable 'n' is i32(), but the value is floating");
  EXPECT_THROWS(n.assign_add(1.f), DTypeError,
                "assign_add: the variable 'n' is i32(), but the value is floating");
  EXPECT_THROWS(n.assign_sub(1.), DTypeError,
                "assign_sub: the variable 'n' is i32(), but the value is floating");
  EXPECT_THROWS(flag.assign(2), DTypeError,
                "assign: the variable 'flag' is bool(), but the value is an integer");
  EXPECT_THROWS(n.assign(std::int64_t{1} << 40), ValueError,
                "assign: the scalar 1099511627776 does not fit the dtype i32");
  EXPECT_THROWS(n.assign(Tensor()), StateError,
                "assign: the value for the variable 'n' is an undefined tensor");
  EXPECT_EQ(n.value().item<int>(), 3);
  w.assign(1).assign(0.5).assign(0);
  EXPECT_THROWS(Variable(Tensor(), "v"), StateError,
                "Variable: the initial value of 'v' is an undefined tensor");
  EXPECT_EQ(w.value().to_vector<float>(), Floats(6));
}

TEST(Variable, AddsAreNotLostBetweenThreads) {
  const Variable w(zeros({100}), "w");
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        w.assign_add(1);
        const Tensor seen = w.value(); // all of one update
        EXPECT_EQ(min(seen).item<float>(), max(seen).item<float>());
      }
    });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(w.value().to_vector<float>(), Floats(100, 2000));
}

TEST(Variable, UpdatesInPlaceWhenNobodyElseHoldsTheValue) {
  const Variable w(ones({4}), "w");
  VariableState &state = *w.state();
  state.lock_update();
  auto *first = static_cast<float *>(state.update_buffer());
  first[0] = 2;
  state.unlock_update();
  EXPECT_EQ(w.value().to_vector<float>(), (Floats{2, 1, 1, 1}));

  const Tensor held = w.value();
  state.lock_update();
  auto *second = static_cast<float *>(state.update_buffer());
  EXPECT_NE(first, second); // `held` must not change
  second[0] = 3;
  // On the thread that updates, a read is a snapshot and an assign goes into the buffer.
  const Tensor during = w.value();
  second[1] = 4;
  EXPECT_EQ(during.to_vector<float>(), (Floats{3, 1, 1, 1}));
  w.assign(tensor({9.f, 9.f, 9.f, 9.f}));
  EXPECT_EQ(second[3], 9);
  state.unlock_update();
  EXPECT_EQ(held.to_vector<float>(), (Floats{2, 1, 1, 1}));
  EXPECT_EQ(w.value().to_vector<float>(), Floats(4, 9));

  state.lock_update();
  EXPECT_EQ(state.update_buffer(), second);
  state.unlock_update();
}

TEST(Variable, PrintAndCheck) {
  std::vector<std::string> lines;
  const PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  const Variable w(tensor(0.482f), "w");
  print("loss is", w, "at step", 3);
  print("loss is {} at {}", w.value(), tensor({1, 2}));
  print(1, "and", true);
  print("nothing");
  EXPECT_THROWS(print("{} and {}", 1), ValueError, "print: the format has 2 {} for 1 values");
  set_print_sink(before);
  EXPECT_EQ(lines,
            (std::vector<std::string>{"loss is 0.482 at step 3",
                                      "loss is 0.482 at tensor([1, 2], shape=(2,), dtype=i32)",
                                      "1 and true", "nothing"}));
  check(w.value() < 1, "the loss is small");
  check(zeros({0}) > 1, "of nothing, all holds");
  EXPECT_THROWS(check(tensor({1, 5}) < 3, "all are small; x = {}", 5), AssertionError,
                "assertion failed: all are small; x = 5");
  EXPECT_THROWS(check(tensor(false), "no", tensor(1.5f), 2), AssertionError,
                "assertion failed: no; 1.5; 2");
}

} // namespace
} // namespace weft
