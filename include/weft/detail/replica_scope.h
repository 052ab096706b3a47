// What a program does for one replica of several: its own random numbers, and the variables that it
// writes, which replicas then join.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include <weft/device.h>
#include <weft/variable.h>

namespace weft::detail {

/// How the values that replicas give a variable become one.
enum class Aggregation : std::uint8_t {
  mean, ///< of floating ones, unless something else is said
  max,  ///< of all others, and the states of generators
  sum,  ///< what is counted from 0
  same  ///< all replicas write the same, by an update of theirs
};

/// While it lives, this thread runs one replica, at once or in a trace: draws are of a stream of
/// its own, first values of variables excepted. What it writes at once it has apart, and all others
/// do not see it; what it writes in a trace is noted. Calls of traced functions have traces apart.
/// Scopes end in the opposite order.
class ReplicaScope {
public:
  /// `number` is an i64 scalar, the number of a replica, which draws read when they are made: at
  /// once `own` in this one. Variables are read on the device, if one is given.
  ReplicaScope(const Variable &number, std::int64_t own, std::int64_t replicas,
               std::optional<Device> device = {});
  ~ReplicaScope();
  ReplicaScope(const ReplicaScope &) = delete;
  ReplicaScope &operator=(const ReplicaScope &) = delete;

  struct Written {
    Variable variable;
    Tensor value; ///< its own; undefined in a trace
    Aggregation how;
  };
  /// In the order of first writes, without arguments of functions.
  std::vector<Written> written() const;

  /// Of how many replicas the present scope is one; 0 outside.
  static std::int64_t current();

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// While it lives, nothing is noted, variables are those of all, and draws are of the generators
/// themselves: what all replicas do together.
class OutsideReplicas {
public:
  OutsideReplicas();
  ~OutsideReplicas();
  OutsideReplicas(const OutsideReplicas &) = delete;
  OutsideReplicas &operator=(const OutsideReplicas &) = delete;

private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Says it of a variable, from now on.
void aggregate_by(const Variable &variable, Aggregation how);
/// What was said of it, or what its dtype says.
Aggregation aggregation_of(const Variable &variable);

} // namespace weft::detail
