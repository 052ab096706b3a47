// Losses and metrics: values against closed forms, and what they refuse, eager and traced.
#include "../Function/Both.h"
#include "../Testing.h"

#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <weft/weft.h>

namespace weft {
namespace {

// The expected numbers here are from the definitions, evaluated in Python's floats:
// log_softmax(x)_i = x_i - log(sum_j exp(x_j)).
const Tensor scores = tensor({{1., 2., 3.}, {3., 1., -2.}});

void expect_near(const Tensor &found, const std::vector<double> &expected, double error) {
  const std::vector<double> values = found.astype(f64).to_vector<double>();
  ASSERT_EQ(values.size(), expected.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    EXPECT_NEAR(values[i], expected[i], error) << "element " << i;
}

/// The calls throw this error with these words, and so they do traced.
template <class F, class... Args>
void expect_refused(ErrorKind kind, const std::string &words, const F &f, const Args &...args) {
  auto traced = function(f);
  const std::function<void()> calls[] = {[&] { static_cast<void>(f(args...)); },
                                         [&] { static_cast<void>(traced(args...)); }};
  for (const auto &call : calls) {
    try {
      call();
      ADD_FAILURE() << "nothing was thrown instead of: " << words;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), kind) << error.what();
      EXPECT_EQ(error.message(), words);
    }
  }
}

const auto cross_entropy = [](const Tensor &labels, const Tensor &logits) {
  return losses::softmax_cross_entropy(labels, logits);
};
const auto squared_error = [](const Tensor &targets, const Tensor &predictions) {
  return losses::mean_squared_error(targets, predictions);
};
const auto accuracy = [](const Tensor &labels, const Tensor &values) {
  return metrics::accuracy(labels, values);
};

TEST(Softmax, Values) {
  const std::vector<double> logs = {-2.4076059644443806,  -1.4076059644443804, -0.4076059644443804,
                                    -0.13284523372757556, -2.1328452337275756, -5.132845233727576};
  expect_near(nn::log_softmax(scores), logs, 1e-15);
  std::vector<double> shares;
  for (const double value : logs) shares.push_back(std::exp(value));
  expect_near(nn::softmax(scores), shares, 1e-15);
  // Where exp alone would overflow or vanish.
  expect_near(nn::softmax(tensor({1e4f, 1e4f})), {0.5, 0.5}, 0);
  expect_near(nn::log_softmax(tensor({0.f, -1e4f})), {0, -1e4}, 0);
}

TEST(CrossEntropy, OfClassNumbers) {
  for (const DType dtype : {i32, i64}) {
    const Tensor labels = tensor({2, 1}).astype(dtype);
    expect_near(cross_entropy(labels, scores), {1.270225599085978}, 1e-15);
    expect_near(function(cross_entropy)(labels, scores), {1.270225599085978}, 1e-15);
    expect_near(cross_entropy(labels, scores.astype(f32)), {1.270225599085978}, 1e-6);
  }
}

// A class that is out of the question has no part in the loss of others.
TEST(CrossEntropy, OfMaskedClasses) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor masked = tensor({{0., 0., -inf}, {-inf, 1., 1.}});
  const auto loss = [](const Tensor &x) { return cross_entropy(tensor({0, 2}), x); };
  expect_near(loss(masked), {std::log(2.)}, 1e-15);
  expect_near(grad(loss)(masked), {-0.25, 0.25, 0, 0, 0.25, -0.25}, 1e-15);
  expect_near(function(grad(loss))(masked), {-0.25, 0.25, 0, 0, 0.25, -0.25}, 1e-15);
}

TEST(CrossEntropy, OfProbabilities) {
  const Tensor labels = tensor({{.2, .3, .5}, {.1, .1, .8}});
  expect_near(cross_entropy(labels, scores), {2.7202255990859783}, 1e-15);
  expect_near(function(cross_entropy)(labels, scores), {2.7202255990859783}, 1e-15);
  expect_near(cross_entropy(nn::one_hot(tensor({2, 1}), 3), scores), {1.270225599085978}, 1e-15);
}

// (softmax(logits) - one_hot(labels)) / batch.
TEST(CrossEntropy, Gradient) {
  const auto gradient = grad([](const Tensor &x) { return cross_entropy(tensor({2, 1}), x); });
  const std::vector<double> expected = {0.04501528658519022, 0.12236423552739882,
                                        -0.1673795221125891, 0.4378002975315438,
                                        -0.4407501727324952, 0.0029498752009513903};
  expect_near(gradient(scores), expected, 1e-15);
  expect_near(function(gradient)(scores), expected, 1e-15);
}

