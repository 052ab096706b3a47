// Doors for bindings: bodies that are tried and forgotten, recorded ops, lines of other languages.
#include <gtest/gtest.h>

#include <weft/detail/staging.h>
#include <weft/weft.h>

namespace {

using namespace weft;

TEST(Staging, AProbeLeavesNothingBehind) {
  std::uint64_t recorded = 0;
  std::vector<TensorType> types;
  const auto f = function([&](const Tensor &x) {
    const std::vector<Tensor> given{zeros({3}), zeros({}, i32)};
    const std::uint64_t before = detail::recorded_ops();
    detail::probe("test", given, [&](std::span<const Tensor> inputs) {
      types.push_back((inputs[0] * 2 + x).type());
      types.push_back((inputs[1] + 1).type());
      print("never");
    });
    recorded = detail::recorded_ops() - before;
    return x + 1;
  });
  EXPECT_EQ(f(tensor({1.f, 2.f, 3.f})).to_vector<float>(), (std::vector{2.f, 3.f, 4.f}));
  EXPECT_GE(recorded, 4U);
  EXPECT_EQ(types, (std::vector{spec(f32, {3}), spec(i32, {})}));
  const std::string text = f.ir(tensor({1.f, 2.f, 3.f}), Phase::trace);
  EXPECT_EQ(text.find("never"), std::string::npos);
  EXPECT_EQ(text.find("multiply"), std::string::npos);
}

TEST(Staging, TapesDoNotSeeAProbe) {
  const auto f = function([](const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const std::vector<Tensor> none;
    detail::probe("test", none, [&](std::span<const Tensor>) { static_cast<void>(x * x * x); });
    const Tensor y = x * x;
    return tape.gradient(y, x);
  });
  EXPECT_EQ(f(tensor(3.f)).item<float>(), 6.f);
}

TEST(Staging, AnErrorOfAProbePassesAndTheTraceGoesOn) {
  const auto f = function([](const Tensor &x) {
    const std::vector<Tensor> none;
    EXPECT_THROW(detail::probe("test", none,
                               [&](std::span<const Tensor>) {
                                 static_cast<void>(x + tensor({1.f, 2.f, 3.f, 4.f}));
                               }),
                 ShapeError);
    return x + 1;
  });
  EXPECT_EQ(f(tensor({1.f, 2.f, 3.f})).to_vector<float>(), (std::vector{2.f, 3.f, 4.f}));
}

TEST(Staging, OutsideOfTracesThereIsNothingToTry) {
  EXPECT_FALSE(detail::is_tracing());
  const std::vector<Tensor> none;
  EXPECT_THROW(detail::probe("test", none, [](std::span<const Tensor>) {}), StateError);
}

TEST(Staging, LinesOfAnotherLanguage) {
  detail::set_line_finder([] { return detail::ForeignLine{"train.py", 12, 5}; });
  // A call in a binding has no line of C++: then the finder is asked.
  const auto f = function([](const Tensor &x) {
    check_values(Operand(x, std::source_location()), "x holds", {});
    return x;
  });
  SourceLocation location;
  try {
    f(tensor(false));
  } catch (const AssertionError &error) {
    location = error.location();
  }
  detail::set_line_finder(nullptr);
  EXPECT_EQ(location, (SourceLocation{"train.py", 12, 5}));
}

} // namespace
