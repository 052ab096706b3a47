// Compiles the halves of derivatives, runs them, and attaches the one to the other.
#include "Function/TapedProgram.h"

#include <algorithm>

#include "Autodiff/Rules/Calls.h"
#include "CodeCache/CodeCache.h"
#include "Ops/Interpreter.h"
#include "Program/Sites.h"
#include "Runtime/Variable.h"
#include "Support/Log.h"
#include <weft/error.h>

namespace weft {

using autodiff::carries_gradient;

namespace {

/// Zeros of a type without unknown sizes.
Tensor zeros_of(const TensorType &type) {
  const Interpreter::Scope eager(nullptr);
  return zeros(type.shape, type.dtype);
}

detail::InlineVector<detail::TensorImpl *, 16> pointers(std::span<const Tensor> tensors) {
  detail::InlineVector<detail::TensorImpl *, 16> result;
  for (const Tensor &tensor : tensors) result.push_back(tensor.impl());
  return result;
}

/// The program of half a derivative as its caller sees it, with what is saved.
std::shared_ptr<Program> seen_by_caller(const Program &half, std::span<const SavedValue> saved) {
  auto program = std::make_shared<Program>();
  program->name = half.name;
  program->parameters = half.parameters;
  program->variables = half.variables;
  program->written = half.written;
  program->hosts = half.hosts;
  const auto add = [&](std::vector<ValueId> &to, const TensorType &type) {
    to.push_back(static_cast<ValueId>(program->values.size()));
    program->values.push_back(type);
  };
  const auto [kind, inputs, outputs] = *half.part;
  if (kind == DerivativePart::Half::forward) {
    for (std::size_t i = 0; i < inputs; ++i) add(program->inputs, half.values[half.inputs[i]]);
    for (std::size_t i = 0; i < outputs; ++i) add(program->outputs, half.values[half.outputs[i]]);
    for (const SavedValue &value : saved)
      if (value.from == SavedValue::From::output && value.number >= outputs)
        add(program->outputs, value.type);
    return program;
  }
  for (const SavedValue &value : saved) add(program->inputs, value.type);
  for (std::size_t i = inputs; i < half.inputs.size(); ++i)
    add(program->inputs, half.values[half.inputs[i]]);
  for (std::size_t i = outputs; i < half.outputs.size(); ++i)
    add(program->outputs, half.values[half.outputs[i]]);
  return program;
}

} // namespace

struct TapedProgram::Call {
  std::shared_ptr<TapedProgram> program;
  DerivativePtr derivative;
  std::vector<Tensor> saved;
  /// What the parameters stand for: a pullback of the user's may use them.
  std::vector<VariableRef> variables;
  /// For second derivatives; empty where none is to come.
  std::vector<Tensor> operands;
  std::vector<TensorType> results;
};

TapedProgram::TapedProgram(std::shared_ptr<const Program> program, Device device)
    : program_(std::move(program)), device_(device), reached_(reached_operands(*program_)),
      repeatable_(program_->variables.empty() && effect_of(program_->nodes).empty()) {}

bool TapedProgram::is_possible() {
  for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous())
    if (!i->takes_pullbacks()) return false;
  return true;
}

const VariableRef &
TapedProgram::variable(std::size_t number,
                       std::span<const detail::VariablePointer> variables) const {
  const VariableRef &own = program_->variables[number];
  const auto parameter = std::ranges::find(program_->parameters, own);
  if (parameter == program_->parameters.end()) return own;
  return *variables[static_cast<std::size_t>(parameter - program_->parameters.begin())];
}

bool TapedProgram::watched(std::size_t number, std::span<const Tensor> operands,
                           std::span<const detail::VariablePointer> variables) const {
  return number < operands.size() ? is_watched(operands[number])
                                  : is_watched(variable(number - operands.size(), variables));
}

std::vector<std::uint32_t>
TapedProgram::reached(std::span<const Tensor> operands,
                      std::span<const detail::VariablePointer> variables) const {
  std::vector<std::uint32_t> wrt;
  for (std::size_t i = 0; i < operands.size() + program_->variables.size(); ++i)
    if (std::ranges::any_of(reached_.outputs, [&](const auto &operand) { return operand[i]; }) &&
        watched(i, operands, variables))
      wrt.push_back(static_cast<std::uint32_t>(i));
  return wrt;
}

