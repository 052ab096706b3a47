// The state behind a variable.
#pragma once

#include <mutex>
#include <span>
#include <string>
#include <string_view>

#include "Support/Fork.h"
#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft {

/// Value, name and type of a variable; the type never changes. All members may be called from any
/// thread: a reader sees the value before or after an update and nothing in between.
class VariableState {
public:
  /// Throws StateError for an undefined or a traced value.
  VariableState(const Tensor &value, std::string name, bool trainable);
  /// Stands for a variable of a call while the function is traced, and has no value.
  VariableState(TensorType type, std::string name, bool trainable)
      : name_(std::move(name)), trainable_(trainable), type_(std::move(type)), stands_in_(true) {}

  const std::string &name() const { return name_; }
  bool trainable() const { return trainable_; }
  const TensorType &type() const { return type_; }
  /// Whether it stands for a variable of a call.
  bool stands_in() const { return stands_in_; }

  /// The present value. Throws StateError inside a host call of a compiled call that updates the
  /// variable: which value that is would depend on the compiler. So do the members that change it,
  /// inside host calls and sinks of compiled calls that read or update it.
  Tensor load() const;
  /// `value` must be of the variable's type.
  void store(const Tensor &value);
  /// Throws StateError where store() would, for who is to assign several variables or none.
  void check_may_assign() const;
  /// Replaces the value by `update(value)`, which is of the variable's type, as one step.
  template <class Update>
  void modify(const Update &update) {
    check_may_assign();
    const std::lock_guard lock(mutex_);
    replace(update(load()));
  }

  /// Holds the variable for a compiled call that will write it in place: until unlock_update other
  /// threads wait. Whoever holds several locks them in the order of their addresses. Throws
  /// StateError if a call around this one, on the same thread, holds it or has read it.
  void lock_update();
  void unlock_update();
  /// The contiguous elements of the value, which nobody else holds: the tensor's own when the
  /// variable is its only owner, otherwise those of a copy. Call between lock and unlock.
  void *update_buffer();

private:
  /// Throws StateError if there is no value.
  void check_value() const;
  void replace(const Tensor &value);
  void refuse_read() const;
  /// Finds out, with the lock held, what a fork left of the value.
  void check_fork() const;

  // Recursive: a print sink called from inside the update may read the variable.
  mutable forks::Mutex<std::recursive_mutex> mutex_;
  mutable bool updating_ = false; ///< the elements are being written in place
  mutable bool lost_ = false;     ///< they were, by a thread that a fork left behind
  Tensor value_;                  ///< contiguous
  const std::string name_;
  const bool trainable_;
  const TensorType type_;
  const bool stands_in_ = false;
};

/// Says which variables compiled code uses, for as long as it runs: what it calls on this thread
/// must not assign them, for it has read their values.
class VariablesInUse {
public:
  /// They must live as long as this.
  explicit VariablesInUse(std::span<VariableState *const> variables);
  ~VariablesInUse();
  VariablesInUse(const VariablesInUse &) = delete;
  VariablesInUse &operator=(const VariablesInUse &) = delete;

  /// Whether a call of this thread uses it.
  static bool has(const VariableState &variable);

private:
  std::span<VariableState *const> variables_;
  const VariablesInUse *outer_;
  static thread_local constinit const VariablesInUse *innermost_
      __attribute__((tls_model("initial-exec")));
};

/// Throws DTypeError or ShapeError, naming `op` and the variable, unless a value of that type may
/// be assigned; unknown sizes fit any.
void check_assignable(std::string_view op, const VariableState &variable, const TensorType &type);

} // namespace weft
