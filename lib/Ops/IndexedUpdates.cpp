// Tensors with some elements replaced, `x.at({0, all}).set(1)` and `v[3].assign(0)`: made of slices
// that are joined, so that tapes and traces see ops, and elements keep their bits.
#include <algorithm>
#include <string>
#include <vector>

#include "Support/CallSite.h"
#include <weft/detail/binding.h>
#include <weft/ops.h>
#include <weft/variable.h>

namespace weft {

namespace {

/// An index in which every axis has its own entry: an integer or a slice.
using Entries = std::vector<Index>;

/// The entry of each axis: without new axes, an ellipsis written out, whole axes at the end.
Entries entry_per_axis(std::span<const Index> indices, std::int64_t rank) {
  const auto is_new = [](const Index &index) {
    return std::holds_alternative<NewAxis>(index.value());
  };
  const auto is_ellipsis = [](const Index &index) {
    return std::holds_alternative<Ellipsis>(index.value());
  };
  const auto taken = static_cast<std::int64_t>(std::ranges::count_if(
      indices, [&](const Index &index) { return !is_new(index) && !is_ellipsis(index); }));
  Entries entries;
  for (const Index &index : indices) {
    if (is_ellipsis(index))
      for (std::int64_t i = taken; i < rank; ++i) entries.emplace_back(all);
    else if (!is_new(index)) entries.push_back(index);
  }
  while (static_cast<std::int64_t>(entries.size()) < rank) entries.emplace_back(all);
  return entries;
}

/// x with the elements start, start + step, ... of one axis replaced by those of `value`.
Tensor with_slice(const Tensor &x, const Slice &slice, const Tensor &value, std::int64_t axis) {
  const std::int64_t size = detail::type_of(x).shape[static_cast<std::size_t>(axis)];
  Entries key(static_cast<std::size_t>(axis), Index(all));
  const auto part = [&](std::optional<std::int64_t> start, std::optional<std::int64_t> stop) {
    key.emplace_back(Slice{start, stop});
    Tensor taken = detail::index_tensor(x, key);
    key.pop_back();
    return taken;
  };
  if (slice.step == 1) {
    // What is in front ends where the slice begins; behind it, an empty slice begins there as well.
    const std::int64_t start = slice.start.value_or(0);
    std::vector<Tensor> parts;
    if (slice.start) parts.push_back(part({}, start));
    parts.push_back(value);
    if (slice.stop) {
      if (size == unknown && (start < 0) != (*slice.stop < 0))
        throw StateError(
            "at: the slice begins at one end of axis " + std::to_string(axis) +
            " and ends at the other, and the size of the axis is not known in this trace");
      const auto from_front = [&](std::int64_t bound) {
        if (size == unknown) return bound;
        return std::clamp<std::int64_t>(bound < 0 ? bound + size : bound, 0, size);
      };
      parts.push_back(part(std::max(from_front(start), from_front(*slice.stop)), {}));
    }
    return parts.size() == 1 ? value : concatenate(std::span<const Tensor>(parts), {.axis = axis});
  }
  if (size == unknown)
    throw StateError("at: a slice with a step other than 1, and the size of axis " +
                     std::to_string(axis) + " is not known in this trace");
  // Which element of `value` each element of the axis takes, if any.
  const Tensor positions = detail::index_tensor(arange(size, DType::i64), {{Index(slice)}});
  const std::int64_t count = positions.size();
  if (count == 0) return x;
  const Tensor source =
      add_along_axis(zeros({size}, DType::i64), positions, arange(count, DType::i64));
  const Tensor replaced =
      add_along_axis(zeros({size}, DType::i32), positions, ones({count}, DType::i32)) > 0;
  Ints along(static_cast<std::size_t>(x.rank()), 1);
  along[static_cast<std::size_t>(axis)] = size;
  // Of the shape of x, whose other sizes a trace may not know.
  const Tensor mask = logical_or(reshape(replaced, along), zeros_like(x.astype(DType::boolean)));
  return select(mask, gather(value, source, {.axis = axis}), x);
}

/// `value` has the shape of `x[entries]`.
Tensor with_value(const Tensor &x, std::span<const Index> entries, const Tensor &value,
                  std::int64_t axis) {
  if (entries.empty()) return value;
  const Index &entry = entries.front();
  const std::span<const Index> rest = entries.subspan(1);
  Entries key(static_cast<std::size_t>(axis), Index(all));
  key.push_back(entry);
  const bool whole_rest = std::ranges::all_of(rest, [](const Index &index) {
    const auto *slice = std::get_if<Slice>(&index.value());
    return slice != nullptr && !slice->start && !slice->stop && slice->step == 1;
  });
  if (const auto *position = std::get_if<std::int64_t>(&entry.value())) {
    const Tensor inner =
        whole_rest ? value : with_value(detail::index_tensor(x, key), rest, value, axis);
    const std::int64_t size = detail::type_of(x).shape[static_cast<std::size_t>(axis)];
    const Tensor index = *position >= 0    ? tensor(*position)
                         : size == unknown ? size_of(x, {.axis = axis}) + *position
                                           : tensor(*position + size);
    return update_slice(x, index, inner, {.axis = axis});
  }
  const Slice &slice = std::get<Slice>(entry.value());
  if (!slice.start && !slice.stop && slice.step == 1) return with_value(x, rest, value, axis + 1);
  const Tensor inner =
      whole_rest ? value : with_value(detail::index_tensor(x, key), rest, value, axis + 1);
  return with_slice(x, slice, inner, axis);
}

} // namespace

TensorAt Tensor::at(std::initializer_list<Index> indices) const {
  return TensorAt(*this, {indices.begin(), indices.end()});
}
TensorAt Tensor::at(const Index &index) const { return TensorAt(*this, {index}); }

Tensor TensorAt::get() const { return detail::index_tensor(x_, indices_); }

Tensor TensorAt::replaced(const char *function, const Operand &given,
                          Tensor (*combine)(const Operand &, const Operand &)) const {
  const CompositeCall site(function, given.where());
  const Tensor present = get(); // also checks the index
  const DType dtype = x_.dtype();
  if (given.weak() && given.weak_kind() > kind_of(dtype))
    throw DTypeError(std::string(function) + ": the value is " +
                     (given.weak_kind() == DTypeKind::floating ? "floating" : "an integer") +
                     ", and the tensor " + std::string(name_of(dtype)));
  Tensor value = given.weak() ? given.materialize(dtype, function) : given.materialize();
  if (value.dtype() != dtype)
    throw DTypeError(std::string(function) + ": the value is " +
                     std::string(name_of(value.dtype())) + ", and the tensor " +
                     std::string(name_of(dtype)) + ": convert it by astype");
  if (combine != nullptr) value = combine(present, value);
  // A value of another shape is repeated to that of the elements, and never makes more of them.
  const Shape wanted = detail::type_of(present).shape;
  if (detail::type_of(value).shape != wanted || !wanted.is_static()) {
    if (!wanted.is_static()) value = select(tensor(true), value, present);
    else value = broadcast(value, wanted);
  }
  // The axes that the index made are of size 1, and taken out again.
  const Entries entries = entry_per_axis(indices_, x_.rank());
  Entries kept = indices_;
  std::erase_if(kept,
                [](const Index &index) { return std::holds_alternative<NewAxis>(index.value()); });
  if (kept.size() != indices_.size()) {
    Entries drop;
    for (const Index &index : indices_) {
      if (std::holds_alternative<NewAxis>(index.value())) drop.emplace_back(0);
      else if (std::holds_alternative<Ellipsis>(index.value())) drop.emplace_back(ellipsis);
      else if (std::holds_alternative<Slice>(index.value())) drop.emplace_back(all);
    }
    value = detail::index_tensor(value, drop);
  }
  return with_value(x_, entries, value, 0);
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
