// What the emulated driver is told by the environment.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "Emulator/Driver/Chip.h"
#include "Emulator/Machine/Launch.h"

namespace weft::emulator {

/// The variable WEFT_GPU_EMULATOR, words separated by commas:
///
/// - chip=sm_90: what devices claim to be, of sm_75, sm_80, sm_86, sm_89, sm_90, sm_100, sm_120
/// - devices=N: how many there are (1); with 0, there is a driver and no device
/// - memory=SIZE: what each has, a number of bytes, K, M or G (8G)
/// - driver=VERSION: the version of CUDA that the driver claims, 13000 for 13.0
/// - seed=N: of all that happens in an order by chance (0)
/// - stress: warps take turns after a few instructions; work of streams is done as late as it may
///   be, in any order that streams and events allow, and so are asynchronous copies
/// - threads=N: host threads that run blocks (2)
/// - timeout=SECONDS: of a kernel (300)
/// - races=off: do not look for races
/// - uninitialised=off: do not mind reads of memory that nobody wrote
/// - quiet: do not write reports to standard error
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
