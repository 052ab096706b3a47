// What an optimizer consists of: its method, its options, and its state for each variable.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "NN/Optimizers/Shards.h"
#include "NN/Optimizers/TensorArithmetic.h"
#include "NN/Optimizers/UpdateKernels.h"
#include "Support/Fork.h"
#include <weft/optimizers.h>

namespace weft {
struct VariableCut;
} // namespace weft

namespace weft::optimizers {

/// A method: which slots it keeps for each variable, and its formula.
class Rule {
public:
  virtual ~Rule() = default;
  /// The names of its slots, each of the variable's shape.
  virtual std::span<const char *const> slots() const = 0;
  /// What a slot starts with.
  virtual double initial(std::size_t /*slot*/) const { return 0; }
  /// The numbers that the formula takes besides, as f64 scalars, of the learning rate and the
  /// number of the update, from 1, f64 scalars too.
  virtual std::vector<Tensor> scalars(const Tensor &rate, const Tensor &t) const = 0;
  /// Whether an element of the weight follows from the elements at its place alone.
  virtual bool is_elementwise() const { return true; }
  /// Whether the decay is part of its formula, which has it as the last scalar, 0 for what does not
  /// decay.
  virtual bool owns_decay() const { return false; }
  /// Whether it is w -= rate g, so that rows without a gradient stay.
  virtual bool is_plain() const { return false; }

  virtual void update(TensorArithmetic &w, const TensorArithmetic &g, TensorArithmetic *slots,
                      const TensorArithmetic *scalars) const = 0;
  /// All of it for a block of elements. Only where it is elementwise.
  virtual void update(const UpdateKernels<float> &kernels,
                      const UpdateBlock<float> &block) const = 0;
  virtual void update(const UpdateKernels<double> &kernels,
                      const UpdateBlock<double> &block) const = 0;
};

namespace detail {

/// The options that all have, without the learning rate.
struct CommonOptions {
  double weight_decay = 0;
  std::vector<std::string> no_decay;
  std::optional<double> clip_value, clip_norm, clip_global_norm, average;
  std::int64_t accumulate = 1;
};

/// Names of options and their values as text, where they have one.
using OptionTexts = std::vector<std::pair<std::string, std::string>>;

/// A variable that is updated, and what is kept for it: variables that have no values until it has
/// one.
struct Entry {
  explicit Entry(nn::NamedVariable weight) : weight(std::move(weight)) {}

  /// Gives what is kept its first values if the weight has one; whether it has. Slots start with
  /// what `rule` says.
  bool prepare(const Rule &rule) const;
  /// Keeps a rank's part of what is kept, and of the weight if that is cut too, with first values
  /// if there are none, and gives the memory of the rest back. The weight has a value.
  void cut(const Piece &own, const Shards &over, const Rule &rule);
  /// Has the state whole again, of these values: of the weight, if it is cut, the slots, the
  /// average and what is accumulated.
  void join(const std::vector<Tensor> &values);

  nn::NamedVariable weight;
  bool decays = false;
  std::vector<Variable> slots;
  std::optional<Variable> average, accumulated;
  std::optional<Piece> piece; ///< the elements that are kept here, where that is a part
  /// Where that part is as those of cut weights are: over which group, by its number.
  std::optional<std::int64_t> cuts_over;

  /// The cut of the weight, if its parts are those of this state; null otherwise.
  std::shared_ptr<const VariableCut> own_cut() const;

  /// All that an update changes: the weight first.
  std::vector<Variable> all() const;

private:
  template <class Exchange>
  void exchange_kept(const Exchange &exchange);
};

/// They keep their addresses: traces borrow the variables in them.
using Entries = std::vector<std::shared_ptr<Entry>>;

/// Throws ValueError, which says what both are, unless gradients of `given` are of these variables.
void check_model(const std::string &kind, const std::vector<nn::NamedVariable> &given,
                 const Entries &entries);

struct OptimizerState {
  OptimizerState(const char *kind, std::string name, Listing listing, LearningRate rate,
                 CommonOptions common, std::shared_ptr<const Rule> rule, OptionTexts options);
  /// The same with handles of its own, for who exchanges variables.
  explicit OptimizerState(const std::shared_ptr<OptimizerState> &other);
  OptimizerState(const OptimizerState &) = delete;
  OptimizerState &operator=(const OptimizerState &) = delete;
  ~OptimizerState() = default;

