// A convolutional network that reads handwritten digits of 8 x 8: `weft-convolution
// examples/digits/data`.
#include <cstdio>
#include <iostream>
#include <string>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kTrain = 1408, kBatch = 32, kEpochs = 12;

struct Digits {
  Tensor images, labels; ///< (n, 8, 8, 1) from 0 to 1, (n)
};

Digits load(const std::string &folder) {
  const Tensor images = data::read_idx(folder + "/digits-images.idx3-ubyte", {.dtype = f32});
  const Tensor labels = data::read_idx(folder + "/digits-labels.idx1-ubyte", {.dtype = i32});
  const Tensor order = random::permutation(images.size(0), {.seed = 0});
  return {gather(reshape(images, {-1, 8, 8, 1}) / 16, order), gather(labels, order)};
}

} // namespace

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: weft-convolution FOLDER\n");
    return 2;
  }
  const auto [images, labels] = load(argv[1]);
  const Tensor test_images = images[slice(kTrain, {})], test_labels = labels[slice(kTrain, {})];

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

  const optimizers::Adam adam(model, {.learning_rate = optimizers::cosine_decay(
                                          3e-3, {.steps = kEpochs * (kTrain / kBatch)})});
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
    const Tensor order = shuffler.permutation(kTrain);
    double loss = 0;
    for (std::int64_t first = 0; first < kTrain; first += kBatch) {
      const Tensor rows = order[slice(first, first + kBatch)];
      loss += step(gather(images, rows), gather(labels, rows)).item<double>();
    }
    std::printf("epoch %2lld: loss %.3f, test accuracy %.3f\n", static_cast<long long>(epoch),
                loss / (kTrain / kBatch), accuracy().item<double>());
  }
}
