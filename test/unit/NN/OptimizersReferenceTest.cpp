// Optimizers and schedules against Keras 3, eager and traced; models as what is optimized;
// clipping, accumulation, averages.
#include "../Testing.h"

#include <cmath>
#include <functional>
#include <map>
#include <memory>

#include <weft/weft.h>

namespace weft {
namespace {

using Doubles = std::vector<double>;
using namespace optimizers;

#include "Reference/Optimizers.inc"

using Make = std::function<Optimizer(const std::vector<Variable> &)>;

template <class O>
Make with(const typename O::Options &options = {}) {
  return [options](const std::vector<Variable> &variables) { return O(variables, options); };
}

const std::map<std::string, Make> &makers() {
  static const std::map<std::string, Make> all = {
      {"SGD", with<SGD>({.learning_rate = 0.1})},
      {"SGD momentum", with<SGD>({.learning_rate = 0.1, .momentum = 0.9})},
      {"SGD nesterov", with<SGD>({.learning_rate = 0.1, .momentum = 0.9, .nesterov = true})},
      {"SGD decay", with<SGD>({.learning_rate = 0.1, .weight_decay = 0.1})},
      {"SGD clip_value", with<SGD>({.learning_rate = 0.1, .clip_value = 0.15})},
      {"SGD clip_norm", with<SGD>({.learning_rate = 0.1, .clip_norm = 0.3})},
      {"SGD clip_global_norm", with<SGD>({.learning_rate = 0.1, .clip_global_norm = 0.3})},
      {"SGD accumulate", with<SGD>({.learning_rate = 0.1, .accumulate = 2})},
      {"Adam", with<Adam>({.learning_rate = 0.1})},
      {"Adam amsgrad", with<Adam>({.learning_rate = 0.1, .amsgrad = true})},
      {"Adam schedule",
       with<Adam>({.learning_rate = exponential_decay(0.1, {.steps = 2, .rate = 0.5})})},
      {"AdamW", with<AdamW>({.learning_rate = 0.1})},
      {"RMSprop", with<RMSprop>({.learning_rate = 0.1})},
      {"RMSprop momentum", with<RMSprop>({.learning_rate = 0.1, .momentum = 0.5})},
      {"RMSprop centered",
       with<RMSprop>({.learning_rate = 0.1, .momentum = 0.5, .centered = true})},
      {"Adagrad", with<Adagrad>({.learning_rate = 0.1})},
      {"Adadelta", with<Adadelta>({.learning_rate = 0.1})},
      {"Lamb", with<Lamb>({.learning_rate = 0.1})},
      {"Lion", with<Lion>({.learning_rate = 0.1})},
  };
  return all;
}

constexpr int kSteps = 5;

/// The weights after each step, as optimizers.py writes them.
Doubles weights_of(const Make &make, DType dtype, bool traced) {
  const Variable kernel(tensor({1., -2., .5}).astype(dtype), "kernel"),
      bias(tensor({.25}).astype(dtype), "bias");
  const Optimizer optimizer = make({kernel, bias});
  const auto step = [&](const Tensor &dk, const Tensor &db) {
    optimizer.apply_gradients({dk, db});
  };
  auto compiled = function(step);
  Doubles all;
  for (int t = 0; t < kSteps; ++t) {
    const Tensor dk = (tensor({.1, -.2, 1e-3}) * ((1. + t) * (t % 2 == 0 ? 1 : -1))).astype(dtype),
                 db = tensor({3. - t}).astype(dtype);
    if (traced) compiled(dk, db);
    else step(dk, db);
    for (const Variable &v : {kernel, bias})
      for (const double value : v.value().astype(f64).to_vector<double>()) all.push_back(value);
  }
  return all;
}

TEST(Optimizers, StepsAreThoseOfKeras) {
  ASSERT_EQ(makers().size(), keras_weights.size());
  for (const auto &[name, make] : makers()) {
    const Doubles &expected = keras_weights.at(name);
    for (const bool traced : {false, true}) {
      const Doubles found = weights_of(make, f64, traced);
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i)
        EXPECT_NEAR(found[i], expected[i], 2e-15 + 1e-7 * (name == "Adam schedule"))
            << name << " traced " << traced << " number " << i;
    }
  }
}

TEST(Optimizers, EagerAndTracedAreTheSameBits) {
  for (const auto &[name, make] : makers())
    for (const DType dtype : {f32, f64})
      EXPECT_EQ(weights_of(make, dtype, false), weights_of(make, dtype, true)) << name;
}

TEST(Optimizers, SchedulesAreThoseOfKeras) {
  const std::map<std::string, Schedule> schedules = {
      {"exponential", exponential_decay(0.1, {.steps = 4, .rate = 0.5})},
      {"staircase", exponential_decay(0.1, {.steps = 4, .rate = 0.5, .staircase = true})},
      {"cosine", cosine_decay(0.1, {.steps = 10, .alpha = 0.1})},
      {"cosine warmup",
       cosine_decay(0.01, {.steps = 10, .alpha = 0.1, .warmup = 5, .target = 0.2})},
      {"piecewise", piecewise_constant({3, 7}, {1, 0.5, 0.1})},
      {"polynomial", polynomial_decay(0.1, {.steps = 10, .end = 0.01, .power = 2})},
      {"inverse time", inverse_time_decay(0.1, {.steps = 4, .rate = 0.5})},
  };
  ASSERT_EQ(schedules.size(), keras_rates.size());
  for (const auto &[name, schedule] : schedules) {
    auto traced = function(schedule);
    for (std::int64_t t = 0; t < 18; ++t) {
      const double expected = keras_rates.at(name)[static_cast<std::size_t>(t)];
      const Tensor rate = schedule(tensor(t));
      EXPECT_EQ(rate.type(), (TensorType{f64, {}})) << name;
      EXPECT_NEAR(rate.item<double>(), expected, 1e-6 * expected) << name << " at " << t;
      EXPECT_EQ(traced(tensor(t)).item<double>(), rate.item<double>()) << name << " at " << t;
    }
  }
}

// The definition: up to the largest at step 0.3 * 20 - 1, down to the end at step 19.
TEST(Optimizers, OneCycle) {
  const Schedule cycle = one_cycle(0.5, {.steps = 20});
  const auto at = [&](std::int64_t t) { return cycle(tensor(t)).item<double>(); };
  EXPECT_NEAR(at(0), 0.02, 1e-15);
  EXPECT_NEAR(at(5), 0.5, 1e-15);
  EXPECT_NEAR(at(19), 2e-6, 1e-15);
  EXPECT_NEAR(at(12), 0.25 + 1e-6, 1e-12);
  EXPECT_NEAR(at(100), 2e-6, 1e-15);
  const Schedule rising = warmup(0.5, 10, cosine_decay(0.5, {.steps = 10}));
  EXPECT_EQ(rising(tensor(5)).item<double>(), 0.25);
  EXPECT_EQ(rising(tensor(10)).item<double>(), 0.5);
  EXPECT_NEAR(rising(tensor(15)).item<double>(), 0.25, 1e-15);
}

TEST(Optimizers, APlateauLowersTheRate) {
  ReduceOnPlateau plateau(0.1, {.factor = 0.5, .patience = 2, .cooldown = 1, .min_rate = 0.02});
  const Variable w(tensor({1.}), "w");
  const SGD sgd({w}, {.learning_rate = plateau.rate()});
  auto step = function([&](const Tensor &g) { sgd.apply_gradients({g}); });
  const auto rates = [&](std::initializer_list<double> losses) {
    Doubles all;
    for (const double loss : losses) {
      plateau.update(loss);
      all.push_back(plateau.rate().value().item<double>());
    }
    return all;
  };
  EXPECT_EQ(rates({1, 1, 1, 1, 1, 1}), (Doubles{0.1, 0.1, 0.05, 0.05, 0.025, 0.025}));
  step(tensor({1.}));
  EXPECT_EQ(w.value()[0].item<double>(), 1 - 0.025);
  EXPECT_EQ(rates({0.5, 1, 1, 1, 1, 1}), (Doubles{0.025, 0.025, 0.02, 0.02, 0.02, 0.02}));
}

struct Net {
  nn::Dense a{8, {.activation = relu}}, b{2};
  WEFT_FIELDS(Net, a, b)
  Tensor operator()(const Tensor &x) const { return b(a(x)); }
};
const Tensor inputs = reshape(iota(f32, {24}), {6, 4}) / 24.;

// Of a model whose sizes are open, eagerly, by a step that is traced first, and as an argument.
TEST(Optimizers, TrainAModelWithOpenSizes) {
  std::vector<std::vector<float>> losses;
  for (const int way : {0, 1, 2}) {
    Net net;
    nn::seed(net, 3);
    const Adam adam(net, {.learning_rate = 0.05, .clip_global_norm = 1});
    const auto step = [&](const Net &model, const Adam &optimizer, const Tensor &x) {
      GradientTape tape;
      const Tensor loss = mean(square(model(x) - 1));
      optimizer.apply_gradients(tape.gradient(loss, model));
      return loss;
    };
    auto by_capture = function([&](const Tensor &x) { return step(net, adam, x); });
    auto by_argument = function(step);
    std::vector<float> own;
    for (int i = 0; i < 6; ++i) {
      const Tensor loss = way == 0   ? step(net, adam, inputs)
                          : way == 1 ? by_capture(inputs)
                                     : by_argument(net, adam, inputs);
      own.push_back(loss.item<float>());
    }
    EXPECT_EQ(adam.step().item<std::int64_t>(), 6);
    EXPECT_EQ(adam.state().size(), 9u);
    EXPECT_LT(own.back(), own.front());
    losses.push_back(own);
  }
  EXPECT_EQ(losses[0], losses[1]);
  EXPECT_EQ(losses[0], losses[2]);
}

TEST(Optimizers, Minimize) {
  const Variable w(tensor({3., -1.}), "w");
  const SGD sgd({w}, {.learning_rate = 0.25});
  for (int i = 0; i < 3; ++i) sgd.minimize([&] { return sum(square(w - 1)); });
  EXPECT_EQ(w.value().to_vector<double>(), (Doubles{1.25, 0.75}));
}

TEST(Optimizers, GradientsOfAnotherModel) {
  Net net, other;
  static_cast<void>(net(inputs));
  GradientTape tape;
  const Tensor loss = sum(other(inputs));
  const SGD sgd(net);
  EXPECT_THROWS(sgd.apply_gradients(tape.gradient(loss, other)), ValueError,
                "SGD: the gradients are of another model, with 4 variables where the optimizer has "
                "4: number 0 is 'a.kernel' f32(4, 8) in both, but not the same variable: one model "
                "is a clone of the other, or was made like it");
}

TEST(Optimizers, AveragesOfWeights) {
  const Variable w(tensor({1.}), "w");
  const SGD sgd({w}, {.learning_rate = 1., .average = 0.5});
  for (int i = 0; i < 3; ++i) sgd.apply_gradients({tensor({-1.})});
  // Weights 2, 3, 4: averages 2, 2.5, 3.25.
  sgd.swap_averages();
  EXPECT_EQ(w.value()[0].item<double>(), 3.25);
  sgd.swap_averages();
  EXPECT_EQ(w.value()[0].item<double>(), 4);
  // Before the first update the average is the weight.
  const Variable v(tensor({3.}), "v");
  SGD({v}, {.average = 0.5}).swap_averages();
  EXPECT_EQ(v.value()[0].item<double>(), 3);
  EXPECT_THROWS(SGD({w}).swap_averages(), StateError,
                "SGD: swap_averages: it keeps no averages: make it with the option average");
}

TEST(Optimizers, DecayLeavesOut) {
  const Variable kernel(tensor({1.}), "a.kernel"), bias(tensor({1.}), "a.bias");
  const SGD sgd({kernel, bias}, {.learning_rate = 0.5, .weight_decay = 0.5, .no_decay = {"bias"}});
  sgd.apply_gradients({tensor({0.}), tensor({0.})});
  EXPECT_EQ(kernel.value()[0].item<double>(), 0.75);
  EXPECT_EQ(bias.value()[0].item<double>(), 1);
}

TEST(Optimizers, OneThatIsNotFiniteStopsAll) {
  const Variable a(tensor({1.}), "a"), b(tensor({1.}), "b");
  const SGD sgd({a, b}, {.clip_global_norm = 1});
  sgd.apply_gradients({tensor({static_cast<double>(INFINITY)}), tensor({1.})});
  EXPECT_TRUE(std::isnan(b.value()[0].item<double>()));
}

// A limit above what the dtype holds changes nothing.
TEST(Optimizers, LargeLimits) {
  const Variable v(full({2}, 3.f), "v");
  SGD({v}, {.learning_rate = 1., .clip_norm = 1e39}).apply_gradients({ones({2})});
  EXPECT_EQ(v.value()[0].item<float>(), 2);
  EXPECT_THROWS(SGD({v}, {.learning_rate = Schedule()}), ValueError,
                "the learning rate is a schedule that is empty: give it a function");
}

TEST(Optimizers, RatesThatCannotBe) {
  const Variable w(tensor({1.}), "w"), rate(tensor(0.5), "rate");
  const Adam adam({w}, {.learning_rate = rate});
  EXPECT_EQ(adam.learning_rate().item<double>(), 0.5);
  auto traced = function([&](const Tensor &g) { adam.apply_gradients({g}); });
  const std::vector<Doubles> before = {w.value().to_vector<double>()};
  for (const double bad : {-1., static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    rate.assign(bad);
    EXPECT_THROW(adam.apply_gradients({tensor({1.})}), ValueError);
    EXPECT_THROW(traced(tensor({1.})), AssertionError);
    EXPECT_EQ(w.value().to_vector<double>(), before[0]);
    EXPECT_EQ(adam.step().item<std::int64_t>(), 0);
  }
  EXPECT_THROWS(Adam({w}, {.clip_norm = 1, .clip_global_norm = 1}), ValueError,
                "Adam: at most one of clip_value, clip_norm and clip_global_norm may be given");
  EXPECT_THROWS(Adam({w}, {.clip_norm = 0}), ValueError,
                "Adam: clip_norm is 0, but must be positive");
  EXPECT_THROWS(Adam({w}, {.accumulate = 0}), ValueError,
                "Adam: accumulate is 0, but must be at least 1");
  EXPECT_THROWS(Adam({w}, {.learning_rate = [](const Tensor &) { return ones({2}); }})
                    .apply_gradients({tensor({1.})}),
                ShapeError,
                "Adam: the learning rate must be a floating scalar, but the schedule gives "
                "f32(2,)");
  EXPECT_THROWS(exponential_decay(1, {.steps = 0, .rate = 1}), ValueError,
                "exponential_decay: steps is 0, but must be at least 1");
  EXPECT_THROWS(piecewise_constant({3, 3}, {1, 2, 3}), ValueError,
                "piecewise_constant: the boundaries must ascend");
}

// More elements than one thread takes at a time, and another owner of a value, which stays.
TEST(Optimizers, LargeVariables) {
  for (const DType dtype : {f32, f64}) {
    const Shape shape = {333, 401};
    const Tensor start = random::normal(shape, {.seed = 1, .dtype = dtype}),
                 gradient = random::normal(shape, {.seed = 2, .dtype = dtype});
    const Variable a(start, "a"), b(start, "b"), small(ones({3}, dtype), "small");
    const AdamW eager({a, small}), compiled({b});
    auto step = function([&](const Tensor &g) { compiled.apply_gradients({g}); });
    const Tensor kept = a.value();
    for (int i = 0; i < 2; ++i) {
      eager.apply_gradients({gradient, ones({3}, dtype)});
      step(gradient);
    }
    EXPECT_TRUE(all(a.value() == b.value()).item<bool>());
    EXPECT_TRUE(all(kept == start).item<bool>());
    // A gradient that is the weight itself, and one that is a view.
    eager.apply_gradients({a.value(), ones({3}, dtype)});
    step(b.value());
    eager.apply_gradients({transpose(reshape(gradient, {401, 333}), {1, 0}), ones({3}, dtype)});
    step(transpose(reshape(gradient, {401, 333}), {1, 0}));
    EXPECT_TRUE(all(a.value() == b.value()).item<bool>());
  }
}

} // namespace
} // namespace weft
