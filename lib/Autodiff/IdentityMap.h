// Hash tables of the identities of tensors, without an allocation per entry.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::autodiff {

/// Maps numbers other than 0 to values. Open addressing; nothing is ever removed but all at once.
template <class V>
class IdentityMap {
public:
  bool empty() const { return size_ == 0; }

  /// The value of `key`, or null; 0 is never in the map.
  const V *find(std::uint64_t key) const {
    if (key == 0 || size_ == 0) return nullptr;
    const Slot &slot = slots_[slot_of(key)];
    return slot.key == key ? &slot.value : nullptr;
  }
  bool contains(std::uint64_t key) const { return find(key) != nullptr; }

  /// The value of `key`, which is `value` if there was none before.
  V &insert(std::uint64_t key, V value) {
    if (slots_.empty()) grow();
    Slot *slot = &slots_[slot_of(key)];
    if (slot->key == key) return slot->value;
    if (2 * ++size_ > slots_.size()) {
      grow();
      slot = &slots_[slot_of(key)];
    }
    *slot = {key, value};
    return slot->value;
  }

  void clear() {
    std::ranges::fill(slots_, Slot()); // which are likely to be needed again
    size_ = 0;
  }

private:
  struct Slot {
    std::uint64_t key = 0;
    V value = {};
  };

  /// The slot that holds the key, or where it belongs.
  std::size_t slot_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    // Identities are mostly consecutive numbers, which multiples of the golden ratio spread evenly
    // (Knuth, The Art of Computer Programming, volume 3, section 6.4).
    std::size_t slot_index = key * 0x9E3779B97F4A7C15u >> shift_;
    while (slots_[slot_index].key != 0 && slots_[slot_index].key != key)
      slot_index = (slot_index + 1) & mask;
    return slot_index;
  }

  void grow() {
    std::vector<Slot> old(std::max(std::size_t{64}, 2 * slots_.size()));
    shift_ = std::countl_zero(old.size()) + 1;
    old.swap(slots_);
    for (const Slot &slot : old)
      if (slot.key != 0) slots_[slot_of(slot.key)] = slot;
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0;
  int shift_ = 0; ///< what leaves as many bits of a number as the slots need
};

/// A set of numbers other than 0: a bit each, in words of neighbours, as what a tape records has
/// consecutive identities. Mostly it is asked for the last ones that came.
class IdentitySet {
public:
  IdentitySet() = default;
  IdentitySet(const IdentitySet &) = delete;
  IdentitySet &operator=(const IdentitySet &) = delete;

  bool empty() const { return words_.empty(); }

  /// False for 0, which is never in the set.
  bool contains(std::uint64_t key) const {
    if (key == 0) return false;
    const std::uint64_t *word = word_of(key) == last_ ? last_bits_ : words_.find(word_of(key));
    return word != nullptr && (*word >> key % 64 & 1) != 0;
  }
  void insert(std::uint64_t key) {
    if (word_of(key) != last_) {
      last_bits_ = &words_.insert(word_of(key), 0);
      last_ = word_of(key);
    }
    *last_bits_ |= std::uint64_t{1} << key % 64;
  }
  void clear() {
    words_.clear();
    last_ = 0;
  }

private:
  static std::uint64_t word_of(std::uint64_t key) { return key / 64 + 1; } // 0 is no key of a map

  IdentityMap<std::uint64_t> words_;
  std::uint64_t last_ = 0; ///< the word that was added to last
  std::uint64_t *last_bits_ = nullptr;
};

} // namespace weft::autodiff
