// A transformer that learns to reverse sequences of numbers: an encoder with positions, whose
// every position says which number belongs there.
#include <cstdio>
#include <iostream>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kNumbers = 10, kLength = 12, kSize = 32, kBatch = 64, kSteps = 300;

struct Reverser {
  nn::Embedding numbers{kNumbers, kSize};
  std::vector<nn::TransformerEncoderLayer> layers;
  nn::Dense scores{kNumbers};
  Tensor positions = nn::positional_encoding(kLength, kSize);

  Reverser() {
    for (int i = 0; i < 2; ++i)
      layers.emplace_back(kSize, nn::TransformerOptions{.heads = 4, .norm_first = true});
  }
  WEFT_FIELDS(Reverser, numbers, layers, scores, positions)

  /// (batch, length) numbers to scores (batch, length, numbers).
  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    Tensor y = numbers(x) + positions;
    for (const nn::TransformerEncoderLayer &layer : layers) y = layer(y, options);
    return scores(y);
  }
};

Tensor reversed(const Tensor &x) { return x[{all, slice({}, {}, -1)}]; }

} // namespace

int main() {
  const Reverser model;
  nn::seed(model, 1);
  std::cout << nn::summary(model, {i32, {kBatch, kLength}});
  const optimizers::Adam adam(
      model, {.learning_rate = optimizers::warmup(
                  3e-3, 50, optimizers::cosine_decay(3e-3, {.steps = kSteps - 50})),
              .clip_global_norm = 1.0});
  const random::Generator source(2);

  const auto step = function([&] {
    const Tensor x = source.randint({kBatch, kLength}, 0, kNumbers, i32);
    GradientTape tape;
    const Tensor scores = reshape(model(x, {.training = true}), {kBatch * kLength, kNumbers});
    const Tensor loss =
        losses::softmax_cross_entropy(reshape(reversed(x), {kBatch * kLength}), scores);
    adam.apply_gradients(tape.gradient(loss, model));
    return loss;
  });
  const auto accuracy = function([&] {
    const Tensor x = source.randint({256, kLength}, 0, kNumbers, i32);
    return metrics::accuracy(reversed(x), model(x));
  });
  for (std::int64_t i = 1; i <= kSteps; ++i) {
    const Tensor loss = step();
    if (i % 100 == 0)
      std::printf("step %lld: loss %.3f\n", static_cast<long long>(i), loss.item<double>());
  }
  std::printf("accuracy on new sequences: %.3f\n", accuracy().item<double>());
  const Tensor one = reshape(tensor({3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8}), {1, kLength});
  std::cout << one[0] << "\n" << argmax(model(one), {.axis = -1})[0] << "\n";
}
