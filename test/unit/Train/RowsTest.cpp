// Programs of TensorFlow's guides, by their numbers, as they are written in C++: pipelines, models,
// steps and loops of training, eager and traced. A test may stand for several rows.
#include "../Testing.h"

#include <cmath>

#include <weft/weft.h>

namespace weft {
namespace {

struct Digits {
  Tensor images, labels;

  /// The 8 x 8 digits of the examples, from 0 to 1.
  Digits() {
    const std::string folder = WEFT_SOURCE_DIR "/examples/digits/data";
    images = data::read_idx(folder + "/digits-images.idx3-ubyte", {.dtype = f32});
    images = images[{ellipsis, newaxis}] / 16;
    labels = cast(data::read_idx(folder + "/digits-labels.idx1-ubyte"), i64);
  }
};

nn::Sequential small_network() {
  return nn::Sequential{nn::Conv2D(16, 3, {.activation = relu}),
                        nn::Conv2D(16, 3, {.activation = relu}), nn::GlobalAveragePooling2D(),
                        nn::Dense(10)};
}

// MNIST's sizes: 60,000 images make 1,875 batches of 32.
TEST(Rows, S000_3_S002_11_S004_12_Pipeline) {
  const Tensor images = cast(zeros({60'000, 28, 28}, boolean)[{ellipsis, newaxis}], f32) / 255;
  const Tensor labels = cast(zeros({60'000}, i32), i64);
  const data::Dataset dataset =
      data::from_tensors(images, labels).shuffle({.buffer = 1000}).batch(32);
  EXPECT_EQ(dataset.size(), 1875);
  for (const auto &[x, y] : dataset.take(1)) {
    EXPECT_EQ(x.type(), spec(f32, {32, 28, 28, 1}));
    EXPECT_EQ(y.type(), spec(i64, {32}));
  }
}

// A model of unknown image sizes has its variables after the first call, and works untrained.
TEST(Rows, S000_4_S002_12_S004_4_S004_5_Model) {
  const nn::Sequential model = small_network();
  const Tensor scores = model(random::uniform({1, 28, 28, 1}, {.seed = 1}));
  EXPECT_EQ(scores.shape(), (Shape{1, 10}));
  EXPECT_LT(max(abs(scores)).item<float>(), 1);
  std::vector<Shape> shapes;
  for (const Variable &variable : nn::trainable_variables(model))
    shapes.push_back(variable.shape());
  EXPECT_EQ(shapes,
            (std::vector<Shape>{{3, 3, 1, 16}, {16}, {3, 3, 16, 16}, {16}, {16, 10}, {10}}));
  EXPECT_EQ(nn::parameter_count(model), 2650);
}

// Adam's defaults, by its first update: each weight moves by the learning rate of 0.001, but for
// epsilon.
TEST(Rows, S000_5_S002_13_Adam) {
  const Variable w(tensor({1., -2.}));
  const optimizers::Adam adam({w});
  adam.apply_gradients({tensor({0.5, -3.})});
  const double first = 1e-3 * 0.5 / (0.5 + 1e-7 / std::sqrt(1 - 0.999));
  EXPECT_NEAR(w.value()[0].item<double>(), 1 - first, 1e-12);
  EXPECT_NEAR(w.value()[1].item<double>(), -2 + 1e-3, 1e-8);
  EXPECT_EQ(adam.learning_rate().item<double>(), 1e-3);
}

// The step that checks its logits' shape, eager and traced by the same source; the loss of each
// batch is a number of the history, and falls.
TEST(Rows, S000_6_S000_7_S002_14_S002_15_S002_16_S004_14_Training) {
  const Digits digits;
  std::vector<std::vector<float>> histories;
  for (const bool traced : {false, true}) {
    const nn::Sequential model = small_network();
    nn::seed(model, 4);
    const optimizers::Adam adam(model, {.learning_rate = 0.01});
    const data::Dataset dataset = data::from_tensors(digits.images, digits.labels)
                                      .shuffle({.buffer = 1000, .seed = 2})
                                      .batch(32, {.drop_remainder = true});
    const auto train_step = [&](const Tensor &images, const Tensor &labels) {
      GradientTape tape;
      const Tensor logits = model(images, {.training = true});
      EXPECT_EQ(logits.shape(), (Shape{32, 10}));
      const Tensor loss = losses::sparse_categorical_cross_entropy(labels, logits);
      adam.apply_gradients(tape.gradient(loss, model));
      return loss;
    };
    auto compiled = function(train_step);
    std::vector<float> history;
    for (int epoch = 0; epoch < 3; ++epoch)
      for (const auto &[images, labels] : dataset)
        history.push_back(
            (traced ? compiled(images, labels) : train_step(images, labels)).item<float>());
    EXPECT_EQ(history.size(), 3U * 56);
    EXPECT_LT(history.back(), 0.9F * history.front());
    histories.push_back(std::move(history));
  }
  EXPECT_EQ(histories[0], histories[1]);
}

// A value that is asked for inside a traced function is an error that says what to do; without it
// the same step works. The function is traced at its first call.
TEST(Rows, S000_9_S000_10_ValuesInATrace) {
  std::vector<float> losses;
  int traces = 0;
  auto wrong = function([&](const Tensor &x) {
    losses.push_back(mean(x).item<float>());
    return x;
  });
  EXPECT_THROW(wrong(ones({3})), StateError);
  EXPECT_EQ(losses.size(), 0U);
  auto right = function([&](const Tensor &x) {
    ++traces;
    return mean(x);
  });
  EXPECT_EQ(traces, 0);
  losses.push_back(right(ones({3})).item<float>());
  losses.push_back(right(zeros({3})).item<float>());
  EXPECT_EQ(traces, 1);
  EXPECT_EQ(losses, (std::vector<float>{1, 0}));
}

TEST(Rows, S001_1_S001_8_WhileLoops) {
  const auto down = function([](const Tensor &x) {
    return while_loop([](const Tensor &v) { return v > 0; }, [](const Tensor &v) { return v - 1; },
                      x);
  });
  EXPECT_EQ(down(tensor(5)).item<std::int32_t>(), 0);
  const auto next_odd = function([](const Tensor &v) {
    const Tensor next = v + 1;
    return cond(equal(next % 2, 0), [&] { return next + 1; }, [&] { return next; });
  });
  EXPECT_EQ(next_odd(tensor(5)).item<std::int32_t>(), 7);
}

TEST(Rows, S001_6_S001_7_AssignsInOrder) {
  const Variable a(0.F), b(0.F);
  std::vector<std::string> lines;
  const PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  const auto f = function([&] {
    a.assign(2.F);
    print(a + b);
    b.assign(3.F);
    print(a + b);
    return a + b;
  });
  const float sum = f().item<float>();
  set_print_sink(before);
  EXPECT_EQ(sum, 5);
  EXPECT_EQ(lines, (std::vector<std::string>{"2", "5"}));
}

TEST(Rows, S001_10_ModelWithABranch) {
  const auto call = [](const Tensor &x) {
    return cond(mean(cast(x, f32)) > 0, [&] { return x; }, [&] { return cast(floor(x / 2), i32); });
  };
  const auto model = function(call);
  EXPECT_EQ(model(tensor({-2, -4})).to_vector<std::int32_t>(), (std::vector<std::int32_t>{-1, -2}));
}

// The whole loop over a data set in one traced function that takes model and optimizer, with a
// metric that keeps its state; its numbers are read after it.
TEST(Rows, S001_11_S001_12_S001_13_S001_14_S001_15_S004_9_WholeLoop) {
  const Digits digits;
  const nn::Sequential model{nn::Flatten(), nn::Dense(32, {.activation = relu}), nn::Dense(10)};
  nn::seed(model, 1);
  const optimizers::Adam adam(model);
  const metrics::SparseCategoricalAccuracy accuracy;
  const data::Dataset dataset = data::from_tensors(digits.images, digits.labels)
                                    .take(1700)
                                    .batch(100, {.drop_remainder = true});
  std::vector<std::string> lines;
  const PrintSink before = set_print_sink([&](std::string_view line) { lines.emplace_back(line); });
  const auto train = function([&](const nn::Sequential &net, const optimizers::Adam &optimizer) {
    return data::for_each(
        dataset,
        [&](const Tensor &x, const Tensor &y, const Tensor &step, const Tensor &) {
          GradientTape tape;
          const Tensor logits = net(x);
          const Tensor loss = losses::sparse_categorical_cross_entropy(y, logits);
          optimizer.apply_gradients(tape.gradient(loss, net));
          accuracy.update(y, logits);
          if_(equal(step % 10, 0), [&] { print("Step", step, "loss", loss); });
          return std::pair(step + 1, loss);
        },
        0, 0.F);
  });
  const auto [step, loss] = train(model, adam);
  const float first = accuracy.result().item<float>();
  EXPECT_EQ(step.item<std::int32_t>(), 17);
  EXPECT_EQ(lines.size(), 2U); // steps 0 and 10
  accuracy.reset();
  const auto [again, lower] = train(model, adam);
  set_print_sink(before);
  EXPECT_LT(lower.item<float>(), loss.item<float>());
  EXPECT_GT(accuracy.result().item<float>(), first);
  EXPECT_EQ(lines.size(), 4U);
}

TEST(Rows, S003_11_Convolution) {
  const nn::Conv2D layer(100, 3);
  const Tensor image = zeros({1, 200, 200, 100});
  const auto traced = function([&](const Tensor &x) { return layer(x); });
  EXPECT_EQ(layer(image).shape(), (Shape{1, 198, 198, 100}));
  EXPECT_EQ(max(abs(traced(image))).item<float>(), 0);
}

TEST(Rows, S003_12_LSTMCell) {
  const nn::LSTMCell cell(10);
  const Tensor input = zeros({10, 10});
  const nn::LSTMState state{zeros({10, 10}), zeros({10, 10})};
  const auto traced = function([&](const Tensor &x, const nn::LSTMState &s) { return cell(x, s); });
  for (const nn::LSTMState &next : {cell(input, state), traced(input, state)}) {
    EXPECT_EQ(max(abs(next.h)).item<float>(), 0);
    EXPECT_EQ(max(abs(next.c)).item<float>(), 0);
  }
}

TEST(Rows, S004_6_ListOfGradients) {
  const Variable w(tensor({{1.}}));
  GradientTape tape;
  const Tensor loss = w * w;
  const std::vector<Tensor> gradients = tape.gradient(loss, std::vector{w});
  ASSERT_EQ(gradients.size(), 1U);
  EXPECT_EQ(gradients[0].item<double>(), 2);
}

} // namespace
} // namespace weft
