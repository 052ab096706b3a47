// Reads checkpoint budgets.
#include "Support/Checkpoint.h"

#include <string>

namespace weft {

Result<Checkpoint> parse_checkpoint(std::string_view text) {
  if (text.empty() || text == "none") return Checkpoint{};
  if (text == "sqrt") return Checkpoint{Checkpoint::Kind::sqrt};
  return Fault{ErrorKind::value, "the checkpoint budget \"" + std::string(text) +
                                     "\" is unknown: there are none, sqrt"};
}

} // namespace weft