TEST(CrossEntropy, LabelsThatAreNoClass) {
  for (const int label : {3, -1, 1000000}) {
    const std::string words = "softmax_cross_entropy: label " + std::to_string(label) +
                              " is out of range for an axis of size 3";
    expect_refused(ErrorKind::index, words, cross_entropy, tensor({0, label}), scores);
    const std::string of_accuracy =
        "accuracy: label " + std::to_string(label) + " is out of range for an axis of size 3";
    expect_refused(ErrorKind::index, of_accuracy, accuracy, tensor({0, label}), scores);
  }
}

// A value of the trace, not of an argument, and known only when the function runs.
TEST(CrossEntropy, LabelsOfATrace) {
  const auto loss = [](const Tensor &numbers) { return cross_entropy(numbers + 1, scores); };
  EXPECT_NO_THROW(function(loss)(tensor({0, 1})));
  expect_refused(ErrorKind::index,
                 "softmax_cross_entropy: label 3 is out of range for an axis of "
                 "size 3",
                 loss, tensor({2, 0}));
}

TEST(CrossEntropy, ShapesThatItRefuses) {
  const auto words = [](const std::string &labels) {
    return "softmax_cross_entropy: labels must be class numbers (batch,) of an integer dtype, or "
           "probabilities (batch, classes), but are " +
           labels + " for logits of shape (2, 3)";
  };
  const auto refused = [&](const Tensor &labels) {
    expect_refused(ErrorKind::shape, words(to_string(labels.type())), cross_entropy, labels,
                   scores);
  };
  refused(tensor({0}));
  refused(tensor({{0}, {1}}));
  refused(tensor({{1., 0., 0.}}));
  refused(tensor({0., 1.}));
  refused(tensor(1));
  expect_refused(ErrorKind::shape,
                 "softmax_cross_entropy: logits must be (batch, classes), but have shape (3,)",
                 cross_entropy, tensor(1), scores[0]);
  expect_refused(ErrorKind::dtype,
                 "softmax_cross_entropy: logits must be floating, but are i32(2, 3)", cross_entropy,
                 tensor({0, 1}), scores.astype(i32));
}

TEST(CrossEntropy, OpenBatches) {
  auto f = function(cross_entropy, {.signature = {spec(i32, {unknown}), spec(f64, {unknown, 3})}});
  expect_near(f(tensor({2, 1}), scores), {1.270225599085978}, 1e-15);
  EXPECT_THROW(f(tensor({2}), scores), ShapeError);
  EXPECT_THROW(f(tensor({2, 1, 0}), scores), ShapeError);
  EXPECT_THROW(f(tensor({2, 3}), scores), IndexError);
  auto g = function(cross_entropy,
                    {.signature = {spec(f64, {unknown, unknown}), spec(f64, {unknown, 3})}});
  EXPECT_THROW(g(tensor({{1., 0., 0.}}), scores), ShapeError);
  EXPECT_THROW(g(tensor({{1.}, {0.}}), scores), ShapeError);
}

TEST(SquaredError, Values) {
  const Tensor a = tensor({1.f, 2.f, 4.f}), b = tensor({1.5f, 0.f, 4.f});
  expect_near(squared_error(a, b), {4.25 / 3}, 1e-7);
  expect_near(function(squared_error)(a, b), {4.25 / 3}, 1e-7);
  expect_near(losses::mean_squared_error(1, b), {10.25 / 3}, 1e-6);
  // -2 (a - b) / n.
  expect_near(grad([&](const Tensor &x) { return squared_error(a, x); })(b), {1.f / 3, -4.f / 3, 0},
              1e-7);
}

TEST(SquaredError, ShapesThatItRefuses) {
  const Tensor flat = tensor({1.f, 2.f, 3.f}), column = reshape(flat, {3, 1});
  const std::string words =
      "mean_squared_error: targets and predictions must have the same shape, but are ";
  expect_refused(ErrorKind::shape, words + "f32(3,) and f32(3, 1)", squared_error, flat, column);
  expect_refused(ErrorKind::shape, words + "f32(3, 1) and f32(3,)", squared_error, column, flat);
  expect_refused(ErrorKind::shape, words + "f32(1,) and f32(3,)", squared_error, tensor({1.f}),
                 flat);
  expect_refused(ErrorKind::shape, words + "f32() and f32(3,)", squared_error, tensor(1.f), flat);
}

