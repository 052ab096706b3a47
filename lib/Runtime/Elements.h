// What is done with elements one by one: conversion to another dtype, as the op `cast` defines it,
// and whether indices lie within an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include <weft/dtype.h>

namespace weft {

/// The least power of two above all numbers of an integer type, which the largest of these need not
/// be as a floating number.
template <class Integer, class Float>
inline constexpr Float above_integers =
    static_cast<Float>(Integer{1} << (std::numeric_limits<Integer>::digits - 1)) * 2;

/// The bytes of an element of 16.
struct Bytes16 {
  std::uint64_t words[2];
};

/// To bool: whether it differs from 0. Floating to integer: towards zero, saturating, NaN to 0.
/// Between integers: modulo 2^n. From complex to real, which `cast` refuses, the
/// real part. Otherwise the nearest value.
template <class To, class From>
constexpr To convert_element(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (is_floating_type<From> && !std::floating_point<From>) {
    return convert_element<To>(static_cast<float>(value));
  } else if constexpr (std::same_as<To, bool>) {
    return value != From(0);
  } else if constexpr (is_complex_number<To>) {
    using Component = typename To::value_type;
    if constexpr (is_complex_number<From>)
      return To(static_cast<Component>(value.real()), static_cast<Component>(value.imag()));
    else return To(convert_element<Component>(value));
  } else if constexpr (is_complex_number<From>) {
    return convert_element<To>(value.real());
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    if (!(value == value)) return 0;
    if (value >= above_integers<To, From>) return std::numeric_limits<To>::max();
    if (value < static_cast<From>(std::numeric_limits<To>::min()))
      return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
  }
}

/// Calls `visitor.template operator()<T>()` with the unsigned integer of the dtype's size, for what
/// moves elements and does not look at them.
template <class Visitor>
decltype(auto) visit_bytes(DType dtype, Visitor &&visitor) {
  switch (item_size(dtype)) {
  case 1: return visitor.template operator()<std::uint8_t>();
  case 2: return visitor.template operator()<std::uint16_t>();
  case 4: return visitor.template operator()<std::uint32_t>();
  case 16: return visitor.template operator()<Bytes16>();
  default: return visitor.template operator()<std::uint64_t>();
  }
}

/// Calls `visitor.template operator()<T>()` with the C++ type of a dtype that is not complex: who
/// calls it has refused these.
template <class Visitor>
decltype(auto) visit_real(DType dtype, Visitor &&visitor) {
  switch (dtype) {
#define WEFT_DTYPE(enumerator, cpp, ...)                                                           \
  case DType::enumerator:                                                                          \
    if constexpr (!is_complex(DType::enumerator)) return visitor.template operator()<cpp>();       \
    else break;
#include <weft/dtypes.def>
  }
  __builtin_unreachable();
}

/// The same with the type that sums and products are of: integers wrap, with a sign or without.
template <class Visitor>
decltype(auto) visit_numbers(DType dtype, Visitor &&visitor) {
  if (dtype == DType::f32) return visitor.template operator()<float>();
  if (dtype == DType::f64) return visitor.template operator()<double>();
  if (dtype == DType::c64) return visitor.template operator()<std::complex<float>>();
  if (dtype == DType::c128) return visitor.template operator()<std::complex<double>>();
  switch (item_size(dtype)) {
  case 1: return visitor.template operator()<std::uint8_t>();
  case 2: return visitor.template operator()<std::uint16_t>();
  case 4: return visitor.template operator()<std::uint32_t>();
  default: return visitor.template operator()<std::uint64_t>();
  }
}

/// Whether any of `count` indices lies outside of [0, size).
template <class Index>
bool any_outside(const Index *indices, std::int64_t count, std::int64_t size) {
  using Bits = std::make_unsigned_t<Index>;
  constexpr std::int64_t kChunk = 1024;
  const auto last =
      static_cast<Bits>(std::min<std::int64_t>(size - 1, std::numeric_limits<Index>::max()));
  for (std::int64_t i = 0; i < count; i += kChunk) {
    const std::int64_t end = std::min(i + kChunk, count);
    // The sign of an index that is negative, or of what is left up to the last one. Without a way
    // out of the loop, so that it is one of vectors.
    Bits signs = 0;
    for (std::int64_t j = i; j < end; ++j) {
      const auto index = static_cast<Bits>(indices[j]);
      signs |= index | (last - index);
    }
    if (static_cast<Index>(signs) < 0) return true;
  }
  return false;
}

} // namespace weft
