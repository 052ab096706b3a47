// weft-digits-network: a convolutional network that reads handwritten digits, trained three times
// with the same numbers: eagerly, with its step compiled, and with a whole epoch compiled. Killed
// at any moment and started again, it goes on, and ends with the same bits.
//
// Usage: weft-digits-network [--gap] [--epochs=N] [--data=FOLDER] [--shipped=FOLDER] [--out=FOLDER]
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <string>
#include <vector>

#include <weft/weft.h>

using namespace weft;

namespace {

constexpr std::int64_t kBatch = 32, kTest = 1000;

struct Options {
  bool gap = false;
  std::int64_t epochs = 0;
  std::string data = "build/mnist", shipped = "examples/digits/data", out;
};

/// Images (n, 28, 28, 1) from 0 to 1, and what they show.
struct Digits {
  Tensor images, labels, test_images, test_labels;
  std::string what;
};

/// The digits of a folder in one fixed order, the last `tests` of them to test; images of another
/// size are enlarged. Throws IOError for files that are missing or damaged.
Digits load(const std::string &folder, const std::string &prefix, double white,
            std::int64_t tests) {
  const Tensor pixels = data::read_idx(folder + prefix + "-images.idx3-ubyte", {.dtype = f32});
  const Tensor labels = data::read_idx(folder + prefix + "-labels.idx1-ubyte", {.dtype = i32});
  const std::int64_t count = pixels.size(0), train = count - tests;
  if (labels.size(0) != count || train < kBatch)
    throw IOError(folder + ": holds images of shape " + to_string(pixels.shape()) +
                  " and labels of shape " + to_string(labels.shape()));
  const Tensor order = random::permutation(count, {.seed = 0});
  Tensor x = gather(pixels[{ellipsis, newaxis}] / white, order);
  if (x.size(1) != 28 || x.size(2) != 28) x = resize_image(x, {28, 28});
  const Tensor y = gather(labels, order);
  return {x[slice(0, train)], y[slice(0, train)], x[slice(train, {})], y[slice(train, {})],
          std::to_string(train) + " digits of 28 x 28 to train on, " + std::to_string(tests) +
              " others to test"};
}

Digits load(const Options &options) {
  if (std::filesystem::exists(options.data + "/mnist-images.idx3-ubyte"))
    return load(options.data, "/mnist", 255, kTest);
  Digits digits = load(options.shipped, "/digits", 16, 389);
  digits.what += " (8 x 8 digits, enlarged: " + options.data + " has none of MNIST)";
  return digits;
}

nn::Sequential network(bool gap) {
  if (gap)
    return nn::Sequential{nn::Conv2D(16, 3, {.activation = relu}),
                          nn::Conv2D(16, 3, {.activation = relu}), nn::GlobalAveragePooling2D(),
                          nn::Dense(10)};
  return nn::Sequential{nn::Conv2D(16, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Conv2D(32, 3, {.activation = relu}),
                        nn::MaxPooling2D(2),
                        nn::Flatten(),
                        nn::Dense(10)};
}

/// All that changes in training.
struct Training {
  nn::Sequential model;
  optimizers::Adam adam;
  data::Dataset batches, tests;

  Training(const Options &options, const Digits &digits)
      : model(network(options.gap)),
        adam(model, {.learning_rate = rate(options, digits.images.size(0) / kBatch)}),
        batches(data::from_tensors(digits.images, digits.labels)
                    .shuffle({.seed = 1})
                    .batch(kBatch, {.drop_remainder = true})),
        tests(data::from_tensors(digits.test_images, digits.test_labels)
                  .batch(digits.test_labels.size(0))) {
    nn::seed(model, 1);
  }
  static optimizers::LearningRate rate(const Options &options, std::int64_t steps) {
    if (!options.gap) return 1e-3;
    return optimizers::cosine_decay(0.01, {.steps = options.epochs * steps});
  }
};

/// Measures a training, and what of it checkpoints keep.
class Stopwatch : public train::Callback {
public:
  using Clock = std::chrono::steady_clock;

  void begin(train::Run &) override { last_ = Clock::now(); }
  void step_end(train::Run &run) override {
    // The first step of a process also traces and compiles.
    if (std::exchange(first_, false)) {
      if (run.step == 1) first_ms_ = 1e3 * passed();
    } else {
      ++steps_;
      seconds_ += passed();
    }
    last_ = Clock::now();
  }
  void epoch_end(train::Run &) override { last_ = Clock::now(); }
  std::vector<CheckpointPart> parts() override {
    return {{"stopwatch.steps", steps_},
            {"stopwatch.seconds", seconds_},
            {"stopwatch.first_ms", first_ms_}};
  }

  double steps_per_second() const {
    return seconds_ > 0 ? static_cast<double>(steps_) / seconds_ : 0;
  }
  double seconds() const { return seconds_; }
  double first_ms() const { return first_ms_; }

private:
  double passed() const { return std::chrono::duration<double>(Clock::now() - last_).count(); }

  Clock::time_point last_ = Clock::now();
  bool first_ = true;
  std::int64_t steps_ = 0;
  double seconds_ = 0, first_ms_ = 0;
};

struct Result {
  train::History history;
  double accuracy = 0, steps_per_second = 0, seconds = 0, first_ms = 0;
};

void report_line(const char *name, const Result &result) {
  std::printf("%-12s test accuracy %.4f, %.0f steps/s, first step %.0f ms\n", name, result.accuracy,
              result.steps_per_second, result.first_ms);
  std::fflush(stdout);
}

/// Steps one by one, eager or compiled, by `train::fit`.
Result fit(const char *name, bool compile, const Training &training, const Options &options) {
  const auto watch = std::make_shared<Stopwatch>();
  const std::string folder = options.out + "/" + name;
  const train::History history = train::fit(
      training.model, training.batches,
      {.optimizer = training.adam,
       .loss = losses::softmax_cross_entropy,
       .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}},
       .epochs = options.epochs,
       .validation = training.tests,
       .callbacks = {watch, train::event_files(folder), train::csv_log(folder + "/history.csv")},
       .checkpoints = train::FitCheckpoints{.folder = folder, .keep = 2, .every_seconds = 5},
       .compile = compile});
  Result result{history, history.last("val_accuracy"), watch->steps_per_second(), watch->seconds(),
                watch->first_ms()};
  report_line(name, result);
  return result;
}