// What is 1 on one side, and open on the other, is not stretched either.
TEST(SquaredError, OpenSizes) {
  const Tensor flat = tensor({1.f, 2.f, 3.f}), one = tensor({1.f});
  auto f = function(squared_error, {.signature = {spec(f32, {1}), spec(f32, {unknown})}});
  EXPECT_EQ(f(one, one).item<float>(), 0);
  EXPECT_THROW(f(one, flat), ShapeError);
  auto g = function(squared_error, {.signature = {spec(f32, {unknown}), spec(f32, {unknown})}});
  EXPECT_EQ(g(flat, flat).item<float>(), 0);
  EXPECT_THROW(g(one, flat), ShapeError);
  EXPECT_THROW(g(flat, one), ShapeError);
}

// Labels out of range are errors in every loss of class numbers; the ignored one is none.
TEST(Losses, LabelsThatAreNoClass) {
  const auto sparse = [](const Tensor &labels, const Tensor &logits) {
    return losses::sparse_categorical_cross_entropy(labels, logits, {.ignored_label = -1});
  };
  EXPECT_NO_THROW(sparse(tensor({-1, 2}), scores));
  EXPECT_NO_THROW(function(sparse)(tensor({-1, 2}), scores));
  // Where no label counts, the mean is 0, and so is its gradient.
  EXPECT_EQ(sparse(tensor({-1, -1}), scores).item<double>(), 0);
  const auto loss = [&](const Tensor &x) { return sparse(tensor({-1, -1}), x); };
  expect_near(grad(loss)(scores), {0, 0, 0, 0, 0, 0}, 0);
  for (const int label : {3, -2})
    expect_refused(ErrorKind::index,
                   "sparse_categorical_cross_entropy: label " + std::to_string(label) +
                       " is out of range for an axis of size 3",
                   sparse, tensor({0, label}), scores);
  const Tensor frames = zeros({1, 4, 3});
  const auto ctc = [](const Tensor &labels, const Tensor &logits) {
    return losses::ctc(labels, logits);
  };
  expect_refused(ErrorKind::index, "ctc: label 3 is out of range for an axis of size 3", ctc,
                 tensor({{1, 3}}), frames);
  const auto of_lengths = [](const Tensor &labels, const Tensor &times) {
    return losses::ctc(tensor({{1, 9}}), zeros({1, 4, 3}),
                       {.label_lengths = labels, .logit_lengths = times});
  };
  EXPECT_NO_THROW(of_lengths(tensor({1}), tensor({4})));
  expect_refused(ErrorKind::index, "ctc: label_lengths 3 is out of range for an axis of size 3",
                 of_lengths, tensor({3}), tensor({4}));
  expect_refused(ErrorKind::index, "ctc: logit_lengths 5 is out of range for an axis of size 5",
                 of_lengths, tensor({1}), tensor({5}));
  expect_refused(ErrorKind::index, "ctc: logit_lengths -1 is out of range for an axis of size 5",
                 of_lengths, tensor({1}), tensor({-1}));
}

