// Functions that the generated rules of cumulative ops call.
//
// A step is y[i] = body(y[i - 1], x[i]). With the derivatives of the body by both, here `carry` and
// `weight`, tangents run through the recurrence dy[i] = carry[i] * dy[i - 1] + weight[i] * dx[i],
// and cotangents through the same one backwards. So all derivatives are linear recurrences, and
// those of linear recurrences are such again: one pass over the axis each, of any size, without a
// division by an element that may be zero.
#pragma once

#include "Autodiff/Rules/ElementwiseRules.h"

namespace weft::autodiff::rules {

/// What stands before and after each step: one of them is the result, the other is computed again.
template <class E>
struct StepValues {
  using Value = typename E::Value;
  Value before, after;

  template <class Call>
  StepValues(E &e, Call &call, const Value &x, const Value &y) : before(y), after(y) {
    const CumulativeAttrs along(call.attrs());
    const Value operands[] = {x};
    (along.exclusive ? after : before) = e.emit(call.op(), std::span<const Value>(operands),
                                                Attrs{along.axis, along.reverse, !along.exclusive});
  }
};

/// The derivatives of each step by what stands before it and by its element.
template <class E>
struct StepDerivatives {
  typename E::Value carry, weight;
};

/// Of `cumprod`: each factor by the other.
template <class E>
StepDerivatives<E> product_steps(const typename E::Value &x, const StepValues<E> &values) {
  return {x, values.before};
}

/// Of `cummax` and `cummin`: 1 for the one that is chosen. All elements since an extremum was first
/// reached that are equal to it share alike, so the n-th of them takes 1 / n and leaves the rest to
/// those before it. Where there is a NaN there is no derivative.
template <class E, class Call>
StepDerivatives<E> extremum_steps(E &e, Call &call, const typename E::Value &x,
                                  const StepValues<E> &values) {
  const DType dtype = call.cotangent_dtype();
  const CumulativeAttrs along(call.attrs());
  const bool largest = call.op() == OpCode::cummax;
  const typename E::Value &before = values.before;
  const typename E::Value zero = e.scalar(0, dtype), one = e.scalar(1, dtype);
  const typename E::Value ties = e.equal(x, before);
  const typename E::Value better = largest ? e.greater(x, before) : e.less(x, before);
  const typename E::Value worse = largest ? e.less(x, before) : e.greater(x, before);
  // How many elements share: one more with each that is equal, and 1 again with each that is
  // better.
  const typename E::Value stays = e.cast(e.logical_or(worse, ties), dtype);
  const typename E::Value counts = e.cast(e.logical_or(better, ties), dtype);
  const typename E::Value count =
      e.linear_recurrence(stays, counts, along.axis, along.reverse, false, false);
  const typename E::Value share = e.divide(one, e.maximum(count, one));
  return {e.select(worse, one, e.select(ties, e.subtract(one, share), zero)),
          e.select(better, one, e.select(ties, share, zero))};
}

/// Of `logcumsumexp`: the shares of exp(before) and exp(x) in their sum. Equal ones, infinities
/// too, are all of it: the derivative by one of two -inf is 1.
template <class E, class Call>
StepDerivatives<E> exponential_steps(E &e, Call &call, const typename E::Value &x,
                                     const StepValues<E> &values) {
  const typename E::Value zero = e.scalar(0, call.cotangent_dtype());
  const auto share = [&](const typename E::Value &part) {
    const typename E::Value all = e.equal(part, values.after);
    return e.exp(e.select(all, zero, e.subtract(part, values.after)));
  };
  return {share(values.before), share(x)};
}

template <class E, class Call>
StepDerivatives<E> step_derivatives(E &e, Call &call, const typename E::Value &x,
                                    const typename E::Value &y) {
  const StepValues<E> values(e, call, x, y);
  if (call.op() == OpCode::cumprod) return product_steps<E>(x, values);
  if (call.op() == OpCode::logcumsumexp) return exponential_steps(e, call, x, values);
  return extremum_steps(e, call, x, values);
}

/// Of `cumsum`: the sum of the cotangents that the element went into.
template <class E>
typename E::Value cumsum_back(E &e, VjpCall<E> &call, std::size_t,
                              const typename E::Value &cotangent) {
  const CumulativeAttrs along(call.attrs());
  return e.cumsum(cotangent, along.axis, !along.reverse, along.exclusive);
}

/// Of a recurrence with those factors by what is added: the recurrence backwards, where the factor
/// of a step is that of the one before it; with `exclusive` the cotangents move one step instead.
template <class E, class Along>
typename E::Value backwards(E &e, const Along &along, const typename E::Value &factors,
                            const typename E::Value &cotangent) {
  return e.linear_recurrence(factors, cotangent, along.axis, !along.reverse, along.exclusive,
                             !along.exclusive);
}

/// Of the other cumulative ops.
template <class E>
typename E::Value cumulative_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &x,
                                  const typename E::Value &y, const typename E::Value &cotangent) {
  const StepDerivatives<E> steps = step_derivatives(e, call, x, y);
  return e.multiply(steps.weight,
                    backwards(e, CumulativeAttrs(call.attrs()), steps.carry, cotangent));
}

