// Sorting along one axis: what the routines argsort and sort are made of.
#pragma once

#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// What a sorted line consists of.
enum class Sorted : std::uint8_t {
  indices, ///< where along the axis the elements come from, as i64
  values   ///< the elements
};

/// What is sorted: the lines of x along `axis`. All strides count elements and may be anything for
/// x, 0 and negative ones included; the result overlaps neither itself nor x.
struct SortArgs {
  std::int64_t rank;         ///< 1 or more
  const std::int64_t *sizes; ///< of x
  std::int64_t axis;
  bool descending;
  Sorted wanted;
  /// How many leading ones of each line are wanted: the size of the result's axis, at most x's.
  std::int64_t count;
  const void *x;
  const std::int64_t *x_strides;
  void *result;
  const std::int64_t *result_strides;
};

/// Sorts x, of i32, i64, f32 or f64. NaN counts as largest, -0 equals +0, and equal elements keep
/// their order in both directions; values keep their bits. So there is one right answer, whatever
/// the number of threads or the CPU level. Throws OutOfMemory where there is no memory to work in.
void sort(DType dtype, const SortArgs &args);

/// How to sort a line; `automatic` chooses by size.
enum class SortPath : std::uint8_t { automatic, quicksort, radix };

/// `sort` on kernels of a given level (at most the host's), by a given path. For tests and
/// benchmarks.
void sort_forced(DType dtype, const SortArgs &args, CpuLevel level, SortPath path);

} // namespace weft::kernels
