// Copies from global to shared memory that a warp has begun and does not wait for (cp.async).
//
// What a copy writes is nobody's until the thread that began it has waited for it: reads before are
// reported. In stress mode the copy is done no earlier, and other bytes are there until then; else
// it is done at once. Both are as a GPU may do it, so both must leave the same bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "Emulator/Program/Instruction.h"

namespace weft::emulator {

class Warp;

class Copies {
public:
  static constexpr std::uint32_t kMostBytes = 16;

  /// What the lanes of a warp copy.
  struct Request {
    const Instruction *in;
    LaneMask lanes;
    std::uint32_t bytes; ///< 4, 8 or 16, of each lane
    const std::uint64_t *to;
    const std::uint64_t *from;
    const std::uint32_t *kept; ///< so many bytes are read, and the others become zero
  };

  void begin(Warp &warp, const Request &request);
  /// Makes a group of what the lanes began since the last one.
  void commit(LaneMask lanes);
  /// Waits for all groups of these lanes but the latest `pending`.
  void wait(Warp &warp, LaneMask lanes, std::uint32_t pending);
  /// Forgets what nobody waited for, when a block begins.
  void clear();

private:
  struct Copy {
    const Instruction *in;
    LaneMask lanes;
    std::uint32_t bytes;
    std::array<std::uint32_t, kLanes> group;
    std::array<std::uint64_t, kLanes> to;
    std::array<const std::byte *, kLanes> from;
    std::array<std::uint32_t, kLanes> kept;
    std::array<std::byte, kLanes * kMostBytes> values; ///< where they were taken at once
  };

  void finish(Warp &warp, Copy &copy, LaneMask lanes);

  std::vector<Copy> begun_;
  std::array<std::uint32_t, kLanes> groups_{}; ///< that each lane committed
};

} // namespace weft::emulator
