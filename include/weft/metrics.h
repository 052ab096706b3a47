// Metrics: what tells people how good a model is.
#pragma once

#include <cstdint>
#include <optional>

#include <weft/options.h>
#include <weft/structure.h>
#include <weft/tensor.h>
#include <weft/variable.h>

namespace weft::metrics {

/// Share of rows of `scores` (..., classes) whose largest entry, the first of equal ones, is at the
/// label (...), as f32. A row whose largest entry is NaN is wrong. Throws DTypeError unless labels
/// are integers, ShapeError for other shapes (one-hot labels, say: hand over their `argmax`), and
/// IndexError for a label that is no class: in a traced function when it runs.
Tensor accuracy(const Operand &labels, const Operand &scores);

// The classes below gather a metric over many batches, in f64 variables that are not trainable:
//   update(...)     adds a batch, here or in a traced function; of all its values or, after an
//                   error, of none
//   result()        of all since the last reset; 0 if there was nothing
//   reset()         forgets them
//   merge(other)    adds what another one of the same options has gathered
// Copies of a metric are the same metric; `clone` makes another. `weights` are factors of the
// samples, of a shape that broadcasts to theirs (ShapeError).

/// The mean of numbers.
class Mean {
public:
  Mean();
  void update(const Operand &values, const Tensor &weights = {}) const;
  Tensor result() const;
  void reset() const;
  void merge(const Mean &other) const;

  Variable total, count;

  WEFT_FIELDS(Mean, total, count)
};

/// What metrics that are means of something have in common.
template <class Same>
class MeanOf {
public:
  Tensor result() const { return mean_.result(); }
  void reset() const { mean_.reset(); }
  void merge(const Same &other) const { mean_.merge(other.mean_); }

protected:
  Mean mean_;
};

/// How many of labels that are 0 or 1 agree with whether scores are above the threshold; of scores
/// (..., n) the mean over the last axis is one sample.
class BinaryAccuracy : public MeanOf<BinaryAccuracy> {
public:
  explicit BinaryAccuracy(double threshold = 0.5) : threshold_(threshold) {}
  /// Throws ShapeError unless labels have the shape of scores.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;

  WEFT_FIELDS(BinaryAccuracy, mean_, threshold_)

private:
  double threshold_;
};

/// How often the largest of the scores (..., classes) is where the largest of labels of that shape
/// is; of equal ones the first counts.
class CategoricalAccuracy : public MeanOf<CategoricalAccuracy> {
public:
  /// Throws ShapeError unless labels have the shape of scores.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;

  WEFT_FIELDS(CategoricalAccuracy, mean_)
};

/// How often the largest of the scores (..., classes) is at the label (...); as `accuracy` counts.
class SparseCategoricalAccuracy : public MeanOf<SparseCategoricalAccuracy> {
public:
  /// Throws what `accuracy` does.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;

  WEFT_FIELDS(SparseCategoricalAccuracy, mean_)
};

/// How often fewer than k of the scores (..., classes) are above that of the label (...).
class TopKAccuracy : public MeanOf<TopKAccuracy> {
public:
  /// Throws ValueError unless k is at least 1.
  explicit TopKAccuracy(std::int64_t k = 5);
  /// Throws what `accuracy` does.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;

  WEFT_FIELDS(TopKAccuracy, mean_, k_)

private:
  std::int64_t k_;
};

/// The mean over samples of the mean of squared differences along the last axis.
class MeanSquaredError : public MeanOf<MeanSquaredError> {
public:
  /// Throws ShapeError unless targets have the shape of predictions.
  void update(const Operand &targets, const Operand &predictions, const Tensor &weights = {}) const;

  WEFT_FIELDS(MeanSquaredError, mean_)
};

/// The mean over samples of the mean absolute difference along the last axis.
class MeanAbsoluteError : public MeanOf<MeanAbsoluteError> {
public:
  /// Throws ShapeError unless targets have the shape of predictions.
  void update(const Operand &targets, const Operand &predictions, const Tensor &weights = {}) const;

  WEFT_FIELDS(MeanAbsoluteError, mean_)
};

/// Options of `Perplexity`.
struct PerplexityOptions {
  bool from_logits = true; ///< whether scores are logits, or else probabilities
  /// A class number that stands for no label and is not counted.
  std::optional<std::int64_t> ignored_label = std::nullopt;
};
WEFT_OPTIONS(PerplexityOptions, from_logits, ignored_label)
/// exp of the mean of -log(probability of the label) over all labels (...), of scores (...,
/// classes).
class Perplexity {
public:
  explicit Perplexity(const PerplexityOptions &options = {})
      : from_logits_(options.from_logits), ignored_label_(options.ignored_label) {}
  /// Throws what `losses::sparse_categorical_cross_entropy` does.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;
  Tensor result() const;
  void reset() const { mean_.reset(); }
  void merge(const Perplexity &other) const { mean_.merge(other.mean_); }

