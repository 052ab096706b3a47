// Prints and asserts of functions: in program order, never dropped, and a failed one ends the call.
#include "../Testing.h"
#include "Printed.h"

#include <weft/weft.h>

namespace weft {
namespace {

TEST(FunctionEffects, PrintsInOrder) {
  const auto work = [](const Tensor &x) {
    print("first");
    const Tensor y = x * 2;
    print("y is {} of x {}", y, sum(x));
    print(x.dtype() == f32 ? "floating" : "whole", mean(y), "and", 3);
    static_cast<void>(exp(x)); // nobody wants it
    print("last");
    return y;
  };
  auto f = function(work);
  Printed printed;
  static_cast<void>(work(tensor({1.f, 2.f})));
  const Lines eager = printed.take();
  EXPECT_EQ(eager.size(), 4u);
  for (int call = 0; call < 3; ++call) {
    EXPECT_EQ(f(tensor({1.f, 2.f})).to_vector<float>(), (std::vector<float>{2, 4}));
    EXPECT_EQ(printed.take(), eager);
  }
  EXPECT_EQ(eager[0], "first");
  EXPECT_EQ(eager[3], "last");
  // The values are those of the call.
  static_cast<void>(f(tensor({5.f, 7.f})));
  const Lines other = printed.take();
  static_cast<void>(work(tensor({5.f, 7.f})));
  EXPECT_EQ(other, printed.take());
  EXPECT_NE(other, eager);
}

TEST(FunctionEffects, PrintsAllDTypesAndShapes) {
  const auto work = [](const std::vector<Tensor> &values) {
    for (const Tensor &value : values) print(value);
  };
  const std::vector<Tensor> values = {tensor(true),
                                      tensor({1, 2}),
                                      tensor({{1.5f}, {-2.f}}),
                                      zeros({0, 3}),
                                      tensor(std::int64_t{-7}),
                                      tensor({1e300, 0.1}),
                                      arange(2000).reshape({20, 100})};
  Printed printed;
  work(values);
  const Lines eager = printed.take();
  function(work)(values);
  EXPECT_EQ(printed.take(), eager);
  EXPECT_EQ(eager.size(), values.size());
}

TEST(FunctionEffects, PrintsBetweenAssigns) {
  const Variable v(0.f, "v");
  auto f = function([&] {
    print("before", v);
    v.assign_add(1);
    print("after", v);
    v.assign(v * 10);
    print("end", v);
  });
  Printed printed;
  f();
  EXPECT_EQ(printed.take(), (Lines{"before 0", "after 1", "end 10"}));
  f();
  EXPECT_EQ(printed.take(), (Lines{"before 10", "after 11", "end 110"}));
}

TEST(FunctionEffects, AssertsWithoutResultsStay) {
  auto f = function([](const Tensor &x) { check(x > 0, "x must be positive, but is {}", x); },
                    {.name = "guard"});
  f(tensor({1.f, 2.f}));
  const Tensor bad = tensor({1.f, -2.f});
  EXPECT_THROWS(f(bad), AssertionError,
                "assertion failed in guard: x must be positive, but is tensor([1, -2], shape=(2,), "
                "dtype=f32)");
  f(tensor({3.f, 4.f}));
}

TEST(FunctionEffects, AFailedAssertEndsTheCall) {
  const Variable v(tensor({0.f}), "v");
  auto f = function(
      [&](const Tensor &x) {
        print("begins");
        const Tensor big = broadcast(x, {300, 300}) * 3;
        check(sum(big) < 1e6, "too big", sum(x));
        print("goes on");
        check(x > 0, "not positive");
        print("ends");
        return matmul(big, big);
      },
      {.name = "careful"});
  Printed printed;
  EXPECT_EQ(f(tensor({1.f})).type(), spec(f32, {300, 300}));
  EXPECT_EQ(printed.take(), (Lines{"begins", "goes on", "ends"}));
  for (int i = 0; i < 3; ++i) {
    EXPECT_THROWS(f(tensor({100.f})), AssertionError, "assertion failed in careful: too big; 100");
    EXPECT_EQ(printed.take(), (Lines{"begins"}));
    EXPECT_THROWS(f(tensor({-1.f})), AssertionError, "assertion failed in careful: not positive");
    EXPECT_EQ(printed.take(), (Lines{"begins", "goes on"}));
  }
  EXPECT_EQ(f(tensor({1.f}))[0][0].item<float>(), 2700);
  EXPECT_EQ(f.trace_count(), 1u);
}

TEST(FunctionEffects, VariablesStayUsableAfterAFailedAssert) {
  const Variable v(tensor({1.f, 1.f}), "v");
  auto f = function([&](const Tensor &x) {
    v.assign_add(x);
    check(x < 10, "too large");
    return v.value();
  });
  for (int i = 0; i < 2; ++i) {
    EXPECT_THROW(f(tensor({20.f, 20.f})), AssertionError);
    v.assign({1.f, 1.f});
    EXPECT_EQ(f(tensor({1.f, 2.f})).to_vector<float>(), (std::vector<float>{2, 3}));
  }
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{2, 3}));
}

