// What lanes of a warp tell each other: shuffles, votes, matches and reductions.
//
// All of them take the mask of the lanes that take part, and wait until these are there. Lanes at
// one instruction may name different masks, and then each mask's lanes are among themselves.
#include <bit>

#include "Emulator/Instructions/Lanes.h"
#include "Emulator/Machine/Block.h"

namespace WEFT_EMULATOR_LEVEL {
namespace {

/// Calls `take(lanes)` for each group of lanes that are all there.
template <class Take>
void for_members(Warp &warp, const Instruction &in, LaneMask mask, Slot members_slot,
                 const Take &take) {
  const auto *members = warp.lanes<std::uint32_t>(members_slot);
  while (mask != 0) {
    const int first = std::countr_zero(mask);
    const LaneMask wanted = members[first];
    LaneMask there = 0;
    for (LaneMask rest = mask; rest != 0; rest &= rest - 1)
      if (members[std::countr_zero(rest)] == wanted) there |= rest & (0 - rest);
    if ((there & ~wanted) != 0)
      warp.fail(FaultKind::illegal_instruction, in, std::countr_zero(there & ~wanted),
                "this lane is not in its own mask");
    mask &= ~there;
    if (warp.gather(in, there, wanted)) take(there);
  }
}

enum class Shuffle : std::uint8_t { up, down, butterfly, index };

/// shfl.sync d|p, a, b, c, mask: slots d, p, a, b, c, mask.
template <Shuffle Mode>
void shuffle(Warp &warp, const Instruction &in, LaneMask mask) {
  for_members(warp, in, mask, in.slots[5], [&](LaneMask there) {
    const auto *a = warp.lanes<std::uint32_t>(in.slots[2]);
    const auto *b = warp.lanes<std::uint32_t>(in.slots[3]);
    const auto *c = warp.lanes<std::uint32_t>(in.slots[4]);
    // What lanes hold that do not take part is not to be predicted.
    const auto unpredictable = static_cast<std::uint32_t>(
        0x7fdaa55aULL + warp.block->launch().schedule.seed * 0x9e3779b9ULL);
    std::uint32_t results[kLanes] = {};
    LaneMask in_range = 0;
    for (int lane = 0; lane < kLanes; ++lane) {
      if (!has(there, lane)) continue;
      const int by = b[lane] & 31, clamp = c[lane] & 31, segment = c[lane] >> 8 & 31;
      const int most = (lane & segment) | (clamp & ~segment), least = lane & segment;
      int from = 0;
      bool found = false;
      switch (Mode) {
      case Shuffle::up: from = lane - by, found = from >= most; break;
      case Shuffle::down: from = lane + by, found = from <= most; break;
      case Shuffle::butterfly: from = lane ^ by, found = from <= most; break;
      case Shuffle::index: from = least | (by & ~segment), found = from <= most; break;
      }
      if (!found) from = lane;
      else in_range |= 1U << lane;
      results[lane] = has(there, from) ? a[from] : unpredictable;
    }
    if (in.slots[0] != kNoSlot)
      store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), there,
                  [&](int lane) { return results[lane]; });
    if (in.slots[1] != kNoSlot) store_predicate(warp.predicate(in.slots[1]), there, in_range);
  });
}

enum class Vote : std::uint8_t { all, any, uniform, ballot };

template <Vote What>
void vote(Warp &warp, const Instruction &in, LaneMask mask) {
  const LaneMask values = warp.predicate(in.slots[1]);
  for_members(warp, in, mask, in.slots[2], [&](LaneMask there) {
    const LaneMask holding = values & there;
    if (What == Vote::ballot)
      return store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), there,
                         [&](int) { return holding; });
    const bool result = What == Vote::any       ? holding != 0
                        : What == Vote::uniform ? holding == 0 || holding == there
                                                : holding == there;
    store_predicate(warp.predicate(in.slots[0]), there, result ? there : 0);
  });
}

template <class T>
void match_any(Warp &warp, const Instruction &in, LaneMask mask) {
  for_members(warp, in, mask, in.slots[2], [&](LaneMask there) {
    const T *a = warp.lanes<T>(in.slots[1]);
    std::uint32_t results[kLanes];
    for (int lane = 0; lane < kLanes; ++lane)
      results[lane] = mask_of([&](int other) { return a[other] == a[lane]; }) & there;
    store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), there,
                [&](int lane) { return results[lane]; });
  });
}
template <class T>
void match_all(Warp &warp, const Instruction &in, LaneMask mask) {
  for_members(warp, in, mask, in.slots[3], [&](LaneMask there) {
    const T *a = warp.lanes<T>(in.slots[2]);
    const T first = a[std::countr_zero(there)];
    const bool all = (mask_of([&](int lane) { return a[lane] == first; }) & there) == there;
    store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), there,
                [&](int) { return all ? there : 0; });
    if (in.slots[1] != kNoSlot)
      store_predicate(warp.predicate(in.slots[1]), there, all ? there : 0);
  });
}

