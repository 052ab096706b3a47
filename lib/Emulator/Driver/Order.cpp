// Intervals of memory, and operations that meet in them.
#include "Emulator/Driver/Order.h"

#include <cstdio>
#include <utility>

namespace weft::emulator {

void Intervals::add(std::uint64_t begin, std::uint64_t size) {
  if (size == 0) return;
  if (!parts_.empty() && parts_.back().end == begin) parts_.back().end += size;
  else parts_.push_back({begin, begin + size});
}

void Intervals::finish() {
  std::sort(parts_.begin(), parts_.end(),
            [](const Interval &a, const Interval &b) { return a.begin < b.begin; });
  std::size_t kept = 0;
  for (const Interval &part : parts_)
    if (kept > 0 && part.begin <= parts_[kept - 1].end)
      parts_[kept - 1].end = std::max(parts_[kept - 1].end, part.end);
    else parts_[kept++] = part;
  parts_.resize(kept);
}

std::uint64_t Intervals::common(const Intervals &other) const {
  for (auto a = parts_.begin(), b = other.parts_.begin();
       a != parts_.end() && b != other.parts_.end();) {
    if (a->end <= b->begin) ++a;
    else if (b->end <= a->begin) ++b;
    else return std::max(a->begin, b->begin);
  }
  return 0;
}

std::uint64_t Footprint::conflict(const Footprint &other) const {
  for (const auto &[mine, theirs] : {std::pair(&writes, &other.writes),
                                     {&writes, &other.reads},
                                     {&reads, &other.writes},
                                     {&atomics, &other.reads},
                                     {&atomics, &other.writes},
                                     {&reads, &other.atomics},
                                     {&writes, &other.atomics}})
    if (const std::uint64_t found = mine->common(*theirs)) return found;
  return 0;
}

Footprint footprint_of_launch(const AddressSpace &space, Record first) {
  Footprint footprint;
  for (const auto &[address, allocation] : space.live())
    allocation->region.shadow.for_each([&](const Stretch &stretch, std::uint64_t offset) {
      if (stretch.touched_by.load(std::memory_order_relaxed) != first) return;
      const std::uint64_t piece = 1ULL << stretch.shift;
      const std::uint64_t begin = allocation->region.address + offset;
      for (std::uint64_t at = 0; at < stretch.bytes; at += piece) {
        const Granule granule = stretch.granule(at);
        const std::uint64_t size = std::min<std::uint64_t>(piece, stretch.bytes - at);
        const bool read = granule.reader >= first, written = granule.writer >= first;
        if (written && (granule.writer & kAtomicAccess) != 0 &&
            (!read || (granule.reader & kAtomicAccess) != 0)) {
          footprint.atomics.add(begin + at, size);
          continue;
        }
        if (read) footprint.reads.add(begin + at, size);
        if (written) footprint.writes.add(begin + at, size);
      }
    });
  footprint.finish();
  return footprint;
}

std::string History::add(Past past, const Clock &clock) {
  past.footprint.finish();
  std::string complaint;
  for (const Past &other : past_) {
    if (other.number <= clock.of(other.stream)) continue;
    const std::uint64_t address = past.footprint.conflict(other.footprint);
    if (address == 0) continue;
    char shown[24];
    std::snprintf(shown, sizeof shown, "0x%llx", static_cast<unsigned long long>(address));
    complaint = "race: " + past.name + " and " + other.name + " touch the memory at " + shown +
                ", one of them writes it, and no stream or event orders them";
    break;
  }
  if (past_.size() == kMost) past_.pop_front();
  past_.push_back(std::move(past));
  return complaint;
}

void History::forget(const std::vector<const Clock *> &all_that_comes) {
  std::erase_if(past_, [&](const Past &past) {
    return std::all_of(all_that_comes.begin(), all_that_comes.end(),
                       [&](const Clock *clock) { return past.number <= clock->of(past.stream); });
  });
}

} // namespace weft::emulator