TEST(FunctionEffects, ASinkThatThrowsEndsTheCall) {
  auto f = function([](const Tensor &x) {
    print("x", x);
    return x + 1;
  });
  PrintSink before = set_print_sink([](std::string_view) { throw IOError("the sink is full"); });
  EXPECT_THROWS(f(tensor({1.f})), IOError, "the sink is full");
  set_print_sink([](std::string_view) {});
  EXPECT_EQ(f(tensor({1.f})).item<float>(), 2);
  set_print_sink(std::move(before));
}

TEST(FunctionEffects, IndicesOutOfRangeEndTheCall) {
  const auto pick = [](const Tensor &x, const Tensor &at) { return gather(x, at); };
  const auto add_at = [](const Tensor &x, const Tensor &at) { return scatter_add(x, at, x); };
  const auto take = [](const Tensor &x, const Tensor &at) { return gather_along_axis(x, at); };
  const auto add_along = [](const Tensor &x, const Tensor &at) { return add_along_axis(x, at, x); };
  const Tensor x = tensor({1.f, 2.f, 3.f});
  auto traced_pick = function(pick);
  auto traced_add = function(add_at);
  auto traced_take = function(take);
  auto traced_add_along = function(add_along);
  for (int bad : {3, -1, 1000000}) {
    const Tensor at = tensor({0, bad, 1});
    const std::string words =
        ": index " + std::to_string(bad) + " is out of range for an axis of size 3";
    EXPECT_THROWS(pick(x, at), IndexError, "gather" + words);
    EXPECT_THROWS(traced_pick(x, at), IndexError, "gather" + words);
    EXPECT_THROWS(add_at(x, at), IndexError, "scatter_add" + words);
    EXPECT_THROWS(traced_add(x, at), IndexError, "scatter_add" + words);
    EXPECT_THROWS(take(x, at), IndexError, "take_along_axis" + words);
    EXPECT_THROWS(traced_take(x, at), IndexError, "take_along_axis" + words);
    EXPECT_THROWS(add_along(x, at), IndexError, "add_along_axis" + words);
    EXPECT_THROWS(traced_add_along(x, at), IndexError, "add_along_axis" + words);
  }
  const Tensor good = tensor({2, 2, 0});
  EXPECT_EQ(traced_pick(x, good).to_vector<float>(), (std::vector<float>{3, 3, 1}));
  EXPECT_EQ(traced_add(x, good).to_vector<float>(), (std::vector<float>{4, 2, 6}));
  EXPECT_EQ(traced_take(x, good).to_vector<float>(), (std::vector<float>{3, 3, 1}));
  EXPECT_EQ(traced_add_along(x, good).to_vector<float>(), (std::vector<float>{4, 2, 6}));
}

} // namespace
} // namespace weft
