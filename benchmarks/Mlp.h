// The small classifier that every training row trains: 64-128-10 unless it says otherwise, batch
// 64, softmax cross entropy, Adam.
#pragma once

#include <weft/weft.h>

#include <cmath>
#include <utility>
#include <vector>

namespace weft::bench {

/// The model, its optimizer and one batch.
class Trainer {
public:
  explicit Trainer(std::int64_t inputs = 64, std::int64_t hidden = 128)
      : model_{nn::Dense(inputs, hidden, {.activation = relu, .seed = 1, .name = "hidden"}),
               nn::Dense(hidden, 10, {.seed = 2, .name = "out"})},
        optimizer_(model_.parameters()), batch_(some_batch(inputs)) {}

  /// One step on the batch, forward to parameter update; gives the loss.
  Tensor step(const Tensor &x, const Tensor &labels) {
    GradientTape tape;
    const Tensor value = loss(x, labels);
    optimizer_.apply_gradients(tape.gradient(value, parameters()));
    return value;
  }

  Tensor loss(const Tensor &x, const Tensor &labels) {
    return losses::softmax_cross_entropy(labels, model_(x));
  }
  std::vector<Variable> parameters() const { return model_.parameters(); }

  const Tensor &x() const { return batch_.first; }
  const Tensor &labels() const { return batch_.second; }

private:
  /// Values between 0 and 1 that are not all alike, and labels 0 to 9 in turn.
  static std::pair<Tensor, Tensor> some_batch(std::int64_t inputs) {
    std::vector<float> pixels(static_cast<std::size_t>(64 * inputs));
    for (std::size_t i = 0; i < pixels.size(); ++i)
      pixels[i] = 0.5f + 0.5f * std::sin(static_cast<float>(i * i % 1009));
    std::vector<std::int32_t> labels(64);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(i % 10);
    return {tensor(pixels, {64, inputs}), tensor(labels, {64})};
  }

  nn::Sequential model_;
  optimizers::Adam optimizer_;
  std::pair<Tensor, Tensor> batch_;
};

} // namespace weft::bench
