// Who touched a piece of memory last, in 64 bits, and when two accesses are a race.
//
// Time within a block is counted in ticks: each barrier, and each release of any kind, begins a new
// one. A warp's clock says of every warp up to which tick (excluding it) that warp's accesses come
// before its own; of its own warp as well, because lanes are ordered by bar.warp.sync only. Nothing
// but the end of a launch orders accesses of different blocks.
#pragma once

#include <cstdint>

namespace weft::emulator {

/// serial of the block: 31 | tick: 20 | warp: 5 | lane: 5 | several | silent | atomic
using Record = std::uint64_t;

constexpr Record kAtomicAccess = 1;
/// A store that changed nothing: harmless to whoever reads, whatever the order.
constexpr Record kSilentStore = 2;
/// Of readers: more than one since the last store that they are ordered with.
constexpr Record kSeveralReaders = 4;
constexpr int kLaneShift = 3, kWarpShift = 8, kTickShift = 13, kSerialShift = 33;
constexpr std::uint32_t kMostTicks = (1U << 20) - 1;
constexpr std::uint32_t kMostSerials = (1U << 31) - 1;

constexpr Record make_record(std::uint32_t serial, std::uint32_t tick, std::uint32_t warp) {
  return static_cast<Record>(serial) << kSerialShift | static_cast<Record>(tick) << kTickShift |
         static_cast<Record>(warp) << kWarpShift;
}
constexpr std::uint32_t serial_of(Record r) {
  return static_cast<std::uint32_t>(r >> kSerialShift);
}
constexpr std::uint32_t tick_of(Record r) { return r >> kTickShift & kMostTicks; }
constexpr std::uint32_t warp_of(Record r) { return r >> kWarpShift & 31; }
constexpr std::uint32_t lane_of(Record r) { return r >> kLaneShift & 31; }
constexpr Record of_lane(Record r, int lane) { return r | static_cast<Record>(lane) << kLaneShift; }

/// A warp that accesses memory now.
struct Actor {
  Record record = 0; ///< its block, tick and warp
  Record first = 0;  ///< records below are of earlier launches
  const std::uint32_t *clock = nullptr;
};

/// The shadow of one granule of memory.
struct Granule {
  Record &writer;
  Record &reader;
  std::uint32_t &reader_warps; ///< of several readers; 0 where they are of several blocks
};

[[gnu::always_inline]] inline bool is_same_thread(Record a, Record b) {
  constexpr Record kThread =
      ~((1ULL << kSerialShift) - 1) | 31ULL << kWarpShift | 31ULL << kLaneShift;
  return ((a ^ b) & kThread) == 0 && ((a | b) & kSeveralReaders) == 0;
}

/// Whether what `earlier` says comes before all that the actor does now.
[[gnu::always_inline]] inline bool is_ordered(Record earlier, const Actor &actor) {
  if (earlier < actor.first) return true;
  return serial_of(earlier) == serial_of(actor.record) &&
         tick_of(earlier) < actor.clock[warp_of(earlier)];
}

[[gnu::no_sanitize("thread")]] inline bool are_readers_ordered(const Granule &granule,
                                                               const Actor &actor) {
  if (granule.reader < actor.first) return true;
  if ((granule.reader & kSeveralReaders) == 0) return is_ordered(granule.reader, actor);
  if (granule.reader_warps == 0 || serial_of(granule.reader) != serial_of(actor.record))
    return false;
  for (std::uint32_t warps = granule.reader_warps; warps != 0; warps &= warps - 1)
    if (tick_of(granule.reader) >= actor.clock[__builtin_ctz(warps)]) return false;
  return true;
}

// Where a kernel races, so do these notes of it: any of the values that meet is a report's.

/// Notes that `me`, the record of a lane of the actor or of several of its lanes, reads. The record
/// of a store that this races with, or 0.
[[gnu::no_sanitize("thread")]] inline Record note_read(Granule granule, Record me,
                                                       const Actor &actor) {
  const Record writer = granule.writer;
  const bool harmless = (writer & kSilentStore) != 0 || (writer & me & kAtomicAccess) != 0;
  const bool race = !harmless && !is_ordered(writer, actor) && !is_same_thread(writer, me);
  const std::uint32_t my_warp = 1U << warp_of(me);
  const Record reader = granule.reader;
  if (is_same_thread(reader, me)) {
    granule.reader = me & (reader | ~kAtomicAccess);
  } else if (are_readers_ordered(granule, actor)) {
    granule.reader = me;
    granule.reader_warps = my_warp;
  } else if (serial_of(reader) != serial_of(me) || granule.reader_warps == 0) {
    granule.reader = (me | kSeveralReaders) & (reader | ~kAtomicAccess);
    granule.reader_warps = 0;
  } else {
    const Record later = tick_of(reader) > tick_of(me) ? reader : me;
    granule.reader = (later | kSeveralReaders) & (reader | ~kAtomicAccess) & (me | ~kAtomicAccess);
    granule.reader_warps |= my_warp;
  }
  return race ? writer : 0;
}

/// The same of a store; `me` says whether it is silent. `read` says whether what it races with was
/// a load.
[[gnu::no_sanitize("thread")]] inline Record note_write(Granule granule, Record me,
                                                        const Actor &actor, bool &read) {
  const Record writer = granule.writer, reader = granule.reader;
  const bool silent = (me & kSilentStore) != 0;
  const bool writer_ordered = is_ordered(writer, actor);
  Record race = 0;
  if (!silent && !writer_ordered && (writer & me & kAtomicAccess) == 0 &&
      !is_same_thread(writer, me)) {
    race = writer;
    read = false;
  } else if (!silent && (reader & me & kAtomicAccess) == 0 && !is_same_thread(reader, me) &&
             !are_readers_ordered(granule, actor)) {
    race = reader;
    read = true;
  }
  // A silent store hides no other one, which a later reader may race with.
  if (!silent || writer_ordered || (writer & kSilentStore) != 0) granule.writer = me;
  return race;
}

} // namespace weft::emulator
