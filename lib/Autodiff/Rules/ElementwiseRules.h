// Functions that the generated rules of elementwise ops call, and what all rules share: sums that
// undo a broadcast, values of an operand's shape, the jvp of linear ops.
#pragma once

#include <vector>

#include "Autodiff/Rules/Calls.h"

namespace weft::autodiff::rules {

/// A value that a reverse rule takes, conjugated where it is complex.
template <class E>
typename E::Value conjugated(E &e, const typename E::Value &value) {
  return is_complex(e.type(value).dtype) ? e.conjugate(value) : value;
}

/// `value` times itself, which is computed once.
template <class E>
typename E::Value squared(E &e, const typename E::Value &value) {
  return e.multiply(value, value);
}

/// `value`, which broadcasts to the shape of operand `i`, stretched to that shape.
template <class E, class Call>
typename E::Value expand_to_operand(E &e, Call &call, std::size_t i,
                                    const typename E::Value &value) {
  const Shape &shape = call.operand_type(i).shape;
  if (shape.is_static()) return e.type(value).shape == shape ? value : e.broadcast(value, shape);
  // A select takes the shape of its predicate, whose value does not matter here: NaN or not.
  const typename E::Value &witness = call.shape_witness(i);
  return e.select(e.equal(witness, witness), value, value);
}

/// Zeros of the type of operand `i`.
template <class E, class Call>
typename E::Value zeros_of_operand(E &e, Call &call, std::size_t i) {
  return expand_to_operand(e, call, i, e.scalar(0, call.operand_type(i).dtype));
}

/// The cotangent of a result of several; zeros where there is none.
template <class E>
typename E::Value cotangent_or_zeros(E &e, VjpCall<E> &call, std::size_t i) {
  if (call.has_cotangent(i)) return call.cotangent(i);
  const TensorType &type = call.result_type(i);
  const typename E::Value zero = e.scalar(0, type.dtype);
  if (type.shape.is_static()) return e.broadcast(zero, type.shape);
  return e.select(e.equal(call.result(i), call.result(i)), zero, zero);
}

/// The sum of `value` over the dimensions along which an operand of type `operand` was repeated to
/// get the shape of `value`. An unknown size of the operand counts as not repeated.
template <class E>
typename E::Value unbroadcast(E &e, typename E::Value value, const TensorType &operand) {
  const Shape from = e.type(value).shape;
  const std::size_t leading = from.size() - operand.shape.size();
  Ints outer, inner;
  for (std::size_t i = 0; i < leading; ++i) outer.push_back(static_cast<std::int64_t>(i));
  for (std::size_t i = 0; i < operand.shape.size(); ++i)
    if (operand.shape[i] == 1 && from[leading + i] != 1)
      inner.push_back(static_cast<std::int64_t>(i));
  if (!outer.empty()) value = e.sum(value, outer, /*keepdims=*/false);
  if (!inner.empty()) value = e.sum(value, inner, /*keepdims=*/true);
  return value;
}

/// sum += value, where the first value is taken as it is.
template <class E>
void accumulate(E &e, typename E::Value &sum, bool &some, const typename E::Value &value) {
  sum = some ? e.add(sum, value) : value;
  some = true;
}

/// A tangent that implicit broadcasting left smaller than the result, in the result's shape.
template <class E>
typename E::Value broadcast_tangent(E &e, JvpCall<E> &call, const typename E::Value &tangent) {
  const Shape &shape = call.result_type().shape;
  if (e.type(tangent).shape == shape) return tangent;
  if (shape.is_static()) return e.broadcast(tangent, shape);
  return e.select(e.equal(call.result(), call.result()), tangent, tangent);
}

/// The op itself on the tangents; nothing if there are none. Operands without one stand as zeros,
/// and those that no gradient flows to, the bits of `fixed`, as they are.
template <class E>
typename E::Value linear(E &e, JvpCall<E> &call, std::uint64_t fixed = 0) {
  std::vector<typename E::Value> operands;
  bool some = false;
  for (std::size_t i = 0; i < call.operand_count(); ++i) {
    const bool moves = call.has_tangent(i) && (i >= 64 || (fixed >> i & 1) == 0);
    some |= moves;
    if (moves) operands.push_back(call.tangent(i));
    else if (i < 64 && (fixed >> i & 1) != 0) operands.push_back(call.operand(i));
    else if (carries_gradient(call.operand_type(i).dtype))
      operands.push_back(zeros_of_operand(e, call, i));
    else operands.push_back(call.operand(i));
  }
  if (!some) return {};
  return e.emit(call.op(), std::span<const typename E::Value>(operands), call.attrs());
}

/// The sum, over the operands with a tangent, of the op with the tangent instead of the operand.
template <class E>
typename E::Value bilinear(E &e, JvpCall<E> &call) {
  typename E::Value sum{};
  bool some = false;
  for (std::size_t i = 0; i < call.operand_count(); ++i) {
    if (!call.has_tangent(i)) continue;
    std::vector<typename E::Value> operands;
    for (std::size_t j = 0; j < call.operand_count(); ++j)
      operands.push_back(i == j ? call.tangent(j) : call.operand(j));
    accumulate(e, sum, some,
               e.emit(call.op(), std::span<const typename E::Value>(operands), call.attrs()));
  }
  return sum;
}

/// Of `cast`: back to the operand's dtype.
template <class E>
typename E::Value cast_back(E &e, VjpCall<E> &call, std::size_t i,
                            const typename E::Value &cotangent) {
  const DType dtype = call.operand_type(i).dtype;
  const bool drops = is_complex(e.type(cotangent).dtype) && !is_complex(dtype);
  return e.cast(drops ? e.real_part(cotangent) : cotangent, dtype);
}

/// dividend / divisor, and a number where the divisor is 0.
template <class E>
typename E::Value quotient_or(E &e, const typename E::Value &dividend,
                              const typename E::Value &divisor, double otherwise) {
  const auto number = [&](double value) { return e.scalar(value, e.type(divisor).dtype); };
  const auto none = e.equal(divisor, number(0));
  return e.select(none, number(otherwise), e.divide(dividend, e.select(none, number(1), divisor)));
}

/// `value`, which is real, over the distance of complex numbers from 0; 0 where that is 0.
template <class E>
typename E::Value over_distance(E &e, const typename E::Value &x, const typename E::Value &value) {
  return quotient_or(e, value, e.abs(x), 0);
}

/// Of `abs`: x / |x| times the cotangent, which is real.
template <class E>
typename E::Value abs_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &x,
                           const typename E::Value &cotangent) {
  if (!is_complex(e.type(x).dtype)) return e.multiply(cotangent, e.real_sign(x));
  const typename E::Value slope = over_distance(e, x, cotangent);
  return e.complex(e.multiply(e.real_part(x), slope), e.multiply(e.imaginary_part(x), slope));
}
template <class E>
typename E::Value abs_forward(E &e, JvpCall<E> &, std::size_t, const typename E::Value &x,
                              const typename E::Value &tangent) {
  if (!is_complex(e.type(x).dtype)) return e.multiply(tangent, e.real_sign(x));
  return over_distance(e, x,
                       e.add(e.multiply(e.real_part(x), e.real_part(tangent)),
                             e.multiply(e.imaginary_part(x), e.imaginary_part(tangent))));
}

/// Zeros beside a part that has a cotangent.
template <class E>
typename E::Value zeros_beside(E &e, const typename E::Value &cotangent) {
  return e.scalar(0, e.type(cotangent).dtype);
}

/// Of `real`.
template <class E>
typename E::Value real_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &cotangent) {
  return e.complex(cotangent, zeros_beside(e, cotangent));
}
/// Of `imag`.
template <class E>
typename E::Value imag_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &cotangent) {
  return e.complex(zeros_beside(e, cotangent), cotangent);
}
/// Of `conj`.
template <class E>
typename E::Value conj_back(E &e, VjpCall<E> &, std::size_t, const typename E::Value &cotangent) {
  return e.conjugate(cotangent);
}
/// Of `complex`, by its real and by its imaginary parts, whose dtype may be narrower.
template <class E>
typename E::Value complex_back(E &e, VjpCall<E> &call, std::size_t i,
                               const typename E::Value &cotangent) {
  const DType dtype = call.operand_type(i).dtype;
  const auto part = i == 0 ? e.real_part(cotangent) : e.imaginary_part(cotangent);
  return e.type(part).dtype == dtype ? part : e.cast(part, dtype);
}

} // namespace weft::autodiff::rules