std::vector<Tensor>
TapedProgram::refused(std::vector<Tensor> results, std::span<const Tensor> operands,
                      std::span<const detail::VariablePointer> variables) const {
  const detail::Body itself = [](std::span<const Tensor> cotangents) {
    return std::vector(cotangents.begin(), cotangents.end());
  };
  for (const RefusedResult &refused : reached_.refused) {
    Tensor &result = results[refused.result];
    std::vector<Tensor> by{result};
    for (const std::uint32_t number : refused.operands)
      if (watched(number, operands, variables)) by.push_back(operand(number, operands, variables));
    if (by.size() == 1) continue;
    result = attach_pullback({.name = program_->name,
                              .operands = by,
                              .results = {&result, 1},
                              .pullback = itself,
                              .natural = true,
                              .zeros = false,
                              .refusal = refused.refusal,
                              .refused = 1})[0];
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

void TapedProgram::compile(Derivative &derivative) const {
  using Half = DerivativePart::Half;
  for (const Half half : {Half::forward, Half::backward}) {
    const auto program = derivative_of(program_, derivative.wrt, half, reached_.all_refused);
    CompiledCode code = cache::compile(*program, {}, device_);
    if (half == Half::forward) derivative.saved = code.saved;
    WEFT_INVARIANT(code.saved == derivative.saved, "the halves of a derivative agree");
    (half == Half::forward ? derivative.forward : derivative.backward)
        .emplace(seen_by_caller(*program, derivative.saved), std::move(code), program, nullptr,
                 device_);
  }
}

TapedProgram::DerivativePtr TapedProgram::derivative(const std::vector<std::uint32_t> &wrt) {
  const forks::Delay whole;
  const std::lock_guard one(mutex_);
  DerivativePtr &found = derivatives_[wrt];
  if (found) return found;
  auto derivative = std::make_shared<Derivative>();
  derivative->wrt = wrt;
  try {
    compile(*derivative);
  } catch (const Error &error) {
    if (error.kind() != ErrorKind::compile && error.kind() != ErrorKind::state) throw;
    // Its ops may have derivatives one by one: the tape will say which has none.
    derivative->refusal = error.message();
    log_line(program_->name + ": runs op by op under tapes, as its derivative does not compile: " +
             std::string(error.message()));
  }
  return found = std::move(derivative);
}

std::shared_ptr<TapedProgram> TapedProgram::gradient(const std::vector<std::uint32_t> &wrt) {
  const forks::Delay whole;
  const std::lock_guard one(mutex_);
  std::shared_ptr<TapedProgram> &found = gradients_[wrt];
  if (!found)
    found = std::make_shared<TapedProgram>(
        derivative_of(program_, wrt, /*half=*/std::nullopt, reached_.all_refused), device_);
  return found;
}

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::optional<std::vector<Tensor>>
TapedProgram::call(std::span<detail::TensorImpl *const> inputs,
                   std::span<const detail::VariablePointer> variables,
                   const std::function<std::vector<Tensor>()> &plain) {
  std::vector<Tensor> operands;
  for (detail::TensorImpl *input : inputs) {
    detail::retain(input);
    operands.emplace_back(input);
  }
  operands.insert(operands.end(), program_->captures.begin(), program_->captures.end());
  if (std::ranges::any_of(program_->folded, [](const Tensor &t) { return is_watched(t); }))
    return std::nullopt;
  const std::vector<std::uint32_t> wrt = reached(operands, variables);
  const auto run_eagerly = [](const auto &body) {
    const Interpreter::Scope eager(nullptr);
    return body();
  };
  if (wrt.empty()) return refused(run_eagerly(plain), operands, variables);
  std::size_t recording = 0;
  for (Interpreter *i = Interpreter::current(); i != nullptr; i = i->previous())
    recording += i->records();
  if (recording > 1 && !repeatable_) return std::nullopt;
  const DerivativePtr derivative = this->derivative(wrt);
  if (!derivative->refusal.empty()) return std::nullopt;

  const auto impls = pointers(operands);
  std::vector<Tensor> all = run_eagerly(
      [&] { return derivative->forward->run({impls.data(), impls.size()}, variables); });
  auto call = std::make_shared<Call>();
  call->program = shared_from_this();
  call->derivative = derivative;
  for (const detail::VariablePointer variable : variables) call->variables.push_back(*variable);
  for (const SavedValue &value : derivative->saved)
    call->saved.push_back(value.from == SavedValue::From::input ? operands[value.number]
                                                                : all[value.number]);
  if (recording > 1) call->operands = operands;
  all.resize(program_->outputs.size());
  for (const Tensor &result : all) call->results.push_back(detail::type_of(result));

  std::vector<Tensor> by;
  for (const std::uint32_t number : wrt) by.push_back(operand(number, operands, variables));
  return refused(attach_pullback({.name = program_->name,
                                  .operands = by,
                                  .results = all,
                                  .pullback =
                                      [call](std::span<const Tensor> cotangents) {
                                        return call->program->pull(*call, cotangents);
                                      },
                                  .zeros = false}),
                 operands, variables);
}

Tensor TapedProgram::operand(std::size_t number, std::span<const Tensor> operands,
                             std::span<const detail::VariablePointer> variables) const {
  return number < operands.size()
             ? operands[number]
             : dispatch(OpCode::read, {}, Attrs{variable(number - operands.size(), variables)});
}

std::vector<Tensor> TapedProgram::pull(const Call &call, std::span<const Tensor> cotangents) {
  std::vector<Tensor> given;
  const std::vector<std::uint32_t> &wrt = call.derivative->wrt;
  std::vector<bool> reached(wrt.size());
  for (std::size_t i = 0; i < cotangents.size(); ++i) {
    if (!carries_gradient(call.results[i].dtype)) continue;
    given.push_back(cotangents[i].defined() ? cotangents[i] : zeros_of(call.results[i]));
    for (std::size_t k = 0; k < wrt.size() && cotangents[i].defined(); ++k)
      if (reached_.outputs[i][wrt[k]]) reached[k] = true;
  }
  std::vector<Tensor> gradients = run_whole(
      [&](std::span<const Tensor> values) {
        const auto watched = [](const Tensor &tensor) { return is_watched(tensor); };
        if (std::ranges::any_of(values, watched) || std::ranges::any_of(call.operands, watched))
          return pull_watched(call, values);
        std::vector<Tensor> all = call.saved;
        all.insert(all.end(), values.begin(), values.end());
        const Interpreter::Scope eager(nullptr);
        const auto impls = pointers(all);
        std::vector<detail::VariablePointer> variables;
        for (const VariableRef &variable : call.variables) variables.push_back(&variable);
        return call.derivative->backward->run({impls.data(), impls.size()}, variables);
      },
      given);
  for (std::size_t k = 0; k < wrt.size(); ++k)
    if (!reached[k]) gradients[k] = Tensor();
  return gradients;
}

/// Pulls where a tape records that: the gradients are a program as well.
std::vector<Tensor> TapedProgram::pull_watched(const Call &call,
                                               std::span<const Tensor> cotangents) {
  if (call.operands.empty())
    throw StateError(program_->name +
                     ": a tape watches the cotangents of a call that it did not see; make that "
                     "tape before the call, and let the function neither use variables nor have "
                     "effects");
  const std::shared_ptr<TapedProgram> second = gradient(call.derivative->wrt);
  std::vector<Tensor> inputs = call.operands;
  inputs.insert(inputs.end(), cotangents.begin(), cotangents.end());
  const auto impls = pointers(inputs);
  auto gradients =
      second->call({impls.data(), impls.size()}, {}, [&] { return second->run_plain(inputs); });
  if (gradients) return *std::move(gradients);
  const std::string why = second->refusal();
  throw StateError(program_->name + ": its second derivative does not compile" +
                   (why.empty() ? "" : " (" + why + ")") +
                   "; differentiate the callable instead of the compiled function");
}

std::string TapedProgram::refusal() {
  const forks::Delay whole;
  const std::lock_guard one(mutex_);
  for (const auto &[wrt, derivative] : derivatives_)
    if (!derivative->refusal.empty()) return derivative->refusal;
  return {};
}

std::vector<Tensor> TapedProgram::run_plain(std::span<const Tensor> operands) {
  {
    const forks::Delay whole;
    const std::lock_guard one(mutex_);
    if (!plain_)
      plain_.emplace(program_, cache::compile(*program_, {}, device_), nullptr, nullptr, device_);
  }
  const auto impls = pointers(operands);
  return plain_->run({impls.data(), impls.size()});
}

} // namespace weft
