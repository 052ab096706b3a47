// The small network of many first tutorials: two convolutions, the mean of each channel, ten
// scores. The first epoch runs eagerly, the others compiled: `weft-small-convolution
// examples/digits/data`.
#include <cstdio>
#include <iostream>

#include "digits.h"

using namespace weft;

int main(int argc, char **argv) {
  const auto [images, labels, test_images, test_labels] = Digits(argc, argv);

  nn::Sequential model{
      nn::Conv2D(16, 3, {.activation = relu}),
      nn::Conv2D(16, 3, {.activation = relu}),
      nn::GlobalAveragePooling2D(),
      nn::Dense(10),
  };
  nn::seed(model, 1);
  std::cout << nn::summary(model, {32, 8, 8, 1});

  const optimizers::Adam adam(model, {.learning_rate = 3e-3});
  const auto step = [&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, model(x));
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  };
  const auto compiled = function(step);

  const random::Generator shuffler(2);
  for (int epoch = 1; epoch <= 15; ++epoch) {
    const Tensor order = reshape(shuffler.permutation(images.size(0)), {-1, 32});
    double loss = 0;
    for (std::int64_t i = 0; i < order.size(0); ++i) {
      const Tensor x = gather(images, order[i]), y = gather(labels, order[i]);
      loss += (epoch == 1 ? step(x, y) : compiled(x, y)).item<double>();
    }
    std::printf("epoch %2d: loss %.3f, test accuracy %.3f\n", epoch,
                loss / static_cast<double>(order.size(0)),
                metrics::accuracy(test_labels, model(test_images)).item<double>());
  }
}
