// The loop of `train::fit`.
#include <weft/train/fit.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <set>

#include "Checkpoint/Checkpoint.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"
#include "Train/PartsSave.h"
#include "Train/Replicas.h"
#include <weft/error.h>
#include <weft/ops.h>
#include <weft/random.h>

namespace weft::train::detail {

namespace {

volatile std::sig_atomic_t interrupted_by = 0; ///< the signal that came first

/// While it lives, Ctrl-C, and SIGTERM, which launchers send for it and schedulers before they end
/// a job, are counted; the second one of a kind ends the process as ever.
class Interrupts {
public:
  Interrupts() {
    interrupted_by = 0;
    for (Handled &handled : handled_) {
      sigaction(handled.signal, nullptr, &handled.before);
      if (handled.is_ignored()) continue; // as `nohup` and scripts want it
      struct sigaction action{};
      action.sa_handler = [](int signal) {
        if (interrupted_by == 0) interrupted_by = signal;
      };
      // NOLINTNEXTLINE(hicpp-signed-bitwise): the system's flags are signed.
      action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
      sigaction(handled.signal, &action, nullptr);
    }
  }
  ~Interrupts() {
    for (const Handled &handled : handled_)
      if (!handled.is_ignored()) sigaction(handled.signal, &handled.before, nullptr);
  }
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  /// The signal that came; 0 if none did.
  static int came() { return interrupted_by; }

private:
  struct Handled {
    int signal;
    struct sigaction before{};

    bool is_ignored() const {
      // NOLINTNEXTLINE(performance-no-int-to-ptr,cppcoreguidelines-pro-type-cstyle-cast): the
      // system's
      return before.sa_handler == SIG_IGN;
    }
  };
  std::array<Handled, 2> handled_ = {Handled{SIGINT}, Handled{SIGTERM}};
};

double number_of(const Tensor &value) { return value.astype(DType::f64).item<double>(); }

void check(const FitSettings &settings) {
  if (settings.epochs < 0)
    throw ValueError("fit: epochs is " + std::to_string(settings.epochs) +
                     ", but must be at least 0");
  std::set<std::string> series = {"loss"};
  for (const std::string &name : settings.metrics)
    if (!series.insert(name).second)
      throw ValueError("fit: two series of the history would be called '" + name +
                       "': give the metric another name");
  for (std::size_t i = 0; i < settings.callbacks.size(); ++i)
    if (settings.callbacks[i] == nullptr)
      throw ValueError("fit: callback " + std::to_string(i) + " is null");
}

class Loop {
public:
  Loop(Run run, FitParts &parts, const FitSettings &settings)
      : run_(std::move(run)), parts_(parts), settings_(settings), replicas_(parts, settings) {
    run_.leads = replicas_.leads();
    run_.epochs = settings.epochs;
    for (auto &[name, part] : {std::pair<std::string, std::int64_t *>("epoch", &run_.epoch),
                               std::pair<std::string, std::int64_t *>("step", &run_.step)})
      parts_.checkpoint.emplace_back(name, *part);
    parts_.checkpoint.emplace_back("in_epoch", in_epoch_);
    parts_.checkpoint.emplace_back("stopped", stopped_);
    parts_.checkpoint.emplace_back("history", run_.history);
    later_parts_ = parts_.checkpoint.size();
    parts_.checkpoint.emplace_back(kReplicas, replicas_.count());
    parts_.checkpoint.emplace_back(kGenerator, random::process_generator());
  }

  History run() {
    try {
      return run_all();
    } catch (...) {
      replicas_.refuse();
      throw;
    }
  }

private:
  History run_all() {
    check(settings_);
    tell(&Callback::begin);
    for (const auto &callback : settings_.callbacks)
      for (CheckpointPart &part : callback->parts()) parts_.checkpoint.push_back(std::move(part));
    replicas_.begin();
    replicas_.settle(open_checkpoints());
    run_.stop = stopped_ != 0;
    while (!run_.stop && !run_.pause && (in_epoch_ >= 0 || run_.epoch < run_.epochs)) epoch();
    if (!run_.pause || run_.stop) tell(&Callback::end);
    if (manager_ && run_.leads) manager_->wait();
    if (parts_save_) parts_save_->finish();
    // The others go on when the last checkpoint is there, and hear of a callback that throws.
    if (manager_ || !settings_.callbacks.empty()) meet("the end of the run");
    if (const int signal = interrupts_ ? Interrupts::came() : 0; signal != 0) {
      interrupts_.reset();
      std::raise(signal); // does what it did before
    }
    return std::move(run_.history);
  }

  void tell(void (Callback::*event)(Run &)) {
    for (const auto &callback : settings_.callbacks) ((*callback).*event)(run_);
  }

