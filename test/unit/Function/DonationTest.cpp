// Compiled code updates variables in place, but never a tensor that somebody still holds.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

using Floats = std::vector<float>;

Floats contents(const Tensor &tensor) { return tensor.to_vector<float>(); }

/// Where the elements of a variable lie; holds nothing.
const float *address(const Variable &variable) { return variable.value().span<float>().data(); }

/// A step that doubles a variable and adds x.
auto doubling(const Variable &v) {
  return function([v](const Tensor &x) { v.assign(v * 2 + x); }, {.name = "doubling"});
}

TEST(Donation, AVariableThatNobodyHoldsIsUpdatedInItsBuffer) {
  const Variable v(tensor({1.f, 2.f}) + 0, "v");
  auto step = doubling(v);
  step(tensor({1.f, 1.f}));
  const float *before = address(v);
  step(tensor({1.f, 1.f}));
  EXPECT_EQ(address(v), before);
  EXPECT_EQ(contents(v), (Floats{7, 11}));
}

TEST(Donation, AHeldValueKeepsItsElements) {
  const Variable v(tensor({1.f, 2.f}), "v");
  auto step = doubling(v);
  const Tensor first = v;
  for (int i = 0; i < 3; ++i) {
    const Tensor held = v;
    const Floats before = contents(held);
    step(tensor({1.f, 1.f}));
    EXPECT_EQ(contents(held), before);
    EXPECT_NE(contents(v), before);
  }
  EXPECT_EQ(contents(first), (Floats{1, 2}));
  EXPECT_EQ(contents(v), (Floats{15, 23}));
}

TEST(Donation, AHeldViewKeepsItsElements) {
  const Variable v(tensor({{1.f, 2.f}, {3.f, 4.f}}), "v");
  auto step = doubling(v);
  step(ones({2, 2}));
  const Tensor row = v.value()[1], column = v.value()[{all, 0}], flat = reshape(v, {4});
  step(ones({2, 2}));
  EXPECT_EQ(contents(row), (Floats{7, 9}));
  EXPECT_EQ(contents(column), (Floats{3, 7}));
  EXPECT_EQ(contents(flat), (Floats{3, 5, 7, 9}));
  EXPECT_EQ(contents(v), (Floats{7, 11, 15, 19}));
}

TEST(Donation, AValueThatATapeSavedIsNotGivenAway) {
  const Variable v(tensor({1.f, 2.f}), "v");
  auto step = doubling(v);
  const auto square_of = [&](const Tensor &x) { return v * v * x; };
  const auto compiled = function(square_of);
  const Tensor x = tensor({3.f, 4.f}), one = tensor({1.f, 1.f});
  step(one); // compiled here already
  for (const bool eager : {true, false}) {
    SCOPED_TRACE(eager ? "the tape sees ops" : "the tape sees one compiled call");
    const Floats at = contents(v);
    GradientTape tape;
    tape.watch(x);
    const Tensor y = eager ? square_of(x) : compiled(x);
    step(one);
    step(one);
    EXPECT_NE(contents(v), at);
    const auto [dv, dx] = tape.gradient(y, {v, x});
    EXPECT_EQ(contents(dv), (Floats{2 * at[0] * 3, 2 * at[1] * 4}));
    EXPECT_EQ(contents(dx), (Floats{at[0] * at[0], at[1] * at[1]}));
  }
}

TEST(Donation, AVariablesValueAsAnArgumentOfTheCallThatUpdatesIt) {
  const Variable v(tensor({1.f, 2.f}), "v");
  auto step = doubling(v);
  step(v.value());
  EXPECT_EQ(contents(v), (Floats{3, 6}));
  const Tensor held = v;
  step(held);
  EXPECT_EQ(contents(v), (Floats{9, 18}));
  EXPECT_EQ(contents(held), (Floats{3, 6}));
}

TEST(Donation, ATensorGivenToAVariableStaysTheGiversToo) {
  const Variable v(zeros({2}), "v"), w(zeros({2}), "w");
  const Tensor given = tensor({1.f, 2.f}) + 0;
  v.assign(given);
  w.assign(v);
  auto step = doubling(v);
  step(tensor({1.f, 1.f}));
  EXPECT_EQ(contents(given), (Floats{1, 2}));
  EXPECT_EQ(contents(w), (Floats{1, 2}));
  EXPECT_EQ(contents(v), (Floats{3, 5}));
}

TEST(Donation, ACapturedTensorThatIsAVariablesValue) {
  const Variable v(zeros({2}), "v");
  const Tensor captured = tensor({1.f, 2.f}) + 0;
  v.assign(captured);
  auto step = function([&] { v.assign(v + captured); });
  for (int i = 2; i < 5; ++i) {
    step();
    EXPECT_EQ(contents(v), (Floats{static_cast<float>(i), static_cast<float>(2 * i)}));
    v.assign(v + 0); // the next call finds it in another buffer
  }
  EXPECT_EQ(contents(captured), (Floats{1, 2}));
}

TEST(Donation, AResultThatIsTheOldValue) {
  const Variable v(tensor({1.f, 2.f}), "v");
  auto step = function([&](const Tensor &x) {
    const Tensor old = v;
    v.assign(old * 2 + x);
    return std::vector<Tensor>{old, v};
  });
  const std::vector<Tensor> first = step(tensor({1.f, 1.f})), second = step(tensor({1.f, 1.f}));
  EXPECT_EQ(contents(first[0]), (Floats{1, 2}));
  EXPECT_EQ(contents(first[1]), (Floats{3, 5}));
  EXPECT_EQ(contents(second[0]), (Floats{3, 5}));
  EXPECT_EQ(contents(second[1]), (Floats{7, 11}));
}

TEST(Donation, AHeldValueSurvivesACallThatFails) {
  const Variable v(tensor({1.f, 2.f}), "v");
  auto step = function([&](const Tensor &x) {
    v.assign(v * 2);
    check(x > 0, "x must be positive");
    v.assign(v + x);
  });
  const Tensor held = v;
  EXPECT_THROW(step(tensor({1.f, -1.f})), AssertionError);
  EXPECT_EQ(contents(held), (Floats{1, 2}));
  EXPECT_EQ(contents(v), (Floats{2, 4}));
  step(tensor({1.f, 1.f}));
  EXPECT_EQ(contents(v), (Floats{5, 9}));
  EXPECT_EQ(contents(held), (Floats{1, 2}));
}

} // namespace
} // namespace weft
