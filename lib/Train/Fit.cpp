// The loop of `train::fit`.
#include <weft/train/fit.h>

#include <cmath>
#include <csignal>

#include "Support/CallSite.h"
#include <weft/error.h>

namespace weft::train::detail {

namespace {

volatile std::sig_atomic_t interrupts = 0;

/// While it lives, Ctrl-C is counted, and the second one ends the process as ever.
class Interrupts {
public:
  Interrupts() {
    interrupts = 0;
    struct sigaction action{};
    action.sa_handler = [](int) { interrupts = 1; };
    // NOLINTNEXTLINE(hicpp-signed-bitwise): the system's flags are signed.
    action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);
    sigaction(SIGINT, &action, &before_);
  }
  ~Interrupts() { sigaction(SIGINT, &before_, nullptr); }
  Interrupts(const Interrupts &) = delete;
  Interrupts &operator=(const Interrupts &) = delete;

  static bool came() { return interrupts != 0; }

private:
  struct sigaction before_{};
};

double number_of(const Tensor &value) { return value.astype(DType::f64).item<double>(); }

class Loop {
public:
  Loop(Run run, FitParts &parts, const FitSettings &settings)
      : run_(std::move(run)), parts_(parts), settings_(settings) {
    run_.epochs = settings.epochs;
    for (auto &[name, part] : {std::pair<std::string, std::int64_t *>("epoch", &run_.epoch),
                               std::pair<std::string, std::int64_t *>("step", &run_.step)})
      parts_.checkpoint.emplace_back(name, *part);
    parts_.checkpoint.emplace_back("in_epoch", in_epoch_);
    parts_.checkpoint.emplace_back("history", run_.history);
  }

  History run() {
    tell(&Callback::begin);
    for (const auto &callback : settings_.callbacks)
      for (CheckpointPart &part : callback->parts()) parts_.checkpoint.push_back(std::move(part));
    open_checkpoints();
    while (!run_.stop && (in_epoch_ >= 0 || run_.epoch < run_.epochs)) epoch();
    tell(&Callback::end);
    if (manager_) manager_->wait();
    return std::move(run_.history);
  }

private:
  void tell(void (Callback::*event)(Run &)) {
    for (const auto &callback : settings_.callbacks) ((*callback).*event)(run_);
  }

  void open_checkpoints() {
    if (!settings_.checkpoints) return;
    const FitCheckpoints &options = *settings_.checkpoints;
    CheckpointManagerOptions manager{.keep = options.keep, .every_steps = options.every_steps};
    if (options.every_seconds)
      manager.every = std::chrono::duration<double>(*options.every_seconds);
    manager_.emplace(options.folder, manager);
    is_timed_ = options.every_steps || options.every_seconds;
    what_.emplace(parts_.checkpoint);
    interrupts_.emplace();
    manager_->restore_latest(*what_);
  }

  /// All of an epoch, or what is left of one that a checkpoint was saved in.
  void epoch() {
    if (in_epoch_ < 0) {
      ++run_.epoch;
      in_epoch_ = 0;
    }
    tell(&Callback::epoch_begin);
    std::optional<ProgressBar> bar;
    if (settings_.progress) {
      bar.emplace(ProgressOptions{.label = "epoch " + std::to_string(run_.epoch) + "/" +
                                           std::to_string(run_.epochs),
                                  .total = parts_.size});
      bar->advance(in_epoch_);
    }
    parts_.start();
    while (!run_.stop) {
      const Tensor loss = parts_.step();
      if (!loss.defined()) break;
      run_.loss = loss;
      ++run_.step;
      ++in_epoch_;
      if (bar) {
        bar->show("loss", number_of(loss));
        bar->advance();
      }
      tell(&Callback::step_end);
      if (is_timed_ && !Interrupts::came()) manager_->save_if_due(*what_, run_.step);
      if (manager_ && Interrupts::came()) interrupted(bar);
    }
    note("", bar);
    if (parts_.validate) {
      parts_.validate();
      note("val_", bar);
    }
    if (bar) bar->finish();
    in_epoch_ = -1;
    tell(&Callback::epoch_end);
    if (manager_) manager_->save(*what_, {.step = run_.step});
  }

  void note(const std::string &prefix, const std::optional<ProgressBar> &bar) {
    for (const auto &[name, value] : parts_.numbers()) {
      run_.history.add(prefix + name, run_.epoch, number_of(value));
      if (bar) bar->show(prefix + name, number_of(value));
    }
  }

  /// Saves, and lets the signal do what it did before.
  void interrupted(const std::optional<ProgressBar> &bar) {
    manager_->save(*what_, {.step = run_.step});
    manager_->wait();
    if (bar) bar->finish();
    interrupts_.reset();
    std::raise(SIGINT);
    // Somebody's handler let the process go on.
    run_.stop = true;
  }

  Run run_;
  FitParts &parts_;
  const FitSettings &settings_;
  std::int64_t in_epoch_ = -1; ///< steps done of the present epoch; -1 between two
  std::optional<CheckpointManager> manager_;
  bool is_timed_ = false; ///< whether it saves between the ends of epochs
  std::optional<Checkpoint> what_;
  std::optional<Interrupts> interrupts_;
};

} // namespace

History fit(Run run, FitParts &parts, const FitSettings &settings) {
  if (settings.epochs < 0)
    throw ValueError("fit: epochs is " + std::to_string(settings.epochs) +
                     ", but must be at least 0");
  return Loop(std::move(run), parts, settings).run();
}

} // namespace weft::train::detail
