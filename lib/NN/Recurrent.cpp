// Recurrent cells: their variables and formulas, as Keras 3 has them.
#include <weft/nn/recurrent.h>

#include "NN/Build.h"
#include "NN/LayerCall.h"
#include <weft/detail/binding.h>
#include <weft/ops.h>

namespace weft {
namespace nn {

namespace {

/// Gate number `gate` of what has all of them along its last axis.
Tensor gate_of(const Tensor &all, std::int64_t gate, std::int64_t units) {
  return all[{ellipsis, slice(gate * units, (gate + 1) * units)}];
}

/// Zeros, but ones for the forget gate.
VariableInitializer lstm_bias(std::int64_t units) {
  return [units](const Shape &, DType dtype, const std::optional<std::uint64_t> &) {
    return concatenate({zeros({units}, dtype), ones({units}, dtype), zeros({2 * units}, dtype)});
  };
}

std::optional<Tensor> value_of(const std::optional<Variable> &variable) {
  if (!variable) return std::nullopt;
  return variable->value();
}

} // namespace

void check_sequence(const LayerName &name, const Tensor &x, const Tensor &mask) {
  const TensorType type = weft::detail::type_of(x);
  const std::string prefix = std::string(name.title()) + ": ";
  if (type.shape.size() != 3)
    throw ShapeError(prefix + "x must be (batch, time, inputs), but is " + to_string(type));
  if (!mask.defined()) return;
  const TensorType of_mask = weft::detail::type_of(mask);
  if (of_mask.dtype != DType::boolean)
    throw DTypeError(prefix + "the mask must be bools, but is " + to_string(of_mask));
  const auto fits = [](std::int64_t a, std::int64_t b) {
    return a == b || a == unknown || b == unknown;
  };
  if (of_mask.shape.size() != 2 || !fits(of_mask.shape[0], type.shape[0]) ||
      !fits(of_mask.shape[1], type.shape[1]))
    throw ShapeError(prefix + "the mask must be (batch, time) as x is, but they are " +
                     to_string(of_mask) + " and " + to_string(type));
}

void check_initial_state(const LayerName &name, const Tensor &x, const Tensor &state,
                         std::int64_t units, DType dtype) {
  const std::string prefix = std::string(name.title()) + ": ";
  const Shape shape = weft::detail::type_of(state).shape;
  const std::int64_t batch = weft::detail::type_of(x).shape[0];
  const bool fits = shape.size() == 2 && (shape[1] == units || shape[1] == unknown) &&
                    (shape[0] == batch || shape[0] == unknown || batch == unknown);
  const std::string wanted = to_string(TensorType{dtype, {batch, units}});
  const std::string words = prefix + "the initial state must be (batch, units), " + wanted +
                            ", but is " + to_string(weft::detail::type_of(state));
  if (state.dtype() != dtype) throw DTypeError(words);
  if (!fits) throw ShapeError(words);
}

} // namespace nn

namespace detail {

using nn::CellOptions, nn::VariableMaker, nn::LayerCall, nn::check_at_least_one, nn::check_dtype,
    nn::check_rank, nn::check_last_axis, nn::check_variable, nn::size_for_building;

Tensor zero_state(const Tensor &x, std::int64_t units, DType dtype) {
  const std::int64_t batch = type_of(x).shape.end()[-2];
  // With the input, or with the weights where that has no device.
  if (batch != unknown) return weft::detail::uncommitted(zeros({batch, units}, dtype));
  // A column of zeros as long as the batch.
  Ints others;
  for (std::int64_t axis = 0; axis + 2 < x.rank(); ++axis) others.push_back(axis);
  others.push_back(x.rank() - 1);
  const Tensor column =
      reshape(cast(all(equal(x, x), ReduceAllOptions{.axes = others}), dtype), {-1, 1});
  return column * 0 + zeros({units}, dtype);
}

CellVariables::CellVariables(const char *kind, std::int64_t units, std::int64_t gates,
                             const CellOptions &options, VariableInitializer bias_initializer,
                             std::int64_t bias_rows, const std::source_location &where)
    : CellVariables(VariableMaker(kind, options.name), kind, units, gates, options,
                    std::move(bias_initializer), bias_rows, where) {}

CellVariables::CellVariables(const VariableMaker &make, const char *kind, std::int64_t units,
                             std::int64_t gates, const CellOptions &options,
                             VariableInitializer bias_initializer, std::int64_t bias_rows,
                             const std::source_location &where)
    : kernel(make("kernel", options.dtype, options.kernel_initializer)),
      recurrent_kernel(make("recurrent_kernel", options.dtype, options.recurrent_initializer)),
      bias(make.optional(options.use_bias, "bias", options.dtype, std::move(bias_initializer))),
      name_(kind, options.name), units_(units), gates_(gates) {
  const LayerCall site(name_, where);
  check_at_least_one(name_, "unit", units);
  check_variable(name_, "recurrent kernel", {units, gates * units});
  recurrent_kernel.initialize({units, gates * units});
  if (!bias) return;
  if (bias_rows == 1) bias->initialize({gates * units});
  else bias->initialize({bias_rows, gates * units});
}

void CellVariables::check_inputs(const nn::LayerName &name, const Tensor &x) const {
  const std::string prefix = std::string(name.title()) + ": ";
  if (!name.computes_in()) check_dtype(prefix, x, kernel.dtype());
  check_rank(prefix, x, 2);
  if (!kernel.initialized()) static_cast<void>(size_for_building(prefix, x, -1));
  else check_last_axis(prefix, x, 2, kernel.shape()[0]);
}

Tensor CellVariables::projected(const Tensor &given, const std::optional<Tensor> &bias) const {
  const LayerCall site(name_, std::source_location());
  const Tensor x = site.wide_input(given, kernel.dtype());
  check_inputs(name_, x);
  if (!kernel.initialized())
    kernel.initialize({size_for_building(site.prefix(), x, -1), gates_ * units_});
  const Tensor product = matmul(x, kernel);
  static_cast<void>(site.result(product));
  return bias ? product + *bias : product;
}

void run_as_layer(const nn::LayerName &name, const std::source_location &where,
                  const std::function<Tensor()> &run) {
  const LayerCall site(name, where);
  const nn::LayerRecorder::Pause pause;
  static_cast<void>(site.result(run()));
}

} // namespace detail

namespace nn {

SimpleRNNCell::SimpleRNNCell(std::int64_t units, const CellOptions &options,
                             std::source_location where)
    : CellVariables("SimpleRNNCell", units, 1, options, initializers::zeros(), 1, where) {}

Tensor SimpleRNNCell::project(const Tensor &x) const { return projected(x, value_of(bias)); }
Tensor SimpleRNNCell::step(const Tensor &inputs, const State &h) const {
  return tanh(inputs + matmul(h, recurrent_kernel));
}
Tensor SimpleRNNCell::zero_state(const Tensor &x) const {
  return detail::zero_state(x, units(), kernel.dtype());
}
Tensor SimpleRNNCell::chosen(const Tensor &mask, const State &a, const State &b) const {
  return select(mask, a, b);
}

LSTMCell::LSTMCell(std::int64_t units, const CellOptions &options, std::source_location where)
    : CellVariables("LSTMCell", units, 4, options, lstm_bias(units), 1, where) {}

Tensor LSTMCell::project(const Tensor &x) const { return projected(x, value_of(bias)); }
LSTMState LSTMCell::step(const Tensor &inputs, const State &state) const {
  const Tensor z = inputs + matmul(state.h, recurrent_kernel);
  const auto gate = [&](std::int64_t number) { return gate_of(z, number, units()); };
  const Tensor c = logistic(gate(1)) * state.c + logistic(gate(0)) * tanh(gate(2));
  return {logistic(gate(3)) * tanh(c), c};
}
LSTMState LSTMCell::zero_state(const Tensor &x) const {
  const Tensor zero = detail::zero_state(x, units(), kernel.dtype());
  return {zero, zero};
}
LSTMState LSTMCell::chosen(const Tensor &mask, const State &a, const State &b) const {
  return {select(mask, a.h, b.h), select(mask, a.c, b.c)};
}

GRUCell::GRUCell(std::int64_t units, const CellOptions &options, std::source_location where)
    : CellVariables("GRUCell", units, 3, options, initializers::zeros(),
                    options.reset_after ? 2 : 1, where),
      reset_after_(options.reset_after) {}

Tensor GRUCell::project(const Tensor &x) const {
  std::optional<Tensor> first = value_of(bias);
  if (first && reset_after_) first = (*first)[0];
  return projected(x, first);
}
Tensor GRUCell::step(const Tensor &inputs, const State &h) const {
  const std::int64_t u = units();
  const auto part = [&](const Tensor &all, std::int64_t gate) { return gate_of(all, gate, u); };
  if (reset_after_) {
    Tensor inner = matmul(h, recurrent_kernel);
    if (bias) inner = inner + bias->value()[1];
    const Tensor z = logistic(part(inputs, 0) + part(inner, 0)),
                 r = logistic(part(inputs, 1) + part(inner, 1)),
                 candidate = tanh(part(inputs, 2) + r * part(inner, 2));
    return z * h + (1 - z) * candidate;
  }
  const Tensor recurrent = recurrent_kernel.value();
  const Tensor gates = matmul(h, recurrent[{all, slice(0, 2 * u)}]);
  const Tensor z = logistic(part(inputs, 0) + part(gates, 0)),
               r = logistic(part(inputs, 1) + part(gates, 1));
  const Tensor candidate =
      tanh(part(inputs, 2) + matmul(r * h, recurrent[{all, slice(2 * u, 3 * u)}]));
  return z * h + (1 - z) * candidate;
}
Tensor GRUCell::zero_state(const Tensor &x) const {
  return detail::zero_state(x, units(), kernel.dtype());
}
Tensor GRUCell::chosen(const Tensor &mask, const State &a, const State &b) const {
  return select(mask, a, b);
}

} // namespace nn
} // namespace weft
