// Quick ways for a whole warp to access memory: lanes side by side, or all at one address. They
// give up, and nothing has happened, where anything is unusual.
#pragma once

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Access.h"
#include "Emulator/Memory/Modes.h"

namespace weft::emulator {
namespace {

/// The addresses of all lanes.
[[gnu::always_inline]] inline void find_addresses(const Warp &warp, const Instruction &in,
                                                  std::uint64_t *out) {
  const auto offset = static_cast<std::uint64_t>(in.offset);
  if ((in.mode & kNarrowAddress) != 0) {
    const auto *base = warp.lanes<std::uint32_t>(in.slots[0]);
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = base[lane] + offset;
  } else {
    const auto *base = warp.lanes<std::uint64_t>(in.slots[0]);
    WEFT_EACH_LANE
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = base[lane] + offset;
  }
}

/// The slot of the number `i` that a lane loads or stores.
[[gnu::always_inline]] inline Slot data_slot(const Instruction &in, std::uint32_t i) {
  return in.more != nullptr ? in.more[i] : in.slots[1 + i];
}

/// A piece of memory that a warp accesses at once, in one stretch of shadow.
struct Row {
  std::byte *bytes = nullptr; ///< null where there is none
  const Actor *actor = nullptr;
  Region *region = nullptr;
  Stretch *stretch = nullptr;
  std::uint64_t offset = 0; ///< in the region
};

/// `total` bytes from an address on, if the quick way may be taken there.
template <Where Space>
[[gnu::always_inline]] inline Row find_row(const Warp &warp, const Instruction &in,
                                           std::uint64_t address, std::uint32_t bytes,
                                           std::uint32_t total) {
  Region *region = Space == Where::shared ? &warp.block->shared() : warp.hints[&in - warp.code];
  if (region == nullptr || address % bytes != 0) return {};
  if constexpr (Space == Where::shared) {
    const std::uint64_t offset = address - kSharedBegin;
    if (offset > warp.block->shared_bytes() || total > warp.block->shared_bytes() - offset)
      return {};
  } else if (!region->contains(address, total)) {
    return {};
  }
  const std::uint64_t offset = address - region->address;
  if (offset / Stretch::kBytes != (offset + total - 1) / Stretch::kBytes) return {};
  const int shift = bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
  Stretch &stretch = region->shadow.at(offset, shift);
  const Actor &actor = Space == Where::shared ? warp.shared_actor : warp.actor;
  if (stretch.touched_by.load(std::memory_order_relaxed) != actor.first)
    stretch.touched_by.store(actor.first, std::memory_order_relaxed);
  return {region->bytes + offset, &actor, region, &stretch, offset};
}

/// Whether the lanes access memory side by side, `bytes` each.
[[gnu::always_inline]] inline bool are_side_by_side(const std::uint64_t *addresses,
                                                    std::uint64_t bytes) {
  std::uint64_t differences = 0;
  WEFT_EACH_LANE
  for (int lane = 0; lane < kLanes; ++lane)
    differences |= addresses[lane] ^ (addresses[0] + static_cast<std::uint64_t>(lane) * bytes);
  return differences == 0;
}
[[gnu::always_inline]] inline bool are_equal(const std::uint64_t *addresses) {
  std::uint64_t differences = 0;
  WEFT_EACH_LANE
  for (int lane = 1; lane < kLanes; ++lane) differences |= addresses[lane] ^ addresses[0];
  return differences == 0;
}

/// Of two records, where they may not differ if both are of one thread.
constexpr Record kThreadBits =
    ~((1ULL << kSerialShift) - 1) | 31ULL << kWarpShift | 31ULL << kLaneShift | kSeveralReaders;

/// Notes that lanes side by side read a row. False where a record says anything that has to be
/// looked at.
[[gnu::always_inline, gnu::no_sanitize("thread")]] inline bool
note_row_read(const Warp &warp, const Row &row, std::uint32_t bytes, bool atomic) {
  const Stretch &stretch = *row.stretch;
  if (warp.check_uninitialised && !row.region->shadow.is_written(row.offset, bytes * kLanes))
    return false;
  const std::uint64_t begin = row.offset % Stretch::kBytes >> stretch.shift;
  const std::uint32_t count = bytes * kLanes >> stretch.shift;
  const std::uint32_t each = bytes >> stretch.shift; // pieces of a lane
  if (each == 0) return false;
  const std::uint32_t lane_shift = static_cast<std::uint32_t>(__builtin_ctz(each));
  const Record *writers = stretch.writers.get() + begin;
  Record *readers = stretch.readers.get() + begin;
  std::uint32_t *warps = stretch.reader_warps.get() + begin;
  const Record first = row.actor->first, mine = row.actor->record | (atomic ? kAtomicAccess : 0);
  std::uint64_t unusual = 0;
  WEFT_EACH_LANE
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record me = mine | static_cast<Record>(i >> lane_shift) << kLaneShift;
    const Record writer = writers[i], reader = readers[i];
    const bool writer_fine = writer < first || ((writer ^ me) & kThreadBits) == 0;
    const bool reader_fine = reader < first || ((reader ^ me) & kThreadBits) == 0 || warps[i] == 0;
    unusual |= writer_fine && reader_fine ? 0 : 1;
  }
  if (unusual != 0) return false;
  const std::uint32_t my_warp = 1U << warp.index;
  WEFT_EACH_LANE
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record me = mine | static_cast<Record>(i >> lane_shift) << kLaneShift;
    const Record reader = readers[i];
    // Those of several blocks stay, as nothing can be ordered with them any more.
    const bool stays = reader >= first && warps[i] == 0;
    readers[i] = stays ? reader & (me | ~kAtomicAccess) : me;
    warps[i] = stays ? 0 : my_warp;
  }
  return true;
}

