// Sorting one array of integers, on one thread or, if it is long, on several.
#pragma once

#include "Kernels/SortKernels.h"
#include "Kernels/SortRadix.h"
#include "Support/Allocator.h"
#include "Support/Threads.h"

#include <algorithm>
#include <vector>

namespace weft::kernels {

/// Memory to work in, freed at the end of its scope.
template <class Item>
class Room {
public:
  /// For `count` items. Throws OutOfMemory.
  explicit Room(std::int64_t count) : block_(allocator::allocate(bytes_of(count))) {}
  Room(const Room &) = delete;
  Room &operator=(const Room &) = delete;
  ~Room() { allocator::deallocate(block_.memory, block_.size_class); }

  Item *get() const { return static_cast<Item *>(block_.memory); }

private:
  static std::size_t bytes_of(std::int64_t count) {
    constexpr std::size_t kMost = std::size_t{1} << 62; // more than there can be
    const auto items = static_cast<std::size_t>(count);
    return items > kMost / sizeof(Item) ? kMost : std::max<std::size_t>(items * sizeof(Item), 1);
  }

  allocator::Block block_;
};

/// How a line of `size` elements is cut into parts, which threads share.
struct Parts {
  std::int64_t size;
  int count; ///< 1 or more

  /// As many as there are threads, but none shorter than `least`.
  static Parts of(std::int64_t size, int threads, std::int64_t least = 1 << 16) {
    return {size, static_cast<int>(std::clamp<std::int64_t>(size / least, 1, threads))};
  }
  std::int64_t start(std::int64_t part) const {
    const std::int64_t base = size / count, extra = size % count;
    return base * part + std::min(part, extra);
  }
  /// Calls `body(part, begin, end)`, which does not throw, for each.
  template <class Body>
  void run(Body body) const {
    if (count == 1) return body(std::int64_t(0), std::int64_t(0), size);
    threads::parallel_for_noexcept(0, count, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part) body(part, start(part), start(part + 1));
    });
  }
};

/// Sorts arrays of keys or, with `Item` = Packed, of keys above indices.
template <class Item>
class ArraySorter {
public:
  using Integer = decltype(Item::bits);

  /// From `radix_from` items on digits are faster than the kernels' quicksort.
  ArraySorter(const KeyKernels<Integer> &kernels, std::int64_t radix_from)
      : kernels_(kernels), radix_from_(radix_from) {}

  /// Calls `make(begin, end, out)` for the integers of that part of the line, then `finish(begin,
  /// end, sorted)` for parts of the sorted line, both perhaps on several threads. Integers whose
  /// keys are equal come to the same `finish`. Throws OutOfMemory.
  template <class Make, class Finish>
  void run(Parts parts, Make make, Finish finish) const {
    if (parts.count > 1) return share(parts, make, finish);
    const Room<Integer> items(parts.size), room(parts.size);
    make(std::int64_t(0), parts.size, items.get());
    finish(std::int64_t(0), parts.size, sort(items.get(), room.get(), parts.size));
  }

private:
  /// The sorted array is `items` or `room`.
  Integer *sort(Integer *items, Integer *room, std::int64_t size) const {
    if (size >= radix_from_ && size < std::int64_t(1) << 32) {
      // Items are their integers.
      static_assert(sizeof(Item) == sizeof(Integer));
      return &radix_sort<std::uint32_t>(reinterpret_cast<Item *>(items),
                                        reinterpret_cast<Item *>(room), size)
                  ->bits;
    }
    kernels_.sort(items, room, size);
    return items;
  }

  /// Each part is partitioned into the same buckets; then each bucket is put together and sorted.
  /// The sorted array is what it is, however the buckets turn out.
  template <class Make, class Finish>
  void share(Parts parts, Make make, Finish finish) const {
    // An even number of partitions, so that they end where they began.
    int levels = 4;
    while (levels < 8 && (1 << levels) < 4 * parts.count) levels += 2;
    const int buckets = 1 << levels;
    const Room<Integer> first(parts.size), second(parts.size), third(parts.size);
    const std::vector<Integer> bounds = splitters(parts.size, buckets, make);
    const auto row = static_cast<std::size_t>(buckets) + 1;
    std::vector<std::int64_t> starts(row * static_cast<std::size_t>(parts.count));
    parts.run([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      make(begin, end, first.get() + begin);
      std::int64_t *const own = starts.data() + static_cast<std::size_t>(part) * row;
      divide(first.get(), second.get(), begin, end, bounds.data(), 0, buckets, own);
      own[buckets] = end;
    });
    // Where each bucket begins in the sorted array.
    std::vector<std::int64_t> offsets(row);
    for (int bucket = 0; bucket < buckets; ++bucket) {
      const auto at = static_cast<std::size_t>(bucket);
      offsets[at + 1] = offsets[at];
      for (std::size_t from = at; from < starts.size(); from += row)
        offsets[at + 1] += starts[from + 1] - starts[from];
    }
    parts.run([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      // The buckets that begin in this part, and in the last one those that begin at its end.
      const bool last = part + 1 == parts.count;
      for (std::size_t bucket = 0; bucket + 1 < row; ++bucket) {
        const std::int64_t start = offsets[bucket], size = offsets[bucket + 1] - start;
        if (size == 0 || start < begin || (start >= end && !last)) continue;
        Integer *to = second.get() + start;
        for (std::size_t from = bucket; from < starts.size(); from += row)
          to = std::copy(first.get() + starts[from], first.get() + starts[from + 1], to);
        // Digits would keep the order that items have come to by now: indices count as well.
        Integer *const items = second.get() + start;
        kernels_.sort(items, third.get() + start, size);
        finish(start, start + size, items);
      }
    });
  }

  /// Keys that cut the line into buckets of about one size: the indices below a key are 0, so that
  /// no key is in two buckets.
  template <class Make>
  std::vector<Integer> splitters(std::int64_t size, int buckets, Make make) const {
    constexpr int kEach = 32;
    const std::int64_t count = std::int64_t(buckets) * kEach;
    std::vector<Integer> sample(static_cast<std::size_t>(count)), room(sample), bounds;
    for (std::int64_t i = 0; i < count; ++i) {
      const std::int64_t at = size / count * i;
      make(at, at + 1, &sample[static_cast<std::size_t>(i)]);
    }
    kernels_.sort(sample.data(), room.data(), count);
    for (int i = 1; i < buckets; ++i) {
      Integer bound = sample[static_cast<std::size_t>(i) * kEach];
      if constexpr (std::is_same_v<Item, Packed>) bound = bound >> 32 << 32;
      bounds.push_back(bound);
    }
    return bounds;
  }

  /// Partitions [begin, end) of `here` into the buckets [low, high), between the two arrays.
  void divide(Integer *here, Integer *there, std::int64_t begin, std::int64_t end,
              const Integer *bounds, int low, int high, std::int64_t *starts) const {
    if (high - low == 1) {
      starts[low] = begin;
      return;
    }
    const int middle = (low + high) / 2;
    const std::int64_t below =
        kernels_.partition(here + begin, end - begin, bounds[middle - 1], there + begin);
    divide(there, here, begin, begin + below, bounds, low, middle, starts);
    divide(there, here, begin + below, end, bounds, middle, high, starts);
  }

  const KeyKernels<Integer> &kernels_;
  std::int64_t radix_from_;
};

} // namespace weft::kernels
