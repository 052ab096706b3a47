// Control flow, recordings and pullbacks on many tensors at once.
#include <algorithm>
#include <optional>
#include <utility>

#include "Autodiff/Batching.h"
#include "Autodiff/Masking.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/TensorEmitter.h"
#include "Runtime/NewTensor.h"

namespace weft::autodiff {

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
    self_.follow(results); // a body may give what no op takes
    varies_.resize(results.size());
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (!results[i].defined()) continue;
      varies_[i] = varies_[i] || self_.varies(results[i]);
      results[i] = self_.plain(results[i]);
    }
    return results;
  }
  /// The results of a body whose results are no such state.
  std::vector<Tensor> enter(const detail::Body &body, std::span<const Tensor> inputs) const {
    const OnTop here(self_);
    std::vector<Tensor> results = body(given(inputs));
    self_.follow(results);
    return results;
  }
  /// The results, with all members of those that vary.
  std::vector<Tensor> run(const detail::Body &body, std::span<const Tensor> inputs) const {
    std::vector<Tensor> results = enter(body, inputs);
    const OnTop here(self_);
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
  if (any_varies(call.operands)) return choose_by_member(call.name, call.operands[0], call.bodies);
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
  if (any_varies(call.operands.first(bounds))) return construct_masked_count(call);
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
  const auto plain_types = [&] {
    std::vector<TracedType> types;
    for (std::size_t i = 0; i < begin.size(); ++i) types.push_back(plain_type(i));
    return types;
  };
  for (std::vector<bool> before(begin.size(), true); before != state.all();) {
    before = state.all();
    std::vector<TracedType> types = plain_types();
    if (counted) types.insert(types.begin(), TensorType{DType::i64, {}});
    Interpreter::types_of(
        call.name,
        [&](std::span<const Tensor> inputs) { return state.find(call.bodies.back(), inputs); },
        types);
  }
  if (!counted && condition_varies(call, state.all(), plain_types()))
    return construct_masked_loop(call);
  std::vector<Tensor> operands(call.operands.begin(), call.operands.end());
  for (std::size_t i = 0; i < begin.size(); ++i)
    if (state.varies(i)) operands[bounds + i] = members(begin[i]);
  std::vector<detail::Body> bodies;
  if (!counted)
    bodies.emplace_back(
        [&](std::span<const Tensor> inputs) { return state.enter(call.bodies[0], inputs); });
  bodies.emplace_back(
      [&](std::span<const Tensor> inputs) { return state.run(call.bodies.back(), inputs); });
  ConstructCall inner = call;
  inner.operands = operands;
  inner.bodies = bodies;
  return state.batched(Interpreter::construct(inner));
}

/// Whether members may leave a loop with such state one after the other.
bool Batcher::condition_varies(const ConstructCall &call, const std::vector<bool> &varying,
                               std::span<const TracedType> types) {
  State condition(*this, 0, varying);
  bool varies = false;
  Interpreter::types_of(
      call.name,
      [&](std::span<const Tensor> inputs) {
        std::vector<Tensor> holds = condition.enter(call.bodies[0], inputs);
        const OnTop here(*this);
        varies = any_varies(holds);
        for (Tensor &result : holds) result = plain(result);
        return holds;
      },
      types);
  return varies;
}

std::vector<Tensor> Batcher::construct_masked_loop(const ConstructCall &call) {
  const MaskedLoop masked(call.name, call.bodies[0](call.operands).at(0), call.bodies[0],
                          call.bodies[1], call.operands);
  const detail::Body bodies[] = {masked.condition(), masked.body()};
  ConstructCall inner = call;
  inner.operands = masked.state();
  inner.bodies = bodies;
  std::vector<Tensor> results = construct_loop(inner);
  results.erase(results.begin());
  return results;
}

