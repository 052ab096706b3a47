// After a call that fails, variables hold what the program had written before, and nothing after.
#include "../Testing.h"
#include "Printed.h"

#include <functional>
#include <typeinfo>

#include <weft/weft.h>

namespace weft {
namespace {

using Variables = std::vector<Variable>;

/// One program on two equal sets of variables, eager and traced.
class Twins {
public:
  using Body = std::function<void(const Variables &, const Tensor &)>;

  Twins(const std::vector<Tensor> &initial, Body body, FunctionOptions options = {})
      : eager_(make(initial)), traced_variables_(make(initial)), body_(std::move(body)),
        traced_([this](const Tensor &x) { body_(traced_variables_, x); }, std::move(options)) {}
  Twins(const Twins &) = delete;

  /// Calls both and compares what they throw and leave behind. Returns the error, "" for none.
  std::string call(const Tensor &x) {
    const Outcome eager = outcome([&] { body_(eager_, x); });
    const Outcome traced = outcome([&] { traced_(x); });
    said_ = traced.what;
    EXPECT_EQ(traced.type, eager.type) << traced.what;
    for (std::size_t i = 0; i < eager_.size(); ++i)
      EXPECT_EQ(traced_variables_[i].value().to_vector<double>(),
                eager_[i].value().to_vector<double>())
          << "variable " << i << " after: " << eager.what;
    return eager.what;
  }

  const Variable &variable(std::size_t i) const { return traced_variables_[i]; }
  /// The error of the traced one, "" for none.
  const std::string &said() const { return said_; }
  std::size_t trace_count() const { return traced_.trace_count(); }

private:
  struct Outcome {
    std::string type, what;
  };

  static Variables make(const std::vector<Tensor> &initial) {
    Variables variables;
    for (const Tensor &value : initial) variables.emplace_back(value);
    return variables;
  }

  template <class Call>
  static Outcome outcome(const Call &call) {
    try {
      call();
    } catch (const Error &error) {
      return {typeid(error).name(), error.what()};
    }
    return {};
  }

