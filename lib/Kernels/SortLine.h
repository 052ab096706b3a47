// Sorting one line, and finding its first elements: which way for which size.
#pragma once

#include "Kernels/SortShared.h"

#include <atomic>
#include <bit>

namespace weft::kernels {

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
