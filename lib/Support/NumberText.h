// Numbers as messages show them.
#pragma once

#include <charconv>
#include <string>

namespace weft {

/// The shortest text that is this number of its type: "0.1", "1e+308", "nan".
template <class T>
std::string number_text(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

} // namespace weft
