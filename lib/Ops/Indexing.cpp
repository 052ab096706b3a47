// NumPy's basic indexing as slices, reversals and reshapes, so that tapes and traces see it as ops;
// and the members of Tensor that are sugar for ops.
#include <algorithm>
#include <limits>
#include <string>

#include "OpDefs/SizeWords.h"
#include "Ops/DeviceOps.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Support/CallSite.h"
#include "Support/Profile.h"
#include <weft/composites.h>
#include <weft/detail/binding.h>
#include <weft/detail/indexing.h>
#include <weft/ops.h>

namespace weft {

namespace {

/// A slice of one axis of known size: the elements low, low + step, ... and whether they come
/// backwards. Python's rules: bounds out of range are clipped.
struct Range {
  std::int64_t low, limit, step;
  bool backwards;
};

constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();

std::int64_t clip(std::int64_t value, std::int64_t size, std::int64_t least, std::int64_t most) {
  if (value < 0) value = value < -size ? -1 : value + size;
  return value < least ? least : value > most ? most : value;
}

/// Whether a slice takes one element at most whatever the size, if it is not counted from the end.
/// That one has to be there: then the result is known to have one, and stretches.
bool takes_one(const Slice &slice) {
  const std::int64_t start = slice.start.value_or(0);
  return slice.step > 0 && start >= 0 && slice.stop && *slice.stop > start &&
         *slice.stop - start <= slice.step;
}

/// Whether it is the run-time size of an axis that says where the slice begins or ends. A start
/// that may be behind the end is the slice op's.
bool by_size(const Slice &slice) {
  const std::int64_t start = slice.start.value_or(0);
  if (slice.step < 0) return slice.start || slice.stop;
  if (start < 0 || slice.stop.value_or(0) < 0) return true;
  return slice.stop && *slice.stop > start && !takes_one(slice);
}

Range resolve(const Slice &slice, std::int64_t size) {
  if (size == unknown) {
    // -step may overflow; no axis is as long as the largest number.
    if (slice.step < 0) return {0, -1, -std::max(slice.step, -kMost), true};
    const std::int64_t start = slice.start.value_or(0);
    if (takes_one(slice)) return {start, start + 1, 1, false};
    // Whose stop is not behind its start takes nothing; others have none here.
    if (slice.stop) return {0, 0, 1, false};
    return {start, -1, slice.step, false};
  }
  if (slice.step > 0) {
    const std::int64_t start = clip(slice.start.value_or(0), size, 0, size);
    const std::int64_t stop = clip(slice.stop.value_or(size), size, start, size);
    return {start, stop, slice.step, false};
  }
  // start, start + step, ... down to above stop, listed from its lower end.
  const std::int64_t start = clip(slice.start.value_or(size - 1), size, -1, size - 1);
  const std::int64_t stop = slice.stop ? clip(*slice.stop, size, -1, start) : -1;
  // -step may overflow; one as long as the axis takes one element all the same.
  const std::int64_t step = slice.step < -size ? std::max<std::int64_t>(size, 1) : -slice.step;
  const std::int64_t count = start <= stop ? 0 : (start - stop + step - 1) / step;
  if (count == 0) return {0, 0, 1, false};
  return {start - (count - 1) * step, start + 1, step, true};
}

/// The ops that an index stands for, and the view that they make of a tensor with elements.
struct Plan {
  Ints starts, limits, strides, reversed, shape;
  Ints from; ///< which axis of the slice each axis of `shape` is, -1 for new ones
  bool slices = false, reshapes = false;
  Ints steps; ///< in elements, of each axis of `shape`
  std::int64_t offset = 0;

