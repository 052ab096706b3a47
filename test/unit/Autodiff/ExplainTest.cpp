// What a tape says of a gradient that is missing, and of what it does not watch.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

std::string at(std::uint32_t line) { return "ExplainTest.cpp:" + std::to_string(line); }

TEST(Explain, WhereThePathBreaks) {
  const Tensor x = tensor({1.0, 3.0}), other = tensor(1.0);
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(other);
  const Tensor y = exp(x);
  std::uint32_t line = __LINE__ + 1;
  const Tensor index = argmax(y);
  const Tensor z = gather(tensor({1.0, 2.0}), index) * 3;
  EXPECT_EQ(tape.explain(z, x), "the path from the source to the target breaks at argmax (" +
                                    at(line) + "): its result is an index");
  EXPECT_EQ(tape.explain(y, x), "the gradient of the target reaches the source");
  line = __LINE__ + 1;
  const Tensor rounded = y.astype(i32);
  const Tensor back = rounded.astype(f64) + other;
  EXPECT_EQ(tape.explain(back, x), "the path from the source to the target breaks at cast (" +
                                       at(line) + "): its result is i32");
  EXPECT_EQ(tape.explain(back, other), "the gradient of the target reaches the source");
  line = __LINE__ + 1;
  const Tensor stopped = stop_gradient(y) * 2;
  EXPECT_EQ(tape.explain(stopped, x), "the path from the source to the target breaks at "
                                      "stop_gradient (" +
                                          at(line) + "): it stops gradients");
}

TEST(Explain, VariablesBeginAnew) {
  const Variable v(tensor(2.0), "v"), w(tensor(3.0), "w"), unread(tensor(1.0), "unread");
  GradientTape tape;
  const std::uint32_t line = __LINE__ + 1;
  w.assign(v * 2);
  const Tensor y = w * 5;
  EXPECT_EQ(tape.explain(y, v), "the path from the variable 'v' to the target breaks at assign (" +
                                    at(line) + "): a read of the variable 'w' begins anew");
  EXPECT_EQ(tape.explain(y, w), "the gradient of the target reaches the variable 'w'");
  EXPECT_EQ(tape.explain(y, unread),
            "the variable 'unread' was not read while the tape watched it");
}

TEST(Explain, WhatTheTapeDidNotSee) {
  const Tensor x = tensor(2.0), n = tensor(2);
  GradientTape tape;
  const Tensor before = x * 2;
  EXPECT_EQ(tape.explain(before, x), "the source is not watched: call watch before it is used");
  tape.watch(x);
  EXPECT_EQ(tape.explain(x * x, n), "the source is i32: only floating tensors have gradients");
  const Tensor number = tensor(x.item<double>() * 2);
  EXPECT_EQ(tape.explain(number, x),
            "the tape saw no path from the source to the target: it may lead through numbers that "
            "the program took out (item, span, to_vector) or a host call, or through what ran "
            "before the source was watched or while recording was suspended");
}

TEST(Explain, G12_IntegersAreWarnedOf) {
  std::vector<std::string> lines;
  LogSink before = set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  const Variable count(tensor(3), "count");
  GradientTape tape;
  tape.watch(tensor(3));
  tape.watch(count);
  set_log_sink(std::move(before));
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "GradientTape: a tensor is i32 and not watched: only floating values have "
                       "gradients",
                       "GradientTape: the variable 'count' is i32 and not watched: only floating "
                       "values have gradients"}));
}

// A persistent tape gives derivatives while it records, and does not record them: who asks for the
// derivative of one is told, since the answer is none.
TEST(Explain, DerivativesThatTheTapeItselfGave) {
  std::vector<std::string> lines;
  LogSink before = set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  const Tensor x = tensor({1.0, 2.0}), table = tensor({1.0, 2.0, 3.0});
  GradientTape tape({.persistent = true});
  tape.watch(x);
  tape.watch(table);
  const Tensor y = x * x * x, picked = square(gather(table, tensor({0, 2})));
  const auto told = [](std::uint32_t line) {
    return "the path from the source to the target breaks at gradient (" + at(line) +
           "): a tape does not record the derivatives that it gives; nest tapes";
  };
  const std::uint32_t line = __LINE__ + 1;
  const Tensor slope = tape.gradient(y, {x})[0] * 2;
  EXPECT_EQ(tape.explain(slope, x), told(line));
  EXPECT_EQ(tape.explain(slope * x, x), "the gradient of the target reaches the source");
  EXPECT_EQ(tape.explain(slope, table),
            "the tape saw no path from the source to the target: it may lead through numbers that "
            "the program took out (item, span, to_vector) or a host call, or through what ran "
            "before the source was watched or while recording was suspended");
  EXPECT_TRUE(lines.empty());
  EXPECT_FALSE(tape.gradient(slope, {x})[0].defined());
  EXPECT_EQ(tape.gradient(slope, {x}, {.unconnected = Unconnected::zero})[0].to_vector<double>(),
            (std::vector<double>{0, 0}));
  const std::uint32_t sliced = __LINE__ + 1;
  const SlicedGradient rows = tape.sliced_gradient(picked, {table})[0];
  static_cast<void>(tape.sliced_gradient(std::get<IndexedSlices>(rows).values, {table}));
  const std::uint32_t whole = __LINE__ + 1;
  const Tensor matrix = tape.jacobian(y, {x})[0];
  static_cast<void>(tape.jacobian(matrix, {x}));
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "GradientTape: " + told(line), "GradientTape: " + told(line),
                       "GradientTape: " + told(sliced), "GradientTape: " + told(whole)}));
  lines.clear();
  // One tape for each order is how it is done, and says nothing.
  GradientTape outer({.persistent = true});
  outer.watch(x);
  GradientTape inner({.persistent = true});
  inner.watch(x);
  const Tensor dy = inner.gradient(x * x * x, {x})[0];
  EXPECT_EQ(outer.gradient(dy, {x})[0].to_vector<double>(), (std::vector<double>{6, 12}));
  set_log_sink(std::move(before));
  EXPECT_TRUE(lines.empty());
}

TEST(Tape, AVariableAsATarget) {
  const Variable a(tensor(2.0), "a"), b(tensor(3.0), "b", /*trainable=*/false);
  GradientTape tape({.persistent = true});
  const Tensor product = a * b;
  tape.stop();
  EXPECT_FALSE(tape.gradient(a.value(), {a})[0].defined()); // read behind the tape
  EXPECT_EQ(tape.gradient(tape.read(a), {a})[0].item<double>(), 1);
  EXPECT_EQ(tape.gradient({product, tape.read(a)}, {a})[0].item<double>(), 4);
  EXPECT_FALSE(tape.gradient(tape.read(b), {b})[0].defined());
  GradientTape once;
  const Tensor square = a * a;
  static_cast<void>(once.gradient(square, {a}));
  EXPECT_EQ(once.watched_variables(), std::vector<Variable>{a});
}

TEST(Explain, WatchedVariablesInOrder) {
  const Variable a(tensor(1.0), "a"), b(tensor(2.0), "b"), c(tensor(3.0), "c", false);
  GradientTape tape;
  static_cast<void>(b * a * b * c);
  tape.watch(c);
  tape.watch(a);
  EXPECT_EQ(tape.watched_variables(), (std::vector<Variable>{b, a, c}));
  tape.reset();
  EXPECT_TRUE(tape.watched_variables().empty());
}

} // namespace
} // namespace weft
