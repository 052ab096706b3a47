// The rows of TensorFlow's guides that are about values, tapes, control flow and functions, in C++.
#include <cmath>
#include <functional>
#include <sstream>

#include <gmock/gmock.h>

#include "../Testing.h"
#include <weft/weft.h>

namespace weft {
namespace {

using ::testing::ElementsAre;

std::string text_of(const Tensor &tensor) {
  std::ostringstream text;
  text << tensor;
  return text.str();
}

/// What print says while `f` runs.
template <class F>
std::string printed(const F &f) {
  std::string all;
  const PrintSink before = set_print_sink([&](std::string_view line) {
    all += line;
    all += '\n';
  });
  f();
  set_print_sink(before);
  return all;
}

TEST(Rows, S000_1_S002_1_S004_13_EagerFromTheStart) {
  EXPECT_FALSE((Tensor(ones({2})) + 1).traced());
  bool traced = false;
  function([&](const Tensor &x) {
    traced = (x + 1).traced();
    return x;
  })(ones({2}));
  EXPECT_TRUE(traced);
  EXPECT_FALSE((Tensor(ones({2})) + 1).traced()); // nothing is switched by a trace
}

TEST(Rows, S000_2_S000_8_S002_9_S004_2_LookingDoesNotDisturbGradients) {
  Variable w(tensor({{1.0f}}), "w");
  GradientTape tape;
  const Tensor loss = w * w;
  EXPECT_NE(text_of(loss).find("[[1"), std::string::npos);
  EXPECT_EQ(loss.item<float>(), 1);
  EXPECT_THAT(tape.gradient(loss, w).to_vector<float>(), ElementsAre(2));
}

TEST(Rows, S000_11_S004_14_OneSourceBothWays) {
  const auto f = [](const Tensor &x) { return sum(x * x); };
  EXPECT_EQ(function(f)(arange(5, f32)).item<float>(), f(arange(5, f32)).item<float>());
}

TEST(Rows, S001_2_CollectionsInLoops) {
  const auto squares = function([](const Tensor &n) {
    TensorArray all(i32, {});
    const auto [i, filled] = while_loop(
        [&](const Tensor &i, const TensorArray &) { return i < n; },
        [](const Tensor &i, const TensorArray &a) { return std::pair(i + 1, a.append(i * i)); },
        zeros({}, i32), all);
    return filled.stack();
  });
  EXPECT_THAT(squares(tensor(5)).to_vector<std::int32_t>(), ElementsAre(0, 1, 4, 9, 16));
}

TEST(Rows, S001_3_DtypesAndShapesInControlFlow) {
  const auto dtype = function([](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return x; }, [&] { return cast(x, i32); });
  });
  EXPECT_THROW(dtype(ones({2})), DTypeError);
  const auto shape = function([](const Tensor &x) {
    return while_loop([](Tensor i, Tensor) { return i < 3; },
                      [](Tensor i, Tensor s) { return std::pair(i + 1, sum(s)); }, zeros({}, i32),
                      x);
  });
  EXPECT_THROW(shape(ones({2})), ShapeError);
}

TEST(Rows, S001_4_UndefinedInControlFlow) {
  const Tensor none;
  const auto f = [&](const Tensor &x) {
    return cond(sum(x) > 0, [&] { return x; }, [&] { return none; });
  };
  EXPECT_EQ(f(ones({2})).to_vector<float>().size(), 2U);
  EXPECT_THROW(function(f)(ones({2})), Error);
}

TEST(Rows, S002_2_S002_3_S002_4_S002_5_S004_3_Values) {
  const Tensor x = tensor({{2.0f}});
  EXPECT_EQ(matmul(x, x).item<float>(), 4);
  const Tensor a = tensor({{1, 2}, {3, 4}});
  EXPECT_EQ(text_of(a), "tensor([[1, 2],\n        [3, 4]], shape=(2, 2), dtype=i32)");
  const Tensor b = a + 1;
  EXPECT_EQ(b.dtype(), i32);
  EXPECT_THAT(b.to_vector<std::int32_t>(), ElementsAre(2, 3, 4, 5));
  EXPECT_THAT((a * b).to_vector<std::int32_t>(), ElementsAre(2, 6, 12, 20));
}

TEST(Rows, S002_8_S004_15_FizzBuzz) {
  std::string all;
  Tensor counter = tensor(0);
  const Tensor most = tensor(15);
  for (int n = 1; n <= most.item<std::int32_t>(); ++n) {
    const Tensor number = tensor(n);
    const bool three = (number % 3).item<std::int32_t>() == 0;
    const bool five = (number % 5).item<std::int32_t>() == 0;
    all += three && five ? "FizzBuzz" : three ? "Fizz" : five ? "Buzz" : std::to_string(n);
    all += ' ';
    counter = counter + 1;
  }
  EXPECT_EQ(all, "1 2 Fizz 4 Buzz Fizz 7 8 Fizz Buzz 11 Fizz 13 14 FizzBuzz ");
  EXPECT_EQ(counter.item<std::int32_t>(), 15);
}

