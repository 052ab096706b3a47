// The one tree by which values of replicas are combined, whatever process has them: replica 2i with
// 2i + 1, then pairs of pairs. Bits depend on the number of replicas alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "Support/FunctionRef.h"
#include <weft/distributed.h>
#include <weft/dtype.h>

namespace weft::distributed {

/// A subtree: the replicas from `index << level` to `(index + 1) << level`, as far as there are
/// any. Where there are no others, it is the subtree of its left half.
struct Node {
  int level = 0;
  std::int64_t index = 0;
  friend bool operator==(const Node &, const Node &) = default;
};

/// The run of `count` things that part `part` of `parts` has.
inline std::pair<std::int64_t, std::int64_t> share_of(std::int64_t count, int part, int parts) {
  // In two steps, as the product of two counts may be too large.
  const auto at = [&](std::int64_t i) { return count / parts * i + count % parts * i / parts; };
  return {at(part), at(part + 1)};
}

/// The largest subtrees of a tree over `count` replicas that have only those from `begin` to `end`,
/// in order: at most 2 log2(count).
std::vector<Node> nodes_of(std::int64_t begin, std::int64_t end, std::int64_t count);

/// Combines `elements` of `a` and `b` into `to`, which may be one of them.
class Combiner {
public:
  /// Throws DTypeError, naming `function`, if values of the dtype cannot be combined so.
  Combiner(const char *function, Reduction reduction, DType dtype);
  void operator()(const void *a, const void *b, void *to, std::size_t elements) const;

private:
  void by_op(const void *a, const void *b, void *to, std::size_t elements) const;

  int op_ = 0;              ///< the op code
  DType parts_;             ///< what elements are combined as: complex numbers as their parts
  std::size_t per_element_; ///< parts of an element
  void (*kernel_)(void *const *, const std::int64_t *) = nullptr; ///< null if it is done by the op
};

/// A node, and where its values are.
struct NodeValues {
  Node node;
  const std::byte *values = nullptr;
};

/// The whole tree.
Node root_of(std::int64_t count);

/// Combines nodes that together are the subtree `root` of `count` replicas, in order, into `to`.
/// `room` grows to what is needed on the way.
void combine_tree(const Combiner &combine, Node root, std::int64_t count,
                  const std::vector<NodeValues> &nodes, std::size_t elements,
                  std::size_t element_bytes, std::byte *to, std::vector<std::byte> &room);

} // namespace weft::distributed
