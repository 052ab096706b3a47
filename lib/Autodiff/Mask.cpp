// Keeps members of a batch out of what is done for others.
#include "Autodiff/Mask.h"

#include "Autodiff/Batching.h"
#include "Autodiff/Pushforward.h"
#include "Autodiff/Rules/Calls.h"
#include "Autodiff/Tape.h"
#include "Autodiff/TensorEmitter.h"

namespace weft::autodiff {

namespace {

/// The tensor as one of the members has it for which `holds` does, whichever that is, as seen by
/// the interpreters from `at` on: at no level that `holds` differs in does it differ itself.
/// The tensor if that is true of it anyway.
Tensor of_a_member(Interpreter *at, Tensor tensor, const Tensor &holds) {
  for (; at != nullptr; at = at->previous()) {
    if (auto *mask = dynamic_cast<Mask *>(at)) {
      tensor = mask->inside_of(tensor);
      continue;
    }
    auto *batcher = dynamic_cast<Batcher *>(at);
    if (batcher == nullptr) continue;
    const bool differs = batcher->varies(tensor);
    if (!batcher->varies(holds)) {
      if (!differs) continue;
      const Tensor all = batcher->members(tensor);
      const Tensor found = of_a_member(at->previous(), all, holds);
      return found.impl() == all.impl() ? tensor : batcher->batch(found);
    }
    const Interpreter::Scope under(at->previous());
    TensorEmitter e;
    const Tensor members = batcher->members(holds);
    if (differs)
      tensor =
          e.gather(batcher->members(tensor), e.argmax_along(e.cast(members, DType::i32), 0), 0);
    // Of a batch around that may be one of which none enters.
    const Tensor some = e.any(members, Ints{0});
    if (!differs_by_member(some)) return tensor;
    const Tensor found = of_a_member(at->previous(), tensor, some);
    return found.impl() == tensor.impl() ? tensor : e.select(some, tensor, found);
  }
  return tensor;
}

} // namespace

Tensor over_members(OpCode reduction, const Tensor &scalar) {
  Tensor value = scalar;
  for (Interpreter *at = Interpreter::current(); at != nullptr; at = at->previous()) {
    auto *batcher = dynamic_cast<Batcher *>(at);
    if (batcher == nullptr || !batcher->varies(value)) continue;
    value = batcher->members(value);
    const Interpreter::Scope under(at->previous());
    const Tensor operands[] = {value};
    value = dispatch(reduction, operands, Attrs{Ints{0}, false});
  }
  return value;
}

bool differs_by_member(const Tensor &tensor) {
  for (Interpreter *at = Interpreter::current(); at != nullptr; at = at->previous())
    if (auto *batcher = dynamic_cast<Batcher *>(at); batcher != nullptr && batcher->varies(tensor))
      return true;
  return false;
}

Mask::Mask(std::string_view name, Tensor holds, bool everyone)
    : name_(name), holds_(std::move(holds)), everyone_(everyone), entered_(Batcher::next_number()) {
}

/// Whether a tape or pushforward around records nothing for the moment.
static bool is_paused(Interpreter *at) {
  for (; at != nullptr; at = at->previous()) {
    const auto *tape = dynamic_cast<const Tape *>(at);
    const auto *pushforward = dynamic_cast<const Pushforward *>(at);
    if ((tape != nullptr && tape->paused()) || (pushforward != nullptr && pushforward->paused()))
      return true;
  }
  return false;
}

Tensor Mask::inside_of(const Tensor &tensor) {
  if (everyone_ || !tensor.defined() || Batcher::number_of(tensor) >= entered_) return tensor;
  if (const auto found = seen_.find(tensor.impl()); found != seen_.end())
    return found->second.second;
  const Scope under(previous_);
  Tensor inside = tensor;
  if (Tensor one = of_a_member(previous_, tensor, holds_); one.impl() != tensor.impl()) {
    TensorEmitter e;
    if (carries_gradient(one.dtype())) one = e.stop_gradient(one);
    inside = e.select(holds_, tensor, one);
  }
  // What nobody recorded is not handed to those who record what is done with it.
  if (inside.impl() == tensor.impl() || !is_paused(previous_))
    seen_.emplace(tensor.impl(), std::pair(tensor, inside));
  return inside;
}

std::vector<Tensor> Mask::inside_of(std::span<const Tensor> tensors) {
  std::vector<Tensor> result;
  for (const Tensor &tensor : tensors) result.push_back(inside_of(tensor));
  return result;
}

void Mask::refuse(std::string_view effect) const {
  throw StateError(name_ + ": " + std::string(effect) +
                   " has an effect, and would happen for some members of vmap and not for others: "
                   "do it outside of what each decides for itself, or give what it needs as a "
                   "result");
}

void Mask::check_effect(std::string_view effect) {
  for (Interpreter *at = Interpreter::current(); at != nullptr; at = at->previous())
    if (const auto *mask = dynamic_cast<Mask *>(at)) mask->refuse(effect);
}

Tensor Mask::apply(const OpCall &call) {
  const OpInfo &info = op_info(call.op);
  if (info.effects.writes || (info.effects.io && !info.effects.stops) ||
      info.kind == OpKind::collective)
    refuse(info.name);
  const std::vector<Tensor> operands = inside_of(call.operands);
  return Layer::apply({call.op, operands, call.attrs, call.more});
}

detail::Body Mask::nested(const detail::Body &body, bool anew) {
  return [this, &body, anew](std::span<const Tensor> inputs) {
    const OnTop here(*this);
    struct Restore {
      Mask &mask;
      Seen before = mask.seen_;
      ~Restore() { mask.seen_ = std::move(before); }
    } restore{*this};
    if (anew) seen_.clear();
    return body(inputs);
  };
}

std::vector<Tensor> Mask::construct(const ConstructCall &call) {
  if (call.kind == ConstructKind::host && !call.host->pure) refuse(call.name);
  const std::vector<Tensor> operands = inside_of(call.operands);
  std::vector<detail::Body> bodies;
  for (const detail::Body &body : call.bodies) bodies.push_back(nested(body));
  ConstructCall inner = call;
  inner.operands = operands;
  inner.bodies = bodies;
  return Interpreter::construct(inner);
}

std::vector<Tensor> Mask::whole(const detail::Body &body, std::span<const Tensor> inputs) {
  return Layer::whole(body, inside_of(inputs));
}

std::vector<TracedType> Mask::types_of(std::string_view name, const detail::Body &body,
                                       std::span<const TracedType> inputs) {
  return Interpreter::types_of(name, nested(body), inputs);
}

std::vector<Tensor> Mask::attach_pullback(const PullbackCall &call) {
  const std::vector<Tensor> operands = inside_of(call.operands), results = inside_of(call.results);
  const auto masked = [&](const detail::Body &pullback) -> detail::Body {
    return [mask = *this, pullback](std::span<const Tensor> cotangents) {
      const PushedMask here(mask);
      return pullback(cotangents);
    };
  };
  const detail::Body pullback = masked(call.pullback);
  const detail::Body traced = call.traced != nullptr ? masked(*call.traced) : detail::Body();
  PullbackCall inner{.name = call.name,
                     .operands = operands,
                     .results = results,
                     .pullback = pullback,
                     .natural = call.natural,
                     .again = call.again,
                     .zeros = call.zeros,
                     .traced = call.traced != nullptr ? &traced : nullptr,
                     .refusal = call.refusal,
                     .refused = call.refused};
  return Interpreter::attach_pullback(inner);
}

Recording Mask::record(std::string_view name, const detail::Body &body, const IsWatched &watched,
                       std::uint32_t orders) {
  // Who watches knows tensors as they are around the body: what is selected of them is computed in
  // what is recorded.
  return Interpreter::record(name, nested(body, /*anew=*/true), watched, orders);
}

} // namespace weft::autodiff
