// Handles that were moved from, conditions that are no tensors, and recursion: what users get wrong
// about variables, functions and control flow is an error with a type, or no error at all, eager
// and traced, and never the end of the process.
#include "../Testing.h"

#include <utility>

#include <weft/weft.h>

namespace weft {
namespace {

TEST(BadInput, AVariableThatWasMovedFromIsStillTheVariable) {
  Variable v(tensor({1.f, 2.f}), "v");
  const Variable owner = std::move(v);
  // NOLINTBEGIN(bugprone-use-after-move): that this is no mistake is what is tested
  EXPECT_EQ(v.name(), "v");
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{1, 2}));
  auto f = function([&](const Tensor &x) {
    v.assign_add(x);
    return v.value();
  });
  EXPECT_EQ(f(ones({2})).to_vector<float>(), (std::vector<float>{2, 3}));
  EXPECT_EQ(owner.value().to_vector<float>(), (std::vector<float>{2, 3}));
  auto by_argument = function([](const Variable &w) { return w + 1; });
  EXPECT_EQ(by_argument(v).to_vector<float>(), (std::vector<float>{3, 4}));
  // NOLINTEND(bugprone-use-after-move)
}

TEST(BadInput, AFunctionThatWasMovedFromIsStillTheFunction) {
  auto f = function([](const Tensor &x) { return x + 1; });
  auto owner = std::move(f);
  // NOLINTNEXTLINE(bugprone-use-after-move)
  EXPECT_EQ(f(tensor(1.f)).item<float>(), 2);
  EXPECT_EQ(owner(tensor(2.f)).item<float>(), 3);
  EXPECT_EQ(owner.trace_count(), 1u);
}

TEST(BadInput, UndefinedConditionsAndState) {
  const auto none = [] {};
  const std::string words = "if_: the predicate is an undefined tensor: it was never given a value";
  EXPECT_THROWS(if_(Tensor(), none), StateError, words);
  EXPECT_THROWS(static_cast<void>(while_loop([](const Tensor &) { return Tensor(); },
                                             [](const Tensor &s) { return s; }, 1)),
                StateError, "while_loop: the condition returns an undefined tensor");
  auto condition = function([&](const Tensor &x) {
    if_(Tensor(), [] {});
    return x;
  });
  EXPECT_THROWS(static_cast<void>(condition(tensor(1.f))), StateError, words);
  const auto state = [](const Tensor &x) {
    return for_loop(3, [](const Tensor &, const Tensor &) { return Tensor(); }, x);
  };
  const std::string returned = "for_loop: a tensor that the body returns is undefined";
  EXPECT_THROWS(static_cast<void>(state(tensor(1.f))), ValueError, returned);
  EXPECT_THROWS(static_cast<void>(function(state)(tensor(1.f))), ValueError,
                "for_loop: a tensor that a body returns is undefined");
}

TEST(BadInput, AssignsThatDoNotFitInControlFlow) {
  const Variable v(zeros({2}), "weights");
  const auto in_a_branch = [&](const Tensor &p, const Tensor &x) { if_(p, [&] { v.assign(x); }); };
  const auto in_a_loop = [&](const Tensor &p, const Tensor &x) {
    while_loop([&] { return p; }, [&] { v.assign_add(x); });
  };
  const std::string shape = ": the variable 'weights' is f32(2,), but the value is f32(3,)";
  const std::string dtype = ": the variable 'weights' is f32(2,), but the value is i32(2,)";
  const auto refused = [&](auto f, const std::string &op) {
    EXPECT_THROWS(f(tensor(true), ones({3})), ShapeError, op + shape);
    EXPECT_THROWS(f(tensor(true), ones({2}, i32)), DTypeError, op + dtype);
  };
  refused(in_a_branch, "assign");
  refused(function(in_a_branch), "assign");
  refused(in_a_loop, "assign_add");
  refused(function(in_a_loop), "assign_add");
  EXPECT_THROW(v.assign(Tensor()), StateError);
  EXPECT_EQ(v.value().to_vector<float>(), (std::vector<float>{0, 0}));
}

/// A function that calls itself under a condition that is known only when it runs has no end while
/// it is traced.
TEST(BadInput, EndlessRecursionThroughABranch) {
  std::function<Tensor(const Tensor &)> again;
  auto factorial = function(
      [&](const Tensor &n) {
        return cond(n <= 1, [&] { return n; }, [&] { return n * again(n - 1); });
      },
      {.name = "factorial"});
  again = factorial;
  for (int i = 0; i < 2; ++i) {
    try {
      static_cast<void>(factorial(tensor(5)));
      ADD_FAILURE() << "nothing was thrown";
    } catch (const StateError &error) {
      EXPECT_TRUE(
          error.message().starts_with("factorial: endless recursion: factorial -> factorial"))
          << error.what();
    }
  }
}

} // namespace
} // namespace weft
