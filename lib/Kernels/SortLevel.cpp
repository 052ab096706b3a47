// The sorting kernels of one x86-64 level. The build compiles this file once per level, with that
// level's -march and WEFT_LEVEL set to 2, 3 or 4.
#include <utility>

#include "Kernels/MatmulVector.h"
#include "Kernels/SortKernels.h"
#include "Kernels/SortKeys.h"

#if WEFT_LEVEL == 3
#include <immintrin.h>
#endif

// Sorting networks in vector registers: up to 16 registers of unsigned integers at once.

namespace WEFT_LEVEL_NAMESPACE {

template <class Key>
using AllLanes = std::make_integer_sequence<int, kLanes<Key>>;

/// Lane i of the result is lane i ^ kBits of `value`.
template <int kBits, class Key, int... i>
inline Vec<Key> exchanged(Vec<Key> value, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(value, value, (i ^ kBits)...);
}

/// AllLanes of `upper` where the lane's number has `kBit`, of `lower` elsewhere.
template <int kBit, class Key, int... i>
inline Vec<Key> blended(Vec<Key> lower, Vec<Key> upper, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(lower, upper, ((i & kBit) != 0 ? i + kLanes<Key> : i)...);
}

/// Half of the lanes of both, alternating: the first half of each, or the second.
template <bool kSecond, class Key, int... i>
inline Vec<Key> interleaved(Vec<Key> a, Vec<Key> b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(
      a, b, ((i % 2) * kLanes<Key> + i / 2 + (kSecond ? kLanes<Key> / 2 : 0))...);
}

template <class Key>
inline void compare_exchange(Vec<Key> &a, Vec<Key> &b) {
  const Vec<Key> lower = __builtin_elementwise_min(a, b);
  b = __builtin_elementwise_max(a, b);
  a = lower;
}

/// Merges the halves of each group of `kCount` registers, of which each is in order, lane by lane.
template <class Key, int kRegisters, int kCount>
inline void merge_registers(Vec<Key> (&v)[kRegisters]) {
#pragma clang loop unroll(full)
  for (int distance = kCount / 2; distance > 0; distance /= 2)
#pragma clang loop unroll(full)
    for (int i = 0; i < kRegisters; ++i)
      if ((i & distance) == 0) compare_exchange<Key>(v[i], v[i + distance]);
}

/// Sorts each lane over the registers.
template <class Key, int kRegisters, int kCount = 2>
inline void sort_each_lane(Vec<Key> (&v)[kRegisters]) {
  if constexpr (kCount <= kRegisters) {
    // Both halves are in order; the second is taken backwards.
#pragma clang loop unroll(full)
    for (int i = 0; i < kRegisters; ++i)
      if ((i & (kCount / 2)) == 0) compare_exchange<Key>(v[i], v[i ^ (kCount - 1)]);
#pragma clang loop unroll(full)
    for (int distance = kCount / 4; distance > 0; distance /= 2)
#pragma clang loop unroll(full)
      for (int i = 0; i < kRegisters; ++i)
        if ((i & distance) == 0) compare_exchange<Key>(v[i], v[i + distance]);
    sort_each_lane<Key, kRegisters, kCount * 2>(v);
  }
}

/// The steps of a merge between lanes that are `kDistance`, and then ever less, apart.
template <class Key, int kRegisters, int kDistance>
inline void merge_lanes(Vec<Key> (&v)[kRegisters]) {
  if constexpr (kDistance > 0) {
#pragma clang loop unroll(full)
    for (Vec<Key> &value : v) {
      const Vec<Key> other = exchanged<kDistance, Key>(value, AllLanes<Key>());
      value = blended<kDistance, Key>(__builtin_elementwise_min(value, other),
                                      __builtin_elementwise_max(value, other), AllLanes<Key>());
    }
    merge_lanes<Key, kRegisters, kDistance / 2>(v);
  }
}

/// Merges neighbouring groups of lanes, each of which is in order (first by lane, then by
/// register), until all lanes are one group of `kGroup`.
template <class Key, int kRegisters, int kGroup = 2>
inline void merge_groups(Vec<Key> (&v)[kRegisters]) {
  if constexpr (kGroup <= kLanes<Key>) {
    // The first step compares a group with its neighbour backwards: both lanes and registers.
    constexpr int kUpper = kGroup / 2;
    if constexpr (kRegisters == 1) {
      const Vec<Key> other = exchanged<kGroup - 1, Key>(v[0], AllLanes<Key>());
      v[0] = blended<kUpper, Key>(__builtin_elementwise_min(v[0], other),
                                  __builtin_elementwise_max(v[0], other), AllLanes<Key>());
    } else {
#pragma clang loop unroll(full)
      for (int i = 0; i < kRegisters / 2; ++i) {
        Vec<Key> &a = v[i], &b = v[kRegisters - 1 - i];
        const Vec<Key> other = exchanged<kGroup - 1, Key>(b, AllLanes<Key>());
        const Vec<Key> lower = __builtin_elementwise_min(a, other);
        const Vec<Key> upper = __builtin_elementwise_max(a, other);
        a = blended<kUpper, Key>(lower, upper, AllLanes<Key>());
        b = exchanged<kGroup - 1, Key>(blended<kUpper, Key>(upper, lower, AllLanes<Key>()),
                                       AllLanes<Key>());
      }
    }
    merge_lanes<Key, kRegisters, kGroup / 4>(v);
    merge_registers<Key, kRegisters, kRegisters>(v);
    merge_groups<Key, kRegisters, kGroup * 2>(v);
  }
}

/// Sorts kRegisters * kLanes adjacent integers, from `from` to `to`.
template <class Key, int kRegisters>
void sort_block(const Key *from, Key *to) {
  Vec<Key> v[kRegisters];
#pragma clang loop unroll(full)
  for (int i = 0; i < kRegisters; ++i) v[i] = load(from + i * kLanes<Key>);
  sort_each_lane<Key, kRegisters>(v);
  merge_groups<Key, kRegisters>(v);
  // Lane by lane in order: each round rotates the number (register, lane) by one bit.
#pragma clang loop unroll(full)
  for (int round = kRegisters; round > 1; round /= 2) {
    Vec<Key> turned[kRegisters];
#pragma clang loop unroll(full)
    for (int i = 0; i < kRegisters / 2; ++i) {
      turned[2 * i] = interleaved<false, Key>(v[i], v[i + kRegisters / 2], AllLanes<Key>());
      turned[2 * i + 1] = interleaved<true, Key>(v[i], v[i + kRegisters / 2], AllLanes<Key>());
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kRegisters; ++i) v[i] = turned[i];
  }
#pragma clang loop unroll(full)
  for (int i = 0; i < kRegisters; ++i) store(to + i * kLanes<Key>, v[i]);
}

namespace {

//===----------------------------------------------------------------------===//
// Blocks of a few registers
//===----------------------------------------------------------------------===//

/// Registers of the largest block: half of those there are leave room for what a step needs.
constexpr int kMostRegisters = WEFT_LEVEL == 4 ? 16 : 8;
template <class Key>
constexpr std::int64_t kBlock = kMostRegisters * kLanes<Key>;

/// Sorts up to kBlock integers in as few registers as hold them.
template <class Key, int kRegisters = 1>
void sort_few(const Key *from, Key *to, std::int64_t size) {
  constexpr std::int64_t room = std::int64_t(kRegisters) * kLanes<Key>;
  if constexpr (kRegisters < kMostRegisters)
    if (size > room) return sort_few<Key, kRegisters * 2>(from, to, size);
  if (size == room) return sort_block<Key, kRegisters>(from, to);
  Key padded[room];
  for (std::int64_t i = 0; i < room; ++i) padded[i] = ~Key(0);
  __builtin_memcpy(padded, from, static_cast<unsigned long>(size) * sizeof(Key));
  sort_block<Key, kRegisters>(padded, padded);
  __builtin_memcpy(to, padded, static_cast<unsigned long>(size) * sizeof(Key));
}

//===----------------------------------------------------------------------===//
// Partition
//===----------------------------------------------------------------------===//

#if WEFT_LEVEL == 4

inline unsigned below(Vec<std::uint32_t> v, Vec<std::uint32_t> pivot) {
  return _mm512_cmplt_epu32_mask((__m512i)v, (__m512i)pivot);
}
inline unsigned below(Vec<std::uint64_t> v, Vec<std::uint64_t> pivot) {
  return _mm512_cmplt_epu64_mask((__m512i)v, (__m512i)pivot);
}
// To a register and then to memory: compression into memory is microcode on some processors.
inline Vec<std::uint32_t> compressed(unsigned lanes, Vec<std::uint32_t> v) {
  return (Vec<std::uint32_t>)_mm512_maskz_compress_epi32(__mmask16(lanes), (__m512i)v);
}
inline Vec<std::uint64_t> compressed(unsigned lanes, Vec<std::uint64_t> v) {
  return (Vec<std::uint64_t>)_mm512_maskz_compress_epi64(__mmask8(lanes), (__m512i)v);
}
inline void store_some(std::uint32_t *to, int count, Vec<std::uint32_t> v) {
  _mm512_mask_storeu_epi32(to, __mmask16(lane_mask(count)), (__m512i)v);
}
inline void store_some(std::uint64_t *to, int count, Vec<std::uint64_t> v) {
  _mm512_mask_storeu_epi64(to, __mmask8(lane_mask(count)), (__m512i)v);
}

/// How much of `to` must be free for a step, in vectors.
constexpr int kStepRoom = 1;

template <class Key>
inline void split(Vec<Key> v, Vec<Key> pivot, Key *to, std::int64_t &low, std::int64_t &high) {
  constexpr unsigned all = (1u << kLanes<Key>)-1u;
  const unsigned is_low = below(v, pivot);
  const int lows = __builtin_popcount(is_low), highs = kLanes<Key> - lows;
  store(to + low, compressed(is_low, v));
  high -= highs;
  low += lows;
  store_some(to + high, highs, compressed(all & ~is_low, v));
}

#elif WEFT_LEVEL == 3

/// For each set of low lanes, of eight or of four: where each lane of "the low ones, then the
/// others" comes from. Lanes of 64 bits are pairs of lanes of 32.
struct SplitTables {
  alignas(32) std::uint32_t eight[256][8];
  alignas(32) std::uint32_t four[16][8];

