// Functions that the generated rules of reductions call.
#pragma once

#include <optional>

#include "OpDefs/Derivatives/ElementwiseRules.h"

namespace weft::autodiff::rules {

/// Whether each axis of a reduction's operand is reduced.
template <class Call>
std::vector<bool> reduced_axes(const Call &call) {
  std::vector<bool> reduced(call.operand_type(0).shape.size());
  for (std::int64_t axis : std::get<Ints>(call.attrs()[0])) reduced[axis] = true;
  return reduced;
}

/// How a reduction's result comes to broadcast against the operand.
enum class Alignment {
  none,    ///< it does: reduced axes were kept, or lead
  reshape, ///< with size 1 where an axis was reduced
  stretch, ///< only in the operand's full shape, because no reshape can follow two unknown sizes
};

template <class Call>
Alignment reduced_alignment(const Call &call, const std::vector<bool> &reduced) {
  const bool leading =
      std::is_sorted(reduced.begin(), reduced.end(), [](bool a, bool b) { return a && !b; });
  if (std::get<bool>(call.attrs()[1]) || leading) return Alignment::none;
  int unknown_kept = 0;
  for (std::size_t i = 0; i < reduced.size(); ++i)
    unknown_kept += !reduced[i] && call.operand_type(0).shape[i] == unknown;
  return unknown_kept <= 1 ? Alignment::reshape : Alignment::stretch;
}

/// `value`, of the shape of a reduction's result, in a shape that broadcasts against the operand.
template <class E, class Call>
typename E::Value align_reduced(E &e, Call &call, const typename E::Value &value) {
  const Shape &shape = call.operand_type(0).shape;
  const std::vector<bool> reduced = reduced_axes(call);
  const Alignment alignment = reduced_alignment(call, reduced);
  if (alignment == Alignment::none) return value;
  if (alignment == Alignment::reshape) {
    Ints aligned;
    for (std::size_t i = 0; i < shape.size(); ++i) aligned.push_back(reduced[i] ? 1 : shape[i]);
    return e.reshape(value, aligned);
  }
  // With the reduced axes in front the value broadcasts as it is; the operand lends its shape, and
  // the axes go back to their places.
  Ints order, back(shape.size());
  for (bool kept : {false, true})
    for (std::size_t i = 0; i < shape.size(); ++i)
      if (reduced[i] != kept) {
        back[i] = static_cast<std::int64_t>(order.size());
        order.push_back(static_cast<std::int64_t>(i));
      }
  const typename E::Value witness = e.transpose(call.shape_witness(0), order);
  return e.transpose(e.select(e.equal(witness, witness), value, value), back);
}

/// Of `sum`: the cotangent repeated along the reduced axes.
template <class E>
typename E::Value expand_reduced(E &e, VjpCall<E> &call, std::size_t,
                                 const typename E::Value &cotangent) {
  typename E::Value aligned = align_reduced(e, call, cotangent);
  if (reduced_alignment(call, reduced_axes(call)) == Alignment::stretch) return aligned;
  return expand_to_operand(e, call, 0, aligned);
}

/// Of `mean`: the same of the cotangent divided by the number of elements behind each mean.
template <class E>
typename E::Value mean_back(E &e, VjpCall<E> &call, std::size_t i,
                            const typename E::Value &cotangent) {
  const Shape &shape = call.operand_type(0).shape;
  const std::vector<bool> reduced = reduced_axes(call);
  bool known = true;
  double count = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (!reduced[axis]) continue;
    known &= shape[axis] != unknown;
    count *= static_cast<double>(shape[axis]);
  }
  if (known)
    return expand_reduced(e, call, i, e.divide(cotangent, e.scalar(count, call.cotangent_dtype())));
  // Counted as integers, because ones of a floating dtype stop adding up where it has gaps.
  const typename E::Value ones = expand_to_operand(e, call, 0, e.scalar(1, DType::i64));
  const typename E::Value counted =
      e.sum(ones, std::get<Ints>(call.attrs()[0]), std::get<bool>(call.attrs()[1]));
  return expand_reduced(e, call, i, e.divide(cotangent, e.cast(counted, call.cotangent_dtype())));
}

/// Which elements are the extremum, and how many of them there are for each result (aligned).
template <class E, class Call>
std::pair<typename E::Value, typename E::Value>
extrema(E &e, Call &call, const typename E::Value &x, const typename E::Value &y) {
  const typename E::Value chosen = e.equal(x, align_reduced(e, call, y));
  const typename E::Value count =
      e.sum(e.cast(chosen, call.cotangent_dtype()), std::get<Ints>(call.attrs()[0]), true);
  return {chosen, count};
}

/// Of `max` and `min`: the cotangent, shared equally by all elements that are the extremum.
template <class E>
typename E::Value extremum_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                                const typename E::Value &y, const typename E::Value &cotangent) {
  const auto [chosen, count] = extrema(e, call, x, y);
  const typename E::Value share = e.divide(align_reduced(e, call, cotangent), count);
  return e.select(chosen, share, e.scalar(0, call.cotangent_dtype()));
}

