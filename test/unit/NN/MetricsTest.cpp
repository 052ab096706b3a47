// Metrics with state: against Keras 3, over batches, in traces, merged; what they refuse.
#include "Reference/Reference.h"

#include <functional>

namespace weft {
namespace {

#include "Reference/Losses.inc"

const Shape six = {6, 4}, four = {4, 4};
const Tensor weights = 1 + wave({6}, 6);

/// Two batches of labels or targets, predictions, and weights.
using Batch = std::array<Tensor, 3>;
struct Batches {
  Batch first, second;
};

/// Eagerly, in one traced function that is handed the metric, and as two metrics that are merged,
/// also after a reset, the result is that of Keras.
template <class Metric>
void check(const std::string &name, const Metric &metric, const Batches &batches) {
  const auto update = [](const Metric &of, const Tensor &y, const Tensor &p) { of.update(y, p); };
  const auto with_weights = [](const Metric &of, const Tensor &y, const Tensor &p,
                               const Tensor &w) { of.update(y, p, w); };
  const auto &[a, b] = batches;
  const auto expect = [&](const Metric &of) {
    expect_as_in(keras_losses, "metric " + name, of.result().template to_vector<double>());
  };
  const Metric traced = nn::clone(metric), merged = nn::clone(metric), other = nn::clone(metric);
  if (a[2].defined()) metric.update(a[0], a[1], a[2]);
  else metric.update(a[0], a[1]);
  metric.update(b[0], b[1]);
  expect(metric);

  if (a[2].defined()) function(with_weights)(traced, a[0], a[1], a[2]);
  else function(update)(traced, a[0], a[1]);
  function(update)(traced, b[0], b[1]);
  expect(traced);
  EXPECT_EQ(traced.result().template to_vector<double>(),
            metric.result().template to_vector<double>())
      << name;

  other.update(b[0], b[1]);
  merged.update(b[0], b[1]);
  merged.reset();
  if (a[2].defined()) merged.update(a[0], a[1], a[2]);
  else merged.update(a[0], a[1]);
  merged.merge(other);
  expect(merged);
  merged.merge(nn::clone(other));
  merged.reset();
  merged.merge(metric);
  expect(merged);
}

const Tensor numbers = labels({6}, 4), more_numbers = labels({4}, 4);
const Tensor p = shares(six, 1), more_p = shares(four, 2);

TEST(MetricsReference, OfClasses) {
  const Batches hot{{nn::one_hot(numbers, 4), p, weights}, {nn::one_hot(more_numbers, 4), more_p}},
      sparse{{numbers, p, weights}, {more_numbers, more_p}};
  check("categorical_accuracy", metrics::CategoricalAccuracy(), hot);
  check("sparse_categorical_accuracy", metrics::SparseCategoricalAccuracy(), sparse);
  check("top_k_accuracy", metrics::TopKAccuracy(2), sparse);
  check("f1 None", metrics::F1({.average = metrics::Average::none}), hot);
  check("f1 micro", metrics::F1({.average = metrics::Average::micro}), hot);
  check("f1 macro", metrics::F1(), hot);
  check("f1 weighted", metrics::F1({.average = metrics::Average::weighted}), hot);
  const Batches bare{{numbers, p}, {more_numbers, more_p}};
  check("confusion_matrix", metrics::ConfusionMatrix(4), bare);
  check("confusion_matrix", metrics::ConfusionMatrix(4),
        {{numbers, argmax(p)}, {more_numbers, argmax(more_p)}});
  check("perplexity", metrics::Perplexity({.from_logits = false}), bare);
  check("perplexity", metrics::Perplexity(), {{numbers, log(p)}, {more_numbers, log(more_p)}});
}

TEST(MetricsReference, OfTwoClasses) {
  check("binary_accuracy", metrics::BinaryAccuracy(),
        {{bits(six, 0.3), p + 0.2, weights}, {bits(four, 0.3), more_p + 0.2}});
  const Tensor scores = shares({40, 2}, 1)[{all, 0}], more_scores = shares({30, 2}, 2)[{all, 0}];
  const Batches two{{bits({40}, 1.7), scores, 1 + wave({40}, 6)}, {bits({30}, 0.2), more_scores}};
  check("precision", metrics::Precision(), two);
  check("recall", metrics::Recall(), two);
  check("auc ROC", metrics::AUC(), two);
  check("auc PR", metrics::AUC({.curve = metrics::Curve::precision_recall}), two);
  const auto logit = [](const Tensor &x) { return log(x / (1 - x)); };
  check("auc ROC", metrics::AUC({.from_logits = true}),
        {{two.first[0], logit(scores), two.first[2]}, {two.second[0], logit(more_scores)}});
}

TEST(MetricsReference, OfNumbers) {
  const Batches numbers_of{{wave(six, 1), wave(six, 2), weights}, {wave(four, 1), wave(four, 3)}};
  check("mean_squared_error", metrics::MeanSquaredError(), numbers_of);
  check("mean_absolute_error", metrics::MeanAbsoluteError(), numbers_of);
  check("r2", metrics::R2(),
        {{wave(six, 1), wave(six, 1.2), weights}, {wave(four, 1), wave(four, 1.3)}});
  const metrics::Mean mean;
  mean.update(wave({24}, 1));
  mean.update(wave({6}, 2), weights);
  expect_as_in(keras_losses, "metric mean", mean.result().to_vector<double>());
}

// Before anything came, and where a quotient would be by 0.
TEST(Metrics, OfNothing) {
  EXPECT_EQ(metrics::Mean().result().item<double>(), 0);
  EXPECT_EQ(metrics::Precision().result().item<double>(), 0);
  EXPECT_EQ(metrics::Recall().result().item<double>(), 0);
  EXPECT_EQ(metrics::AUC().result().item<double>(), 0);
  EXPECT_EQ(metrics::AUC({.curve = metrics::Curve::precision_recall}).result().item<double>(), 0);
  EXPECT_EQ(metrics::Perplexity().result().item<double>(), 0);
  EXPECT_EQ(metrics::SparseCategoricalAccuracy().result().item<double>(), 0);
  EXPECT_EQ(sum(metrics::ConfusionMatrix(3).result()).item<double>(), 0);
  const metrics::R2 r2;
  r2.update(tensor({1.f, 1.f}), tensor({1.f, 2.f}));
  EXPECT_EQ(r2.result().item<double>(), 0);
  EXPECT_THROW(metrics::R2().result(), StateError);
  EXPECT_THROW(metrics::F1().result(), StateError);
  metrics::R2().reset();
  metrics::R2().merge(metrics::R2());
}

// Sums of squares would cancel: the targets are 10^8 plus 0, 1, 2, 3.
TEST(Metrics, R2OfLargeMeans) {
  const metrics::R2 r2;
  const Tensor y = tensor({0., 1., 2., 3.}) + 1e8, p = y + tensor({0.5, -0.5, 0.5, -0.5});
  r2.update(y[slice(0, 2)], p[slice(0, 2)]);
  r2.update(y[slice(2, 4)], p[slice(2, 4)]);
  EXPECT_NEAR(r2.result().item<double>(), 0.8, 1e-12);
}

// Counts beyond 2^24 stay exact.
TEST(Metrics, CountsAreExact) {
  const metrics::Mean mean;
  mean.update(ones({1}), tensor({16777216.f}));
  mean.update(ones({1}));
  EXPECT_EQ(mean.count.value().item<double>(), 16777217);
}

TEST(Metrics, IgnoredLabels) {
  const metrics::Perplexity perplexity({.from_logits = false, .ignored_label = -1});
  perplexity.update(tensor({1, -1}), tensor({{0.75, 0.25}, {0.5, 0.5}}));
  EXPECT_NEAR(perplexity.result().item<double>(), 4, 1e-6);
  perplexity.update(tensor({-1, 0}), tensor({{0.75, 0.25}, {0.5, 0.5}}), tensor({5., 3.}));
  EXPECT_NEAR(perplexity.result().item<double>(), std::pow(4 * 8, 0.25), 1e-6);
}

// Above a target tied with others, or NaN, is nobody; NaN itself is never right.
TEST(Metrics, TiesAndNaN) {
  const auto share = [](const Tensor &scores) {
    const metrics::TopKAccuracy metric(1);
    metric.update(tensor({1}), scores);
    return metric.result().item<double>();
  };
  EXPECT_EQ(share(tensor({{1., 1., 0.}})), 1);
  EXPECT_EQ(share(tensor({{2., 1., 0.}})), 0);
  EXPECT_EQ(share(tensor({{2., std::nan(""), 0.}})), 0);
}

TEST(Metrics, AreModels) {
  const metrics::BinaryAccuracy accuracy;
  EXPECT_EQ(nn::named_variables(accuracy).size(), 2U);
  EXPECT_EQ(nn::named_variables(accuracy)[0].path, "mean.total");
  EXPECT_TRUE(nn::trainable_variables(accuracy).empty());
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the copy is what is tested
  const metrics::BinaryAccuracy same = accuracy;
  same.update(tensor({1.f, 0.f}), tensor({0.9f, 0.8f}));
  EXPECT_EQ(accuracy.result().item<double>(), 0.5);
}

// After an error a metric is as it was.
TEST(Metrics, WhatTheyRefuse) {
  const Tensor matrix = ones({2, 3}), three = ones({3});
  const metrics::SparseCategoricalAccuracy accuracy;
  EXPECT_THROWS(accuracy.update(tensor({0, 3}), matrix), IndexError,
                "SparseCategoricalAccuracy: label 3 is out of range for an axis of size 3");
  EXPECT_THROW(function([&](const Tensor &l) { accuracy.update(l, matrix); })(tensor({0, -1})),
               IndexError);
  EXPECT_EQ(accuracy.result().item<double>(), 0);
  EXPECT_THROWS(accuracy.update(three, matrix), DTypeError,
                "SparseCategoricalAccuracy: labels must be class numbers of an integer dtype, but "
                "are f32(3,)");
  EXPECT_THROWS(metrics::TopKAccuracy().update(tensor({0, 1, 2}), matrix), ShapeError,
                "TopKAccuracy: labels must have the shape of scores but for its last axis, but are "
                "i32(3,) for scores of shape (2, 3)");
  EXPECT_THROWS(metrics::Precision().update(three, matrix), ShapeError,
                "Precision: targets and predictions must have the same shape, but are f32(3,) and "
                "f32(2, 3)");
  EXPECT_THROWS(metrics::Mean().update(matrix, three * ones({2, 1, 3})), ShapeError,
                "Mean: weights of shape (2, 1, 3) do not broadcast to the values of shape (2, 3)");
  EXPECT_THROWS(metrics::TopKAccuracy(0), ValueError,
                "TopKAccuracy: k is 0, but must be at least 1");
  EXPECT_THROWS(metrics::AUC({.thresholds = 1}), ValueError,
                "AUC: there must be at least 2 thresholds, but there are 1");
  EXPECT_THROW(metrics::AUC().merge(metrics::AUC({.thresholds = 10})), ShapeError);
  EXPECT_THROWS(metrics::ConfusionMatrix(0), ValueError,
                "ConfusionMatrix: there must be at least one class, but there are 0");
  const metrics::ConfusionMatrix confusion(3);
  EXPECT_THROW(confusion.update(tensor({0, 3}), tensor({0, 0})), IndexError);
  EXPECT_THROW(confusion.update(tensor({0, 0}), tensor({0, -1})), IndexError);
  EXPECT_THROWS(confusion.update(tensor({0, 1}), ones({2, 4})), ShapeError,
                "ConfusionMatrix: scores must be (..., 3), but are f32(2, 4)");
  EXPECT_THROWS(confusion.update(tensor({0, 1}), tensor({1})), ShapeError,
                "ConfusionMatrix: labels and predicted classes must have the same shape, but are "
                "i32(2,) and i32(1,)");
  const metrics::F1 f1;
  EXPECT_THROWS(f1.update(three, three), ShapeError,
                "F1: scores must be (batch, classes), or (batch,) with a threshold, but are "
                "f32(3,)");
  f1.update(matrix, matrix);
  EXPECT_THROWS(f1.update(ones({2, 4}), ones({2, 4})), ShapeError,
                "F1: there were 3 classes, but now there are 4");
  const metrics::R2 r2;
  EXPECT_THROWS(r2.update(tensor(1.f), tensor(1.f)), ShapeError,
                "R2: predictions must be (batch, outputs) or (batch,), but are f32()");
}

} // namespace
} // namespace weft
