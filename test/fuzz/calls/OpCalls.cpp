// Calls of every op's C++ function, built from the records.
#include "Calls.h"

namespace weft::fuzz {

std::span<const CallEntry> op_calls() {
  static const CallEntry calls[] = {
#include "Calls.inc"
  };
  return calls;
}

std::vector<CallEntry> call_entries() {
  std::vector<CallEntry> entries;
  for (const auto &calls :
       {op_calls(), tensor_calls(), network_calls(), program_calls(), window_calls()})
    entries.insert(entries.end(), calls.begin(), calls.end());
  return entries;
}

} // namespace weft::fuzz
