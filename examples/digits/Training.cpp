// Loads the digits and trains on them.
#include "Training.h"

#include <limits>

namespace digits {

using namespace weft;

Digits load(const std::string &folder) {
  const Tensor images = data::read_idx(folder + "/digits-images.idx3-ubyte", {.dtype = f32});
  const Tensor labels = data::read_idx(folder + "/digits-labels.idx1-ubyte", {.dtype = i32});
  if (images.size(0) != labels.size(0) || images.size() != images.size(0) * kPixels)
    throw ValueError(folder + " holds images of shape " + to_string(images.shape()) +
                     " and labels of shape " + to_string(labels.shape()) +
                     "; there must be one label for each image of 8 x 8");
  const Tensor order = random::permutation(images.size(0), {.seed = 0});
  return {gather(reshape(images, {-1, kPixels}) / 16, order), gather(labels, order)};
}

Metrics Trainer::step(const Tensor &images, const Tensor &labels) {
  GradientTape tape;
  const Tensor scores = model(images);
  const Tensor loss = losses::softmax_cross_entropy(labels, scores);
  optimizer.apply_gradients(tape.gradient(loss, model.parameters()));
  return {loss, metrics::accuracy(labels, scores)};
}

Metrics train(const Digits &digits, const random::Generator &shuffler, const Step &step,
              std::int64_t epochs) {
  const auto one_epoch = [&](const Tensor &epoch, const Metrics &before) {
    const Tensor order = reshape(shuffler.permutation(kTrain), {kSteps, kBatch});
    return for_loop(
        kSteps,
        [&](const Tensor &batch, const Metrics &all) -> Metrics {
          const Tensor rows = gather(order, batch);
          const Metrics now = step(gather(digits.images, rows), gather(digits.labels, rows));
          const Tensor number = epoch * kSteps + batch;
          check(now.loss < std::numeric_limits<float>::infinity(),
                "the loss of step {} is {}, which is not finite", number, now.loss);
          if_(number % 10 == 0,
              [&] { print("step {}: loss {}, accuracy {}", number, now.loss, now.accuracy); });
          return {update_slice(all.loss, number, now.loss),
                  update_slice(all.accuracy, number, now.accuracy)};
        },
        before);
  };
  return for_loop(epochs, one_epoch, Metrics{zeros({epochs * kSteps}), zeros({epochs * kSteps})});
}

} // namespace digits
