// Functions that the generated rules of reductions call.
#pragma once

#include <optional>

#include "Autodiff/Rules/ElementwiseRules.h"

namespace weft::autodiff::rules {

/// Whether each axis of a reduction's operand is reduced.
template <class Call>
std::vector<bool> reduced_axes(const Call &call) {
  std::vector<bool> reduced(call.operand_type(0).shape.size());
  for (std::int64_t axis : ReductionAttrs(call.attrs()).axes) reduced[axis] = true;
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
  if (ReductionAttrs(call.attrs()).keepdims || leading) return Alignment::none;
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
  // the axes go back to where they were.
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
      e.sum(ones, ReductionAttrs(call.attrs()).axes, ReductionAttrs(call.attrs()).keepdims);
  return expand_reduced(e, call, i, e.divide(cotangent, e.cast(counted, call.cotangent_dtype())));
}

/// Which elements are the extremum, and how many of them there are for each result (aligned).
template <class E, class Call>
std::pair<typename E::Value, typename E::Value>
extrema(E &e, Call &call, const typename E::Value &x, const typename E::Value &y) {
  const typename E::Value chosen = e.equal(x, align_reduced(e, call, y));
  const typename E::Value count =
      e.sum(e.cast(chosen, call.cotangent_dtype()), ReductionAttrs(call.attrs()).axes, true);
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
  return e.sum(shares, ReductionAttrs(call.attrs()).axes, ReductionAttrs(call.attrs()).keepdims);
}

/// The product of all elements of x but the one at each position, over the axes that the call
/// reduces: of those before it and those behind it. All of it is multiplication, so it holds for
/// zeros, and so do its own derivatives.
template <class E, class Call>
typename E::Value product_of_others(E &e, Call &call, const typename E::Value &x) {
  const Ints &axes = ReductionAttrs(call.attrs()).axes;
  if (axes.empty()) return e.scalar(1, call.cotangent_dtype());
  // Those in the same line along the first axis, times whole lines along the next, and so on.
  typename E::Value lines = x;
  std::optional<typename E::Value> others;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const auto before = e.cumprod(lines, axes[i], /*reverse=*/false, /*exclusive=*/true);
    const auto behind = e.cumprod(lines, axes[i], /*reverse=*/true, /*exclusive=*/true);
    const auto along = e.multiply(before, behind);
    others = others ? e.multiply(*others, along) : along;
    if (i + 1 != axes.size()) lines = e.prod(lines, Ints{axes[i]}, true);
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
  return e.sum(e.multiply(tangent, product_of_others(e, call, x)),
               ReductionAttrs(call.attrs()).axes, ReductionAttrs(call.attrs()).keepdims);
}

} // namespace weft::autodiff::rules