/// Of `max` and `min`: the mean of the tangents of the elements that are the extremum.
template <class E>
typename E::Value extremum_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                                   const typename E::Value &y, const typename E::Value &tangent) {
  const auto [chosen, count] = extrema(e, call, x, y);
  const typename E::Value shares =
      e.divide(e.select(chosen, tangent, e.scalar(0, call.cotangent_dtype())), count);
  return e.sum(shares, std::get<Ints>(call.attrs()[0]), std::get<bool>(call.attrs()[1]));
}

/// The elements from `start` to `limit` along one axis of a value of `shape`; unknown sizes of
/// other axes stay whole.
template <class E>
typename E::Value part_of(E &e, const typename E::Value &x, const Shape &shape, std::size_t axis,
                          std::int64_t start, std::int64_t limit) {
  Ints starts(shape.size(), 0), limits(shape), strides(shape.size(), 1); // unknown: to the end
  starts[axis] = start;
  limits[axis] = limit;
  return e.slice(x, starts, limits, strides);
}

/// The product of all elements along one axis but the one in each place. One half is multiplied by
/// the other, the products of all pairs but one are found for half as many elements, and a last
/// multiplication by its partner completes each. All of it is multiplication, so it holds for
/// zeros, and so do its own derivatives.
template <class E>
typename E::Value product_of_others_along(E &e, const typename E::Value &x, Shape shape,
                                          std::size_t axis, const typename E::Value &one) {
  const std::int64_t size = shape[axis], half = (size + 1) / 2;
  if (size <= 1) return e.select(e.equal(x, x), one, one);
  const auto low = part_of(e, x, shape, axis, 0, half);
  auto high = part_of(e, x, shape, axis, half, size);
  if (size % 2 != 0) { // the last of the lower half has no partner
    Ints none(shape.size(), 0), some = none;
    some[axis] = 1;
    high = e.pad(high, one, none, some, none);
  }
  if (size == 2) {
    const typename E::Value swapped[] = {high, low};
    return e.concatenate(swapped, static_cast<std::int64_t>(axis));
  }
  shape[axis] = half;
  const auto pairs = product_of_others_along(e, e.multiply(low, high), shape, axis, one);
  const typename E::Value halves[] = {e.multiply(pairs, high), e.multiply(pairs, low)};
  auto both = e.concatenate(halves, static_cast<std::int64_t>(axis));
  if (size % 2 == 0) return both;
  shape[axis] = 2 * half;
  return part_of(e, both, shape, axis, 0, size);
}

/// The same with unknown sizes. Exact with any number of zeros in x: without one it is the product
/// over the element, next to one zero it is 0 but in that zero's place, next to more it is 0
/// everywhere. Its own derivative in a zero's place is 0, which is right wherever x has no zero.
template <class E, class Call>
typename E::Value product_over_element(E &e, Call &call, const typename E::Value &x) {
  const DType dtype = call.cotangent_dtype();
  const Ints &axes = std::get<Ints>(call.attrs()[0]);
  const typename E::Value zero = e.scalar(0, dtype), one = e.scalar(1, dtype);
  const typename E::Value is_zero = e.equal(x, zero);
  const typename E::Value zeros = e.sum(e.cast(is_zero, dtype), axes, true);
  const typename E::Value nonzero = e.select(is_zero, one, x);
  const typename E::Value product = e.prod(nonzero, axes, true);
  const typename E::Value alone = e.logical_and(is_zero, e.equal(zeros, one));
  return e.select(e.equal(zeros, zero), e.divide(product, nonzero), e.select(alone, product, zero));
}

/// The product of all elements of x but the one in each place, over the axes that the call reduces.
template <class E, class Call>
typename E::Value product_of_others(E &e, Call &call, const typename E::Value &x) {
  const Ints &axes = std::get<Ints>(call.attrs()[0]);
  Shape shape = call.operand_type(0).shape;
  for (std::int64_t axis : axes)
    if (shape[axis] == unknown) return product_over_element(e, call, x);
  typename E::Value one = e.scalar(1, call.cotangent_dtype());
  if (axes.empty()) return one;
  // Those in the same line along the first axis, times whole lines along the next, and so on.
  typename E::Value lines = x;
  std::optional<typename E::Value> others;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(axes[i]);
    const auto along = product_of_others_along(e, lines, shape, axis, one);
    others = others ? e.multiply(*others, along) : along;
    if (i + 1 == axes.size()) break;
    lines = e.prod(lines, Ints{axes[i]}, true);
    shape[axis] = 1;
  }
  return *others;
}

/// Of `prod`: the cotangent times the product of all other elements.
template <class E>
typename E::Value prod_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                            const typename E::Value &cotangent) {
  return e.multiply(align_reduced(e, call, cotangent), product_of_others(e, call, x));
}

/// Of `prod`: the sum of the tangents, each times the product of all other elements.
template <class E>
typename E::Value prod_forward(E &e, JvpCall<E> &call, std::size_t, const typename E::Value &x,
                               const typename E::Value &tangent) {
  return e.sum(e.multiply(tangent, product_of_others(e, call, x)), std::get<Ints>(call.attrs()[0]),
               std::get<bool>(call.attrs()[1]));
}

} // namespace weft::autodiff::rules
