// A hash map from the identities of tensors to small numbers, without an allocation per entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::autodiff {

/// Maps numbers other than 0 to numbers. Open addressing; nothing is ever removed but all at once.
class IdentityMap {
public:
  bool empty() const { return size_ == 0; }

  /// The value of `key`, or null; 0 is never in the map.
  std::uint32_t *find(std::uint64_t key) {
    if (key == 0 || size_ == 0) return nullptr;
    Slot &slot = slots_[place_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  bool contains(std::uint64_t key) const {
    return key != 0 && size_ != 0 && slots_[place_of(key)].key == key;
  }

  /// The value of `key`, which is `value` if there was none before.
  std::uint32_t &insert(std::uint64_t key, std::uint32_t value) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    Slot &slot = slots_[place_of(key)];
    if (slot.key != key) {
      slot = {key, value};
      ++size_;
    }
    return slot.value;
  }

  void clear() {
    std::ranges::fill(slots_, Slot()); // which are likely to be needed again
    size_ = 0;
  }

private:
  struct Slot {
    std::uint64_t key = 0;
    std::uint32_t value = 0;
  };

  /// The slot that holds the key, or where it belongs.
  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    // Identities are consecutive numbers: neighbours lie next to each other, and a multiplication
    // keeps those apart that are a power of two from each other.
    std::size_t place = (key + (key >> bits_) * 0x9E3779B9u) & mask;
    while (slots_[place].key != 0 && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }

  void grow() {
    bits_ = slots_.empty() ? 6 : bits_ + 1;
    std::vector<Slot> old(std::size_t{1} << bits_);
    old.swap(slots_);
    for (const Slot &slot : old)
      if (slot.key != 0) slots_[place_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  unsigned bits_ = 0; ///< slots are two to this power
};

} // namespace weft::autodiff
