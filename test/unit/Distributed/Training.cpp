// Runs of train::fit by the ranks of weft-test-ranks: their bits, what goes on after a pause, and
// what is refused.
#include <atomic>
#include <csignal>
#include <filesystem>

#include <sys/wait.h>
#include <unistd.h>

#include "Distributed/World.h"
#include "Ranks.h"
#include "Support/Files.h"

using namespace weft;
namespace wd = weft::distributed;

namespace weft::distributed::tests {

std::string digest_of_run(const std::vector<Variable> &variables, const train::History &history) {
  std::string text;
  for (const Variable &variable : variables) {
    const Tensor value =
        cast(variable.value(), is_floating(variable.dtype()) ? f64 : i64).reshape({-1});
    for (const double number : cast(value, f64).to_vector<double>()) {
      char digits[40];
      std::snprintf(digits, sizeof digits, "%a ", number);
      text += digits;
    }
  }
  for (const std::string &name : history.names()) {
    text += name;
    for (const train::History::Point &point : history.series(name)) {
      char digits[60];
      std::snprintf(digits, sizeof digits, " %lld:%a", static_cast<long long>(point.step),
                    point.value);
      text += digits;
    }
  }
  return std::to_string(std::hash<std::string>()(text)) + " of " + std::to_string(text.size());
}

namespace {

/// A metric of one's own, whose variables have no shape before the first batch.
struct F1OfClasses {
  metrics::F1 f1{{.average = metrics::Average::macro}};
  void update(const Tensor &y, const Tensor &p) const { f1.update(nn::one_hot(y, 3), p); }
  Tensor result() const { return f1.result(); }
  void reset() const { f1.reset(); }
  WEFT_FIELDS(F1OfClasses, f1)
};

/// 50 rows: seven batches, of which the last has fewer rows than eight replicas.
struct Problem {
  random::Generator shared{11}; ///< of nobody's model
  nn::Sequential model{nn::Dense(16, {.activation = tanh}), nn::BatchNorm(), nn::Dropout(0.25),
                       nn::Dense(3)};
  optimizers::Adam adam{model, {.learning_rate = 0.01}};
  data::Dataset data, test;

  explicit Problem(std::int64_t rows = 50, std::int64_t batch = 8) {
    const Tensor x = random::normal({rows, 4}, {.seed = 1});
    const Tensor y = argmax(x[{all, slice(0, 3)}], {.axis = 1});
    data = data::from_tensors(x, y).shuffle().batch(batch);
    test = data::from_tensors(x, y).batch(20);
  }
  train::FitOptions<Tensor, Tensor> options(std::int64_t epochs) const {
    return {.optimizer = adam,
            .loss = [noise = shared](const Tensor &y, const Tensor &p) -> Tensor {
              return losses::softmax_cross_entropy(y, p + noise.normal({3}) * 0.01);
            },
            .metrics = {{"accuracy", metrics::SparseCategoricalAccuracy()}, {"f1", F1OfClasses()}},
            .epochs = epochs,
            .validation = test,
            .callbacks = {train::early_stopping({.patience = 50})},
            .progress = false};
  }
};

/// Says, by rank 0, what a run came to, which all ranks have in common.
void say_run(const std::string &name, const Problem &problem, const train::History &history) {
  std::vector<Variable> variables = nn::variables(problem.model);
  for (const Variable &variable : problem.adam.state()) variables.push_back(variable);
  variables.push_back(problem.shared.state());
  variables.push_back(random::process_generator().state());
  const std::string digest = digest_of_run(variables, history);
  const auto number = static_cast<std::int64_t>(std::hash<std::string>()(digest) >> 1);
  for (const std::int64_t other : all_gather(tensor({number})).to_vector<std::int64_t>())
    want(other == number, name + ": bits differ between ranks");
  want(history.last("loss") < history.series("loss").front().value, name + ": the loss falls");
  if (Group().rank() == 0) say(name + " " + digest);
}

/// More updates than a test needs to see a difference.
constexpr std::int64_t kEpochs = 3;

void bits_of(std::int64_t replicas, bool compile) {
  random::set_seed(7);
  const Problem problem;
  auto options = problem.options(kEpochs);
  options.compile = compile;
  options.parallel = {
      .replicas = replicas, .bucket_mib = replicas == 8 ? 4 : 1e-4, .overlap = replicas != 8};
  const train::History history = train::fit(problem.model, problem.data, options);
  say_run(std::to_string(replicas) + " replicas", problem, history);
}

/// Says of each position of a sequence which of four kinds it is.
struct Tagger {
  nn::Embedding words{20, 8};
  nn::TransformerEncoderLayer layer{8, {.heads = 2, .dropout = 0.1}};
  nn::Dense kinds{4};
  WEFT_FIELDS(Tagger, words, layer, kinds)

