// Checkpoint budgets: how much of a loop's turns its derivative keeps.
#pragma once

#include <cstdint>
#include <string_view>

#include "Support/Fault.h"

namespace weft {

/// A budget, as `weft-differentiate`, its ops and FunctionOptions::checkpoint name it.
struct Checkpoint {
  enum class Kind : std::uint8_t {
    none, ///< keep what the reverse needs of every turn
    sqrt, ///< keep the state of about sqrt(n) of n turns, and run the turns between again
  };
  Kind kind = Kind::none;

  friend bool operator==(const Checkpoint &, const Checkpoint &) = default;
};

/// Reads "none" or "sqrt"; no text is none. The fault is one of value, and says what would be
/// right.
Result<Checkpoint> parse_checkpoint(std::string_view text);

} // namespace weft