TEST(Losses, ShapesAndDTypesThatTheyRefuse) {
  const Tensor three = tensor({1.f, 2.f, 3.f}), matrix = ones({2, 3});
  using Loss = Tensor (*)(const Operand &, const Operand &, const losses::LossOptions &);
  const std::pair<const char *, Loss> all_of_them[] = {
      {"mean_absolute_error", losses::mean_absolute_error},
      {"log_cosh", losses::log_cosh},
      {"poisson", losses::poisson},
      {"kl_divergence", losses::kl_divergence},
      {"hinge", losses::hinge},
      {"squared_hinge", losses::squared_hinge},
      {"categorical_hinge", losses::categorical_hinge},
      {"cosine_similarity", losses::cosine_similarity},
  };
  for (const auto &[name, f] : all_of_them)
    expect_refused(
        ErrorKind::shape,
        std::string(name) + ": targets and predictions must have the same shape, but "
                            "are f32(3,) and f32(2, 3)",
        [f = f](const Tensor &a, const Tensor &b) { return f(a, b, {}); }, three, matrix);
  expect_refused(
      ErrorKind::shape, "kl_divergence: targets must have a last axis, but are a scalar",
      [](const Tensor &a) { return losses::kl_divergence(a, a); }, tensor(1.f));
  const auto categorical = [](const Tensor &labels, const Tensor &logits) {
    return losses::categorical_cross_entropy(labels, logits);
  };
  expect_refused(ErrorKind::shape,
                 "categorical_cross_entropy: targets and predictions must have the same shape, but "
                 "are i32(2,) and f32(2, 3)",
                 categorical, tensor({0, 1}), matrix);
  expect_refused(ErrorKind::dtype,
                 "categorical_cross_entropy: scores must be floating, but are i32(2, 3)",
                 categorical, matrix, matrix.astype(i32));
  const auto sparse = [](const Tensor &labels, const Tensor &logits) {
    return losses::sparse_categorical_cross_entropy(labels, logits);
  };
  expect_refused(ErrorKind::shape,
                 "sparse_categorical_cross_entropy: labels must have the shape of scores but for "
                 "its last axis, but are i32(3,) for scores of shape (2, 3)",
                 sparse, tensor({0, 1, 2}), matrix);
  expect_refused(ErrorKind::dtype,
                 "sparse_categorical_cross_entropy: labels must be class numbers of an integer "
                 "dtype, but are f32(2, 3)",
                 sparse, matrix, matrix);
  expect_refused(ErrorKind::shape,
                 "sparse_categorical_cross_entropy: scores must be (..., classes), but are a "
                 "scalar",
                 sparse, tensor(1), tensor(1.f));
  const auto ctc = [](const Tensor &labels, const Tensor &logits) {
    return losses::ctc(labels, logits);
  };
  expect_refused(ErrorKind::shape,
                 "ctc: labels must be (batch, labels) and logits (batch, time, classes), but they "
                 "are i32(2, 3) and f32(1, 4, 3)",
                 ctc, matrix.astype(i32), ones({1, 4, 3}));
  expect_refused(ErrorKind::dtype, "ctc: labels must be integers, but are f32(2, 3)", ctc, matrix,
                 ones({2, 4, 3}));
  EXPECT_THROWS(losses::ctc(matrix.astype(i32), ones({2, 4, 3}), {.label_lengths = matrix}),
                DTypeError, "ctc: label_lengths must be integers, but are f32(2, 3)");
  EXPECT_THROWS(losses::ctc(matrix.astype(i32), ones({2, 4, 3}), {.logit_lengths = tensor({1})}),
                ShapeError,
                "ctc: logit_lengths must be (batch,), but are i32(1,) for a batch of 2");
  EXPECT_THROWS(losses::triplet(three, matrix, matrix), ShapeError,
                "triplet: targets and predictions must have the same shape, but are f32(2, 3) and "
                "f32(3,)");
}

TEST(Losses, OptionsThatTheyRefuse) {
  const Tensor matrix = ones({2, 3}), nan = tensor(std::nanf(""));
  EXPECT_THROWS(losses::mean_squared_error(matrix, matrix, {.weights = ones({3})}), ShapeError,
                "mean_squared_error: weights of shape (3,) do not broadcast to the values of shape "
                "(2,)");
  EXPECT_THROWS(losses::mean_squared_error(matrix, matrix, {.weights = ones({2, 1})}), ShapeError,
                "mean_squared_error: weights of shape (2, 1) do not broadcast to the values of "
                "shape (2,)");
  EXPECT_THROWS(losses::mean_squared_error(matrix, matrix, {.mask = ones({2})}), DTypeError,
                "mean_squared_error: the mask must be bools, but is f32(2,)");
  EXPECT_THROWS(losses::huber(matrix, matrix, {.delta = 0}), ValueError,
                "huber: delta is 0, but must be positive and finite");
  EXPECT_THROWS(losses::triplet(matrix, matrix, matrix, {.margin = std::nan("")}), ValueError,
                "triplet: margin is nan, but must be finite");
  EXPECT_THROWS(losses::binary_cross_entropy(matrix, matrix, {.label_smoothing = 1.5}), ValueError,
                "binary_cross_entropy: label_smoothing is 1.5, but must be from 0 to 1");
  EXPECT_THROWS(losses::categorical_cross_entropy(matrix, matrix, {.ignored_label = 0}), ValueError,
                "categorical_cross_entropy: there is an ignored_label among class numbers only, "
                "which sparse_categorical_cross_entropy takes: mask these");
  EXPECT_THROWS(
      losses::mean_squared_error(matrix, matrix, {.reduction = static_cast<losses::Reduction>(7)}),
      ValueError, "mean_squared_error: there is no reduction of the number 7");
  EXPECT_THROWS(losses::ctc(tensor({{1}}), ones({1, 2, 3}), {.blank = 3}), IndexError,
                "ctc: the blank is 3, which is none of the 3 classes");
  // What is masked may be NaN.
  EXPECT_EQ(losses::mean_squared_error(matrix, matrix * nan, {.mask = tensor({false, false})})
                .item<float>(),
            0);
}

