// Custom gradients: pullbacks attached to what a function gives, and recomputation.
#include <weft/custom_gradient.h>

#include <algorithm>

#include "Autodiff/Paused.h"
#include "Autodiff/VariableLayers.h"
#include "OpDefs/Derivatives/Calls.h"
#include "Runtime/Variable.h"
#include <weft/gradient_tape.h>
#include <weft/ops.h>

namespace weft {

namespace {

using autodiff::carries_gradient;

/// The gradients of `body` on the operands, run now under a tape of its own.
std::vector<Tensor> gradients_of(const detail::Body &body, std::span<const Tensor> operands,
                                 std::span<const VariableRef> variables,
                                 std::span<const Tensor> cotangents) {
  // Tensors of their own, in case the body reaches the operands by itself as well; and the compiler
  // must not find that it has all this already.
  std::vector<Tensor> own;
  const auto after = std::ranges::find_if(cotangents, &Tensor::defined);
  for (const Tensor &operand : operands) own.push_back(barrier(operand, *after));
  GradientTape tape({.watch_accessed_variables = false});
  for (const Tensor &operand : own) tape.watch(operand);
  const std::size_t count = own.size() - variables.size();
  const std::span<const Tensor> all = own;
  const std::vector<Tensor> results = [&] {
    const autodiff::Pushed<autodiff::Bound> bound(variables, all.subspan(count));
    return body(all.first(count));
  }();
  std::vector<Tensor> targets;
  GradientOptions options;
  for (std::size_t i = 0; i < results.size(); ++i)
    if (carries_gradient(results[i].dtype())) {
      targets.push_back(results[i]);
      options.output_gradients.push_back(cotangents[i]);
    }
  return tape.gradient(targets, own, options);
}

} // namespace

std::vector<Tensor> detail::attach(const std::string &name, std::span<const Tensor> operands,
                                   std::span<const Tensor> results, const Body &pullback,
                                   bool natural) {
  for (const auto &tensors : {operands, results})
    for (const Tensor &tensor : tensors)
      if (!tensor.defined())
        throw StateError(name + (tensors.data() == operands.data() ? ": an argument is undefined"
                                                                   : ": a result is undefined"));
  return attach_pullback({name, operands, results, pullback, natural});
}

void detail::read_variables(std::span<const Variable> variables, std::vector<Tensor> &values) {
  for (const Variable &variable : variables) values.push_back(variable.value());
}

void detail::run_reading(const std::string &name, std::span<const Variable> variables,
                         const std::function<void()> &body) {
  autodiff::Pushed<autodiff::Watcher> watcher;
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
  std::vector<VariableRef> variables;
  std::vector<Tensor> results;
  {
    const autodiff::Paused nothing_recorded;
    autodiff::Pushed<autodiff::Watcher> watcher;
    results = body(operands);
    if (!watcher.written.empty())
      throw StateError(name + ": the function changes the variable '" + watcher.written[0]->name() +
                       "', which would happen again when its gradient is asked");
    for (const VariableRef &variable : watcher.read)
      if (carries_gradient(variable->type().dtype)) variables.push_back(variable);
  }
  for (const VariableRef &variable : variables) operands.push_back(Variable(variable).value());
  return attach(
      name, operands, results,
      [body, operands, variables](std::span<const Tensor> cotangents) {
        return gradients_of(body, operands, variables, cotangents);
      },
      /*natural=*/false);
}

} // namespace weft
