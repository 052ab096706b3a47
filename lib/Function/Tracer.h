// The tracer: the interpreter that records op calls as a program.
#pragma once

#include <unordered_map>

#include "Ops/Interpreter.h"
#include "Program/Program.h"

namespace weft {

/// Records the calls made while it is current. Its traced tensors hold a reference to the trace's
/// name only, so that one which escapes can say where it came from.
class Tracer final : public Interpreter {
public:
  explicit Tracer(std::string name);
  ~Tracer() override;

  /// A new input of the program.
  Tensor input(const TensorType &type);
  Tensor apply(const OpCall &call) override;
  /// Ends the trace with these results and hands out the program.
  Program finish(std::span<const Tensor> results);

private:
  struct Ref;

  /// The value of an operand: of this trace, or an eager tensor, which becomes a constant if it has
  /// one element (the compiler may fold it) and a hidden input otherwise.
  ValueId value_of(const Tensor &tensor);
  ValueId add_value(TensorType type);
  Tensor wrap(ValueId value);
  ValueId add_constant(const Tensor &tensor);
  void note_variable(const VariableRef &variable, bool written);

  Program program_;
  Ref *ref_;
  /// Values of the eager tensors seen so far, by their impl; `alive_` keeps the addresses taken.
  std::unordered_map<const void *, ValueId> captured_;
  std::vector<Tensor> alive_;
};

} // namespace weft
