// The optimizer's state of a run whose ranks each keep a part of it.
#include <algorithm>

#include "Checkpoint/Checkpoint.h"
#include "NN/Optimizers/State.h"
#include "Train/Replicas.h"
#include <weft/error.h>

namespace weft::train::detail {

namespace {

/// Has an optimizer give nothing its first value while it lives.
class Held {
public:
  explicit Held(optimizers::detail::OptimizerState &state) : state_(state) { state_.hold(true); }
  ~Held() { state_.hold(false); }
  Held(const Held &) = delete;
  Held &operator=(const Held &) = delete;

private:
  optimizers::detail::OptimizerState &state_;
};

} // namespace

bool Replicas::shards() const {
  return asked() && settings_.optimizer != nullptr &&
         settings_.optimizer->internals()->shards() != nullptr;
}

/// Throws for a state that cannot be cut as it is asked for.
void Replicas::check_shards() const {
  const bool wanted = settings_.parallel.shard_state != ShardState::none;
  if (!asked() && wanted)
    throw ValueError("fit: shard_state is for the ranks of a parallel run, and this call has none: "
                     "ask for replicas");
  if (wanted && settings_.optimizer == nullptr)
    throw ValueError("fit: shard_state is for optimizers of the library, whose state it can cut: "
                     "leave it out");
  if (wanted)
    optimizers::detail::check_may_shard(*settings_.optimizer->internals(),
                                        settings_.parallel.shard_state >= ShardState::gradients);
  if (const std::optional<Variable> weight = cut_weight(); weight && !asked())
    throw StateError(
        "fit: " + said_of_cut("the variable '" + weight->name() + "'", weight->ranks()) +
        ", and this call is of one process alone: ask for replicas, or call the "
        "optimizer's gather_state() first");
  const auto over =
      settings_.optimizer == nullptr ? nullptr : settings_.optimizer->internals()->shards();
  if (over != nullptr && (!asked() || over->ranks != ranks_))
    throw StateError(said_of_cut("fit: the optimizer's state", over->ranks) + ", of which " +
                     (asked() ? "this run has others" : "this call is none") +
                     ": call gather_state() first");
}

/// As long as the result lives, what is to be cut is given no first values, unless a rank has them
/// already.
std::shared_ptr<void> Replicas::hold_state() {
  if (ranks_ == 1) return nullptr;
  const optimizers::Optimizer *const optimizer = settings_.optimizer;
  bool any = false;
  together([&] {
    const bool own = optimizer != nullptr && optimizer->internals()->has_values();
    for (const std::string &rank :
         exchange_bytes(caller_, group_, "the beginning", std::string(1, own ? '1' : '0')))
      any = any || rank == "1";
  });
  if (any || settings_.parallel.shard_state == ShardState::none || optimizer == nullptr)
    return nullptr;
  return std::make_shared<Held>(*optimizer->internals());
}

/// Cuts the optimizer's state, or joins what another run has cut.
void Replicas::shard(std::shared_ptr<void> held) {
  held.reset();
  const optimizers::Optimizer *const optimizer = settings_.optimizer;
  if (optimizer == nullptr) return;
  const ShardState wanted = settings_.parallel.shard_state;
  const bool weights = wanted == ShardState::weights;
  const bool has_parts = cut_weight().has_value();
  if (has_parts ? !weights
                : shards() && (wanted == ShardState::none || shards_weights() != weights))
    together([&] { optimizer->gather_state(settings_.where); });
  switch (wanted) {
  case ShardState::none: return;
  case ShardState::optimizer:
    if (!optimizer->internals()->keeps_any()) return;
    [[fallthrough]];
  case ShardState::gradients:
  case ShardState::weights:
    // Also where it keeps nothing, and the gradients are all that there is to cut.
    optimizers::detail::shard(*optimizer->internals(), group_, weights, settings_.where);
  }
}

bool Replicas::shards_gradients() const {
  return settings_.parallel.shard_state >= ShardState::gradients && shards();
}

/// A variable of the optimizer's that is cut, by whomever; nothing if there is none.
std::optional<Variable> Replicas::cut_weight() const {
  if (settings_.optimizer == nullptr) return std::nullopt;
  for (const nn::NamedVariable &weight : settings_.optimizer->internals()->listed())
    if (weight.variable.ranks() > 1) return weight.variable;
  return std::nullopt;
}

bool Replicas::shards_weights() const {
  return shards() && settings_.optimizer->internals()->shards()->weights;
}

void Replicas::find_parts() {
  if (part_of_ || !shards_gradients()) return;
  optimizers::detail::OptimizerState &state = *settings_.optimizer->internals();
  const optimizers::detail::Entries entries = state.all(); // cuts it, if all have values by now
  const std::shared_ptr<const optimizers::detail::Shards> shards = state.shards();
  if (!shards->cut) return;
  std::vector<std::size_t> numbers; // of the optimizer
  for (const nn::NamedVariable &gradient : parts_.replicas.variables()) {
    const auto entry = std::ranges::find_if(
        entries, [&](const auto &one) { return one->weight.variable == gradient.variable; });
    if (entry == entries.end()) return; // an update by whole gradients says so
    numbers.push_back(static_cast<std::size_t>(entry - entries.begin()));
  }
  part_of_ = [shards, numbers = std::move(numbers)](std::size_t gradient, int rank) {
    const optimizers::detail::Piece piece = shards->cut->piece(numbers[gradient], rank);
    return std::pair(piece.begin, piece.end);
  };
}

bool Replicas::is_optimizer(const CheckpointPart &part) const {
  weft::detail::PartCollector parts;
  part.collect(parts);
  return std::ranges::any_of(parts.variables, [&](const auto &one) {
    return one.variable == settings_.optimizer->internals()->step;
  });
}

} // namespace weft::train::detail
