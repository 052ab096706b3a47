// Functions that the generated rules of Fourier transforms call. In parts transforms are linear
// maps of real numbers, and the transposed one is that of the other direction, with the same
// factor.
#pragma once

#include "Autodiff/Rules/ElementwiseRules.h"
#include "Autodiff/Rules/UnknownSizes.h"

namespace weft::autodiff::rules {

/// Both parts, of which one at least is there, of `has(i)` and `part(i)`: the other is zeros.
template <class E, class Has, class Part>
std::pair<typename E::Value, typename E::Value> both_parts(E &e, const Has &has, const Part &part) {
  const auto zeros_like = [&](const typename E::Value &x) {
    return e.broadcast(e.scalar(0, e.type(x).dtype), sizes_of(e, x));
  };
  return {has(0) ? part(0) : zeros_like(part(1)), has(1) ? part(1) : zeros_like(part(0))};
}
template <class E>
auto both_cotangents(E &e, VjpCall<E> &call) {
  return both_parts(
      e, [&](std::size_t i) { return call.has_cotangent(i); },
      [&](std::size_t i) { return call.cotangent(i); });
}
template <class E>
auto both_tangents(E &e, JvpCall<E> &call) {
  return both_parts(
      e, [&](std::size_t i) { return call.has_tangent(i); },
      [&](std::size_t i) { return call.tangent(i); });
}

template <class E>
typename E::Value fft_back(E &e, VjpCall<E> &call, std::size_t i) {
  return call.once([&] {
    const FftAttrs attrs(call.attrs());
    const auto [re, im] = both_cotangents(e, call);
    return e.fft(re, im, attrs.axis, attrs.norm, !attrs.inverse);
  })[i];
}
template <class E>
std::vector<typename E::Value> fft_forward(E &e, JvpCall<E> &call, std::size_t) {
  const FftAttrs attrs(call.attrs());
  const auto [re, im] = both_tangents(e, call);
  return e.fft(re, im, attrs.axis, attrs.norm, attrs.inverse);
}

/// The real part of the other direction, of a spectrum that has zeros behind.
template <class E>
typename E::Value rfft_back(E &e, VjpCall<E> &call, std::size_t) {
  const RfftAttrs attrs(call.attrs());
  const auto axis = static_cast<std::size_t>(attrs.axis);
  const std::int64_t size = call.operand_type(0).shape[axis];
  const auto extended = [&](const typename E::Value &part) {
    const TensorType type = e.type(part);
    if (size == unknown || type.shape[axis] == unknown)
      return pad_axis(e, part, axis, size_value(e, call.shape_witness(0), axis));
    const Ints none(type.shape.size(), 0);
    Ints behind = none;
    behind[axis] = size - type.shape[axis];
    return e.pad(part, e.scalar(0, type.dtype), none, behind, none);
  };
  const auto [re, im] = both_cotangents(e, call);
  return e.fft(extended(re), extended(im), attrs.axis, attrs.norm, /*inverse=*/true)[0];
}
template <class E>
std::vector<typename E::Value> rfft_forward(E &e, JvpCall<E> &call, std::size_t) {
  const RfftAttrs attrs(call.attrs());
  return e.rfft(call.tangent(0), attrs.axis, attrs.norm);
}

/// Each element of half a spectrum stands for two, but the first one, and the last one of an even
/// number.
template <class E>
typename E::Value irfft_back(E &e, VjpCall<E> &call, std::size_t i) {
  return call.once([&] {
    const IrfftAttrs attrs(call.attrs());
    const auto axis = static_cast<std::size_t>(attrs.axis);
    std::vector<typename E::Value> parts = e.rfft(call.cotangent(), attrs.axis, attrs.norm);
    const TensorType type = e.type(parts[0]);
    SizeList<typename E::Value> sizes;
    for (std::size_t at = 0; at < type.shape.size(); ++at)
      if (at != axis) sizes.push_back(1);
      else if (type.shape[axis] != unknown) sizes.push_back(type.shape[axis]);
      else sizes.push_back(size_value(e, parts[0], axis));
    const auto at = e.iota(DType::i64, sizes, attrs.axis), zero = e.scalar(0, DType::i64);
    auto single = e.equal(at, zero);
    if (!attrs.odd) {
      const auto last = e.subtract(size_value(e, parts[0], axis), e.scalar(1, DType::i64));
      single = e.logical_or(single, e.equal(at, last));
    }
    const auto factors = e.select(single, e.scalar(1, type.dtype), e.scalar(2, type.dtype));
    for (auto &part : parts) part = e.multiply(part, factors);
    return parts;
  })[i];
}
template <class E>
typename E::Value irfft_forward(E &e, JvpCall<E> &call, std::size_t) {
  const IrfftAttrs attrs(call.attrs());
  const auto [re, im] = both_tangents(e, call);
  return e.irfft(re, im, attrs.axis, attrs.norm, attrs.odd);
}

} // namespace weft::autodiff::rules
