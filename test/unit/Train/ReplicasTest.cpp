// Steps of replicas in one process: against a loop by hand, of one replica, and what is refused.
#include "../Testing.h"
#include "Problem.h"

#include <cmath>
#include <filesystem>

#include <gmock/gmock.h>

#include "IO/Safetensors.h"
#include "Support/Files.h"

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft {
namespace {

using test::Problem;

TEST(Fit, OfOneReplicaIsTheSame) {
  const Problem expected;
  const train::History history = train::fit(expected.model, expected.data, expected.options(2));
  for (const train::Parallel &parallel : {train::Parallel{}, train::Parallel{.replicas = 1}}) {
    const Problem problem;
    auto options = problem.options(2);
    options.parallel = parallel;
    EXPECT_EQ(train::fit(problem.model, problem.data, options), history);
    EXPECT_EQ(problem.weights(), expected.weights());
  }
}

/// What replicas of a batch come to, by hand: gradients of their rows, weighted and added in pairs.
TEST(Fit, OfReplicasIsTheWeightedSumOfTheirGradients) {
  const auto make = [] {
    nn::Sequential model{nn::Dense(8, {.activation = tanh}), nn::BatchNorm(), nn::Dense(3)};
    nn::seed(model, 3);
    return model;
  };
  const Tensor x = random::normal({50, 4}, {.seed = 1});
  const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
  const auto data = data::from_tensors(x, y).batch(8); // the last has two rows for four replicas
  const auto net = make(), by_hand = make();
  const optimizers::SGD sgd(net, {.learning_rate = 0.1}), other(by_hand, {.learning_rate = 0.1});
  const train::History history = train::fit(net, data,
                                            {.optimizer = sgd,
                                             .loss = losses::softmax_cross_entropy,
                                             .epochs = 2,
                                             .parallel = {.replicas = 4},
                                             .progress = false});
  static_cast<void>(by_hand(x)); // builds it
  const auto moving = [&] {
    std::vector<Variable> some;
    for (const Variable &variable : nn::variables(by_hand))
      if (!variable.trainable()) some.push_back(variable);
    return some;
  }();
  ASSERT_EQ(moving.size(), 2U);
  double total = 0;
  for (int epoch = 0; epoch < 2; ++epoch) {
    total = 0;
    for (const auto &[rows, labels] : data) {
      const std::int64_t count = rows.size(0);
      std::vector<std::vector<Tensor>> leaves, statistics;
      const std::vector<Tensor> before = {moving[0].value(), moving[1].value()};
      for (std::int64_t i = 0; i < 4; ++i) {
        const std::int64_t begin = i * count / 4, end = (i + 1) * count / 4;
        leaves.emplace_back();
        statistics.emplace_back();
        if (begin == end) continue;
        for (int j = 0; j < 2; ++j) moving[j].assign(before[j]);
        const float share = static_cast<float>(end - begin) / static_cast<float>(count);
        GradientTape tape;
        const Tensor loss = losses::softmax_cross_entropy(
            labels[slice(begin, end)], by_hand(rows[slice(begin, end)], {.training = true}));
        total += loss.item<float>() * static_cast<double>(end - begin);
        leaves.back() = tape.gradient(loss * share, by_hand).tensors();
        for (int j = 0; j < 2; ++j) statistics.back().push_back(moving[j].value() * share);
      }
      const auto sum = [](const std::vector<std::vector<Tensor>> &of, std::size_t at) {
        const auto pair = [&](std::size_t a, std::size_t b) {
          return of[a].empty() ? of[b][at] : of[b].empty() ? of[a][at] : of[a][at] + of[b][at];
        };
        return pair(0, 1) + pair(2, 3);
      };
      std::vector<Tensor> gradients;
      for (std::size_t j = 0; j < leaves[1].size(); ++j) gradients.push_back(sum(leaves, j));
      other.apply_gradients(gradients);
      for (int j = 0; j < 2; ++j) moving[j].assign(sum(statistics, static_cast<std::size_t>(j)));
    }
  }
  EXPECT_NEAR(history.last("loss"), total / 50, 1e-6);
  const std::vector<Variable> trained = nn::variables(net), expected = nn::variables(by_hand);
  ASSERT_EQ(trained.size(), expected.size());
  for (std::size_t i = 0; i < trained.size(); ++i)
    EXPECT_EQ(trained[i].value().to_vector<float>(), expected[i].value().to_vector<float>())
        << trained[i].name();
}

/// What a metric is told of labels around 10^4 and scores around 0.
enum class Labels : std::uint8_t { numbers, classes, one_hot, yes_or_no };
enum class Scores : std::uint8_t { scores, classes, near_labels };

template <class Metric, Labels labels, Scores scores>
struct Told {
  Metric metric;
  void update(const Tensor &y, const Tensor &p) const {
    const Tensor number = argmax(y, {.axis = 1});
    const Tensor of_labels = labels == Labels::classes     ? number
                             : labels == Labels::one_hot   ? nn::one_hot(number, 3)
                             : labels == Labels::yes_or_no ? cast(y > 1e4, f32)
                                                           : y;
    metric.update(of_labels, scores == Scores::classes       ? argmax(p, {.axis = 1})
                             : scores == Scores::near_labels ? p + 1e4
                                                             : p);
  }
  Tensor result() const { return weft::mean(metric.result()); }
  void reset() const { metric.reset(); }
  WEFT_FIELDS(Told, metric)
};
template <Labels labels, Scores scores = Scores::scores, class Metric>
train::NamedMetric<Tensor> told(const std::string &name, Metric metric) {
  return {name, Told<Metric, labels, scores>{std::move(metric)}};
}
/// The mean of all numbers of a batch, weighted; the one metric that takes no pairs.
struct MeanOfLabels {
  metrics::Mean mean;
  void update(const Tensor &y, const Tensor &p) const { mean.update(y, abs(p)); }
  Tensor result() const { return mean.result(); }
  void reset() const { mean.reset(); }
  WEFT_FIELDS(MeanOfLabels, mean)
};
/// The counts of some pairs of classes.
struct Confused {
  metrics::ConfusionMatrix confusion{3};
  void update(const Tensor &y, const Tensor &p) const {
    confusion.update(argmax(y, {.axis = 1}), p);
  }
  Tensor result() const {
    return sum(confusion.result() * reshape(cast(arange(9), DType::f64), {3, 3}));
  }
  void reset() const { confusion.reset(); }
  WEFT_FIELDS(Confused, confusion)
};

TEST(Fit, OfReplicasHasTheMetricsOfAllRows) {
  const auto run = [](std::optional<std::int64_t> replicas, bool compile) {
    const nn::Sequential model{nn::Dense(3)};
    nn::seed(model, 3);
    const Tensor x = random::normal({50, 4}, {.seed = 1});
    const Tensor y = 1e4 + x[{all, slice(0, 3)}] + random::normal({50, 3}, {.seed = 2});
    const optimizers::SGD sgd(model, {.learning_rate = 0});
    const std::vector<train::NamedMetric<Tensor>> all_metrics = {
        {"mean", MeanOfLabels()},
        {"confusion", Confused()},
        told<Labels::yes_or_no>("binary_accuracy", metrics::BinaryAccuracy()),
        told<Labels::one_hot>("categorical_accuracy", metrics::CategoricalAccuracy()),
        told<Labels::classes>("sparse_accuracy", metrics::SparseCategoricalAccuracy()),
        told<Labels::classes>("top_2", metrics::TopKAccuracy(2)),
        told<Labels::numbers, Scores::near_labels>("squared", metrics::MeanSquaredError()),
        told<Labels::numbers, Scores::near_labels>("absolute", metrics::MeanAbsoluteError()),
        told<Labels::classes>("perplexity", metrics::Perplexity({.ignored_label = 1})),
        told<Labels::yes_or_no>("precision", metrics::Precision()),
        told<Labels::yes_or_no>("recall", metrics::Recall()),
        told<Labels::one_hot>("f1", metrics::F1()),
        told<Labels::yes_or_no>("auc", metrics::AUC({.from_logits = true})),
        told<Labels::classes, Scores::classes>("counts", metrics::ConfusionMatrix(3)),
        told<Labels::numbers, Scores::near_labels>("r2", metrics::R2())};
    return train::fit(model, data::from_tensors(x, y).batch(8),
                      {.optimizer = sgd,
                       .loss = losses::mean_squared_error,
                       .metrics = all_metrics,
                       .epochs = 2,
                       .validation = data::from_tensors(x, y).batch(20),
                       .parallel = {.replicas = replicas.value_or(0)},
                       .compile = compile,
                       .progress = false});
  };
  const train::History expected = run(std::nullopt, true);
  ASSERT_EQ(expected.names().size(), 32U);
  for (const bool compile : {true, false})
    for (const std::int64_t replicas : {1, 2, 5}) {
      const train::History history = run(replicas, compile);
      for (const std::string &name : expected.names())
        for (std::size_t epoch = 0; epoch < 2; ++epoch) {
          const double value = expected.series(name)[epoch].value;
          EXPECT_NEAR(history.series(name)[epoch].value, value, 1e-6 * std::abs(value))
              << name << " of " << replicas << " replicas in epoch " << epoch + 1;
          EXPECT_NE(value, 0) << name;
        }
    }
}

TEST(Fit, RefusesToGoOnWithoutItsReplicas) {
  const auto message_of = [](std::int64_t first, std::int64_t second) {
    const std::string folder = testing::TempDir() + "weft-replicas";
    std::filesystem::remove_all(folder);
    const auto run = [&](std::int64_t replicas, std::int64_t epochs) {
      const Problem problem;
      auto options = problem.options(epochs);
      options.parallel = {.replicas = replicas};
      options.checkpoints = train::FitCheckpoints{.folder = folder};
      return train::fit(problem.model, problem.data, options);
    };
    run(first, 1);
    try {
      EXPECT_EQ(run(second, 2).series("loss").size(), 2U);
    } catch (const ValueError &error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  EXPECT_THAT(
      message_of(4, 0),
      testing::AllOf(testing::StartsWith("fit: the run in '"),
                     testing::HasSubstr("' has 4 replicas, and this call is not parallel")));
  EXPECT_THAT(message_of(0, 4),
              testing::AllOf(testing::StartsWith("fit: replicas is 4, and the run"),
                             testing::HasSubstr("' has 1: ")));
  EXPECT_EQ(message_of(0, 1), "no error"); // which is the same
  EXPECT_EQ(message_of(1, 0), "no error");
}

/// Writes a checkpoint again without that it had one replica, and where the process's generator
/// stood, as it was before there were any.
void forget_replicas(const std::string &path) {
  std::map<std::string, std::string> texts;
  std::vector<SafetensorsItem> items;
  {
    const SafetensorsFile file(path);
    texts = file.metadata();
    for (const SafetensorsEntry &entry : file.entries())
      if (entry.name != "generator.state") items.push_back({entry.name, file.load(entry.name)});
    ASSERT_EQ(items.size() + 1, file.entries().size());
  }
  ASSERT_EQ(texts.erase("weft.number.replicas"), 1U);
  AtomicFile file(path);
  write_safetensors(file, std::move(items), std::move(texts));
  file.commit();
}

TEST(Fit, GoesOnFromBeforeThereWereReplicas) {
  const std::string folder = testing::TempDir() + "weft-before-replicas";
  std::filesystem::remove_all(folder);
  const auto run = [&](std::int64_t epochs, bool saves) {
    const Problem problem;
    auto options = problem.options(epochs);
    if (saves) options.checkpoints = train::FitCheckpoints{.folder = folder};
    return train::fit(problem.model, problem.data, options);
  };
  run(1, true);
  for (const auto &entry : std::filesystem::directory_iterator(folder))
    forget_replicas(entry.path().string());
  EXPECT_EQ(run(3, true), run(3, false));
}

/// Counts downwards, from one.
struct Countdown {
  Variable left{1.0f, "left", /*trainable=*/false};
  void update(const Tensor &, const Tensor &) const { left.assign_sub(1.0f); }
  Tensor result() const { return left.value(); }
  void reset() const { left.assign(1.0f); }
  WEFT_FIELDS(Countdown, left)
};
/// Counts where nobody sees it.
struct Hidden {
  std::int64_t seed = 0;
  void update(const Tensor &, const Tensor &) const {}
  Tensor result() const { return zeros({}); }
  void reset() const {}
  WEFT_FIELDS(Hidden, seed)
};

TEST(Fit, RefusesWhatReplicasCannotAddUp) {
  const auto message_of = [](const auto &change) {
    Problem problem;
    auto options = problem.options(1);
    options.parallel = {.replicas = 4};
    options.compile = false;
    change(problem, options);
    try {
      train::fit(problem.model, problem.data, options);
    } catch (const Error &error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message_of([](auto &, auto &options) { options.metrics = {{"left", Countdown()}}; }),
              testing::HasSubstr("fit: the metric's variable 'left.left' is not 0 after a reset"));
  EXPECT_THAT(message_of([](auto &, auto &options) { options.metrics = {{"hidden", Hidden()}}; }),
              testing::HasSubstr("fit: the metric 'hidden' has no variables"));
  EXPECT_THAT(message_of([](auto &, auto &options) { options.parallel.bucket_mib = 0; }),
              testing::HasSubstr("fit: bucket_mib is 0, but must be positive"));
  EXPECT_THAT(message_of([](auto &, auto &options) { options.parallel.replicas = -2; }),
              testing::HasSubstr("fit: replicas is -2, but must be at least 1"));
}

/// Of one rank nothing is cut; what would be on several is refused all the same, so that a run that
/// is tried on one is none that fails on many.
TEST(Fit, OfOneRankWithGradientsInPartsIsTheSame) {
  using train::ShardState;
  const auto run = [](ShardState shard, bool overlap) {
    const Problem problem;
    auto options = problem.options(2);
    options.parallel = {.replicas = 4, .overlap = overlap, .shard_state = shard};
    const train::History history = train::fit(problem.model, problem.data, options);
    EXPECT_EQ(problem.adam.state()[1].shape(), nn::variables(problem.model)[0].shape());
    return std::pair(history, problem.weights());
  };
  const auto expected = run(ShardState::none, false);
  for (const bool overlap : {false, true}) EXPECT_EQ(run(ShardState::gradients, overlap), expected);

  const auto message_of = [](const optimizers::Adam::Options &of, std::int64_t replicas,
                             ShardState shard) {
    const Problem problem;
    auto options = problem.options(1);
    options.optimizer = optimizers::Adam(problem.model, of);
    options.parallel = {.replicas = replicas, .shard_state = shard};
    try {
      train::fit(problem.model, problem.data, options);
    } catch (const ValueError &error) {
      return std::string(error.message());
    }
    return std::string("no error");
  };
  for (const bool global : {false, true}) {
    optimizers::Adam::Options clips;
    (global ? clips.clip_global_norm : clips.clip_norm) = 1;
    const std::string clip = global ? "clip_global_norm" : "clip_norm";
    EXPECT_THAT(message_of(clips, 4, ShardState::gradients),
                testing::HasSubstr("Adam: shard_state: " + clip +
                                   " takes norms of whole gradients, of which a rank would have a "
                                   "part: clip_value can be used, or shard_state = optimizer"));
    EXPECT_EQ(message_of(clips, 4, ShardState::optimizer), "no error");
    clips.accumulate = 2;
    EXPECT_THAT(message_of(clips, 4, ShardState::gradients),
                testing::HasSubstr("Adam: shard_state: with accumulate, " + clip));
  }
  EXPECT_EQ(message_of({.clip_value = 1, .accumulate = 2}, 4, ShardState::gradients), "no error");
  EXPECT_THAT(message_of({}, 0, ShardState::gradients),
              testing::HasSubstr("fit: shard_state is for the ranks of a parallel run"));
}

/// An error in the middle of a step leaves generators and metrics as they were before it.
TEST(Fit, OfReplicasTakesBackWhatAnErrorLeaves) {
  const Problem problem;
  train::fit(problem.model, problem.data, problem.options(1));
  const auto states = [&] {
    std::vector<std::vector<std::int64_t>> all;
    for (const Variable &variable : nn::variables(problem.model))
      if (variable.dtype() == DType::i64) all.push_back(variable.value().to_vector<std::int64_t>());
    return all;
  };
  auto options = problem.options(1);
  options.compile = false;
  options.parallel = {.replicas = 2};
  const auto weights = problem.weights();
  const auto drawn = states();
  int calls = 0;
  options.loss = [&calls](const Tensor &y, const Tensor &p) -> Tensor {
    // The first replica runs twice, as it finds a generator; the second is cut off.
    if (++calls == 3) throw ValueError("no more");
    return losses::softmax_cross_entropy(y, p);
  };
  EXPECT_THROW(train::fit(problem.model, problem.data, options), ValueError);
  EXPECT_EQ(calls, 3);
  EXPECT_EQ(states(), drawn);
  EXPECT_EQ(problem.weights(), weights);
  ASSERT_EQ(drawn.size(), 1U);
}

} // namespace
} // namespace weft
