// How each op is done on batches.
#include "Autodiff/Batching.h"

#include <algorithm>
#include <array>

#include "Autodiff/Layer.h"
#include "Autodiff/TensorEmitter.h"
#include "Runtime/NewTensor.h"

namespace weft::autodiff {

/// What a tensor that stands for many points to.
struct Batcher::Ref : detail::TraceRef {
  Tensor members;
  const Batcher *owner;

  static void free(detail::TraceRef *self) { delete static_cast<Ref *>(self); }
};

Tensor Batcher::batch(const Tensor &members) const {
  const TensorType type = detail::type_of(members);
  auto *ref = new Ref;
  ref->references = 1;
  ref->destroy = Ref::free;
  ref->name = name_;
  ref->size_wanted = [](detail::TraceRef *) {};
  ref->members = members;
  ref->owner = this;
  Tensor result = detail::new_traced(type.dtype, std::span(type.shape).subspan(1), ref, 0);
  if (ref->references.fetch_sub(1) == 1) Ref::free(ref);
  return result;
}

const Tensor *Batcher::known(const Tensor &tensor) const {
  if (!tensor.defined() || !tensor.traced()) return nullptr;
  auto *base = static_cast<detail::TraceRef *>(tensor.impl()->base);
  if (base->destroy != Ref::free) return nullptr;
  const auto *ref = static_cast<const Ref *>(base);
  return ref->owner == this ? &ref->members : nullptr;
}

Tensor Batcher::members(const Tensor &tensor) const {
  const Tensor *known_members = known(tensor);
  const Scope under(previous_);
  return known_members != nullptr ? *known_members : repeated(tensor);
}

Tensor Batcher::repeated(const Tensor &tensor) const {
  Ints shape(detail::type_of(tensor).shape);
  shape.insert(0, count_);
  return TensorEmitter().broadcast(tensor, shape);
}

Tensor Batcher::raised(const Tensor &members, std::size_t rank) const {
  Ints shape(detail::type_of(members).shape);
  if (shape.size() == rank + 1) return members;
  while (shape.size() < rank + 1) shape.insert(1, 1);
  return TensorEmitter().reshape(members, shape);
}

Tensor Batcher::apply(const OpCall &call) {
  const Scope under(previous_);
  if (std::ranges::none_of(call.operands, [&](const Tensor &t) { return known(t) != nullptr; }))
    return dispatch(call.op, call.operands, call.attrs);
  // One value behind all of many is one value: what is computed again is computed once for all.
  if (call.op == OpCode::barrier && known(call.operands[0]) == nullptr)
    return dispatch(call.op, std::array{call.operands[0], *known(call.operands[1])}, call.attrs);
  if (op_info(call.op).kind == OpKind::effect)
    throw StateError(std::string(name_) + ": " + std::string(op_info(call.op).name) +
                     " has an effect, and cannot be done on many tensors at once");
  Tensor all;
  if (!member_by_member) all = at_once(call);
  if (!all.defined()) all = one_by_one(call);
  return batch(all);
}

std::vector<Tensor> Batcher::construct(const ConstructCall &call) {
  // A condition on members, or a loop that changes them, has no op to be batched.
  for (const Tensor &operand : call.operands)
    if (known(operand) != nullptr)
      throw StateError(std::string(name_) + ": " + std::string(call.name) +
                       " cannot be done on many tensors at once");
  return Interpreter::construct(call);
}

//===----------------------------------------------------------------------===//
// The op once per member
//===----------------------------------------------------------------------===//

std::vector<Tensor> Batcher::member(std::span<const Tensor> tensors, std::int64_t i) const {
  TensorEmitter e;
  std::vector<Tensor> result;
  for (const Tensor &tensor : tensors) {
    const Tensor *all = known(tensor);
    if (all == nullptr) {
      result.push_back(tensor);
      continue;
    }
    const Shape shape = detail::type_of(*all).shape;
    Ints starts(shape.size()), limits(shape), strides(shape.size(), 1);
    starts[0] = i;
    limits[0] = i + 1;
    result.push_back(
        e.reshape(e.slice(*all, starts, limits, strides), Shape(std::span(shape).subspan(1))));
  }
  return result;
}

Tensor Batcher::stacked(std::span<const Tensor> tensors) {
  TensorEmitter e;
  std::vector<Tensor> rows;
  for (const Tensor &tensor : tensors) {
    Ints shape(detail::type_of(tensor).shape);
    shape.insert(0, 1);
    rows.push_back(e.reshape(tensor, shape));
  }
  return rows.size() == 1 ? rows[0] : dispatch(OpCode::concatenate, rows, Attrs{std::int64_t{0}});
}

Tensor Batcher::one_by_one(const OpCall &call) const {
  std::vector<Tensor> results;
  for (std::int64_t i = 0; i < count_; ++i)
    results.push_back(dispatch(call.op, member(call.operands, i), call.attrs));
  return stacked(results);
}

std::vector<Tensor> Batcher::whole(const detail::Body &body, std::span<const Tensor> inputs) {
  if (std::ranges::none_of(inputs, [&](const Tensor &t) { return known(t) != nullptr; }))
    return Interpreter::whole(body, inputs);
  return once_per_member(inputs, [&](std::span<const Tensor> one) { return run_whole(body, one); });
}

/// Control flow that a trace keeps whole is one construct for each member.
std::vector<Tensor> Batcher::pull(const Recording &recording, std::span<const Tensor> cotangents) {
  if (std::ranges::none_of(cotangents, [&](const Tensor &t) { return known(t) != nullptr; }))
    return Interpreter::pull(recording, cotangents);
  return once_per_member(cotangents, [&](std::span<const Tensor> one) {
    return Interpreter::current()->pull(recording, one);
  });
}

std::vector<Tensor> Batcher::once_per_member(
    std::span<const Tensor> tensors,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)> &run) const {
  const Scope under(previous_);
  std::vector<std::vector<Tensor>> results; // by result, then by member
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::vector<Tensor> given = run(member(tensors, i));
    results.resize(given.size());
    for (std::size_t r = 0; r < given.size(); ++r) results[r].push_back(given[r]);
  }
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &rows : results) all.push_back(batch(stacked(rows)));
  return all;
}

