// `train::fit` against a loop by hand, eager and compiled; interruptions at every step; callbacks.
#include "../Testing.h"
#include "Problem.h"

#include <atomic>
#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include <weft/weft.h>

#include <weft/train/fit.h>

namespace weft {
namespace {

using test::Problem;

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
      mean.update(loss, full({}, static_cast<double>(x.size(0))));
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

// The last batch is smaller, and counts less: of 65 errors, of which the last is large, the mean is
// that of all.
TEST(Fit, LossesAreMeansOverSamples) {
  const Tensor y = concatenate({zeros({64}), full({1}, 100.f)});
  const data::Dataset rows = data::from_tensors(zeros({65, 1}), y);
  for (const std::int64_t size : {1, 8, 64, 65}) {
    const nn::Sequential model{nn::Dense(1, {.kernel_initializer = nn::initializers::zeros()}),
                               nn::Flatten()};
    const auto history = train::fit(
        model, rows.batch(65),
        {.optimizer = optimizers::SGD(model, {.learning_rate = 0.}),
         .loss = [](const Tensor &labels,
                    const Tensor &scores) { return mean(square(labels - scores[{all, 0}])); },
         .validation = rows.batch(size),
         .progress = false});
    EXPECT_FLOAT_EQ(static_cast<float>(history.last("val_loss")), 10000.f / 65) << size;
  }
}

// The layers of a run that is over are never called, and have their values all the same.
TEST(Fit, RestoresLayersThatAreNotCalled) {
  const std::string where = folder("lazy");
  std::vector<std::vector<float>> first;
  for (int life = 0; life < 3; ++life) {
    const Problem problem;
    auto options = problem.options(2);
    options.callbacks = {train::early_stopping({.patience = 9})};
    options.checkpoints = train::FitCheckpoints{.folder = where};
    EXPECT_EQ(train::fit(problem.model, problem.data, options).series("loss").size(), 2U);
    if (life == 0) first = problem.weights();
    EXPECT_EQ(problem.weights(), first);
  }
}

// Whoever starts it again gets what there was.
TEST(Fit, IsOverOnceItWasStopped) {
  const std::string where = folder("stopped");
  for (const bool inside : {false, true}) {
    std::vector<std::vector<float>> first;
    std::int64_t steps = 0;
    for (int life = 0; life < 3; ++life) {
      class Stop : public train::Callback {
      public:
        Stop(bool inside, std::int64_t &steps) : inside_(inside), steps_(steps) {}
        void step_end(train::Run &run) override {
          steps_ = run.step;
          if (inside_ && run.step == 9) run.stop = true;
        }
        void epoch_end(train::Run &run) override {
          if (!inside_ && run.epoch == 2) run.stop = true;
        }

      private:
        bool inside_;
        std::int64_t &steps_;
      };
      const Problem problem;
      auto options = problem.options(4);
      options.callbacks = {std::make_shared<Stop>(inside, steps)};
      options.checkpoints = train::FitCheckpoints{.folder = where + (inside ? "1" : "0")};
      std::filesystem::create_directories(options.checkpoints->folder);
      if (life == 0) std::filesystem::remove_all(options.checkpoints->folder);
      const train::History history = train::fit(problem.model, problem.data, options);
      EXPECT_EQ(history.series("loss").size(), 2U);
      if (life == 0) first = problem.weights();
      EXPECT_EQ(problem.weights(), first);
    }
    EXPECT_EQ(steps, inside ? 9 : 14);
  }
}

/// Pauses a run every so many steps.
class Pause : public train::Callback {
public:
  explicit Pause(std::int64_t every) : every_(every) {}
  void step_end(train::Run &run) override { run.pause = run.step % every_ == 0; }
  void end(train::Run &) override { ended = true; }
  bool ended = false;

private:
  std::int64_t every_;
};

TEST(Fit, GoesOnWhereItPaused) {
  const Problem whole;
  const train::History expected = train::fit(whole.model, whole.data, whole.options(3));
  const std::string where = folder("pause");
  const auto pause = std::make_shared<Pause>(4);
  for (int calls = 1;; ++calls) {
    ASSERT_LT(calls, 10);
    const Problem problem;
    auto options = problem.options(3);
    options.callbacks = {pause};
    options.checkpoints = train::FitCheckpoints{.folder = where};
    const train::History history = train::fit(problem.model, problem.data, options);
    if (!pause->ended) continue;
    EXPECT_EQ(calls, 6); // of 21 steps, after 4, 8, ... and 20
    EXPECT_EQ(history, expected) << history << expected;
    EXPECT_EQ(problem.weights(), whole.weights());
    break;
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

// Ctrl-C saves, and then ends the process as ever; so does what launchers send in its place.
class Signals : public testing::TestWithParam<int> {};

TEST_P(Signals, SaveBeforeTheyEndTheProcess) {
  const std::string where = folder("signal");
  const pid_t child = fork();
  if (child == 0) {
    signal(GetParam(), SIG_DFL); // ignored where a script began the tests in the background
    const Problem problem;
    auto options = problem.options(1000);
    options.checkpoints = train::FitCheckpoints{.folder = where};
    options.callbacks = {train::on_epoch_end([](train::Run &run) {
      if (run.epoch == 2) raise(GetParam());
    })};
    train::fit(problem.model, problem.data, options);
    _exit(1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == GetParam()) << status;
  const Problem problem;
  auto options = problem.options(3);
  options.checkpoints = train::FitCheckpoints{.folder = where};
  const train::History history = train::fit(problem.model, problem.data, options);
  const Problem whole;
  EXPECT_EQ(history, train::fit(whole.model, whole.data, whole.options(3)));
  EXPECT_EQ(problem.weights(), whole.weights());
}

INSTANTIATE_TEST_SUITE_P(Fit, Signals, testing::Values(SIGINT, SIGTERM));

// What a model draws from the process's generator is drawn on where a run goes on.
TEST(Fit, GoesOnWithTheProcessesGenerator) {
  for (const std::int64_t replicas : {0, 3}) {
    const auto run = [&](const std::string &where, std::int64_t pause) {
      random::set_seed(7);
      const Problem problem;
      auto options = problem.options(3);
      options.loss = [](const Tensor &y, const Tensor &p) -> Tensor {
        return losses::softmax_cross_entropy(y, p + random::normal({3}) * 0.1);
      };
      options.parallel = {.replicas = replicas};
      options.checkpoints = train::FitCheckpoints{.folder = where};
      class Pause : public train::Callback {
      public:
        explicit Pause(std::int64_t at) : at_(at) {}
        void step_end(train::Run &run) override { run.pause = run.step == at_; }

      private:
        std::int64_t at_;
      };
      options.callbacks = {std::make_shared<Pause>(pause)};
      train::History history = train::fit(problem.model, problem.data, options);
      return std::tuple(std::move(history), problem.weights(),
                        random::process_generator().state().value().to_vector<std::int64_t>());
    };
    const auto whole = run(folder("whole"), -1);
    const std::string where = folder("cut");
    EXPECT_NE(run(where, 10), whole);
    EXPECT_EQ(run(where, -1), whole);
  }
}

std::atomic<int> signals{0};

// A program that handles the signal itself gets it, and `fit` returns; one that ignores it never
// hears of it.
TEST(Fit, SignalsThatTheProgramLivesThrough) {
  const Problem whole;
  const train::History expected = train::fit(whole.model, whole.data, whole.options(3));
  for (const bool ignores : {false, true}) {
    const std::string where = folder("lives");
    struct sigaction own{}, before{};
    if (ignores) own.sa_handler = SIG_IGN;
    else own.sa_handler = [](int) { ++signals; };
    sigaction(SIGINT, &own, &before);
    signals = 0;
    class Signal : public train::Callback {
      void step_end(train::Run &run) override {
        if (run.step == 4) std::raise(SIGINT);
      }
    };
    for (const bool again : {false, true}) {
      const Problem problem;
      auto options = problem.options(3);
      if (!again) options.callbacks = {std::make_shared<Signal>()};
      options.checkpoints = train::FitCheckpoints{.folder = where};
      const train::History history = train::fit(problem.model, problem.data, options);
      EXPECT_EQ(history == expected, again || ignores) << history;
      if (again) EXPECT_EQ(problem.weights(), whole.weights());
    }
    EXPECT_EQ(signals, ignores ? 0 : 1);
    sigaction(SIGINT, &before, nullptr);
  }
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

// What the library calls for the user stands for the line of the call, compiled or not.
TEST(Fit, ErrorsNameTheCall) {
  const Problem problem;
  const data::Dataset wrong = data::from_tensors(zeros({8, 4}), full({8}, 7)).batch(8);
  for (const bool compile : {false, true}) {
    auto options = problem.options(1);
    options.compile = compile;
    const std::uint32_t line = std::source_location::current().line() + 2;
    try {
      train::fit(problem.model, wrong, options);
      FAIL() << "took a label out of range";
    } catch (const Error &error) {
      EXPECT_EQ(error.location().line, line) << error.what();
      EXPECT_NE(error.location().file.find("FitTest.cpp"), std::string::npos) << error.what();
    }
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
  options.callbacks = {nullptr};
  EXPECT_THROWS(train::fit(problem.model, problem.data, options), ValueError,
                "fit: callback 0 is null");
  options = problem.options(1);
  options.metrics.push_back(options.metrics[0]);
  EXPECT_THROWS(
      train::fit(problem.model, problem.data, options), ValueError,
      "fit: two series of the history would be called 'accuracy': give the metric another name");
  options.metrics = {{"loss", metrics::SparseCategoricalAccuracy()}};
  EXPECT_THROWS(
      train::fit(problem.model, problem.data, options), ValueError,
      "fit: two series of the history would be called 'loss': give the metric another name");
  EXPECT_THROWS(train::fit(problem.model, problem.data.take(0), problem.options(1)), ValueError,
                "fit: the data has no batch");
  options = problem.options(1);
  options.validation = problem.test.take(0);
  EXPECT_THROWS(train::fit(problem.model, problem.data, options), ValueError,
                "fit: the validation has no batch");
  options = problem.options(1);
  options.loss = [](const Tensor &y, const Tensor &p) {
    return square(p - cast(y, f32)[{all, newaxis}]);
  };
  EXPECT_THROWS(
      train::fit(problem.model, problem.data, options), ShapeError,
      "fit: the loss must be a scalar, but is f32(8, 3): losses have a mean of all by default, and "
      "others can be given to mean");
  EXPECT_THROWS(train::early_stopping({.patience = 0}), ValueError,
                "early_stopping: patience is 0, but must be at least 1");
}

} // namespace
} // namespace weft
