// Forward mode: tangents of op calls, of custom gradients, and through control flow in traces.
#include "Autodiff/Pushforward.h"

#include <algorithm>

#include "Autodiff/Forward.h"
#include "Autodiff/NoRecord.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"
#include "Autodiff/VariableLayers.h"
#include "Ops/DeviceOps.h"
#include "Runtime/NewTensor.h"
#include "Runtime/Variable.h"
#include "Support/Limits.h"
#include <weft/gradient_tape.h>

namespace weft::autodiff {

namespace {
/// Forward mode transposes pullbacks, whose own pullbacks it takes for that.
constexpr std::uint32_t kOrdersOfForward = 2;

std::uint64_t number_of(const Tensor &tensor) {
  return tensor.impl()->identity.load(std::memory_order_relaxed);
}
} // namespace

const Pushforward::Entry *Pushforward::entry_of(const Tensor &value) const {
  const auto found = value.defined() ? entries_.find(number_of(value)) : entries_.end();
  return found == entries_.end() ? nullptr : &found->second;
}

Tensor Pushforward::known(const Tensor &value) const {
  const Entry *entry = entry_of(value);
  return entry == nullptr ? Tensor() : entry->tangent;
}

RefusalRef Pushforward::refusal_of(const Tensor &value) const {
  const Entry *entry = entry_of(value);
  return entry == nullptr ? nullptr : entry->refusal;
}

void Pushforward::refuse(const Tensor &value, const RefusalRef &refusal) {
  if (!carries_gradient(value.dtype())) return;
  seed(value, Tensor());
  entries_.find(number_of(value))->second.refusal = refusal;
}

void Pushforward::seed(const Tensor &primal, const Tensor &tangent) {
  if (entries_.size() >= limit_) drop_unused();
  entries_.insert_or_assign(identity_of(primal), Entry{primal, tangent});
}

/// Drops the tangents of values that nobody holds any more.
void Pushforward::drop_unused() {
  std::erase_if(entries_, [](const auto &entry) {
    return entry.second.primal.impl()->references.load(std::memory_order_acquire) == 1;
  });
  limit_ = std::max<std::size_t>(64, 2 * entries_.size());
}

Tensor Pushforward::tangent_of(const Tensor &value) {
  if (!carries_gradient(value.dtype())) return {};
  if (const RefusalRef refusal = refusal_of(value)) refusal->raise();
  const Tensor tangent = known(value);
  return tangent.defined() ? tangent : TensorEmitter().filled(0, value);
}

Tensor Pushforward::apply(const OpCall &call) {
  if (!recording_tangents()) return Layer::apply(call);
  if (op_info(call.op).reads_variable()) {
    const Tensor value = Layer::apply(call);
    const auto tangent = reads_.find(*variable_in(call.attrs));
    if (tangent != reads_.end()) seed(value, tangent->second);
    return value;
  }
  std::vector<Tensor> tangents;
  RefusalRef refusal;
  bool some = false;
  const OpInfo &info = op_info(call.op);
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Entry *entry = entry_of(call.operands[i]);
    tangents.push_back(entry == nullptr ? Tensor() : entry->tangent);
    some |= tangents.back().defined();
    if (entry != nullptr && !refusal && info.differentiable &&
        info.operands[std::min(i, info.operands.size() - 1)].differentiable)
      refusal = entry->refusal;
  }
  if (refusal) {
    Tensor value = Layer::apply(call);
    if (value.defined()) refuse(value, refusal);
    for (const Tensor &other : call.more) refuse(other, refusal);
    return value;
  }
  if (!some) return Layer::apply(call);
  const Scope under(previous_);
  Dual others[kMostResults - 1];
  const std::span<Dual> more(others, call.more.size());
  DeviceOfOperands device;
  device.follow(call.operands);
  Dual dual = jvp(call.op, call.operands, tangents, call.attrs, more);
  // An op that had nothing to do gives its operand back, which has its tangent.
  if (dual.tangent.defined()) seed(dual.value, dual.tangent);
  for (std::size_t i = 0; i < more.size(); ++i) {
    call.more[i] = more[i].value;
    if (more[i].tangent.defined()) seed(more[i].value, more[i].tangent);
  }
  return dual.value;
}

