// A loop that nobody has to write: epochs, validation, metrics, checkpoints, a bar.
#pragma once

#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <weft/data.h>
#include <weft/detail/synchronized.h>
#include <weft/distributed.h>
#include <weft/function.h>
#include <weft/metrics.h>
#include <weft/nn/layer.h>
#include <weft/optimizers.h>
#include <weft/train/progress.h>
#include <weft/train/run.h>

namespace weft::train {

/// A loss of labels and predictions: a function of `weft::losses`, or any callable.
template <class Labels>
class Loss {
public:
  template <class F>
    requires std::is_invocable_r_v<Tensor, const F &, const Labels &, const Tensor &>
  Loss(F function) : function_(std::move(function)) {}
  /// Of losses with options these have their defaults.
  template <class Options>
  Loss(Tensor (*function)(const Operand &, const Operand &, const Options &))
      : function_([function](const Labels &labels, const Tensor &predictions) {
          return function(labels, predictions, Options());
        }) {}

  Tensor operator()(const Labels &labels, const Tensor &predictions) const {
    return function_(labels, predictions);
  }

private:
  std::function<Tensor(const Labels &, const Tensor &)> function_;
};

/// A metric and what it is called: `{"accuracy", metrics::SparseCategoricalAccuracy()}`, anything
/// with update(labels, predictions), result() and reset().
template <class Labels>
class NamedMetric {
public:
  template <class Metric>
    requires requires(const Metric &metric, const Labels &labels, const Tensor &predictions) {
      metric.update(labels, predictions);
      { metric.result() } -> std::convertible_to<Tensor>;
      metric.reset();
    }
  NamedMetric(std::string called, Metric metric)
      : name(std::move(called)), update([metric](const Labels &labels, const Tensor &predictions) {
          metric.update(labels, predictions);
        }),
        result([metric]() -> Tensor { return metric.result(); }),
        reset([metric] { metric.reset(); }),
        part([metric = std::make_shared<const Metric>(metric)](std::string path) {
          return CheckpointPart(std::move(path), *metric);
        }) {}

