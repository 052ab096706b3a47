// What kernels did, counted exactly.
#pragma once

#include <cstdint>

namespace weft::emulator {

struct Counters {
  std::uint64_t launches = 0;
  std::uint64_t blocks = 0;
  std::uint64_t warp_instructions = 0;
  std::uint64_t lane_instructions = 0;
  std::uint64_t global_requests = 0; ///< loads, stores and atomics of a warp
  std::uint64_t global_sectors = 0;  ///< of 32 bytes
  std::uint64_t global_bytes_loaded = 0, global_bytes_stored = 0; ///< that lanes asked for
  std::uint64_t shared_requests = 0;
  std::uint64_t shared_bank_conflicts = 0; ///< passes beyond those that the bytes need
  std::uint64_t atomics = 0;               ///< of lanes
  std::uint64_t barriers = 0;              ///< of blocks

  Counters &operator+=(const Counters &other) {
    launches += other.launches;
    blocks += other.blocks;
    warp_instructions += other.warp_instructions;
    lane_instructions += other.lane_instructions;
    global_requests += other.global_requests;
    global_sectors += other.global_sectors;
    global_bytes_loaded += other.global_bytes_loaded;
    global_bytes_stored += other.global_bytes_stored;
    shared_requests += other.shared_requests;
    shared_bank_conflicts += other.shared_bank_conflicts;
    atomics += other.atomics;
    barriers += other.barriers;
    return *this;
  }
};

} // namespace weft::emulator
