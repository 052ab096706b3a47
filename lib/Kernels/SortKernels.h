// The table of sorting kernels that one x86-64 level offers; SortLevel.cpp fills it once per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only: no inline function, no standard template whose code the linker could pick.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// Kernels on unsigned integers of one size, which are keys or hold them.
template <class Key>
struct KeyKernels {
  /// Sorts `size` integers; `room` is for as many. The result stands in `keys`.
  void (*sort)(Key *keys, Key *room, std::int64_t size);
  /// Moves the integers below `pivot` to the front of `to`, those that are not to its end, in any
  /// order, and returns how many are below. The arrays do not overlap.
  std::int64_t (*partition)(const Key *from, std::int64_t size, Key pivot, Key *to);
};

/// Kernels on elements of one type, whose keys are `Key`s (SortKeys.h) complemented by `flip`.
template <class T, class Key>
struct ElementKernels {
  /// The keys of adjacent elements. Returns whether any does not tell its element's bits.
  bool (*encode)(const T *x, std::int64_t size, Key flip, Key *keys);
  /// Elements that have those keys.
  void (*decode)(const Key *keys, std::int64_t size, Key flip, T *x);
  /// The least and the largest key.
  void (*range)(const T *x, std::int64_t size, Key flip, Key *least, Key *most);
  /// For the elements [begin, end) 32 bits, from bit `shift` on, of what each key is above `least`,
  /// over the element's index, in one integer.
  void (*pack)(const T *x, std::int64_t begin, std::int64_t end, Key flip, Key least, int shift,
               std::uint64_t *packed);
  /// Where from `start` on the first of 64 adjacent elements stand of which any has a key below
  /// `limit`; `size` where there is none.
  std::int64_t (*find_below)(const T *x, std::int64_t start, std::int64_t size, Key flip,
                             Key limit);
};

/// All kernels of one level.
struct SortLevel {
  KeyKernels<std::uint32_t> keys32;
  KeyKernels<std::uint64_t> keys64;
  ElementKernels<float, std::uint32_t> f32;
  ElementKernels<double, std::uint64_t> f64;
  ElementKernels<std::int32_t, std::uint32_t> i32;
  ElementKernels<std::int64_t, std::uint64_t> i64;
  /// The indices that `pack` packed.
  void (*unpack)(const std::uint64_t *packed, std::int64_t size, std::int64_t *indices);
};

extern const SortLevel sort_level_v2;
extern const SortLevel sort_level_v3;
extern const SortLevel sort_level_v4;

} // namespace weft::kernels