  Variables eager_, traced_variables_;
  Body body_;
  std::string said_;
  Function<std::function<void(const Tensor &)>> traced_;
};

const Tensor kGood = tensor({1.f, 2.f, 3.f, 4.f});
const Tensor kBad = tensor({1.f, -2.f, 3.f, 4.f});

std::vector<float> contents(const Variable &variable) {
  return variable.value().to_vector<float>();
}

TEST(FailedSteps, AssignAssertAssign) {
  Twins twins({zeros({4})}, [](const Variables &v, const Tensor &x) {
    v[0].assign(x * 2);
    check(x > 0, "x must be positive");
    v[0].assign(v[0] + 100);
  });
  EXPECT_NE(twins.call(kBad), "");
  EXPECT_EQ(contents(twins.variable(0)), (std::vector<float>{2, -4, 6, 8}));
  EXPECT_EQ(twins.call(kGood), "");
  EXPECT_EQ(contents(twins.variable(0)), (std::vector<float>{102, 104, 106, 108}));
  EXPECT_NE(twins.call(kBad), "");
  EXPECT_EQ(twins.trace_count(), 1u);
}

TEST(FailedSteps, NothingAfterTheAssertIsWritten) {
  // The new values are computed before the assert and may not be where the old ones are.
  Twins twins({ones({4}), tensor(1)}, [](const Variables &v, const Tensor &x) {
    const Tensor next = v[0] * x + 1, count = v[1] + 1;
    check(next > 0, "the next value must be positive", next);
    v[0].assign(next);
    v[1].assign(count);
  });
  for (const Tensor &x : {kBad, kGood, kBad, kGood}) twins.call(x);
  EXPECT_EQ(contents(twins.variable(0)), (std::vector<float>{3, 7, 13, 21}));
}

TEST(FailedSteps, SeveralVariables) {
  Twins twins({zeros({4}), ones({4}), tensor(0), tensor(0.5)},
              [](const Variables &v, const Tensor &x) {
                v[2].assign_add(1);
                v[0].assign(v[1] * x);
                v[3].assign(v[3] * 3);
                check(x > 0, "first");
                v[1].assign(v[0] + 1);
                v[2].assign_add(10);
                check(x < 4, "second");
                v[0].assign(v[1] - x);
                v[3].assign(cast(sum(v[0]), f64));
              });
  EXPECT_NE(twins.call(kBad), "");
  EXPECT_NE(twins.call(kGood), "");
  EXPECT_EQ(twins.call(kGood / 2), "");
  EXPECT_NE(twins.call(kGood), "");
}

TEST(FailedSteps, AssignedTwiceBeforeAndAfter) {
  Twins twins({zeros({4})}, [](const Variables &v, const Tensor &x) {
    v[0].assign(v[0] + x);
    v[0].assign(exp(v[0]));
    check(x > 0, "no");
    v[0].assign(v[0] * x);
    v[0].assign(v[0] - 1);
  });
  for (const Tensor &x : {kBad, kGood / 8, kBad, kGood / 8}) twins.call(x);
}

TEST(FailedSteps, TheFirstValueIsNeededByTheFailureAlone) {
  Twins twins({ones({4})}, [](const Variables &v, const Tensor &x) {
    const Tensor old = v[0];
    v[0].assign(tanh(old * 2 + x));
    check(x > 0, "no");
    v[0].assign(old * 3);
  });
  for (const Tensor &x : {kBad, kGood, kBad, kGood}) twins.call(x);
}

TEST(FailedSteps, VariablesThatTradeTheirValues) {
  // Each ends up in another's buffer; the failure puts all back at once.
  Twins twins({ones({600}), zeros({600}), full({600}, 2.f), tensor(5)},
              [](const Variables &v, const Tensor &x) {
                const Tensor a = v[0], b = v[1], c = v[2];
                v[0].assign(b);
                v[1].assign(c);
                v[2].assign(a);
                check(x > 0, "no");
                v[0].assign(a + b);
                v[2].assign(a * c + 1);
                v[3].assign(v[3] * 2);
              });
  for (const Tensor &x : {kBad, kBad, kGood, kBad, kGood}) twins.call(x);
}

TEST(FailedSteps, OneValueInTwoVariables) {
  Twins twins({ones({4}), zeros({4})}, [](const Variables &v, const Tensor &x) {
    const Tensor next = v[0] + x;
    v[0].assign(next);
    v[1].assign(next);
    check(x > 0, "no");
    v[0].assign(v[1]);
    v[1].assign(x);
  });
  for (const Tensor &x : {kBad, kGood, kBad, kGood}) twins.call(x);
}

TEST(FailedSteps, AssertInALoop) {
  // Fails in the iteration in which the variable has grown beyond x.
  Twins twins({zeros({4}), tensor(0), zeros({4})}, [](const Variables &v, const Tensor &x) {
    v[2].assign(x);
    for_loop(10, [&](const Tensor &i) {
      v[0].assign(v[0] + 1);
      v[1].assign_add(1);
      check(v[0] < x, "too far in iteration {}", i);
      v[0].assign(v[0] * 2);
      v[2].assign(v[2] - v[0]);
    });
    v[2].assign(zeros({4}));
  });
  EXPECT_NE(twins.call(full({4}, 20.f)), "");
  EXPECT_EQ(contents(twins.variable(0)), (std::vector<float>{31, 31, 31, 31}));
  EXPECT_EQ(twins.variable(1).value().item<int>(), 5);
  EXPECT_NE(twins.call(full({4}, 20.f)), "");
  EXPECT_EQ(twins.call(full({4}, 1e6f)), "");
  EXPECT_NE(twins.call(full({4}, 1e6f)), "");
}

TEST(FailedSteps, AssertInTheConditionOfALoop) {
  Twins twins({zeros({4}), tensor(0)}, [](const Variables &v, const Tensor &x) {
    while_loop(
        [&](const Tensor &n) {
          v[1].assign_add(1);
          check(v[0] < x, "too far");
          v[1].assign_add(100);
          return n < 6;
        },
        [&](const Tensor &n) {
          v[0].assign(v[0] + x / 4);
          check(n < 5, "too long");
          v[0].assign(v[0] + 0.5);
          return n + 1;
        },
        tensor(0));
  });
  EXPECT_NE(twins.call(kGood), "");
  EXPECT_NE(twins.call(kGood * 100), "");
  EXPECT_NE(twins.call(kBad), "");
}

TEST(FailedSteps, AssertInABranch) {
  Twins twins({zeros({4}), ones({4})}, [](const Variables &v, const Tensor &x) {
    v[0].assign(x);
    if_(
        sum(x) > 9,
        [&] {
          v[0].assign(v[0] * 2);
          v[1].assign(v[0] + v[1]);
          check(x > 0, "not in the branch");
          v[1].assign(v[1] * 3);
        },
        [&] {
          v[1].assign(x);
          check(x > 0, "not in the other");
          v[0].assign(v[0] + 7);
        });
    v[0].assign(v[0] - v[1]);
    check(sum(x) < 40, "the end");
    v[1].assign(v[0]);
  });
  for (const Tensor &x : {kGood, kBad, kGood / 4, kBad * 4, kGood * 10, kGood}) twins.call(x);
}

TEST(FailedSteps, AssertDeepInside) {
  Twins twins({zeros({4}), tensor(0)}, [](const Variables &v, const Tensor &x) {
    for_loop(3, [&](const Tensor &i) {
      if_(sum(v[0]) > 10, [&] {
        v[0].assign(v[0] - 1);
        for_loop(i + 1, [&](const Tensor &j) {
          v[1].assign_add(cast(j, i32) + 1);
          check(v[0] < x * 4, "deep");
          v[0].assign(v[0] + x);
        });
      });
      v[0].assign(v[0] + x);
    });
  });
  for (int i = 0; i < 5; ++i) twins.call(kGood);
  twins.call(kBad);
}

TEST(FailedSteps, AnIndexOutOfRange) {
  Twins twins({zeros({4}), zeros({2}), tensor(0)}, [](const Variables &v, const Tensor &at) {
    v[0].assign(v[0] + 1);
    v[2].assign_add(1);
    v[1].assign(gather(v[0], at));
    v[0].assign(scatter_add(v[0], at + 1, tensor({5.f, 6.f})));
    v[2].assign_add(10);
  });
  EXPECT_EQ(twins.call(tensor({0, 2})), "");
  EXPECT_NE(twins.call(tensor({0, 4})), "");  // the gather
  EXPECT_NE(twins.call(tensor({-1, 1})), ""); // the gather
  EXPECT_NE(twins.call(tensor({1, 3})), "");  // the scatter_add
  EXPECT_EQ(twins.call(tensor({2, 1})), "");
}

TEST(FailedSteps, AnIndexAlongAnAxisOutOfRange) {
  Twins twins({zeros({4}), zeros({2}), tensor(0)}, [](const Variables &v, const Tensor &at) {
    v[0].assign(v[0] + 1);
    v[2].assign_add(1);
    v[1].assign(gather_along_axis(v[0], at));
    v[0].assign(add_along_axis(v[0], at + 1, tensor({5.f, 6.f})));
    v[2].assign_add(10);
  });
  EXPECT_EQ(twins.call(tensor({0, 2})), "");
  EXPECT_NE(twins.call(tensor({0, 4})), "");  // taken
  EXPECT_NE(twins.call(tensor({-1, 1})), ""); // taken
  EXPECT_NE(twins.call(tensor({1, 3})), "");  // added
  EXPECT_EQ(twins.call(tensor({2, 1})), "");
}

TEST(FailedSteps, ASliceOutOfRange) {
  Twins twins({zeros({4}), tensor(0)}, [](const Variables &v, const Tensor &at) {
    v[0].assign(v[0] + 1);
    v[1].assign_add(1);
    v[0].assign(update_slice(v[0], at, 7.f));
    v[1].assign_add(10);
  });
  EXPECT_EQ(twins.call(tensor(3)), "");
  EXPECT_NE(twins.call(tensor(4)), "");
  EXPECT_EQ(twins.call(tensor(0)), "");
}

TEST(FailedSteps, SizesThatDoNotFit) {
  Twins twins({zeros({4}), tensor(0.f)},
              [](const Variables &v, const Tensor &x) {
                v[1].assign(sum(x));
                v[0].assign(v[0] + 1);
                v[0].assign(v[0] * x);
                v[1].assign(-1.f);
              },
              {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(twins.call(kGood), "");
  EXPECT_NE(twins.call(ones({3})), "");
  EXPECT_EQ(twins.call(kBad), "");
}

const Tensor kRegular = tensor({{2.f, 1.f}, {1.f, 3.f}});
const Tensor kSingular = tensor({{1.f, 2.f}, {2.f, 4.f}});

// What the library's routines throw is an error of the function that the user called, on its line.
TEST(FailedSteps, AMatrixWithoutInverse) {
  Twins twins({ones({2}), zeros({2}), tensor(0)}, [](const Variables &v, const Tensor &x) {
    v[0].assign(v[0] * 2);
    v[2].assign_add(1);
    v[1].assign(linalg::solve(x, v[0])); // line
    v[0].assign(v[1] + 1);
    v[2].assign_add(10);
  });
  const auto line = std::to_string(__LINE__ - 4);
  for (const Tensor &x : {kSingular, kRegular, kSingular, kSingular, kRegular}) {
    const std::string said = twins.call(x);
    EXPECT_EQ(twins.said(), said);
    if (!said.empty())
      EXPECT_EQ(said,
                "FailedStepsTest.cpp:" + line + ": error: linalg.solve: the matrix has no inverse");
  }
}

// A matrix of a batch is solved before the one that fails: the variable that the result would take
// the place of is not written to.
TEST(FailedSteps, ABatchThatIsSolvedInPart) {
  Twins twins({ones({2, 2, 2})}, [](const Variables &v, const Tensor &x) {
    const Tensor two[] = {eye(2) * 2, x};
    v[0].assign(linalg::inv(stack(two)));
    v[0].assign(v[0] * 2);
  });
  for (const Tensor &x : {kSingular, kRegular, kSingular}) {
    const std::string said = twins.call(x);
    EXPECT_EQ(twins.said(), said);
  }
}

TEST(FailedSteps, AMatrixWithoutInverseDeepInside) {
  // The determinant of what is factored becomes 0 in the fourth iteration.
  Twins twins({zeros({2, 2}), tensor(0), tensor(0.f), zeros({2})},
              [](const Variables &v, const Tensor &x) {
                v[3].assign(ones({2}));
                for_loop(6, [&](const Tensor &i) {
                  v[0].assign(x * cast(3 - i, f32));
                  v[1].assign_add(1);
                  if_(i > 0, [&] {
                    const Tensor kept = v[3];
                    v[3].assign(v[3] * 2);
                    v[2].assign(sum(linalg::cholesky(v[0])));
                    v[3].assign(kept + v[2]);
                  });
                  v[1].assign_add(100);
                });
                v[3].assign(zeros({2}));
              });
  for (const Tensor &x : {kRegular, kSingular, kRegular}) {
    const std::string said = twins.call(x);
    EXPECT_NE(said.find("linalg.cholesky: the matrix is not positive definite"), said.npos);
    EXPECT_EQ(twins.said(), said);
  }
}

// Variables trade their buffers; the routine is one of a derivative.
TEST(FailedSteps, ADerivativeThatIsNotThere) {
  Twins twins({ones({2}), zeros({2}), tensor(0.f)}, [](const Variables &v, const Tensor &x) {
    const Tensor old = v[0];
    v[0].assign(v[1]);
    v[1].assign(old + 1);
    const auto first = [](const Tensor &a) { return sum(linalg::qr(a).Q * kRegular); };
    v[2].assign(sum(grad(first)(x)));
    v[0].assign(v[0] + v[2]);
  });
  for (const Tensor &x : {zeros({2, 2}), kRegular, zeros({2, 2})}) {
    const std::string said = twins.call(x);
    EXPECT_EQ(twins.said(), said);
  }
}

// Sizes that a routine compares itself.
TEST(FailedSteps, SizesThatARoutineRefuses) {
  Twins twins({zeros({4}), tensor(0.f)},
              [](const Variables &v, const Tensor &x) {
                v[1].assign(sum(x));
                v[0].assign(v[0] + 1);
                const Tensor found = linalg::solve_triangular(eye(2) * 2, x);
                v[0].assign(v[0] * sum(found));
                v[1].assign(-1.f);
              },
              {.signature = {spec(f32, {unknown})}});
  EXPECT_EQ(twins.call(ones({2})), "");
  EXPECT_NE(twins.call(ones({3})), "");
  EXPECT_NE(twins.said().find("linalg.solve_triangular: "), std::string::npos) << twins.said();
  EXPECT_EQ(twins.call(ones({2})), "");
}

TEST(FailedSteps, ASinkThatThrows) {
  Twins twins({zeros({4}), tensor(0)}, [](const Variables &v, const Tensor &x) {
    const Tensor old = v[0];
    v[0].assign(old + x);
    v[1].assign_add(1);
    print("now", v[0], v[1]);
    v[0].assign(old * 2);
    v[1].assign_add(1);
  });
  {
    const Printed printed;
    EXPECT_EQ(twins.call(kGood), "");
  }
  PrintSink before = set_print_sink([](std::string_view) { throw IOError("the sink is full"); });
  EXPECT_EQ(twins.call(kGood), "the sink is full");
  EXPECT_EQ(twins.call(kBad), "the sink is full");
  set_print_sink(std::move(before));
  const Printed printed;
  EXPECT_EQ(twins.call(kGood), "");
}

} // namespace
} // namespace weft
