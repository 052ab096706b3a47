// Reductions over the ranks of a group: of all elements on all ranks, or of a part on each.
#pragma once

#include <span>

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
};

/// Reductions of all elements, each to its place of `to`, on all ranks; what the ranks have in
/// common is told by `common`. Ranks meet once: what is short goes with that, and the rest is under
/// way together.
void reduce_everywhere(Call &call, const Call::Common &common, std::span<const Reducing> whats,
                       std::span<std::byte *const> to);
inline void reduce_everywhere(Call &call, const Call::Common &common, const Reducing &what,
                              std::byte *to) {
  reduce_everywhere(call, common, std::span(&what, 1), std::span(&to, 1));
}

/// The same of this rank's share of the elements alone.
void reduce_share(Call &call, const Call::Common &common, const Reducing &what, std::byte *to);

} // namespace weft::distributed
