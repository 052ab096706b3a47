// Tensors with some elements replaced, `x.at({0, all}).set(1)` and `v[3].assign(0)`: made of slices
// that are joined, so that tapes and traces see ops, and elements keep their bits.
#include <algorithm>
#include <string>
#include <vector>

#include "Ops/Composites/Parts.h"
#include "Ops/DeviceOps.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"
#include "Support/CallSite.h"
#include <weft/detail/binding.h>
#include <weft/detail/indexing.h>
#include <weft/ops.h>
#include <weft/variable.h>

namespace weft {

namespace {

/// An entry of an index: an integer, which a trace may compute, or a slice.
struct Entry {
  Index index;
  Tensor position = {}; ///< defined: the integer scalar that stands in the place of `index`
};

/// An index in which every axis has its own entry.
using Entries = std::vector<Entry>;

/// The entry of each axis: without new axes, an ellipsis written out, whole axes at the end.
/// `positions` are those that are tensors, undefined for others, or none at all.
Entries entry_per_axis(std::span<const Index> indices, std::span<const Tensor> positions,
                       std::int64_t rank) {
  const auto is_new = [](const Index &index) {
    return std::holds_alternative<NewAxis>(index.value());
  };
  const auto is_ellipsis = [](const Index &index) {
    return std::holds_alternative<Ellipsis>(index.value());
  };
  const auto taken = static_cast<std::int64_t>(std::ranges::count_if(
      indices, [&](const Index &index) { return !is_new(index) && !is_ellipsis(index); }));
  if (taken > rank)
    throw IndexError("index: " + std::to_string(taken) + " indices for a tensor of rank " +
                     std::to_string(rank));
  if (std::ranges::count_if(indices, is_ellipsis) > 1)
    throw IndexError("index: only one ellipsis may be given");
  Entries entries;
  for (std::size_t at = 0; at < indices.size(); ++at) {
    const Index &index = indices[at];
    if (is_ellipsis(index))
      for (std::int64_t i = taken; i < rank; ++i) entries.push_back({all});
    else if (!is_new(index))
      entries.push_back({index, positions.empty() ? Tensor() : positions[at]});
  }
  while (static_cast<std::int64_t>(entries.size()) < rank) entries.push_back({all});
  return entries;
}

/// What an entry of an axis leaves of x.
Tensor taken(const Tensor &x, const Entry &entry, std::int64_t axis) {
  if (entry.position.defined()) return detail::gather_indexed(x, entry.position, axis);
  return composites::along(x, axis, entry.index);
}

/// x with the elements start, start + step, ... of one axis replaced by those of `value`.
Tensor with_slice(const Tensor &x, const Slice &slice, const Tensor &value, std::int64_t axis) {
  const Size size = composites::size_along(x, axis);
  const auto part = [&](std::optional<std::int64_t> start, std::optional<std::int64_t> stop) {
    return composites::along(x, axis, Slice{start, stop});
  };
  // Bounds that count from the same end, or whose places are known, have an order.
  const std::int64_t start = slice.start.value_or(0);
  const bool ordered = size.is_number() || !slice.stop || (start < 0) == (*slice.stop < 0);
  if (slice.step == 1 && ordered) {
    // What is in front ends where the slice begins; behind it, an empty slice begins there as well.
    std::vector<Tensor> parts;
    // Of an axis that may be empty, where x[:1] is an error.
    if (slice.start && start > 0 && !size.is_number())
      parts.push_back(composites::between(x, axis, 0, min(size, start)));
    else if (slice.start) parts.push_back(part({}, start));
    parts.push_back(value);
    if (slice.stop) {
      const auto from_front = [&](std::int64_t bound) {
        if (!size.is_number()) return bound;
        const std::int64_t count = size.number();
        return std::clamp<std::int64_t>(bound < 0 ? bound + count : bound, 0, count);
      };
      parts.push_back(part(std::max(from_front(start), from_front(*slice.stop)), {}));
    }
    return parts.size() == 1 ? value : concatenate(std::span<const Tensor>(parts), {.axis = axis});
  }
  // Which element of `value` each element of the axis takes, if any.
  const Tensor positions = detail::index_tensor(arange(size, DType::i64), {{Index(slice)}});
  const Size count = composites::size_along(positions, 0);
  if (count.is_number() && count.number() == 0) return x;
  const Tensor source =
      add_along_axis(zeros({size}, DType::i64), positions, arange(count, DType::i64));
  const Tensor replaced =
      add_along_axis(zeros({size}, DType::i32), positions, ones({count}, DType::i32)) > 0;
  const auto rank = static_cast<std::size_t>(x.rank()), at = static_cast<std::size_t>(axis);
  Sizes along(Ints(rank, 1));
  along.set(at, size);
  // Of the shape of x, whose other sizes a trace may not know.
  const Tensor mask = logical_or(reshape(replaced, along), zeros_like(x.astype(DType::boolean)));
  // Of none that a call may have, one more is there to be taken and not used.
  Ints more(rank, 0);
  more[at] = 1;
  const Tensor values = count.is_number() ? value
                                          : pad(value, tensor(0).astype(value.dtype()),
                                                Ints(rank, 0), more, Ints(rank, 0));
  return select(mask, gather(values, source, {.axis = axis}), x);
}

/// `value` has the shape of `x[entries]`.
Tensor with_value(const Tensor &x, std::span<const Entry> entries, const Tensor &value,
                  std::int64_t axis) {
  if (entries.empty()) return value;
  const Entry &entry = entries.front();
  const std::span<const Entry> rest = entries.subspan(1);
  const auto is_whole = [](const Entry &of) {
    const auto *slice = std::get_if<Slice>(&of.index.value());
    return slice != nullptr && !slice->start && !slice->stop && slice->step == 1;
  };
  const bool whole_rest = std::ranges::all_of(rest, is_whole);
  if (const auto *position = std::get_if<std::int64_t>(&entry.index.value())) {
    const Tensor inner = whole_rest ? value : with_value(taken(x, entry, axis), rest, value, axis);
    const std::int64_t size = detail::type_of(x).shape[static_cast<std::size_t>(axis)];
    const auto from_end = [&](const Operand &at) {
      return size == unknown ? size_of(x, {.axis = axis}) + at : add(at, size);
    };
    const Tensor index = entry.position.defined()
                             ? select(entry.position < 0, from_end(entry.position), entry.position)
                         : *position >= 0  ? tensor(*position)
                         : size == unknown ? from_end(*position)
                                           : tensor(*position + size);
    return update_slice(x, index, inner, {.axis = axis});
  }
  if (is_whole(entry)) return with_value(x, rest, value, axis + 1);
  const Tensor inner =
      whole_rest ? value : with_value(taken(x, entry, axis), rest, value, axis + 1);
  return with_slice(x, std::get<Slice>(entry.index.value()), inner, axis);
}

/// `items` repeated to the shape of the elements that they are for, which may be one that a trace
/// does not know. Throws ShapeError, in the words of an assignment.
Tensor repeated(const Tensor &items, const Tensor &elements) {
  const Shape from = detail::type_of(items).shape, to = detail::type_of(elements).shape;
  const auto refuse = [&] {
    throw ShapeError("x[...] = value: the value has shape " + to_string(from) +
                     ", which does not broadcast to that of the elements, " + to_string(to));
  };
  std::vector<Index> dropped; // As NumPy has it: axes of size 1 in front of those of the elements.
  for (std::int64_t axis = 0; axis < from.rank() - to.rank(); ++axis) {
    if (from[static_cast<std::size_t>(axis)] != 1) refuse();
    dropped.emplace_back(0);
  }
  Tensor fitting = dropped.empty() ? items : detail::index_tensor(items, dropped);
  const Shape rest = detail::type_of(fitting).shape;
  for (std::int64_t i = 1; i <= rest.rank(); ++i) {
    const std::int64_t size = rest[static_cast<std::size_t>(rest.rank() - i)],
                       wanted = to[static_cast<std::size_t>(to.rank() - i)];
    if (size != 1 && size != wanted && size != unknown && wanted != unknown) refuse();
  }
  if (rest == to && to.is_static()) return fitting;
  // What repeats one element goes to the device of those that it replaces.
  return broadcast(rest.empty() ? detail::placed_beside(elements, fitting) : fitting,
                   detail::sizes_of(elements));
}

/// A value of the shape of `x[indices]`, without the axes that the index creates.
Tensor without_new_axes(const Tensor &value, std::span<const Index> indices) {
  std::vector<Index> drop;
  bool any = false;
  for (const Index &index : indices) {
    const bool is_new = std::holds_alternative<NewAxis>(index.value());
    any |= is_new;
    if (is_new) drop.emplace_back(0);
    else if (std::holds_alternative<Ellipsis>(index.value())) drop.emplace_back(ellipsis);
    else if (std::holds_alternative<Slice>(index.value())) drop.emplace_back(all);
  }
  return any ? detail::index_tensor(value, drop) : value;
}

} // namespace

Tensor detail::replace_entries(const Tensor &x, std::span<const Index> indices,
                               std::span<const Tensor> positions, const Tensor &items) {
  const CallBeside site("x[...] = value", x, std::source_location());
  const Entries entries = entry_per_axis(indices, positions, x.rank());
  // Of what is between both ends of an open axis, or apart, positions alone say where it is.
  const auto needs_positions = [&](std::size_t axis) {
    const auto *slice = std::get_if<Slice>(&entries[axis].index.value());
    return slice != nullptr && type_of(x).shape[axis] == unknown &&
           (slice->step != 1 ||
            (slice->stop && (slice->start.value_or(0) < 0) != (*slice->stop < 0)));
  };
  for (std::size_t axis = 0; axis < entries.size(); ++axis)
    if (needs_positions(axis)) return {};
  const bool computed = std::ranges::any_of(positions, &Tensor::defined);
  Tensor present = computed ? x : index_tensor(x, indices); // which also checks the index
  std::int64_t axis = 0;
  for (const Entry &entry : entries) {
    if (!computed) break;
    present = taken(present, entry, axis);
    axis += !std::holds_alternative<std::int64_t>(entry.index.value());
  }
  const Tensor value = repeated(items, present);
  return with_value(x, entries, computed ? value : without_new_axes(value, indices), 0);
}

Tensor detail::replace_masked(const Tensor &x, const Tensor &mask, const Tensor &items) {
  const CallBeside site("x[...] = value", x, std::source_location());
  const bool none = std::ranges::count(composites::shape_of(mask), 0) != 0;
  composites::check_mask(mask, x, 0, none);
  const Tensor value = repeated(items, x);
  if (none) return x;
  Sizes along = sizes_of(mask);
  for (std::int64_t axis = mask.rank(); axis < x.rank(); ++axis) along.push_back(1);
  return select(broadcast(reshape(mask, along), sizes_of(x)), value, x);
}

Tensor detail::update_positions(const Tensor &x, const Tensor &positions, const Tensor &items,
                                ScatterReduction reduction) {
  const CallBeside site("x[...] = value", x, std::source_location());
  return scatter_elements(x, positions, repeated(items, positions), reduction);
}

Size detail::size_of_all(const Tensor &x) {
  Size count = 1;
  for (std::int64_t axis = 0; axis < x.rank(); ++axis) count = count * x.size(axis);
  return count;
}

bool detail::assign_in_place(const Tensor &x, std::span<const Index> indices, const Tensor &items) {
  TensorImpl *const impl = x.impl();
  if (impl->storage != Storage::own || Interpreter::current() != nullptr || items.traced() ||
      !on_cpu(items) || items.dtype() != x.dtype() ||
      impl->identity.load(std::memory_order_relaxed) != 0 ||
      impl->references.load(std::memory_order_acquire) != 1)
    return false;
  if (std::ranges::any_of(indices, [](const Index &index) {
        return std::holds_alternative<NewAxis>(index.value());
      }))
    return false;
  // The elements as a view, which an integer between the brackets keeps from being one: of slices,
  // whose axes of size 1 are left out then.
  std::vector<Index> slices;
  Ints sizes, steps;
  const Entries entries = entry_per_axis(indices, {}, x.rank());
  for (const Entry &entry : entries) {
    const auto *at = std::get_if<std::int64_t>(&entry.index.value());
    if (at == nullptr) slices.push_back(entry.index);
    else if (*at == -1) slices.emplace_back(Slice{*at, {}});
    else slices.emplace_back(Slice{*at, *at + 1});
  }
  const Tensor view = index_tensor(x, slices);
  const bool on_x =
      view.impl() == impl || (view.impl()->storage == Storage::view && view.impl()->base == impl);
  if (!on_x) return false;
  for (std::size_t axis = 0; axis < entries.size(); ++axis) {
    const std::int64_t size = view.impl()->dims()[axis];
    if (!std::holds_alternative<std::int64_t>(entries[axis].index.value())) {
      sizes.push_back(size);
      steps.push_back(view.impl()->strides()[axis]);
    } else if (size == 0) {
      return false; // out of range, which others say
    }
  }
  const Tensor to = new_view(view, sizes, steps, 0);
  const Tensor from = repeated(items, to);
  copy_strided(item_size(x.dtype()), to.impl()->sizes(), from.impl()->data,
               {from.impl()->strides(), from.impl()->rank}, to.impl()->data,
               {to.impl()->strides(), to.impl()->rank});
  return true;
}

TensorAt Tensor::at(std::initializer_list<Index> indices) const {
  return TensorAt(*this, {indices.begin(), indices.end()});
}
TensorAt Tensor::at(const Index &index) const { return TensorAt(*this, {index}); }

Tensor TensorAt::get() const { return detail::index_tensor(x_, indices_); }

Tensor TensorAt::replaced(const char *function, const Operand &given,
                          Tensor (*combine)(const Operand &, const Operand &)) const {
  const CallBeside site(function, x_, given.where());
  const Tensor present = get(); // also checks the index
  const DType dtype = x_.dtype();
  if (given.weak() && given.weak_kind() > kind_of(dtype))
    throw DTypeError(std::string(function) + ": the value is " +
                     std::string(detail::number_in_words(given.weak_kind())) + ", and the tensor " +
                     std::string(name_of(dtype)));
  Tensor value = given.weak() ? given.materialize(dtype, function) : given.materialize();
  if (value.dtype() != dtype)
    throw DTypeError(std::string(function) + ": the value is " +
                     std::string(name_of(value.dtype())) + ", and the tensor " +
                     std::string(name_of(dtype)) + ": convert it by astype");
  if (combine != nullptr) value = combine(present, value);
  Tensor both[] = {present, value};
  gather_on_one_device(function, both, [](std::size_t i) { return i == 0 ? "x" : "value"; });
  value = both[1];
  // A value of another shape is repeated to that of the elements, and never makes more of them.
  const Shape wanted = detail::type_of(present).shape;
  if (detail::type_of(value).shape != wanted || !wanted.is_static()) {
    if (!wanted.is_static()) value = select(tensor(true), value, present);
    else value = broadcast(value, wanted);
  }
  return with_value(x_, entry_per_axis(indices_, {}, x_.rank()), without_new_axes(value, indices_),
                    0);
}

Tensor TensorAt::set(const Operand &value) const { return replaced("set", value, nullptr); }
Tensor TensorAt::add(const Operand &value) const { return replaced("add", value, weft::add); }
Tensor TensorAt::subtract(const Operand &value) const {
  return replaced("subtract", value, weft::subtract);
}
Tensor TensorAt::multiply(const Operand &value) const {
  return replaced("multiply", value, weft::multiply);
}
Tensor TensorAt::min(const Operand &value) const { return replaced("min", value, minimum); }
Tensor TensorAt::max(const Operand &value) const { return replaced("max", value, maximum); }

VariableAt Variable::operator[](std::initializer_list<Index> indices) const {
  return VariableAt(*this, {indices.begin(), indices.end()});
}
VariableAt Variable::operator[](const Index &index) const { return VariableAt(*this, {index}); }

Tensor VariableAt::value(std::source_location where) const {
  return TensorAt(variable_.value(where), indices_).get();
}
const VariableAt &VariableAt::assign(const Operand &value) const {
  const CompositeCall site("assign", value.where());
  variable_.assign(TensorAt(variable_.value(), indices_).set(value));
  return *this;
}
const VariableAt &VariableAt::assign_add(const Operand &value) const {
  const CompositeCall site("assign_add", value.where());
  variable_.assign(TensorAt(variable_.value(), indices_).add(value));
  return *this;
}
const VariableAt &VariableAt::assign_sub(const Operand &value) const {
  const CompositeCall site("assign_sub", value.where());
  variable_.assign(TensorAt(variable_.value(), indices_).subtract(value));
  return *this;
}
const VariableAt &VariableAt::operator*=(const Operand &y) const { return assign(*this * y); }
const VariableAt &VariableAt::operator/=(const Operand &y) const { return assign(*this / y); }

} // namespace weft
