// Scopes of single replicas, over their variables and the streams of generators.
#include <weft/detail/replica_scope.h>

#include <optional>
#include <utility>

#include "Ops/Draws.h"
#include "Ops/Interpreter.h"
#include "Runtime/ReplicaVariables.h"
#include <weft/ops.h>

namespace weft::detail {

namespace {

thread_local constinit std::int64_t replicas_of_present = 0;

bool is_traced_now() {
  const Interpreter *current = Interpreter::current();
  return current != nullptr && current->traces();
}

} // namespace

struct ReplicaScope::State {
  State(const Variable &number_, std::int64_t own, std::int64_t replicas,
        const std::optional<Device> &device)
      : number(number_.state().get()), streams(number_),
        outer(std::exchange(replicas_of_present, replicas)) {
    if (is_traced_now()) {
      traced.emplace();
      return;
    }
    variables.emplace(device);
    variables->give(*number_.state(), tensor(own));
    present.emplace(&*variables);
  }
  ~State() { replicas_of_present = outer; }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  const VariableState *number;
  random::detail::ReplicaStreams streams;
  std::optional<TracedWrites> traced;
  std::optional<ReplicaVariables> variables;
  std::optional<ReplicaVariables::Scope> present;
  std::int64_t outer;
};

ReplicaScope::ReplicaScope(const Variable &number, std::int64_t own, std::int64_t replicas,
                           std::optional<Device> device)
    : state_(std::make_unique<State>(number, own, replicas, device)) {}
ReplicaScope::~ReplicaScope() = default;

// What the replica itself made, and nobody else has, is gone with it.
std::vector<ReplicaScope::Written> ReplicaScope::written() const {
  std::vector<Written> all;
  const auto add = [&](const std::shared_ptr<VariableState> &variable, const Tensor &value) {
    const Variable of(variable);
    all.push_back({of, value, aggregation_of(of)});
  };
  if (state_->traced)
    for (const auto &variable : state_->traced->variables())
      if (!variable->stands_in() && variable.use_count() > 1) add(variable, {});
  if (state_->variables)
    for (const auto &[variable, own] : state_->variables->entries())
      if (variable.get() != state_->number && variable.use_count() > 1) add(variable, own->load());
  return all;
}

std::int64_t ReplicaScope::current() { return replicas_of_present; }

struct OutsideReplicas::State {
  State() : outer(std::exchange(replicas_of_present, 0)) {}
  ~State() { replicas_of_present = outer; }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  random::detail::ReplicaStreams::Off streams;
  ReplicaVariables::Scope variables{nullptr};
  TracedWrites swallowed;
  std::int64_t outer;
};

OutsideReplicas::OutsideReplicas() : state_(std::make_unique<State>()) {}
OutsideReplicas::~OutsideReplicas() = default;

void aggregate_by(const Variable &variable, Aggregation how) {
  variable.state()->aggregates_by(how);
}

Aggregation aggregation_of(const Variable &variable) {
  const VariableState &state = *variable.state();
  if (const std::optional<Aggregation> said = state.aggregation()) return *said;
  const DType dtype = state.dtype();
  return is_inexact(dtype) || is_storage(dtype) ? Aggregation::mean : Aggregation::max;
}

} // namespace weft::detail
