// The callbacks that come with `train::fit`.
#include <weft/train/run.h>

#include <cmath>
#include <limits>

#include "Support/CallSite.h"
#include "Support/Files.h"
#include "Support/Messages.h"
#include "Train/Terminal.h"
#include <weft/error.h>

namespace weft::train {

namespace {

class EarlyStopping final : public Callback {
public:
  explicit EarlyStopping(const EarlyStoppingOptions &options) : options_(options), best_(worst()) {}

  void begin(Run &run) override {
    weights_.clear();
    if (!options_.restore_best) return;
    for (const nn::NamedVariable &entry : run.variables) weights_.push_back(entry.variable.clone());
  }
  void epoch_end(Run &run) override {
    const double value = run.history.last(options_.monitor);
    const bool better = options_.goal == Goal::lowest ? value < best_ - options_.min_delta
                                                      : value > best_ + options_.min_delta;
    if (better) {
      best_ = value;
      waited_ = 0;
      for (std::size_t i = 0; i < weights_.size(); ++i)
        copy(run.variables[i].variable, weights_[i]);
    } else if (++waited_ >= options_.patience) {
      run.stop = true;
    }
  }
  void end(Run &run) override {
    if (best_ == worst()) return;
    for (std::size_t i = 0; i < weights_.size(); ++i) copy(weights_[i], run.variables[i].variable);
  }
  std::vector<CheckpointPart> parts() override {
    const std::string path = "early_stopping." + options_.monitor;
    return {{path + ".best", best_}, {path + ".waited", waited_}, {path + ".weights", weights_}};
  }

private:
  double worst() const {
    constexpr double infinity = std::numeric_limits<double>::infinity();
    return options_.goal == Goal::lowest ? infinity : -infinity;
  }
  static void copy(const Variable &from, const Variable &to) {
    if (!to.initialized()) to.initialize(from.shape());
    to.assign(from.value());
  }

  EarlyStoppingOptions options_;
  double best_;
  std::int64_t waited_ = 0;
  std::vector<Variable> weights_;
};

class EventFiles final : public Callback {
public:
  EventFiles(std::string folder, std::int64_t every_steps)
      : folder_(std::move(folder)), every_steps_(every_steps) {}
  void begin(Run &) override { writer_.reset(); }
  void step_end(Run &run) override {
    if (!run.leads) return;
    // The first step tells whether the run goes on from another one's end.
    if (!writer_) open(run.step);
    if (run.step % every_steps_ == 0) writer_->scalar("step/loss", run.loss, run.step);
  }
  void epoch_end(Run &run) override {
    if (!run.leads) return;
    if (!writer_) open(run.step);
    for (const std::string &name : run.history.names())
      if (const History::Point point = run.history.series(name).back(); point.step == run.epoch)
        writer_->scalar(name, point.value, run.step);
    // A checkpoint may follow, behind which nobody writes this again.
    writer_->flush();
  }

private:
  void open(std::int64_t step) {
    writer_.emplace(folder_,
                    step > 1 ? events::WriterOptions{.resumed_at = step} : events::WriterOptions{});
  }

  std::string folder_;
  std::optional<events::Writer> writer_;
  std::int64_t every_steps_;
};

class EachEpoch final : public Callback {
public:
  explicit EachEpoch(std::function<void(Run &)> function) : function_(std::move(function)) {}
  void epoch_end(Run &run) override { function_(run); }

private:
  std::function<void(Run &)> function_;
};

} // namespace

std::shared_ptr<Callback> early_stopping(const EarlyStoppingOptions &options,
                                         std::source_location where) {
  const CallSite site(where);
  if (options.patience < 1)
    throw ValueError("early_stopping: patience is " + std::to_string(options.patience) +
                     ", but must be at least 1");
  if (!(options.min_delta >= 0))
    throw ValueError("early_stopping: min_delta is " + number_text(options.min_delta) +
                     ", but must be at least 0");
  return std::make_shared<EarlyStopping>(options);
}

std::shared_ptr<Callback> event_files(const std::string &folder, std::int64_t every_steps,
                                      std::source_location where) {
  const CallSite site(where);
  check_path("event_files", folder);
  if (every_steps < 1)
    throw ValueError("event_files: every_steps is " + std::to_string(every_steps) +
                     ", but must be at least 1");
  return std::make_shared<EventFiles>(folder, every_steps);
}

std::shared_ptr<Callback> csv_log(const std::string &path, std::source_location where) {
  const CallSite site(where);
  check_path("csv_log", path);
  return on_epoch_end([path](Run &run) {
    if (run.leads) run.history.save_csv(path);
  });
}

std::shared_ptr<Callback> on_epoch_end(std::function<void(Run &)> function) {
  if (!function) throw ValueError("on_epoch_end: the function is empty");
  return std::make_shared<EachEpoch>(std::move(function));
}

} // namespace weft::train