/// A pullback is linear in the cotangents: the transposed of the transposed is the derivative.
std::vector<Tensor> Pushforward::attach_pullback(const PullbackCall &call) {
  std::vector<Tensor> results = Interpreter::attach_pullback(call);
  if (!recording_tangents()) return results;
  std::vector<Tensor> tangents;
  RefusalRef refusal;
  bool some = false;
  for (std::size_t i = 0; i < call.operands.size(); ++i) {
    const Tensor &operand = call.operands[i];
    tangents.push_back(known(operand));
    if (!moves(operand)) continue;
    some = true;
    if (!refusal && call.refusal && i >= call.refused) {
      const RefusalRef before = refusal_of(operand);
      refusal = before ? before : call.refusal;
    }
  }
  if (!some) return results;
  const auto refuse_all = [&] {
    for (const Tensor &result : results) refuse(result, refusal);
    return results;
  };
  if (refusal) return refuse_all();
  std::vector<Tensor> cotangents, derivatives;
  {
    const Scope under(previous_);
    TensorEmitter e;
    std::vector<GradientSource> sources;
    GradientTape tape({.watch_accessed_variables = false});
    for (const Tensor &result : results) {
      cotangents.push_back(carries_gradient(result.dtype()) ? e.filled(0, result) : Tensor());
      if (!cotangents.back().defined()) continue;
      tape.watch(cotangents.back());
      sources.emplace_back(cotangents.back());
    }
    const RecursionGuard guard(call.name, kEndlessPullback);
    std::vector<Tensor> gradients = call.pullback(cotangents);
    check_gradients(call.name, gradients,
                    call.operands.first(call.refusal ? call.refused : call.operands.size()));
    std::vector<Tensor> targets;
    GradientOptions options;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!gradients[i].defined()) continue;
      if (!refusal) refusal = refusal_of(call.operands[i]);
      if (!tangents[i].defined()) continue;
      targets.push_back(gradients[i]);
      options.output_gradients.push_back(tangents[i]);
    }
    if (refusal) return refuse_all();
    if (targets.empty()) return results;
    derivatives = tape.gradient(targets, sources, options, std::source_location());
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!cotangents[i].defined()) continue;
    const Tensor &derivative = derivatives[next++];
    if (derivative.defined()) seed(results[i], derivative);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// What tapes record in traces: programs, which are called again with tangents
//===----------------------------------------------------------------------===//

/// Gives the results of a recording their tangents.
void Pushforward::push(const Recording &recording) {
  if (!recording_tangents()) return;
  PushCall push{recording.program, {}, recording.ends_at_hosts};
  for (const Tensor &operand : recording.operands)
    if (const RefusalRef refusal = refusal_of(operand)) {
      for (const Tensor &result : recording.results) refuse(result, refusal);
      return;
    }
  std::vector<Tensor> operands = recording.operands;
  {
    const Scope under(previous_);
    for (std::size_t i = 0; i < recording.operands.size(); ++i) {
      const Tensor tangent = known(recording.operands[i]);
      if (!tangent.defined()) continue;
      push.wrt.push_back(static_cast<std::uint32_t>(i));
      operands.push_back(tangent);
    }
  }
  if (push.wrt.empty()) return;
  ConstructCall call{ConstructKind::push, "jvp", operands, {}};
  call.push = &push;
  const std::vector<Tensor> all = Interpreter::construct(call);
  std::size_t next = recording.results.size();
  for (const Tensor &result : recording.results)
    if (carries_gradient(result.dtype())) seed(result, all[next++]);
  for (const RefusedResult &refused : recording.refused)
    if (std::ranges::any_of(refused.operands,
                            [&](std::uint32_t i) { return moves(recording.operands[i]); }))
      refuse(recording.results[refused.result], refused.refusal);
}

