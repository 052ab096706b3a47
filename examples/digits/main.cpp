// weft-digits: a classifier of handwritten digits, trained eagerly and then, from the same source,
// as a traced function, with the same numbers.
//
// Usage: weft-digits [--epochs=N] [--data=FOLDER] [--dump=FOLDER]
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

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kBatch = 64, kTrain = 1408, kPixels = 64, kHidden = 128, kClasses = 10;

struct Options {
  int epochs = 30;
  std::string data = "examples/digits/data";
  std::string dump = "build/digits-ir";
};

/// Images (n, 64) in [0, 1] and labels (n,).
struct Digits {
  Tensor images, labels;
};

/// All digits in one fixed random order: the file has them by writer.
Digits load(const std::string &folder) {
  const Tensor images = data::read_idx(folder + "/digits-images.idx3-ubyte", {.dtype = f32});
  const Tensor labels = data::read_idx(folder + "/digits-labels.idx1-ubyte", {.dtype = i32});
  if (images.size(0) != labels.size(0) || images.size() != images.size(0) * kPixels)
    throw ValueError(folder + " holds images of shape " + to_string(images.shape()) +
                     " and labels of shape " + to_string(labels.shape()) +
                     "; there must be one label for each image of 8 x 8");
  const Tensor order = random::permutation(images.size(0), {.seed = 0});
  return {gather(reshape(images, {-1, kPixels}) / 16, order), gather(labels, order)};
}

/// Network, optimizer and one step of training: all that both runs share.
struct Trainer {
  nn::Sequential model{nn::Dense(kPixels, kHidden,
                                 {.activation = nn::Activation::relu, .seed = 1, .name = "hidden"}),
                       nn::Dense(kHidden, kClasses, {.seed = 2, .name = "output"})};
  optimizers::Adam optimizer{model.parameters(), {.learning_rate = 2e-3}};

  Tensor step(const Tensor &x, const Tensor &y) {
    GradientTape tape;
    Tensor loss = losses::softmax_cross_entropy(y, model(x));
    optimizer.apply_gradients(tape.gradient(loss, model.parameters()));
    return loss;
  }
};

struct Run {
  std::vector<float> losses; ///< of every step
  double steps_per_second = 0;
  double accuracy = 0;
  std::size_t peak_bytes = 0;
};

using Step = std::function<Tensor(const Tensor &, const Tensor &)>;

/// Trains for `epochs` over the first kTrain images, in an order that depends on the epoch only,
/// and tests on the rest.
Run train(const char *name, const Digits &digits, Trainer &trainer, const Step &step, int epochs) {
  Run run;
  reset_peak();
  double seconds = 0;
  const Digits test{digits.images[{slice(kTrain, {}), all}], digits.labels[{slice(kTrain, {})}]};
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const Tensor order =
        random::permutation(kTrain, {.seed = static_cast<std::uint64_t>(100 + epoch)});
    std::vector<Tensor> epoch_losses;
    const auto start = std::chrono::steady_clock::now();
    for (std::int64_t at = 0; at + kBatch <= kTrain; at += kBatch) {
      const Tensor rows = order[slice(at, at + kBatch)];
      epoch_losses.push_back(step(gather(digits.images, rows), gather(digits.labels, rows)));
    }
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    for (const Tensor &loss : epoch_losses) run.losses.push_back(loss.item<float>());
    std::printf("\r%-7s epoch %2d of %d, loss %.4f", name, epoch + 1, epochs, run.losses.back());
    std::fflush(stdout);
  }
  run.steps_per_second = static_cast<double>(run.losses.size()) / seconds;
  run.accuracy = metrics::accuracy(test.labels, trainer.model(test.images)).item<double>();
  run.peak_bytes = memory_stats().peak;
  std::printf("\r%-7s %zu steps, test accuracy %.4f, %.0f steps/s, peak %.1f MiB\n", name,
              run.losses.size(), run.accuracy, run.steps_per_second,
              static_cast<double>(run.peak_bytes) / (1 << 20));
  return run;
}

