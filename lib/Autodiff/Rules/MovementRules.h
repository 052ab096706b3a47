// Functions that the generated rules of ops that move elements call.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/UnknownSizes.h"
#include "OpDefs/ShapeFunctions.h"

namespace weft::autodiff::rules {

/// The size of an axis of operand `i` as an i64 scalar.
template <class E>
typename E::Value size_of_operand(E &e, VjpCall<E> &call, std::size_t i, std::size_t axis) {
  const std::int64_t size = call.operand_type(i).shape[axis];
  return size == unknown ? e.size_of(call.shape_witness(i), static_cast<std::int64_t>(axis))
                         : e.scalar(static_cast<double>(size), DType::i64);
}

/// `value`, which has the sizes of operand `i`, as far as its type does not know them.
template <class E>
typename E::Value of_operand_shape(E &e, VjpCall<E> &call, std::size_t i,
                                   const typename E::Value &value) {
  const Shape &wanted = call.operand_type(i).shape, has = e.type(value).shape;
  bool knows = true;
  for (std::size_t axis = 0; axis < wanted.size(); ++axis)
    knows &= wanted[axis] == unknown || has[axis] != unknown;
  if (knows) return value;
  return e.broadcast(value, wanted.is_static() ? SizeList<typename E::Value>(wanted)
                                               : sizes_of(e, call.shape_witness(i)));
}

/// Of `reshape`: back to the operand's shape.
template <class E>
typename E::Value reshape_back(E &e, VjpCall<E> &call, std::size_t i,
                               const typename E::Value &cotangent) {
  const Shape &shape = call.operand_type(i).shape;
  // One unknown size follows from the number of elements, if there are any.
  const auto open = std::count(shape.begin(), shape.end(), unknown);
  if (open == 0 || (open == 1 && std::count(shape.begin(), shape.end(), 0) == 0))
    return e.reshape(cotangent, shape);
  return e.reshape(cotangent, sizes_of(e, call.shape_witness(i)));
}

/// Of `transpose`: the inverse permutation.
template <class E>
typename E::Value transpose_back(E &e, VjpCall<E> &call, std::size_t,
                                 const typename E::Value &cotangent) {
  const Ints &permutation = TransposeAttrs(call.attrs()).permutation;
  Ints inverse(permutation.size());
  for (std::size_t i = 0; i < permutation.size(); ++i)
    inverse[permutation[i]] = static_cast<std::int64_t>(i);
  return e.transpose(cotangent, inverse);
}

/// Of `broadcast`: the sum over what was repeated.
template <class E>
typename E::Value broadcast_back(E &e, VjpCall<E> &call, std::size_t i,
                                 const typename E::Value &cotangent) {
  return unbroadcast(e, cotangent, call.operand_type(i));
}

/// Of `slice`: zeros around and, for strides above 1, between the elements.
template <class E>
typename E::Value slice_back(E &e, VjpCall<E> &call, std::size_t i,
                             std::span<const typename E::Value> values,
                             const typename E::Value &cotangent) {
  using Value = typename E::Value;
  const SliceAttrs attrs(call.attrs());
  const Shape &from = call.operand_type(i).shape, &to = call.result_type().shape;
  std::size_t taken = 0;
  const SizeList<Value> starts = list_of(attrs.starts, values, taken);
  SizeList<Value> low;
  Ints high, interior;
  std::vector<std::size_t> open;
  std::size_t start = 0;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    interior.push_back(attrs.strides[axis] - 1);
    const bool computed = start < starts.values.size() && attrs.starts[axis] == detail::kDynamic;
    if (from[axis] != unknown && to[axis] != unknown && !computed &&
        attrs.limits[axis] != detail::kDynamic) {
      // One that begins behind the end takes nothing.
      const std::int64_t first =
          to[axis] == 0 ? std::min(attrs.starts[axis], from[axis]) : attrs.starts[axis];
      low.push_back(first);
      high.push_back(from[axis] -
                     (to[axis] == 0 ? first : first + (to[axis] - 1) * attrs.strides[axis] + 1));
      continue;
    }
    // Zeros behind, as far as x goes, come later.
    high.push_back(0);
    const bool whole = attrs.starts[axis] == 0 && attrs.limits[axis] == -1;
    if (!whole || attrs.strides[axis] != 1) open.push_back(axis);
    if (attrs.limits[axis] == -1 && attrs.starts[axis] != 0) {
      // As many as x has, which may be fewer.
      constexpr std::int64_t kExact = std::int64_t{1} << 53; // more than any axis has
      const Value first =
          computed
              ? starts.values[start]
              : e.scalar(static_cast<double>(std::min(attrs.starts[axis], kExact)), DType::i64);
      low.push_back(e.minimum(first, size_of_operand(e, call, i, axis)));
    } else if (computed) {
      low.push_back(starts.values[start]);
    } else {
      low.push_back(attrs.starts[axis]);
    }
    start += computed;
  }
  Value value = e.pad(cotangent, e.scalar(0, call.cotangent_dtype()), low, high, interior);
  for (const std::size_t axis : open)
    value = pad_axis(e, value, axis, size_of_operand(e, call, i, axis));
  return of_operand_shape(e, call, i, value);
}