  Tensor operator()(const Tensor &x, const nn::CallOptions &options = {}) const {
    return kinds(layer(words(x), options));
  }
};

/// Networks whose layers the first one does not have.
void networks() {
  random::set_seed(5);
  const auto train = [&](const std::string &name, const auto &model, const Tensor &x,
                         const Tensor &y) {
    const auto loss = [](const Tensor &labels, const Tensor &scores) {
      return losses::softmax_cross_entropy(reshape(labels, {-1}), reshape(scores, {-1, 4}));
    };
    const auto data = data::from_tensors(x, y).shuffle().batch(10);
    const optimizers::Adam adam(model);
    const train::History history = train::fit(model, data,
                                              {.optimizer = adam,
                                               .loss = loss,
                                               .epochs = 2,
                                               .parallel = {.replicas = 8},
                                               .progress = false});
    std::vector<Variable> variables = nn::variables(model);
    for (const Variable &variable : adam.state()) variables.push_back(variable);
    if (Group().rank() == 0) say(name + " " + digest_of_run(variables, history));
  };
  train("convolutions",
        nn::Sequential{nn::Conv2D(4, 3, {.activation = relu}), nn::BatchNorm(),
                       nn::GlobalAveragePooling2D(), nn::Dropout(0.5), nn::Dense(4)},
        random::normal({24, 8, 8, 1}, {.seed = 2}), random::randint({24}, 0, 4, {.seed = 3}));
  train("transformer", Tagger(), random::randint({24, 5}, 0, 20, {.seed = 2}),
        random::randint({24, 5}, 0, 4, {.seed = 3}));
}

/// Pauses after some steps.
class Pause final : public train::Callback {
public:
  explicit Pause(std::int64_t after) : after_(after) {}
  void step_end(train::Run &run) override {
    // On one rank alone: the others hear of it.
    if (run.leads && run.step == after_) run.pause = true;
  }

private:
  std::int64_t after_;
};

/// The last rank dies when it has written its part of the third checkpoint, with the other ranks in
/// the middle of theirs.
class KilledAtPart final : public FileCalls {
public:
  int rename(const char *from, const char *to) override {
    const std::string name = to;
    const int last = Group().size() - 1;
    if (name.ends_with(std::to_string(last) + "-of-" + std::to_string(last + 1) + ".safetensors") &&
        ++parts_ == 3)
      std::raise(SIGKILL);
    return FileCalls::rename(from, to);
  }

private:
  int parts_ = 0;
};

/// A rank dies at one of its calls that files are made by: the last one at call `n`, rank 0 at
/// `-n`.
class KilledAtCall final : public FileCalls {
public:
  explicit KilledAtCall(int call) : left_(call < 0 ? -call : call) {
    if (Group().rank() != (call < 0 ? 0 : Group().size() - 1)) left_ = 0;
  }
  int made() const { return made_; }
  int rename(const char *from, const char *to) override {
    count();
    return FileCalls::rename(from, to);
  }
  int rename_to_free(const char *from, const char *to) override {
    count();
    return FileCalls::rename_to_free(from, to);
  }
  int fsync(int descriptor) override {
    count();
    return FileCalls::fsync(descriptor);
  }
  int mkdir(const char *path, mode_t mode) override {
    count();
    return FileCalls::mkdir(path, mode);
  }

private:
  void count() {
    ++made_;
    if (left_ > 0 && left_.fetch_sub(1) == 1) std::raise(SIGKILL);
  }
  std::atomic<int> left_, made_ = 0;
};

/// Keeps parts of checkpoints from getting their names, until they are released.
class HeldParts final : public FileCalls {
public:
  int rename(const char *from, const char *to) override {
    if (std::string_view(to).ends_with(".safetensors")) {
      waiting_ = true;
      waiting_.notify_all();
      held_.wait(true);
    }
    return FileCalls::rename(from, to);
  }
  /// Returns when one is held.
  void wait() const { waiting_.wait(false); }
  void release() {
    held_ = false;
    held_.notify_all();
  }

private:
  std::atomic<bool> waiting_ = false, held_ = true;
};

/// What a child exits with that comes to an end.
constexpr int kOfChild = 7;

/// Rank 0 forks while a checkpoint is being written; the child leaves the run by an exception.
class Forks final : public train::Callback {
public:
  explicit Forks(HeldParts &parts) : parts_(parts) {}
  void step_end(train::Run &run) override {
    if (run.step != 3) return;
    parts_.wait();
    if (run.leads) {
      const pid_t child = fork();
      if (child == 0) {
        alarm(20); // one that waits for a thread of its parent ends like this
        throw IOError("a child leaves");
      }
      int status = 0;
      want(waitpid(child, &status, 0) == child && WIFEXITED(status) &&
               WEXITSTATUS(status) == kOfChild,
           "a child ends with status " + std::to_string(status));
    }
    parts_.release();
  }

private:
  HeldParts &parts_;
};

const train::Parallel kCut{.replicas = 8, .shard_state = train::ShardState::optimizer};
const train::Parallel kCutAsBefore{.replicas = std::nullopt,
                                   .shard_state = train::ShardState::optimizer};

/// Of as many replicas as ranks, unless it says how many, or goes on.
void resumed(const std::string &folder, std::int64_t pause, const train::Parallel &parallel,
             const std::shared_ptr<train::Callback> &more = nullptr) {
  random::set_seed(7);
  const Problem problem;
  auto options = problem.options(kEpochs);
  options.parallel = parallel;
  if (more != nullptr) options.callbacks.push_back(more);
  if (!folder.empty()) {
    options.checkpoints = train::FitCheckpoints{.folder = folder, .every_steps = 2};
    options.callbacks.push_back(std::make_shared<Pause>(pause));
  }
  // `shared` is nobody's, and no part of a checkpoint.
  options.loss = [](const Tensor &y, const Tensor &p) -> Tensor {
    return losses::softmax_cross_entropy(y, p + random::normal({3}) * 0.01);
  };
  const train::History history = train::fit(problem.model, problem.data, options);
  if (pause != 0) return say("paused");
  problem.adam.gather_state();
  std::vector<Variable> variables = nn::variables(problem.model);
  for (const Variable &variable : problem.adam.state()) variables.push_back(variable);
  variables.push_back(random::process_generator().state());
  if (Group().rank() == 0) say(digest_of_run(variables, history));
}

/// How often ranks meet in a step, whose gradients are exchanged in many buckets, with whole
/// numbers and generators beside them.
void meetings() {
  const wd::Group world = wd::init();
  const auto count = [&](std::int64_t steps, bool calls, double bucket) {
    const Problem problem(8 * steps);
    auto options = problem.options(1);
    options.validation = std::nullopt;
    options.callbacks = {};
    if (calls) options.callbacks = {train::early_stopping({.monitor = "loss"})};
    options.parallel = {.replicas = 8, .bucket_mib = bucket};
    const std::uint64_t before = world.state()->sequence;
    train::fit(problem.model, problem.data, options);
    return world.state()->sequence - before;
  };
  for (const double bucket : {4.0, 1e-3})
    for (const bool calls : {false, true}) {
      const std::uint64_t more = count(5, calls, bucket) - count(2, calls, bucket);
      want(more == (calls ? 6U : 3U), "ranks meet " + std::to_string(more) + " times in 3 steps");
    }
}

void forked(const std::string &folder) {
  HeldParts parts;
  use_file_calls(&parts);
  train::Parallel parallel = kCut;
  parallel.bucket_mib = 1e-4;
  parallel.overlap = true; // by a thread that waits for more when the process forks
  const pid_t own = getpid();
  try {
    resumed(folder, 0, parallel, std::make_shared<Forks>(parts));
  } catch (const IOError &) {
    if (getpid() != own) _exit(kOfChild);
    throw;
  }
}

void refused() {
  const int rank = Group().rank(), ranks = Group().size();
  const bool last = rank == ranks - 1;
  const auto fit = [&](const train::Parallel &parallel, const auto &change) {
    said([&] {
      Problem problem;
      auto options = problem.options(1);
      options.callbacks = {};
      options.parallel = parallel;
      change(problem, options);
      train::fit(problem.model, problem.data, options);
    });
    want(all_reduce(ones({1})).item<float>() == static_cast<float>(ranks), "goes on");
  };
  const auto nothing = [](auto &, auto &) {};
  fit({.replicas = 1}, nothing);
  fit({.replicas = -3}, nothing);
  fit({.replicas = last ? 8 : 4}, nothing);
  fit({.replicas = 4}, [&](auto &, auto &options) { options.epochs = last ? 2 : 1; });
  fit({.replicas = 4}, [&](auto &problem, auto &options) {
    options.optimizer = optimizers::Adam(problem.model, {.learning_rate = last ? 0.02 : 0.01});
  });
  fit({.replicas = 4}, [&](auto &problem, auto &options) {
    options.optimizer = optimizers::Adam(
        problem.model, {.clip_norm = last ? std::optional(1.5) : std::nullopt, .accumulate = 2});
  });
  fit({.replicas = 4}, [&](auto &problem, auto &options) {
    if (last) options.optimizer = optimizers::AdamW(problem.model, {.weight_decay = 0});
    else options.optimizer = optimizers::Adam(problem.model);
  });
  fit({.replicas = 4}, [&](auto &problem, auto &options) {
    problem.model = nn::Sequential{nn::Dropout(last ? 0.5 : 0.25), nn::Dense(3)};
    options.optimizer = optimizers::Adam(problem.model);
  });
  fit({.replicas = 4}, [&](auto &problem, auto &) {
    if (last) problem.model = nn::Sequential{nn::Dense(4), nn::Dense(3)};
  });
  // Whose data are shorter, of other sizes, or damaged.
  const auto generated = [](std::int64_t count, std::int64_t rows, std::int64_t damaged) {
    return data::from_generator(
        [=, i = std::int64_t{0}]() mutable -> std::optional<std::pair<Tensor, Tensor>> {
          if (i == damaged) throw IOError("digits.idx is damaged");
          if (i++ == count) return std::nullopt;
          return std::pair(ones({rows, 4}), zeros({rows}, i64));
        });
  };
  fit({.replicas = 4},
      [&](auto &problem, auto &) { problem.data = generated(last ? 1 : 2, 8, -1); });
  fit({.replicas = 4},
      [&](auto &problem, auto &) { problem.data = generated(2, last ? 9 : 8, -1); });
  fit({.replicas = 4},
      [&](auto &problem, auto &) { problem.data = generated(3, 8, last ? 1 : -1); });
  fit({.replicas = 4}, [&](auto &, auto &options) { options.epochs = last ? -1 : 1; });
  fit({.replicas = 9}, nothing);
  fit({.replicas = 4}, [&](auto &problem, auto &) { problem.data = generated(2, 3, -1); });
  fit({.replicas = 4}, [&](auto &, auto &options) {
    options.loss = [](const Tensor &y, const Tensor &p) {
      return p * cast(y, f32).reshape({-1, 1}); // no scalar
    };
  });
  fit({.replicas = 4}, [&](auto &problem, auto &) {
    problem.data = data::from_generator([]() -> std::optional<std::pair<Tensor, Tensor>> {
      return std::pair(ones({8, 4}), zeros({7}, i64));
    });
  });
  fit({.replicas = 4}, [&](auto &, auto &options) {
    options.checkpoints = train::FitCheckpoints{.folder = "/proc/nowhere"};
  });
}

} // namespace

void training(const std::string &how) {
  const auto comma = how.find(',');
  const std::string part = how.substr(0, comma),
                    folder = comma == std::string::npos ? "" : how.substr(comma + 1);
  if (part.empty()) {
    for (const auto &[replicas, compile] :
         {std::pair<std::int64_t, bool>(3, true), {3, false}, {8, true}})
      if (replicas >= Group().size()) bits_of(replicas, compile);
  } else if (part == "meetings") {
    meetings();
  } else if (part == "networks") {
    networks();
  } else if (part == "pause") {
    resumed(folder, 9, {.replicas = std::nullopt});
  } else if (part == "resume") {
    resumed(folder, 0, {.replicas = std::nullopt});
  } else if (part == "pause-8") {
    resumed(folder, 9, {.replicas = 8});
  } else if (part == "pause-cut") {
    resumed(folder, 9, kCut);
  } else if (part == "resume-cut") {
    resumed(folder, 0, kCutAsBefore);
  } else if (part == "pause-gradients") {
    resumed(folder, 9, {.replicas = 8, .shard_state = train::ShardState::gradients});
  } else if (part == "resume-gradients") {
    resumed(folder, 0, {.replicas = std::nullopt, .shard_state = train::ShardState::gradients});
  } else if (part == "pause-weights") {
    resumed(folder, 9, {.replicas = 8, .shard_state = train::ShardState::weights});
  } else if (part == "resume-weights") {
    resumed(folder, 0, {.replicas = std::nullopt, .shard_state = train::ShardState::weights});
  } else if (part == "killed") {
    KilledAtPart calls;
    use_file_calls(&calls);
    resumed(folder, 9, kCut);
  } else if (part == "dies") {
    const auto last = folder.rfind(',');
    KilledAtCall calls(std::stoi(folder.substr(last + 1)));
    use_file_calls(&calls);
    resumed(folder.substr(0, last), 0, kCut);
    say("calls done: " + std::to_string(calls.made()));
  } else if (part == "forked") {
    forked(folder);
  } else if (part == "broken") {
    said([&] { resumed(folder, 0, kCutAsBefore); });
  } else if (part == "whole") {
    resumed("", 0, {.replicas = std::stoll(folder)});
  } else if (part == "other") {
    said([&] { resumed(folder, 0, {.replicas = 7}); });
  } else if (part == "more") {
    said([&] { resumed(folder, 0, {.replicas = std::nullopt}); });
  } else if (part == "refused") {
    refused();
  }
}

} // namespace weft::distributed::tests
