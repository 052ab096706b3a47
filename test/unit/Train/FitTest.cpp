// `train::fit` against a loop by hand, eager and compiled; interruptions at every step; callbacks.
#include "../Testing.h"

#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft {
namespace {

struct Problem {
  nn::Sequential model{nn::Dense(8, {.activation = tanh}), nn::Dropout(0.25), nn::Dense(3)};
  optimizers::Adam adam{model, {.learning_rate = 0.01}};
  data::Dataset data, test;

  Problem() {
    nn::seed(model, 3);
    const Tensor x = random::normal({50, 4}, {.seed = 1});
    const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
    data = data::from_tensors(x, y).shuffle({.seed = 5}).batch(8);
    test = data::from_tensors(x, y).batch(50);
  }
  train::FitOptions<Tensor, Tensor> options(std::int64_t epochs) const {
    return {.optimizer = adam,
            .loss = losses::softmax_cross_entropy,
            .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}},
            .epochs = epochs,
            .validation = test,
            .progress = false};
  }
  std::vector<std::vector<float>> weights() const {
    std::vector<std::vector<float>> all;
    for (const Variable &variable : nn::variables(model))
      if (is_floating(variable.dtype())) all.push_back(variable.value().to_vector<float>());
    return all;
  }
};

std::string folder(const std::string &name) {
  const std::string path = ::testing::TempDir() + "weft-fit-" + name;
  std::filesystem::remove_all(path);
  return path;
}

TEST(Fit, IsTheLoop) {
  const Problem by_hand;
  metrics::Mean mean;
  metrics::SparseCategoricalAccuracy accuracy;
  train::History expected;
  for (int epoch = 1; epoch <= 3; ++epoch) {
    for (const auto &[x, y] : by_hand.data) {
      GradientTape tape;
      const Tensor p = by_hand.model(x, {.training = true});
      const Tensor loss = losses::softmax_cross_entropy(y, p);
      mean.update(loss);
      accuracy.update(y, p);
      by_hand.adam.apply_gradients(tape.gradient(loss, by_hand.model));
    }
    expected.add("loss", epoch, mean.result().item<double>());
    expected.add("accuracy", epoch, accuracy.result().astype(f64).item<double>());
    mean.reset();
    accuracy.reset();
    for (const auto &[x, y] : by_hand.test) {
      const Tensor p = by_hand.model(x);
      mean.update(losses::softmax_cross_entropy(y, p));
      accuracy.update(y, p);
    }
    expected.add("val_loss", epoch, mean.result().item<double>());
    expected.add("val_accuracy", epoch, accuracy.result().astype(f64).item<double>());
    mean.reset();
    accuracy.reset();
  }
  for (const bool compile : {false, true}) {
    const Problem problem;
    auto options = problem.options(3);
    options.compile = compile;
    const train::History history = train::fit(problem.model, problem.data, options);
    EXPECT_EQ(history, expected) << compile << '\n' << history << expected;
    EXPECT_EQ(problem.weights(), by_hand.weights());
  }
  EXPECT_LT(expected.last("loss"), expected.series("loss")[0].value);
}

/// Stops after a number of steps, as a process that is killed does.
class Kill : public train::Callback {
public:
  struct Now {};
  explicit Kill(std::int64_t after) : left_(after) {}
  void step_end(train::Run &) override {
    if (--left_ < 0) throw Now();
  }

private:
  std::int64_t left_;
};

// Whatever step it is cut off at, and however often, the run ends with the same bits.
TEST(Fit, GoesOnAfterAnything) {
  const Problem whole;
  auto options = whole.options(3);
  options.callbacks = {train::early_stopping({.patience = 2})};
  const train::History expected = train::fit(whole.model, whole.data, options);
  for (const std::int64_t steps : {1, 3, 7, 8}) {
    const std::string where = folder("again");
    int lives = 0;
    for (;; ++lives) {
      ASSERT_LT(lives, 40);
      const Problem problem;
      auto again = problem.options(3);
      again.callbacks = {train::early_stopping({.patience = 2}), std::make_shared<Kill>(steps)};
      again.checkpoints = train::FitCheckpoints{.folder = where, .every_steps = 1};
      try {
        const train::History history = train::fit(problem.model, problem.data, again);
        EXPECT_EQ(history, expected) << history << expected;
        EXPECT_EQ(problem.weights(), whole.weights()) << steps;
        break;
      } catch (const Kill::Now &) {
      }
    }
    EXPECT_GT(lives, 1) << steps;
  }
}