enum class Reduce : std::uint8_t { add, min, max, both, either, differing };

template <Reduce How, class T>
void reduce(Warp &warp, const Instruction &in, LaneMask mask) {
  for_members(warp, in, mask, in.slots[2], [&](LaneMask there) {
    const T *a = warp.lanes<T>(in.slots[1]);
    T result = a[std::countr_zero(there)];
    for (LaneMask rest = there & (there - 1); rest != 0; rest &= rest - 1) {
      const T x = a[std::countr_zero(rest)];
      switch (How) {
      case Reduce::add:
        result = static_cast<T>(static_cast<std::uint32_t>(result) + static_cast<std::uint32_t>(x));
        break;
      case Reduce::min: result = x < result ? x : result; break;
      case Reduce::max: result = x > result ? x : result; break;
      case Reduce::both: result &= x; break;
      case Reduce::either: result |= x; break;
      case Reduce::differing: result ^= x; break;
      }
    }
    store_lanes(warp.lanes<T>(in.slots[0]), there, [&](int) { return result; });
  });
}

void active_lanes(Warp &warp, const Instruction &in, LaneMask mask) {
  const LaneMask active = warp.active;
  store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), mask, [&](int) { return active; });
}

/// elect.sync d|p, mask: one of the lanes, the first here.
void elect(Warp &warp, const Instruction &in, LaneMask mask) {
  for_members(warp, in, mask, in.slots[2], [&](LaneMask there) {
    const int leader = std::countr_zero(there);
    if (in.slots[0] != kNoSlot)
      store_lanes(warp.lanes<std::uint32_t>(in.slots[0]), there,
                  [&](int) { return static_cast<std::uint32_t>(leader); });
    if (in.slots[1] != kNoSlot) store_predicate(warp.predicate(in.slots[1]), there, 1U << leader);
  });
}

} // namespace

void add_votes(FormTable &table) {
  table.add({"shfl.sync.up.b32"}, &shuffle<Shuffle::up>, "Rrrrr");
  table.add({"shfl.sync.down.b32"}, &shuffle<Shuffle::down>, "Rrrrr");
  table.add({"shfl.sync.bfly.b32"}, &shuffle<Shuffle::butterfly>, "Rrrrr");
  table.add({"shfl.sync.idx.b32"}, &shuffle<Shuffle::index>, "Rrrrr");
  table.add({"vote.sync.all.pred"}, &vote<Vote::all>, "ppr");
  table.add({"vote.sync.any.pred"}, &vote<Vote::any>, "ppr");
  table.add({"vote.sync.uni.pred"}, &vote<Vote::uniform>, "ppr");
  table.add({"vote.sync.ballot.b32"}, &vote<Vote::ballot>, "rpr");
  table.add({"match.any.sync.b32"}, &match_any<std::uint32_t>, "rrr");
  table.add({"match.any.sync.b64"}, &match_any<std::uint64_t>, "rdr");
  table.add({"match.all.sync.b32"}, &match_all<std::uint32_t>, "Rrr");
  table.add({"match.all.sync.b64"}, &match_all<std::uint64_t>, "Rdr");
  table.add({"redux.sync.add.u32"}, &reduce<Reduce::add, std::uint32_t>, "rrr");
  table.add({"redux.sync.add.s32"}, &reduce<Reduce::add, std::int32_t>, "rrr");
  table.add({"redux.sync.min.u32"}, &reduce<Reduce::min, std::uint32_t>, "rrr");
  table.add({"redux.sync.min.s32"}, &reduce<Reduce::min, std::int32_t>, "rrr");
  table.add({"redux.sync.max.u32"}, &reduce<Reduce::max, std::uint32_t>, "rrr");
  table.add({"redux.sync.max.s32"}, &reduce<Reduce::max, std::int32_t>, "rrr");
  table.add({"redux.sync.and.b32"}, &reduce<Reduce::both, std::uint32_t>, "rrr");
  table.add({"redux.sync.or.b32"}, &reduce<Reduce::either, std::uint32_t>, "rrr");
  table.add({"redux.sync.xor.b32"}, &reduce<Reduce::differing, std::uint32_t>, "rrr");
  table.add({"activemask.b32"}, &active_lanes, "r");
  table.add({"elect.sync"}, &elect, "Rr");
}

} // namespace WEFT_EMULATOR_LEVEL
