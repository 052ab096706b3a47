// Functions that the generated rules of ops that move elements call.
#pragma once

#include <optional>
#include <tuple>
#include <vector>

#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/UnknownSizes.h"
#include "OpDefs/ShapeFunctions.h"

namespace weft::autodiff::rules {

/// Of `reshape`: back to the operand's shape.
template <class E>
typename E::Value reshape_back(E &e, VjpCall<E> &call, std::size_t i,
                               const typename E::Value &cotangent) {
  const Shape &shape = call.operand_type(i).shape;
  if (shape.is_static()) return e.reshape(cotangent, shape);
  // Unknown sizes went over as they are if none was left to follow from others, which beside a 0
  // they do without it; and the cotangent has them unless more is known of it.
  const auto others = [](const Shape &sizes) {
    Shape known;
    for (const std::int64_t size : sizes)
      if (size != unknown && size != 0) known.push_back(size);
    return std::tuple(std::count(sizes.begin(), sizes.end(), unknown), *element_count(known),
                      std::count(sizes.begin(), sizes.end(), 0) != 0);
  };
  const Shape wanted(ReshapeAttrs(call.attrs()).shape);
  const bool same = others(shape) == others(wanted) && e.type(cotangent).shape == wanted;
  return reshape_like(e, cotangent, call.shape_witness(i), same);
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
                             const typename E::Value &cotangent) {
  const Ints &starts = SliceAttrs(call.attrs()).starts, &limits = SliceAttrs(call.attrs()).limits,
             &strides = SliceAttrs(call.attrs()).strides;
  const Shape &from = call.operand_type(i).shape, &to = call.result_type().shape;
  Ints low, high, interior;
  std::vector<std::size_t> open, to_end;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    interior.push_back(strides[axis] - 1);
    low.push_back(starts[axis]);
    if (from[axis] != unknown) {
      // One that begins behind the end takes nothing.
      if (to[axis] == 0) low[axis] = std::min(low[axis], from[axis]);
      const std::int64_t end =
          to[axis] == 0 ? low[axis] : low[axis] + (to[axis] - 1) * strides[axis] + 1;
      high.push_back(from[axis] - end);
      continue;
    }
    high.push_back(0);
    if (limits[axis] == -1) low[axis] = 0; // as many as x has, which may be fewer than `starts`
    if (limits[axis] == -1 && starts[axis] != 0) to_end.push_back(axis);
    else if (limits[axis] != -1 || strides[axis] != 1) open.push_back(axis);
  }
  typename E::Value value =
      e.pad(cotangent, e.scalar(0, call.cotangent_dtype()), low, high, interior);
  // Zeros behind, as far as x goes.
  for (const std::size_t axis : open)
    value = resize_axis(e, value, axis, e.size_of(call.shape_witness(i), axis));
  // And in front, which is behind for who comes from the end.
  for (const std::size_t axis : to_end) {
    const auto size = e.size_of(call.shape_witness(i), axis);
    if (strides[axis] != 1) {
      constexpr std::int64_t kExact = std::int64_t{1} << 53; // more than any axis has
      const auto start = e.scalar(static_cast<double>(std::min(starts[axis], kExact)), DType::i64);
      value = resize_axis(e, value, axis, e.subtract(size, e.minimum(start, size)));
    }
    const Ints back{static_cast<std::int64_t>(axis)};
    value = e.reverse(resize_axis(e, e.reverse(value, back), axis, size), back);
  }
  return value;
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
    const auto range = shape[axis] == unknown ? index_range(e, call.shape_witness(i), axis)
                                              : e.iota(DType::i64, {shape[axis]}, 0);
    if (start != 0) moved = e.add(*moved, e.scalar(static_cast<double>(start), DType::i64));
    return e.gather(cotangent, e.add(range, *moved), axis);
  }
  Ints starts(shape.size(), 0), limits(call.result_type().shape), strides(shape.size(), 1);
  starts[axis] = start;
  limits[axis] = shape[axis] == unknown ? -1 : start + shape[axis];
  typename E::Value value = e.slice(cotangent, starts, limits, strides);
  if (shape[axis] != unknown || i + 1 == call.operand_count()) return value;
  return resize_axis(e, value, axis, e.size_of(call.shape_witness(i), axis));
}

/// Of `pad` by x: the elements that are not padding.
template <class E>
typename E::Value pad_back(E &e, VjpCall<E> &call, std::size_t i,
                           const typename E::Value &cotangent) {
  const Ints &low = PadAttrs(call.attrs()).low, &high = PadAttrs(call.attrs()).high,
             &interior = PadAttrs(call.attrs()).interior;
  const Shape &from = call.operand_type(i).shape, &to = call.result_type().shape;
  Ints limits, strides;
  for (std::size_t axis = 0; axis < from.size(); ++axis) {
    strides.push_back(interior[axis] + 1);
    limits.push_back(from[axis] == unknown ? -1 : to[axis] - high[axis]);
  }
  typename E::Value value = e.slice(cotangent, low, limits, strides);
  for (std::size_t axis = 0; axis < from.size(); ++axis)
    if (from[axis] == unknown && high[axis] != 0)
      value = resize_axis(e, value, axis, e.size_of(call.shape_witness(i), axis));
  return value;
}

/// Of `pad` by the value: the sum of the elements that are padding.
template <class E>
typename E::Value pad_value_back(E &e, VjpCall<E> &call, std::size_t,
                                 const typename E::Value &cotangent) {
  const typename E::Value inside = expand_to_operand(e, call, 0, e.scalar(0, DType::boolean));
  const typename E::Value padding =
      e.pad(inside, e.scalar(1, DType::boolean), PadAttrs(call.attrs()).low,
            PadAttrs(call.attrs()).high, PadAttrs(call.attrs()).interior);
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
  return e.take_along_axis(tangent, e.argsort(x, attrs.axis, attrs.descending), attrs.axis);
}

/// Of `add_along_axis` by the updates: the cotangent's elements where they went.
template <class E>
typename E::Value add_along_axis_back(E &e, VjpCall<E> &call, std::size_t,
                                      const typename E::Value &indices,
                                      const typename E::Value &cotangent) {
  return e.take_along_axis(cotangent, indices, AddAlongAxisAttrs(call.attrs()).axis);
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

/// Of `replicate`: the sum of the cotangent's slices.
template <class E>
typename E::Value replicate_back(E &e, VjpCall<E> &, std::size_t,
                                 const typename E::Value &cotangent) {
  return e.sum(cotangent, Ints{0}, false);
}

/// Of `resize`: the cotangent, resized to where it came from.
template <class E>
typename E::Value resize_back(E &e, VjpCall<E> &call, std::size_t i,
                              const typename E::Value &cotangent) {
  const Shape &shape = call.operand_type(i).shape;
  if (shape[0] == unknown) return e.resize(cotangent, e.size_of(call.shape_witness(i), 0));
  const typename E::Value value =
      e.resize(cotangent, e.scalar(static_cast<double>(shape[0]), DType::i64));
  return shape.is_static() ? e.broadcast(value, shape) : value;
}

} // namespace weft::autodiff::rules
