// The digits, the network, a step of training and the whole loop of steps: written once, for values
// and for traces.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <weft/weft.h>

namespace digits {

constexpr std::int64_t kBatch = 64, kTrain = 1408, kPixels = 64, kHidden = 128, kClasses = 10;
constexpr std::int64_t kSteps = kTrain / kBatch; ///< of an epoch

/// Images (n, 64) in [0, 1] and labels (n,).
struct Digits {
  weft::Tensor images, labels;
};

/// All digits in one fixed random order: the file has them by writer. Throws IOError or ValueError
/// for files that are not there or at odds.
Digits load(const std::string &folder);

/// What a step of training, or a run of them, tells: each a scalar, or one entry for each step.
struct Metrics {
  weft::Tensor loss, accuracy;
  WEFT_FIELDS(Metrics, loss, accuracy)
};

/// Network, optimizer, and the generator that shuffles: all that changes in training.
struct Trainer {
  weft::nn::Sequential model{
      weft::nn::Dense(kPixels, kHidden, {.activation = weft::relu, .seed = 1, .name = "hidden"}),
      weft::nn::Dense(kHidden, kClasses, {.seed = 2, .name = "output"})};
  weft::optimizers::Adam optimizer{model.parameters(), {.learning_rate = 2e-3}};
  weft::random::Generator shuffler{100, "shuffler"};

  /// One step on a batch: the loss before it, and the share of labels it had right.
  Metrics step(const weft::Tensor &images, const weft::Tensor &labels);
};

using Step = std::function<Metrics(const weft::Tensor &images, const weft::Tensor &labels)>;

/// Trains for `epochs` over the first kTrain digits, shuffled anew in each epoch: prints every
/// tenth step, and throws AssertionError if the loss is not finite. Returns the metrics of all
/// steps.
Metrics train(const Digits &digits, const weft::random::Generator &shuffler, const Step &step,
              std::int64_t epochs);

} // namespace digits