/// The same of stores; `silent` has the lanes that store what is there already.
[[gnu::always_inline, gnu::no_sanitize("thread")]] inline bool
note_row_write(const Warp &warp, const Row &row, std::uint32_t bytes, bool atomic,
               LaneMask silent) {
  const Stretch &stretch = *row.stretch;
  const std::uint64_t begin = row.offset % Stretch::kBytes >> stretch.shift;
  const std::uint32_t count = bytes * kLanes >> stretch.shift;
  const std::uint32_t each = bytes >> stretch.shift;
  if (each == 0) return false;
  const std::uint32_t lane_shift = static_cast<std::uint32_t>(__builtin_ctz(each));
  Record *writers = stretch.writers.get() + begin;
  const Record *readers = stretch.readers.get() + begin;
  const Record first = row.actor->first, mine = row.actor->record | (atomic ? kAtomicAccess : 0);
  std::uint64_t unusual = 0;
  WEFT_EACH_LANE
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record me = mine | static_cast<Record>(i >> lane_shift) << kLaneShift;
    const Record writer = writers[i], reader = readers[i];
    // A silent store of a thread does not hide the one before it, so that is not for here.
    const bool again = ((writer ^ me) & kThreadBits) == 0 && (silent >> (i >> lane_shift) & 1) == 0;
    const bool reader_fine = reader < first || ((reader ^ me) & kThreadBits) == 0;
    unusual |= (writer < first || again) && reader_fine ? 0 : 1;
  }
  if (unusual != 0) return false;
  WEFT_EACH_LANE
  for (std::uint32_t i = 0; i < count; ++i) {
    const Record me = mine | static_cast<Record>(i >> lane_shift) << kLaneShift;
    writers[i] = me | ((silent >> (i >> lane_shift) & 1) != 0 ? kSilentStore : 0);
  }
  row.region->shadow.mark_written(row.offset, bytes * kLanes);
  return true;
}

/// Notes that all lanes of a warp read the same number.
[[gnu::no_sanitize("thread")]] inline bool note_uniform_read(const Warp &warp, const Row &row,
                                                             std::uint32_t bytes, bool atomic) {
  if (warp.check_uninitialised && !row.region->shadow.is_written(row.offset, bytes)) return false;
  const Record me = row.actor->record | kSeveralReaders | (atomic ? kAtomicAccess : 0);
  const std::uint32_t my_warp = 1U << warp.index;
  const std::uint64_t begin = row.offset % Stretch::kBytes;
  for (std::uint64_t at = begin; at < begin + bytes; at += 1U << row.stretch->shift) {
    const Granule granule = row.stretch->granule(at);
    if (granule.writer >= row.actor->first) return false;
    if (granule.reader < row.actor->first) {
      granule.reader = me;
      granule.reader_warps = my_warp;
    } else if (granule.reader_warps != 0 || (granule.reader & ~me & kAtomicAccess) != 0) {
      note_read(granule, me, *row.actor); // the writer is from before, so this is no race
    }
  }
  return true;
}

[[gnu::always_inline]] inline void count_row(Warp &warp, Where space, std::uint64_t address,
                                             std::uint32_t total, std::uint32_t lane_bytes,
                                             bool store) {
  if (space == Where::shared) {
    // Side by side, as many passes as the bytes need and not one more.
    warp.counters.shared_requests += 1;
    return;
  }
  warp.counters.global_requests += 1;
  warp.counters.global_sectors += (address + total - 1) / 32 - address / 32 + 1;
  (store ? warp.counters.global_bytes_stored : warp.counters.global_bytes_loaded) += lane_bytes;
}

} // namespace
} // namespace weft::emulator