template <class E>
typename E::Value cumulative_forward(E &e, JvpCall<E> &call, std::size_t,
                                     const typename E::Value &x, const typename E::Value &y,
                                     const typename E::Value &tangent) {
  const StepDerivatives<E> steps = step_derivatives(e, call, x, y);
  const CumulativeAttrs along(call.attrs());
  return e.linear_recurrence(steps.carry, e.multiply(steps.weight, tangent), along.axis,
                             along.reverse, along.exclusive, false);
}

/// Of `linear_recurrence` by what is added.
template <class E>
typename E::Value recurrence_back(E &e, VjpCall<E> &call, std::size_t, const typename E::Value &a,
                                  const typename E::Value &cotangent) {
  const LinearRecurrenceAttrs along(call.attrs());
  if (!along.shifted) return backwards(e, along, a, cotangent);
  return e.linear_recurrence(a, cotangent, along.axis, !along.reverse, false, false);
}

/// Of `linear_recurrence` by the factors: what each was multiplied with, times the cotangent that
/// arrives at its step.
template <class E>
typename E::Value recurrence_factor_back(E &e, VjpCall<E> &call, std::size_t,
                                         const typename E::Value &a, const typename E::Value &x,
                                         const typename E::Value &y,
                                         const typename E::Value &cotangent) {
  const LinearRecurrenceAttrs along(call.attrs());
  if (along.shifted) // the step of a factor is the next one
    return e.multiply(y,
                      e.linear_recurrence(a, cotangent, along.axis, !along.reverse, true, false));
  const typename E::Value before =
      along.exclusive ? y : e.linear_recurrence(a, x, along.axis, along.reverse, true, false);
  return e.multiply(before, backwards(e, along, a, cotangent));
}

/// Of `linear_recurrence`: one more, to which the factors' tangents add what they multiply.
template <class E>
typename E::Value recurrence_forward(E &e, JvpCall<E> &call, std::size_t,
                                     const typename E::Value &a, const typename E::Value &x,
                                     const typename E::Value &y) {
  using Value = typename E::Value;
  const LinearRecurrenceAttrs along(call.attrs());
  const auto recurrence = [&](const Value &added, bool exclusive, bool later) {
    return e.linear_recurrence(a, added, along.axis, along.reverse, exclusive, later);
  };
  if (!call.has_tangent(0)) return recurrence(call.tangent(1), along.exclusive, along.shifted);
  Value sum{};
  bool some = false;
  if (along
          .shifted) { // y[i] = a[i - 1] y[i - 1] + x[i]: what a tangent adds arrives one step later
    if (call.has_tangent(1)) accumulate(e, sum, some, recurrence(call.tangent(1), false, true));
    accumulate(e, sum, some, recurrence(e.multiply(call.tangent(0), y), true, false));
    return sum;
  }
  const Value before = along.exclusive ? y : recurrence(x, true, false);
  accumulate(e, sum, some, e.multiply(call.tangent(0), before));
  if (call.has_tangent(1)) accumulate(e, sum, some, call.tangent(1));
  return recurrence(sum, along.exclusive, false);
}

} // namespace weft::autodiff::rules
