// Gives the registers of a function places in a warp's register file, as few as its control flow
// allows: compilers use each register once, and a warp's lanes of thousands of them fit no cache.
#pragma once

#include <cstdint>
#include <vector>

#include "Emulator/Program/Instruction.h"
#include "Emulator/Ptx/Syntax.h"

namespace weft::emulator {

struct RegisterPlan {
  std::vector<Slot> slots; ///< of each register; kNoSlot of those that do not occur
  std::uint32_t bytes = 0; ///< of a warp
};

/// Plans the registers of `function`, without those in `elsewhere`, which have another place.
RegisterPlan plan_registers(const ptx::Function &function, const std::vector<bool> &elsewhere);

/// Bytes of a register of so many bits for all lanes.
constexpr std::uint32_t lane_bytes(int bits) {
  return bits == 1 ? 4U : static_cast<std::uint32_t>(bits) / 8 * kLanes;
}

/// Calls `take(number)` for the registers in an operand.
template <class Take>
void for_registers(const ptx::Operand &operand, const Take &take) {
  if (operand.kind == ptx::OperandKind::reg) take(operand.number);
  for (const ptx::Operand &part : operand.parts) for_registers(part, take);
}

} // namespace weft::emulator