double mean_of_epoch(const std::vector<float> &losses, std::size_t first, std::size_t count) {
  double sum = 0;
  for (std::size_t i = first; i < first + count; ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

/// Both loss curves, one row per few epochs, as bars over their logarithm.
void print_curves(const Run &eager, const Run &traced, int epochs) {
  const std::size_t steps = eager.losses.size() / static_cast<std::size_t>(epochs);
  std::printf("\nmean loss  eager                             traced\n");
  for (int epoch = 0; epoch < epochs; epoch += std::max(1, epochs / 10)) {
    const std::size_t first = steps * static_cast<std::size_t>(epoch);
    const double a = mean_of_epoch(eager.losses, first, steps),
                 b = mean_of_epoch(traced.losses, first, steps);
    auto bar = [](double loss) {
      const double length = 20 * (1 + std::log10(std::max(loss, 1e-3)) / 3);
      return std::string(static_cast<std::size_t>(std::clamp(length, 1.0, 24.0)), '#');
    };
    std::printf("epoch %3d  %.4f %-24s   %.4f %s\n", epoch + 1, a, bar(a).c_str(), b,
                bar(b).c_str());
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

void print_report(const CompileReport &report) {
  std::printf("traced  %d ops in %.1f ms, compiled in %.1f ms (", report.traced_ops,
              report.trace_ms, report.total_ms - report.trace_ms);
  for (std::size_t i = 0; i < report.phases.size(); ++i)
    std::printf("%s%s %.1f", i == 0 ? "" : ", ", report.phases[i].phase.c_str(),
                report.phases[i].milliseconds);
  std::printf("), arena %.1f KiB\n", static_cast<double>(report.arena_bytes) / 1024);
  if (report.files.empty()) return;
  std::printf("IR of every phase:\n");
  for (const std::string &file : report.files) std::printf("  %s\n", file.c_str());
}

/// The whole of `text` as a number of 1 or more.
int parse_epochs(const std::string &text) {
  int epochs = 0;
  const char *end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, epochs);
  if (error != std::errc() || rest != end || epochs < 1)
    throw ValueError("--epochs must be a number of 1 or more, not '" + text + "'");
  return epochs;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    auto value = [&](std::string_view prefix) { return argument.substr(prefix.size()); };
    if (argument.starts_with("--epochs=")) options.epochs = parse_epochs(value("--epochs="));
    else if (argument.starts_with("--data=")) options.data = value("--data=");
    else if (argument.starts_with("--dump=")) options.dump = value("--dump=");
    else
      throw ValueError("unknown argument " + argument +
                       "; there are --epochs=N, --data=FOLDER and --dump=FOLDER");
  }
  return options;
}

int run(const Options &options) {
  const Digits digits = load(options.data);
  std::printf("%lld handwritten digits of 8 x 8: %lld to train on, the rest to test\n",
              static_cast<long long>(digits.images.size(0)), static_cast<long long>(kTrain));

  Trainer eager_trainer;
  const Run eager = train(
      "eager", digits, eager_trainer,
      [&](const Tensor &x, const Tensor &y) { return eager_trainer.step(x, y); }, options.epochs);

  Trainer traced_trainer;
  auto traced_step = function([&](Tensor x, Tensor y) { return traced_trainer.step(x, y); },
                              {.name = "train_step", .dump = options.dump});
  std::filesystem::create_directories(options.dump);
  const CompileReport report =
      traced_step.report(digits.images[slice(0, kBatch)], digits.labels[slice(0, kBatch)]);
  print_report(report);
  const Run traced = train(
      "traced", digits, traced_trainer,
      [&](const Tensor &x, const Tensor &y) { return traced_step(x, y); }, options.epochs);

  print_curves(eager, traced, options.epochs);
  const double difference = max_relative_difference(eager.losses, traced.losses);
  std::printf("result: accuracy=%.4f eager_steps_per_s=%.0f traced_steps_per_s=%.0f "
              "max_rel_diff=%.2e compile_ms=%.1f\n",
              std::min(eager.accuracy, traced.accuracy), eager.steps_per_second,
              traced.steps_per_second, difference, report.total_ms);
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
