// Sorting one line, on one thread or, if it is long, on several, and finding its first elements:
// which way for which size.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <utility>
#include <vector>

#include "Kernels/Room.h"
#include "Kernels/SortKernels.h"
#include "Kernels/SortKeys.h"
#include "Support/Threads.h"

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

/// Sizes from which on digits are faster than quicksort; measured at each level.
struct RadixThresholds {
  std::int64_t indices, values32, values64;
};

/// The kernels for elements of a type.
template <class T>
const ElementKernels<T, KeyOf<T>> &elements_of(const SortLevel &level) {
  if constexpr (std::is_same_v<T, float>) return level.f32;
  else if constexpr (std::is_same_v<T, double>) return level.f64;
  else if constexpr (std::is_same_v<T, std::int32_t>) return level.i32;
  else return level.i64;
}
template <class Key>
const KeyKernels<Key> &keys_of(const SortLevel &level) {
  if constexpr (sizeof(Key) == 4) return level.keys32;
  else return level.keys64;
}

/// Sorts lines of adjacent elements, one after the other.
template <class T>
class LineSorter {
  using Key = KeyOf<T>;
  static constexpr std::int64_t kPackable = std::int64_t(1) << 32;

public:
  /// `threads`: how many may share one line.
  LineSorter(const SortLevel &level, const RadixThresholds &radix, bool descending, int threads)
      : level_(level), elements_(elements_of<T>(level)), radix_(radix),
        flip_(flip_of<Key>(descending)), threads_(threads) {}

  /// Writes the indices of the first `count` elements in order to `out`.
  void indices(const T *x, std::int64_t size, std::int64_t count, std::int64_t *out) const {
    if (count <= size / kScanFrom) return first_indices(x, size, count, out);
    if (size >= kPackable || (sizeof(T) == 8 && count < size)) {
      if (count < size) return select<Paired>(x, size, count, out);
      return sort_pairs(x, size, out);
    }
    if (count < size) return select<Packed>(x, size, count, out);
    sort_packed(x, size, out);
  }

  /// Writes the elements in order to `out`.
  void values(const T *x, std::int64_t size, T *out) const {
    std::atomic<bool> lossy = false;
    const ArraySorter<Alone<Key>> sorter(keys_of<Key>(level_),
                                         sizeof(T) == 4 ? radix_.values32 : radix_.values64);
    sorter.run(
        Parts::of(size, threads_),
        [&](std::int64_t begin, std::int64_t end, Key *keys) {
          if (elements_.encode(x + begin, end - begin, flip_, keys)) lossy = true;
        },
        [&](std::int64_t begin, std::int64_t end, const Key *keys) {
          elements_.decode(keys, end - begin, flip_, out + begin);
        });
    if (lossy) restore(x, size, out);
  }

private:
  /// Lines of so many times the elements that are wanted are scanned for them.
  static constexpr std::int64_t kScanFrom = 64;

  Key key(T x) const { return key_of(x) ^ flip_; }

  void sort_pairs(const T *x, std::int64_t size, std::int64_t *out) const {
    const Room<Paired> here(size), there(size);
    for (std::int64_t i = 0; i < size; ++i) here.get()[i] = Paired::make(key(x[i]), i);
    const Paired *const sorted = size < kPackable
                                     ? radix_sort<std::uint32_t>(here.get(), there.get(), size)
                                     : radix_sort<std::uint64_t>(here.get(), there.get(), size);
    for (std::int64_t i = 0; i < size; ++i) out[i] = sorted[i].index();
  }

  /// By 32 bits of the keys: all of them, or the highest in which they differ from the least key.
  void sort_packed(const T *x, std::int64_t size, std::int64_t *out) const {
    Key least = 0;
    int shift = 0;
    if constexpr (sizeof(T) == 8) {
      Key most = 0;
      elements_.range(x, size, flip_, &least, &most);
      shift = std::max(0, 32 - std::countl_zero(most - least));
    }
    // Buckets are sorted by whole items, which costs up to twice what digits do on one thread.
    const int threads = size >= radix_.indices && threads_ < 4 ? 1 : threads_;
    const ArraySorter<Packed> sorter(level_.keys64, radix_.indices);
    std::atomic<bool> finished = true;
    sorter.run(
        Parts::of(size, threads),
        [&](std::int64_t begin, std::int64_t end, std::uint64_t *packed) {
          elements_.pack(x, begin, end, flip_, least, shift, packed);
        },
        [&](std::int64_t begin, std::int64_t end, std::uint64_t *packed) {
          if (shift != 0 && !order_ties(x, packed, end - begin)) finished = false;
          else level_.unpack(packed, end - begin, out + begin);
        });
    if (!finished) sort_pairs(x, size, out);
  }

