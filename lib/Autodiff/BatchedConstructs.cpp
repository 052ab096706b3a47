// Control flow, recordings and pullbacks on many tensors at once.
#include <algorithm>
#include <optional>
#include <utility>

#include "Autodiff/Batching.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/TensorEmitter.h"
#include "Runtime/NewTensor.h"

namespace weft::autodiff {

namespace {

/// For what a value that differs by member would choose.
[[noreturn]] void refuse_choice(std::string_view of, std::string_view name) {
  throw StateError(std::string(of) + ": " + std::string(name) +
                   " cannot be done on many tensors at once, which may choose differently: write "
                   "it with ops, which do it for each, and weft.select for what a branch chooses");
}

} // namespace

//===----------------------------------------------------------------------===//
// Control flow in traces: its state, of which some stands for many
//===----------------------------------------------------------------------===//

/// Runs bodies whose inputs, behind the first `fixed`, and results are such state.
class Batcher::State {
public:
  State(Batcher &self, std::size_t fixed, std::vector<bool> varies)
      : self_(self), fixed_(fixed), varies_(std::move(varies)) {}

  bool varies(std::size_t i) const { return varies_[i]; }
  const std::vector<bool> &all() const { return varies_; }

  /// The results as the trace has them; what is found to vary does from now on.
  std::vector<Tensor> find(const detail::Body &body, std::span<const Tensor> inputs) {
    const OnTop here(self_);
    std::vector<Tensor> results = body(given(inputs));
    varies_.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) continue;
      varies_[i] = varies_[i] || self_.varies(results[i]);
      results[i] = self_.plain(results[i]);
    }
    return results;
  }
  /// The results, with all members of those that vary.
  std::vector<Tensor> run(const detail::Body &body, std::span<const Tensor> inputs) const {
    const OnTop here(self_);
    std::vector<Tensor> results = body(given(inputs));
    for (std::size_t i = 0; i < results.size() && i < varies_.size(); ++i)
      if (varies_[i] && results[i].defined()) results[i] = self_.members(results[i]);
    return results;
  }
  /// What a construct with such state gave.
  std::vector<Tensor> batched(std::vector<Tensor> results) const {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (varies_[i]) results[i] = self_.batch(results[i]);
    return results;
  }

private:
  std::vector<Tensor> given(std::span<const Tensor> inputs) const {
    std::vector<Tensor> tensors(inputs.begin(), inputs.end());
    for (std::size_t i = fixed_; i < tensors.size(); ++i)
      if (varies_[i - fixed_]) tensors[i] = self_.batch(tensors[i]);
    return tensors;
  }

  Batcher &self_;
  std::size_t fixed_;
  std::vector<bool> varies_;
};

std::vector<Tensor> Batcher::construct(const ConstructCall &call) {
  follow(call.operands);
  switch (call.kind) {
  case ConstructKind::branch:
  case ConstructKind::choice: return construct_choice(call);
  case ConstructKind::loop:
  case ConstructKind::counted: return construct_loop(call);
  case ConstructKind::host:
    if (!any_varies(call.operands)) break;
    return once_per_member(call.operands, [&](std::span<const Tensor> one) {
      ConstructCall inner = call;
      inner.operands = one;
      return Interpreter::current()->construct(inner);
    });
  case ConstructKind::push:
  case ConstructKind::call:
  case ConstructKind::record:
  case ConstructKind::pull:
  case ConstructKind::custom:
    if (any_varies(call.operands)) refuse(call.name);
    break;
  }
  return Interpreter::construct(call);
}

std::vector<Tensor> Batcher::construct_choice(const ConstructCall &call) {
  if (any_varies(call.operands)) refuse_choice(name_, call.name);
  State state(*this, 0, {});
  for (const detail::Body &body : call.bodies)
    Interpreter::types_of(
        call.name, [&](std::span<const Tensor> inputs) { return state.find(body, inputs); }, {});
  std::vector<detail::Body> bodies;
  for (const detail::Body &body : call.bodies)
    bodies.emplace_back([&](std::span<const Tensor> inputs) { return state.run(body, inputs); });
  ConstructCall inner = call;
  inner.bodies = bodies;
  return state.batched(Interpreter::construct(inner));
}