TEST(Rows, S002_10_ATapeGivesOneGradient) {
  Variable w(1.0f, "w");
  GradientTape tape;
  const Tensor loss = w * w;
  tape.gradient(loss, w);
  EXPECT_THROW(tape.gradient(loss, w), StateError);
}

struct Linear {
  Variable w{5.0f, "W"}, b{10.0f, "B"};
  Tensor operator()(const Tensor &x) const { return x * w + b; }
  WEFT_FIELDS(Linear, w, b)
};

TEST(Rows, S002_17_S002_18_S002_19_S002_20_S002_21_FitALine) {
  const Tensor inputs = random::normal({2000}, {.seed = 1}),
               noise = random::normal({2000}, {.seed = 2}), outputs = inputs * 3 + 2 + noise;
  Linear model;
  optimizers::SGD sgd(model, {.learning_rate = 0.01});
  const auto loss = [&] { return mean(square(model(inputs) - outputs)); };
  EXPECT_NEAR(loss().item<float>(), 69, 8);
  std::vector<float> losses;
  for (int step = 0; step < 300; ++step) {
    GradientTape tape;
    const Tensor now = loss();
    sgd.apply_gradients(tape.gradient(now, model));
    if (step % 20 == 0) losses.push_back(now.item<float>());
  }
  EXPECT_EQ(losses.size(), 15U);
  for (std::size_t i = 1; i < losses.size(); ++i) EXPECT_LT(losses[i], losses[i - 1]);
  EXPECT_NEAR(loss().item<float>(), 1, 0.1); // the noise's variance
  EXPECT_NEAR(model.w.value().item<float>(), 3, 0.1);
  EXPECT_NEAR(model.b.value().item<float>(), 2, 0.1);
}

TEST(Rows, S002_31_LineSearch) {
  const auto f = [](const Tensor &x) { return sum(square(x)); };
  const auto step = [&](const Tensor &x, double rate) {
    GradientTape tape;
    tape.watch(x);
    const Tensor value = f(x);
    const Tensor gradient = tape.gradient(value, x);
    const float norm = sum(gradient * gradient).item<float>();
    Tensor next = x;
    float now = value.item<float>();
    while (now > value.item<float>() - rate * norm) {
      next = x - rate * gradient;
      now = f(next).item<float>();
      rate /= 2;
    }
    return std::pair(next, now);
  };
  const auto [x, value] = step(tensor({3.0f, 4.0f}), 1.0);
  EXPECT_LT(value, 25);
}

TEST(Rows, S002_32_ClippedGradient) {
  const auto clip = custom_gradient([](const Tensor &x, const Tensor &norm) {
    return Pullback{x, [=](const Tensor &dy) {
                      const Tensor length = sqrt(sum(dy * dy));
                      return std::pair(dy * minimum(norm / length, 1), zeros_like(norm));
                    }};
  });
  const Tensor x = tensor({1.0f, 2.0f});
  GradientTape tape;
  tape.watch(x);
  const Tensor y = clip(x, tensor(1.0f));
  EXPECT_THAT(y.to_vector<float>(), ElementsAre(1, 2));
  const auto slope = tape.gradient(sum(y * tensor({3.0f, 4.0f})), x).to_vector<float>();
  EXPECT_NEAR(slope[0], 0.6, 1e-6);
  EXPECT_NEAR(slope[1], 0.8, 1e-6);
}

TEST(Rows, S002_33_S002_34_Log1pExp) {
  const auto plain = grad([](const Tensor &x) { return log(1 + exp(x)); });
  EXPECT_EQ(plain(0.0f).item<float>(), 0.5);
  EXPECT_TRUE(std::isnan(plain(100.0f).item<float>()));
  const auto stable = grad(custom_gradient([](Tensor x) {
    const Tensor e = exp(x);
    return Pullback{log(1 + e), [=](const Tensor &dy) { return dy * (1 - 1 / (1 + e)); }};
  }));
  EXPECT_EQ(stable(0.0f).item<float>(), 0.5);
  EXPECT_EQ(stable(100.0f).item<float>(), 1);
}

TEST(Rows, S003_1_S003_2_S003_3_ValuesBranchesGradients) {
  const Tensor product = matmul(ones({2, 2}), cast(tensor({{1, 2}, {3, 4}}), f32));
  EXPECT_THAT(product.to_vector<float>(), ElementsAre(4, 6, 4, 6));
  const Tensor r = random::uniform({}, {.seed = 3}), m = reshape(arange(4, i32), {2, 2});
  const Tensor chosen = r.item<float>() > 0.5f ? matmul(m, m) : m + m;
  EXPECT_EQ(chosen.to_vector<std::int32_t>(),
            (r.item<float>() > 0.5f ? std::vector<std::int32_t>{2, 3, 6, 11}
                                    : std::vector<std::int32_t>{0, 2, 4, 6}));
  Variable w(tensor({{1.0f}}), "w");
  GradientTape tape;
  EXPECT_THAT(tape.gradient(w * w + 2 * w + 5, w).to_vector<float>(), ElementsAre(4));
}

