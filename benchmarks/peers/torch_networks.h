// libtorch's networks and parts of them: what attention, recurrent layers and training steps are
// measured against. Weights come as Weft has them: dense kernels (in, out), channels last.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace networks {

using torch::Tensor;
using Tensors = std::vector<Tensor>;
using Work = std::function<Tensors(const Tensors &)>;

/// A leaf of its own, in libtorch's order.
inline Tensor weight(const Tensor &x) { return x.clone().requires_grad_(true); }
inline Tensor dense_weight(const Tensor &x) { return x.t().contiguous().requires_grad_(true); }
inline Tensor conv_weight(const Tensor &x) {
  return x.permute({3, 2, 0, 1}).contiguous(at::MemoryFormat::ChannelsLast).requires_grad_(true);
}

inline Tensor attention(const Tensors &in) {
  return at::scaled_dot_product_attention(in[0], in[1], in[2]);
}

/// Steps of training by Adam; each gives the loss.
inline Work training(const Tensors &weights,
                     const std::function<Tensor(const Tensors &)> &loss_of) {
  auto adam = std::make_shared<torch::optim::Adam>(weights, torch::optim::AdamOptions(1e-3));
  auto steps = std::make_shared<int>(0);
  return [=](const Tensors &in) -> Tensors {
    // libtorch adds epsilon behind the correction of the second moment, Kingma and Ba's short form,
    // which Weft and Keras have, before it: far apart while corrections are large.
    static_cast<torch::optim::AdamOptions &>(adam->param_groups()[0].options())
        .eps(1e-7 / std::sqrt(1 - std::pow(0.999, ++*steps)));
    adam->zero_grad();
    const Tensor loss = loss_of(in);
    loss.backward();
    adam->step();
    return {loss.detach()};
  };
}

inline Work cnn(const Tensors &in) {
  const Tensors w = {conv_weight(in[0]), weight(in[1]),       conv_weight(in[2]),
                     weight(in[3]),      dense_weight(in[4]), weight(in[5])};
  return training(w, [w](const Tensors &data) {
    Tensor y = data[6].permute({0, 3, 1, 2});
    y = at::max_pool2d(at::relu(at::conv2d(y, w[0], w[1])), 2);
    y = at::max_pool2d(at::relu(at::conv2d(y, w[2], w[3])), 2);
    y = y.permute({0, 2, 3, 1}).reshape({y.size(0), -1});
    return at::cross_entropy_loss(at::linear(y, w[4], w[5]), data[7]);
  });
}

inline Tensor encoder_layer(const Tensors &w, const Tensor &x) {
  const auto dense = [&](const Tensor &x, std::size_t i) { return at::linear(x, w[i], w[i + 1]); };
  const auto norm = [&](const Tensor &x, std::size_t i) {
    return at::layer_norm(x, {x.size(-1)}, w[i], w[i + 1], 1e-5);
  };
  const auto heads = [&](std::size_t i) {
    return dense(x, i).view({x.size(0), x.size(1), 8, -1}).transpose(1, 2);
  };
  const Tensor mixed =
      at::scaled_dot_product_attention(heads(0), heads(2), heads(4)).transpose(1, 2);
  const Tensor y = norm(x + dense(mixed.reshape(x.sizes()), 6), 8);
  return norm(y + dense(at::relu(dense(y, 12)), 14), 10);
}

inline Work transformer(const Tensors &in) {
  Tensors w;
  for (std::size_t i = 0; i + 2 < in.size(); ++i)
    w.push_back(in[i].dim() == 2 ? dense_weight(in[i]) : weight(in[i]));
  return training(w, [w](const Tensors &data) {
    Tensor x = data[data.size() - 2];
    for (std::size_t first = 0; first + 2 < w.size(); first += 16)
      x = encoder_layer(Tensors(w.begin() + first, w.begin() + first + 16), x);
    const Tensor logits = at::linear(x.mean(1), w[w.size() - 2], w[w.size() - 1]);
    return at::cross_entropy_loss(logits, data.back());
  });
}

inline Work lstm_cell(const Tensors &in) {
  const Tensor u = in[0].t().contiguous(), w = in[1].t().contiguous(), none = torch::zeros({40});
  return [=](const Tensors &inputs) -> Tensors {
    const c10::InferenceMode inference;
    const auto [h, c] = at::lstm_cell(inputs[3], {inputs[4], inputs[5]}, u, w, inputs[2], none);
    return {h, c};
  };
}

/// libtorch's own update of all parameters in one pass.
inline Work adam_update(const Tensors &) {
  Tensors weights, gradients, first, second, steps;
  for (int i = 0; i < 1000; ++i) {
    weights.push_back(torch::full({10'000}, 0.5));
    gradients.push_back(torch::full({10'000}, 0.25));
    first.push_back(torch::zeros({10'000}));
    second.push_back(torch::zeros({10'000}));
    steps.push_back(torch::zeros({}));
  }
  return [=](const Tensors &) -> Tensors {
    const c10::InferenceMode inference;
    for (const Tensor &step : steps) step.add_(1);
    at::_fused_adam_(weights, gradients, first, second, {}, steps, 1e-3, 0.9, 0.999, 0, 1e-7,
                     /*amsgrad=*/false, /*maximize=*/false);
    return {};
  };
}

/// Makes a work from its inputs, with its state as it is at first.
inline const std::map<std::string, std::function<Work(const Tensors &)>> &works() {
  using In = const Tensors &;
  const auto forward = [](In) -> Work {
    return [](In in) -> Tensors {
      const c10::InferenceMode inference;
      return {attention(in)};
    };
  };
  static const std::map<std::string, std::function<Work(In)>> all = {
      {"attention_8x512x64", forward},
      {"attention_8x2048x64", forward},
      {"attention_8x512x64_grad",
       [](In) -> Work {
         return [](In in) -> Tensors {
           const Tensors leaves = {weight(in[0]), weight(in[1]), weight(in[2])};
           return torch::autograd::grad({attention(leaves)}, leaves, {in[3]});
         };
       }},
      {"lstm_cell_10", lstm_cell},
      {"cnn_train_step_32", cnn},
      {"cnn_train_step_128", cnn},
      {"transformer_12_step", transformer},
      {"adam_update_1000x10k", adam_update},
  };
  return all;
}

} // namespace networks