Recording Pushforward::record(std::string_view name, const detail::Body &body,
                              const IsWatched &watched, std::uint32_t orders) {
  if (!recording_tangents()) return Interpreter::record(name, body, watched, orders);
  std::vector<VariableRef> variables;
  Interpreter::types_of(
      name,
      [&](std::span<const Tensor> inputs) {
        Pushed<Watcher> watcher;
        std::vector<Tensor> results = body(inputs);
        for (const VariableRef &variable : watcher.read) {
          if (!reads_.contains(variable)) continue;
          if (std::ranges::find(watcher.written, variable) != watcher.written.end())
            throw StateError("jvp: " + std::string(name) + " reads and assigns the variable '" +
                             variable->name() +
                             "', which has a tangent; carry its value through as state and assign "
                             "it afterwards");
          variables.push_back(variable);
        }
        return results;
      },
      {});
  // Nothing in it changes these variables: they are read in front of it.
  std::vector<Tensor> values;
  for (const VariableRef &variable : variables)
    values.push_back(apply({OpCode::read, {}, Attrs{variable}}));
  const IsWatched either = [&](const Tensor &tensor) { return moves(tensor) || watched(tensor); };
  Recording recording = Interpreter::record(
      name,
      [&](std::span<const Tensor> inputs) {
        const Pushed<Bound> layer(variables, values);
        return body(inputs);
      },
      either, orders + kOrdersOfForward);
  push(recording);
  return recording;
}

std::vector<Tensor> Pushforward::pull(const Recording &recording,
                                      std::span<const Tensor> cotangents) {
  const auto moving = [&](const Tensor &tensor) { return moves(tensor); };
  if (!recording_tangents() || (std::ranges::none_of(recording.operands, moving) &&
                                std::ranges::none_of(cotangents, moving)))
    return Interpreter::pull(recording, cotangents);
  return record_pull(recording, cotangents, [](const Tensor &) { return false; }).results;
}

Recording Pushforward::record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                                   const IsWatched &watched) {
  const IsWatched either = [&](const Tensor &tensor) {
    return (recording_tangents() && moves(tensor)) || watched(tensor);
  };
  Recording again = Interpreter::record_pull(recording, cotangents, either);
  push(again);
  return again;
}

/// A push of a forward mode above this one: recorded, it is a program like any other.
std::vector<Tensor> Pushforward::construct_push(const ConstructCall &call) {
  const detail::Body body = [&](std::span<const Tensor>) {
    return Interpreter::current()->construct(call);
  };
  const IsWatched moving = [&](const Tensor &tensor) { return moves(tensor); };
  if (std::ranges::none_of(call.operands, moving)) return Interpreter::construct(call);
  const Recording recording = Interpreter::record(call.name, body, moving, kOrdersOfForward);
  push(recording);
  return recording.results;
}

//===----------------------------------------------------------------------===//
// Control flow in traces: its state, and the tangents of the state beside it
//===----------------------------------------------------------------------===//

/// A body whose inputs and results have tangents behind them, of those that are active.
struct Pushforward::Doubled {
  Pushforward &self;
  const detail::Body &body;
  std::size_t fixed; ///< inputs before the state
  const Activity &activity;

  /// The results, then the tangents of the active ones; `found` takes in what is known of them.
  std::vector<Tensor> operator()(std::span<const Tensor> inputs, Activity *found) const {
    const OnTop here(self);
    const std::size_t primals = fixed + (inputs.empty() ? 0 : activity.size());
    std::size_t at = primals;
    for (std::size_t i = fixed; i < primals; ++i) {
      if (activity.active[i - fixed]) self.seed(inputs[i], inputs[at++]);
      else if (activity.refused[i - fixed]) self.refuse(inputs[i], activity.refused[i - fixed]);
    }
    std::vector<Tensor> results = body(inputs.first(primals));
    if (found != nullptr) {
      found->resize(results.size());
      for (std::size_t i = 0; i < results.size(); ++i) found->add(i, self, results[i]);
      return results;
    }
    const Scope under(self.previous_);
    const std::size_t count = results.size();
    for (std::size_t i = 0; i < count && i < activity.size(); ++i)
      if (activity.active[i]) results.push_back(self.tangent_of(results[i]));
    return results;
  }
};

