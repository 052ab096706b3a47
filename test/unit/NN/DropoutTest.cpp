// Dropout: rates, scale, gradients, eager and inside a traced training step.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

using random::Generator;

TEST(Dropout, KeepsTheMean) {
  const Generator g(1);
  const Tensor y = nn::dropout(ones({100000}), 0.2, g);
  std::int64_t kept = 0;
  for (const float value : y.span<float>()) {
    ASSERT_TRUE(value == 0 || value == 1.25f);
    kept += value != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept), 80000, 700);
}

TEST(Dropout, DoesNothingOutsideOfTraining) {
  const Generator g(1);
  const nn::Dropout layer(0.5, g);
  const Tensor x = tensor({1.f, 2.f, 3.f, 4.f});
  EXPECT_EQ(layer(x).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(nn::dropout(x, 0, g).to_vector<float>(), x.to_vector<float>());
  EXPECT_EQ(g.state().value()[1].item<std::int64_t>(), 0);
  EXPECT_EQ(layer(x.astype(f64), {.training = true}).dtype(), f64);
  EXPECT_EQ(g.state().value()[1].item<std::int64_t>(), 1);
}

TEST(Dropout, TheGradientIsTheMask) {
  const auto both = [](const Generator &g, const Tensor &x) {
    GradientTape tape;
    tape.watch(x);
    const Tensor y = nn::dropout(x, 0.4, g);
    auto [dx] = tape.gradient(sum(y), {x});
    return std::tuple(y, dx);
  };
  const Tensor x = full({64, 3}, 2.f);
  const Generator eager(2), traced(2);
  auto step = function([&](const Tensor &v) { return both(traced, v); });
  for (int call = 0; call < 3; ++call) {
    const auto [y, dx] = both(eager, x);
    EXPECT_EQ(y.to_vector<float>(), (x * dx).to_vector<float>());
    const auto [traced_y, traced_dx] = step(x);
    EXPECT_EQ(y.to_vector<float>(), traced_y.to_vector<float>());
    EXPECT_EQ(dx.to_vector<float>(), traced_dx.to_vector<float>());
  }
}

TEST(Dropout, InATracedTrainingStep) {
  const auto train = [](bool compiled) {
    const nn::Dense dense(8, 4, {.seed = 1});
    const nn::Dropout drop(0.5, Generator(3));
    const optimizers::SGD sgd(dense.parameters(), {.learning_rate = 0.1});
    const auto step = [&](const Tensor &x) {
      GradientTape tape;
      const Tensor loss = mean(square(dense(drop(x, {.training = true}))));
      sgd.apply_gradients(tape.gradient(loss, dense.parameters()));
      return loss;
    };
    auto f = function(step);
    std::vector<float> losses;
    for (int i = 0; i < 4; ++i) {
      const Tensor x = random::normal({16, 8}, {.seed = static_cast<std::uint64_t>(i)});
      losses.push_back((compiled ? f(x) : step(x)).item<float>());
    }
    return losses;
  };
  const std::vector<float> eager = train(false), traced = train(true);
  for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_NEAR(eager[i], traced[i], 1e-6) << i;
}

TEST(Dropout, BadRates) {
  EXPECT_THROWS(nn::dropout(zeros({2}), 1), ValueError,
                "dropout: the rate must be at least 0 and below 1, but it is 1");
  EXPECT_THROWS(nn::Dropout(-0.5), ValueError,
                "dropout: the rate must be at least 0 and below 1, but it is -0.5");
  EXPECT_THROWS(nn::dropout(tensor({1, 2}), 0.5), DTypeError,
                "dropout: x must be floating, but it is i32");
}

} // namespace
} // namespace weft
