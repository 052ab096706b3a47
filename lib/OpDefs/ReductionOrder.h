// The order in which the elements of a long reduction are combined: the same words for the eager
// kernels' caller and for the compiler's loops, so that both give the same bits.
//
// It is fixed by the shape alone, whatever the number of threads: a long reduction with few results
// is cut into blocks, blocks are reduced each, from the neutral element on, and then their results
// in order. Inside a block, and among the results of blocks, the loops decide: contiguous runs as
// a tree of kRunFanIn addends at each of its two lower levels (Loops/Reductions.cpp), columns one
// row after the other.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

namespace weft {

/// Blocks of `rows` of the reduced elements, and what remains after the last of them.
struct ReductionCut {
  std::int64_t rows, blocks, rest;

  /// Partial results for each result.
  constexpr std::int64_t parts() const { return blocks + (rest != 0); }
};

inline constexpr std::int64_t kReductionBlock = 65536; ///< elements
inline constexpr std::int64_t kEnoughOuter = 8;        ///< results: threads have enough without
inline constexpr std::int64_t kRunFanIn = 16;          ///< addends of a partial result
inline constexpr std::int64_t kFewestRows = 8;         ///< or else partial results are too many

/// How a reduction of (outer, reduced, inner) over its middle axis is cut; nothing if it is not.
constexpr std::optional<ReductionCut> cut_reduction(std::int64_t outer, std::int64_t reduced,
                                                    std::int64_t inner) {
  if (outer >= kEnoughOuter) return std::nullopt;
  const std::int64_t rows = kReductionBlock / std::max<std::int64_t>(inner, 1);
  if (rows < kFewestRows || reduced / rows < 2) return std::nullopt;
  return ReductionCut{rows, reduced / rows, reduced % rows};
}

} // namespace weft
