// What one replica of several has of variables.
#pragma once

#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "Runtime/Variable.h"
#include <weft/device.h>

namespace weft {

/// What one replica of several has of variables, in its Scope: those that it writes it has apart
/// from all others, and those that it reads it finds on its device, where copies are kept until
/// the variable is written. Variables without values, stand-ins of traces and what is cut over
/// ranks are as everywhere.
class ReplicaVariables {
public:
  /// Without a device variables are read where they are. First values of variables, which all
  /// replicas have, go to `home`, or else where the thread's new tensors do.
  explicit ReplicaVariables(std::optional<Device> device = {}, std::optional<Device> home = {})
      : device_(device), home_(home) {}
  ReplicaVariables(const ReplicaVariables &) = delete;
  ReplicaVariables &operator=(const ReplicaVariables &) = delete;

  /// While it lives, this thread runs that replica; with null, none.
  class Scope {
  public:
    explicit Scope(ReplicaVariables *replica)
        : outer_(std::exchange(VariableState::replica_, replica)) {}
    ~Scope() { VariableState::replica_ = outer_; }
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    ReplicaVariables *const outer_;
  };
  /// That of the innermost Scope of this thread, or null.
  static ReplicaVariables *current() { return VariableState::replica_; }
  const std::optional<Device> &device() const { return device_; }

  struct Entry {
    std::shared_ptr<VariableState> variable;
    std::shared_ptr<VariableState> own; ///< what the replica has in its place
  };
  /// What it has written and what it was given, in the order of the first time.
  const std::vector<Entry> &entries() const { return entries_; }
  /// What it has in a variable's place; null if it has read it at most.
  VariableState *find(const VariableState &variable) const;
  /// Gives it a value of its own.
  void give(VariableState &variable, const Tensor &value);
  /// Whether it was the one to give a variable its first value.
  bool initialized_any() const { return initialized_any_; }

private:
  friend class VariableState;
  /// What it writes in a variable's place; null for one that is as everywhere.
  VariableState *to_write(VariableState &variable);
  /// The value of one that it has not written.
  Tensor read(const VariableState &variable) const;
  bool moves(const VariableState &variable) const;

  std::vector<Entry> entries_;
  std::unordered_map<const VariableState *, VariableState *> own_;
  const std::optional<Device> device_, home_;
  bool initialized_any_ = false;
};

} // namespace weft
