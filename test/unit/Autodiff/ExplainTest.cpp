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
