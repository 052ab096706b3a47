// Numbers, and texts that come from files, as messages show them.
#pragma once

#include <charconv>
#include <cstddef>
#include <string>
#include <string_view>

namespace weft {

/// The shortest text that is this number of its type: "0.1", "1e+308", "nan".
template <class T>
std::string number_text(T value) {
  char digits[32];
  return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
}

/// The text with control characters as \x1b, so that it neither ends a message nor moves a cursor,
/// cut off behind `most` bytes, between characters of UTF-8.
std::string shown(std::string_view text, std::size_t most = 100);
/// The same of a whole message, of which nothing is cut off and the lines stay.
std::string shown_message(std::string_view text);

} // namespace weft
