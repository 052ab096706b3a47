// Where a run of `train::fit` is, and those who are told of it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <weft/checkpoint.h>
#include <weft/events.h>
#include <weft/nn/model.h>
#include <weft/train/history.h>

namespace weft::train {

/// Where a run is. Callbacks may add to the history, and stop the run.
struct Run {
  std::int64_t epochs = 0;                  ///< how many there will be at most
  std::int64_t epoch = 0;                   ///< the present one, from 1
  std::int64_t step = 0;                    ///< updates so far, of all epochs
  Tensor loss;                              ///< of the last batch
  History history;                          ///< of the epochs so far
  std::vector<nn::NamedVariable> variables; ///< the model's
  /// Whether this process speaks for the run, as rank 0 of several does: shows, prints and writes.
  bool leads = true;
  /// Once true, the run is over behind what is being done: an epoch is cut short, and with
  /// checkpoints another call does not go on either.
  bool stop = false;
  /// Once true, `fit` returns for now, in the middle of an epoch too; with checkpoints another call
  /// goes on there.
  bool pause = false;
};

/// Hears of a run's progress. All members do nothing by default.
class Callback {
public:
  Callback() = default;
  virtual ~Callback() = default;
  Callback(const Callback &) = delete;
  Callback &operator=(const Callback &) = delete;

  /// Before the first epoch, and before a checkpoint is restored.
  virtual void begin(Run &) {}
  virtual void epoch_begin(Run &) {}
  /// After each update.
  virtual void step_end(Run &) {}
  /// After each epoch, whose numbers are in the history.
  virtual void epoch_end(Run &) {}
  /// When the run is over, by `stop` or after the last epoch; not when it pauses.
  virtual void end(Run &) {}
  /// What checkpoints keep of it, under names that no other callback has.
  virtual std::vector<CheckpointPart> parts() { return {}; }
};
using Callbacks = std::vector<std::shared_ptr<Callback>>;

struct EarlyStoppingOptions {
  std::string monitor = "val_loss"; ///< a series of the history
  Goal goal = Goal::lowest;
  /// How many epochs may pass without a better value.
  std::int64_t patience = 5;
  /// By how much a value must be better to count.
  double min_delta = 0;
  /// Whether the model ends with the weights of the best epoch.
  bool restore_best = true;
};
/// Stops when a series gets no better. Throws, at the end of the first epoch, IndexError if there
/// is no such series; ValueError for a patience below 1 or a delta that is negative.
std::shared_ptr<Callback> early_stopping(const EarlyStoppingOptions &options = {},
                                         std::source_location where = WEFT_HERE);

/// Writes an event file into a folder: the numbers of each epoch as scalars, and the loss of every
/// `every_steps` steps as "step/loss", all at the number of updates so far. Where a run goes on,
/// what an earlier file has of later steps is dropped by those who read it. Throws ValueError
/// unless every_steps is at least 1.
std::shared_ptr<Callback> event_files(const std::string &folder, std::int64_t every_steps = 100,
                                      std::source_location where = WEFT_HERE);

/// Writes the history as a CSV file after each epoch.
std::shared_ptr<Callback> csv_log(const std::string &path, std::source_location where = WEFT_HERE);

/// Calls a function after each epoch.
std::shared_ptr<Callback> on_epoch_end(std::function<void(Run &)> function);

} // namespace weft::train
