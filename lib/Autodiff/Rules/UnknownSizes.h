// What rules do where sizes are known at run time only: sizes as values, and the moves of elements
// by them.
#pragma once

#include <algorithm>

#include "Autodiff/Rules/Calls.h"
#include "OpDefs/Emitter.h"

namespace weft::autodiff::rules {

/// The size of an axis of `value` as an i64 scalar.
template <class E>
typename E::Value size_value(E &e, const typename E::Value &value, std::size_t axis) {
  const std::int64_t size = e.type(value).shape[axis];
  return size == unknown ? e.size_of(value, static_cast<std::int64_t>(axis))
                         : e.scalar(static_cast<double>(size), DType::i64);
}

/// The sizes of `value`: numbers where they are known.
template <class E>
SizeList<typename E::Value> sizes_of(E &e, const typename E::Value &value) {
  SizeList<typename E::Value> sizes;
  const Shape shape = e.type(value).shape;
  for (std::size_t axis = 0; axis < shape.size(); ++axis)
    if (shape[axis] != unknown) sizes.push_back(shape[axis]);
    else sizes.push_back(e.size_of(value, static_cast<std::int64_t>(axis)));
  return sizes;
}

/// That number for each axis but one, which has a value.
template <class Value>
SizeList<Value> one_value(std::size_t rank, std::int64_t number, std::size_t axis,
                          const Value &value) {
  SizeList<Value> list;
  for (std::size_t i = 0; i < rank; ++i)
    if (i == axis) list.push_back(value);
    else list.push_back(number);
  return list;
}

/// The slices of `value` along `axis` from number `start` on, `count` of them.
template <class E>
typename E::Value slice_axis(E &e, const typename E::Value &value, std::size_t axis,
                             const typename E::Value &start, const typename E::Value &count) {
  const std::size_t rank = e.type(value).shape.size();
  return e.slice(value, one_value(rank, 0, axis, start),
                 one_value(rank, -1, axis, e.add(start, count)), Ints(rank, 1));
}

/// The first `count` slices of `value` along `axis`.
template <class E>
typename E::Value first_of_axis(E &e, const typename E::Value &value, std::size_t axis,
                                const typename E::Value &count) {
  const std::size_t rank = e.type(value).shape.size();
  return e.slice(value, Ints(rank, 0), one_value(rank, -1, axis, count), Ints(rank, 1));
}

/// `value` with zeros behind along `axis` that make it so long.
template <class E>
typename E::Value pad_axis(E &e, const typename E::Value &value, std::size_t axis,
                           const typename E::Value &length) {
  const TensorType type = e.type(value);
  const Ints none(type.shape.size(), 0);
  const auto missing = e.subtract(length, size_value(e, value, axis));
  return e.pad(value, e.scalar(0, type.dtype), none, one_value(type.shape.size(), 0, axis, missing),
               none);
}

/// `value` with `length` slices along `axis`: its first ones, and zeros where it has no more.
template <class E>
typename E::Value fit_axis(E &e, const typename E::Value &value, std::size_t axis,
                           const typename E::Value &length) {
  const auto has = size_value(e, value, axis);
  return pad_axis(e, first_of_axis(e, value, axis, e.minimum(has, length)), axis, length);
}

/// `value` with a new axis of size 1 before axis `axis`.
template <class E>
typename E::Value insert_axis(E &e, const typename E::Value &value, std::size_t axis) {
  Shape shape = e.type(value).shape;
  shape.insert(axis, 1);
  return e.reshape(value, shape);
}

/// A list of a call's attributes with its values, of which lists before it have `taken`; it counts
/// on.
template <class Value>
SizeList<Value> list_of(const Ints &numbers, std::span<const Value> values, std::size_t &taken) {
  SizeList<Value> list(numbers);
  for (const std::int64_t number : numbers)
    if (number == detail::kDynamic && taken < values.size()) list.values.push_back(values[taken++]);
  return list;
}

} // namespace weft::autodiff::rules