/// Of `reverse`: reversed again.
template <class E>
typename E::Value reverse_back(E &e, VjpCall<E> &call, std::size_t,
                               const typename E::Value &cotangent) {
  return e.reverse(cotangent, ReverseAttrs(call.attrs()).axes);
}

/// Of `concatenate`: the part of the cotangent where operand `i` went.
template <class E>
typename E::Value concatenate_back(E &e, VjpCall<E> &call, std::size_t i,
                                   const typename E::Value &cotangent) {
  const std::int64_t axis = ConcatenateAttrs(call.attrs()).axis;
  const Shape &shape = call.operand_type(i).shape;
  std::int64_t start = 0;
  std::optional<typename E::Value> moved; // the sizes before that are unknown
  for (std::size_t before = 0; before < i; ++before) {
    const std::int64_t size = call.operand_type(before).shape[axis];
    if (size != unknown) {
      start += size;
      continue;
    }
    const auto value = e.size_of(call.shape_witness(before), axis);
    moved = moved ? e.add(*moved, value) : value;
  }
  if (moved) {
    if (start != 0) moved = e.add(*moved, e.scalar(static_cast<double>(start), DType::i64));
    return of_operand_shape(
        e, call, i, slice_axis(e, cotangent, axis, *moved, size_of_operand(e, call, i, axis)));
  }
  Ints starts(shape.size(), 0), limits(call.result_type().shape), strides(shape.size(), 1);
  starts[axis] = start;
  limits[axis] = shape[axis] == unknown ? -1 : start + shape[axis];
  typename E::Value value = e.slice(cotangent, starts, limits, strides);
  if (shape[axis] != unknown || i + 1 == call.operand_count()) return value;
  return first_of_axis(e, value, axis, e.size_of(call.shape_witness(i), axis));
}

/// The lists of a `pad`.
template <class E>
struct PadLists {
  SizeList<typename E::Value> low, high;
  Ints interior;

  PadLists(const Attrs &given, std::span<const typename E::Value> values) {
    const PadAttrs attrs(given);
    std::size_t taken = 0;
    low = list_of(attrs.low, values, taken);
    high = list_of(attrs.high, values, taken);
    interior = attrs.interior;
  }
};

/// Of `pad` by x: the elements that are not padding.
template <class E>
typename E::Value pad_back(E &e, VjpCall<E> &call, std::size_t i,
                           std::span<const typename E::Value> values,
                           const typename E::Value &cotangent) {
  const PadLists<E> lists(call.attrs(), values);
  const Shape &from = call.operand_type(i).shape, &to = call.result_type().shape;
  Ints limits, strides;
  std::vector<std::size_t> open;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    strides.push_back(lists.interior[axis] + 1);
    const std::int64_t high = lists.high.numbers[axis];
    const bool known = to[axis] != unknown && high != detail::kDynamic;
    limits.push_back(known ? to[axis] - high : -1);
    if (!known && high != 0) open.push_back(axis);
  }
  typename E::Value value = e.slice(cotangent, lists.low, limits, strides);
  for (const std::size_t axis : open)
    value = first_of_axis(e, value, axis, size_of_operand(e, call, i, axis));
  return of_operand_shape(e, call, i, value);
}