//===----------------------------------------------------------------------===//
// The op on all members
//===----------------------------------------------------------------------===//

namespace {

/// The numbers of axes, one higher for the axis of the members in front.
Ints shifted(const Ints &axes, std::size_t rank) {
  Ints result;
  for (const std::int64_t axis : axes)
    result.push_back((axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis) + 1);
  return result;
}

/// A list per axis with an entry for the members' axis in front.
Ints with_first(const Ints &list, std::int64_t first) {
  Ints result(list);
  result.insert(0, first);
  return result;
}

} // namespace

/// Undefined where there is no rule for the op, or for operands like these.
Tensor Batcher::at_once(const OpCall &call) const {
  const OpInfo &info = op_info(call.op);
  const std::size_t operands = call.operands.size();
  std::vector<const Tensor *> members;
  std::vector<TensorType> types;
  std::size_t rank = 0;
  for (const Tensor &operand : call.operands) {
    members.push_back(known(operand));
    types.push_back(detail::type_of(operand));
    rank = std::max(rank, types.back().shape.size());
  }
  // Operands raised to one rank, so that those of the members broadcast with the others.
  const auto aligned = [&](std::size_t to) {
    std::vector<Tensor> result;
    for (std::size_t i = 0; i < operands; ++i)
      result.push_back(members[i] != nullptr ? raised(*members[i], to) : call.operands[i]);
    return result;
  };
  const auto only_first = [&] {
    return std::none_of(members.begin() + 1, members.end(), [](auto *m) { return m != nullptr; });
  };
  const auto with = [&](const std::vector<Tensor> &values, const Attrs &changed) {
    return dispatch(call.op, values, changed);
  };
  Attrs attrs = call.attrs;
  const auto first_with = [&](const Attrs &changed) {
    std::vector<Tensor> values(call.operands.begin(), call.operands.end());
    values[0] = *members[0];
    return with(values, changed);
  };
  const auto shift_axis = [&](std::size_t at) {
    attrs[at] = shifted({std::get<std::int64_t>(attrs[at])}, types[0].shape.size())[0];
  };

  if (info.kind == OpKind::elementwise) return with(aligned(rank), attrs);
  if (info.kind == OpKind::reduction) {
    attrs[0] = shifted(std::get<Ints>(attrs[0]), rank);
    return first_with(attrs);
  }
  const auto all_repeated = [&] {
    std::vector<Tensor> values;
    for (std::size_t i = 0; i < operands; ++i)
      values.push_back(members[i] != nullptr ? *members[i] : repeated(call.operands[i]));
    return with(values, attrs);
  };
  if (info.kind == OpKind::cumulative) {
    shift_axis(0);
    return all_repeated();
  }
  switch (call.op) {
  case OpCode::stop_gradient: return first_with(attrs);
  case OpCode::barrier: // of members; else see apply
    return with({*members[0], members[1] != nullptr ? *members[1] : call.operands[1]}, attrs);
  case OpCode::argmax:
  case OpCode::argsort:
    if (rank == 0) return {};
    shift_axis(0);
    return first_with(attrs);
  case OpCode::match_shape: return all_repeated();
  case OpCode::concatenate:
  case OpCode::take_along_axis:
  case OpCode::add_along_axis: shift_axis(0); return all_repeated();
  case OpCode::matmul:
    if (types[0].shape.size() < 2 || types[1].shape.size() < 2) return {};
    return with(aligned(rank), attrs);
  case OpCode::reshape:
    attrs[0] = with_first(std::get<Ints>(attrs[0]), count_);
    return first_with(attrs);
  case OpCode::transpose:
    attrs[0] = with_first(shifted(std::get<Ints>(attrs[0]), rank), 0);
    return first_with(attrs);
  case OpCode::broadcast: {
    const Ints shape = std::get<Ints>(attrs[0]);
    attrs[0] = with_first(shape, count_);
    return with({raised(*members[0], shape.size())}, attrs);
  }
  case OpCode::slice:
    attrs = {with_first(std::get<Ints>(attrs[0]), 0), with_first(std::get<Ints>(attrs[1]), count_),
             with_first(std::get<Ints>(attrs[2]), 1)};
    return first_with(attrs);
  case OpCode::reverse:
    attrs[0] = shifted(std::get<Ints>(attrs[0]), rank);
    return first_with(attrs);
  case OpCode::pad:
    if (members[0] == nullptr || !only_first()) return {};
    for (Attr &attr : attrs) attr = with_first(std::get<Ints>(attr), 0);
    return first_with(attrs);
  case OpCode::gather:
    if (members[0] == nullptr || !only_first()) return {};
    shift_axis(0);
    return first_with(attrs);
  case OpCode::scatter_add:
  case OpCode::update_slice: {
    if (members[1] != nullptr) return {};
    shift_axis(0);
    return with({members[0] != nullptr ? *members[0] : repeated(call.operands[0]), call.operands[1],
                 members[2] != nullptr ? *members[2] : repeated(call.operands[2])},
                attrs);
  }
  default: return {};
  }
}

} // namespace weft::autodiff
