// Sorting networks in vector registers: up to 16 registers of unsigned integers at once.
//
// For files that the build compiles once per level, as MatmulVector.h says.
#pragma once

#include "Kernels/MatmulVector.h"

#include <utility>

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

} // namespace WEFT_LEVEL_NAMESPACE
