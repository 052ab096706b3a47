// Reserved addresses, with gaps between allocations; addresses of freed ones do not come back soon.
#include "Emulator/Memory/AddressSpace.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace weft::emulator {
namespace {

/// What is reserved: much more than is ever used at once, so that stray addresses hit nothing. Less
/// where a limit on address space forbids it.
constexpr std::uint64_t kMostReserved = 1ULL << 40, kLeastReserved = 1ULL << 28;
constexpr std::uint64_t kAlignment = 512;
/// The least gap behind an allocation.
constexpr std::uint64_t kGuard = 64 << 10;
/// A NaN in f32, f64 and bf16, and a large number as an integer.
constexpr std::uint8_t kPoison[4] = {0x5a, 0xa5, 0xda, 0x7f};

std::uint64_t rounded_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

std::string hexadecimal(std::uint64_t address) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

void *map(std::uint64_t size, int access) {
  return mmap(nullptr, size, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

} // namespace

AddressSpace::AddressSpace() {
  for (std::uint64_t size = kMostReserved; size >= kLeastReserved; size /= 2)
    if (void *reserved = map(size, PROT_NONE); reserved != MAP_FAILED) {
      begin_ = reinterpret_cast<std::uint64_t>(reserved);
      end_ = begin_ + size;
      next_ = rounded_up(begin_, kAlignment);
      return;
    }
}

AddressSpace::~AddressSpace() {
  while (!live_.empty()) free(*live_.begin()->second);
  if (end_ != begin_) munmap(reinterpret_cast<void *>(begin_), end_ - begin_);
}

Allocation *AddressSpace::allocate(std::uint64_t size, int device, const void *pool) {
  const std::uint64_t gap = std::max(kGuard, rounded_up(size, kAlignment));
  if (size > (end_ - begin_) / 4) return nullptr;
  if (next_ + size + gap > end_) { // around: what was freed longest ago is used anew
    next_ = rounded_up(begin_, kAlignment);
    freed_.clear();
  }
  // Steps over what is still there.
  for (auto it = live_.lower_bound(next_); it != live_.end() && it->first < next_ + size + gap;
       it = live_.lower_bound(next_)) {
    next_ = rounded_up(it->first + it->second->region.size + kGuard, kAlignment);
    if (next_ + size + gap > end_) return nullptr;
  }
  const std::uint64_t mapped = rounded_up(size, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  void *bytes = map(mapped, PROT_READ | PROT_WRITE);
  if (bytes == MAP_FAILED) return nullptr;
  auto *words = static_cast<std::uint32_t *>(bytes);
  std::uint32_t poison;
  std::memcpy(&poison, kPoison, sizeof poison);
  std::fill(words, words + (size + 3) / 4, poison);
  const std::uint64_t address = next_;
  next_ = rounded_up(address + size + gap, kAlignment);
  auto &made = live_[address];
  made.reset(new Allocation{{address, size, static_cast<std::byte *>(bytes), false},
                            Backing::device,
                            device,
                            pool,
                            mapped});
  return made.get();
}

Allocation *AddressSpace::allocate_pinned(std::uint64_t size) {
  const std::uint64_t mapped = rounded_up(size, static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
  void *bytes = map(mapped, PROT_READ | PROT_WRITE);
  if (bytes == MAP_FAILED) return nullptr;
  const auto address = reinterpret_cast<std::uint64_t>(bytes);
  auto &made = live_[address];
  // The host writes it unseen.
  made.reset(new Allocation{{address, size, static_cast<std::byte *>(bytes), true},
                            Backing::pinned,
                            -1,
                            nullptr,
                            mapped});
  return made.get();
}

void AddressSpace::free(Allocation &allocation) {
  const std::uint64_t address = allocation.region.address;
  munmap(allocation.region.bytes, allocation.mapped);
  if (allocation.backing == Backing::device) freed_[address] = allocation.region.size;
  ++version_;
  live_.erase(address);
}

Allocation *AddressSpace::find(std::uint64_t address) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin()) return nullptr;
  Allocation &before = *std::prev(after)->second;
  return address - before.region.address < before.region.size ? &before : nullptr;
}

Allocation *AddressSpace::find_begin(std::uint64_t address) const {
  const auto found = live_.find(address);
  return found == live_.end() ? nullptr : found->second.get();
}

std::string AddressSpace::describe(std::uint64_t address, std::uint64_t bytes) const {
  const auto after = live_.upper_bound(address);
  const auto freed = freed_.upper_bound(address);
  if (freed != freed_.begin())
    if (const auto &[begin, size] = *std::prev(freed); address - begin < size)
      return "in the " + std::to_string(size) + " bytes at " + hexadecimal(begin) +
             ", which were freed";
  if (after != live_.begin()) {
    const Region &before = std::prev(after)->second->region;
    const std::uint64_t past = address + bytes - before.address - before.size;
    if (address - before.address < before.size + std::max(kGuard, before.size))
      return std::to_string(past) + " bytes behind the end of the " + std::to_string(before.size) +
             " at " + hexadecimal(before.address);
  }
  if (after != live_.end()) {
    const Region &next = after->second->region;
    if (next.address - address < kGuard)
      return std::to_string(next.address - address) + " bytes before the " +
             std::to_string(next.size) + " at " + hexadecimal(next.address);
  }
  return address < 4096 ? "where there is no memory: a null pointer?" : "where there is no memory";
}

} // namespace weft::emulator