// Language models have open batches and lengths.
TEST(Losses, OpenBatchesAndTimes) {
  const auto loss = [](const Tensor &labels, const Tensor &logits) {
    return losses::sparse_categorical_cross_entropy(labels, logits, {.ignored_label = -1});
  };
  auto f = function(
      loss, {.signature = {spec(i32, {unknown, unknown}), spec(f64, {unknown, unknown, 3})}});
  const Tensor labels = tensor({{2, -1}, {1, 0}}),
               logits = reshape(tensor({{1., 2., 3.}, {3., 1., -2.}}), {1, 2, 3}) * ones({2, 1, 1});
  EXPECT_EQ(f(labels, logits).item<double>(), loss(labels, logits).item<double>());
  EXPECT_THROW(f(labels[slice(0, 1)], logits), ShapeError);
  EXPECT_THROW(f(labels[{all, slice(0, 1)}], logits), ShapeError);
}

// Sizes that a trace does not know are compared when it runs: weights are not stretched by values,
// nor values by weights.
TEST(Losses, OpenSizes) {
  const auto loss = [](const Tensor &y, const Tensor &p, const Tensor &w) {
    return losses::mean_absolute_error(y, p, {.weights = w});
  };
  const Tensor one = ones({1, 3}), two = ones({2, 3}), weight = ones({1}), weights = ones({2});
  const auto open = spec(f32, {unknown, unknown});
  auto f = function(loss, {.signature = {open, open, spec(f32, {unknown})}});
  EXPECT_EQ(f(two, two, weights).item<float>(), 0);
  EXPECT_THROW(f(one, two, weights), ShapeError);
  EXPECT_THROW(f(one, one, weights), ShapeError);
  auto g = function(loss, {.signature = {spec(f32, {1, 3}), open, spec(f32, {unknown})}});
  EXPECT_EQ(g(one, one, weight).item<float>(), 0);
  EXPECT_THROW(g(one, two, weights), ShapeError);
  EXPECT_THROW(g(one, one, weights), ShapeError);
}

TEST(Accuracy, Values) {
  expect_near(accuracy(tensor({2, 1}), scores), {0.5}, 0);
  expect_near(function(accuracy)(tensor({2, 0}), scores), {1}, 0);
  // Of equal scores the first counts; other ranks have a label for each row too.
  expect_near(accuracy(tensor({0, 1}), zeros({2, 3})), {0.5}, 0);
  expect_near(accuracy(tensor({{2, 0}}), reshape(scores, {1, 2, 3})), {1}, 0);
  expect_near(accuracy(tensor(2), scores[0]), {1}, 0);
  expect_near(accuracy(tensor({1, 1}), tensor({{1, 2}, {2, 1}})), {0.5}, 0);
}

TEST(Accuracy, NaNIsNeverRight) {
  const double none = std::nan("");
  const Tensor nan = full({3, 2}, none), some = tensor({{none, 1.}, {1., none}, {0., 1.}});
  for (const auto &f :
       {std::function<Tensor(const Tensor &, const Tensor &)>(accuracy),
        std::function<Tensor(const Tensor &, const Tensor &)>(function(accuracy))}) {
    expect_near(f(tensor({0, 0, 0}), nan), {0}, 0);
    expect_near(f(tensor({0, 0, 1}), some), {1. / 3}, 1e-7);
    expect_near(f(tensor({1, 1, 1}), some), {1. / 3}, 1e-7);
  }
}

TEST(Accuracy, ShapesThatItRefuses) {
  const Tensor eye3 = eye(3);
  const std::string words =
      "accuracy: labels must have the shape of scores but for its last axis, but are ";
  expect_refused(ErrorKind::shape, words + "i32(3, 1) for scores of shape (3, 3)", accuracy,
                 tensor({{0}, {1}, {2}}), eye3);
  expect_refused(ErrorKind::shape, words + "i32(3, 3) for scores of shape (3, 3)", accuracy,
                 eye3.astype(i32), eye3);
  expect_refused(ErrorKind::shape, "accuracy: scores must be (..., classes), but are a scalar",
                 accuracy, tensor(0), tensor(1.f));
  expect_refused(ErrorKind::dtype,
                 "accuracy: labels must be class numbers of an integer dtype, but are f32(3,)",
                 accuracy, tensor({0.f, 1.f, 2.f}), eye3);
}

TEST(OneHot, Values) {
  const Tensor hot = nn::one_hot(tensor({{2, 0}, {-1, 3}}), 3);
  EXPECT_EQ(hot.shape(), (Shape{2, 2, 3}));
  expect_near(hot, {0, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0}, 0);
  EXPECT_EQ(nn::one_hot(tensor({1}), 2, i64).dtype(), i64);
  EXPECT_THROWS(nn::one_hot(tensor({1.f}), 2), DTypeError,
                "one_hot: the labels must be integers, but they are f32");
  EXPECT_THROWS(nn::one_hot(tensor({1}), -2), ValueError, "one_hot: classes is -2");
}

} // namespace
} // namespace weft
