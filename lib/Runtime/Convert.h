// Conversion of one element to another dtype, as the op `cast` defines it.
#pragma once

#include <cmath>
#include <concepts>
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

} // namespace weft
