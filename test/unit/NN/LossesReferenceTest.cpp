// Activations and losses against Keras 3: values and gradients in f64, and compiled ones, which
// have the same bits.
#include "Reference/Reference.h"

#include <functional>
#include <limits>

namespace weft {
namespace {

#include "Reference/Losses.inc"

/// Values, then the gradient by the input of their sum with fixed factors.
template <class F>
void check(const std::string &name, const Tensor &x, const F &f) {
  const auto both = [&](const Tensor &v) {
    GradientTape tape;
    tape.watch(v);
    const Tensor y = f(v);
    return std::pair(y, tape.gradient(sum(y * wave(y.shape(), 9)), v));
  };
  const auto eager = both(x), compiled = function(both)(x);
  Doubles found = eager.first.template to_vector<double>();
  for (const double value : eager.second.template to_vector<double>()) found.push_back(value);
  expect_as_in(keras_losses, name, found);
  EXPECT_EQ(eager.first.template to_vector<double>(), compiled.first.template to_vector<double>())
      << name;
  EXPECT_EQ(eager.second.template to_vector<double>(), compiled.second.template to_vector<double>())
      << name;
}

TEST(Activations, AreThoseOfKeras) {
  const std::pair<const char *, Tensor (*)(const Operand &)> all_of_them[] = {
      {"gelu", gelu},       {"gelu_tanh", gelu_tanh},       {"silu", silu},
      {"sigmoid", sigmoid}, {"softplus", softplus},         {"elu", elu},
      {"selu", selu},       {"leaky_relu", leaky_relu},     {"relu6", relu6},
      {"mish", mish},       {"hard_sigmoid", hard_sigmoid}, {"softsign", softsign},
  };
  for (const auto &[name, f] : all_of_them) {
    check(name, 12 * wave({16}, 0.5), f);
    const nn::Activation activation = f;
    EXPECT_EQ(activation(tensor({1.f})).dtype(), f32) << name;
    EXPECT_EQ(f(tensor({1, 2})).dtype(), f32) << name;
    EXPECT_EQ(f(2).shape(), Shape{}) << name;
  }
}

// Far out there are neither overflows nor NaN, in values and gradients.
TEST(Activations, AreFiniteFarOut) {
  const Tensor far = tensor({-1e4f, -100.f, 0.f, 100.f, 1e4f});
  for (const auto f : {gelu, gelu_tanh, silu, sigmoid, softplus, elu, selu, leaky_relu, relu6, mish,
                       hard_sigmoid, softsign}) {
    const auto total = [&](const Tensor &x) { return sum(f(x)); };
    for (const Tensor &x : {f(far), grad(total)(far), function(grad(total))(far)})
      for (const float value : x.to_vector<float>()) EXPECT_TRUE(std::isfinite(value));
  }
  EXPECT_EQ(softplus(far).to_vector<float>()[4], 1e4f);
  EXPECT_EQ(grad([](const Tensor &x) { return elu(x); })(tensor(0.f)).item<float>(), 1);
  EXPECT_THROWS(gelu(Tensor()), StateError,
                "gelu: an operand is undefined: it was never given a value");
}

const Shape shape = {2, 3, 4};
const Tensor x = 3 * wave(shape, 1), y = 3 * wave(shape, 2), p = shares(shape, 3),
             q = shares(shape, 4), b = bits(shape, 5), l = labels({2, 3}, 4);
using losses::Reduction;

TEST(LossesReference, OfNumbers) {
  const losses::LossOptions each{.reduction = Reduction::none};
  check("mean_squared_error", x,
        [&](const Tensor &v) { return losses::mean_squared_error(y, v, each); });
  check("mean_absolute_error", x,
        [&](const Tensor &v) { return losses::mean_absolute_error(y, v, each); });
  check("huber", x, [](const Tensor &v) {
    return losses::huber(y, v, {.delta = 0.7, .reduction = Reduction::none});
  });
  check("log_cosh", 9 * x, [&](const Tensor &v) { return losses::log_cosh(y, v, each); });
  check("kl_divergence", q, [&](const Tensor &v) { return losses::kl_divergence(p, v, each); });
  check("poisson", q, [&](const Tensor &v) { return losses::poisson(p, v, each); });
}

TEST(LossesReference, OfMargins) {
  const losses::LossOptions each{.reduction = Reduction::none};
  check("hinge", x, [&](const Tensor &v) { return losses::hinge(b, v, each); });
  check("squared_hinge", x, [&](const Tensor &v) { return losses::squared_hinge(b, v, each); });
  check("squared_hinge", x,
        [&](const Tensor &v) { return losses::squared_hinge(2 * b - 1, v, each); });
  check("categorical_hinge", x,
        [&](const Tensor &v) { return losses::categorical_hinge(nn::one_hot(l, 4), v, each); });
  check("cosine_similarity", x,
        [&](const Tensor &v) { return losses::cosine_similarity(y, v, each); });
  check("triplet", x, [](const Tensor &v) {
    return losses::triplet(v, y, p, {.margin = 0.5, .reduction = Reduction::none});
  });
}

TEST(LossesReference, OfClasses) {
  losses::CrossEntropyOptions plain{.reduction = Reduction::none}, smooth = plain, shared = plain,
                                                                   ignoring = plain;
  smooth.label_smoothing = 0.2;
  shared.from_logits = false;
  ignoring.ignored_label = -1;
  check("categorical", x,
        [&](const Tensor &v) { return losses::categorical_cross_entropy(p, v, plain); });
  check("categorical smooth", x,
        [&](const Tensor &v) { return losses::categorical_cross_entropy(p, v, smooth); });
  check("categorical probabilities", 3 * q,
        [&](const Tensor &v) { return losses::categorical_cross_entropy(p, v, shared); });
  check("sparse", x,
        [&](const Tensor &v) { return losses::sparse_categorical_cross_entropy(l, v, plain); });
  check("sparse smooth", x,
        [&](const Tensor &v) { return losses::sparse_categorical_cross_entropy(l, v, smooth); });
  check("sparse ignored", x, [&](const Tensor &v) {
    return losses::sparse_categorical_cross_entropy(select(l == 2, -1, l), v, ignoring);
  });
  check("sparse probabilities", 3 * q,
        [&](const Tensor &v) { return losses::sparse_categorical_cross_entropy(l, v, shared); });
  losses::BinaryCrossEntropyOptions binary{.reduction = Reduction::none};
  check("binary", 9 * x,
        [&](const Tensor &v) { return losses::binary_cross_entropy(b, v, binary); });
  binary.label_smoothing = 0.2;
  check("binary smooth", x,
        [&](const Tensor &v) { return losses::binary_cross_entropy(b, v, binary); });
  binary = {.from_logits = false, .reduction = Reduction::none};
  check("binary probabilities", q,
        [&](const Tensor &v) { return losses::binary_cross_entropy(b, v, binary); });
}

TEST(LossesReference, Reductions) {
  const Tensor weights = 1 + wave({2, 3}, 6),
               mask = tensor({{true, false, true}, {true, true, false}});
  const std::pair<const char *, Reduction> reductions[] = {
      {"none", Reduction::none},
      {"sum", Reduction::sum},
      {"mean", Reduction::mean},
      {"mean_with_sample_weight", Reduction::weighted_mean}};
  for (const auto &[name, reduction] : reductions) {
    const auto found = [&, r = reduction](const Tensor &w, const Tensor &m) {
      const auto loss = [&](const Tensor &v) {
        return losses::mean_squared_error(y, v, {.weights = w, .mask = m, .reduction = r});
      };
      const Doubles values = loss(x).to_vector<double>();
      EXPECT_EQ(values, function(loss)(x).to_vector<double>());
      return values;
    };
    expect_as_in(keras_losses, std::string("reduction ") + name, found(weights, {}));
    // Keras scales what is masked in the sum and without a reduction too.
    if (reduction == Reduction::mean || reduction == Reduction::weighted_mean)
      expect_as_in(keras_losses, std::string("masked ") + name, found({}, mask));
    else EXPECT_EQ(found({}, mask), found(mask.astype(f64), {}));
  }
}

const Tensor sequences = tensor({{1, 2, 2, 0}, {3, 0, 0, 0}, {0, 0, 0, 0}}),
             frames = 4 * wave({3, 7, 5}, 1);

Tensor ctc_of(const Tensor &v, losses::CTCOptions options, const Tensor &lengths = {}) {
  options.logit_lengths = lengths;
  options.reduction = Reduction::none;
  return losses::ctc(sequences, v, options);
}

TEST(LossesReference, ConnectionistTemporalClassification) {
  check("ctc", frames, [](const Tensor &v) { return ctc_of(v, {}); });
  check("ctc", frames,
        [](const Tensor &v) { return ctc_of(v, {.label_lengths = tensor({3, 1, 0})}); });
  check("ctc lengths", frames, [](const Tensor &v) { return ctc_of(v, {}, tensor({6, 4, 5})); });
  // The first has three labels, a blank between equal ones, and three frames.
  const Doubles &keras = keras_losses.at("ctc impossible"),
                found = ctc_of(frames, {}, tensor({3, 1, 1})).to_vector<double>();
  EXPECT_NEAR(found[0], keras[0], 10);
  EXPECT_NEAR(found[1], keras[1], 1e-6);
  EXPECT_NEAR(found[2], keras[2], 1e-6);
  const auto total = [](const Tensor &v) {
    return sum(ctc_of(v, {.impossible_is_infinite = true}, tensor({3, 1, 1})));
  };
  EXPECT_EQ(total(frames).item<double>(), std::numeric_limits<double>::infinity());
  EXPECT_EQ(function(total)(frames).item<double>(), std::numeric_limits<double>::infinity());
  const Tensor slope = grad(total)(frames);
  EXPECT_EQ(max(abs(slope[0])).item<double>(), 0);
  EXPECT_TRUE(all(slope == slope).item<bool>());
}

/// The loss by the definition: over all ways to give each frame a class, those that are the labels
/// when repetitions, and then blanks, are left out.
double ctc_by_counting(const Tensor &logs, const std::vector<std::size_t> &wanted,
                       std::size_t blank) {
  const auto times = static_cast<std::size_t>(logs.size(0)),
             classes = static_cast<std::size_t>(logs.size(1));
  const Doubles values = logs.to_vector<double>();
  double total = 0;
  std::size_t ways = 1;
  for (std::size_t t = 0; t < times; ++t) ways *= classes;
  for (std::size_t way = 0; way < ways; ++way) {
    std::vector<std::size_t> found;
    double log = 0;
    for (std::size_t t = 0, rest = way, last = blank; t < times; ++t, rest /= classes) {
      const std::size_t now = rest % classes;
      log += values[t * classes + now];
      if (now != last && now != blank) found.push_back(now);
      last = now;
    }
    if (found == wanted) total += std::exp(log);
  }
  return -std::log(total);
}

TEST(CTC, CountsAllWays) {
  const Tensor scores = 3 * wave({2, 5, 3}, 2), logs = nn::log_softmax(scores);
  const losses::CTCOptions options{.blank = 1, .reduction = Reduction::none};
  const auto loss = [&](const Tensor &v) {
    return losses::ctc(tensor({{0, 2, 2}, {2, 0, 1}}), v, options);
  };
  const Doubles found = loss(scores).to_vector<double>();
  EXPECT_NEAR(found[0], ctc_by_counting(logs[0], {0, 2, 2}, 1), 1e-12);
  EXPECT_NEAR(found[1], ctc_by_counting(logs[1], {2, 0}, 1), 1e-12);
  EXPECT_EQ(function(loss)(scores).to_vector<double>(), found);
  auto open = function(loss, {.signature = {spec(f64, {unknown, unknown, 3})}});
  EXPECT_EQ(open(scores).to_vector<double>(), found);
}

} // namespace
} // namespace weft