std::vector<Tensor> Pushforward::construct(const ConstructCall &call) {
  switch (call.kind) {
  case ConstructKind::branch:
  case ConstructKind::choice:
    if (recording_tangents()) return construct_choice(call);
    break;
  case ConstructKind::loop:
  case ConstructKind::counted:
    if (recording_tangents()) return construct_loop(call);
    break;
  case ConstructKind::push:
    if (recording_tangents()) return construct_push(call);
    break;
  case ConstructKind::host: // which has no derivative, see refuse_derivatives
  case ConstructKind::call:
  case ConstructKind::record:
  case ConstructKind::pull:
  case ConstructKind::custom: break;
  }
  return Layer::construct(call);
}

std::vector<Tensor> Pushforward::construct_choice(const ConstructCall &call) {
  Activity activity;
  const Activity none;
  for (const detail::Body &body : call.bodies) {
    const Doubled dry{*this, body, 0, none};
    Interpreter::types_of(
        call.name, [&](std::span<const Tensor> inputs) { return dry(inputs, &activity); }, {});
  }
  std::vector<detail::Body> bodies;
  for (const detail::Body &body : call.bodies)
    bodies.emplace_back([&, doubled = Doubled{*this, body, 0, activity}](
                            std::span<const Tensor> inputs) { return doubled(inputs, nullptr); });
  ConstructCall inner = call;
  inner.bodies = bodies;
  return with_tangents(Interpreter::construct(inner), activity);
}

std::vector<Tensor> Pushforward::construct_loop(const ConstructCall &call) {
  const bool counted = call.kind == ConstructKind::counted;
  // A counted loop has two bounds, and its body one number, before the state.
  const std::span<const Tensor> state = call.operands.subspan(counted ? 2 : 0);
  const std::size_t fixed = counted ? 1 : 0;
  Activity activity;
  activity.resize(state.size());
  for (std::size_t i = 0; i < state.size(); ++i) activity.add(i, *this, state[i]);
  // State is active if it is at the start, or if an iteration makes it so from what is; this ends,
  // as what has no derivative keeps none.
  for (Activity before; before != activity;) {
    before = activity;
    std::vector<TracedType> types;
    if (counted) types.push_back(TensorType{DType::i64, {}});
    for (const Tensor &part : state) types.emplace_back(part);
    for (std::size_t i = 0; i < state.size(); ++i)
      if (before.active[i]) types.emplace_back(state[i]);
    const Doubled dry{*this, call.bodies.back(), fixed, before};
    Interpreter::types_of(
        call.name, [&](std::span<const Tensor> inputs) { return dry(inputs, &activity); }, types);
  }
  std::vector<Tensor> operands(call.operands.begin(), call.operands.end());
  {
    const Scope under(previous_);
    for (std::size_t i = 0; i < state.size(); ++i)
      if (activity.active[i]) operands.push_back(tangent_of(state[i]));
  }
  std::vector<detail::Body> bodies;
  Activity none;
  none.resize(state.size());
  if (!counted)
    bodies.emplace_back([&](std::span<const Tensor> inputs) {
      const Doubled condition{*this, call.bodies[0], 0, none};
      return condition(inputs.first(state.size()), nullptr);
    });
  bodies.emplace_back([&](std::span<const Tensor> inputs) {
    return Doubled{*this, call.bodies.back(), fixed, activity}(inputs, nullptr);
  });
  ConstructCall inner = call;
  inner.operands = operands;
  inner.bodies = bodies;
  return with_tangents(Interpreter::construct(inner), activity);
}

/// Takes the tangents off the end of a construct's results.
std::vector<Tensor> Pushforward::with_tangents(std::vector<Tensor> results,
                                               const Activity &activity) {
  std::size_t at = activity.size();
  for (std::size_t i = 0; i < activity.size(); ++i) {
    if (activity.active[i]) seed(results[i], results[at++]);
    else if (activity.refused[i]) refuse(results[i], activity.refused[i]);
  }
  results.resize(activity.size());
  return results;
}

} // namespace weft::autodiff
