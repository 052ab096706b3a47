// A small network, its optimizer and its data, which draw: what runs of `train::fit` are compared
// on.
#pragma once

#include <vector>

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft::test {

struct Problem {
  nn::Sequential model{nn::Dense(8, {.activation = tanh}), nn::Dropout(0.25), nn::Dense(3)};
  optimizers::Adam adam{model, {.learning_rate = 0.01}};
  data::Dataset data, test;

  Problem() {
    nn::seed(model, 3);
    const Tensor x = random::normal({50, 4}, {.seed = 1});
    const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
    data = data::from_tensors(x, y).shuffle({.seed = 5}).batch(8);
    test = data::from_tensors(x, y).batch(50);
  }
  train::FitOptions<Tensor, Tensor> options(std::int64_t epochs) const {
    return {.optimizer = adam,
            .loss = losses::softmax_cross_entropy,
            .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}},
            .epochs = epochs,
            .validation = test,
            .progress = false};
  }
  std::vector<std::vector<float>> weights() const {
    std::vector<std::vector<float>> all;
    for (const Variable &variable : nn::variables(model))
      if (is_floating(variable.dtype())) all.push_back(variable.value().to_vector<float>());
    return all;
  }
};

} // namespace weft::test