  /// The entries of the variables that have values, with slots that have values.
  Entries prepared();
  /// The entries of all variables.
  Entries all();
  /// Looks for variables that the model has come to hold; whether there are others.
  bool relist();
  /// Who has the parts of the state; null if it is whole.
  std::shared_ptr<const Shards> shards() const;
  /// Cuts the state, now or when all variables have values. Throws StateError if it is cut over
  /// other ranks.
  void shard(Shards over);
  /// Has the state whole again, of `values` of each entry.
  void unshard(const std::vector<std::vector<Tensor>> &values);
  /// While it holds, nothing is given its first value: what is about to be cut is never whole.
  void hold(bool holds);
  /// Whether something that it keeps has a value by now.
  bool has_values() const;
  /// Whether it keeps anything for a variable.
  bool keeps_any() const {
    return !rule->slots().empty() || common.average || common.accumulate > 1;
  }
  /// Whether no handle of a copy of `other` was exchanged.
  bool has_the_variables_of(OptimizerState &other) const;
  /// The variables of the model, whether they have values or not.
  std::vector<nn::NamedVariable> listed() const { return listing(); }

  const char *const kind;
  const std::string name;
  const Listing listing;
  LearningRate rate;
  const CommonOptions common;
  const std::shared_ptr<const Rule> rule;
  const OptionTexts options; ///< all that it was constructed with, but for its name
  Variable step;
  std::optional<Variable> micro; ///< calls since the last update, where gradients are accumulated
  std::atomic<bool> warned = false;
  std::atomic<bool> gets_parts = false; ///< see PartsOfGradients

  const std::shared_ptr<OptimizerState> origin; ///< whose handles were copied; null if none were
  std::vector<Variable> original_weights;       ///< of the copied entries, in their order

  mutable forks::Mutex<std::mutex> mutex; ///< of what follows
  bool complete = false;                  ///< no variable is without a value any more
  bool holds = false;                     ///< first values
  std::shared_ptr<const Shards> over;     ///< see `shards`
  Entries entries;                        ///< of all variables

private:
  /// Brings the entries up to date with what is listed, with the lock held.
  void refresh(std::vector<nn::NamedVariable> listed);
  /// All of them, once no variable is without a value.
  std::optional<Entries> complete_entries();
  std::shared_ptr<Entry> made(nn::NamedVariable weight) const;
  /// Whether it has what an update takes, but for what is held back.
  bool is_ready(const Entry &entry) const;
  void cut_all();
};

} // namespace detail

/// Checks `common` and fills in what an optimizer is made of. Throws ValueError and DTypeError.
std::shared_ptr<detail::OptimizerState> make_state(const char *kind, detail::Listing listing,
                                                   LearningRate rate, std::string name,
                                                   detail::CommonOptions common,
                                                   std::shared_ptr<const Rule> rule,
                                                   detail::OptionTexts options);

/// Throws ValueError unless 0 <= value < below, which is infinity for any finite number.
void check_option(const char *kind, const char *option, double value, double below);

/// Updates all weights by these gradients, undefined where there is none, in one pass over memory.
/// Only where nothing records and the rule is elementwise. `scales` are what gradients are
/// multiplied by, for all or each; none if empty. Where the state is cut, `parts` are this rank's
/// of the weights, which are updated instead, and so is not the step; the gradients are of them.
void update_in_one_pass(const detail::OptimizerState &state, const detail::Entries &entries,
                        std::span<const Tensor> gradients, std::span<const Tensor> scales,
                        const Tensor &rate, std::span<const Tensor> scalars, const Tensor &average,
                        std::span<const Tensor> parts = {});

} // namespace weft::optimizers
