// How ops along one axis see an array, and how much of their work is worth a thread.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// A dense row-major array seen along one axis: `outer` slices, each of `size` rows of `inner`
/// elements. A line goes across the rows of a slice.
struct Lines {
  std::int64_t outer = 1, size = 1, inner = 1;

  bool empty() const { return outer == 0 || size == 0 || inner == 0; }
};

/// Elements below which a loop of an op of that cost (OpInfo::cost) stays on one thread.
constexpr std::int64_t parallel_grain(int cost) {
  constexpr std::int64_t work = 65536;
  return work / (cost + 1); // one for reading and writing the element
}

} // namespace weft::kernels