  std::string name;
  std::function<void(const Labels &, const Tensor &)> update;
  std::function<Tensor()> result;
  std::function<void()> reset;
  std::function<CheckpointPart(std::string)> part;
};

/// Where `fit` keeps a run, and goes on with it.
struct FitCheckpoints {
  std::string folder;
  std::int64_t keep = 3;
  /// Saves after so many steps besides the end of each epoch.
  std::optional<std::int64_t> every_steps = std::nullopt;
  /// Saves after so many seconds besides.
  std::optional<double> every_seconds = std::nullopt;
};

/// What of a run's state each rank keeps a part of, where otherwise it keeps all.
enum class ShardState : std::int32_t {
  none,
  optimizer, ///< what the optimizer keeps for its variables (ZeRO-1)
  gradients, ///< that, and the sums of gradients (ZeRO-2)
  weights,   ///< these, and the trained variables, gathered for each use (ZeRO-3)
};

/// How the batches of a run are shared by the processes of a program, its ranks (docs/training.md).
/// Each batch is cut into one part for each replica, by rows; a replica computes the gradients of
/// its part, weighted by its share of the rows, and they are added by one tree. So all numbers of a
/// run follow from the number of replicas, whichever ranks do their work.
struct Parallel {
  /// By default the number of ranks that the run first starts with, which its checkpoints keep. One
  /// is a run without replicas, of a single rank; 0 is none at all: this process trains alone,
  /// whatever others do.
  std::optional<std::int64_t> replicas = std::nullopt;
  /// The ranks; by default the world.
  distributed::Group group = {};
  /// Gradients travel together in exchanges of so many MiB, or of one variable.
  double bucket_mib = 4;
  /// Whether an exchange begins as soon as its gradients are there, while those of earlier layers
  /// are still computed; otherwise all of them begin behind the last gradient. By default where the
  /// ranks are on several hosts: in the memory of one there is no wire whose time could be hidden.
  /// Models of fewer MiB than `bucket_mib` have one exchange, behind the last gradient.
  std::optional<bool> overlap = std::nullopt;
  /// The bits of a run are the same whatever it is. With `optimizer` the memory of its state is
  /// divided by the ranks, checkpoints are folders that all ranks write parts of, and after `fit`
  /// the state is cut still (see Optimizer::shard_state). With `gradients` a rank gets the sums of
  /// its part of the gradients alone besides, for which less is sent: an optimizer that wants norms
  /// of whole gradients (clip_norm, clip_global_norm) is a ValueError. With `weights` the variables
  /// that are trained are cut too, and gathered before each layer that uses them, forward and
  /// backward: more is sent, and callbacks that read a weight do so on all ranks.
  ShardState shard_state = ShardState::none;
  /// Where this rank's replicas are computed: the first on the first device, and so on, again from
  /// the first one behind the last; by default where the model is. Each device reads variables from
  /// copies of its own; the update is made where they are, on the first GPU that has one of them;
  /// on the first of these devices if the model has no values yet. Compiled steps run on all
  /// devices at once, each on a thread of the library, but for the first of a shape, those whose
  /// exchanges overlap and those with `shard_state = weights`: the same bits, one replica behind
  /// the other. `replicas` is by default as many as the ranks have devices then: equally many each.
  std::vector<Device> devices = {};
};

/// Options of `fit`, of inputs X and labels Y.
template <class X, class Y>
struct FitOptions {
  optimizers::Optimizer optimizer;
  Loss<Y> loss;
  std::vector<NamedMetric<Y>> metrics = {};
  std::int64_t epochs = 1;
  /// What the model is tried on after each epoch: "val_loss" and "val_" and the metrics' names.
  std::optional<data::BasicDataset<std::pair<X, Y>>> validation = std::nullopt;
  Callbacks callbacks = {};
  /// `{.replicas = 8}`, or `{}` for a replica for each rank: all of them call `fit` with the same
  /// data, of whole batches, and the same options.
  Parallel parallel = {.replicas = 0};
  /// If given, the run goes on from the newest checkpoint in the folder, with the next batch of its
  /// epoch, and ends with the same bits as one that was never interrupted.
  std::optional<FitCheckpoints> checkpoints = std::nullopt;
  /// Whether steps are traced and compiled.
  bool compile = true;
  /// Whether a bar is shown on stderr.
  bool progress = true;
};

namespace detail {

/// What the loop does with parts of batches, where there are replicas.
struct ReplicaParts {
  using Rows = std::vector<Tensor>;
  /// The tensors of the next batch; nothing behind the last. `start` of FitParts starts an epoch.
  std::function<std::optional<Rows>()> next;
  /// The loss of these rows of it times a weight, a scalar, then the gradients of it; undefined
  /// where there is none.
  std::function<Rows(const Rows &, const Tensor &weight)> gradients;
  /// The variables whose gradients these are, in their order, and all of the model.
  std::function<std::vector<nn::NamedVariable>()> variables, all_variables;
  std::function<void(const Rows &gradients)> update;
  /// The same of the validation.
  std::function<void()> start_tests;
  std::function<std::optional<Rows>()> next_test;
  std::function<void(const Rows &)> test;
  bool compiled = true; ///< whether `gradients` and `test` run code of the user's only in traces
  /// Calls what waits for other threads, without locks that these need for `gradients`.
  std::function<void(const std::function<void()> &)> idle = [](const auto &wait) { wait(); };
};

/// What the loop does with batches whose types it does not know.
struct FitParts {
  std::function<void()> start;    ///< of an epoch, or of the rest of one
  std::function<Tensor()> step;   ///< the loss of the next batch; undefined behind the last
  std::function<bool()> validate; ///< whether there was a batch
  std::function<std::vector<std::pair<std::string, Tensor>>()> numbers; ///< then forgets them
  std::vector<CheckpointPart> checkpoint;
  std::optional<std::int64_t> size; ///< of an epoch, in batches
  ReplicaParts replicas;
  /// The words of the exception that is being handled, and the file and line it came from, if they
  /// are known; by default those of C++.
  std::function<std::pair<std::string, std::string>()> error;
};
struct FitSettings {
  std::int64_t epochs;
  std::vector<std::string> metrics;
  const Callbacks &callbacks;
  const std::optional<FitCheckpoints> &checkpoints;
  const Parallel &parallel;
  bool progress;
  std::source_location where = {};
  const optimizers::Optimizer *optimizer = nullptr; ///< null if it is none of the library's
};
History fit(Run run, FitParts &parts, const FitSettings &settings);

/// Where a model is trained: on the first GPU that has one of its variables; where none has a value
/// yet, where new tensors go.
Device device_of(const std::vector<nn::NamedVariable> &variables);

/// Adds the loss of a batch of predictions to the mean over samples. Throws ShapeError for one that
/// is no scalar.
void note_loss(const metrics::Mean &mean, const Tensor &loss, const Tensor &predictions);

/// The loss times the weight of a replica.
Tensor weighted(const Tensor &loss, const Tensor &weight);
/// The gradients of a replica's loss by variables with values, undefined where there is none. `fit`
/// on several ranks is given each as soon as it is there.
std::vector<Tensor> replica_gradients(GradientTape &tape, const Tensor &loss,
                                      const std::vector<nn::NamedVariable> &variables);
/// Updates a model by gradients of its trainable variables, which some may be without.
void apply(const optimizers::Optimizer &optimizer, std::vector<nn::NamedVariable> variables,
           const std::vector<Tensor> &gradients);

/// The batches of an epoch, one after the other, taken apart.
template <class X, class Y>
class Batches {
public:
  explicit Batches(const data::BasicDataset<std::pair<X, Y>> &data) : data_(data) {}
  void start() { started_ = false; }
  /// The next one; null behind the last.
  const std::pair<X, Y> *next() {
    if (std::exchange(started_, true)) ++batch_;
    else batch_ = data_.begin();
    return batch_ == data_.end() ? nullptr : &*batch_;
  }
  std::optional<std::vector<Tensor>> next_tensors() {
    const std::pair<X, Y> *const batch = next();
    if (batch == nullptr) return std::nullopt;
    parts_.emplace(*batch);
    return parts_->tensors();
  }
  /// The present batch with these tensors instead of its own.
  std::pair<X, Y> with(const std::vector<Tensor> &rows) const { return parts_->with(rows); }

private:
  const data::BasicDataset<std::pair<X, Y>> &data_;
  typename data::BasicDataset<std::pair<X, Y>>::Iterator batch_;
  bool started_ = false;
  std::optional<weft::detail::Parts<std::pair<X, Y>>> parts_;
};

/// The model's result, told that it is trained if it wants to know.
template <class Model, class X>
Tensor predictions_of(const Model &model, const X &x, bool training) {
  const weft::detail::UserLines lines_of_its_own;
  if constexpr (std::is_invocable_v<const Model &, const X &, const nn::CallOptions &>)
    return model(x, nn::CallOptions{.training = training});
  else return model(x);
}

} // namespace detail

/// Trains a model on batches (x, y): for each the loss of `model(x)`, its gradient, an update. The
/// history has, for each epoch, numbered from 1, "loss", the mean of the batches' losses weighted
/// by how many samples they have, and the metrics, and the same of the validation. A batch of
/// another size than the others is traced once more.
///
///     auto history = train::fit(model, digits.batch(32), {.optimizer = adam,
///                                                         .loss = losses::softmax_cross_entropy,
///                                                         .epochs = 3});
///
/// With checkpoints, Ctrl-C or SIGTERM saves before it does what it did before; where the process
/// lives on, `fit` returns, and another call goes on. Throws ValueError for a negative number of
/// epochs, data or validation without a batch, metrics of one name and a callback that is null,
/// ShapeError for a loss that is no scalar, and what model, loss, data and callbacks throw.
///
/// With `parallel`, ValueError for more ranks than replicas, another number of replicas than the
/// checkpoints have, a batch of fewer rows than replicas that is not the last of its epoch, metrics
/// that do not begin at 0 or have no variables, and `shard_state` with an optimizer whose state
/// cannot be cut; ShapeError for tensors of a batch without
/// rows or with different numbers of them; StateError if the ranks do not do the same; and, on the
/// other ranks, StateError with what one of them throws, or PeerError.
template <class Model, class X, class Y>
History fit(const Model &model, const data::BasicDataset<std::pair<X, Y>> &data,
            const FitOptions<X, Y> &options, std::source_location where = WEFT_HERE) {
  static_assert(nn::Model<Model>, WEFT_MODEL_WANTED("train::fit"));
  const weft::detail::CallLine line(where);
  const metrics::Mean mean;
  using Step = std::function<Tensor(const X &, const Y &)>;
  const auto measured = [&](const Y &y, const Tensor &predictions) {
    Tensor loss = options.loss(y, predictions);
    detail::note_loss(mean, loss, predictions);
    for (const NamedMetric<Y> &metric : options.metrics) metric.update(y, predictions);
    return loss;
  };
  const auto train_step = [&](const X &x, const Y &y) {
    const weft::detail::CallLine step_line(where); // what is traced has no line around it
    GradientTape tape;
    Tensor loss = measured(y, detail::predictions_of(model, x, true));
    options.optimizer.apply_gradients(tape.gradient(loss, model));
    return loss;
  };
  const auto test_step = [&](const X &x, const Y &y) {
    const weft::detail::CallLine step_line(where);
    return measured(y, detail::predictions_of(model, x, false));
  };
  using Parts = std::vector<std::optional<Tensor>>;
  const auto gradient_step = [&](const X &x, const Y &y, const Tensor &weight) {
    const weft::detail::CallLine step_line(where);
    const weft::detail::WeightOfRows rows(weight);
    GradientTape tape;
    const Tensor loss =
        detail::weighted(measured(y, detail::predictions_of(model, x, true)), weight);
    Parts parts = {loss};
    for (Tensor &gradient :
         detail::replica_gradients(tape, loss, weft::detail::trained(nn::named_variables(model))))
      parts.push_back(gradient.defined() ? std::optional(std::move(gradient)) : std::nullopt);
    return parts;
  };
  const auto step = [&]<class Called>(std::type_identity<Called>, const auto &run,
                                      const char *name) {
    if (!options.compile) return Called(run);
    // Replicas say where they are.
    const Device device =
        options.parallel.devices.empty() ? detail::device_of(nn::named_variables(model)) : Device();
    return Called([compiled = function(run, {.name = name, .device = device}),
                   where](const auto &...args) { return compiled(args..., where); });
  };
  const Step train = step(std::type_identity<Step>(), train_step, "train_step"),
             test = step(std::type_identity<Step>(), test_step, "test_step");
  const auto gradients =
      step(std::type_identity<std::function<Parts(const X &, const Y &, const Tensor &)>>(),
           gradient_step, "gradient_step");

  detail::Batches<X, Y> batches(data);
  detail::FitParts parts;
  parts.start = [&] { batches.start(); };
  parts.step = [&]() -> Tensor {
    const std::pair<X, Y> *const batch = batches.next();
    return batch == nullptr ? Tensor() : train(batch->first, batch->second);
  };
  parts.replicas.next = [&] { return batches.next_tensors(); };
  parts.replicas.gradients = [&](const std::vector<Tensor> &rows, const Tensor &weight) {
    const auto [x, y] = batches.with(rows);
    std::vector<Tensor> all;
    for (const std::optional<Tensor> &part : gradients(x, y, weight))
      all.push_back(part.value_or(Tensor()));
    return all;
  };
  parts.replicas.compiled = options.compile;
  parts.replicas.all_variables = [&] { return nn::named_variables(model); };
  parts.replicas.variables = [&] { return weft::detail::trained(nn::named_variables(model)); };
  parts.replicas.update = [&](const std::vector<Tensor> &of) {
    detail::apply(options.optimizer, nn::named_variables(model), of);
  };
  std::optional<detail::Batches<X, Y>> tests;
  if (options.validation) tests.emplace(*options.validation);
  parts.replicas.start_tests = [&] { tests->start(); };
  parts.replicas.next_test = [&] { return tests->next_tensors(); };
  parts.replicas.test = [&](const std::vector<Tensor> &rows) {
    const auto [x, y] = tests->with(rows);
    static_cast<void>(test(x, y));
  };
  if (options.validation)
    parts.validate = [&] {
      bool any = false;
      for (const auto &[x, y] : *options.validation) any = test(x, y).defined();
      return any;
    };
  const auto reset = [&] {
    mean.reset();
    for (const NamedMetric<Y> &metric : options.metrics) metric.reset();
  };
  parts.numbers = [&] {
    std::vector<std::pair<std::string, Tensor>> numbers = {{"loss", mean.result()}};
    for (const NamedMetric<Y> &metric : options.metrics)
      numbers.emplace_back(metric.name, metric.result());
    reset();
    return numbers;
  };
  parts.checkpoint = {
      {"model", model}, {"optimizer", options.optimizer}, {"data", data}, {"metrics.loss", mean}};
  detail::FitSettings settings{
      options.epochs,   {},    options.callbacks, options.checkpoints, options.parallel,
      options.progress, where, &options.optimizer};
  for (const NamedMetric<Y> &metric : options.metrics) {
    parts.checkpoint.push_back(metric.part("metrics." + metric.name));
    settings.metrics.push_back(metric.name);
  }
  parts.size = data.size();
  Run run;
  run.variables = nn::named_variables(model);
  try {
    return detail::fit(std::move(run), parts, settings);
  } catch (...) {
    reset(); // what the broken epoch counted is no part of a later one
    throw;
  }
}

} // namespace weft::train
