// The rules by which ops are done on batches.
#include "Autodiff/BatchRules.h"

#include <algorithm>

#include "Autodiff/TensorEmitter.h"

namespace weft::autodiff {

//===----------------------------------------------------------------------===//
// Batched calls
//===----------------------------------------------------------------------===//

BatchedCall::BatchedCall(const OpCall &call, std::vector<const Tensor *> members,
                         std::int64_t count)
    : attrs(call.attrs), call_(call), members_(std::move(members)), count_(count) {
  for (const Tensor &operand : call.operands) shapes_.push_back(detail::type_of(operand).shape);
}

bool BatchedCall::only_first_varies() const {
  return varies(0) &&
         std::all_of(members_.begin() + 1, members_.end(), [](auto *m) { return m == nullptr; });
}

std::size_t BatchedCall::rank() const {
  std::size_t rank = 0;
  for (const Shape &shape : shapes_) rank = std::max(rank, shape.size());
  return rank;
}

Tensor BatchedCall::repeated(std::size_t i) const {
  if (varies(i)) return members(i);
  Ints shape(shapes_[i]);
  shape.insert(0, count_);
  return TensorEmitter().broadcast(operand(i), shape);
}

Tensor BatchedCall::raised(std::size_t i, std::size_t rank) const {
  if (!varies(i)) return operand(i);
  Ints shape(detail::type_of(members(i)).shape);
  if (shape.size() == rank + 1) return members(i);
  while (shape.size() < rank + 1) shape.insert(1, 1);
  return TensorEmitter().reshape(members(i), shape);
}

Tensor BatchedCall::on(const std::vector<Tensor> &operands) const {
  return dispatch(call_.op, operands, attrs);
}

Tensor BatchedCall::on_first() const {
  std::vector<Tensor> operands(call_.operands.begin(), call_.operands.end());
  operands[0] = members(0);
  return on(operands);
}

Tensor BatchedCall::on_repeated() const {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < members_.size(); ++i) operands.push_back(repeated(i));
  return on(operands);
}

Tensor BatchedCall::on_raised() const {
  std::vector<Tensor> operands;
  for (std::size_t i = 0; i < members_.size(); ++i) operands.push_back(raised(i, rank()));
  return on(operands);
}

/// An axis of a tensor of that rank, one higher for the axis of the members in front.
static std::int64_t shifted(std::int64_t axis, std::size_t rank) {
  return (axis < 0 ? axis + static_cast<std::int64_t>(rank) : axis) + 1;
}

void BatchedCall::shift_axis(std::size_t at) {
  attrs[at] = shifted(std::get<std::int64_t>(attrs[at]), shape(0).size());
}

void BatchedCall::shift_axes(std::size_t at) {
  Ints axes;
  for (const std::int64_t axis : std::get<Ints>(attrs[at]))
    axes.push_back(shifted(axis, shape(0).size()));
  attrs[at] = axes;
}

void BatchedCall::add_first(std::size_t at, std::int64_t entry) {
  std::get<Ints>(attrs[at]).insert(0, entry);
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

#include "BatchRules.inc"

namespace batching {

Tensor elementwise(BatchedCall &call) { return call.on_raised(); }

Tensor along_axes(BatchedCall &call) {
  call.shift_axes(0);
  return call.on_first();
}

Tensor along_axis(BatchedCall &call) {
  call.shift_axis(0);
  return call.on_repeated();
}

Tensor choice_along_axis(BatchedCall &call) {
  return call.rank() == 0 ? Tensor() : along_axis(call);
}

Tensor same(BatchedCall &call) { return call.on_first(); }

Tensor together(BatchedCall &call) { return call.on_repeated(); }

// One value behind all of many is one value: what is computed again is computed once for all.
Tensor barrier(BatchedCall &call) {
  call.same_for_all = !call.varies(0);
  return call.on({call.varies(0) ? call.members(0) : call.operand(0),
                  call.varies(1) ? call.members(1) : call.operand(1)});
}

Tensor matmul(BatchedCall &call) {
  if (call.shape(0).size() < 2 || call.shape(1).size() < 2) return {};
  return call.on_raised();
}

Tensor reshape(BatchedCall &call) {
  call.add_first(0, call.count());
  return call.on_first();
}

Tensor transpose(BatchedCall &call) {
  call.shift_axes(0);
  call.add_first(0, 0);
  return call.on_first();
}

Tensor broadcast(BatchedCall &call) {
  const std::size_t rank = BroadcastAttrs(call.attrs).shape.size();
  call.add_first(0, call.count());
  return call.on({call.raised(0, rank)});
}

Tensor slice(BatchedCall &call) {
  call.add_first(0, 0);
  call.add_first(1, call.count());
  call.add_first(2, 1);
  return call.on_first();
}

Tensor pad(BatchedCall &call) {
  if (!call.only_first_varies()) return {};
  for (std::size_t i = 0; i < call.attrs.size(); ++i) call.add_first(i, 0);
  return call.on_first();
}

Tensor gather(BatchedCall &call) {
  if (!call.only_first_varies()) return {};
  call.shift_axis(0);
  return call.on_first();
}

Tensor scatter(BatchedCall &call) {
  if (call.varies(1)) return {};
  call.shift_axis(0);
  return call.on({call.repeated(0), call.operand(1), call.repeated(2)});
}

} // namespace batching

BatchRule batch_rule(OpCode op) { return kBatchRules[static_cast<std::size_t>(op)]; }

} // namespace weft::autodiff
