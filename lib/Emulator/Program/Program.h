// A module that is loaded: its text, its kernels, and its variables in device memory.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "Emulator/Program/Kernel.h"

namespace weft::emulator {

struct Program {
  struct Global {
    std::uint64_t address, size;
  };

  std::string target; ///< "sm_90a"
  int version = 0;    ///< 80 of PTX 8.0
  std::map<std::string, std::unique_ptr<Kernel>, std::less<>> kernels;
  std::map<std::string, Global, std::less<>> globals;
};

/// Where a module's variable lies, of this size and with these first bytes; the rest are zeros.
using PlaceGlobal =
    std::function<std::uint64_t(std::uint64_t size, const std::vector<std::uint8_t> &initial)>;

/// Reads PTX. Throws ptx::SyntaxError.
std::unique_ptr<Program> load_program(std::string_view text, const PlaceGlobal &place);

/// Whether a chip, such as 90 of sm_90, can run what was made for `target`.
bool can_run(int chip, std::string_view target);

} // namespace weft::emulator
