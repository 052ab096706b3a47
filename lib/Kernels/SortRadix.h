// Sorting many items by the digits of their keys, lowest first.
#pragma once

#include "Kernels/SortKeys.h"

#include <utility>

namespace weft::kernels {

/// Sorts `size` items in `here` by digits of 8 bits, stably, with `there` to work in, and returns
/// the one of both that holds them then. An item moves once for each digit in which keys differ.
/// `Counter` holds `size`.
template <class Counter, class Item>
Item *radix_sort(Item *here, Item *there, std::int64_t size) {
  using Key = typename Item::Key;
  constexpr int kBits = 8, kDigits = sizeof(Key), kBuckets = 1 << kBits;
  const auto bucket = [](Key key, int digit) {
    return static_cast<unsigned>(key >> (digit * kBits)) & (kBuckets - 1);
  };
  Counter counts[kDigits][kBuckets] = {};
  for (std::int64_t i = 0; i < size; ++i) {
    const Key key = here[i].key();
    for (int digit = 0; digit < kDigits; ++digit) ++counts[digit][bucket(key, digit)];
  }
  const Key any = here[0].key();
  for (int digit = 0; digit < kDigits; ++digit) {
    Counter *const indices = counts[digit];
    if (indices[bucket(any, digit)] == static_cast<Counter>(size)) continue;
    Counter before = 0;
    for (int i = 0; i < kBuckets; ++i) before += std::exchange(indices[i], before);
    for (std::int64_t i = 0; i < size; ++i) {
      const Item item = here[i];
      there[indices[bucket(item.key(), digit)]++] = item;
    }
    std::swap(here, there);
  }
  return here;
}

} // namespace weft::kernels
