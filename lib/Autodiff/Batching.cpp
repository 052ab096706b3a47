// Executes what is written for one tensor on many.
#include "Autodiff/Batching.h"

#include <algorithm>
#include <atomic>

#include "Autodiff/BatchRules.h"
#include "Autodiff/Layer.h"
#include "Autodiff/TensorEmitter.h"
#include "Ops/DeviceOps.h"
#include "Runtime/NewTensor.h"

namespace weft::autodiff {

/// What a tensor that stands for many points to.
struct Batcher::Ref : detail::TraceRef {
  Tensor members;
  std::shared_ptr<const void> owner;
  std::uint64_t number = next_number();

  static void free(detail::TraceRef *self) { delete static_cast<Ref *>(self); }
};

Tensor Batcher::batch(const Tensor &members) const {
  const TensorType type = detail::type_of(members);
  auto *ref = new Ref;
  ref->references = 1;
  ref->destroy = Ref::free;
  ref->name = name_;
  // What the trace around it says of all members, whose sizes are the same.
  ref->hint = [](detail::TraceRef *self, const detail::TensorImpl &, int axis) -> std::int64_t {
    const detail::TensorImpl &all = *static_cast<Ref *>(self)->members.impl();
    if (axis < 0) return unknown;
    if (all.storage != detail::Storage::traced) return all.dims()[axis + 1];
    auto *outer = static_cast<detail::TraceRef *>(all.base);
    return outer->hint(outer, all, axis + 1);
  };
  ref->pin = [](detail::TraceRef *self) {
    const detail::TensorImpl &all = *static_cast<Ref *>(self)->members.impl();
    if (all.storage != detail::Storage::traced) return;
    auto *outer = static_cast<detail::TraceRef *>(all.base);
    outer->pin(outer);
  };
  ref->members = members;
  ref->owner = self_;
  Tensor result = detail::new_traced(type.dtype, std::span(type.shape).subspan(1), ref, 0);
  result.impl()->device = members.device();
  if (ref->references.fetch_sub(1) == 1) Ref::free(ref);
  return result;
}

std::uint64_t Batcher::next_number() {
  static std::atomic<std::uint64_t> last = 0;
  return last.fetch_add(1, std::memory_order_relaxed) + 1;
}

std::uint64_t Batcher::number_of(const Tensor &tensor) {
  if (!tensor.defined() || !tensor.traced()) return 0;
  auto *base = static_cast<detail::TraceRef *>(tensor.impl()->base);
  return base->destroy == Ref::free ? static_cast<const Ref *>(base)->number : 0;
}

const Tensor *Batcher::known(const Tensor &tensor) const {
  if (!tensor.defined()) return nullptr;
  if (!followed_.empty())
    if (const auto found = followed_.find(tensor.impl()); found != followed_.end())
      return &found->second;
  if (!tensor.traced()) return nullptr;
  auto *base = static_cast<detail::TraceRef *>(tensor.impl()->base);
  if (base->destroy != Ref::free) return nullptr;
  const auto *ref = static_cast<const Ref *>(base);
  return ref->owner == self_ ? &ref->members : nullptr;
}

bool Batcher::any_varies(std::span<const Tensor> tensors) const {
  return std::ranges::any_of(tensors, [&](const Tensor &t) { return varies(t); });
}

void Batcher::refuse(std::string_view what) const {
  throw StateError(std::string(name_) + ": " + std::string(what) +
                   " cannot be done on many tensors at once");
}

std::int64_t Batcher::known_count(std::string_view what) const {
  if (count_.is_number()) return count_.number();
  throw StateError(
      std::string(name_) + ": " + std::string(what) +
      " is done once for each tensor, and this trace does not know how many there are");
}

Tensor Batcher::members(const Tensor &tensor) const {
  const Tensor *known_members = known(tensor);
  const Scope under(previous_);
  return known_members != nullptr ? *known_members : repeated_in_front(tensor, count_);
}

Tensor Batcher::apply(const OpCall &call) {
  follow(call.operands);
  if (!any_varies(call.operands)) return Layer::apply(call);
  const Scope under(previous_);
  DeviceOfOperands device;
  device.follow(call.operands);
  const OpInfo &info = op_info(call.op);
  if (call.op == OpCode::check) {
    std::vector<Tensor> all;
    for (const Tensor &operand : call.operands) all.push_back(plain(operand));
    return dispatch(call.op, all, call.attrs);
  }
  if (info.kind == OpKind::effect)
    throw StateError(std::string(name_) + ": " + std::string(info.name) +
                     " has an effect, and cannot be done on many tensors at once");
  if (any_varies(call.operands.subspan(info.operands_before_sizes(call.operands.size()))))
    throw StateError(std::string(name_) + ": the sizes of " + std::string(info.name) +
                     " differ by member, so there is no one shape for all");
  const BatchRule rule = member_by_member ? nullptr : batch_rule(call.op);
  const auto batch_all = [&](const Tensor &first) {
    for (Tensor &other : call.more) other = batch(other);
    return batch(first);
  };
  if (rule == nullptr) return batch_all(one_by_one(call));
  std::vector<const Tensor *> members;
  for (const Tensor &operand : call.operands) members.push_back(known(operand));
  BatchedCall batched(call, std::move(members), count_);
  const Tensor all = rule(batched);
  if (!all.defined()) return batch_all(one_by_one(call));
  return batched.same_for_all ? all : batch_all(all);
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
  std::vector<std::vector<Tensor>> results(op_info(call.op).results); // by result, then by member
  const std::int64_t count = known_count(op_info(call.op).name);
  for (std::int64_t i = 0; i < count; ++i) {
    std::vector<Tensor> given = dispatch_all(call.op, member(call.operands, i), call.attrs);
    for (std::size_t r = 0; r < given.size(); ++r) results[r].push_back(std::move(given[r]));
  }
  for (std::size_t r = 1; r < results.size(); ++r) call.more[r - 1] = stacked(results[r]);
  return stacked(results[0]);
}

std::vector<Tensor> Batcher::whole(const detail::Body &body, std::span<const Tensor> inputs) {
  if (!any_varies(inputs)) return Interpreter::whole(body, inputs);
  return once_per_member(inputs, [&](std::span<const Tensor> one) { return run_whole(body, one); });
}

std::vector<Tensor> Batcher::once_per_member(
    std::span<const Tensor> tensors,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)> &run) const {
  const std::int64_t count = known_count("this part of the function");
  const Scope under(previous_);
  std::vector<std::vector<Tensor>> results; // by result, then by member
  for (std::int64_t i = 0; i < count; ++i) {
    const std::vector<Tensor> given = run(member(tensors, i));
    results.resize(given.size());
    for (std::size_t r = 0; r < given.size(); ++r) results[r].push_back(given[r]);
  }
  std::vector<Tensor> all;
  for (const std::vector<Tensor> &rows : results) all.push_back(batch(stacked(rows)));
  return all;
}

} // namespace weft::autodiff
