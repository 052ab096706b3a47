// Optimizers: their state is variables, their update ops like any others.
#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "NN/Names.h"
#include "Ops/Interpreter.h"
#include "Runtime/Variable.h"
#include "Support/CallSite.h"
#include "Support/Log.h"
#include <weft/nn.h>
#include <weft/ops.h>

namespace weft::optimizers {

namespace {

using Warned = std::shared_ptr<std::atomic<bool>>;

void check_parameters(const std::string &optimizer, const std::vector<Variable> &parameters) {
  for (auto parameter = parameters.begin(); parameter != parameters.end(); ++parameter) {
    if (std::find(parameters.begin(), parameter, *parameter) != parameter)
      throw ValueError(optimizer + ": the variable '" + parameter->name() + "' is given twice");
    if (!is_floating(parameter->dtype()))
      throw DTypeError(optimizer + ": the variable '" + parameter->name() +
                       "' must be floating, but is " + std::string(name_of(parameter->dtype())));
  }
}

void check_option(const std::string &optimizer, const char *option, double value, double below) {
  if (value >= 0 && value < below) return;
  throw ValueError(optimizer + ": " + option + " is " + std::to_string(value) +
                   ", but must be at least 0 and " +
                   (std::isinf(below) ? "finite" : "below " + std::to_string(below)));
}

constexpr double kAny = std::numeric_limits<double>::infinity();

/// What keeps assigns from being made, before the first of several is.
void check_may_assign(std::span<const Variable> variables) {
  const Interpreter *interpreter = Interpreter::current();
  if (interpreter != nullptr && interpreter->traces()) return;
  for (const Variable &variable : variables) variable.state()->check_may_assign();
}

/// Throws if there is no gradient for each parameter, or none at all, and warns once of those that
/// are missing.
template <class IsDefined>
void check_gradients(const std::string &optimizer, std::size_t count,
                     const std::vector<Variable> &parameters, const IsDefined &is_defined,
                     const Warned &warned) {
  if (count != parameters.size())
    throw ValueError(optimizer + ": there are " + std::to_string(count) + " gradients for " +
                     std::to_string(parameters.size()) + " parameters");
  std::string missing;
  std::size_t found = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_defined(i)) ++found;
    else missing += (missing.empty() ? "'" : ", '") + parameters[i].name() + "'";
  }
  if (found == count) return;
  if (found == 0)
    throw ValueError(optimizer + ": no gradient is defined, of " + missing +
                     ": what the tape was asked for does not depend on them");
  if (!warned->exchange(true))
    warn_line(optimizer + ": no gradient is defined of " + missing +
              ": updates leave that as it is");
}

[[noreturn]] void refuse(const std::string &optimizer, const Variable &parameter,
                         const TensorType &gradient, const char *of = "") {
  const TensorType own{parameter.dtype(), parameter.shape()};
  const std::string message = optimizer + ": the variable '" + parameter.name() + "' is " +
                              to_string(own) + ", but its gradient " + of + "is " +
                              to_string(gradient);
  if (gradient.dtype != own.dtype) throw DTypeError(message);
  throw ShapeError(message);
}

/// The gradient, with sizes that a trace does not know compared with those of the parameter.
Tensor fitting(const std::string &optimizer, const Variable &parameter, const Tensor &gradient) {
  const TensorType type = detail::type_of(gradient);
  const Shape shape = parameter.shape();
  bool fits = type.dtype == parameter.dtype() && type.shape.size() == shape.size();
  for (std::size_t i = 0; fits && i < shape.size(); ++i)
    fits = type.shape[i] == shape[i] || type.shape[i] == unknown;
  if (!fits) refuse(optimizer, parameter, type);
  return type.shape.is_static() ? gradient : broadcast(gradient, shape);
}

/// The gradients that fit, and undefined tensors.
std::vector<Tensor> fitting(const std::string &optimizer, const std::vector<Variable> &parameters,
                            const std::vector<Tensor> &gradients, const Warned &warned) {
  check_gradients(
      optimizer, gradients.size(), parameters,
      [&](std::size_t i) { return gradients[i].defined(); }, warned);
  std::vector<Tensor> all(gradients.size());
  for (std::size_t i = 0; i < all.size(); ++i)
    if (gradients[i].defined()) all[i] = fitting(optimizer, parameters[i], gradients[i]);
  return all;
}

bool is_defined(const SlicedGradient &gradient) {
  const auto *slices = std::get_if<IndexedSlices>(&gradient);
  return slices != nullptr || std::get<Tensor>(gradient).defined();
}

void check_slices(const std::string &optimizer, const Variable &parameter,
                  const IndexedSlices &slices) {
  if (!slices.values.defined() || !slices.indices.defined())
    throw ValueError(optimizer + ": the gradient of '" + parameter.name() +
                     "' has slices that are undefined");
  if (slices.dense_shape != parameter.shape() || slices.values.dtype() != parameter.dtype())
    refuse(optimizer, parameter, {slices.values.dtype(), slices.dense_shape}, "of slices ");
}

} // namespace

SGD::SGD(std::vector<Variable> parameters, Options options, std::source_location where)
    : parameters_(std::move(parameters)), options_(options),
      warned_(std::make_shared<std::atomic<bool>>(false)) {
  const CompositeCall site("SGD", where);
  check_parameters("SGD", parameters_);
  check_option("SGD", "learning_rate", options.learning_rate, kAny);
}