std::vector<Tensor> Batcher::construct_masked_count(const ConstructCall &call) {
  const MaskedCount masked(call.name, call.operands[0], call.operands[1], call.step,
                           call.bodies[0]);
  std::vector<Tensor> operands(call.operands.begin(), call.operands.end());
  operands[0] = detail::new_scalar(std::int64_t{0});
  operands[1] = masked.iterations();
  const detail::Body body = masked.body();
  ConstructCall inner = call;
  inner.operands = operands;
  inner.bodies = {&body, 1};
  inner.step = 1;
  return construct_loop(inner);
}

std::vector<TracedType> Batcher::types_of(std::string_view name, const detail::Body &body,
                                          std::span<const TracedType> inputs) {
  // The types are those of one member.
  return Interpreter::types_of(
      name,
      [&](std::span<const Tensor> given) {
        const OnTop here(*this);
        std::vector<Tensor> results = body(given);
        follow(results);
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

/// A tensor of its own with that value, which who is below sees through.
Tensor Batcher::own(const Tensor &all) const {
  const Scope under(previous_);
  const detail::Body same = [](std::span<const Tensor> cotangents) {
    return std::vector(cotangents.begin(), cotangents.end());
  };
  return weft::attach_pullback({.name = name_,
                                .operands = {&all, 1},
                                .results = {&all, 1},
                                .pullback = same,
                                .natural = true})[0];
}

/// A recording on the members. What is followed has tensors of its own there, all members of it
/// also where it is the same for all: each member has a derivative by it.
Recording Batcher::record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                          std::uint32_t orders) {
  // One may be recorded within another, which goes on to follow.
  struct Restore {
    Batcher &self;
    decltype(followed_) followed = self.followed_;
    const std::function<void(const Tensor &)> *following = self.following_;
    ~Restore() {
      self.followed_ = std::move(followed);
      self.following_ = following;
    }
  } around{*this};
  std::vector<Tensor> kept; // so that no address is taken twice
  const std::function<void(const Tensor &)> found = [&](const Tensor &tensor) {
    if (around.following != nullptr) (*around.following)(tensor);
    if (carries_gradient(tensor.dtype()) && watched(tensor)) kept.push_back(tensor);
  };
  following_ = &found;
  types_of(name, body, {});
  following_ = around.following;
  std::unordered_map<const detail::TensorImpl *, Tensor> followed;
  for (const Tensor &tensor : kept)
    if (!followed.contains(tensor.impl())) followed.emplace(tensor.impl(), own(members(tensor)));
  std::vector<bool> varying;
  Recording inner = Interpreter::record(
      name,
      [&](std::span<const Tensor> inputs) {
        const OnTop here(*this);
        followed_ = around.followed;
        for (const auto &[impl, all] : followed) followed_.insert_or_assign(impl, all);
        std::vector<Tensor> results = body(inputs);
        varying.clear();
        for (Tensor &result : results) {
          varying.push_back(varies(result) || carries_gradient(result.dtype()));
          if (varying.back()) result = members(result);
        }
        followed_ = around.followed;
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
  const auto above = [&](const Tensor &all) {
    for (const Tensor &tensor : kept)
      if (followed.at(tensor.impl()).impl() == all.impl()) return tensor;
    return Tensor();
  };
  std::vector<bool> hidden(inner.results.size(), false);
  return keep_recording(std::move(inner), std::move(outer), above, std::move(hidden));
}

/// Notes a recording on the members and gives it as it is seen above: by the operands that someone
/// follows there, which `above(all)` gives for all members of one. Derivatives by others, which
/// whoever is below follows, are nothing that is asked for here.
Recording Batcher::keep_recording(Recording inner, Recording outer,
                                  const std::function<Tensor(const Tensor &)> &above,
                                  std::vector<bool> hidden) {
  RecordedOnMembers on_members{.recording = std::move(inner), .hidden = std::move(hidden)};
  outer.wrt.clear();
  for (const std::uint32_t i : on_members.recording.wrt) {
    const Tensor seen = above(outer.operands[i]);
    on_members.asked.push_back(seen.defined());
    if (!seen.defined()) continue;
    outer.wrt.push_back(i);
    outer.operands[i] = seen;
  }
  recordings_.insert_or_assign(outer.program.get(), std::move(on_members));
  return outer;
}

/// A cotangent for all members of each floating result on the members, of which those above know
/// these: zeros of others.
std::vector<Tensor> Batcher::on_members(const RecordedOnMembers &recorded,
                                        std::span<const Tensor> cotangents) const {
  std::vector<Tensor> all;
  std::size_t next = 0;
  for (std::size_t i = 0; i < recorded.recording.results.size(); ++i) {
    const Tensor &result = recorded.recording.results[i];
    if (!carries_gradient(result.dtype())) continue;
    const Scope under(previous_);
    all.push_back(recorded.hidden[i] ? TensorEmitter().filled(0, result)
                                     : members(cotangents[next++]));
  }
  return all;
}

std::vector<Tensor> Batcher::pull(const Recording &recording, std::span<const Tensor> cotangents) {
  if (const auto found = recordings_.find(recording.program.get()); found != recordings_.end()) {
    const RecordedOnMembers &recorded = found->second;
    const std::vector<Tensor> gradients =
        Interpreter::pull(recorded.recording, on_members(recorded, cotangents));
    std::vector<Tensor> asked;
    for (std::size_t i = 0; i < gradients.size(); ++i)
      if (recorded.asked[i]) asked.push_back(batch(gradients[i]));
    return asked;
  }
  if (!any_varies(cotangents)) return Interpreter::pull(recording, cotangents);
  // What was recorded for one is pulled once for each member.
  return once_per_member(cotangents, [&](std::span<const Tensor> one) {
    return Interpreter::current()->pull(recording, one);
  });
}

/// Of what was recorded on the members it is one on the members as well.
Recording Batcher::record_pull(const Recording &recording, std::span<const Tensor> cotangents,
                               const IsWatched &watched) {
  const auto found = recordings_.find(recording.program.get());
  if (found == recordings_.end()) {
    if (any_varies(cotangents)) refuse("the second derivative of what was recorded for one");
    return Interpreter::record_pull(recording, cotangents, watched);
  }
  const RecordedOnMembers recorded = found->second; // more are noted before this is over
  // Whom those above follow, by all members of it: operands, and cotangents.
  std::vector<Tensor> above, all = recorded.recording.operands;
  above.resize(all.size());
  for (const std::uint32_t i : recording.wrt) above[i] = recording.operands[i];
  std::vector<Tensor> pulled = on_members(recorded, cotangents);
  std::size_t next = 0, given = 0;
  for (std::size_t i = 0; i < recorded.recording.results.size(); ++i) {
    if (!carries_gradient(recorded.recording.results[i].dtype())) continue;
    Tensor &cotangent = pulled[next++];
    cotangent = own(cotangent);
    all.push_back(cotangent);
    above.push_back(recorded.hidden[i] ? Tensor() : cotangents[given++]);
  }
  const auto seen_above = [&](const Tensor &tensor) {
    const auto i = std::ranges::find(all, tensor.impl(), &Tensor::impl) - all.begin();
    return i < std::ssize(all) ? above[static_cast<std::size_t>(i)] : Tensor();
  };
  Recording inner = Interpreter::record_pull(recorded.recording, pulled, [&](const Tensor &tensor) {
    const Tensor seen = seen_above(tensor);
    return seen.defined() && watched(seen);
  });
  Recording outer = inner;
  outer.results.clear();
  std::vector<bool> hidden;
  for (std::size_t i = 0; i < inner.results.size(); ++i) {
    hidden.push_back(!recorded.asked[i]);
    if (recorded.asked[i]) outer.results.push_back(batch(inner.results[i]));
  }
  return keep_recording(std::move(inner), std::move(outer), seen_above, std::move(hidden));
}

} // namespace weft::autodiff
