// Checkpoint budgets: how much of a loop's iterations its derivative keeps.
#pragma once

#include <cstdint>
#include <string_view>

#include "Support/Fault.h"

namespace weft {

/// A budget, as `weft-differentiate`, its ops and FunctionOptions::checkpoint name it.
struct CheckpointBudget {
  enum class Kind : std::uint8_t {
    none, ///< keep what the reverse needs of every iteration
    sqrt, ///< keep the state of about sqrt(n) of n iterations, and run the iterations between again
    binomial, ///< keep at most `number` states at a time, where Revolve puts them
    bytes,    ///< keep states of at most `number` bytes in all at a time
  };
  Kind kind = Kind::none;
  std::int64_t number = 0; ///< positive, of binomial and bytes

  friend bool operator==(const CheckpointBudget &, const CheckpointBudget &) = default;
};

/// Reads "none", "sqrt", "binomial<3>" or "bytes<65536>"; no text is none. The fault is one of
/// value, and says what would be right.
Result<CheckpointBudget> parse_checkpoint(std::string_view text);

} // namespace weft
