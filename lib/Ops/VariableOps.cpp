// Variables as C++ users see them: their reads and writes are op calls.
#include <weft/variable.h>

#include "Ops/Interpreter.h"
#include <weft/ops.h>
#include "Runtime/Variable.h"

namespace weft {

Variable::Variable(const Operand &initial, std::string name, bool trainable) {
  Tensor value = initial.materialize();
  if (value.traced())
    throw StateError("Variable: the initial value of '" + name +
                     "' is a value of a trace; make variables outside traced functions");
  state_ = std::make_shared<VariableState>(std::move(value), std::move(name), trainable);
}

const std::string &Variable::name() const { return state_->name(); }
bool Variable::trainable() const { return state_->trainable(); }
DType Variable::dtype() const { return state_->type().dtype; }
Shape Variable::shape() const { return state_->type().shape; }

Tensor Variable::value() const { return dispatch(OpCode::read, {}, Attrs{state_}); }

namespace {

void write(const std::shared_ptr<VariableState> &state, OpCode op, const Operand &value) {
  const Tensor operands[] = {value.materialize(value.weak() ? state->type().dtype : value.dtype())};
  check_assignable(*state, operands[0].type());
  dispatch(op, operands, Attrs{state});
}

} // namespace

const Variable &Variable::assign(const Operand &value) const {
  write(state_, OpCode::assign, value);
  return *this;
}

const Variable &Variable::assign_add(const Operand &value) const {
  write(state_, OpCode::assign_add, value);
  return *this;
}

const Variable &Variable::assign_sub(const Operand &value) const {
  return assign_add(negate(value.materialize(value.weak() ? dtype() : value.dtype())));
}

Operand::Operand(const Variable &variable) : Operand(Owned{}, variable.value()) {}

} // namespace weft
