// Losses: what training makes small.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/options.h>
#include <weft/tensor.h>

namespace weft::losses {

/// What becomes of a loss's values, one per sample.
enum class Reduction : std::int32_t {
  none,          ///< they are the result, times their weights, and 0 where they are masked
  sum,           ///< the sum of these
  mean,          ///< that sum over the number of values that are not masked
  weighted_mean, ///< that sum over the sum of the weights of these
};

// All losses take targets first and predictions second, floating (targets may be integers or bools,
// which are converted), of one shape: sizes of 1 are not stretched (ShapeError). A C++ scalar
// stands for all elements. The last axis holds what belongs to one sample, over which most take the
// mean (a tensor of one axis has a sample in each element); what is left are the values.

/// Options that all losses have.
struct LossOptions {
  /// Factors of the values, of a shape that broadcasts to theirs (ShapeError).
  Tensor weights = {};
  /// Bools, true where a value counts, of a shape that broadcasts to theirs. What is masked may be
  /// NaN. Where nothing counts, a mean is 0.
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(LossOptions, weights, mask, reduction)

/// Mean over the batch of -sum(labels * log_softmax(logits)). `labels` are class numbers (batch,)
/// of an integer dtype, or probabilities (batch, classes); `logits` (batch, classes) floating.
/// Throws ShapeError and DTypeError for others, IndexError for a label that is no class: in a
/// traced function when it runs.
Tensor softmax_cross_entropy(const Operand &labels, const Operand &logits);

/// Options of the cross entropies over classes.
struct CrossEntropyOptions {
  /// Whether scores are logits. Else they are probabilities, which are divided by their sum and
  /// held between 1e-7 and 1 - 1e-7.
  bool from_logits = true;
  /// In [0, 1], the share of a label that is spread over all classes (ValueError).
  double label_smoothing = 0;
  /// A class number that stands for no label: such samples are masked. Of class numbers only.
  std::optional<std::int64_t> ignored_label = std::nullopt;
  Tensor weights = {};
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(CrossEntropyOptions, from_logits, label_smoothing, ignored_label, weights, mask,
             reduction)
/// -sum(labels * log(probabilities)) along the last axis, for labels that are probabilities of the
/// shape of scores (..., classes); one-hot ones, say.
Tensor categorical_cross_entropy(const Operand &labels, const Operand &scores,
                                 const CrossEntropyOptions &options = {});
/// -log(probability of the label), for labels (...) that are class numbers of an integer dtype, and
/// scores (..., classes). Its gradient by logits is softmax(logits) less 1 at the label; no one-hot
/// tensor is created. Throws IndexError for a label that is no class and not the ignored one: in a
/// traced function when it runs.
Tensor sparse_categorical_cross_entropy(const Operand &labels, const Operand &scores,
                                        const CrossEntropyOptions &options = {});

/// Options of `binary_cross_entropy`.
struct BinaryCrossEntropyOptions {
  /// Whether scores are logits. Else they are probabilities, held between 1e-7 and 1 - 1e-7.
  bool from_logits = true;
  /// In [0, 1]: labels come closer to 1/2 by this share (ValueError).
  double label_smoothing = 0;
  Tensor weights = {};
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(BinaryCrossEntropyOptions, from_logits, label_smoothing, weights, mask, reduction)
/// Mean of -(y log(p) + (1 - y) log(1 - p)), p = sigmoid(logits), without overflow.
Tensor binary_cross_entropy(const Operand &labels, const Operand &scores,
                            const BinaryCrossEntropyOptions &options = {});

/// Mean of the squared differences.
Tensor mean_squared_error(const Operand &targets, const Operand &predictions,
                          const LossOptions &options = {});
/// Mean of the differences' absolute values.
Tensor mean_absolute_error(const Operand &targets, const Operand &predictions,
                           const LossOptions &options = {});
/// Options of `huber`.
struct HuberOptions {
  double delta = 1; ///< above 0 and finite (ValueError)
  Tensor weights = {};
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(HuberOptions, delta, weights, mask, reduction)
/// Mean of e^2 / 2 where the difference |e| is at most delta, delta |e| - delta^2 / 2 elsewhere.
Tensor huber(const Operand &targets, const Operand &predictions, const HuberOptions &options = {});
/// Mean of log(cosh(predictions - targets)), without overflow.
Tensor log_cosh(const Operand &targets, const Operand &predictions,
                const LossOptions &options = {});

/// sum(y log(y / p)) of probabilities, held between 1e-7 and 1.
Tensor kl_divergence(const Operand &targets, const Operand &predictions,
                     const LossOptions &options = {});
/// Mean of p - y log(p + 1e-7), for counts y and expectations p.
Tensor poisson(const Operand &targets, const Operand &predictions, const LossOptions &options = {});

/// Mean of max(1 - y p, 0), for labels y that are -1 or 1; 0 means -1.
Tensor hinge(const Operand &labels, const Operand &predictions, const LossOptions &options = {});
/// Mean of the squares of max(1 - y p, 0), labels as `hinge` has them.
Tensor squared_hinge(const Operand &labels, const Operand &predictions,
                     const LossOptions &options = {});
/// max(max((1 - y) p) - sum(y p) + 1, 0), for labels that are one-hot.
Tensor categorical_hinge(const Operand &labels, const Operand &predictions,
                         const LossOptions &options = {});

/// Minus the cosine of the angle between the vectors along the last axis: -1 where they agree. A
/// vector shorter than 1e-7 is as one of that length.
Tensor cosine_similarity(const Operand &targets, const Operand &predictions,
                         const LossOptions &options = {});
/// Options of `triplet`.
struct TripletOptions {
  double margin = 1; ///< finite (ValueError)
  Tensor weights = {};
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(TripletOptions, margin, weights, mask, reduction)
/// max(|a - p| - |a - n| + margin, 0), for embeddings along the last axis: of something, of what is
/// to be close to it, of what is not. 1e-6 is added to differences, so that there is a gradient.
Tensor triplet(const Operand &anchor, const Operand &positive, const Operand &negative,
               const TripletOptions &options = {});

/// Options of `ctc`.
struct CTCOptions {
  std::int64_t blank = 0; ///< the class that is no label, one of the logits' (IndexError)
  /// Numbers of labels (batch,), at most those there are (IndexError). Undefined: the labels before
  /// the end that are not blank, with which they are padded then.
  Tensor label_lengths = {};
  /// Numbers of frames (batch,), at most those there are (IndexError). Undefined: all.
  Tensor logit_lengths = {};
  /// Whether the loss of more labels than the frames have room for is infinite, with gradient 0.
  /// Else it is about 1e5, as in Keras.
  bool impossible_is_infinite = false;
  Tensor weights = {};
  Tensor mask = {};
  Reduction reduction = Reduction::mean;
};
WEFT_OPTIONS(CTCOptions, label_lengths, logit_lengths, blank, impossible_is_infinite, weights, mask,
             reduction)
/// -log of the probability of the labels (batch, labels), integers, by frames of logits (batch,
/// time, classes): of all ways to spread them over time, blanks between them, and between equal
/// ones always (Graves et al. 2006).
Tensor ctc(const Operand &labels, const Operand &logits, const CTCOptions &options = {});

} // namespace weft::losses
