// Layers against Keras 3: results and gradients, eager and traced, in f64; open batches; what
// layers refuse.
#include "Reference/Reference.h"

#include <functional>

namespace weft {
namespace {

using namespace nn;

#include "Reference/Layers.inc"

/// The result, then the gradients by the input and by each weight.
template <class Model, class Call>
void check_layer(const std::string &name, const Shape &shape, const Model &model,
                 const Call &call) {
  const Tensor x = wave(shape, 1);
  static_cast<void>(call(model, x)); // makes the weights
  double phase = 2;
  for (const Variable &weight : trainable_variables(model))
    weight.assign(wave(weight.shape(), phase++));
  const auto both = [&](const Tensor &v) {
    GradientTape tape;
    tape.watch(v);
    const Tensor y = call(model, v);
    std::vector<GradientSource> sources = {v};
    for (const Variable &weight : trainable_variables(model)) sources.emplace_back(weight);
    const Tensor loss = sum(y * wave(y.shape(), 9));
    std::vector<Tensor> all = tape.gradient(loss, sources);
    all.insert(all.begin(), y);
    return all;
  };
  auto traced = function(both);
  const Doubles &expected = keras_layers.at(name);
  for (const bool compiled : {false, true}) {
    Doubles found;
    for (const Tensor &part : compiled ? traced(x) : both(x))
      for (const double value : part.to_vector<double>()) found.push_back(value);
    ASSERT_EQ(found.size(), expected.size()) << name;
    for (std::size_t i = 0; i < found.size(); ++i)
      // Keras computes functions such as tanh in f32, whatever the dtype.
      ASSERT_NEAR(found[i], expected[i], 1e-6 * (1 + std::abs(expected[i])))
          << name << (compiled ? " compiled" : " eager") << ", number " << i;
  }
}

template <class Model>
void check_layer(const std::string &name, const Shape &shape, const Model &model) {
  check_layer(name, shape, model, [](const Model &m, const Tensor &x) { return m(x); });
}

const Shape image = {2, 5, 6, 4}, series = {2, 5, 3};

TEST(LayersReference, Dense) {
  check_layer("Dense", {3, 4}, Dense(5, {.activation = weft::tanh, .dtype = f64}));
  check_layer("Flatten", {2, 3, 4}, Sequential{Flatten()});
}

TEST(LayersReference, Convolutions) {
  check_layer("Conv1D", {2, 7, 3},
              Conv1D(4, 3, {.strides = 2, .padding = Padding::same, .dtype = f64}));
  check_layer("Conv1D causal", {2, 7, 3},
              Conv1D(4, 3, {.padding = Padding::causal, .dilations = 2, .dtype = f64}));
  check_layer("Conv2D", image, Conv2D(3, 3, {.activation = relu, .dtype = f64}));
  check_layer(
      "Conv2D groups", image,
      Conv2D(6, {3, 2}, {.strides = {2, 1}, .padding = Padding::same, .groups = 2, .dtype = f64}));
  check_layer("Conv3D", {1, 4, 3, 4, 2}, Conv3D(2, 2, {.dtype = f64}));
  check_layer("Conv1DTranspose", {2, 4, 3}, Conv1DTranspose(2, 3, {.strides = 2, .dtype = f64}));
  check_layer("Conv2DTranspose", image,
              Conv2DTranspose(3, 3, {.strides = 2, .padding = Padding::same, .dtype = f64}));
  check_layer("DepthwiseConv2D", image, DepthwiseConv2D(3, {.multiplier = 2, .dtype = f64}));
  check_layer("SeparableConv2D", image,
              SeparableConv2D(3, 3, {.padding = Padding::same, .dtype = f64}));
}

TEST(LayersReference, Normalization) {
  check_layer("BatchNorm", image, BatchNorm({.dtype = f64}));
  const BatchNorm trained({.dtype = f64});
  check_layer("BatchNorm training", image, trained,
              [](const BatchNorm &layer, const Tensor &x) { return layer(x, {.training = true}); });
  check_layer("LayerNorm", {2, 3, 8}, LayerNorm({.dtype = f64}));
  check_layer("GroupNorm", image, GroupNorm(2, {.dtype = f64}));
  check_layer("RMSNorm", {2, 3, 8}, RMSNorm({.dtype = f64}));
}

// After a step the moving statistics are 0.99 of what they were and 0.01 of the batch's.
TEST(LayersReference, MovingStatistics) {
  const BatchNorm layer({.dtype = f64});
  const Tensor x = wave(image, 1), flat = reshape(x, {60, 4});
  static_cast<void>(layer(x, {.training = true}));
  auto traced = function([&](const Tensor &v) { return layer(v, {.training = true}); });
  const Tensor m = mean(flat, {.axes = Ints{0}}), v = mean(square(flat - m), {.axes = Ints{0}});
  EXPECT_LT(max(abs(layer.moving_mean - m * 0.01)).item<double>(), 1e-15);
  EXPECT_LT(max(abs(layer.moving_variance - (0.99 + v * 0.01))).item<double>(), 1e-15);
  static_cast<void>(traced(x));
  EXPECT_LT(max(abs(layer.moving_mean - m * (0.01 * 0.99 + 0.01))).item<double>(), 1e-15);
}

TEST(LayersReference, UnbiasedStatistics) {
  const BatchNorm layer({.unbiased = true, .dtype = f64});
  const Tensor x = tensor({{1., 0.}, {3., 0.}});
  static_cast<void>(layer(x, {.training = true}));
  const Tensor expected = tensor({0.99 + 0.02, 0.99});
  EXPECT_LT(max(abs(layer.moving_variance - expected)).item<double>(), 1e-15);
}

TEST(LayersReference, Pooling) {
  check_layer("MaxPooling2D", image, Sequential{MaxPooling2D(2)});
  check_layer("MaxPooling2D same", image,
              Sequential{MaxPooling2D({3, 2}, {.strides = 2, .padding = Padding::same})});
  check_layer("AveragePooling1D", {2, 7, 3},
              Sequential{AveragePooling1D(3, {.strides = 2, .padding = Padding::same})});
  check_layer("GlobalAveragePooling2D", image, Sequential{GlobalAveragePooling2D()});
  check_layer("GlobalMaxPooling2D", image, Sequential{GlobalMaxPooling2D(true)});
  EXPECT_THROWS(MaxPooling2D(2)(zeros({2, 3, 4})), ShapeError,
                "MaxPooling2D: x must be (batch, 2 spatial axes, channels), but is f32(2, 3, 4)");
  EXPECT_THROWS(AveragePooling2D(0), ValueError,
                "AveragePooling2D: the window must be at least 1, but 0 is given");
}

TEST(LayersReference, Recurrent) {
  const CellOptions options{.dtype = f64};
  check_layer("SimpleRNN", series, SimpleRNN(4, {}, options));
  check_layer("LSTM", series, LSTM(4, {}, options));
  check_layer("LSTM sequences", series, LSTM(4, {.return_sequences = true}, options));
  const Tensor mask = tensor({{true, true, false, true, false}, {false, true, true, true, true}});
  check_layer(
      "LSTM masked", series, LSTM(4, {.return_sequences = true}, options),
      [&](const LSTM &layer, const Tensor &x) { return layer.run(x, std::nullopt, mask).first; });
  check_layer("GRU", series, GRU(4, {.return_sequences = true}, options));
  check_layer("GRU reset before", series, GRU(4, {}, {.reset_after = false, .dtype = f64}));
  check_layer("Bidirectional", series,
              Bidirectional<LSTMCell>(4, true, Merge::concatenate, options));
}

// A sequence in two pieces, the state handed on, and a cell step by step, are one run.
TEST(LayersReference, StatesAreHandedOn) {
  const LSTM layer(4);
  const Tensor x = wave({2, 6, 3}, 1).astype(f32);
  const auto [whole, last] = layer.run(x);
  const auto [first, middle] = layer.run(x[{all, slice(0, 2)}]);
  const auto [second, end] = layer.run(x[{all, slice(2, 6)}], middle);
  EXPECT_EQ(second.to_vector<float>(), whole.to_vector<float>());
  EXPECT_EQ(end.c.to_vector<float>(), last.c.to_vector<float>());
  LSTMState state = layer.cell.zero_state(x[{all, 0}]);
  for (std::int64_t t = 0; t < 6; ++t) state = layer.cell(x[{all, t}], state);
  const Tensor difference = max(abs(state.h - whole));
  EXPECT_LT(difference.item<float>(), 1e-6f);
}

// The batch, and sizes of images and series, may be unknown where the call is traced.
TEST(LayersReference, OpenSizes) {
  const Sequential images{Conv2D(4, 3, {.activation = relu}), BatchNorm(), GroupNorm(2),
                          DepthwiseConv2D(3)},
      steps{LSTM(4, {.return_sequences = true}), LayerNorm(), GRU(3)};
  const Tensor x = wave(image, 1).astype(f32), s = wave(series, 1).astype(f32);
  const Tensor of_images = images(x), of_steps = steps(s);
  auto f = function([&](const Tensor &v) { return images(v); },
                    {.signature = {spec(f32, {unknown, unknown, unknown, 4})}});
  EXPECT_LT(max(abs(f(x) - of_images)).item<float>(), 1e-6f);
  EXPECT_EQ(f(wave({1, 8, 9, 4}, 1).astype(f32)).shape(), (Shape{1, 4, 5, 4}));
  auto g = function([&](const Tensor &v) { return steps(v); },
                    {.signature = {spec(f32, {unknown, unknown, 3})}});
  EXPECT_LT(max(abs(g(s) - of_steps)).item<float>(), 1e-6f);
  EXPECT_EQ(g(wave({7, 2, 3}, 1).astype(f32)).shape(), (Shape{7, 3}));
}

TEST(LayersReference, Embeddings) {
  const Embedding table(5, 3);
  const Tensor chosen = table(tensor({{0, 4}, {2, 2}}));
  EXPECT_EQ(chosen.shape(), (Shape{2, 2, 3}));
  EXPECT_TRUE(all(chosen[{0, 1}] == table.embeddings.value()[4]).item<bool>());
  // Its gradient stays slices, which plain SGD adds to their rows.
  const Tensor before = table.embeddings;
  const optimizers::SGD sgd(table, {.learning_rate = 1.});
  GradientTape tape;
  const Tensor loss = sum(table(tensor({1, 1, 3})));
  const Gradients gradients = tape.gradient(loss, table);
  EXPECT_TRUE(std::holds_alternative<IndexedSlices>(gradients.sliced()[0]));
  sgd.apply_gradients(gradients);
  const Tensor change = before - table.embeddings;
  EXPECT_LT(max(abs(change - reshape(tensor({0.f, 2.f, 0.f, 1.f, 0.f}), {5, 1}))).item<float>(),
            1e-6f);
  EXPECT_THROWS(table(tensor({1.f})), DTypeError, "Embedding: x must be integers, but is f32(1,)");
  EXPECT_THROW(table(tensor({5})), IndexError);
}

TEST(LayersReference, Summary) {
  const Sequential model{Conv2D(16, 3, {.activation = relu}), Flatten(), Dropout(0.5), Dense(10)};
  EXPECT_EQ(summary(model, {32, 28, 28, 1}),
            "Layer (kind)  Output shape      Parameters\n"
            "------------------------------------------\n"
            "0 (Conv2D)    (32, 26, 26, 16)         160\n"
            "1 (Flatten)   (32, 10816)                0\n"
            "2 (Dropout)   (32, 10816)                0\n"
            "3 (Dense)     (32, 10)             108,170\n"
            "------------------------------------------\n"
            "Parameters: 108,330 (423.16 KB), trainable: 108,330, not trainable: 0\n");
  EXPECT_EQ(model(zeros({2, 28, 28, 1})).shape(), (Shape{2, 10}));
  const BatchNorm alone;
  EXPECT_EQ(summary(alone, {unknown, 3}),
            "Layer (kind)  Output shape  Parameters\n"
            "--------------------------------------\n"
            "BatchNorm     (?, 3)                12\n"
            "--------------------------------------\n"
            "Parameters: 12 (48 B), trainable: 6, not trainable: 6\n");
}

TEST(LayersReference, WhatTheyRefuse) {
  const Conv2D conv(4, 3, {.name = "stem"});
  EXPECT_THROWS(conv(zeros({2, 5, 4})), ShapeError,
                "stem: x must be (batch, 2 spatial axes, channels), but is f32(2, 5, 4)");
  static_cast<void>(conv(zeros({1, 5, 5, 3})));
  EXPECT_THROWS(conv(zeros({1, 5, 5, 2})), ShapeError,
                "stem: the last axis of x is 2, but the layer was built for 3");
  EXPECT_THROW(conv(zeros({1, 2, 5, 3})), ShapeError);
  EXPECT_THROWS(Conv2D(4, {3, 3, 3}), ValueError,
                "Conv2D: the window needs a number for all axes or a list of 2, but 3 are given");
  EXPECT_THROWS(Conv2D(4, 0), ValueError, "Conv2D: the window must be at least 1, but 0 is given");
  EXPECT_THROWS(Conv2D(4, 3, {.strides = -1}), ValueError,
                "Conv2D: strides must be at least 1, but -1 is given");
  EXPECT_THROWS(Conv2D(4, 3, {.groups = 3}), ValueError,
                "Conv2D: the 3 groups do not divide the 4 filters");
  EXPECT_THROWS(Conv2D(4, 3, {.groups = 2})(zeros({1, 5, 5, 3})), ShapeError,
                "Conv2D: the 2 groups do not divide the 3 channels of x");
  EXPECT_THROWS(BatchNorm({.momentum = 2}), ValueError,
                "BatchNorm: momentum is 2, but must be from 0 to 1");
  EXPECT_THROWS(LayerNorm({.epsilon = 0}), ValueError,
                "LayerNorm: epsilon is 0, but must be positive and finite");
  EXPECT_THROWS(GroupNorm(3)(zeros({1, 4})), ShapeError,
                "GroupNorm: the 3 groups do not divide the 4 channels of x");
  EXPECT_THROWS(LSTM(4)(zeros({2, 3})), ShapeError,
                "LSTM: x must be (batch, time, inputs), but is f32(2, 3)");
  const LSTM lstm(4);
  EXPECT_THROWS(lstm.run(zeros({2, 3, 4}), std::nullopt, zeros({2, 3})), DTypeError,
                "LSTM: the mask must be bools, but is f32(2, 3)");
  EXPECT_THROWS(lstm.run(zeros({2, 3, 4}), std::nullopt, zeros({3, 2}, boolean)), ShapeError,
                "LSTM: the mask must be (batch, time) as x is, but they are bool(3, 2) and "
                "f32(2, 3, 4)");
  EXPECT_THROWS(Embedding(0, 3), ValueError,
                "Embedding: there must be at least one row, but rows is 0");
}

} // namespace
} // namespace weft
