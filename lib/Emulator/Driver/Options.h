// What the emulated driver is told by the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "Emulator/Driver/Chip.h"
#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

/// What the words of the variable WEFT_GPU_EMULATOR say, which docs/gpu.md lists.
struct Options {
  const Chip *chip = nullptr;
  int devices = 1;
  std::uint64_t memory = 8ULL << 30;
  int driver_version = 13000;
  Schedule schedule;
  bool quiet = false;
};

/// Reads them; a sentence on what is wrong otherwise.
std::variant<Options, std::string> read_options(std::string_view text);

} // namespace weft::emulator
