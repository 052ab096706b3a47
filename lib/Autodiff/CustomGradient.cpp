// Custom gradients: pullbacks attached to what a function gives, and recomputation.
#include <weft/custom_gradient.h>

#include <algorithm>
#include <optional>

#include "Autodiff/Paused.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/VariableLayers.h"
#include "Runtime/Variable.h"
#include <weft/detail/derivative_mark.h>
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft {

namespace {

using autodiff::carries_gradient;
using autodiff::Watcher;

bool is_among(const Tensor &tensor, std::span<const Tensor> list) {
  return std::ranges::any_of(list, [&](const Tensor &t) { return t.impl() == tensor.impl(); });
}

/// Notes the tensors that someone followed before: while all is paused, no new ones come.
class Followed : public Watcher {
public:
  Tensor apply(const OpCall &call) override {
    note(call.operands);
    return Watcher::apply(call);
  }
  std::vector<Tensor> construct(const ConstructCall &call) override {
    note(call.operands);
    return Watcher::construct(call);
  }
  std::vector<Tensor> attach_pullback(const PullbackCall &call) override {
    note(call.operands);
    return Watcher::attach_pullback(call);
  }

  std::vector<Tensor> tensors;

private:
  void note(std::span<const Tensor> operands) {
    for (const Tensor &operand : operands)
      if (operand.defined() && carries_gradient(operand.dtype()) &&
          operand.impl()->identity.load(std::memory_order_relaxed) != 0 &&
          !is_among(operand, tensors))
        tensors.push_back(operand);
  }
};

void check_defined(const std::string &name, std::span<const Tensor> operands,
                   std::span<const Tensor> results) {
  if (!std::ranges::all_of(operands, &Tensor::defined))
    throw StateError(name + ": an argument is undefined");
  if (!std::ranges::all_of(results, &Tensor::defined))
    throw StateError(name + ": a result is undefined");
}

/// The gradients of `body` on the first operands, run now under a tape of its own; then come those
/// of variables, and of tensors that the body reaches by itself. `marked` says whether it is for a
/// derivative of a function.
std::vector<Tensor> gradients_of(const std::string &name, const detail::Body &body,
                                 std::span<const Tensor> operands,
                                 std::span<const VariableRef> variables, std::size_t count,
                                 std::span<const Tensor> cotangents, bool marked) {
  // Tensors of their own, in case the body reaches the operands by itself as well; and the compiler
  // must not find that it has all this already.
  std::vector<Tensor> own;
  const auto after = std::ranges::find_if(cotangents, &Tensor::defined);
  const std::size_t bound = count + variables.size();
  for (const Tensor &operand : operands.first(bound)) own.push_back(barrier(operand, *after));
  own.insert(own.end(), operands.begin() + static_cast<std::ptrdiff_t>(bound), operands.end());
  GradientTape tape({.watch_accessed_variables = false});
  std::optional<detail::DerivativeMark> mark;
  if (marked) mark.emplace("recompute");
  for (const Tensor &operand : own) tape.watch(operand);
  const std::span<const Tensor> all = own;
  const std::vector<Tensor> results = [&] {
    const autodiff::Pushed<autodiff::Bound> reads(variables, all.subspan(count, variables.size()));
    return body(all.first(count));
  }();
  if (results.size() != cotangents.size())
    throw StateError(name + ": the function gave " + std::to_string(cotangents.size()) +
                     " tensors and, when it ran again for its gradient, " +
                     std::to_string(results.size()));
  check_defined(name, {}, results);
  std::vector<Tensor> targets;
  GradientOptions options;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (carries_gradient(results[i].dtype()) && cotangents[i].defined()) {
      targets.push_back(results[i]);
      options.output_gradients.push_back(cotangents[i]);
    }
  return tape.gradient(targets, own, options);
}

} // namespace

std::vector<Tensor> detail::attach(const std::string &name, std::span<const Tensor> operands,
                                   std::span<const Tensor> results, const Body &pullback,
                                   bool natural) {
  check_defined(name, operands, results);
  return attach_pullback({name, operands, results, pullback, natural});
}

void detail::read_variables(std::span<const Variable> variables, std::vector<Tensor> &values) {
  for (const Variable &variable : variables) values.push_back(variable.value());
}

void detail::run_reading(const std::string &name, std::span<const Variable> variables,
                         const std::function<void()> &body) {
  autodiff::Pushed<Watcher> watcher;
  body();
  for (const VariableRef &variable : watcher.read)
    if (variable->trainable() && carries_gradient(variable->type().dtype) &&
        std::ranges::find(variables, Variable(variable)) == variables.end())
      throw StateError(name + ": the function reads the variable '" + variable->name() +
                       "', whose gradient its pullback must give: list it in .variables, or make "
                       "it untrainable");
}

std::vector<Tensor> detail::run_recomputed(const std::string &name, const Body &body,
                                           std::vector<Tensor> operands) {
  check_defined(name, operands, {});
  std::vector<VariableRef> variables;
  std::vector<Tensor> results, captured;
  {
    const autodiff::Paused nothing_recorded;
    autodiff::Pushed<Followed> watcher;
    results = body(operands);
    check_defined(name, {}, results);
    if (!watcher.written.empty())
      throw StateError(name + ": the function changes the variable '" + watcher.written[0]->name() +
                       "', which would happen again when its gradient is asked");
    for (const VariableRef &variable : watcher.read)
      if (carries_gradient(variable->type().dtype)) variables.push_back(variable);
    captured = std::move(watcher.tensors);
  }
  const std::size_t count = operands.size();
  for (const VariableRef &variable : variables) operands.push_back(Variable(variable).value());
  for (const Tensor &tensor : captured)
    if (is_watched(tensor) && !is_among(tensor, operands)) operands.push_back(tensor);
  const Body pullback = [name, body, operands, variables, count,
                         marked = DerivativeMark::stands()](std::span<const Tensor> cotangents) {
    return gradients_of(name, body, operands, variables, count, cotangents, marked);
  };
  return attach_pullback({.name = name,
                          .operands = operands,
                          .results = results,
                          .pullback = pullback,
                          .natural = true,
                          .again = true});
}

} // namespace weft