std::vector<Tensor> Batcher::construct_loop(const ConstructCall &call) {
  const bool counted = call.kind == ConstructKind::counted;
  // A counted loop has two bounds, and its body one number, before the state.
  const std::size_t bounds = counted ? 2 : 0;
  const std::span<const Tensor> begin = call.operands.subspan(bounds);
  if (any_varies(call.operands.first(bounds))) refuse_choice(name_, call.name);
  std::vector<bool> varies;
  for (const Tensor &part : begin) varies.push_back(this->varies(part));
  State state(*this, counted ? 1 : 0, varies);
  const auto plain_type = [&](std::size_t i) {
    TracedType traced(begin[i]);
    if (!state.varies(i)) return traced;
    const std::int64_t count = count_.is_number() ? count_.number() : unknown;
    traced.type.shape.insert(0, count);
    traced.hint.insert(0, count);
    return traced;
  };
  // State varies if it does at the start, or if an iteration makes it so; this ends.
  for (std::vector<bool> before(begin.size(), true); before != state.all();) {
    before = state.all();
    std::vector<TracedType> types;
    if (counted) types.push_back(TensorType{DType::i64, {}});
    for (std::size_t i = 0; i < begin.size(); ++i) types.push_back(plain_type(i));
    Interpreter::types_of(
        call.name,
        [&](std::span<const Tensor> inputs) { return state.find(call.bodies.back(), inputs); },
        types);
  }
  std::vector<Tensor> operands(call.operands.begin(), call.operands.end());
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (state.varies(i)) operands[bounds + i] = members(begin[i]);
  std::vector<detail::Body> bodies;
  if (!counted)
    bodies.emplace_back([&](std::span<const Tensor> inputs) {
      State condition(*this, 0, state.all());
      std::vector<Tensor> holds = condition.find(
          [&](std::span<const Tensor> given) {
            std::vector<Tensor> results = call.bodies[0](given);
            if (any_varies(results)) refuse_choice(name_, call.name);
            return results;
          },
          inputs);
      return holds;
    });
  bodies.emplace_back(
      [&](std::span<const Tensor> inputs) { return state.run(call.bodies.back(), inputs); });
  ConstructCall inner = call;
  inner.operands = operands;
  inner.bodies = bodies;
  return state.batched(Interpreter::construct(inner));
}

std::vector<TracedType> Batcher::types_of(std::string_view name, const detail::Body &body,
                                          std::span<const TracedType> inputs) {
  // The types are those of one member.
  return Interpreter::types_of(
      name,
      [&](std::span<const Tensor> given) {
        const OnTop here(*this);
        std::vector<Tensor> results = body(given);
        const Scope under(previous_);
        return member(results, 0);
      },
      inputs);
}

//===----------------------------------------------------------------------===//
// Pullbacks
//===----------------------------------------------------------------------===//

std::vector<Tensor> Batcher::attach_pullback(const PullbackCall &call) {
  follow(call.operands);
  if (!any_varies(call.operands) && !any_varies(call.results))
    return Interpreter::attach_pullback(call);
  std::vector<bool> operand_varies, result_varies;
  std::vector<Tensor> operands, results;
  for (const Tensor &operand : call.operands) {
    operand_varies.push_back(varies(operand));
    operands.push_back(plain(operand));
  }
  for (const Tensor &result : call.results) {
    result_varies.push_back(varies(result));
    results.push_back(plain(result));
  }
  const auto on_members = [&](const detail::Body &pullback) -> detail::Body {
    return [batcher = *this, pullback, operand_varies,
            result_varies](std::span<const Tensor> cotangents) {
      Pushed<Batcher> here(batcher);
      std::vector<Tensor> given(cotangents.begin(), cotangents.end());
      for (std::size_t i = 0; i < given.size(); ++i)
        if (result_varies[i] && given[i].defined()) given[i] = here.batch(given[i]);
      std::vector<Tensor> gradients = pullback(given);
      for (std::size_t i = 0; i < gradients.size() && i < operand_varies.size(); ++i) {
        if (!gradients[i].defined()) continue;
        gradients[i] = here.members(gradients[i]);
        if (operand_varies[i]) continue;
        // Of what is the same for all members, each has its part.
        const Scope under(here.previous());
        gradients[i] = TensorEmitter().sum(gradients[i], Ints{0});
      }
      return gradients;
    };
  };
  const detail::Body pullback = on_members(call.pullback);
  std::optional<detail::Body> traced;
  if (call.traced != nullptr) traced = on_members(*call.traced);
  const PullbackCall attached{.name = call.name,
                              .operands = operands,
                              .results = results,
                              .pullback = pullback,
                              .natural = call.natural,
                              .again = call.again,
                              .zeros = call.zeros,
                              .traced = traced ? &*traced : nullptr,
                              .refusal = call.refusal,
                              .refused = call.refused};
  std::vector<Tensor> all = Interpreter::attach_pullback(attached);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (result_varies[i]) all[i] = batch(all[i]);
  return all;
}

