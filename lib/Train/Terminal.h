// What the library knows of the terminal that text goes to.
#pragma once

#include <string>
#include <string_view>

namespace weft::train {

/// The width of the window behind a descriptor, in characters; 0 if there is none.
int terminal_width(int descriptor);
/// Whether a line may be drawn over there.
bool is_terminal(int descriptor);
/// Whether the environment's locale is UTF-8.
bool has_utf8();

/// Four significant digits, for people.
std::string short_number(double value);
/// "1:02:03" or "0:07".
std::string clock_text(double seconds);
/// How many characters a UTF-8 text has.
int length_of(std::string_view text);

} // namespace weft::train
