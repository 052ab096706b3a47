// The rules by which ops are done on batches.
#include "Autodiff/BatchRules.h"

#include <algorithm>

#include "Autodiff/TensorEmitter.h"
#include <weft/composites.h>
#include <weft/ops.h>

namespace weft::autodiff {

//===----------------------------------------------------------------------===//
// Batched calls
//===----------------------------------------------------------------------===//

Tensor repeated_in_front(const Tensor &tensor, const Size &count) {
  Sizes shape{count};
  const Sizes sizes = detail::sizes_of(tensor);
  for (std::size_t i = 0; i < sizes.size(); ++i) shape.push_back(sizes[i]);
  return weft::broadcast(tensor, shape);
}

/// Makes an attribute of a member's call that of the call for all, whose members lie along a new
/// axis in front; `rank` is that of a member's first operand. The number of members may be
/// kDynamic.
static void batch(Attr &attr, const AttrInfo &info, std::int64_t rank, std::int64_t count) {
  const auto shift = [&](std::int64_t axis) { return (axis < 0 ? axis + rank : axis) + 1; };
  const auto list = [&]() -> Ints & { return std::get<Ints>(attr); };
  switch (info.kind) {
  case AttrKind::axis: attr = shift(std::get<std::int64_t>(attr)); break;
  case AttrKind::axes:
    for (std::int64_t &axis : list()) axis = shift(axis);
    break;
  case AttrKind::permutation:
    for (std::int64_t &axis : list()) axis = shift(axis);
    list().insert(0, 0);
    break;
  case AttrKind::per_axis:
    // What is as far as the end of the axis stays so.
    list().insert(0, info.whole != AttrInfo::kWholeSize ? info.whole
                     : count == detail::kDynamic        ? -1
                                                        : count);
    break;
  case AttrKind::shape: list().insert(0, count); break;
  case AttrKind::flag:
  case AttrKind::spatial:
  case AttrKind::number:
  case AttrKind::count:
  case AttrKind::dtype:
  case AttrKind::text:
  case AttrKind::constant:
  case AttrKind::variable: break;
  }
}

BatchedCall::BatchedCall(const OpCall &call, std::vector<const Tensor *> members, Size count)
    : call_(call), attrs_(call.attrs), members_(std::move(members)), count_(std::move(count)) {
  for (const Tensor &operand : call.operands) shapes_.push_back(detail::type_of(operand).shape);
  const std::span<const AttrInfo> infos = op_info(call.op).attrs;
  for (std::size_t i = 0; i < attrs_.size(); ++i)
    batch(attrs_[i], infos[i], shape(0).rank(), count_.number());
  for (std::size_t i = 0; i < attrs_.size(); ++i) {
    if (count_.is_number() || infos[i].kind != AttrKind::shape) continue;
    // Of a reshape the first size that is not known is that of the members.
    Ints &list = std::get<Ints>(attrs_[i]);
    const bool others = std::count(list.begin() + 1, list.end(), detail::kDynamic) != 0;
    if (call.op == OpCode::reshape && !others) list[0] = -1;
    else count_is_operand_ = true;
  }
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
  return repeated_in_front(operand(i), count_);
}

Tensor BatchedCall::raised(std::size_t i, std::size_t rank) const {
  if (!varies(i)) return operand(i);
  Ints shape(detail::type_of(members(i)).shape);
  if (shape.size() == rank + 1) return members(i);
  while (shape.size() < rank + 1) shape.insert(1, 1);
  return TensorEmitter().reshape(members(i), shape);
}

Tensor BatchedCall::on(const std::vector<Tensor> &operands) const {
  if (!count_is_operand_) return dispatch({call_.op, operands, attrs_, call_.more});
  std::vector<Tensor> all = operands;
  const OpInfo &info = op_info(call_.op);
  all.insert(all.begin() + static_cast<std::ptrdiff_t>(info.operands_before_sizes(all.size())),
             count_.value());
  return dispatch(call_.op, all, attrs_);
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

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

#include "BatchRules.inc"

namespace batching {

Tensor elementwise(BatchedCall &call) { return call.on_raised(); }

Tensor first(BatchedCall &call) { return call.on_first(); }

Tensor first_with_axis(BatchedCall &call) { return call.has_axes() ? call.on_first() : Tensor(); }

Tensor first_alone(BatchedCall &call) {
  return call.only_first_varies() ? call.on_first() : Tensor();
}

Tensor every(BatchedCall &call) { return call.on_repeated(); }

// The members are of one shape.
Tensor size(BatchedCall &call) {
  call.same_for_all = true;
  return call.on({call.members(0)});
}

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

/// The call on images of which members are more; the first `count` operands are images.
static Tensor on_more_images(BatchedCall &call, std::size_t count) {
  std::vector<Tensor> operands;
  Shape members;
  for (std::size_t i = 0; i < call.operand_count(); ++i) {
    if (i >= count) {
      operands.push_back(call.operand(i));
      continue;
    }
    const Tensor images = call.repeated(i);
    const Shape shape = detail::type_of(images).shape;
    Ints merged(shape.begin() + 1, shape.end());
    if (!Shape(merged).is_static()) return {};
    merged[0] = shape[0] == unknown ? -1 : merged[0] * shape[0];
    operands.push_back(TensorEmitter().reshape(images, merged));
    members = shape;
  }
  const Tensor result = call.on(operands);
  Ints parted(detail::type_of(result).shape);
  parted[0] = members[1];
  parted.insert(0, members[0]);
  return TensorEmitter().reshape(result, parted);
}

Tensor images(BatchedCall &call) {
  return call.only_first_varies() ? on_more_images(call, 1) : Tensor();
}

Tensor every_image(BatchedCall &call) { return on_more_images(call, call.operand_count()); }

Tensor broadcast(BatchedCall &call) {
  std::vector<Tensor> operands{call.raised(0, BroadcastAttrs(call.attrs()).shape.size() - 1)};
  for (std::size_t i = 1; i < call.operand_count(); ++i) operands.push_back(call.operand(i));
  return call.on(operands);
}

namespace {

/// The axis of the call on all members, which is its last attribute.
std::int64_t axis_of(const BatchedCall &call) {
  return std::get<std::int64_t>(call.attrs().back());
}

/// A tensor of all members with an axis for the indices of each, `count` of them from `axis` on, as
/// one axis.
Tensor with_indices_as_one(const Tensor &all, std::int64_t axis, std::size_t count) {
  if (count == 1) return all;
  const Sizes sizes = detail::sizes_of(all);
  Sizes shape;
  for (std::size_t i = 0; i < static_cast<std::size_t>(axis); ++i) shape.push_back(sizes[i]);
  shape.push_back(count == 0 ? 1 : -1);
  for (std::size_t i = static_cast<std::size_t>(axis) + count; i < sizes.size(); ++i)
    shape.push_back(sizes[i]);
  return weft::reshape(all, shape);
}

/// The indices of the members as `take_along_axis` of x along that axis has them: for each element
/// across.
Tensor indices_across(const BatchedCall &call, const Tensor &x, std::int64_t axis) {
  const Tensor indices = with_indices_as_one(call.members(1), 1, call.shape(1).size());
  const Sizes sizes = detail::sizes_of(indices), across = detail::sizes_of(x);
  Sizes raised, shape;
  for (std::size_t i = 0; i < across.size(); ++i) {
    const bool along = i == static_cast<std::size_t>(axis);
    raised.push_back(i == 0 ? sizes[0] : along ? sizes[1] : Size(1));
    shape.push_back(along ? sizes[1] : across[i]);
  }
  return weft::broadcast(weft::reshape(indices, raised), shape);
}

} // namespace

Tensor gather(BatchedCall &call) {
  if (!call.varies(1)) return call.on_first();
  const std::int64_t axis = axis_of(call);
  if (!call.varies(0)) {
    const Tensor picked = weft::gather(call.operand(0), call.members(1), {.axis = axis - 1});
    return axis == 1 ? picked : weft::moveaxis(picked, axis - 1, 0);
  }
  const Tensor &x = call.members(0);
  const Tensor picked = weft::gather_along_axis(x, indices_across(call, x, axis), {.axis = axis});
  if (call.shape(1).size() == 1) return picked;
  const Sizes sizes = detail::sizes_of(x), indices = detail::sizes_of(call.members(1));
  Sizes shape;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (i != static_cast<std::size_t>(axis)) shape.push_back(sizes[i]);
    else
      for (std::size_t k = 1; k < indices.size(); ++k) shape.push_back(indices[k]);
  }
  return weft::reshape(picked, shape);
}

Tensor scatter_add(BatchedCall &call) {
  if (!call.varies(1)) return call.on({call.repeated(0), call.operand(1), call.repeated(2)});
  const std::int64_t axis = axis_of(call);
  const Tensor x = call.repeated(0);
  const Tensor updates = with_indices_as_one(call.repeated(2), axis, call.shape(1).size());
  return weft::add_along_axis(x, indices_across(call, x, axis), updates, {.axis = axis});
}

Tensor update_slice(BatchedCall &call) {
  const Tensor x = call.repeated(0), value = call.repeated(2);
  if (!call.varies(1)) return call.on({x, call.operand(1), value});
  const std::int64_t axis = axis_of(call);
  const Sizes sizes = detail::sizes_of(x);
  const Size size = sizes[static_cast<std::size_t>(axis)];
  const Tensor numbers = iota(DType::i64, {size});
  // That the index is one of them is checked by reading it.
  const Tensor index = weft::gather(numbers, call.members(1));
  Sizes along, across;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    along.push_back(i == static_cast<std::size_t>(axis) ? size : Size(1));
    across.push_back(i == 0 ? sizes[0] : Size(1));
  }
  return select(weft::reshape(numbers, along) == weft::reshape(index, across),
                expand_dims(value, axis), x);
}

} // namespace batching

BatchRule batch_rule(OpCode op) { return kBatchRules[static_cast<std::size_t>(op)]; }

} // namespace weft::autodiff
