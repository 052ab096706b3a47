// The decimals that stand for floating numbers in texts.
#pragma once

#include <charconv>

#include <weft/float8.h>

namespace weft::detail {

/// A finite number as std::to_chars is to write it with the fewest digits that read back as it:
/// one of 16 or 8 bits as the double that is nearest to these.
template <class T>
auto with_fewest_digits(T value) {
  if constexpr (std::is_floating_point_v<T>) {
    return value;
  } else {
    auto number = static_cast<double>(static_cast<float>(value));
    for (int digits = 0; digits < std::numeric_limits<T>::max_digits10; ++digits) {
      char text[32];
      const auto end =
          std::to_chars(text, text + sizeof text, number, std::chars_format::scientific, digits);
      double read = number;
      std::from_chars(text, end.ptr, read);
      if (T(read).bits == value.bits) return read;
    }
    return number;
  }
}

} // namespace weft::detail
