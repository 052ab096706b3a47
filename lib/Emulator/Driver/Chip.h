// The chips that an emulated device may claim to be.
#pragma once

#include <string>
#include <string_view>

#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

struct Chip {
  std::string_view name; ///< "sm_90"
  int major, minor;      ///< its compute capability
  Limits limits;
  bool has_clusters;

  int number() const { return 10 * major + minor; }
};

/// Null if there is none of that name.
const Chip *find_chip(std::string_view name);
/// The names of all.
std::string chip_names();

} // namespace weft::emulator