/// The loop that `fit` is, with an epoch in one compiled function.
Result whole_epochs(const char *name, const Training &training, const Options &options) {
  const metrics::Mean loss;
  const metrics::SparseCategoricalAccuracy accuracy;
  const auto measure = [&](const Tensor &y, const Tensor &scores) {
    const Tensor now = losses::softmax_cross_entropy(y, scores);
    loss.update(now);
    accuracy.update(y, scores);
    return now;
  };
  const auto epoch = function([&] {
    return data::for_each(
        training.batches,
        [&](const Tensor &x, const Tensor &y, const Tensor &count) {
          GradientTape tape;
          const Tensor now = measure(y, training.model(x, {.training = true}));
          training.adam.apply_gradients(tape.gradient(now, training.model));
          return count + 1;
        },
        std::int64_t{0});
  });
  const auto test =
      function([&](const Tensor &x, const Tensor &y) { measure(y, training.model(x)); });

  Result result;
  std::int64_t done = 0, steps = 0;
  CheckpointManager manager(options.out + "/" + name, {.keep = 2});
  const Checkpoint all{{"model", training.model},
                       {"adam", training.adam},
                       {"data", training.batches},
                       {"epoch", done},
                       {"steps", steps},
                       {"history", result.history},
                       {"seconds", result.seconds},
                       {"first_ms", result.first_ms}};
  manager.restore_latest(all);
  const auto note = [&](const std::string &prefix) {
    result.history.add(prefix + "loss", done, loss.result().item<double>());
    result.history.add(prefix + "accuracy", done, accuracy.result().astype(f64).item<double>());
    loss.reset();
    accuracy.reset();
  };
  for (bool first = true; done < options.epochs; first = false) {
    const auto start = std::chrono::steady_clock::now();
    const auto count = epoch().item<std::int64_t>();
    const double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    if (first && done == 0) result.first_ms = 1e3 * seconds;
    if (!first) {
      result.seconds += seconds;
      steps += count;
    }
    ++done;
    note("");
    for (const auto &[x, y] : training.tests) test(x, y);
    note("val_");
    manager.save(all);
  }
  manager.wait();
  result.accuracy = result.history.last("val_accuracy");
  result.steps_per_second = result.seconds > 0 ? static_cast<double>(steps) / result.seconds : 0;
  report_line(name, result);
  return result;
}

