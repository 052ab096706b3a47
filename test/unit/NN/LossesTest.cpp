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
    const std::string words = "softmax_cross_entropy: gather: index " + std::to_string(label) +
                              " is out of range for an axis of size 3";
    expect_refused(ErrorKind::index, words, cross_entropy, tensor({0, label}), scores);
    const std::string of_accuracy = "accuracy: gather: index " + std::to_string(label) +
                                    " is out of range for an axis of size 3";
    expect_refused(ErrorKind::index, of_accuracy, accuracy, tensor({0, label}), scores);
  }
}

// A value of the trace, not of an argument, and known only when the function runs.
TEST(CrossEntropy, LabelsOfATrace) {
  const auto loss = [](const Tensor &numbers) { return cross_entropy(numbers + 1, scores); };
  EXPECT_NO_THROW(function(loss)(tensor({0, 1})));
  expect_refused(ErrorKind::index,
                 "softmax_cross_entropy: gather: index 3 is out of range for an axis of "
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