  constexpr SplitTables() : eight(), four() {
    for (unsigned lanes = 0; lanes < 256; ++lanes)
      for (unsigned pass = 0, at = 0; pass < 2; ++pass)
        for (unsigned lane = 0; lane < 8; ++lane)
          if ((lanes >> lane & 1u) != pass) eight[lanes][at++] = lane;
    for (unsigned lanes = 0; lanes < 16; ++lanes)
      for (unsigned pass = 0, at = 0; pass < 2; ++pass)
        for (unsigned lane = 0; lane < 4; ++lane)
          if ((lanes >> lane & 1u) != pass) {
            four[lanes][at++] = 2 * lane;
            four[lanes][at++] = 2 * lane + 1;
          }
  }
};
constexpr SplitTables kSplit;

inline unsigned below(Vec<std::uint32_t> v, Vec<std::uint32_t> pivot) {
  return static_cast<unsigned>(_mm256_movemask_ps((__m256)(v < pivot)));
}
inline unsigned below(Vec<std::uint64_t> v, Vec<std::uint64_t> pivot) {
  return static_cast<unsigned>(_mm256_movemask_pd((__m256d)(v < pivot)));
}
template <class Key>
inline Vec<Key> lows_first(unsigned is_low, Vec<Key> v) {
  const std::uint32_t *const from = sizeof(Key) == 4 ? kSplit.eight[is_low] : kSplit.four[is_low];
  const __m256i order = _mm256_load_si256(reinterpret_cast<const __m256i *>(from));
  return (Vec<Key>)_mm256_permutevar8x32_epi32((__m256i)v, order);
}

// Two: what a step stores beside the low ones must not meet what it stores beside the others.
constexpr int kStepRoom = 2;

template <class Key>
inline void split(Vec<Key> v, Vec<Key> pivot, Key *to, std::int64_t &low, std::int64_t &high) {
  const unsigned is_low = below(v, pivot);
  const int lows = __builtin_popcount(is_low);
  const Vec<Key> both = lows_first(is_low, v);
  store(to + low, both);
  store(to + high - kLanes<Key>, both);
  low += lows;
  high -= kLanes<Key> - lows;
}

#endif

template <class Key>
std::int64_t partition(const Key *from, std::int64_t size, Key pivot, Key *to) {
  std::int64_t low = 0, high = size, i = 0;
#if WEFT_LEVEL >= 3
  const Vec<Key> pivots = Vec<Key>(pivot);
  for (; i + std::int64_t(kStepRoom) * kLanes<Key> <= size; i += kLanes<Key>)
    split<Key>(load(from + i), pivots, to, low, high);
#endif
  for (; i < size; ++i) {
    const Key key = from[i];
    const bool is_low = key < pivot;
    to[low] = key;
    to[high - 1] = key;
    low += is_low;
    high -= !is_low;
  }
  return low;
}

//===----------------------------------------------------------------------===//
// Quicksort
//===----------------------------------------------------------------------===//

/// Where partitions have gone wrong too often.
template <class Key>
void heap_sort(Key *keys, std::int64_t size) {
  const auto sift = [&](std::int64_t at, std::int64_t end) {
    const Key key = keys[at];
    for (std::int64_t child = 2 * at + 1; child < end; child = 2 * at + 1) {
      if (child + 1 < end && keys[child] < keys[child + 1]) ++child;
      if (keys[child] <= key) break;
      keys[at] = keys[child];
      at = child;
    }
    keys[at] = key;
  };
  for (std::int64_t at = size / 2; at-- > 0;) sift(at, size);
  for (std::int64_t end = size; end-- > 1;) {
    const Key largest = keys[0];
    keys[0] = keys[end];
    keys[end] = largest;
    sift(0, end);
  }
}

/// The middle one of some that stand evenly over the line.
template <class Key>
Key pivot_of(const Key *keys, std::int64_t size) {
  constexpr std::int64_t kMost = 128;
  Key sample[kMost];
  std::int64_t count = size > (1 << 15) ? kMost : 32;
  if (count > kBlock<Key>) count = kBlock<Key>;
  const std::int64_t step = size / count;
  for (std::int64_t i = 0; i < count; ++i) sample[i] = keys[i * step + (i * 7 % step)];
  sort_few<Key>(sample, sample, count);
  return sample[count / 2];
}

/// Sorts `size` integers in `here` to `out`, which is `here` or `there`; both are overwritten.
template <class Key>
void quicksort(Key *here, Key *there, Key *out, std::int64_t size, int depth) {
  while (size > kBlock<Key>) {
    if (depth-- == 0) {
      heap_sort(here, size);
      if (out != here) __builtin_memcpy(out, here, static_cast<unsigned long>(size) * sizeof(Key));
      return;
    }
    const Key pivot = pivot_of(here, size);
    std::int64_t low = partition(here, size, pivot, there);
    if (low == 0) {
      // None is below; those that equal the pivot are in order already.
      if (pivot == ~Key(0)) low = size;
      else low = partition(there, size, Key(pivot + 1), here);
      for (std::int64_t i = 0; i < low; ++i) out[i] = pivot;
      if (pivot == ~Key(0)) return;
    } else {
      quicksort(there, here, out == here ? here : there, low, depth);
      Key *const other = here;
      here = there;
      there = other;
    }
    here += low;
    there += low;
    out += low;
    size -= low;
  }
  sort_few(here, out, size);
}

template <class Key>
void sort_keys(Key *keys, Key *room, std::int64_t size) {
  quicksort(keys, room, keys, size,
            2 * (64 - __builtin_clzll(static_cast<unsigned long>(size) | 1)));
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

template <class T>
bool encode(const T *x, std::int64_t size, KeyOf<T> flip, KeyOf<T> *keys) {
  KeyOf<T> lossy = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    keys[i] = key_of(x[i]) ^ flip;
    lossy |= KeyOf<T>(is_lossy(x[i]));
  }
  return lossy != 0;
}

template <class T>
void decode(const KeyOf<T> *keys, std::int64_t size, KeyOf<T> flip, T *x) {
  for (std::int64_t i = 0; i < size; ++i) x[i] = element_of<T>(keys[i] ^ flip);
}

template <class T>
void range(const T *x, std::int64_t size, KeyOf<T> flip, KeyOf<T> *least, KeyOf<T> *most) {
  KeyOf<T> low = ~KeyOf<T>(0), high = 0;
  for (std::int64_t i = 0; i < size; ++i) {
    const KeyOf<T> key = key_of(x[i]) ^ flip;
    low = key < low ? key : low;
    high = key > high ? key : high;
  }
  *least = low;
  *most = high;
}

template <class T>
void pack(const T *x, std::int64_t begin, std::int64_t end, KeyOf<T> flip, KeyOf<T> least,
          int shift, std::uint64_t *packed) {
  for (std::int64_t i = begin; i < end; ++i)
    packed[i - begin] =
        std::uint64_t(((key_of(x[i]) ^ flip) - least) >> shift) << 32 | std::uint64_t(i);
}

void unpack(const std::uint64_t *packed, std::int64_t size, std::int64_t *indices) {
  for (std::int64_t i = 0; i < size; ++i)
    indices[i] = static_cast<std::int64_t>(packed[i] & 0xffffffff);
}

template <class T>
std::int64_t find_below(const T *x, std::int64_t start, std::int64_t size, KeyOf<T> flip,
                        KeyOf<T> limit) {
  constexpr std::int64_t kStep = 64;
  for (; start + kStep <= size; start += kStep) {
    KeyOf<T> found = 0;
    for (std::int64_t i = 0; i < kStep; ++i)
      found |= KeyOf<T>((key_of(x[start + i]) ^ flip) < limit);
    if (found != 0) return start;
  }
  for (std::int64_t i = start; i < size; ++i)
    if ((key_of(x[i]) ^ flip) < limit) return start;
  return size;
}

template <class T>
constexpr ElementKernels<T, KeyOf<T>> elements = {encode<T>, decode<T>, range<T>, pack<T>,
                                                  find_below<T>};

} // namespace

// Constant-initialised, so that sorting works during static initialisation too.
constexpr SortLevel kSortTable = {{sort_keys<std::uint32_t>, partition<std::uint32_t>},
                                  {sort_keys<std::uint64_t>, partition<std::uint64_t>},
                                  elements<float>,
                                  elements<double>,
                                  elements<std::int32_t>,
                                  elements<std::int64_t>,
                                  unpack};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const SortLevel sort_level_v4 = v4::kSortTable;
#elif WEFT_LEVEL == 3
const SortLevel sort_level_v3 = v3::kSortTable;
#else
const SortLevel sort_level_v2 = v2::kSortTable;
#endif

} // namespace weft::kernels