double max_relative_difference(const train::History &a, const train::History &b) {
  double most = 0;
  for (const std::string &name : a.names()) {
    const auto &x = a.series(name), &y = b.series(name);
    if (x.size() != y.size()) throw StateError("the trainings have other numbers of epochs");
    for (std::size_t i = 0; i < x.size(); ++i)
      most =
          std::max(most, std::abs(x[i].value - y[i].value) / std::max(std::abs(x[i].value), 1e-30));
  }
  return most;
}

/// Twenty steps of each kind by a network of their own, with a trace of all they do.
Profile profile_steps(const Options &options, const Digits &digits, const std::string &path) {
  const Training training(options, digits);
  const auto step = [&](const Tensor &x, const Tensor &y) {
    GradientTape tape;
    const Tensor loss = losses::softmax_cross_entropy(y, training.model(x, {.training = true}));
    training.adam.apply_gradients(tape.gradient(loss, training.model));
    return loss;
  };
  const auto compiled = function(step, {.name = "step"});
  Profile profile = trace_profile(path);
  for (const auto &[x, y] : training.batches.take(20)) step(x, y);
  for (const auto &[x, y] : training.batches.take(20)) compiled(x, y);
  profile.stop();
  return profile;
}

/// The page about the runs: curves, what is taken for what, and the digits it is worst at.
void write_report(const std::string &path, const Options &options, const Digits &digits,
                  const Training &training, const std::vector<std::pair<std::string, Result>> &runs,
                  const Profile &profile) {
  const Tensor scores = training.model(digits.test_images);
  const Tensor taken = argmax(scores, {.axis = 1});
  metrics::ConfusionMatrix confusion(10);
  confusion.update(digits.test_labels, taken);
  const Tensor losses = losses::sparse_categorical_cross_entropy(
      digits.test_labels, scores, {.reduction = losses::Reduction::none});
  const std::vector<std::int64_t> order =
      argsort(losses, {.descending = true}).astype(i64).to_vector<std::int64_t>();
  train::ReportOptions page{.title = "Handwritten digits"};
  for (std::size_t i = 0; i < std::min<std::size_t>(24, order.size()); ++i) {
    const std::int64_t at = order[i];
    page.pictures.push_back(
        {digits.test_images[at], std::to_string(digits.test_labels[at].item<std::int32_t>()) +
                                     " taken for " +
                                     std::to_string(taken[at].astype(i64).item<std::int64_t>())});
  }
  page.confusion = confusion.result();
  page.model = nn::summary(training.model, {kBatch, 28, 28, 1});
  page.configuration = {{"data", digits.what},
                        {"network", options.gap ? "gap" : "pool"},
                        {"batch", std::to_string(kBatch)},
                        {"epochs", std::to_string(options.epochs)},
                        {"optimizer", options.gap ? "Adam, cosine from 0.01" : "Adam, 0.001"}};
  train::ReportTable speeds{"Speed", {{"run", "test accuracy", "steps/s", "first step, ms"}}};
  for (const auto &[name, run] : runs) {
    page.times.emplace_back(name, run.seconds);
    char accuracy[32], rate[32], first[32];
    std::snprintf(accuracy, sizeof accuracy, "%.4f", run.accuracy);
    std::snprintf(rate, sizeof rate, "%.0f", run.steps_per_second);
    std::snprintf(first, sizeof first, "%.0f", run.first_ms);
    speeds.rows.push_back({name, accuracy, rate, first});
  }
  page.tables.push_back(speeds);
  page.profile = &profile;
  train::write_report(path, runs.front().second.history, page);
}

