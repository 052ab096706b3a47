// What an emulated driver has beyond a real one: reports, counters and schedules. Found by dlsym.
//
// Plain C types, so that tests in any language can use them.
#pragma once

#include <cstdint>

extern "C" {

/// What kernels did since the last call of weft_emulator_reset_counters.
struct weft_emulator_counters_t {
  std::uint64_t launches, blocks, warp_instructions, lane_instructions;
  std::uint64_t global_requests, global_sectors, global_bytes_loaded, global_bytes_stored;
  std::uint64_t shared_requests, shared_bank_conflicts, atomics, barriers;
};

/// The counters of a kernel, or of all where `kernel` is null. False if it never ran.
bool weft_emulator_counters(const char *kernel, weft_emulator_counters_t *counters);
void weft_emulator_reset_counters(void);

/// Copies the next report that nobody has taken into `text`, cut to `size` bytes with its end.
/// False if there is none.
bool weft_emulator_take_report(char *text, std::uint64_t size);

/// Another seed from the next operation on, and whether work is done late.
void weft_emulator_schedule(std::uint64_t seed, bool stress);

/// Bytes of device memory in use on a device, and how many allocations they are; of pinned memory
/// with device -1.
void weft_emulator_memory(int device, std::uint64_t *bytes, std::uint64_t *allocations);
}
