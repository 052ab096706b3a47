// What can go wrong while a kernel runs.
#pragma once

#include <cstdint>
#include <string>

namespace weft::emulator {

enum class FaultKind : std::uint8_t {
  illegal_address, ///< outside of every allocation, freed, or of another device
  misaligned_address,
  uninitialised,       ///< memory that nobody wrote
  race,                ///< an access that nothing orders against another
  illegal_instruction, ///< operands that the instruction does not have, lanes that are not there
  deadlock,            ///< threads that wait for others which never come
  timeout,
  trap
};

/// Thrown inside the machine; the launch ends with it.
struct Fault {
  FaultKind kind = FaultKind::trap;
  std::string text; ///< what happened, where, to whom
};

} // namespace weft::emulator