TEST(Rows, S003_4_S003_7_S003_8_BranchesAndLoopsBothWays) {
  const auto square_if_positive = [](const Tensor &x) {
    return cond(x > 0, [&] { return x * x; }, [&] { return x * 0; });
  };
  for (const float x : {9.0f, -9.0f}) {
    EXPECT_EQ(square_if_positive(tensor(x)).item<float>(), x > 0 ? 81 : 0);
    EXPECT_EQ(function(square_if_positive)(tensor(x)).item<float>(), x > 0 ? 81 : 0);
  }
  const auto sum_even = [](const Tensor &items) {
    return for_loop(
        items.shape()[0],
        [&](const Tensor &i, const Tensor &s) {
          const Tensor item = gather(items, i);
          return cond(item % 2 > 0, [&] { return s; }, [&] { return s + item; });
        },
        zeros({}, i32));
  };
  const Tensor items = tensor({10, 12, 15, 20});
  EXPECT_EQ(sum_even(items).item<std::int32_t>(), 42);
  EXPECT_EQ(function(sum_even)(items).item<std::int32_t>(), 42);
}

TEST(Rows, S003_10_FunctionEqualsItsSource) {
  const auto f = [](const Tensor &x, const Tensor &y) { return mean(multiply(square(x), 3) + y); };
  const Tensor x = tensor({{2.0f, -2.0f}}), y = tensor({{3.0f, 13.0f}});
  EXPECT_EQ(f(x, y).item<float>(), 20);
  EXPECT_EQ(function(f)(x, y).item<float>(), 20);
}

TEST(Rows, S003_14_NestedFunctions) {
  const auto compute_z1 = function([](const Tensor &x, const Tensor &y) { return x + y; });
  const auto compute_z0 = function([&](const Tensor &x) { return compute_z1(x, square(x)); });
  EXPECT_EQ(compute_z0(tensor(2.0f)).item<float>(), 6);
  EXPECT_EQ(compute_z1(tensor(2.0f), tensor(2.0f)).item<float>(), 4);
}

TEST(Rows, S003_15_S003_16_S003_22_S000_10_TracedOncePerSignature) {
  int traces = 0;
  const auto twice = function([&](const Tensor &x) {
    ++traces;
    return x + x;
  });
  EXPECT_EQ(traces, 0); // at the first call
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(twice(tensor(1)).item<std::int32_t>(), 2);
    EXPECT_FLOAT_EQ(twice(tensor(1.1f)).item<float>(), 2.2f);
    EXPECT_THAT(twice(tensor({1, 2})).to_vector<std::int32_t>(), ElementsAre(2, 4));
  }
  EXPECT_EQ(traces, 3);
}

TEST(Rows, S003_17_Signatures) {
  const auto f =
      function([](const Tensor &x) { return x + 1; }, {.signature = {spec(f32, any_rank)}});
  EXPECT_EQ(f(tensor(1.0f)).item<float>(), 2);
  EXPECT_THAT(f(tensor({1.0f})).to_vector<float>(), ElementsAre(2));
  EXPECT_THROW(f(tensor({1})), DTypeError);
}

TEST(Rows, S003_20_S003_23_MethodsWithState) {
  struct ScalarModel {
    Variable v{0, "v"};
    Function<std::function<Tensor(Tensor)>> increment =
        function(std::function<Tensor(Tensor)>([v = v](const Tensor &by) {
          v.assign_add(by);
          return v.value();
        }));
  };
  ScalarModel first;
  EXPECT_EQ(first.increment(tensor(3)).item<std::int32_t>(), 3);
  EXPECT_EQ(first.increment(tensor(4)).item<std::int32_t>(), 7);
  ScalarModel second;
  EXPECT_EQ(second.increment(tensor(5)).item<std::int32_t>(), 5);
}

TEST(Rows, S003_21_PrintsInOrder) {
  const auto print_elements = function([](const Tensor &items) {
    for_loop(items.shape()[0], [&](const Tensor &i) { print("{}", gather(items, i)); });
  });
  EXPECT_EQ(printed([&] { print_elements(tensor({1, 5, 6, 8, 3})); }), "1\n5\n6\n8\n3\n");
}

TEST(Rows, S003_9_S002_39_FunctionsAreFasterOnSmallOps) {
  const auto chain = [](Tensor x) {
    for (int i = 0; i < 100; ++i) x = x * 1.0001f + 0.001f;
    return x;
  };
  const auto compiled = function(chain);
  const Tensor x = ones({8});
  const auto seconds = [&](const auto &f) {
    f(x);
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < 300; ++i) f(x);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  EXPECT_LT(seconds(compiled), seconds(chain)); // it is a tenth
}

} // namespace
} // namespace weft
