// Reductions over the ranks of a group: of all elements on all ranks, or of a part on each.
#pragma once

#include <span>
#include <vector>

#include "Distributed/Call.h"
#include "Distributed/Tree.h"

namespace weft::distributed {

/// What is reduced, on the host: `own` are this rank's replicas, one behind the other.
struct Reducing {
  DType dtype;
  Reduction reduction;
  std::int64_t replicas; ///< of all ranks, which have their shares of them
  std::size_t elements;  ///< of each
  const std::byte *own;
  /// If given, a rank gets a part of the elements alone: rank r those before `ends[r]` that are no
  /// other's before it.
  std::vector<std::size_t> ends = {};
};

/// Reductions, each to its place of `to`; what the ranks have in common is told by `common`. Ranks
/// meet once: what is short goes with that, and the rest is under way together.
void reduce(Call &call, const Call::Common &common, std::span<const Reducing> whats,
            std::span<std::byte *const> to);
inline void reduce(Call &call, const Call::Common &common, const Reducing &what, std::byte *to) {
  reduce(call, common, std::span(&what, 1), std::span(&to, 1));
}

} // namespace weft::distributed
