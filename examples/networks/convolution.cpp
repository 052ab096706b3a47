// A convolutional network that reads handwritten digits of 8 x 8: `weft-convolution
// examples/digits/data`.
#include <cstdio>
#include <iostream>

#include "digits.h"

using namespace weft;

namespace {

constexpr std::int64_t kBatch = 32, kEpochs = 12;

} // namespace

int main(int argc, char **argv) {
  const auto [images, labels, test_images, test_labels] = Digits(argc, argv);
  const std::int64_t batches = images.size(0) / kBatch;

  nn::Sequential model{
      nn::Conv2D(16, 3, {.activation = relu, .padding = Padding::same}),
      nn::MaxPooling2D(2),
      nn::Conv2D(32, 3, {.activation = relu, .padding = Padding::same}),
      nn::MaxPooling2D(2),
      nn::Flatten(),
      nn::Dropout(0.25),
      nn::Dense(10),
  };
  nn::seed(model, 1);
  std::cout << nn::summary(model, {kBatch, 8, 8, 1});

  const optimizers::Adam adam(
      model, {.learning_rate = optimizers::cosine_decay(3e-3, {.steps = kEpochs * batches})});
  const auto step = function([&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x, {.training = true}));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
  const auto accuracy =
      function([&] { return metrics::accuracy(test_labels, model(test_images)); });

  const random::Generator shuffler(2);
  for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const Tensor order = reshape(shuffler.permutation(images.size(0)), {batches, kBatch});
    double loss = 0;
    for (std::int64_t i = 0; i < batches; ++i)
      loss += step(gather(images, order[i]), gather(labels, order[i])).item<double>();
    std::printf("epoch %2lld: loss %.3f, test accuracy %.3f\n", static_cast<long long>(epoch),
                loss / static_cast<double>(batches), accuracy().item<double>());
  }
}
