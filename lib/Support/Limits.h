// Limits that several layers keep, so that what is deep is an error in words and no overflow of the
// stack: parsers, tracers and passes call themselves for what is nested, and so does code of the
// user.
#pragma once

#include <cstddef>
#include <string_view>

namespace weft {

/// How deep branches and loops may be nested in one another, calls of functions in them counted in,
/// and brackets in a text.
inline constexpr std::size_t kMaxNesting = 256;

/// How many functions may be in one another's calls.
inline constexpr std::size_t kMaxCalls = 1024;

/// How many ops a function may have once its calls are inlined: functions that call one another
/// twice each grow with two to the power of their number.
inline constexpr std::size_t kMaxInlinedOps = 1 << 20;

/// Held while the library calls code of the user that may come back to the same code. Throws
/// StateError, "WHO: endless recursion: WHY", where that has happened kMaxCalls times, or little of
/// this thread's stack is left.
class RecursionGuard {
public:
  RecursionGuard(std::string_view who, std::string_view why);
  ~RecursionGuard();
  RecursionGuard(const RecursionGuard &) = delete;
  RecursionGuard &operator=(const RecursionGuard &) = delete;
};

} // namespace weft
