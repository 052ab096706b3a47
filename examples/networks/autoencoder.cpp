// A variational autoencoder (Kingma & Welling 2014) that learns to draw handwritten digits:
// `weft-autoencoder examples/digits/data`.
#include <cstdio>
#include <string>

#include "digits.h"

using namespace weft;

namespace {

constexpr std::int64_t kBatch = 64, kLatent = 8, kEpochs = 150;

struct Autoencoder {
  nn::Sequential encoder{nn::Flatten(), nn::Dense(256, {.activation = relu}),
                         nn::Dense(2 * kLatent)};
  nn::Sequential decoder{nn::Dense(256, {.activation = relu}), nn::Dense(64),
                         nn::Reshape({8, 8, 1})};
  WEFT_FIELDS(Autoencoder, encoder, decoder)

  /// Mean and log variance of the codes of images, each (batch, latent).
  std::pair<Tensor, Tensor> encode(const Tensor &images) const {
    const Tensor both = encoder(images);
    return {both[{all, slice(0, kLatent)}], both[{all, slice(kLatent, {})}]};
  }
  Tensor decode(const Tensor &codes) const { return sigmoid(decoder(codes)); }
};

/// Images side by side, in text.
void draw(const Tensor &images) {
  for (std::int64_t y = 0; y < 8; ++y) {
    std::string line;
    for (std::int64_t i = 0; i < images.size(0); ++i) {
      for (const double grey : images[{i, y, all, 0}].to_vector<double>())
        line += std::string(2, " .:-=+*#%@"[static_cast<int>(9.99 * grey)]);
      line += "  ";
    }
    std::printf("%s\n", line.c_str());
  }
}

/// The mean distance of images from the one of `known` that is nearest.
double distance(const Tensor &images, const Tensor &known) {
  const Tensor x = reshape(images, {-1, 1, 64}), y = reshape(known, {1, -1, 64});
  return sqrt(sum(square(x - y), {.axes = 2})).min(1).mean().item<double>();
}

} // namespace

int main(int argc, char **argv) {
  const auto [images, labels, test_images, test_labels] = Digits(argc, argv);
  const Autoencoder model;
  nn::seed(model, 1);
  const optimizers::Adam adam(model, {.learning_rate = 2e-3});
  const random::Generator source(2);

  const auto step = function([&](const Tensor &rows) {
    const Tensor x = gather(images, rows);
    GradientTape tape;
    const auto [mean, log_variance] = model.encode(x);
    const Tensor code = mean + exp(log_variance / 2) * source.normal({kBatch, kLatent});
    const Tensor reconstruction = 64 * losses::binary_cross_entropy(x, model.decoder(code));
    const Tensor divergence =
        -0.5 * sum(1 + log_variance - square(mean) - exp(log_variance)) / kBatch;
    adam.apply_gradients(tape.gradient(reconstruction + divergence, model));
    return std::pair(reconstruction, divergence);
  });

  const std::int64_t batches = images.size(0) / kBatch;
  for (std::int64_t epoch = 1; epoch <= kEpochs; ++epoch) {
    const Tensor order = reshape(source.permutation(images.size(0)), {batches, kBatch});
    double reconstructions = 0, divergences = 0;
    for (std::int64_t i = 0; i < batches; ++i) {
      const auto [reconstruction, divergence] = step(order[i]);
      reconstructions += reconstruction.item<double>();
      divergences += divergence.item<double>();
    }
    if (epoch == 1 || epoch % 50 == 0)
      std::printf("epoch %2lld: reconstruction %.2f + divergence %.2f\n",
                  static_cast<long long>(epoch), reconstructions / static_cast<double>(batches),
                  divergences / static_cast<double>(batches));
  }

  const Tensor shown = test_images[slice(0, 6)];
  std::printf("digits it has not seen, and what their codes keep of them:\n");
  draw(shown);
  draw(model.decode(model.encode(shown).first));
  const Tensor samples = model.decode(source.normal({256, kLatent}));
  std::printf("digits that nobody has written:\n");
  draw(samples[slice(0, 6)]);
  std::printf("distance to the nearest digit of the training set: of noise %.2f, of samples %.2f, "
              "of digits it has not seen %.2f\n",
              distance(random::uniform({256, 8, 8, 1}, {.seed = 3}), images),
              distance(samples, images), distance(test_images, images));
}
