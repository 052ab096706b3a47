// `weft-fuzz calls`: many drawn calls in processes of their own, and a file for each kind of fault.
#pragma once

#include <cstdint>
#include <string>

#include "../Workers.h"

namespace weft::fuzz {

struct CallOptions {
  std::uint64_t count = 100, seed = 0;
  int jobs = 1;
  std::string out = "build/fuzz";
  std::string only;   ///< part of the names of the calls that are run
  std::string device; ///< where they run beside the CPU; if empty, they are compiled
  Limits limits{.seconds = 30};
};

/// Makes the calls and prints what was found. Returns the exit status: 1 if a call failed.
int run_calls(const CallOptions &options);

} // namespace weft::fuzz
