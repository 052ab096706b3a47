// Accesses of the lanes of a warp to memory, each lane by itself: found, checked, noted and
// counted.
#pragma once

#include <cstddef>

#include "Emulator/Machine/Warp.h"
#include "Emulator/Memory/Region.h"

namespace weft::emulator {

/// Where an address is meant to lie.
enum class Where : std::uint8_t { global, shared, local, generic };

enum class AccessKind : std::uint8_t { load, store, atomic };

/// What all lanes of an access have in common.
struct Request {
  const Instruction &in;
  LaneMask lanes;
  const std::uint64_t *addresses; ///< of each lane
  std::uint32_t bytes;            ///< of each lane, a power of two
  AccessKind kind = AccessKind::load;
  bool atomic = false; ///< volatile, relaxed and stronger: no race with others of that sort
};

/// Looks up and checks what lanes access. `where[lane]` is where the machine finds it. Throws Fault
/// where there is no memory; races and reads of what nobody wrote are reported, and it goes on.
/// Stores happen here, lane after lane, of `values[lane * bytes]`; what they store at `where` may
/// not be set then.
void access_lanes(Warp &warp, Where space, const Request &request, std::byte **where,
                  const std::byte *values);

/// Finds the allocation of a global address that is not where the instruction was before; throws
/// Fault if there is none, or one of another device.
Region &find_region(const Warp &warp, const Instruction &in, int lane, std::uint64_t address,
                    std::uint32_t bytes);

/// Reports a race of a lane of `warp` with what `other` says, once per line.
void report_race(const Warp &warp, const Instruction &in, int lane, AccessKind kind, bool in_shared,
                 bool other_read, Record other, std::uint64_t address);
void report_uninitialised(const Warp &warp, const Instruction &in, int lane, std::uint64_t address,
                          std::uint32_t bytes);

/// How many 32-byte sectors lanes touch.
std::uint32_t sectors_of(LaneMask lanes, const std::uint64_t *addresses, std::uint32_t bytes);
/// In how many passes shared memory serves them beyond those that their bytes need: 32 banks of 4
/// bytes, of which each gives one word at a time to whoever wants it.
std::uint32_t bank_conflicts_of(LaneMask lanes, const std::uint64_t *addresses,
                                std::uint32_t bytes);

} // namespace weft::emulator