//===----------------------------------------------------------------------===//
// What tapes record in traces
//===----------------------------------------------------------------------===//

void Batcher::follow(std::span<const Tensor> tensors) {
  if (following_ == nullptr) return;
  for (const Tensor &tensor : tensors)
    if (tensor.defined()) (*following_)(tensor);
}

/// A recording on the members. What is followed has tensors of its own there, all members of it
/// also where it is the same for all: each member has a derivative by it.
Recording Batcher::record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                          std::uint32_t orders) {
  struct Reset {
    Batcher &self;
    ~Reset() {
      self.followed_.clear();
      self.following_ = nullptr;
    }
  } reset{*this};
  std::vector<Tensor> kept; // so that no address is taken twice
  const std::function<void(const Tensor &)> found = [&](const Tensor &tensor) {
    if (carries_gradient(tensor.dtype()) && watched(tensor)) kept.push_back(tensor);
  };
  following_ = &found;
  types_of(name, body, {});
  following_ = nullptr;
  std::unordered_map<const detail::TensorImpl *, Tensor> followed;
  for (const Tensor &tensor : kept)
    if (!followed.contains(tensor.impl()))
      followed.emplace(tensor.impl(), detail::new_alias(members(tensor)));
  std::vector<bool> varying;
  Recording inner = Interpreter::record(
      name,
      [&](std::span<const Tensor> inputs) {
        const OnTop here(*this);
        followed_ = followed;
        std::vector<Tensor> results = body(inputs);
        varying.clear();
        for (Tensor &result : results) {
          varying.push_back(varies(result) || carries_gradient(result.dtype()));
          if (varying.back()) result = members(result);
        }
        followed_.clear();
        return results;
      },
      [&](const Tensor &tensor) {
        return std::ranges::any_of(
            followed, [&](const auto &entry) { return entry.second.impl() == tensor.impl(); });
      },
      orders);
  Recording outer = inner;
  for (std::size_t i = 0; i < outer.results.size(); ++i)
    if (varying[i]) outer.results[i] = batch(outer.results[i]);
  for (Tensor &operand : outer.operands)
    for (const auto &[impl, all] : followed)
      if (all.impl() == operand.impl())
        operand = *std::ranges::find_if(kept, [&](const Tensor &t) { return t.impl() == impl; });
  recordings_.insert_or_assign(inner.program.get(), std::move(inner));
  return outer;
}

std::vector<Tensor> Batcher::pull(const Recording &recording, std::span<const Tensor> cotangents) {
  if (const auto found = recordings_.find(recording.program.get()); found != recordings_.end()) {
    std::vector<Tensor> all;
    for (const Tensor &cotangent : cotangents) all.push_back(members(cotangent));
    std::vector<Tensor> gradients = Interpreter::pull(found->second, all);
    for (Tensor &gradient : gradients) gradient = batch(gradient);
    return gradients;
  }
  if (!any_varies(cotangents)) return Interpreter::pull(recording, cotangents);
  // What was recorded for one is pulled once for each member.
  return once_per_member(cotangents, [&](std::span<const Tensor> one) {
    return Interpreter::current()->pull(recording, one);
  });
}

Recording Batcher::record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                               const IsWatched &watched) {
  if (recordings_.contains(recording.program.get()) || any_varies(cotangents))
    refuse("the second derivative of control flow in a traced function");
  return Interpreter::record_pull(recording, cotangents, watched);
}

} // namespace weft::autodiff
