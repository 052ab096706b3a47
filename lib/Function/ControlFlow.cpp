// Control flow on tensors alone: run on values here, or handed to the interpreter that traces.
#include <weft/control_flow.h>

#include <algorithm>

#include "Autodiff/Mask.h"
#include "Autodiff/Masking.h"
#include "Ops/ConstructChecks.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Fault.h"

namespace weft {

//===----------------------------------------------------------------------===//
// Iterations
//===----------------------------------------------------------------------===//

namespace {

Tensor i64_scalar(std::int64_t value) { return detail::new_scalar(value); }

/// All numbers of i64 in the other order, for loops that count down.
Tensor mirrored(const Tensor &number) { return i64_scalar(-1) - number; }

/// An operand's tensor; throws StateError if there is none.
Tensor value_of(std::string_view name, std::string_view what, const Operand &operand) {
  if (operand.undefined())
    throw StateError(std::string(name) + ": " + std::string(what) +
                     " is an undefined tensor: it was never given a value");
  return operand.materialize();
}

/// A bound in the dtype that C++ integers have, or i64 if it does not fit.
Tensor bound(const Operand &operand, std::string_view what) {
  Tensor tensor;
  if (operand.weak() && operand.weak_kind() == DTypeKind::integer) {
    std::int64_t value = 0;
    if (!operand.exactly_as(value))
      return operand.materialize(DType::i64, "for_loop"); // which throws
    tensor = value == static_cast<std::int32_t>(value) ? value_of("for_loop", what, operand)
                                                       : i64_scalar(value);
  } else {
    tensor = value_of("for_loop", what, operand);
  }
  check_integer_scalar("for_loop", what, detail::type_of(tensor));
  return tensor;
}

} // namespace

Iterations Iterations::make(const Operand &start, const Operand &stop, std::int64_t step) {
  const CallSite site(stop.where());
  if (step == 0 || step == INT64_MIN)
    throw ValueError("for_loop: the step is " + std::to_string(step));
  const Tensor first = bound(start, "the start"), end = bound(stop, "the stop");
  Iterations iterations;
  iterations.step_ = step;
  iterations.where_ = stop.where();
  iterations.dtype_ = start.weak() == stop.weak() ? promote(first.dtype(), end.dtype())
                      : start.weak()              ? end.dtype()
                                                  : first.dtype();
  iterations.start_ = cast(first, DType::i64);
  iterations.low_ = step > 0 ? iterations.start_ : mirrored(iterations.start_);
  iterations.high_ = step > 0 ? cast(end, DType::i64) : mirrored(cast(end, DType::i64));
  return iterations;
}

Tensor Iterations::number(const Tensor &at) const {
  return cast(step_ > 0 ? at : mirrored(at), dtype_);
}

//===----------------------------------------------------------------------===//
// Constructs
//===----------------------------------------------------------------------===//

namespace detail {

namespace {

/// The interpreter that records control flow, or null if it runs on values.
Interpreter *recorder() {
  Interpreter *interpreter = Interpreter::current();
  return interpreter != nullptr && interpreter->traces() ? interpreter : nullptr;
}

/// What the user's code gives; its op calls have lines of their own.
std::vector<Tensor> results_of(const Body &body, std::span<const Tensor> arguments) {
  const UserCode user;
  return body(arguments);
}

/// Throws StateError if a traced value that decides something stands for nothing here.
void check_stands(std::string_view name, std::string_view what, const Tensor &value) {
  if (autodiff::differs_by_member(value)) return;
  throw StateError(std::string(name) + ": " + std::string(what) + " of type " +
                   to_string(detail::type_of(value)) +
                   " stands for a value of a traced function, or for several of vmap, and was used "
                   "outside of its trace");
}

/// A choice that a traced value decides: recorded, or done by masks on what stands for many.
std::vector<Tensor> chosen_by(ConstructKind kind, std::string_view name, std::string_view what,
                              const Tensor &value, std::span<const Body> cases) {
  if (Interpreter *interpreter = recorder())
    return interpreter->construct(ConstructCall{kind, name, {&value, 1}, cases});
  check_stands(name, what, value);
  return autodiff::choose_by_member(name, value, cases);
}

Tensor condition_of(std::string_view name, const Body &condition, std::span<const Tensor> state) {
  Tensor holds = results_of(condition, state).at(0);
  if (!holds.defined())
    throw StateError(std::string(name) + ": the condition returns an undefined tensor");
  check_condition(name, detail::type_of(holds));
  return holds;
}

/// The state after an iteration, which must be of the dtypes and ranks of the one before.
std::vector<Tensor> iteration(std::string_view name, const Body &body,
                              std::span<const Tensor> arguments, std::span<const Tensor> state) {
  std::vector<Tensor> next = results_of(body, arguments);
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (!next[i].defined())
      throw ValueError(std::string(name) + ": a tensor that the body returns is undefined");
    check_loop_variable(name, i, detail::type_of(state[i]), detail::type_of(next[i]));
  }
  return next;
}

/// What a branch gives: as in a trace, all of it is defined.
std::vector<Tensor> taken(std::string_view name, const Body &chosen) {
  std::vector<Tensor> results = results_of(chosen, {});
  for (const Tensor &result : results)
    if (!result.defined())
      throw ValueError(std::string(name) + ": a tensor that a body returns is undefined");
  return results;
}

} // namespace

void throw_other_structure(std::string_view name, std::string_view what,
                           const std::source_location &where) {
  raise(ErrorKind::value,
        std::string(name) + ": " + std::string(what) +
            " returns another structure than before: the same containers and keys, as many "
            "tensors, and the same other values are wanted",
        location_of(where));
}

std::vector<Tensor> branch(std::string_view name, const Operand &predicate, const Body &then,
                           const Body &otherwise) {
  const CallSite site(predicate.where());
  const Tensor condition = value_of(name, "the predicate", predicate);
  check_condition(name, detail::type_of(condition));
  if (!condition.traced()) return taken(name, condition.item<bool>() ? then : otherwise);
  const Body bodies[] = {then, otherwise};
  return chosen_by(ConstructKind::branch, name, "the predicate", condition, bodies);
}

std::vector<Tensor> choose(std::string_view name, const Operand &index,
                           std::span<const Body> cases) {
  const CallSite site(index.where());
  const Tensor chosen = value_of(name, "the index", index);
  check_integer_scalar(name, "the index", detail::type_of(chosen));
  if (chosen.traced()) return chosen_by(ConstructKind::choice, name, "the index", chosen, cases);
  const auto number = chosen.item<std::int64_t>();
  const auto last = static_cast<std::int64_t>(cases.size()) - 1;
  return taken(name, cases[static_cast<std::size_t>(number < 0 || number > last ? last : number)]);
}

std::vector<Tensor> loop(std::string_view name, const Body &condition, const Body &body,
                         std::vector<Tensor> state, const std::source_location &where) {
  const CallLine site(where);
  if (Interpreter *interpreter = recorder()) {
    const Body bodies[] = {condition, body};
    return interpreter->construct(ConstructCall{ConstructKind::loop, name, state, bodies});
  }
  for (;;) {
    const Tensor holds = condition_of(name, condition, state);
    if (holds.traced()) {
      check_stands(name, "the condition", holds);
      const autodiff::MaskedLoop masked(name, holds, condition, body, state);
      state = loop(name, masked.condition(), masked.body(), masked.state(), where);
      state.erase(state.begin());
      return state;
    }
    if (!holds.item<bool>()) return state;
    state = iteration(name, body, state, state);
  }
}

std::vector<Tensor> count(std::string_view name, const Iterations &iterations, const Body &body,
                          std::vector<Tensor> state) {
  const CallSite site(iterations.where());
  if (Interpreter *interpreter = recorder()) {
    std::vector<Tensor> operands{iterations.low(), iterations.high()};
    operands.insert(operands.end(), state.begin(), state.end());
    return interpreter->construct(
        ConstructCall{ConstructKind::counted, name, operands, {&body, 1}, iterations.stride()});
  }
  if (iterations.low().traced() || iterations.high().traced()) {
    check_stands(name, "a bound", iterations.low().traced() ? iterations.low() : iterations.high());
    const autodiff::MaskedCount masked(name, iterations.low(), iterations.high(),
                                       iterations.stride(), body);
    return count(name, Iterations(0, masked.iterations()), masked.body(), std::move(state));
  }
  std::vector<Tensor> arguments(1);
  const auto high = iterations.high().item<std::int64_t>();
  for (auto at = iterations.low().item<std::int64_t>(); at < high;) {
    arguments.resize(1);
    arguments[0] = i64_scalar(at);
    arguments.insert(arguments.end(), state.begin(), state.end());
    state = iteration(name, body, arguments, state);
    if (__builtin_add_overflow(at, iterations.stride(), &at)) break;
  }
  return state;
}

Tensor break_predicate(const Operand &predicate) {
  const CallSite site(predicate.where());
  Tensor breaks = value_of("break_if", "the predicate", predicate);
  check_condition("break_if", detail::type_of(breaks));
  return breaks;
}

std::vector<Tensor> loop_until(std::string_view name, const Body &condition, const Body &body,
                               std::vector<Tensor> state, const std::source_location &where) {
  const std::size_t parts = state.size();
  state.push_back(tensor(false));
  std::vector<Tensor> results = loop(
      name,
      [&](std::span<const Tensor> all) {
        return branch(
            name, logical_not(all[parts]),
            [&](std::span<const Tensor>) {
              return std::vector{condition_of(name, condition, all.first(parts))};
            },
            [](std::span<const Tensor>) { return std::vector{tensor(false)}; });
      },
      [&](std::span<const Tensor> all) { return body(all.first(parts)); }, std::move(state), where);
  results.pop_back();
  return results;
}

std::vector<Tensor> count_until(std::string_view name, const Iterations &iterations,
                                const Body &body, std::vector<Tensor> state) {
  const std::size_t parts = state.size();
  // Which iteration is the last is known in it: one more step might not fit an i64.
  const Tensor stride = i64_scalar(iterations.stride()), last = iterations.high() - stride;
  state.push_back(iterations.low());
  std::vector<Tensor> results = loop_until(
      name,
      [&](std::span<const Tensor> all) { return std::vector{all[parts] < iterations.high()}; },
      [&](std::span<const Tensor> all) {
        const Tensor &at = all[parts];
        std::vector<Tensor> arguments(all.begin(), all.end());
        std::rotate(arguments.begin(), arguments.end() - 1, arguments.end());
        std::vector<Tensor> next = body(arguments);
        next.insert(next.end() - 1, at + stride);
        next.back() = logical_or(next.back(), at >= last);
        return next;
      },
      std::move(state), iterations.where());
  results.pop_back();
  return results;
}

} // namespace detail
} // namespace weft