// What is done is not done again; more epochs go on.
TEST(Fit, GoesOnAfterItsEnd) {
  const std::string where = folder("end");
  const Problem whole;
  const train::History expected = train::fit(whole.model, whole.data, whole.options(4));
  for (const std::int64_t epochs : {2, 2, 4}) {
    const Problem problem;
    auto options = problem.options(epochs);
    options.checkpoints = train::FitCheckpoints{.folder = where};
    const train::History history = train::fit(problem.model, problem.data, options);
    EXPECT_EQ(history.series("loss").size(), static_cast<std::size_t>(epochs));
    if (epochs == 4) EXPECT_EQ(history, expected) << history << expected;
  }
}

// Ctrl-C saves, and then ends the process as ever.
TEST(Fit, ControlC) {
  const std::string where = folder("signal");
  const pid_t child = fork();
  if (child == 0) {
    const Problem problem;
    auto options = problem.options(1000);
    options.checkpoints = train::FitCheckpoints{.folder = where};
    options.callbacks = {train::on_epoch_end([](train::Run &run) {
      if (run.epoch == 2) raise(SIGINT);
    })};
    train::fit(problem.model, problem.data, options);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  const Problem problem;
  auto options = problem.options(3);
  options.checkpoints = train::FitCheckpoints{.folder = where};
  const train::History history = train::fit(problem.model, problem.data, options);
  const Problem whole;
  EXPECT_EQ(history, train::fit(whole.model, whole.data, whole.options(3)));
  EXPECT_EQ(problem.weights(), whole.weights());
}

TEST(Fit, EarlyStopping) {
  const Problem problem;
  auto options = problem.options(20);
  // A series that is best in its third epoch.
  std::vector<std::vector<float>> best;
  options.callbacks = {train::on_epoch_end([&](train::Run &run) {
                         const double value = run.epoch < 4 ? 10 - run.epoch : 9;
                         run.history.add("made up", run.epoch, value);
                         if (run.epoch == 3) best = problem.weights();
                       }),
                       train::early_stopping({.monitor = "made up", .patience = 4})};
  const train::History history = train::fit(problem.model, problem.data, options);
  EXPECT_EQ(history.series("loss").size(), 7U);
  EXPECT_EQ(problem.weights(), best);
}

TEST(Fit, EventFilesAndCsv) {
  const std::string where = folder("events");
  const Problem problem;
  auto options = problem.options(2);
  options.callbacks = {train::event_files(where, 5), train::csv_log(where + "/h.csv")};
  const train::History history = train::fit(problem.model, problem.data, options);
  EXPECT_EQ(train::History::load_csv(where + "/h.csv"), history);
  const auto scalars = events::read_scalars(where);
  EXPECT_EQ(scalars.size(), 5U);
  EXPECT_EQ(scalars.at("step/loss").size(), 2U); // of 14 steps the 5th and the 10th
  for (const std::string &name : history.names()) {
    ASSERT_EQ(scalars.at(name).size(), 2U);
    EXPECT_EQ(scalars.at(name)[1].second, static_cast<float>(history.last(name)));
  }
}

TEST(Fit, Refusals) {
  const Problem problem;
  EXPECT_THROWS(train::fit(problem.model, problem.data, problem.options(-1)), ValueError,
                "fit: epochs is -1, but must be at least 0");
  EXPECT_EQ(train::fit(problem.model, problem.data, problem.options(0)).names().size(), 0U);
  auto options = problem.options(1);
  options.callbacks = {train::early_stopping({.monitor = "lost"})};
  EXPECT_THROWS(train::fit(problem.model, problem.data, options), IndexError,
                "History: there is no series 'lost', but 'loss', 'accuracy', 'val_loss', "
                "'val_accuracy'");
  EXPECT_THROWS(train::early_stopping({.patience = 0}), ValueError,
                "early_stopping: patience is 0, but must be at least 1");
}

} // namespace
} // namespace weft
