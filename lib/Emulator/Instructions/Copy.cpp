// cp.async: copies to shared memory that run beside the program, until it waits for them.
#include <algorithm>
#include <bit>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Modes.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// Slots: address in shared memory, source, bytes that are read or none; the mode has the size.
void copy(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return;
  const std::uint32_t bytes = in.mode >> kCopyBytesShift & 31;
  std::uint64_t to[kLanes];
  std::uint32_t kept[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) {
    to[lane] = static_cast<std::uint64_t>(in.offset) +
               ((in.mode & kNarrowAddress) != 0 ? warp.lanes<std::uint32_t>(in.slots[0])[lane]
                                                : warp.lanes<std::uint64_t>(in.slots[0])[lane]);
    kept[lane] = in.slots[2] == kNoSlot ? bytes : warp.lanes<std::uint32_t>(in.slots[2])[lane];
  }
  warp.block->copies(warp).begin(
      warp, {&in, mask, bytes, to, warp.lanes<std::uint64_t>(in.slots[1]), kept});
}

void commit(Warp &warp, const Instruction &, LaneMask mask) {
  warp.block->copies(warp).commit(mask);
}

void wait(Warp &warp, const Instruction &in, LaneMask mask) {
  if (mask == 0) return;
  const std::uint32_t pending =
      warp.lanes<std::uint32_t>(in.slots[0])[std::countr_zero(mask)]; // a number of the text
  warp.block->copies(warp).wait(warp, mask, pending);
}

/// Waits for what is in no group as well.
void wait_all(Warp &warp, const Instruction &, LaneMask mask) {
  if (mask == 0) return;
  warp.block->copies(warp).commit(mask);
  warp.block->copies(warp).wait(warp, mask, 0);
}

} // namespace

void add_copies(FormTable &table) {
  table.add({"cp.async "}, &copy, "");
  table.add({"cp.async.commit_group"}, &commit, ":");
  table.add({"cp.async.wait_group"}, &wait, ":r");
  table.add({"cp.async.wait_all"}, &wait_all, ":");
}

} // namespace WEFT_EMULATOR_LEVEL
