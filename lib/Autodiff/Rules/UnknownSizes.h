// What rules do where sizes are known at run time only and no attribute can name them: sizes as
// values, index ranges, and the moves of elements that are made of them.
#pragma once

#include <algorithm>
#include <numeric>
#include <utility>

#include "Autodiff/Rules/Calls.h"

namespace weft::autodiff::rules {

/// The size of an axis of `value` as an i64 scalar.
template <class E>
typename E::Value size_value(E &e, const typename E::Value &value, std::size_t axis) {
  const std::int64_t size = e.type(value).shape[axis];
  return size == unknown ? e.size_of(value, static_cast<std::int64_t>(axis))
                         : e.scalar(static_cast<double>(size), DType::i64);
}

/// 0, 1, ... below the size of an axis of `value`, as an i64 vector.
template <class E>
typename E::Value index_range(E &e, const typename E::Value &value, std::size_t axis) {
  const std::int64_t size = e.type(value).shape[axis];
  if (size != unknown) return e.iota(DType::i64, {size}, 0);
  const typename E::Value ones =
      e.replicate(e.scalar(1, DType::i64), e.size_of(value, static_cast<std::int64_t>(axis)));
  return e.cumsum(ones, 0, /*reverse=*/false, /*exclusive=*/true);
}

/// `value` with that many slices along `axis`: its first ones, and zeros where it has no more.
template <class E>
typename E::Value resize_axis(E &e, const typename E::Value &value, std::size_t axis,
                              const typename E::Value &count) {
  if (axis == 0) return e.resize(value, count);
  Ints swapped(e.type(value).shape.size());
  std::iota(swapped.begin(), swapped.end(), 0);
  std::swap(swapped[0], swapped[axis]);
  return e.transpose(e.resize(e.transpose(value, swapped), count), swapped);
}

/// Whether `reshape` can give `from` that shape, which has as many elements: it finds one unknown
/// size by the number of elements, if there are any, and several if `from` has them in their order:
/// when `same` says that those are the same ones.
inline bool can_reshape(const Shape &from, const Shape &shape, bool same) {
  const auto count = [](const Shape &sizes, std::int64_t size) {
    return std::count(sizes.begin(), sizes.end(), size);
  };
  if (count(shape, unknown) == 0) return true;
  if (count(shape, unknown) == 1 && count(shape, 0) == 0) return true;
  return same && count(shape, unknown) == count(from, unknown);
}

/// `value` in the shape of `witness`, which has as many elements; `same` if its unknown sizes are
/// those of `witness` in their order. Axes behind the last unknown one are rows, which are gathered
/// by their number where `reshape` cannot name the shape.
template <class E>
typename E::Value reshape_like(E &e, const typename E::Value &value,
                               const typename E::Value &witness, bool same) {
  const Shape shape = e.type(witness).shape;
  if (can_reshape(e.type(value).shape, shape, same)) return e.reshape(value, shape);
  if (std::count(shape.begin(), shape.end(), 0) != 0) {
    const auto none = e.scalar(0, e.type(value).dtype);
    return e.select(e.equal(witness, witness), none, none);
  }
  std::size_t last = shape.size() - 1;
  while (shape[last] != unknown) --last;
  Ints rows{unknown};
  for (std::size_t axis = last + 1; axis < shape.size(); ++axis) rows.push_back(shape[axis]);
  typename E::Value number = index_range(e, witness, last), stride = size_value(e, witness, last);
  for (std::size_t axis = last; axis-- > 0;) {
    Ints column(last - axis + 1, 1);
    column[0] = shape[axis];
    const auto steps = e.multiply(index_range(e, witness, axis), stride);
    number = e.add(e.reshape(steps, column), number);
    stride = e.multiply(size_value(e, witness, axis), stride);
  }
  return e.gather(e.reshape(value, rows), number, 0);
}

/// `value` with a new axis of size 1 before axis `axis`.
template <class E>
typename E::Value insert_axis(E &e, const typename E::Value &value, std::size_t axis) {
  Shape shape = e.type(value).shape;
  shape.insert(axis, 1);
  return e.reshape(value, shape);
}

} // namespace weft::autodiff::rules
