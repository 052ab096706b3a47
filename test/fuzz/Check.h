// Compares the derivatives of a program: by a tape on values, by the compiler, by differences.
#pragma once

#include "Program.h"

#include <string>

namespace weft::fuzz {

/// What came of a program.
struct Verdict {
  enum class Kind : std::uint8_t { passed, failed, skipped };
  Kind kind = Kind::passed;
  std::string what;   ///< what failed, the same for the same fault; or why it was skipped
  std::string detail; ///< numbers
  /// Comparisons that were done, and those that were left out with the reason: "jvp: ..".
  std::vector<std::string> compared, left_out;
};

/// Never throws.
Verdict check_gradients(const Program &program);

/// The trace in which that verdict was found, its derivatives included; a comment if there is none.
std::string trace_of(const Program &program, const std::string &what);

} // namespace weft::fuzz
