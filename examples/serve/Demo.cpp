// The model of `weft-serve --demo`: a convolutional network that reads handwritten digits.
#include "Model.h"

#include <map>

namespace serve {

using weft::Tensor;

namespace {

weft::nn::Sequential network() {
  using namespace weft;
  return nn::Sequential{nn::Conv2D(16, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Conv2D(32, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Flatten(),
                        nn::Dense(10)};
}

/// Three epochs over the 8 x 8 digits, enlarged.
weft::nn::Sequential trained_network(const std::string &data) {
  using namespace weft;
  const Tensor pixels = data::read_idx(data + "/digits-images.idx3-ubyte", {.dtype = f32});
  const Tensor labels = data::read_idx(data + "/digits-labels.idx1-ubyte", {.dtype = i32});
  const Tensor images = resize_image(pixels[{ellipsis, newaxis}] / 16, {28, 28});
  nn::Sequential model = network();
  nn::seed(model, 1);
  train::fit(
      model,
      data::from_tensors(images, labels).shuffle({.seed = 1}).batch(32, {.drop_remainder = true}),
      {.optimizer = optimizers::Adam(model, {.learning_rate = 1e-3}),
       .loss = losses::softmax_cross_entropy,
       .epochs = 3,
       .progress = false});
  return model;
}

} // namespace

Model demo_model(const std::string &data, std::int64_t max_batch) {
  const weft::nn::Sequential network = trained_network(data);
  const auto predict = weft::function([network](const Tensor &images) { return network(images); },
                                      {.name = "digits", .reduce_retracing = false});
  Model model{.name = "digits", .entries = {}, .run = {}};
  for (std::int64_t batch = 1; batch < 2 * max_batch; batch *= 2) {
    const std::int64_t rows = std::min(batch, max_batch);
    model.entries.push_back(
        {{weft::spec(weft::f32, {rows, 28, 28, 1})}, {weft::spec(weft::f32, {rows, 10})}});
    predict(weft::zeros({rows, 28, 28, 1})); // compiles it before the first request
  }
  model.run = [predict](std::span<const Tensor> inputs) {
    return std::vector<Tensor>{predict(inputs[0])};
  };
  return model;
}

} // namespace serve