/// Of `pad` by the value: the sum of the elements that are padding.
template <class E>
typename E::Value pad_value_back(E &e, VjpCall<E> &call, std::size_t,
                                 std::span<const typename E::Value> values,
                                 const typename E::Value &cotangent) {
  const PadLists<E> lists(call.attrs(), values);
  const typename E::Value inside = expand_to_operand(e, call, 0, e.scalar(0, DType::boolean));
  const typename E::Value padding =
      e.pad(inside, e.scalar(1, DType::boolean), lists.low, lists.high, lists.interior);
  const typename E::Value outside =
      e.select(padding, cotangent, e.scalar(0, call.cotangent_dtype()));
  Ints axes;
  for (std::size_t axis = 0; axis < call.result_type().shape.size(); ++axis)
    axes.push_back(static_cast<std::int64_t>(axis));
  return e.sum(outside, axes, /*keepdims=*/false);
}

/// Of `gather`: the cotangent's slices added up where they came from.
template <class E>
typename E::Value gather_back(E &e, VjpCall<E> &call, std::size_t i,
                              const typename E::Value &indices,
                              const typename E::Value &cotangent) {
  return e.scatter_add(zeros_of_operand(e, call, i), indices, cotangent,
                       GatherAttrs(call.attrs()).axis);
}

/// Of `scatter_add` by the updates: the cotangent's slices where they went.
template <class E>
typename E::Value scatter_add_back(E &e, VjpCall<E> &call, std::size_t,
                                   const typename E::Value &indices,
                                   const typename E::Value &cotangent) {
  return e.gather(cotangent, indices, ScatterAddAttrs(call.attrs()).axis);
}

/// Of `take_along_axis`: the cotangent's elements added up where they came from.
template <class E>
typename E::Value take_along_axis_back(E &e, VjpCall<E> &call, std::size_t i,
                                       const typename E::Value &indices,
                                       const typename E::Value &cotangent) {
  return e.add_along_axis(zeros_of_operand(e, call, i), indices, cotangent,
                          TakeAlongAxisAttrs(call.attrs()).axis);
}

/// Of `sort`: the cotangent's elements where they came from.
template <class E>
typename E::Value sort_back(E &e, VjpCall<E> &call, std::size_t i, const typename E::Value &x,
                            const typename E::Value &cotangent) {
  const SortAttrs attrs(call.attrs());
  return e.add_along_axis(zeros_of_operand(e, call, i), e.argsort(x, attrs.axis, attrs.descending),
                          cotangent, attrs.axis);
}

/// Of `sort`, forward: the tangent's elements in the order of x's.
template <class E>
typename E::Value sort_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                               const typename E::Value &tangent) {
  const SortAttrs attrs(call.attrs());
  return e.gather_along_axis(tangent, e.argsort(x, attrs.axis, attrs.descending), attrs.axis);
}

/// Of `add_along_axis` by the updates: the cotangent's elements where they went.
template <class E>
typename E::Value add_along_axis_back(E &e, VjpCall<E> &call, std::size_t,
                                      const typename E::Value &indices,
                                      const typename E::Value &cotangent) {
  return e.gather_along_axis(cotangent, indices, AddAlongAxisAttrs(call.attrs()).axis);
}

/// Of `update_slice` by x: the cotangent but for the slice that was replaced.
template <class E>
typename E::Value update_slice_back(E &e, VjpCall<E> &call, std::size_t,
                                    const typename E::Value &index,
                                    const typename E::Value &cotangent) {
  return e.update_slice(cotangent, index, zeros_of_operand(e, call, 2),
                        UpdateSliceAttrs(call.attrs()).axis);
}

/// Of `update_slice` by the value: the cotangent's slice.
template <class E>
typename E::Value update_slice_value_back(E &e, VjpCall<E> &call, std::size_t,
                                          const typename E::Value &index,
                                          const typename E::Value &cotangent) {
  return e.gather(cotangent, index, UpdateSliceAttrs(call.attrs()).axis);
}

} // namespace weft::autodiff::rules