  void meet(const std::string &what) {
    bool writes = parts_save_ && parts_save_->writes();
    replicas_.meet(what, {&run_.stop, &run_.pause, &is_due_, &writes});
    // A checkpoint of which all parts are written.
    if (parts_save_ && !writes) parts_save_->finish();
  }

  /// What the latest checkpoint has: older ones do not say that there was one replica, nor where
  /// the process's generator stood.
  Checkpoint of_the_latest(const Checkpoint &what) {
    const std::vector<CheckpointInfo> all = manager_->checkpoints();
    if (all.empty()) return what;
    const SafetensorsFile latest(all.back().path);
    const auto notes = [&](std::string_view of, const std::string &name) {
      return latest.metadata().contains(std::string(of) + name);
    };
    const bool has_replicas = notes(saved_names::kNumber, kReplicas);
    const std::string state = std::string(kGenerator) + ".state";
    const bool has_generator = latest.find(state) != nullptr || notes(saved_names::kAlias, state);
    std::vector<CheckpointPart> parts = what.parts();
    const auto first = parts.begin() + static_cast<std::ptrdiff_t>(later_parts_);
    if (!has_generator) parts.erase(first + 1);
    if (!has_replicas) {
      replicas_.count() = 1;
      parts.erase(first);
    }
    return Checkpoint(std::move(parts));
  }

  /// The step that a checkpoint was restored of.
  std::optional<std::int64_t> open_checkpoints() {
    if (!settings_.checkpoints) return std::nullopt;
    const FitCheckpoints &options = *settings_.checkpoints;
    CheckpointManagerOptions manager{.keep = options.keep, .every_steps = options.every_steps};
    if (options.every_seconds)
      manager.every = std::chrono::duration<double>(*options.every_seconds);
    manager_.emplace(options.folder, manager);
    is_timed_ = options.every_steps || options.every_seconds;
    what_.emplace(parts_.checkpoint);
    interrupts_.emplace();
    // A run that is over already never calls its layers.
    const Checkpoint what = of_the_latest(*what_);
    if (!(replicas_.shards() ? restore_parts_of_ranks(what) : manager_->restore_latest(what)))
      return std::nullopt;
    saved_step_ = run_.step;
    initialize_waiting("fit", parts_.checkpoint);
    return run_.step;
  }

  /// The same as the manager does, where each rank takes its pieces of the optimizer's state: all
  /// ranks go on from one checkpoint, which is whole for all of them.
  std::optional<CheckpointInfo> restore_parts_of_ranks(const Checkpoint &what) {
    std::vector<CheckpointInfo> infos = manager_->checkpoints();
    std::string broken;
    for (auto info = infos.rbegin(); info != infos.rend(); ++info) {
      std::string fault;
      try {
        restore_pieces(what, info->path);
      } catch (const MisfitError &) {
        throw;
      } catch (const IOError &error) {
        fault = error.message();
        warn_line("fit: passed over a broken checkpoint: " + fault);
      }
      const auto faults = replicas_.tell("the restore of " + info->path, fault);
      const auto first = std::ranges::find_if_not(faults, &std::string::empty);
      if (first == faults.end()) return *info;
      if (broken.empty()) broken = ": " + *first;
    }
    const std::string &folder = manager_->folder();
    if (!numbered_files(folder).empty())
      throw IOError(folder + ": has checkpoints, but all of them are broken" + broken);
    return std::nullopt;
  }
  /// What a rank has of the optimizer is known when the weights have values.
  void restore_pieces(const Checkpoint &what, const std::string &path) const {
    weft::detail::RestoreState state;
    state.quiet = true;
    state.file.emplace(path);
    state.parts = what.parts();
    std::erase_if(state.parts, [&](const auto &part) { return replicas_.is_optimizer(part); });
    restore_parts(state, {.function = "fit"});
    initialize_waiting("fit", state.parts);
    state.parts = what.parts();
    restore_parts(state, {.function = "fit", .strict = true});
  }

