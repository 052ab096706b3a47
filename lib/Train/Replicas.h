// The replicas of a run: which this rank has, what it computes for each, and how all of it becomes
// one update, the same on every rank.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "Distributed/Background.h"
#include "Runtime/ReplicaVariables.h"
#include <weft/train/fit.h>

namespace weft::train::detail {

/// A number that goes to the device of what it is used with.
Tensor scalar_of(double value);

class Replicas {
public:
  /// Throws ValueError for options that make no sense.
  Replicas(FitParts &parts, const FitSettings &settings);

  /// Whether the run is one of several ranks or replicas at all, be it of one of each.
  bool asked() const { return settings_.parallel.replicas != 0; }
  /// Whether steps are those of replicas.
  bool any() const { return count_ > 1 || !settings_.parallel.devices.empty(); }
  bool leads() const { return rank_ == 0; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  /// Whether each rank has a part of the optimizer's state.
  bool shards() const;
  /// Their number, once it is settled; what checkpoints keep.
  std::int64_t &count() { return count_; }

  /// Compares what ranks are about to do, and gives all of them the values that rank 0 has.
  void begin();
  /// Settles the number of replicas, when a checkpoint was restored or not: of that step.
  void settle(std::optional<std::int64_t> restored);
  /// The loss of the next batch, by which the model was updated; undefined behind the last.
  Tensor step(std::int64_t number, std::int64_t in_epoch);
  /// Tries the model on all batches; whether there was one.
  bool validate(std::int64_t epoch);
  /// That metrics were reset. Throws ValueError for one that does not begin at 0.
  void check_metrics() const;
  /// A place that all ranks come to. Each flag is then whether it was that of one of them.
  void meet(const std::string &what, std::initializer_list<bool *> flags);
  /// A text of each rank, told to all of them.
  std::vector<std::string> tell(const std::string &what, const std::string &text);
  /// Whether that part of a checkpoint is the optimizer.
  bool is_optimizer(const CheckpointPart &part) const;
  /// Tells the others, which wait for this rank, of the exception that is being handled.
  void refuse() noexcept;

private:
  using Rows = ReplicaParts::Rows;
  /// A variable that replicas write, and its value before the step.
  struct Written {
    std::shared_ptr<VariableState> variable;
    Tensor before;
  };
  /// What a replica gives: what is summed over them, and what the largest is taken of.
  struct Leaf {
    Rows sums;
    std::vector<Tensor> others; ///< values of variables that are neither metrics nor generators
    Rows metrics;
    std::vector<Tensor> draws; ///< how far generators went on
    double weight = 0;         ///< its share of the rows
  };

  /// Runs what all ranks do, which throws the same on all of them.
  template <class F>
  void together(const F &exchange) {
    exchanging_ = true;
    exchange();
    exchanging_ = false;
  }
  std::shared_ptr<void> hold_state();
  void check_shards() const;
  void shard(std::shared_ptr<void> held);
  /// Whether each rank gets the sums of its part of the gradients alone.
  bool shards_gradients() const;
  std::optional<Variable> cut_weight() const;
  /// Whether weights are cut, or will be when all have values.
  bool shards_weights() const;
  /// Which part is whose, by numbers of gradients, if that is known by now: see `part_of_`.
  void find_parts();
  void find_metrics();
  std::int64_t rows_of(const Rows &tensors) const;
  /// Runs this rank's replicas on their rows; gives what `compute` does, reduced over all. The
  /// variables that they wrote have what all of them wrote together. `what` is the step in words,
  /// of that kind.
  template <class Compute>
  Rows run(const Rows &batch, const std::string &kind, const std::string &what,
           const Compute &compute);
  /// One replica of this rank, of a part of the rows.
  struct Part {
    std::int64_t replica;
    Rows rows;
    double weight;
  };
  Part part_of(const Rows &batch, std::int64_t rows, std::int64_t replica) const;
  /// What a replica computes, and the variables as it leaves them.
  struct Computed {
    Rows sums;
    std::unique_ptr<ReplicaVariables> variables;
  };
  template <class Compute>
  Computed compute_one(const Part &part, const Compute &compute);
  /// All replicas of this rank, the devices at once; nothing if one of them has drawn numbers of
  /// a generator that was not known.
  template <class Compute>
  std::optional<std::vector<Leaf>> run_at_once(const std::vector<Part> &parts,
                                               const Compute &compute);
  bool may_run_at_once(const std::string &kind, const Rows &batch);
  std::optional<Device> device_of(std::int64_t replica) const;
  /// Settles where the model is, if devices are named, and has all of it there.
  void settle_home();
  Leaf leaf_of(const Part &part, Computed computed) const;
  Tensor first_draw(const Written &generator, std::int64_t replica) const;
  std::size_t bucket_bytes() const;
  bool handed(std::size_t number) const;
  /// Gives a gradient of this rank's last replica, which has that weight, and those of the others
  /// to the background.
  void hand_over(std::size_t number, const Tensor &gradient, const std::vector<Leaf> &others,
                 double weight);
  bool take_note_of(const ReplicaVariables &variables);
  std::string complete(std::vector<Leaf> &leaves) const;
  Rows reduce(std::vector<Leaf> leaves, const std::string &step);
  /// What replicas add up in the middle of a step: over all of them, of those of this rank.
  Tensor sum_of(const std::vector<Tensor> &own, const std::string &where);

  FitParts &parts_;
  const FitSettings &settings_;
  distributed::Caller caller_;
  distributed::Group group_;
  std::int64_t count_ = 1;
  int rank_ = 0, ranks_ = 1;
  bool exchanging_ = false; ///< what is thrown now is thrown on all ranks
  bool short_batch_ = false;
  std::optional<Device> home_; ///< of the model, if devices are named
  bool meets_ = false;         ///< replicas of one rank have waited for each other
  bool repeats_ = false;       ///< a replica of this step is computed once more
  std::unique_ptr<distributed::BackgroundReduction> background_; ///< null without overlap
  std::vector<bool> handed_over_; ///< which results of this step the background has
  distributed::PartOf part_of_;   ///< of gradients; empty where all ranks get them whole
  std::vector<Written> metrics_, generators_, others_;
  std::set<std::string> seen_; ///< kinds of runs with the types of batches that they have had
  std::vector<std::string> metric_names_;
};

} // namespace weft::train::detail
