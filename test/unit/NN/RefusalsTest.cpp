// What layers refuse, in the name of the layer that the user wrote: dtypes, sizes, empty batches,
// states, encodings.
#include "../Testing.h"

#include <cmath>
#include <limits>

#include <weft/weft.h>

namespace weft {
namespace {

constexpr std::int64_t kLowest = std::numeric_limits<std::int64_t>::min(),
                       kHighest = std::numeric_limits<std::int64_t>::max();

/// The call throws DTypeError that names `name` and both dtypes, before and after it was built.
template <class Layer>
void expect_own_dtype(const Layer &layer, const std::string &name, const Shape &shape) {
  for (const bool is_built : {false, true}) {
    if (is_built) static_cast<void>(layer(ones(shape)));
    for (const DType dtype : {f64, i32})
      EXPECT_THROWS(layer(ones(shape, dtype)), DTypeError,
                    name + ": x is " + to_string(TensorType{dtype, shape}) +
                        ", but the layer is f32: cast x to f32, or make the layer with another "
                        "dtype");
  }
}

TEST(Refusals, InputsOfAnotherDType) {
  expect_own_dtype(nn::Dense(3), "Dense", {2, 4});
  expect_own_dtype(nn::Conv1D(3, 2), "Conv1D", {2, 4, 3});
  expect_own_dtype(nn::Conv2DTranspose(3, 2), "Conv2DTranspose", {2, 4, 4, 3});
  expect_own_dtype(nn::DepthwiseConv1D(2), "DepthwiseConv1D", {2, 4, 3});
  expect_own_dtype(nn::BatchNorm(), "BatchNorm", {2, 4});
  expect_own_dtype(nn::LayerNorm(), "LayerNorm", {2, 4});
  expect_own_dtype(nn::GroupNorm(2), "GroupNorm", {2, 4});
  expect_own_dtype(nn::RMSNorm(), "RMSNorm", {2, 4});
  expect_own_dtype(nn::LSTM(3), "LSTM", {2, 4, 3});
  expect_own_dtype(nn::GRU(3), "GRU", {2, 4, 3});
  const nn::BatchNorm norm({.name = "norm"});
  static_cast<void>(norm(ones({2, 4})));
  EXPECT_THROWS(norm(ones({2, 4}, f64), {.training = true}), DTypeError,
                "norm: x is f64(2, 4), but the layer is f32: cast x to f32, or make the layer with "
                "another dtype");
  EXPECT_EQ(nn::Dense(3, {.dtype = f64})(ones({2, 4}, f64)).dtype(), f64);
}

TEST(Refusals, EmptyBatchesInTraining) {
  const nn::BatchNorm norm({.name = "norm"});
  static_cast<void>(norm(ones({2, 4}), {.training = true}));
  const std::vector<float> before = norm.moving_mean.value().to_vector<float>();
  EXPECT_THROWS(norm(ones({0, 4}), {.training = true}), ValueError,
                "norm: x is f32(0, 4): a batch of no elements has no mean to train by");
  EXPECT_THROWS(norm(ones({2, 0, 4}), {.training = true}), ValueError,
                "norm: x is f32(2, 0, 4): a batch of no elements has no mean to train by");
  auto traced = function([&](const Tensor &x) { return norm(x, {.training = true}); },
                         {.signature = {spec(f32, {unknown, 4})}});
  EXPECT_THROWS(traced(ones({0, 4})), AssertionError,
                "assertion failed in function: norm: a batch of no elements has no mean to train "
                "by");
  EXPECT_EQ(norm.moving_mean.value().to_vector<float>(), before);
  EXPECT_EQ(norm(ones({0, 4})).shape(), (Shape{0, 4}));
  EXPECT_EQ(traced(ones({3, 4})).shape(), (Shape{3, 4}));
}

TEST(Refusals, Sizes) {
  EXPECT_THROWS(nn::Dense{kLowest}, ValueError,
                "Dense: there must be at least one unit, but units is -9223372036854775808");
  EXPECT_THROWS(nn::Dense(kLowest, 3), ValueError,
                "Dense: there must be at least one input, but inputs is -9223372036854775808");
  EXPECT_THROWS(nn::Dense(0), ValueError, "Dense: there must be at least one unit, but units is 0");
  EXPECT_THROWS(nn::Dense(kHighest, {.name = "wide"}), ValueError,
                "wide: units is 9223372036854775807, but must be at most 2^40");
  EXPECT_THROWS(nn::Dense(std::int64_t{1} << 40, std::int64_t{1} << 40), ValueError,
                "Dense: the kernel would be of shape (1099511627776, 1099511627776), which is more "
                "than memory can hold");
  EXPECT_THROWS(nn::Embedding(kHighest, 2), ValueError,
                "Embedding: rows is 9223372036854775807, but must be at most 2^40");
  EXPECT_THROWS(nn::Embedding(2, kHighest), ValueError,
                "Embedding: the size is 9223372036854775807, but must be at most 2^40");
  EXPECT_THROW(nn::LSTM{kHighest}, ValueError);
  EXPECT_THROW(nn::GRU{std::int64_t{1} << 40}, ValueError);
  EXPECT_THROW(nn::Conv1D(kHighest, 2), ValueError);
  EXPECT_THROW(nn::DepthwiseConv1D(2, {.multiplier = kHighest}), ValueError);
  EXPECT_THROW(nn::LayerNorm{kHighest}, ValueError);
  EXPECT_THROW(nn::MultiHeadAttention(kHighest, {.heads = 1}), ValueError);
  EXPECT_THROW(nn::MultiHeadAttention(8, {.heads = kHighest, .depth = kHighest}), ValueError);
  EXPECT_THROW(nn::TransformerEncoderLayer{kHighest}, ValueError);
}

TEST(Refusals, Reshape) {
  EXPECT_EQ(nn::Reshape({-1, 2})(ones({0, 6})).shape(), (Shape{0, 3, 2}));
  EXPECT_EQ(nn::Flatten()(ones({0, 2, 3})).shape(), (Shape{0, 6}));
  EXPECT_THROW(nn::Reshape({-1, 4})(ones({0, 6})), ShapeError);
  EXPECT_THROW(nn::Reshape({-2, 3})(ones({1, 6})), ShapeError);
  EXPECT_THROW(nn::Reshape({-1, -1})(ones({1, 6})), ShapeError);
}

TEST(Refusals, InitialStates) {
  const nn::GRU gru(2);
  const Tensor x = ones({2, 3, 4});
  EXPECT_THROWS(gru.run(x, ones({1, 2})), ShapeError,
                "GRU: the initial state must be (batch, units), f32(2, 2), but is f32(1, 2)");
  EXPECT_THROWS(gru.run(x, ones({2, 2}, f64)), DTypeError,
                "GRU: the initial state must be (batch, units), f32(2, 2), but is f64(2, 2)");
  const nn::LSTM lstm(2, {}, {.name = "memory"});
  EXPECT_THROWS(lstm.run(x, nn::LSTMState{ones({2, 2}), ones({2, 3})}), ShapeError,
                "memory: the initial state must be (batch, units), f32(2, 2), but is f32(2, 3)");
  EXPECT_THROWS(lstm(ones({2, 3})), ShapeError,
                "memory: x must be (batch, time, inputs), but is f32(2, 3)");
  static_cast<void>(lstm(x));
  EXPECT_THROWS(lstm(ones({2, 3, 5})), ShapeError,
                "memory: the last axis of x is 5, but the layer was built for 4");
}

TEST(Refusals, Encodings) {
  for (const double bad : {0., -1., static_cast<double>(NAN), static_cast<double>(INFINITY)}) {
    EXPECT_THROW(nn::positional_encoding(3, 4, bad), ValueError);
    EXPECT_THROW(nn::rotary(ones({3, 4}), false, bad), ValueError);
  }
  EXPECT_THROWS(nn::positional_encoding(3, 4, -0.5), ValueError,
                "positional_encoding: base is -0.5, but must be positive and finite");
  EXPECT_THROW(nn::positional_encoding(3, 4, 1e4, i32), DTypeError);
  EXPECT_THROWS(nn::rotary(ones({3, 4}, i32)), DTypeError,
                "rotary: x must be floating, but is i32(3, 4)");
  EXPECT_THROWS(nn::MultiHeadAttention(6, {.heads = 2, .rotary = true}), ValueError,
                "MultiHeadAttention: rotary turns pairs of entries, but the depth of a head is 3");
}

TEST(Refusals, OptionsWithoutSense) {
  const Tensor x = ones({2, 2, 3, 4});
  EXPECT_THROWS(nn::attention(x, x, x, {}, {.scale = std::nan("")}), ValueError,
                "attention: scale is nan, but must be finite");
  EXPECT_THROWS(
      nn::attention(x, x, x, ones({3, 4}, boolean)), ShapeError,
      "attention: the mask has shape (3, 4), which does not broadcast with (batch.., heads, "
      "queries, keys), here (2, 2, 3, 3)");
  EXPECT_THROWS(
      nn::attention(x, x, x, ones({1, 2, 2, 3, 3}, boolean)), ShapeError,
      "attention: the mask has shape (1, 2, 2, 3, 3), which does not broadcast with (batch.., "
      "heads, queries, keys), here (2, 2, 3, 3)");
  EXPECT_THROWS(optimizers::one_cycle(0.1, {.steps = 5, .start_divisor = 0}), ValueError,
                "one_cycle: a divisor is 0, but both must be positive");
  EXPECT_THROWS(optimizers::one_cycle(0.1, {.steps = 5, .final_divisor = -1}), ValueError,
                "one_cycle: a divisor is -1, but both must be positive");
}

TEST(Refusals, NothingToUpdate) {
  EXPECT_THROWS(optimizers::Adam(std::vector<Variable>{}), ValueError,
                "Adam: there is no variable to update: none is trainable");
  EXPECT_THROWS(optimizers::SGD(nn::Sequential{relu}), ValueError,
                "SGD: there is no variable to update: none is trainable");
}

/// The call throws an error of the user's line.
template <class Call>
void expect_line(std::uint32_t line, const Call &call) {
  try {
    call();
    ADD_FAILURE() << "line " << line << " threw nothing";
  } catch (const Error &error) {
    EXPECT_NE(std::string(error.what()).find("RefusalsTest.cpp:" + std::to_string(line)),
              std::string::npos)
        << error.what() << ", but it was line " << line;
  }
}

// Layers made of others name the line of their maker and of their caller.
TEST(Refusals, TheUsersLine) {
  expect_line(__LINE__, [] { nn::MultiHeadAttention(7, {.heads = 2}); });
  expect_line(__LINE__, [] { nn::TransformerEncoderLayer(7, {.heads = 2}); });
  expect_line(__LINE__, [] { nn::TransformerDecoderLayer(7, {.heads = 2}); });
  const Tensor flat = ones({2, 4});
  const nn::MultiHeadAttention heads(4, {.heads = 2});
  const nn::TransformerEncoderLayer encoder(4, {.heads = 2});
  const nn::TransformerDecoderLayer decoder(4, {.heads = 2});
  const nn::LSTM lstm(3);
  const nn::Bidirectional<nn::GRUCell> both(3);
  expect_line(__LINE__, [&] { heads(flat); });
  expect_line(__LINE__, [&] { encoder(flat); });
  expect_line(__LINE__, [&] { decoder(flat, flat); });
  expect_line(__LINE__, [&] { lstm(flat); });
  expect_line(__LINE__, [&] { both(flat); });
}

} // namespace
} // namespace weft
