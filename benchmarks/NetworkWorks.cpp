// The shapes of work that are networks and parts of them: attention, recurrent layers, whole
// training steps.
#include "ShapesOfWork.h"

#include <cmath>
#include <span>

namespace weft::bench {

namespace {

using Sizes = std::vector<std::int64_t>;

Tensors attention_of(const Tensors &in) { return {nn::attention(in[0], in[1], in[2])}; }

Tensors attention_grad(const Tensors &in) {
  const auto [y, back] =
      vjp([](const Tensor &q, const Tensor &k, const Tensor &v) { return nn::attention(q, k, v); },
          in[0], in[1], in[2]);
  const auto [dq, dk, dv] = back(in[3]);
  return {dq, dk, dv};
}

constexpr std::int64_t kTransformerLayers = 12, kTransformerSize = 256;

/// Gives the first inputs to the variables of a model that was called once; the rest is data.
template <class Model>
std::span<const Tensor> data_behind_weights(const Model &model, const Tensors &inputs) {
  const std::vector<Variable> variables = nn::trainable_variables(model);
  for (std::size_t i = 0; i < variables.size(); ++i) variables[i].assign(inputs.at(i));
  return std::span(inputs).subspan(variables.size());
}

/// A step of `body`, a callable of the data.
template <class Body>
Step step_of(const Body &body, std::span<const Tensor> data, bool compile) {
  const Tensors copies(data.begin(), data.end());
  if (!compile) return [=] { return body(copies); };
  return [call = function(body), copies] { return call(copies); };
}

/// Steps of training a classifier by Adam; each gives its loss.
template <class Model>
Step training(const Model &model, const Tensors &inputs, bool compile) {
  static_cast<void>(model(inputs[inputs.size() - 2])); // now all variables have shapes
  const std::span<const Tensor> data = data_behind_weights(model, inputs);
  const auto step = [model, adam = optimizers::Adam(model)](const Tensors &in) -> Tensors {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(in[1], model(in[0]));
    adam.apply_gradients(tape.gradient(loss, model));
    return {loss};
  };
  return step_of(step, data, compile);
}

Step cnn(const Tensors &inputs, bool compile) {
  const nn::Sequential model{nn::Conv2D(32, 3, {.activation = relu}),
                             nn::MaxPooling2D(2),
                             nn::Conv2D(64, 3, {.activation = relu}),
                             nn::MaxPooling2D(2),
                             nn::Flatten(),
                             nn::Dense(10)};
  return training(model, inputs, compile);
}

/// Encoder layers on sequences, the mean over time, and a classifier.
struct Transformer {
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::Dense head;
  WEFT_FIELDS(Transformer, layers, head)

