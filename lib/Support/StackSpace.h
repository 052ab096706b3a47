// Bounds recursion through the user's code: by its depth, and by what is left of the thread's
// stack.
#pragma once

#include <string_view>

namespace weft {

/// Held while the library calls code of the user that may come back to the same place. Throws
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
