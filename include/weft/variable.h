// Variables: named state that lives between calls.
#pragma once

#include <memory>
#include <string>

#include <weft/tensor.h>

namespace weft {

class VariableState;

/// A named tensor that can be given new values of the same dtype and shape. Copies of the handle
/// are the same variable. Reads and assigns are atomic and may come from any thread; inside a
/// traced function they keep program order, and the function sees the value at the time of the
/// call.
class Variable {
public:
  /// Starts with the value `initial`; a variable without a name gets one of its own ("variable_3").
  /// Inside a traced function it is made once, while the function is traced, with the value that
  /// `initial` has then. Throws StateError for an undefined tensor, or a value that depends on
  /// arguments of a trace.
  explicit Variable(const Operand &initial, std::string name = "", bool trainable = true);

  // A move is a copy: no handle is ever without its variable.
  Variable(const Variable &) = default;
  Variable &operator=(const Variable &) = default;

  const std::string &name() const;
  bool trainable() const;
  DType dtype() const;
  Shape shape() const;

  /// The present value, as an op that tapes and traces see.
  Tensor value(std::source_location where = WEFT_HERE) const;

  /// Gives it a new value, adds to it, subtracts from it. A C++ scalar takes the variable's dtype
  /// and stands for all elements. Throws DTypeError and ShapeError that name the variable.
  const Variable &assign(const Operand &value) const;
  const Variable &assign_add(const Operand &value) const;
  const Variable &assign_sub(const Operand &value) const;

  friend bool operator==(const Variable &a, const Variable &b) { return a.state_ == b.state_; }

  /// For the library itself.
  explicit Variable(std::shared_ptr<VariableState> state) : state_(std::move(state)) {}
  const std::shared_ptr<VariableState> &state() const { return state_; }

private:
  std::shared_ptr<VariableState> state_;
};

} // namespace weft