  void view(const Range &range, std::int64_t count, std::int64_t stride) {
    if (count > 0)
      offset += (range.low + (range.backwards ? (count - 1) * range.step : 0)) * stride;
    // A step beyond the axis may be any number, but then it is not taken.
    steps.push_back(count <= 1 ? 0 : range.backwards ? -range.step * stride : range.step * stride);
  }
};

using detail::SliceBound;

SliceBound bound_of(const std::optional<std::int64_t> &bound) {
  if (!bound) return std::nullopt;
  return *bound;
}

/// The elements of an axis between the bounds of a slice, clipped by its run-time size as Python
/// has it; the step, which is negative or not, is still to be taken.
Tensor between_bounds(const Tensor &x, std::int64_t axis, const SliceBound &start,
                      const SliceBound &stop, bool backwards) {
  const Tensor size = size_of(x, {.axis = axis});
  // Backwards the bounds are the last element and the one before the first.
  const std::int64_t shift = backwards ? 1 : 0;
  const auto clipped = [&](const SliceBound &bound) {
    if (const auto *number = std::get_if<std::int64_t>(&*bound)) {
      if (*number < 0) return maximum(size + (*number + shift), std::int64_t{0});
      return minimum(size, std::min(*number, kMost - 1) + shift);
    }
    const Tensor at = detail::as_positions(std::get<Tensor>(*bound));
    // Clipped before something is added, which could overflow.
    return select(at < std::int64_t{0},
                  maximum(size + (maximum(at, -kMost) + shift), std::int64_t{0}),
                  minimum(size, minimum(at, kMost - 1) + shift));
  };
  const SliceBound &first = backwards ? stop : start, &last = backwards ? start : stop;
  const auto rank = static_cast<std::size_t>(x.rank()), at = static_cast<std::size_t>(axis);
  Sizes starts(Ints(rank, 0)), limits(Ints(rank, -1));
  std::optional<Tensor> low;
  if (first) starts.set(at, low.emplace(clipped(first)));
  if (last) {
    const Tensor high = clipped(last);
    limits.set(at, low ? maximum(high, *low) : high);
  }
  return weft::slice(x, starts, limits, Ints(rank, 1));
}

/// Takes what the indices count from the end of axes of unknown size, and slices that end there at
/// the latest, by their run-time sizes; `indices` are what is left to take of the result.
Tensor taken_by_size(Tensor x, std::vector<Index> &indices, std::size_t taken) {
  std::vector<Index> left;
  std::int64_t axis = 0;
  for (const Index &index : indices) {
    const bool open =
        axis < x.rank() && detail::type_of(x).shape[static_cast<std::size_t>(axis)] == unknown;
    const auto *at = std::get_if<std::int64_t>(&index.value());
    const auto *slice = std::get_if<Slice>(&index.value());
    if (at != nullptr && *at < 0 && open) {
      x = gather(x, size_of(x, {.axis = axis}) + *at, {.axis = axis});
      --taken;
      continue;
    }
    if (slice != nullptr && open && by_size(*slice)) {
      x = between_bounds(x, axis, bound_of(slice->start), bound_of(slice->stop), slice->step < 0);
      left.emplace_back(Slice{{}, {}, slice->step});
    } else {
      left.push_back(index);
    }
    if (std::holds_alternative<Ellipsis>(index.value()))
      axis += x.rank() - static_cast<std::int64_t>(taken);
    else axis += std::holds_alternative<NewAxis>(index.value()) ? 0 : 1;
  }
  indices = std::move(left);
  return x;
}

/// Whether `taken_by_size` has something to take.
bool any_by_size(std::span<const Index> indices) {
  return std::ranges::any_of(indices, [](const Index &index) {
    const auto *at = std::get_if<std::int64_t>(&index.value());
    const auto *slice = std::get_if<Slice>(&index.value());
    return (at != nullptr && *at < 0) || (slice != nullptr && by_size(*slice));
  });
}

} // namespace

Tensor detail::index_tensor(const Tensor &given, std::span<const Index> key) {
  const CallBeside site("index", given, key.empty() ? std::source_location() : key[0].where());
  Shape shape = detail::type_of(given).shape;
  std::size_t taken = 0, ellipses = 0;
  for (std::size_t i = 0; i < key.size(); ++i) {
    if (std::holds_alternative<Ellipsis>(key[i].value())) ++ellipses;
    else if (!std::holds_alternative<NewAxis>(key[i].value())) ++taken;
    const auto *slice = std::get_if<Slice>(&key[i].value());
    if (slice != nullptr && slice->step == 0)
      throw ValueError("index: the step of slice " + std::to_string(i) + " is 0");
  }
  if (ellipses > 1) throw IndexError("index: only one ellipsis may be given");
  if (taken > shape.size())
    throw IndexError("index: " + std::to_string(taken) + " indices for a tensor of shape " +
                     to_string(shape) + " (rank " + std::to_string(shape.size()) + ")");

  Tensor x = given;
  std::vector<Index> left;
  std::span<const Index> indices = key;
  if (!shape.is_static() && any_by_size(key)) {
    left.assign(key.begin(), key.end());
    x = taken_by_size(x, left, taken);
    shape = detail::type_of(x).shape;
    indices = left;
    taken -= key.size() - left.size();
  }

  Plan plan;
  const std::int64_t *const strides = x.impl()->strides(); // zeros in a trace
  const auto whole = [&](std::size_t axis) {
    plan.steps.push_back(strides[axis]);
    plan.starts.push_back(0);
    plan.limits.push_back(shape[axis]);
    plan.strides.push_back(1);
    plan.shape.push_back(shape[axis]);
    plan.from.push_back(static_cast<std::int64_t>(axis));
  };
  std::size_t axis = 0;
  for (const Index &index : indices) {
    if (const auto *at = std::get_if<std::int64_t>(&index.value())) {
      // One from the end of an axis of unknown size was taken before.
      const std::int64_t size = shape[axis] == unknown ? kMost : shape[axis];
      if (*at < -size || *at >= size)
        throw IndexError("index: " + words::index_outside(*at, static_cast<std::int64_t>(axis),
                                                          to_string(shape)));
      const std::int64_t from = *at < 0 ? *at + size : *at;
      plan.starts.push_back(from);
      plan.limits.push_back(from + 1);
      plan.offset += from * strides[axis];
      plan.strides.push_back(1);
      plan.slices = plan.reshapes = true;
      ++axis;
    } else if (const auto *slice = std::get_if<Slice>(&index.value())) {
      // Whether there is the one element that it takes depends on the size.
      if (shape[axis] == unknown && takes_one(*slice))
        shape[axis] = detail::size_for_call(x, static_cast<std::int64_t>(axis));
      const Range range = resolve(*slice, shape[axis]);
      const bool open = range.limit == -1;
      plan.starts.push_back(range.low);
      plan.limits.push_back(range.limit);
      plan.strides.push_back(range.step);
      plan.slices |= range.low != 0 || range.limit != shape[axis] || range.step != 1;
      if (range.backwards) plan.reversed.push_back(static_cast<std::int64_t>(axis));
      plan.shape.push_back(open ? unknown
                           : range.limit == range.low
                               ? 0
                               : (range.limit - range.low - 1) / range.step + 1);
      plan.from.push_back(static_cast<std::int64_t>(axis));
      plan.view(range, plan.shape.back(), strides[axis]);
      ++axis;
    } else if (std::holds_alternative<NewAxis>(index.value())) {
      plan.shape.push_back(1);
      plan.from.push_back(-1);
      plan.steps.push_back(0);
      plan.reshapes = true;
    } else {
      for (std::size_t left = shape.size() - taken; left != 0; --left) whole(axis++);
    }
  }
  while (axis < shape.size()) whole(axis++);

  if (!plan.slices && !plan.reshapes && plan.reversed.empty()) return x;
  // The short way: where nobody records the ops, and reshape would not copy, what comes of them is
  // one view.
  if (Interpreter::current() == nullptr && !x.traced() && !profile::on()) {
    Tensor view = detail::new_view(x, plan.shape, plan.steps, plan.offset);
    if (!plan.reshapes || view.is_contiguous()) return view;
  }

  Tensor result = x;
  // Backwards over an axis of unknown size: turned round first, then every step-th from the front.
  Ints first, then;
  for (const std::int64_t reversed : plan.reversed)
    (shape[static_cast<std::size_t>(reversed)] == unknown ? first : then).push_back(reversed);
  if (!first.empty()) result = reverse(result, {.axes = first});
  if (plan.slices) result = weft::slice(result, plan.starts, plan.limits, plan.strides);
  if (!then.empty()) result = reverse(result, {.axes = then});
  if (!plan.reshapes) return result;
  // Each size is named: of a tensor without elements one that is left open could be any.
  Sizes sizes;
  for (std::size_t i = 0; i < plan.shape.size(); ++i)
    sizes.push_back(plan.shape[i] == unknown ? result.size(plan.from[i]) : Size(plan.shape[i]));
  return reshape(result, sizes);
}

Tensor detail::as_positions(const Tensor &numbers) {
  if (numbers.dtype() != DType::u64) return cast(numbers, DType::i64);
  return cast(minimum(numbers, static_cast<std::uint64_t>(kMost)), DType::i64);
}

Tensor detail::gather_indexed(const Tensor &x, const Tensor &positions, std::int64_t axis) {
  const CallBeside site("index", x, std::source_location());
  return gather(x, positions, {.axis = axis});
}

Tensor detail::slice_between(const Tensor &x, std::int64_t axis, const SliceBound &start,
                             const SliceBound &stop, std::int64_t step) {
  const CallBeside site("index", x, std::source_location());
  Tensor between = between_bounds(x, axis, start, stop, step < 0);
  if (step == 1) return between;
  std::vector<Index> key(static_cast<std::size_t>(axis), Index(all));
  key.emplace_back(Slice{{}, {}, step});
  return index_tensor(between, key);
}

Slice slice(std::optional<std::int64_t> start, std::optional<std::int64_t> stop,
            std::int64_t step) {
  return {start, stop, step};
}

Tensor Tensor::operator[](std::initializer_list<Index> indices) const {
  return detail::index_tensor(*this, {indices.begin(), indices.size()});
}
Tensor Tensor::operator[](const Index &index) const {
  return detail::index_tensor(*this, {&index, 1});
}

Tensor Tensor::astype(DType dtype, std::source_location where) const {
  const CompositeCall site("astype", where);
  return cast(*this, dtype);
}
Tensor Tensor::sum(Axes axes, bool keepdims, std::source_location where) const {
  return weft::sum({*this, where}, {.axes = std::move(axes), .keepdims = keepdims});
}
Tensor Tensor::mean(Axes axes, bool keepdims, std::source_location where) const {
  return weft::mean({*this, where}, {.axes = std::move(axes), .keepdims = keepdims});
}
Tensor Tensor::max(Axes axes, bool keepdims, std::source_location where) const {
  return weft::max({*this, where}, {.axes = std::move(axes), .keepdims = keepdims});
}
Tensor Tensor::min(Axes axes, bool keepdims, std::source_location where) const {
  return weft::min({*this, where}, {.axes = std::move(axes), .keepdims = keepdims});
}
Tensor Tensor::reshape(const Ints &shape, std::source_location where) const {
  return weft::reshape({*this, where}, shape);
}
Tensor Tensor::transpose(const Ints &permutation, std::source_location where) const {
  return weft::transpose({*this, where}, permutation);
}
Tensor Tensor::mT(std::source_location where) const {
  const CompositeCall site("mT", where);
  const std::int64_t rank = this->rank();
  if (rank < 2)
    throw ShapeError("mT: the tensor of shape " + to_string(shape()) +
                     " has fewer than two axes to swap");
  Ints permutation;
  for (std::int64_t i = 0; i < rank; ++i) permutation.push_back(i);
  std::swap(permutation[static_cast<std::size_t>(rank - 1)],
            permutation[static_cast<std::size_t>(rank - 2)]);
  return weft::transpose(*this, permutation);
}

Tensor full_like(const Tensor &like, const Operand &value, std::optional<DType> dtype,
                 std::source_location where) {
  const CompositeCall site("full_like", where);
  const TensorType type = detail::type_of(like);
  DeviceOfOperands device;
  device.follow(like);
  const DType of = dtype.value_or(type.dtype);
  if (type.shape.is_static()) return full(type.shape, value, of);
  const Tensor number = full({}, value, of);
  if (of != type.dtype) return broadcast(number, detail::sizes_of(like));
  // An op takes the sizes from it. Its elements are not looked at, and have no derivative that
  // could meet an infinity as a zero.
  return select(tensor(true), number, stop_gradient(like));
}

Tensor zeros_like(const Tensor &like, std::optional<DType> dtype, std::source_location where) {
  const CompositeCall site("zeros_like", where);
  return full_like(like, 0, dtype);
}
Tensor ones_like(const Tensor &like, std::optional<DType> dtype, std::source_location where) {
  const CompositeCall site("ones_like", where);
  return full_like(like, 1, dtype);
}

} // namespace weft
