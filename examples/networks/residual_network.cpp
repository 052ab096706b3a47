// A residual network (He et al. 2016) with batch normalization that reads handwritten digits:
// `weft-residual-network examples/digits/data`.
#include <cstdio>
#include <iostream>
#include <optional>
#include <vector>

#include "digits.h"

using namespace weft;

namespace {

nn::Conv2D conv3x3(std::int64_t channels, std::int64_t stride = 1) {
  return nn::Conv2D(channels, 3, {.strides = stride, .padding = Padding::same, .use_bias = false});
}

/// Two convolutions, added to their input; where the shape changes, to a projection of it.
struct Block {
  nn::Conv2D conv1, conv2;
  nn::BatchNorm norm1{{.momentum = 0.9}}, norm2{{.momentum = 0.9}};
  std::optional<nn::Conv2D> shortcut;

  explicit Block(std::int64_t channels, std::int64_t stride = 1)
      : conv1(conv3x3(channels, stride)), conv2(conv3x3(channels)) {
    if (stride > 1) shortcut.emplace(channels, 1, nn::ConvOptions{.strides = stride});
  }
  WEFT_FIELDS(Block, conv1, norm1, conv2, norm2, shortcut)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options) const {
    Tensor y = relu(norm1(conv1(x), options));
    y = norm2(conv2(y), options);
    return relu(y + (shortcut ? (*shortcut)(x) : x));
  }
};

struct ResidualNetwork {
  nn::Conv2D stem = conv3x3(16);
  nn::BatchNorm norm{{.momentum = 0.9}};
  std::vector<Block> blocks{Block(16), Block(32, 2), Block(64, 2)};
  nn::Dense scores{10};
  WEFT_FIELDS(ResidualNetwork, stem, norm, blocks, scores)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    Tensor y = relu(norm(stem(x), options));
    for (const Block &block : blocks) y = block(y, options);
    return scores(mean(y, {.axes = {1, 2}}));
  }
};

} // namespace

int main(int argc, char **argv) {
  const auto [images, labels, test_images, test_labels] = Digits(argc, argv);
  constexpr std::int64_t kBatch = 64, kEpochs = 6;
  const std::int64_t batches = images.size(0) / kBatch;

  const ResidualNetwork model;
  nn::seed(model, 1);
  std::cout << nn::summary(model, {kBatch, 8, 8, 1});

  const optimizers::SGD sgd(
      model, {.learning_rate = optimizers::one_cycle(0.1, {.steps = kEpochs * batches}),
              .momentum = 0.9,
              .nesterov = true,
              .weight_decay = 5e-4,
              .no_decay = {"norm", "bias"}});
  const auto step = function([&](const Tensor &rows) {
    const Tensor x = gather(images, rows), y = gather(labels, rows);
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x, {.training = true}));
    sgd.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
  const auto accuracy =
      function([&] { return metrics::accuracy(test_labels, model(test_images)); });

  const random::Generator shuffler(2);
  for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const Tensor order = reshape(shuffler.permutation(images.size(0)), {batches, kBatch});
    double loss = 0;
    for (std::int64_t i = 0; i < batches; ++i) loss += step(order[i]).item<double>();
    std::printf("epoch %lld: loss %.3f, test accuracy %.3f\n", static_cast<long long>(epoch),
                loss / static_cast<double>(batches), accuracy().item<double>());
  }
}
