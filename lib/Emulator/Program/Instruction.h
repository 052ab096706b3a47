// One decoded instruction: the function that executes it for a warp, and where its operands are.
#pragma once

#include <cstdint>

namespace weft::emulator {

class Warp;
struct Instruction;

constexpr int kLanes = 32;

/// A bit for each lane of a warp.
using LaneMask = std::uint32_t;
constexpr LaneMask kAllLanes = 0xffffffffU;

/// Executes an instruction for those lanes of a warp.
using Handler = void (*)(Warp &warp, const Instruction &in, LaneMask lanes);

/// Where the values of an operand are, one per lane and next to each other: bytes from the warp's
/// registers, or from the kernel's constants where the top bit is set. Predicates are one LaneMask.
using Slot = std::uint32_t;
constexpr Slot kInConstants = 1U << 31;
/// An operand that is not there: `_`, or the second result of setp.
constexpr Slot kNoSlot = 0xffffffffU;

struct Instruction {
  Handler run = nullptr;
  Slot guard = kNoSlot; ///< a predicate; the decoder fills in one that always holds
  LaneMask guard_flip = 0;
  Slot slots[6] = {kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot, kNoSlot};
  const Slot *more = nullptr; ///< of those that have lists of operands
  std::int64_t offset = 0;    ///< of an address; the target of a branch
  std::uint32_t mode = 0;     ///< what the handler was told by modifiers
  std::uint32_t line = 0;     ///< in the text, from 1
};

} // namespace weft::emulator