  /// Orders items whose 32 bits are equal by their whole keys. Returns false, before all are, if
  /// so many are equal that all digits are less work.
  bool order_ties(const T *x, std::uint64_t *packed, std::int64_t size) const {
    constexpr std::int64_t kShort = 16;
    std::int64_t in_long_runs = 0;
    for (std::int64_t i = 0; i + 1 < size;) {
      std::int64_t end = i + 1;
      while (end < size && packed[end] >> 32 == packed[i] >> 32) ++end;
      if (end - i > kShort) in_long_runs += end - i;
      if (in_long_runs > size / 16 + 256) return false;
      if (end - i > 1)
        std::sort(packed + i, packed + end, [&](std::uint64_t a, std::uint64_t b) {
          const std::uint64_t first = a & 0xffffffff, second = b & 0xffffffff;
          const Key left = key(x[first]), right = key(x[second]);
          return left < right || (left == right && first < second);
        });
      i = end;
    }
    return true;
  }

  /// The first of all by a partition.
  template <class Item>
  void select(const T *x, std::int64_t size, std::int64_t count, std::int64_t *out) const {
    const Room<Item> items(size);
    Item *const begin = items.get();
    for (std::int64_t i = 0; i < size; ++i)
      begin[i] = Item::make(static_cast<typename Item::Key>(key(x[i])), i);
    std::nth_element(begin, begin + count, begin + size);
    order(begin, count, out);
  }

  template <class Item>
  void order(Item *items, std::int64_t count, std::int64_t *out) const {
    std::sort(items, items + count);
    for (std::int64_t i = 0; i < count; ++i) out[i] = items[i].index();
  }

  void first_indices(const T *x, std::int64_t size, std::int64_t count, std::int64_t *out) const {
    if constexpr (sizeof(T) == 4) {
      if (size < kPackable) return scan<Packed>(x, size, count, out);
    }
    scan<Paired>(x, size, count, out);
  }

  /// The first of few by going through the line once: what is not below the last of the best so
  /// far is passed over.
  template <class Item>
  void scan(const T *x, std::int64_t size, std::int64_t count, std::int64_t *out) const {
    // A scan goes at the speed of memory, so that little is not worth a thread.
    const Parts parts = Parts::of(size, threads_, 1 << 18);
    const std::int64_t room = 2 * count + kStep;
    const Room<Item> items(room * parts.count);
    Item *const all = items.get();
    std::vector<std::int64_t> found(static_cast<std::size_t>(parts.count));
    parts.run([&](std::int64_t part, std::int64_t begin, std::int64_t end) {
      found[static_cast<std::size_t>(part)] = scan_part(x, begin, end, count, all + part * room);
    });
    Item *end = all + found[0];
    for (int part = 1; part < parts.count; ++part)
      end = std::copy_n(all + part * room, found[static_cast<std::size_t>(part)], end);
    if (end - all > count) std::nth_element(all, all + count, end);
    order(all, count, out);
  }

  static constexpr std::int64_t kStep = 64; ///< what find_below finds

  /// Leaves the first `count` of a part, or all it has, in `best` and returns how many.
  template <class Item>
  std::int64_t scan_part(const T *x, std::int64_t begin, std::int64_t end, std::int64_t count,
                         Item *best) const {
    std::int64_t held = 0;
    bool bounded = false;
    Key limit = 0;
    const auto cut = [&] {
      std::nth_element(best, best + count - 1, best + held);
      limit = static_cast<Key>(best[count - 1].key());
      bounded = true;
      held = count;
    };
    for (std::int64_t at = begin; at < end;) {
      if (bounded) at = elements_.find_below(x, at, end, flip_, limit);
      const std::int64_t stop = std::min(at + kStep, end);
      for (; at < stop; ++at) {
        const Key here = key(x[at]);
        if (bounded && here >= limit) continue;
        best[held++] = Item::make(static_cast<typename Item::Key>(here), at);
      }
      if (held > 2 * count) cut();
    }
    if (held > count) cut();
    return held;
  }

  /// Gives the zeros and the NaN of sorted values the bits that they have in x, in their order.
  void restore(const T *x, std::int64_t size, T *out) const {
    if constexpr (std::is_floating_point_v<T>) {
      const auto first_of = [&](Key wanted) {
        return std::partition_point(out, out + size,
                                    [&](T value) { return key(value) < (wanted ^ flip_); });
      };
      T *zero = first_of(kZeroKey<T>), *nan = first_of(kNanKey<T>);
      for (std::int64_t i = 0; i < size; ++i) {
        if (x[i] == 0) *zero++ = x[i];
        else if (x[i] != x[i]) *nan++ = x[i];
      }
    }
  }

  const SortLevel &level_;
  const ElementKernels<T, Key> &elements_;
  const RadixThresholds &radix_;
  Key flip_;
  int threads_;
};

} // namespace weft::kernels
