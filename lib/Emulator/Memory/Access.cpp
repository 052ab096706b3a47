// The careful way of accessing memory, which is also the one that faults are found on.
#include "Emulator/Memory/Access.h"

#include <algorithm>
#include <bit>
#include <cstdio>
#include <cstring>

#include "Emulator/Machine/Block.h"

namespace weft::emulator {
namespace {

const char *verb_of(AccessKind kind) {
  switch (kind) {
  case AccessKind::load: return "reads ";
  case AccessKind::store: return "writes ";
  case AccessKind::atomic: return "changes ";
  }
  return "";
}

std::string shown(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

std::string accesses(AccessKind kind, std::uint32_t bytes, std::uint64_t address) {
  return verb_of(kind) + std::to_string(bytes) + " bytes at " + shown(address);
}

/// Where a generic address lies, which becomes one of that space.
Where resolve(std::uint64_t &address) {
  if (address - kSharedWindow < kWindowSize) {
    address -= kSharedWindow;
    return Where::shared;
  }
  if (address - kLocalWindow < kWindowSize) {
    address -= kLocalWindow;
    return Where::local;
  }
  return Where::global;
}

/// Notes an access of one lane in the shadow of its region.
[[gnu::no_sanitize("thread")]] void note(const Warp &warp, const Request &request, int lane,
                                         const Region &region, std::uint64_t address, bool silent) {
  const std::uint64_t offset = address - region.address;
  if (request.kind != AccessKind::store && warp.check_uninitialised &&
      !region.shadow.is_written(offset, request.bytes))
    report_uninitialised(warp, request.in, lane, address, request.bytes);
  const int shift = std::min(2, std::countr_zero(request.bytes));
  const bool in_shared = &region == &warp.block->shared();
  const Actor &actor = in_shared ? warp.shared_actor : warp.actor;
  Record me = of_lane(actor.record, lane);
  if (request.atomic || request.kind == AccessKind::atomic) me |= kAtomicAccess;
  if (silent) me |= kSilentStore;
  for (std::uint64_t at = offset; at < offset + request.bytes;) {
    Stretch &stretch = region.shadow.at(at, shift);
    if (stretch.touched_by.load(std::memory_order_relaxed) != actor.first)
      stretch.touched_by.store(actor.first, std::memory_order_relaxed);
    const Granule granule = stretch.granule(at % Stretch::kBytes);
    bool other_read = false;
    const Record other = request.kind == AccessKind::load
                             ? note_read(granule, me, actor)
                             : note_write(granule, me, actor, other_read);
    if (other != 0)
      report_race(warp, request.in, lane, request.kind, in_shared, other_read, other,
                  region.address + at);
    at += 1U << stretch.shift;
  }
  if (request.kind != AccessKind::load) region.shadow.mark_written(offset, request.bytes);
}

} // namespace

Region &find_region(const Warp &warp, const Instruction &in, int lane, std::uint64_t address,
                    std::uint32_t bytes) {
  const Launch &launch = warp.block->launch();
  Allocation *found = launch.space->find(address);
  if (found == nullptr || !found->region.contains(address, bytes))
    warp.fail(FaultKind::illegal_address, in, lane,
              std::to_string(bytes) + " bytes at " + shown(address) + " are " +
                  launch.space->describe(address, bytes));
  if (found->backing == Backing::device && found->device != launch.device)
    warp.fail(FaultKind::illegal_address, in, lane,
              shown(address) + " is memory of device " + std::to_string(found->device) +
                  ", and the kernel runs on device " + std::to_string(launch.device));
  return found->region;
}

[[gnu::no_sanitize("thread")]] void access_lanes(Warp &warp, Where space, const Request &request,
                                                 std::byte **where, const std::byte *values) {
  const std::ptrdiff_t number = &request.in - warp.code;
  bool global = false, shared = false;
  std::uint64_t addresses[kLanes];
  for (LaneMask lanes = request.lanes; lanes != 0; lanes &= lanes - 1) {
    const int lane = std::countr_zero(lanes);
    std::uint64_t address = request.addresses[lane];
    if (address % request.bytes != 0)
      warp.fail(FaultKind::misaligned_address, request.in, lane,
                accesses(request.kind, request.bytes, address) + ", which is no multiple of " +
                    std::to_string(request.bytes));
    const Where found = space == Where::generic ? resolve(address) : space;
    addresses[lane] = address;
    std::byte *bytes = nullptr;
    if (found == Where::local) {
      const std::uint32_t size = warp.block->launch().kernel->local_bytes;
      if (address > size || request.bytes > size - address)
        warp.fail(FaultKind::illegal_address, request.in, lane,
                  accesses(request.kind, request.bytes, address) + " of " + std::to_string(size) +
                      " bytes of local memory");
      bytes = warp.block->local(warp.index * kLanes + static_cast<std::uint32_t>(lane)) + address;
      if (values != nullptr) std::memcpy(bytes, values + lane * request.bytes, request.bytes);
      where[lane] = bytes;
      continue;
    }
    Region *region = nullptr;
    if (found == Where::shared) {
      shared = true;
      region = &warp.block->shared();
      const std::uint64_t size = warp.block->shared_bytes();
      if (address < kSharedBegin || address - kSharedBegin > size ||
          request.bytes > size - (address - kSharedBegin))
        warp.fail(FaultKind::illegal_address, request.in, lane,
                  accesses(request.kind, request.bytes, address) + " outside of the " +
                      std::to_string(size) + " bytes of shared memory at " + shown(kSharedBegin));
    } else {
      global = true;
      region = warp.hints[number];
      if (region == nullptr || !region->contains(address, request.bytes))
        region = warp.hints[number] = &find_region(warp, request.in, lane, address, request.bytes);
    }
    bytes = region->bytes + (address - region->address);
    // Of two host threads both may find what was there before either stored: then equal values are
    // reported as a race, though rarely.
    const bool silent =
        values != nullptr && std::memcmp(bytes, values + lane * request.bytes, request.bytes) == 0;
    note(warp, request, lane, *region, address, silent);
    if (values != nullptr) std::memcpy(bytes, values + lane * request.bytes, request.bytes);
    where[lane] = bytes;
  }
  const std::uint64_t total =
      std::uint64_t{request.bytes} * static_cast<std::uint64_t>(std::popcount(request.lanes));
  if (request.kind == AccessKind::atomic)
    warp.counters.atomics += static_cast<std::uint64_t>(std::popcount(request.lanes));
  if (global) {
    warp.counters.global_requests += 1;
    warp.counters.global_sectors += sectors_of(request.lanes, addresses, request.bytes);
    if (request.kind != AccessKind::store) warp.counters.global_bytes_loaded += total;
    if (request.kind != AccessKind::load) warp.counters.global_bytes_stored += total;
  }
  if (shared) {
    warp.counters.shared_requests += 1;
    warp.counters.shared_bank_conflicts +=
        bank_conflicts_of(request.lanes, addresses, request.bytes);
  }
}

void report_race(const Warp &warp, const Instruction &in, int lane, AccessKind kind, bool in_shared,
                 bool other_read, Record other, std::uint64_t address) {
  Launch &launch = warp.block->launch();
  if (!launch.is_first(FaultKind::race, in.line)) return;
  const char *first = other_read ? "reads" : (other & kAtomicAccess) != 0 ? "changes" : "writes";
  launch.report({FaultKind::race, warp.place(in, lane) + ": race: " + verb_of(kind) +
                                      shown(address) + ", which " +
                                      warp.block->name_of(other, in_shared) + " " + first +
                                      " as well, and nothing orders the two"},
                false);
}

void report_uninitialised(const Warp &warp, const Instruction &in, int lane, std::uint64_t address,
                          std::uint32_t bytes) {
  Launch &launch = warp.block->launch();
  if (!launch.is_first(FaultKind::uninitialised, in.line)) return;
  launch.report({FaultKind::uninitialised, warp.place(in, lane) + ": reads " +
                                               std::to_string(bytes) + " bytes at " +
                                               shown(address) + ", which nobody wrote"},
                false);
}

std::uint32_t sectors_of(LaneMask lanes, const std::uint64_t *addresses, std::uint32_t bytes) {
  std::uint64_t sectors[kLanes];
  std::uint32_t count = 0;
  bool ascending = true;
  for (; lanes != 0; lanes &= lanes - 1) {
    const std::uint64_t sector = addresses[std::countr_zero(lanes)] / 32;
    if (count > 0 && sectors[count - 1] == sector) continue;
    ascending = ascending && (count == 0 || sectors[count - 1] < sector);
    sectors[count++] = sector;
  }
  if (!ascending) {
    std::sort(sectors, sectors + count);
    count = static_cast<std::uint32_t>(std::unique(sectors, sectors + count) - sectors);
  }
  return count * std::max(1U, bytes / 32);
}

std::uint32_t bank_conflicts_of(LaneMask lanes, const std::uint64_t *addresses,
                                std::uint32_t bytes) {
  // Wide accesses are served for a half or a quarter of the lanes at a time.
  const int at_once = bytes <= 4 ? 32 : bytes == 8 ? 16 : 8;
  std::uint32_t conflicts = 0;
  for (int begin = 0; begin < kLanes; begin += at_once) {
    const LaneMask group = lanes & ((at_once == 32 ? ~0U : (1U << at_once) - 1) << begin);
    std::uint32_t words[32][32], count[32] = {}, most = 1;
    for (LaneMask rest = group; rest != 0; rest &= rest - 1) {
      const std::uint64_t address = addresses[std::countr_zero(rest)];
      for (std::uint64_t word = address / 4; word * 4 < address + bytes; ++word) {
        const std::uint64_t bank = word % 32;
        const std::uint32_t kept = count[bank];
        const auto known =
            std::find(words[bank], words[bank] + kept, static_cast<std::uint32_t>(word));
        if (known != words[bank] + kept) continue;
        words[bank][kept] = static_cast<std::uint32_t>(word);
        most = std::max(most, ++count[bank]);
      }
    }
    conflicts += most - 1;
  }
  return conflicts;
}

} // namespace weft::emulator
