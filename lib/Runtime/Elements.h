// What is done with elements one by one: conversion to another dtype, as the op `cast` defines it,
// and whether indices lie within an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace weft {

/// To bool: whether it differs from 0. Floating to integer: towards zero, saturating, NaN to 0.
/// Between integers: modulo 2^n. Otherwise the nearest value.
template <class To, class From>
constexpr To convert_element(From value) {
  if constexpr (std::same_as<To, From>) {
    return value;
  } else if constexpr (std::same_as<To, bool>) {
    return value != From(0);
  } else if constexpr (std::floating_point<From> && std::integral<To>) {
    // The largest integer need not be representable; one above it is a power of two and is.
    constexpr From above = -static_cast<From>(std::numeric_limits<To>::min());
    if (!(value == value)) return 0;
    if (value >= above) return std::numeric_limits<To>::max();
    if (value < -above) return std::numeric_limits<To>::min();
    return static_cast<To>(value);
  } else {
    return static_cast<To>(value);
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