  WEFT_FIELDS(Perplexity, mean_, from_logits_, ignored_label_)

private:
  Mean mean_;
  bool from_logits_;
  std::optional<std::int64_t> ignored_label_;
};

/// Of what was said to be so, the share that is: true positives over all scores above the
/// threshold, for labels that are 0 or 1.
class Precision {
public:
  explicit Precision(double threshold = 0.5);
  /// Throws ShapeError unless labels have the shape of scores.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;
  Tensor result() const;
  void reset() const;
  void merge(const Precision &other) const;

  Variable true_positives, false_positives;

  WEFT_FIELDS(Precision, true_positives, false_positives, threshold_)

private:
  double threshold_;
};

/// Of what is so, the share that was said to be: true positives over all labels that are 1, for
/// scores above the threshold.
class Recall {
public:
  explicit Recall(double threshold = 0.5);
  /// Throws ShapeError unless labels have the shape of scores.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;
  Tensor result() const;
  void reset() const;
  void merge(const Recall &other) const;

  Variable true_positives, false_negatives;

  WEFT_FIELDS(Recall, true_positives, false_negatives, threshold_)

private:
  double threshold_;
};

/// What becomes of the scores of classes.
enum class Average : std::int32_t {
  none,     ///< one for each class, (classes,)
  micro,    ///< that of all classes' counts together
  macro,    ///< their mean
  weighted, ///< their mean by the number of labels of the class
};

/// Options of `F1`.
struct F1Options {
  Average average = Average::macro;
  /// Above it a score says that a label holds. Without one, the largest score of a row does, all of
  /// equal ones, unless it is 0.
  std::optional<double> threshold = std::nullopt;
};
WEFT_OPTIONS(F1Options, average, threshold)
/// The harmonic mean of precision and recall by class, of labels 0 or 1 and scores, both (batch,
/// classes); of (batch,), with a threshold, there is one class.
class F1 {
public:
  explicit F1(const F1Options &options = {});
  /// The first call decides the number of classes. Throws ShapeError for others, and unless labels
  /// have the shape of scores. `weights` are (batch,).
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;
  /// Throws StateError before the first update: there are no classes yet.
  Tensor result() const;
  void reset() const;
  void merge(const F1 &other) const;

  Variable true_positives, false_positives, false_negatives;

  WEFT_FIELDS(F1, true_positives, false_positives, false_negatives, average_, threshold_)

private:
  Average average_;
  std::optional<double> threshold_;
};

/// What an `AUC` is the area under.
enum class Curve : std::int32_t {
  roc,              ///< recall by the share of 0s above the threshold
  precision_recall, ///< precision by recall, between thresholds as by Davis and Goadrich (2006)
};

/// Options of `AUC`.
struct AUCOptions {
  Curve curve = Curve::roc;
  std::int64_t thresholds = 200; ///< evenly spaced from 0 to 1, at least 2 (ValueError)
  bool from_logits = false;      ///< whether scores are logits, or else probabilities
};
WEFT_OPTIONS(AUCOptions, thresholds, curve, from_logits)
/// The area under a curve over thresholds, of labels that are 0 or 1 and scores.
class AUC {
public:
  explicit AUC(const AUCOptions &options = {});
  /// Probabilities are held between 0 and 1. Throws ShapeError unless labels have the shape of
  /// scores.
  void update(const Operand &labels, const Operand &scores, const Tensor &weights = {}) const;
  Tensor result() const;
  void reset() const;
  /// Throws ShapeError for another number of thresholds.
  void merge(const AUC &other) const;

  /// The weights of labels that are 1 and 0, by the last threshold that their scores are above.
  Variable positives, negatives;

  WEFT_FIELDS(AUC, positives, negatives, curve_, from_logits_)

private:
  Curve curve_;
  bool from_logits_;
};

/// How often labels of one class (rows) were taken for one of another (columns).
class ConfusionMatrix {
public:
  /// Throws ValueError unless there is at least one class.
  explicit ConfusionMatrix(std::int64_t classes);
  /// Class numbers (...), and class numbers (...) or scores (..., classes), of which the largest
  /// counts. Throws IndexError for a number that is no class, in a traced function when it runs.
  void update(const Operand &labels, const Operand &predictions, const Tensor &weights = {}) const;
  /// (classes, classes).
  Tensor result() const;
  void reset() const;
  /// Throws ShapeError for another number of classes.
  void merge(const ConfusionMatrix &other) const;

  Variable counts;

  WEFT_FIELDS(ConfusionMatrix, counts)
};

/// The coefficient of determination, 1 less the squared errors over the squared deviations of the
/// targets from their mean; the mean over outputs. An output whose targets are all the same has 0.
/// It keeps means and deviations from them, not sums of squares, which cancel.
class R2 {
public:
  R2();
  /// (batch, outputs) or (batch,); `weights` are (batch,). The first call decides the number of
  /// outputs. Throws ShapeError for others, and unless targets have the shape of predictions.
  void update(const Operand &targets, const Operand &predictions, const Tensor &weights = {}) const;
  /// Throws StateError before the first update: there are no outputs yet.
  Tensor result() const;
  void reset() const;
  void merge(const R2 &other) const;

  /// The rows of (4, outputs) are weights, means, squared deviations and squared errors.
  Variable moments;

  WEFT_FIELDS(R2, moments)
};

} // namespace weft::metrics