void SGD::apply_gradients(const std::vector<Tensor> &gradients, std::source_location where) const {
  const CompositeCall site("SGD", where);
  const std::vector<Tensor> all = fitting("SGD", parameters_, gradients, warned_);
  check_may_assign(parameters_);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (all[i].defined()) parameters_[i].assign_sub(all[i] * options_.learning_rate);
}

void SGD::apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                                 std::source_location where) const {
  const CompositeCall site("SGD", where);
  check_gradients(
      "SGD", gradients.size(), parameters_, [&](std::size_t i) { return is_defined(gradients[i]); },
      warned_);
  // Indices may be out of range: all that can fail comes before the first assign.
  std::vector<Tensor> dense(gradients.size()), updated(gradients.size());
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (const auto *slices = std::get_if<IndexedSlices>(&gradients[i]))
      check_slices("SGD", parameters_[i], *slices);
    else if (const Tensor &gradient = std::get<Tensor>(gradients[i]); gradient.defined())
      dense[i] = fitting("SGD", parameters_[i], gradient);
  }
  check_may_assign(parameters_);
  for (std::size_t i = 0; i < gradients.size(); ++i)
    if (const auto *slices = std::get_if<IndexedSlices>(&gradients[i]))
      updated[i] =
          scatter_add(parameters_[i], slices->indices, slices->values * -options_.learning_rate);
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    if (updated[i].defined()) parameters_[i].assign(updated[i]);
    else if (dense[i].defined()) parameters_[i].assign_sub(dense[i] * options_.learning_rate);
  }
}

namespace {

/// Made with the name that an Adam has among those of the process.
Variable step_of(const std::string &name) {
  return Variable(zeros({}, DType::i64), name + ".step", /*trainable=*/false);
}

} // namespace

Adam::Adam(std::vector<Variable> parameters, Options options, std::source_location where)
    : parameters_(std::move(parameters)), step_(step_of(own_name_of("adam"))), options_(options),
      warned_(std::make_shared<std::atomic<bool>>(false)) {
  const CompositeCall site("Adam", where);
  check_parameters("Adam", parameters_);
  check_option("Adam", "learning_rate", options.learning_rate, kAny);
  check_option("Adam", "beta1", options.beta1, 1);
  check_option("Adam", "beta2", options.beta2, 1);
  check_option("Adam", "epsilon", options.epsilon, kAny);
  const std::string name = step_.name().substr(0, step_.name().rfind('.'));
  for (const Variable &parameter : parameters_) {
    const Tensor start = zeros(parameter.shape(), parameter.dtype());
    first_.emplace_back(start, parameter.name() + "." + name + "_m", false);
    second_.emplace_back(start, parameter.name() + "." + name + "_v", false);
  }
}

void Adam::apply_gradients(const std::vector<Tensor> &gradients, std::source_location where) const {
  const CompositeCall site("Adam", where);
  const std::vector<Tensor> all = fitting("Adam", parameters_, gradients, warned_);
  for (const auto *variables : {&parameters_, &first_, &second_}) check_may_assign(*variables);
  check_may_assign({&step_, 1});
  step_.assign_add(1);
  // Both bias corrections folded into the step size (section 2 of the paper), once per dtype. In
  // f64, as 1 - beta2 is a small difference.
  Tensor exact;
  std::array<Tensor, kNumDTypes> rates;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const Tensor &gradient = all[i];
    if (!gradient.defined()) continue;
    const DType dtype = parameters_[i].dtype();
    if (!exact.defined()) {
      const Tensor t = cast(step_, DType::f64);
      exact = options_.learning_rate * sqrt(1 - power(options_.beta2, t)) /
              (1 - power(options_.beta1, t));
    }
    Tensor &rate = rates[static_cast<std::size_t>(dtype)];
    if (!rate.defined()) rate = cast(exact, dtype);
    // In place and step by step, so that few temporaries live at a time.
    const Variable &m = first_[i], &v = second_[i];
    m.assign_add((gradient - m) * (1 - options_.beta1));
    Tensor change = square(gradient);
    change = change - v;
    v.assign_add(change * (1 - options_.beta2));
    change = sqrt(v);
    change = change + options_.epsilon;
    parameters_[i].assign_sub(rate * m / change);
  }
}

void Adam::apply_sliced_gradients(const std::vector<SlicedGradient> &gradients,
                                  std::source_location where) const {
  const CompositeCall site("Adam", where);
  check_gradients(
      "Adam", gradients.size(), parameters_,
      [&](std::size_t i) { return is_defined(gradients[i]); }, warned_);
  std::vector<Tensor> dense;
  for (std::size_t i = 0; i < gradients.size(); ++i) {
    const auto *slices = std::get_if<IndexedSlices>(&gradients[i]);
    if (slices != nullptr) check_slices("Adam", parameters_[i], *slices);
    dense.push_back(slices != nullptr ? slices->dense() : std::get<Tensor>(gradients[i]));
  }
  apply_gradients(dense, where);
}

std::vector<Variable> Adam::state() const {
  std::vector<Variable> all = {step_};
  for (std::size_t i = 0; i < first_.size(); ++i) {
    all.push_back(first_[i]);
    all.push_back(second_[i]);
  }
  return all;
}

} // namespace weft::optimizers
