// Layers and what they are made of in traces that know neither the batch nor the length: values and
// gradients against eager calls, for several shapes of one trace.
#include "../Testing.h"

#include <weft/weft.h>

namespace weft {
namespace {

double distance(const Tensor &a, const Tensor &b) {
  EXPECT_EQ(to_string(a.shape()), to_string(b.shape()));
  if (a.shape() != b.shape() || a.size() == 0) return 0;
  return max(abs(a.astype(f64) - b.astype(f64))).item<double>();
}

/// Compares one trace of `call`, and of its gradient, with eager calls of `eager` on inputs of
/// these shapes.
template <class Call, class Eager>
void compare(const char *what, const Call &call, const Eager &eager, const TensorType &type,
             const std::vector<Shape> &shapes) {
  SCOPED_TRACE(what);
  const auto gradient_of = [](const auto &f) {
    return [&f](const Tensor &x) {
      GradientTape tape;
      tape.watch(x);
      return tape.gradient(sum(square(f(x).astype(f32))), x, {.unconnected = Unconnected::zero});
    };
  };
  const auto gradient = gradient_of(eager);
  auto traced = function(call, {.signature = {type}});
  auto traced_gradient = function(gradient_of(call), {.signature = {type}});
  for (const Shape &shape : shapes) {
    SCOPED_TRACE(to_string(shape));
    const Tensor x = is_floating(type.dtype) ? random::normal(shape, {.seed = 3})
                                             : random::randint(shape, 0, 4, {.seed = 3});
    EXPECT_LT(distance(traced(x), eager(x)), 1e-5);
    if (is_floating(type.dtype)) EXPECT_LT(distance(traced_gradient(x), gradient(x)), 1e-4);
  }
  EXPECT_EQ(traced.trace_count(), 1u);
}

template <class Call>
void compare(const char *what, const Call &call, const TensorType &type,
             const std::vector<Shape> &shapes) {
  compare(what, call, call, type, shapes);
}

const TensorType kSequences = spec(f32, {unknown, unknown, 8});
const std::vector<Shape> kShapes = {{2, 5, 8}, {3, 1, 8}, {0, 4, 8}, {2, 0, 8}};

/// A layer that has its variables.
template <class Layer>
Layer built(Layer layer) {
  static_cast<void>(layer(ones({1, 2, 8})));
  return layer;
}

TEST(OpenSizes, Indices) {
  const TensorType matrices = spec(f32, {unknown, unknown});
  const std::vector<Shape> shapes = {{2, 3}, {1, 4}, {0, 3}, {2, 0}};
  compare(
      "x[..., newaxis]", [](const Tensor &x) { return x[{ellipsis, newaxis}]; }, matrices, shapes);
  compare("x[:, newaxis]", [](const Tensor &x) { return x[{all, newaxis}]; }, matrices, shapes);
  compare("x[:, :, 0]", [](const Tensor &x) { return x[{all, all, 0}]; }, kSequences, kShapes);
  compare("x[:, 0]", [](const Tensor &x) { return x[{all, 0}]; },
          spec(f32, {unknown, unknown, unknown}), {{2, 5, 8}, {0, 4, 8}, {3, 1, 2}});
  compare(
      "one_hot", [](const Tensor &x) { return nn::one_hot(x, 4); }, spec(i64, {unknown, unknown}),
      shapes);
}

TEST(OpenSizes, Reshapes) {
  // Where sizes are known one alone may be open, so that eagerly they are named.
  const auto by = [](const Ints &open, const auto &named, const TensorType &type,
                     const std::vector<Shape> &shapes) {
    compare(
        to_string(Shape(open)).c_str(), [&](const Tensor &x) { return reshape(x, open); },
        [&](const Tensor &x) { return reshape(x, named(x.shape())); }, type, shapes);
  };
  by({-1, -1, 2, 4}, [](const Shape &x) { return Ints{x[0], x[1], 2, 4}; }, kSequences, kShapes);
  by({-1, -1, 4}, [](const Shape &x) { return Ints{x[0], 2 * x[1], 4}; }, kSequences, kShapes);
  by({-1, -1}, [](const Shape &x) { return Ints{x[0], 8 * x[1]}; }, kSequences, kShapes);
  by(
      {-1, 1, -1, 8, 1}, [](const Shape &x) { return Ints{x[0], 1, x[1], 8, 1}; }, kSequences,
      kShapes);
  by({-1, 2, -1, 3}, [](const Shape &x) { return Ints{x[0], 2, 2 * x[2], 3}; },
     spec(f32, {unknown, 4, unknown, 3}), {{2, 4, 5, 3}, {0, 4, 2, 3}, {2, 4, 0, 3}});
  by({-1, 3, -1}, [](const Shape &x) { return Ints{x[0], 3, 2 * x[2] / 3}; },
     spec(f32, {unknown, 2, unknown}), {{2, 2, 3}, {1, 2, 6}, {0, 2, 3}});
  by({-1, 2, -1}, [](const Shape &x) { return Ints{x[0], 2, 3}; }, spec(f32, {unknown, 6}),
     {{2, 6}, {0, 6}});
  auto f = function([](const Tensor &x) { return reshape(x, {-1, 3, -1}); },
                    {.signature = {spec(f32, {unknown, 2, unknown})}});
  EXPECT_THROWS(
      f(ones({2, 2, 5})), ShapeError,
      "reshape: x of shape (2, 2, 5) has 20 elements, which do not fill the shape (-1, 3, -1)");
  EXPECT_THROWS(reshape(ones({2, 3}), {-1, -1}), ShapeError,
                "reshape: only one size may be -1, but the shape is (-1, -1)");
  auto g = function([](const Tensor &x) { return reshape(x, {-1, -1, -1}); },
                    {.signature = {spec(f32, {unknown, 8})}});
  EXPECT_THROWS(g(ones({2, 8})), ShapeError,
                "reshape: the shape (-1, -1, -1) leaves 3 sizes open, but all of them except the "
                "last stand for unknown sizes of x, which has shape (?, 8)");
  auto h = function([](const Tensor &x) { return reshape(x, {-1, -1, 3}); },
                    {.signature = {spec(f32, {unknown, 8})}});
  EXPECT_THROWS(h(ones({2, 8})), ShapeError,
                "reshape: x of shape (?, 8) has 8 elements for each of its unknown sizes, which do "
                "not fill the shape (-1, -1, 3)");
}

TEST(OpenSizes, Scan) {
  const auto doubled = [](const Tensor &x) {
    return scan([](const Tensor &carry,
                   const Tensor &row) { return std::pair(carry + 1, row * 2 + carry); },
                tensor(0.f), transpose(x, {1, 0, 2}))
        .second;
  };
  compare("scan", doubled, kSequences, kShapes);
  // What an iteration does besides must not happen without one.
  const Variable count(tensor(0.f), "count");
  auto counted = function(
      [&](const Tensor &x) {
        return scan(
                   [&](const Tensor &carry, const Tensor &row) {
                     count.assign_add(1);
                     return std::pair(carry, row);
                   },
                   tensor(0.f), x)
            .second;
      },
      {.signature = {spec(f32, {unknown, unknown})}});
  EXPECT_EQ(counted(ones({0, 3})).size(0), 0);
  EXPECT_EQ(count.value().item<float>(), 0);
  EXPECT_EQ(counted(ones({2, 3})).shape(), (Shape{2, 3}));
  EXPECT_EQ(count.value().item<float>(), 2);
}

TEST(OpenSizes, Attention) {
  for (const nn::Causal causal : {nn::Causal::no, nn::Causal::top_left, nn::Causal::bottom_right}) {
    compare("grouped, rotary",
            built(nn::MultiHeadAttention(
                8, {.heads = 4, .key_heads = 2, .causal = causal, .rotary = true})),
            kSequences, kShapes);
    compare("self", built(nn::MultiHeadAttention(8, {.heads = 2, .causal = causal})), kSequences,
            kShapes);
    const nn::MultiHeadAttention layer =
        built(nn::MultiHeadAttention(8, {.heads = 4, .key_heads = 2, .causal = causal}));
    const auto masked = [&](const Tensor &x) {
      return layer(x, {.mask = (sum(x, {.axes = Ints{-1}}) > 0)[{all, newaxis}]});
    };
    compare("masked", masked, kSequences, kShapes);
    compare("masked, of known length", masked, spec(f32, {unknown, 5, 8}), {{2, 5, 8}, {0, 5, 8}});
    compare("masked, of a known batch", masked, spec(f32, {2, unknown, 8}), {{2, 5, 8}, {2, 0, 8}});
  }
  for (const bool interleaved : {false, true})
    compare(
        "rotary", [&](const Tensor &x) { return nn::rotary(x, interleaved); }, kSequences, kShapes);
  compare("encoder", built(nn::TransformerEncoderLayer(8, {.heads = 2})), kSequences, kShapes);
  const nn::TransformerDecoderLayer decoder(8, {.heads = 2});
  static_cast<void>(decoder(ones({1, 2, 8}), ones({1, 2, 8})));
  compare("decoder", [&](const Tensor &x) { return decoder(x, x); }, kSequences, kShapes);
}

TEST(OpenSizes, Recurrent) {
  compare("LSTM", built(nn::LSTM(3)), kSequences, kShapes);
  compare("GRU", built(nn::GRU(3, {.return_sequences = true})), kSequences, kShapes);
  const nn::GRU gru = built(nn::GRU(3, {.return_sequences = true, .reverse = true}));
  compare(
      "masked",
      [&](const Tensor &x) {
        return gru.run(x, std::nullopt, sum(x, {.axes = Ints{-1}}) > 0).first;
      },
      kSequences, kShapes);
  const nn::Bidirectional<nn::SimpleRNNCell> both(3, true);
  static_cast<void>(both(ones({1, 2, 8})));
  compare("Bidirectional", [&](const Tensor &x) { return both(x); }, kSequences, kShapes);
}

TEST(OpenSizes, OtherLayers) {
  const std::vector<Shape> images = {{2, 5, 8}, {3, 2, 8}, {0, 4, 8}};
  const nn::Embedding embedding(4, 3);
  compare("Embedding", [&](const Tensor &x) { return embedding(x); }, spec(i64, {unknown, unknown}),
          {{2, 3}, {0, 3}, {2, 0}});
  compare("Dense", built(nn::Dense(3)), kSequences, kShapes);
  compare("LayerNorm", built(nn::LayerNorm()), kSequences, kShapes);
  compare("RMSNorm", built(nn::RMSNorm()), kSequences, kShapes);
  compare("GroupNorm", built(nn::GroupNorm(2)), kSequences, images);
  const nn::BatchNorm norm = built(nn::BatchNorm());
  compare("BatchNorm", [&](const Tensor &x) { return norm(x, {.training = true}); }, kSequences,
          {{2, 5, 8}, {3, 1, 8}});
  for (const Padding padding : {Padding::valid, Padding::same, Padding::causal})
    compare("Conv1D", built(nn::Conv1D(3, 2, {.padding = padding})), kSequences, images);
  compare("Conv1DTranspose", built(nn::Conv1DTranspose(3, 2, {.strides = 2})), kSequences, images);
  compare("SeparableConv1D", built(nn::SeparableConv1D(4, 2)), kSequences, images);
  compare("MaxPooling1D", nn::MaxPooling1D(2), kSequences, images);
  compare("AveragePooling1D", nn::AveragePooling1D(2, {.padding = Padding::same}), kSequences,
          images);
  compare("Flatten", nn::Flatten(), kSequences, kShapes);
  compare("Reshape", nn::Reshape({-1, 4}), kSequences, kShapes);
  compare("Reshape of known sizes", nn::Reshape({-1, 4}), spec(f32, {unknown, 6, 2}),
          {{2, 6, 2}, {0, 6, 2}});
}

// Variables need the sizes that they are made of.
TEST(OpenSizes, ALayerThatCannotBeBuilt) {
  const nn::Dense layer(3, {.name = "head"});
  auto f = function([&](const Tensor &x) { return layer(x); },
                    {.signature = {spec(f32, {unknown, unknown})}});
  EXPECT_THROWS(f(ones({2, 3})), ShapeError,
                "head: x is f32(?, ?), but the size of axis 1 must be known for the layer's "
                "variables: name it in the signature, or call the layer once before");
  const nn::LSTM lstm(3);
  auto g = function([&](const Tensor &x) { return lstm(x); },
                    {.signature = {spec(f32, {unknown, unknown, unknown})}});
  EXPECT_THROWS(g(ones({2, 3, 4})), ShapeError,
                "LSTM: x is f32(?, ?, ?), but the size of axis 2 must be known for the layer's "
                "variables: name it in the signature, or call the layer once before");
}

} // namespace
} // namespace weft
