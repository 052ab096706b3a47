// Variables as C++ users see them: their reads and writes are op calls.
#include <weft/variable.h>

#include <atomic>

#include "Device/Device.h"
#include "Ops/Draws.h"
#include "Ops/FirstValues.h"
#include "Ops/Interpreter.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include <weft/ops.h>

namespace weft {

namespace {

std::string own_name() {
  static std::atomic<int> count{0};
  return "variable_" + std::to_string(count.fetch_add(1, std::memory_order_relaxed) + 1);
}

/// `value` as the variable takes it: a scalar in its dtype, repeated to its shape.
Tensor fitting(std::string_view op, const VariableState &state, const Operand &value) {
  if (value.undefined())
    throw StateError(std::string(op) + ": the value for the variable '" + state.name() +
                     "' is an undefined tensor");
  // A scalar takes a dtype of its kind or of a wider one, as next to a tensor; it loses nothing.
  if (value.weak() && value.weak_kind() > kind_of(state.type().dtype))
    throw DTypeError(std::string(op) + ": the variable '" + state.name() + "' is " +
                     to_string(state.type()) + ", but the value is " +
                     std::string(detail::number_in_words(value.weak_kind())));
  Tensor tensor = value.weak() ? value.materialize(state.type().dtype) : value.materialize();
  if (value.weak() && !state.type().shape.empty()) {
    // Repeated beside what it meets; in a trace it is a constant.
    if (device::scopes_count()) tensor = detail::placed_on(state.device(), std::move(tensor));
    tensor = broadcast(tensor, state.type().shape);
  }
  check_assignable(op, state, detail::type_of(tensor));
  // Sizes that a trace does not know are compared when it runs.
  if (!detail::type_of(tensor).shape.is_static()) tensor = broadcast(tensor, state.type().shape);
  return tensor;
}

} // namespace

Variable::Variable(const Operand &initial, std::string name, bool trainable) {
  const CompositeCall site("Variable", initial.where());
  const bool made_up = name.empty();
  if (made_up) name = own_name();
  Tensor value = initial.undefined() ? Tensor() : initial.materialize();
  Interpreter *interpreter = Interpreter::current();
  // Inside a trace it is made now, and once, where this thread's new tensors go.
  if (interpreter != nullptr && value.defined() && value.traced())
    value = interpreter->initial_value(value, name);
  const bool is_new = initial.weak() || (value.defined() && value.impl()->uncommitted);
  if (is_new || (value.defined() && !device::scopes_count())) {
    const device::ScopesCount on_devices(true);
    value = detail::placed(std::move(value));
  }
  if (value.defined() && !value.traced()) value = detail::first_value(std::move(value));
  state_ = std::make_shared<VariableState>(value, std::move(name), trainable);
  if (made_up) state_->name_is_made_up();
  if (interpreter != nullptr) interpreter->note_made(state_);
}

Variable Variable::uninitialized(DType dtype, VariableInitializer initializer, std::string name,
                                 bool trainable) {
  const bool made_up = name.empty();
  if (made_up) name = own_name();
  auto state =
      std::make_shared<VariableState>(dtype, std::move(initializer), std::move(name), trainable);
  if (made_up) state->name_is_made_up();
  if (Interpreter *interpreter = Interpreter::current()) interpreter->note_made(state);
  return Variable(std::move(state));
}

bool Variable::initialized() const { return state_->initialized(); }
int Variable::ranks() const {
  const auto cut = state_->cut();
  return cut == nullptr ? 1 : cut->ranks;
}

namespace {

/// A first value, drawn now, also while a function is traced.
Tensor drawn(const VariableState &state, const VariableInitializer &initializer, const Shape &shape,
             const std::optional<std::uint64_t> &seed) {
  if (initializer == nullptr)
    throw StateError("initialize: the variable '" + state.name() +
                     "' is the state of an optimizer, which gives it its first value");
  const Interpreter::Scope eager(nullptr);
  const random::detail::ReplicaStreams::FirstValues the_same_in_all;
  const device::ScopesCount on_devices(true);
  const Tensor value = initializer(shape, state.dtype(), seed);
  const TensorType wanted{state.dtype(), shape};
  if (!value.defined() || value.type() != wanted)
    throw ShapeError("initialize: the variable '" + state.name() + "' is " + to_string(wanted) +
                     ", but its initializer gave " +
                     (value.defined() ? to_string(value.type()) : "an undefined tensor"));
  return detail::first_value(value);
}

} // namespace

const Variable &Variable::initialize(const Shape &shape, std::source_location where) const {
  const CompositeCall site("initialize", where);
  state_->initialize(shape, [&](const VariableInitializer &initializer, const auto &seed) {
    return drawn(*state_, initializer, shape, seed);
  });
  if (state_->type().shape != shape)
    throw ShapeError("initialize: the variable '" + name() + "' is " + to_string(state_->type()) +
                     " already, so it cannot be of shape " + to_string(shape));
  return *this;
}

void Variable::seed(std::uint64_t seed, std::source_location where) const {
  const CompositeCall site("seed", where);
  if (!state_->seed(seed) || !initialized()) return;
  state_->store(drawn(*state_, state_->initializer(), shape(), seed));
}

Variable Variable::clone() const {
  auto copy = state_->clone();
  if (Interpreter *interpreter = Interpreter::current()) interpreter->note_made(copy);
  return Variable(std::move(copy));
}

void Variable::name_by_path(const std::string &path) const { state_->name_by_path(path); }

const std::string &Variable::name() const { return state_->name(); }
bool Variable::trainable() const { return state_->trainable(); }
DType Variable::dtype() const { return state_->dtype(); }
Shape Variable::shape() const { return state_->type().shape; }

Tensor Variable::value(std::source_location where) const {
  const CallSite site(where);
  return dispatch(OpCode::read, {}, Attrs{state_});
}

const Variable &Variable::assign(const Operand &value) const {
  const CompositeCall site("assign", value.where());
  const Tensor operands[] = {fitting("assign", *state_, value)};
  dispatch(OpCode::assign, operands, Attrs{state_});
  return *this;
}

const Variable &Variable::assign_add(const Operand &value) const {
  const CompositeCall site("assign_add", value.where());
  const Tensor operands[] = {fitting("assign_add", *state_, value)};
  dispatch(OpCode::assign_add, operands, Attrs{state_});
  return *this;
}

const Variable &Variable::assign_sub(const Operand &value) const {
  const CompositeCall site("assign_sub", value.where());
  const Tensor operands[] = {negate(fitting("assign_sub", *state_, value))};
  dispatch(OpCode::assign_add, operands, Attrs{state_});
  return *this;
}

const Variable &Variable::operator*=(const Operand &y) const { return assign(*this * y); }
const Variable &Variable::operator/=(const Operand &y) const { return assign(*this / y); }

Operand::Operand(const Variable &variable, std::source_location where)
    : Operand(Owned{}, variable.value(where), where) {}

Tensor::Tensor(const Variable &variable, std::source_location where)
    : Tensor(variable.value(where)) {}

Operand::Operand(const VariableAt &elements, std::source_location where)
    : Operand(Owned{}, elements.value(where), where) {}

Tensor::Tensor(const VariableAt &elements, std::source_location where)
    : Tensor(elements.value(where)) {}

} // namespace weft
