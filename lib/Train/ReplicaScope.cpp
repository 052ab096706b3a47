// Scopes of single replicas, over the notes of variables and the streams of generators.
#include <weft/detail/replica_scope.h>

#include <optional>
#include <utility>

#include "Ops/Draws.h"
#include "Ops/Interpreter.h"
#include "Runtime/Variable.h"

namespace weft::detail {

namespace {

thread_local constinit std::int64_t replicas_of_present = 0;

bool is_traced_now() {
  const Interpreter *current = Interpreter::current();
  return current != nullptr && current->traces();
}

} // namespace

struct ReplicaScope::State {
  State(const Variable &number, std::int64_t replicas)
      : streams(number), writes(is_traced_now()),
        outer(std::exchange(replicas_of_present, replicas)) {}
  ~State() { replicas_of_present = outer; }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  random::detail::ReplicaStreams streams;
  WrittenVariables writes;
  std::int64_t outer;
};

ReplicaScope::ReplicaScope(const Variable &number, std::int64_t replicas)
    : state_(std::make_unique<State>(number, replicas)) {}
ReplicaScope::~ReplicaScope() = default;

std::vector<ReplicaScope::Written> ReplicaScope::written() const {
  std::vector<Written> all;
  for (const auto &[variable, before] : state_->writes.entries())
    // What the replica itself made is gone with it.
    if (!variable->stands_in() && variable.use_count() > 1) {
      const Variable of(variable);
      all.push_back({of, before, aggregation_of(of)});
    }
  return all;
}

std::int64_t ReplicaScope::current() { return replicas_of_present; }

struct OutsideReplicas::State {
  State() : outer(std::exchange(replicas_of_present, 0)) {}
  ~State() { replicas_of_present = outer; }
  State(const State &) = delete;
  State &operator=(const State &) = delete;

  random::detail::ReplicaStreams::Off streams;
  WrittenVariables swallowed;
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
