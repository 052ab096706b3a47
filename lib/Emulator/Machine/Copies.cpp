// Copies that are begun, grouped and waited for.
#include "Emulator/Machine/Copies.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Access.h"

namespace weft::emulator {
namespace {

/// Reads are noted when the copy begins: in pieces where a lane reads less than it writes.
void note_reads(Warp &warp, const Copies::Request &request, const std::byte **from) {
  std::byte *where[kLanes];
  LaneMask whole = 0, part = 0;
  for (LaneMask rest = request.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    from[lane] = nullptr;
    if (request.kept[lane] > request.bytes)
      warp.fail(FaultKind::illegal_instruction, *request.in, lane,
                "reads " + std::to_string(request.kept[lane]) + " bytes, and writes " +
                    std::to_string(request.bytes));
    if (request.from[lane] % request.bytes != 0)
      warp.fail(FaultKind::misaligned_address, *request.in, lane,
                "the source is no multiple of " + std::to_string(request.bytes));
    if (request.kept[lane] == request.bytes) whole |= 1U << lane;
    else if (request.kept[lane] > 0) part |= 1U << lane;
  }
  if (whole != 0)
    access_lanes(warp, Where::global,
                 {*request.in, whole, request.from, request.bytes, AccessKind::load, false}, where,
                 nullptr);
  for (LaneMask rest = whole; rest != 0; rest &= rest - 1)
    from[std::countr_zero(rest)] = where[std::countr_zero(rest)];
  for (LaneMask rest = part; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::uint64_t addresses[kLanes] = {};
    for (std::uint32_t i = 0; i < request.kept[lane]; ++i) {
      addresses[lane] = request.from[lane] + i;
      access_lanes(warp, Where::global,
                   {*request.in, 1U << lane, addresses, 1, AccessKind::load, false}, where,
                   nullptr);
      if (i == 0) from[lane] = where[lane];
    }
  }
}

} // namespace

void Copies::begin(Warp &warp, const Request &request) {
  Copy &copy = begun_.emplace_back();
  copy.in = request.in;
  copy.lanes = request.lanes;
  copy.bytes = request.bytes;
  copy.group = groups_;
  std::copy_n(request.to, kLanes, copy.to.begin());
  std::copy_n(request.kept, kLanes, copy.kept.begin());
  note_reads(warp, request, copy.from.data());

  const bool late = warp.block->launch().schedule.stress;
  const std::uint32_t bytes = copy.bytes;
  for (LaneMask rest = copy.lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::byte *values = copy.values.data() + static_cast<std::size_t>(lane) * bytes;
    if (late) {
      for (std::uint32_t i = 0; i < bytes; ++i)
        values[i] = static_cast<std::byte>(warp.block->random()() & 0xff);
    } else {
      std::memset(values, 0, bytes);
      if (copy.kept[lane] > 0) std::memcpy(values, copy.from[lane], copy.kept[lane]);
    }
  }
  // From now on it may be written, which conflicts with whoever still uses it.
  std::byte *where[kLanes];
  access_lanes(warp, Where::shared,
               {*copy.in, copy.lanes, copy.to.data(), bytes, AccessKind::store, false}, where,
               copy.values.data());
  const Region &shared = warp.block->shared();
  for (LaneMask rest = copy.lanes; rest != 0; rest &= rest - 1)
    shared.shadow.forget_written(copy.to[std::countr_zero(rest)] - shared.address, bytes);
}

void Copies::commit(LaneMask lanes) {
  for (; lanes != 0; lanes &= lanes - 1) ++groups_[std::countr_zero(lanes)];
}

void Copies::wait(Warp &warp, LaneMask lanes, std::uint32_t pending) {
  for (Copy &copy : begun_) {
    LaneMask done = 0;
    for (LaneMask rest = copy.lanes & lanes; rest != 0; rest &= rest - 1) {
      const int lane = std::countr_zero(rest);
      if (std::uint64_t{copy.group[lane]} + pending < groups_[lane]) done |= 1U << lane;
    }
    if (done != 0) finish(warp, copy, done);
  }
  std::erase_if(begun_, [](const Copy &copy) { return copy.lanes == 0; });
}

void Copies::finish(Warp &warp, Copy &copy, LaneMask lanes) {
  const bool late = warp.block->launch().schedule.stress;
  const Region &shared = warp.block->shared();
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = std::countr_zero(rest);
    std::byte *values = copy.values.data() + static_cast<std::size_t>(lane) * copy.bytes;
    if (late) {
      std::memset(values, 0, copy.bytes);
      if (copy.kept[lane] > 0) std::memcpy(values, copy.from[lane], copy.kept[lane]);
    }
    // Whatever is there, this is a store that changes it: nobody may read it before he is told.
    std::byte *there = shared.bytes + (copy.to[lane] - shared.address);
    for (std::uint32_t i = 0; i < copy.bytes; ++i) there[i] = ~values[i];
  }
  std::byte *where[kLanes];
  const Counters before = warp.counters; // the copy was counted when it began
  access_lanes(warp, Where::shared,
               {*copy.in, lanes, copy.to.data(), copy.bytes, AccessKind::store, false}, where,
               copy.values.data());
  warp.counters = before;
  copy.lanes &= ~lanes;
}

void Copies::clear() {
  begun_.clear();
  groups_.fill(0);
}

} // namespace weft::emulator