int run(const Options &options) {
  const Digits digits = load(options);
  std::printf("%s\n", digits.what.c_str());
  const std::string finished = options.out + "/finished";
  if (std::filesystem::exists(finished)) std::filesystem::remove_all(options.out);
  if (std::filesystem::exists(options.out))
    std::printf("going on with the run in %s\n", options.out.c_str());
  std::filesystem::create_directories(options.out);
  const Training eager_training(options, digits), step_training(options, digits),
      epoch_training(options, digits);
  std::cout << nn::summary(eager_training.model, {kBatch, 28, 28, 1}) << std::endl;

  const Result eager = fit("eager", false, eager_training, options);
  const Result step = fit("step", true, step_training, options);
  const Result epoch = whole_epochs("epoch", epoch_training, options);

  const std::string page = options.out + "/report.html";
  const std::string trace = options.out + "/profile.json";
  write_report(page, options, digits, step_training,
               {{"eager", eager}, {"step", step}, {"epoch", epoch}},
               profile_steps(options, digits, trace));
  std::cout << '\n' << step.history.plot({"loss", "val_loss"}, {.log_scale = true}) << '\n';
  std::printf("checkpoints, event files, history.csv: %s/{eager,step,epoch}\nreport: %s\n"
              "profile for https://ui.perfetto.dev: %s\n\n",
              options.out.c_str(), page.c_str(), trace.c_str());
  std::printf("result: accuracy=%.4f eager_steps_per_s=%.0f traced_steps_per_s=%.0f "
              "max_rel_diff=%.2e compile_ms=%.1f\n",
              std::min({eager.accuracy, step.accuracy, epoch.accuracy}), eager.steps_per_second,
              step.steps_per_second,
              std::max(max_relative_difference(eager.history, step.history),
                       max_relative_difference(eager.history, epoch.history)),
              step.first_ms);
  // The next start begins anew.
  std::FILE *const mark = std::fopen(finished.c_str(), "w");
  if (mark == nullptr || std::fclose(mark) != 0)
    throw IOError(finished + ": cannot be written: " + std::strerror(errno));
  return 0;
}

std::int64_t number_of(const std::string &text) {
  std::int64_t number = 0;
  const char *const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  if (error != std::errc() || rest != end || number < 1)
    throw ValueError("--epochs must be a number of 1 or more, not '" + text + "'");
  return number;
}

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const auto value = [&](std::string_view prefix) { return argument.substr(prefix.size()); };
    if (argument == "--gap") options.gap = true;
    else if (argument.starts_with("--epochs=")) options.epochs = number_of(value("--epochs="));
    else if (argument.starts_with("--data=")) options.data = value("--data=");
    else if (argument.starts_with("--shipped=")) options.shipped = value("--shipped=");
    else if (argument.starts_with("--out=")) options.out = value("--out=");
    else
      throw ValueError(
          "unknown argument " + argument +
          "; there are --gap, --epochs=N, --data=FOLDER, --shipped=FOLDER, --out=FOLDER");
  }
  if (options.epochs == 0) options.epochs = options.gap ? 40 : 15;
  if (options.out.empty()) options.out = options.gap ? "build/run-gap" : "build/run";
  return options;
}

} // namespace

int main(int argc, char **argv) {
  try {
    const int status = run(parse(argc, argv));
    if (!std::cout.flush() || std::fflush(stdout) != 0)
      throw IOError(std::string("standard output: cannot be written: ") + std::strerror(errno));
    return status;
  } catch (const std::exception &error) {
    std::cerr << "weft-digits-network: " << error.what() << '\n';
    return 1;
  }
}
