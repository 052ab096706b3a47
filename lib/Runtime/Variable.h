// The state behind a variable.
#pragma once

#include <mutex>
#include <string>

#include <weft/shape.h>
#include <weft/tensor.h>

namespace weft {

/// Value, name and type of a variable; the type never changes.
class VariableState {
public:
  VariableState(Tensor value, std::string name, bool trainable);

  const std::string &name() const { return name_; }
  bool trainable() const { return trainable_; }
  const TensorType &type() const { return type_; }

  Tensor load() const;
  /// `value` must be of the variable's type.
  void store(Tensor value);

  /// Holds the variable for a compiled call that will write it in place: until unlock_update other
  /// threads wait, so that they see the value before or after the call and nothing in between.
  void lock_update() { mutex_.lock(); }
  void unlock_update() { mutex_.unlock(); }
  /// The contiguous elements of the value, which nobody else holds: the tensor's own when the
  /// variable is its only owner, otherwise those of a copy. Call between lock and unlock.
  void *update_buffer();

private:
  // Recursive: a print sink called from inside the update may read the variable.
  mutable std::recursive_mutex mutex_;
  Tensor value_;
  const std::string name_;
  const bool trainable_;
  const TensorType type_;
};

/// Throws DTypeError or ShapeError, naming the variable, unless `type` is the variable's.
void check_assignable(const VariableState &variable, const TensorType &type);

} // namespace weft
