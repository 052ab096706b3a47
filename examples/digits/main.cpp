// weft-digits: a classifier of handwritten digits, trained three times from the same source with
// the same numbers: eagerly, with its step traced, and with its whole loop traced.
//
// Usage: weft-digits [--epochs=N] [--data=FOLDER] [--dump=FOLDER] [--device=gpu:0] [--replicas=N]
//
// With replicas it trains once, by train::fit: mpirun -n 2 weft-digits has two, which its processes
// share, and the numbers of weft-digits --replicas=2.
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

#include <unistd.h>

#include "Training.h"

using namespace weft;
using namespace digits;

namespace {

struct Options {
  int epochs = 30;
  std::string data = "examples/digits/data";
  std::string dump = "build/digits-ir";
  Device device = {};
  int replicas = 0; ///< without a number as many as there are ranks, if there are several
};

struct Run {
  std::vector<float> losses; ///< of every step
  double steps_per_second = 0;
  double accuracy = 0;
  std::size_t peak_bytes = 0;
};

/// Shows on a terminal what the program prints, one line over the other, while it lives.
class Progress {
public:
  explicit Progress(const char *name)
      : before_(set_print_sink([name](std::string_view line) {
          if (isatty(STDOUT_FILENO) == 0) return;
          std::printf("\r%-10s %-60.*s", name, static_cast<int>(line.size()), line.data());
          std::fflush(stdout);
        })) {}
  ~Progress() { set_print_sink(std::move(before_)); }
  Progress(const Progress &) = delete;
  Progress &operator=(const Progress &) = delete;

private:
  PrintSink before_;
};

/// Runs all of the training, and tests on the digits that it did not see.
Run measure(const char *name, const Digits &digits, const Trainer &trainer,
            const std::function<Metrics()> &training) {
  Run run;
  reset_peak();
  const auto start = std::chrono::steady_clock::now();
  Metrics metrics;
  {
    const Progress progress(name);
    metrics = training();
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  run.losses = metrics.loss.to_vector<float>();
  run.steps_per_second = static_cast<double>(run.losses.size()) / seconds;
  const Digits test{digits.images[{slice(kTrain, {}), all}], digits.labels[{slice(kTrain, {})}]};
  run.accuracy = metrics::accuracy(test.labels, trainer.model(test.images)).item<double>();
  run.peak_bytes = memory_stats().peak;
  std::printf("%s%-10s %zu steps, test accuracy %.4f, %.0f steps/s, peak %.1f MiB\n",
              isatty(STDOUT_FILENO) == 0 ? "" : "\r", name, run.losses.size(), run.accuracy,
              run.steps_per_second, static_cast<double>(run.peak_bytes) / (1 << 20));
  return run;
}

double mean_of_epoch(const std::vector<float> &losses, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

/// The loss curves, one row per few epochs, the first as bars over its logarithm.
void print_curves(const Run &eager, const Run &step, const Run &loop, int epochs) {
  std::printf("\nmean loss  eager                            traced step  traced loop\n");
  for (int epoch = 0; epoch < epochs; epoch += std::max(1, epochs / 10)) {
    const auto mean = [&](const Run &run) {
      return mean_of_epoch(run.losses, static_cast<std::size_t>(kSteps * epoch), kSteps);
    };
    const double length = 20 * (1 + std::log10(std::max(mean(eager), 1e-3)) / 3);
    const std::string bar(static_cast<std::size_t>(std::clamp(length, 1.0, 24.0)), '#');
    std::printf("epoch %3d  %.4f %-24s  %.4f       %.4f\n", epoch + 1, mean(eager), bar.c_str(),
                mean(step), mean(loop));
  }
  std::printf("\n");
}

double max_relative_difference(const std::vector<float> &a, const std::vector<float> &b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    most = std::max(most, std::abs(static_cast<double>(a[i]) - b[i]) /
                              std::max(std::abs(static_cast<double>(a[i])), 1e-30));
  return most;
}

void print_report(const char *name, const CompileReport &report) {
  std::printf("%-10s %d ops in %.1f ms, compiled in %.1f ms (", name, report.traced_ops,
              report.trace_ms, report.total_ms - report.trace_ms);
  for (std::size_t i = 0; i < report.phases.size(); ++i)
    std::printf("%s%s %.1f", i == 0 ? "" : ", ", report.phases[i].phase.c_str(),
                report.phases[i].milliseconds);
  std::printf("), arena %.1f KiB\n", static_cast<double>(report.arena_bytes) / 1024);
}

/// The whole of `text` as a number of 1 or more.
int parse_count(const std::string &option, const std::string &text) {
  int epochs = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, epochs);
  if (error != std::errc() || rest != end || epochs < 1)
    throw ValueError(option + " must be a number of 1 or more, not '" + text + "'");
  return epochs;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    auto value = [&](std::string_view prefix) { return argument.substr(prefix.size()); };
    if (argument.starts_with("--epochs="))
      options.epochs = parse_count("--epochs", value("--epochs="));
    else if (argument.starts_with("--replicas="))
      options.replicas = parse_count("--replicas", value("--replicas="));
    else if (argument.starts_with("--data=")) options.data = value("--data=");
    else if (argument.starts_with("--dump=")) options.dump = value("--dump=");
    else if (argument.starts_with("--device=")) options.device = value("--device=");
    else
      throw ValueError("unknown argument " + argument +
                       "; there are --epochs=N, --data=FOLDER, --dump=FOLDER, --device=DEVICE and "
                       "--replicas=N");
  }
  return options;
}

/// The same network, trained by all ranks together.
int run_replicas(const Options &options, const Digits &digits) {
  Trainer trainer;
  const auto batches =
      data::from_tensors(digits.images[{slice({}, kTrain), all}], digits.labels[slice({}, kTrain)])
          .shuffle({.seed = 100})
          .batch(kBatch);
  train::Parallel parallel;
  if (options.replicas != 0) parallel.replicas = options.replicas;
  const train::History history =
      train::fit(trainer.model, batches,
                 {.optimizer = trainer.optimizer,
                  .loss = losses::softmax_cross_entropy,
                  .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}},
                  .epochs = options.epochs,
                  .parallel = parallel,
                  .progress = isatty(STDERR_FILENO) != 0});
  if (distributed::init().rank() != 0) return 0;
  std::cout << history;
  double bits = 0; // of all weights, in a fixed order
  for (const Variable &variable : nn::variables(trainer.model))
    for (const float weight : variable.value().to_vector<float>()) bits = bits * 0.75 + weight;
  const Tensor scores = trainer.model(digits.images[{slice(kTrain, {}), all}]);
  std::printf("result: accuracy=%.4f loss=%a weights=%a\n",
              metrics::accuracy(digits.labels[slice(kTrain, {})], scores).item<double>(),
              history.last("loss"), bits);
  return 0;
}

