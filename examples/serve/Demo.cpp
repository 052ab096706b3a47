// The model of `weft-serve --demo`: a convolutional network that reads handwritten digits.
#include "Model.h"

#include <algorithm>

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

auto demo_function(const std::string &data) {
  return weft::function(
      [network = trained_network(data)](Tensor images) { return network(images); },
      {.name = "digits", .reduce_retracing = false});
}

/// 1, 2, 4, ... and `max_batch`.
std::vector<std::int64_t> batches_up_to(std::int64_t max_batch) {
  std::vector<std::int64_t> batches;
  for (std::int64_t batch = 1; batch < 2 * max_batch; batch *= 2)
    batches.push_back(std::min(batch, max_batch));
  return batches;
}

weft::TensorType images_of(std::int64_t batch) { return weft::spec(weft::f32, {batch, 28, 28, 1}); }

} // namespace

Model demo_model(const std::string &data, std::int64_t max_batch) {
  const auto predict = demo_function(data);
  Model model{.name = "digits", .entries = {}, .run = {}};
  for (const std::int64_t batch : batches_up_to(max_batch)) {
    model.entries.push_back({{images_of(batch)}, {weft::spec(weft::f32, {batch, 10})}});
    predict(weft::zeros({batch, 28, 28, 1})); // compiles it before the first request
  }
  model.run = [predict](std::span<const Tensor> inputs) {
    return std::vector<Tensor>{predict(inputs[0])};
  };
  return model;
}

void save_demo(const std::string &data, std::int64_t max_batch, const std::string &path) {
  weft::ExportOptions options;
  for (const std::int64_t batch : batches_up_to(max_batch))
    options.signatures.push_back({images_of(batch)});
  weft::export_program(demo_function(data), path, options);
}

} // namespace serve
