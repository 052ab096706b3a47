// Runs control flow that members of a batch decide differently.
#include "Autodiff/Masking.h"

#include <algorithm>
#include <optional>

#include "Autodiff/Mask.h"
#include "Autodiff/TensorEmitter.h"
#include "Ops/ConstructChecks.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include <weft/composites.h>
#include <weft/detail/binding.h>
#include <weft/error.h>
#include <weft/ops.h>

namespace weft::autodiff {

namespace {

Tensor number(std::int64_t value) { return detail::new_scalar(value); }

/// For which members something is done: as it is, and reduced over them.
struct Some {
  explicit Some(const Tensor &holds) : each(holds), any(over_members(OpCode::any, holds)) {
    if (!any.traced()) everyone = over_members(OpCode::reduce_all, holds).item<bool>();
  }

  bool known() const { return !any.traced(); }
  bool nobody() const { return known() && !any.item<bool>(); }

  Tensor each, any;
  bool everyone = false; ///< if known
};

/// Checks, when the program runs, sizes that a trace does not know: `text` says of which.
void check_open_sizes(const std::string &text, const Tensor &a, const Tensor &b) {
  const Shape left = detail::type_of(a).shape, right = detail::type_of(b).shape;
  for (std::size_t d = 0; d < left.size(); ++d) {
    if (left[d] != unknown && right[d] != unknown) continue;
    const auto axis = static_cast<std::int64_t>(d);
    const Tensor sizes[] = {size_of(a, {.axis = axis}), size_of(b, {.axis = axis})};
    detail::check_sizes(equal(sizes[0], sizes[1]),
                        text + " in axis " + std::to_string(axis) + ": {} and {}", sizes);
  }
}

/// The body's results for these members.
std::vector<Tensor> run_for(std::string_view name, const Some &some, const detail::Body &body) {
  const PushedMask mask(name, some.each, some.everyone);
  const UserCode user;
  std::vector<Tensor> results = body({});
  for (const Tensor &result : results)
    if (!result.defined())
      throw ValueError(std::string(name) + ": a tensor that a body returns is undefined");
  return results;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// Which members take which case.
std::vector<Tensor> takers(const Tensor &chosen, std::size_t cases) {
  if (chosen.dtype() == DType::boolean) return {chosen, logical_not(chosen)};
  const auto last = static_cast<std::int64_t>(cases) - 1;
  const Tensor at = cast(chosen, DType::i64);
  const Tensor inside = logical_and(at >= number(0), at <= number(last));
  std::vector<Tensor> masks;
  for (std::int64_t i = 0; i < last; ++i) masks.push_back(at == number(i));
  masks.push_back(logical_or(at == number(last), logical_not(inside)));
  return masks;
}

/// Looks whether what a body does may raise, or go on without end, for members that do not take it.
class Risks : public Layer {
public:
  Tensor apply(const OpCall &call) override {
    const OpInfo &info = op_info(call.op);
    found |= info.effects.stops || info.kind == OpKind::routine;
    for (std::size_t i = 0; i < call.operands.size(); ++i) {
      const OperandInfo &operand = info.operands[std::min(i, info.operands.size() - 1)];
      found |= operand.role == OperandRole::index ||
               !detail::type_of(call.operands[i]).shape.is_static();
    }
    return Layer::apply(call);
  }
  std::vector<Tensor> construct(const ConstructCall &call) override {
    found = true;
    return Layer::construct(call);
  }

  bool found = false;
};

/// What a trace knows of a case before it records it.
struct Surveyed {
  std::vector<TracedType> types;
  bool risky = false;
};

Surveyed survey(std::string_view name, const detail::Body &body) {
  Surveyed surveyed;
  surveyed.types = Interpreter::current()->types_of(name,
                                                    [&](std::span<const Tensor> inputs) {
                                                      Pushed<Risks> risks;
                                                      const UserCode user;
                                                      std::vector<Tensor> results = body(inputs);
                                                      surveyed.risky = risks.found;
                                                      return results;
                                                    },
                                                    {});
  return surveyed;
}

/// The cases in a trace, which does not know whether anybody takes them.
class TracedCases {
public:
  TracedCases(std::string_view name, const Tensor &chosen, std::span<const detail::Body> bodies,
              std::span<const Some> some)
      : name_(name), bodies_(bodies), some_(some) {
    for (const detail::Body &body : bodies) surveys_.push_back(survey(name, body));
    std::vector<TracedType> types = surveys_[0].types;
    for (std::size_t i = 1; i < surveys_.size(); ++i) {
      check_branch_results(name, i, types.size(), surveys_[i].types.size());
      for (std::size_t r = 0; r < types.size(); ++r)
        meet_branches(name, r, i, types[r], surveys_[i].types[r]);
    }
    for (const Surveyed &surveyed : surveys_)
      if (surveyed.risky && !are_static(surveyed.types)) {
        take_first(chosen);
        break;
      }
  }

  std::vector<Tensor> results(std::size_t i) const {
    const auto run = [&](std::span<const Tensor>) { return run_for(name_, some_[i], bodies_[i]); };
    if (!surveys_[i].risky) return run({});
    if (first_) {
      const Tensor differs = logical_and(some_[i].any, *first_ != number(static_cast<int>(i)));
      return branch(differs, run, [&](std::span<const Tensor>) { return of_first_; });
    }
    return branch(some_[i].any, run, [&](std::span<const Tensor>) {
      std::vector<Tensor> nothing;
      for (const TracedType &type : surveys_[i].types)
        nothing.push_back(zeros(type.type.shape, type.type.dtype));
      return nothing;
    });
  }

private:
  static bool are_static(const std::vector<TracedType> &types) {
    return std::ranges::all_of(types, [](const TracedType &t) { return t.type.shape.is_static(); });
  }
  std::vector<Tensor> branch(const Tensor &condition, const detail::Body &then,
                             const detail::Body &otherwise) const {
    const detail::Body bodies[] = {then, otherwise};
    return Interpreter::current()->construct(
        ConstructCall{ConstructKind::branch, name_, {&condition, 1}, bodies});
  }
  /// Where sizes are open, who takes a case has to be found to know them: the case of the first
  /// member gives results for the others that nobody takes.
  void take_first(const Tensor &chosen) {
    Tensor at = number(0);
    const std::vector<Tensor> masks = takers(chosen, bodies_.size());
    for (std::size_t i = 1; i < masks.size(); ++i)
      at = select(masks[i], number(static_cast<std::int64_t>(i)), at);
    // The lowest number that anybody chooses.
    first_ = over_members(OpCode::reduce_min, at);
    std::vector<detail::Body> masked;
    for (std::size_t i = 0; i < bodies_.size(); ++i)
      masked.emplace_back(
          [this, i](std::span<const Tensor>) { return run_for(name_, some_[i], bodies_[i]); });
    of_first_ = Interpreter::current()->construct(
        ConstructCall{ConstructKind::choice, name_, {&*first_, 1}, masked});
  }

  std::string_view name_;
  std::span<const detail::Body> bodies_;
  std::span<const Some> some_;
  std::vector<Surveyed> surveys_;
  std::optional<Tensor> first_; ///< a case that somebody takes, if they depend on it
  std::vector<Tensor> of_first_;
};

/// Throws unless the results of two cases, which different members take, are of the same types.
void check_agree(std::string_view name, std::size_t first, std::span<const Tensor> results,
                 std::size_t other, std::span<const Tensor> others) {
  check_branch_results(name, other, results.size(), others.size());
  for (std::size_t r = 0; r < results.size(); ++r) {
    TracedType type(results[r]);
    meet_branches(name, r, other, type, TracedType(others[r]));
    check_same_sizes(name, r, first, detail::type_of(results[r]).shape, other,
                     detail::type_of(others[r]).shape);
    check_open_sizes(std::string(name) + ": tensor " + std::to_string(r) +
                         " of the result has different sizes in branches that members of a batch "
                         "choose differently,",
                     results[r], others[r]);
  }
}

} // namespace

std::vector<Tensor> choose_by_member(std::string_view name, const Tensor &chosen,
                                     std::span<const detail::Body> cases) {
  std::vector<Some> some;
  for (const Tensor &mask : takers(chosen, cases.size())) some.emplace_back(mask);
  std::optional<TracedCases> traced;
  if (!some[0].known()) traced.emplace(name, chosen, cases, some);
  std::vector<Tensor> chosen_results;
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    if (some[i].nobody()) continue;
    std::vector<Tensor> results = traced ? traced->results(i) : run_for(name, some[i], cases[i]);
    if (!first) {
      first = i;
      chosen_results = std::move(results);
      continue;
    }
    check_agree(name, *first, chosen_results, i, results);
    for (std::size_t r = 0; r < results.size(); ++r)
      if (results[r].impl() != chosen_results[r].impl())
        chosen_results[r] = select(some[i].each, results[r], chosen_results[r]);
  }
  return chosen_results;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {

/// The state after an iteration of those members. `body` runs on the state as they have it, behind
/// `leading`; `then` is asked with what it gave, if it is given.
std::vector<Tensor> iterate(std::string_view name, const Tensor &active,
                            std::span<const Tensor> leading, std::span<const Tensor> state,
                            const detail::Body &body, const detail::Body *then, Tensor *still) {
  const Tensor any = over_members(OpCode::any, active);
  const bool everyone = !any.traced() && over_members(OpCode::reduce_all, active).item<bool>();
  std::vector<Tensor> given, next;
  {
    PushedMask mask(name, active, everyone);
    for (const Tensor &tensor : leading) given.push_back(mask.inside_of(tensor));
    for (const Tensor &tensor : state) given.push_back(mask.inside_of(tensor));
    const UserCode user;
    next = body(given);
    for (std::size_t i = 0; i < state.size(); ++i) {
      if (!next.at(i).defined())
        throw ValueError(std::string(name) + ": a tensor that the body returns is undefined");
      check_sizes_stay(name, i, detail::type_of(state[i]), detail::type_of(next[i]));
      if (next[i].impl() != given[leading.size() + i].impl())
        check_open_sizes(std::string(name) + ": loop variable " + std::to_string(i) +
                             " changes its size in a loop that members of a batch leave one after "
                             "the other,",
                         state[i], next[i]);
    }
    if (then != nullptr) *still = (*then)(next).at(0);
  }
  for (std::size_t i = 0; i < state.size(); ++i) {
    if (next[i].impl() == given[leading.size() + i].impl()) next[i] = state[i];
    else if (!everyone) next[i] = select(active, next[i], state[i]);
  }
  return next;
}

} // namespace

MaskedLoop::MaskedLoop(std::string_view name, const Tensor &holds, detail::Body condition,
                       detail::Body body, std::span<const Tensor> state)
    : name_(name), condition_(std::move(condition)), body_(std::move(body)),
      where_(CallSite::current()), state_{holds} {
  state_.insert(state_.end(), state.begin(), state.end());
}

detail::Body MaskedLoop::condition() const {
  return [](std::span<const Tensor> state) {
    return std::vector{over_members(OpCode::any, state[0])};
  };
}

detail::Body MaskedLoop::body() const {
  return [this](std::span<const Tensor> state) {
    const AsIfAt site(where_);
    Tensor holds;
    std::vector<Tensor> next =
        iterate(name_, state[0], {}, state.subspan(1), body_, &condition_, &holds);
    if (!holds.defined()) throw StateError(name_ + ": the condition returns an undefined tensor");
    check_condition(name_, detail::type_of(holds));
    next.insert(next.begin(), logical_and(state[0], holds));
    return next;
  };
}

MaskedCount::MaskedCount(std::string_view name, const Tensor &low, const Tensor &high,
                         std::int64_t step, detail::Body body)
    : name_(name), low_(low), step_(step), body_(std::move(body)), where_(CallSite::current()) {
  // (high - 1 - low) / step + 1, by parts, since the difference may have no i64.
  const Tensor by = number(step), end = high - number(1);
  const Tensor steps = floor_divide(end, by) - floor_divide(low, by);
  const Tensor less = cast(remainder(end, by) < remainder(low, by), DType::i64);
  each_ = select(low < high, steps - less + number(1), number(0));
  most_ = over_members(OpCode::reduce_max, each_);
}

detail::Body MaskedCount::body() const {
  return [this](std::span<const Tensor> inputs) {
    const AsIfAt site(where_);
    const Tensor at = low_ + inputs[0] * number(step_);
    return iterate(name_, inputs[0] < each_, {&at, 1}, inputs.subspan(1), body_, nullptr, nullptr);
  };
}

} // namespace weft::autodiff