int run(const Options &options) {
  Digits digits = load(options.data);
  if (options.replicas != 0 || distributed::init().size() > 1) return run_replicas(options, digits);
  std::printf("%lld handwritten digits of 8 x 8: %lld to train on, the rest to test\n",
              static_cast<long long>(digits.images.size(0)), static_cast<long long>(kTrain));

  std::filesystem::create_directories(options.dump);
  // All that is made from here on is there, and so whatever is done with it.
  digits = {digits.images.to(options.device), digits.labels.to(options.device)};
  const DeviceScope scope(options.device);

  Trainer eager_trainer;
  const Run eager = measure("eager", digits, eager_trainer, [&] {
    return digits::train(
        digits, eager_trainer.shuffler,
        [&](const Tensor &x, const Tensor &y) { return eager_trainer.step(x, y); }, options.epochs);
  });

  // The same loop, of which a step is compiled.
  Trainer step_trainer;
  auto step = function([&](Tensor x, Tensor y) { return step_trainer.step(x, y); },
                       {.name = "train_step", .dump = options.dump, .device = options.device});
  const CompileReport step_report =
      step.report(digits.images[slice(0, kBatch)], digits.labels[slice(0, kBatch)]);
  print_report("train_step", step_report);
  const Run stepwise = measure("train_step", digits, step_trainer, [&] {
    return digits::train(
        digits, step_trainer.shuffler, [&](const Tensor &x, const Tensor &y) { return step(x, y); },
        options.epochs);
  });

  // And the same loop compiled as a whole.
  Trainer loop_trainer;
  auto loop = function(
      [&] {
        return digits::train(
            digits, loop_trainer.shuffler,
            [&](const Tensor &x, const Tensor &y) { return loop_trainer.step(x, y); },
            options.epochs);
      },
      {.name = "train_loop", .dump = options.dump, .device = options.device});
  const CompileReport loop_report = loop.report();
  print_report("train_loop", loop_report);
  const Run whole = measure("train_loop", digits, loop_trainer, [&] { return loop(); });

  std::printf("IR of every phase: %s/train_{step,loop}.0.*.mlir\n", options.dump.c_str());
  print_curves(eager, stepwise, whole, options.epochs);
  std::printf("result: accuracy=%.4f eager_steps_per_s=%.0f traced_steps_per_s=%.0f "
              "max_rel_diff=%.2e compile_ms=%.1f\n",
              std::min({eager.accuracy, stepwise.accuracy, whole.accuracy}), eager.steps_per_second,
              stepwise.steps_per_second,
              std::max(max_relative_difference(eager.losses, stepwise.losses),
                       max_relative_difference(eager.losses, whole.losses)),
              step_report.total_ms);
  return 0;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const int status = run(parse(argc, argv));
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      throw IOError(std::string("standard output: cannot be written: ") + std::strerror(errno));
    return status;
  } catch (const std::exception &error) {
    std::cerr << "weft-digits: " << error.what() << '\n';
    return 1;
  }
}
