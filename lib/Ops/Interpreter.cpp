// The chain of interpreters of a thread, and the dispatch of calls to the current one.
#include "Ops/Interpreter.h"
#include "Ops/Eager.h"
#include "Ops/FastPath.h"
#include "Runtime/NewTensor.h"
#include <weft/error.h>

namespace weft {

thread_local constinit Interpreter *Interpreter::current_
    __attribute__((tls_model("initial-exec"))) = nullptr;
thread_local constinit Interpreter::Scope *Interpreter::scopes_
    __attribute__((tls_model("initial-exec"))) = nullptr;

void push_interpreter(Interpreter *interpreter) {
  interpreter->previous_ = Interpreter::current_;
  Interpreter::current_ = interpreter;
}

void pop_interpreter(Interpreter *interpreter) {
  const auto unlink = [&](Interpreter **link) {
    for (; *link != nullptr; link = &(*link)->previous_)
      if (*link == interpreter) {
        *link = interpreter->previous_;
        return;
      }
  };
  unlink(&Interpreter::current_);
  for (Interpreter::Scope *scope = Interpreter::scopes_; scope != nullptr; scope = scope->around_)
    unlink(&scope->saved_);
  interpreter->previous_ = nullptr;
}

bool Interpreter::nobody_records() {
  for (const Interpreter *i = current_; i != nullptr; i = i->previous_)
    if (!i->takes_pullbacks() || i->records()) return false;
  return true;
}

bool Interpreter::is_active() const {
  for (const Interpreter *i = current_; i != nullptr; i = i->previous_)
    if (i == this) return true;
  return false;
}

std::vector<Tensor> Interpreter::attach_pullback(const PullbackCall &call) {
  const Scope under(previous_);
  return weft::attach_pullback(call);
}

std::vector<Tensor> attach_pullback(const PullbackCall &call) {
  if (Interpreter *interpreter = Interpreter::current()) return interpreter->attach_pullback(call);
  std::vector<Tensor> results;
  for (const Tensor &result : call.results) results.push_back(detail::new_alias(result));
  return results;
}

void Refusal::raise() const { throw StateError(message, location); }

std::vector<Tensor> refuse_derivatives(std::string_view name, std::span<const Tensor> operands,
                                       std::span<const Tensor> results, RefusalRef refusal) {
  const detail::Body none = [](std::span<const Tensor>) { return std::vector<Tensor>(); };
  return attach_pullback({.name = name,
                          .operands = operands,
                          .results = results,
                          .pullback = none,
                          .natural = true,
                          .refusal = std::move(refusal)});
}

std::vector<Tensor> run_whole(const detail::Body &body, std::span<const Tensor> inputs) {
  Interpreter *const interpreter = Interpreter::current();
  return interpreter == nullptr ? body(inputs) : interpreter->whole(body, inputs);
}

Tensor dispatch(const OpCall &call) {
  if (Interpreter *interpreter = Interpreter::current()) return interpreter->apply(call);
  const auto &[op, operands, attrs, more] = call;
  // Tapes and derivative rules come here, past the generated functions.
  if (attrs.empty() && (operands.size() == 1 || operands.size() == 2)) {
    Tensor result = operands.size() == 1 ? call::fast_unary(op, operands[0])
                                         : call::fast_binary(op, operands[0], operands[1]);
    if (result.defined()) return result;
  }
  return execute_eager(op, operands, attrs, more);
}

std::vector<Tensor> dispatch_all(OpCode op, std::span<const Tensor> operands, const Attrs &attrs) {
  std::vector<Tensor> results(op_info(op).results);
  if (results.empty()) dispatch(op, operands, attrs);
  else results[0] = dispatch({op, operands, attrs, std::span(results).subspan(1)});
  return results;
}

} // namespace weft