  Transformer() : head(10) {
    for (std::int64_t layer = 0; layer < kTransformerLayers; ++layer)
      layers.emplace_back(kTransformerSize, nn::TransformerOptions{.heads = 8, .epsilon = 1e-5});
  }
  Tensor operator()(Tensor x) const {
    for (const nn::TransformerEncoderLayer &layer : layers) x = layer(x);
    return head(mean(x, {.axes = Ints{1}}));
  }
};

Step transformer(const Tensors &inputs, bool compile) {
  return training(Transformer(), inputs, compile);
}

Step lstm_cell(const Tensors &inputs, bool compile) {
  const nn::LSTMCell cell(10);
  const Tensor zero = zeros({10, 10});
  static_cast<void>(cell(zero, {zero, zero}));
  const auto body = [cell](const Tensors &in) -> Tensors {
    const nn::LSTMState next = cell(in[0], {in[1], in[2]});
    return {next.h, next.c};
  };
  return step_of(body, data_behind_weights(cell, inputs), compile);
}

/// Kernel and bias of a layer, the kernel as large as Glorot and Bengio have it.
void add_dense(std::vector<WorkInput> &list, const Sizes &kernel, std::int64_t inputs) {
  const double bound = std::sqrt(6.0 / static_cast<double>(inputs + kernel.back()));
  list.push_back(uniform(kernel, -bound, bound));
  list.push_back(uniform({kernel.back()}, -0.1, 0.1));
}

std::vector<WorkInput> cnn_inputs(std::int64_t batch) {
  std::vector<WorkInput> list;
  add_dense(list, {3, 3, 1, 32}, 9);
  add_dense(list, {3, 3, 32, 64}, 288);
  add_dense(list, {1600, 10}, 1600);
  list.push_back(uniform({batch, 28, 28, 1}, 0, 1));
  list.push_back({Elements::index, {batch}, 0, 10});
  return list;
}

std::vector<WorkInput> transformer_inputs() {
  constexpr std::int64_t size = kTransformerSize, inner = 4 * size;
  std::vector<WorkInput> list;
  for (std::int64_t layer = 0; layer < kTransformerLayers; ++layer) {
    for (int projection = 0; projection < 4; ++projection) add_dense(list, {size, size}, size);
    for (int norm = 0; norm < 2; ++norm) {
      list.push_back(uniform({size}, 0.9, 1.1));
      list.push_back(uniform({size}, -0.1, 0.1));
    }
    add_dense(list, {size, inner}, size);
    add_dense(list, {inner, size}, inner);
  }
  add_dense(list, {size, 10}, size);
  list.push_back(uniform({8, 32, size}));
  list.push_back({Elements::index, {8}, 0, 10});
  return list;
}

} // namespace

Row transformer_12_first_call(const std::string &name, const Session &session) {
  const std::vector<WorkInput> described = transformer_inputs();
  const Tensors inputs = tensors_of(described);
  std::vector<std::string> words;
  for (const WorkInput &input : described) words.push_back(text_of(input));
  std::vector<Contender> contenders = {{"weft", [inputs] {
                                          // A model and a function of its own each time: nothing
                                          // is compiled yet.
                                          const Step step = transformer(inputs, true);
                                          const double start = now();
                                          keep(step());
                                          return 1e3 * (now() - start);
                                        }}};
  for (Contender &peer : peers_at_work(name, kJax, words, session))
    contenders.push_back(std::move(peer));
  return compare(name, "ms", contenders, std::min(session.repeats, 3));
}

std::vector<Work> network_works() {
  constexpr int kPeers = kTorch | kJax;
  const WorkInput heads = uniform({1, 8, 512, 64}), long_heads = uniform({1, 8, 2048, 64});
  std::vector<Work> list = {
      {"attention_8x512x64",
       "attention of 8 heads, 512 queries and keys of depth 64",
       {heads, heads, heads},
       attention_of,
       kPeers},
      {"attention_8x512x64_grad",
       "its gradients by queries, keys and values",
       {heads, heads, heads, heads},
       attention_grad,
       kPeers},
      {"attention_8x2048x64",
       "attention of 8 heads, 2048 queries and keys of depth 64",
       {long_heads, long_heads, long_heads},
       attention_of,
       kPeers},
  };
  const auto add = [&](const std::string &name, const std::string &what,
                       std::vector<WorkInput> inputs, Step (*make)(const Tensors &, bool),
                       double tolerance) {
    list.push_back({name, what, std::move(inputs), nullptr, kPeers, tolerance});
    list.back().make = make;
  };
  add("lstm_cell_10", "a cell of an LSTM of 10 units, batch 10",
      {uniform({10, 40}), uniform({10, 40}), uniform({40}), uniform({10, 10}), uniform({10, 10}),
       uniform({10, 10})},
      lstm_cell, 1e-4);
  for (const std::int64_t batch : {32, 128})
    add("cnn_train_step_" + std::to_string(batch),
        "a training step of a network of two convolutions on 28 x 28, batch " +
            std::to_string(batch),
        cnn_inputs(batch), cnn, 1e-3);
  add("transformer_12_step",
      "a training step of 12 encoder layers of 8 heads of 32, batch 8, length 32",
      transformer_inputs(), transformer, 1e-3);
  return list;
}

} // namespace weft::bench
