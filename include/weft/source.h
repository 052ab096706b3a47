// Locations in the user's source: every function that calls ops knows the line it was called from.
#pragma once

#if __cplusplus < 202002L
#error "Weft needs C++20: compile with -std=c++20"
#endif

#include <cstdint>
#include <source_location>
#include <string>

/// The default of a parameter `where`: the line of the call. The library's own calls have none, so
/// that errors and compiled code name the user's line, or nothing, but never a line of the library.
#ifdef WEFT_LIBRARY
#define WEFT_HERE std::source_location()
#else
#define WEFT_HERE std::source_location::current()
#endif

namespace weft {

/// A location in a source file; `line` is 0 if it is not known.
struct SourceLocation {
  std::string file; ///< as the compiler was given it
  std::uint32_t line = 0;
  std::uint32_t column = 0; ///< 0 if not known

  bool known() const { return line != 0; }
  bool operator==(const SourceLocation &) const = default;
};

/// "train.cpp:41", without folders; empty if the location is not known.
std::string to_string(const SourceLocation &location);

} // namespace weft