  /// All of an epoch, or what is left of one that a checkpoint was saved in.
  void epoch() {
    if (in_epoch_ < 0) {
      ++run_.epoch;
      in_epoch_ = 0;
    }
    tell(&Callback::epoch_begin);
    std::optional<ProgressBar> bar;
    if (settings_.progress && run_.leads) {
      bar.emplace(ProgressOptions{.label = "epoch " + std::to_string(run_.epoch) + "/" +
                                           std::to_string(run_.epochs),
                                  .total = parts_.size});
      bar->advance(in_epoch_);
    }
    parts_.start();
    while (!run_.stop && !run_.pause) {
      const Tensor loss =
          replicas_.any() ? replicas_.step(run_.step + 1, in_epoch_) : parts_.step();
      if (!loss.defined()) break;
      run_.loss = loss;
      ++run_.step;
      ++in_epoch_;
      if (bar) {
        bar->show("loss", number_of(loss));
        bar->advance();
      }
      tell(&Callback::step_end);
      if (manager_ && Interrupts::came() != 0) run_.pause = true;
      is_due_ = is_timed_ && run_.leads && replicas_.shards() && is_due();
      if (manager_ || !settings_.callbacks.empty())
        meet("the end of step " + std::to_string(run_.step));
      if (is_due_ && !run_.pause) save();
      else if (is_timed_ && !run_.pause && run_.leads && !replicas_.shards())
        manager_->save_if_due(*what_, run_.step);
    }
    if (run_.pause && !run_.stop) {
      if (bar) bar->finish();
      save();
      return;
    }
    if (in_epoch_ == 0 && !run_.stop) throw ValueError("fit: the data has no batch");
    note("", bar);
    if (parts_.validate) {
      if (!(replicas_.any() ? replicas_.validate(run_.epoch) : parts_.validate()))
        throw ValueError("fit: the validation has no batch");
      note("val_", bar);
    }
    if (bar) bar->finish();
    in_epoch_ = -1;
    tell(&Callback::epoch_end);
    meet("the end of epoch " + std::to_string(run_.epoch));
    stopped_ = run_.stop ? 1 : 0;
    save();
  }

  void save() {
    if (!manager_) return;
    if (!replicas_.shards()) {
      if (run_.leads) manager_->save(*what_, {.step = run_.step});
      return;
    }
    saved_step_ = run_.step;
    saved_at_ = std::chrono::steady_clock::now();
    if (!parts_save_) parts_save_.emplace(replicas_, *settings_.checkpoints);
    parts_save_->begin(*what_, run_.step);
  }

  bool is_due() const {
    const FitCheckpoints &options = *settings_.checkpoints;
    const std::chrono::duration<double> since = std::chrono::steady_clock::now() - saved_at_;
    return (options.every_steps && run_.step - saved_step_ >= *options.every_steps) ||
           (options.every_seconds && since.count() >= *options.every_seconds);
  }

  void note(const std::string &prefix, const std::optional<ProgressBar> &bar) {
    for (const auto &[name, value] : parts_.numbers()) {
      run_.history.add(prefix + name, run_.epoch, number_of(value));
      if (bar) bar->show(prefix + name, number_of(value));
    }
    replicas_.check_metrics();
  }

  Run run_;
  FitParts &parts_;
  const FitSettings &settings_;
  std::int64_t in_epoch_ = -1; ///< steps done of the present epoch; -1 between two
  std::int64_t stopped_ = 0;   ///< whether a callback has ended the run
  std::optional<CheckpointManager> manager_;
  bool is_timed_ = false; ///< whether it saves between the ends of epochs
  bool is_due_ = false;   ///< whether all ranks save behind this step
  std::int64_t saved_step_ = 0;
  std::chrono::steady_clock::time_point saved_at_ = std::chrono::steady_clock::now();
  std::optional<Checkpoint> what_;
  std::optional<Interrupts> interrupts_;
  Replicas replicas_;
  std::optional<PartsSave> parts_save_; ///< where ranks have parts of the state
  std::size_t later_parts_ = 0;         ///< where those stand that older checkpoints lack
  static constexpr const char *kReplicas = "replicas", *kGenerator = "generator";
};

} // namespace

Device device_of(const std::vector<nn::NamedVariable> &variables) {
  bool any = false;
  for (const nn::NamedVariable &entry : variables) {
    if (!entry.variable.initialized()) continue;
    any = true;
    if (const Device device = entry.variable.state()->device(); device != Device()) return device;
  }
  return any ? Device() : default_device();
}

void note_loss(const metrics::Mean &mean, const Tensor &loss, const Tensor &predictions) {
  if (loss.rank() != 0)
    throw ShapeError("fit: the loss must be a scalar, but is " + to_string(loss.type()) +
                     ": losses have a mean of all by default, and others can be given to mean");
  const std::int64_t samples = predictions.rank() == 0 ? 1 : predictions.shape()[0];
  mean.update(loss, full({}, static_cast<double>(samples)));
}

Tensor weighted(const Tensor &loss, const Tensor &weight) {
  return loss * cast(weight, loss.dtype());
}

void apply(const optimizers::Optimizer &optimizer, std::vector<nn::NamedVariable> variables,
           const std::vector<Tensor> &gradients) {
  std::erase_if(variables,
                [](const nn::NamedVariable &entry) { return !entry.variable.trainable(); });
  optimizer.apply_gradients(Gradients(
      std::move(variables), std::vector<SlicedGradient>(gradients.begin(), gradients.end())));
}

History fit(Run run, FitParts &parts, const FitSettings &settings) {
  return Loop(std::move(run), parts, settings).run();
}

} // namespace weft::train::detail
