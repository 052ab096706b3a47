// A minimum cut of vertices: what to keep so that everything wanted can be computed from it.
#pragma once

#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <limits>

namespace mlir::weft {

/// A graph of values, from those that cannot be computed again to those that are wanted. Keeping a
/// value costs its weight; computing one from others costs nothing.
class MinCut {
public:
  static constexpr int64_t never = std::numeric_limits<int64_t>::max() / 4;

  /// A value that costs `weight` to keep; `never` says that it cannot be.
  unsigned addNode(int64_t weight);
  /// `to` is computed from `from`, and perhaps others.
  void addEdge(unsigned from, unsigned to) { connect(outOf(from), into(to), never); }
  /// The value cannot be computed again, so that it or what depends on it must be kept.
  void addSource(unsigned node) { connect(source, into(node), never); }
  /// The value is wanted.
  void addSink(unsigned node) { connect(outOf(node), sink, never); }

  /// The values to keep, of least weight in all; of equal choices the one that leaves the least to
  /// compute again. Nothing if there is no way without one that cannot be kept.
  std::optional<llvm::SmallVector<unsigned>> solve();

private:
  struct Edge {
    unsigned to;
    int64_t room;
  };
  static constexpr unsigned source = 0, sink = 1;
  static unsigned into(unsigned node) { return 2 + 2 * node; }
  static unsigned outOf(unsigned node) { return 3 + 2 * node; }
  void connect(unsigned from, unsigned to, int64_t room);
  bool layer();
  int64_t push(unsigned from, int64_t most);

  unsigned count = 0;
  llvm::SmallVector<Edge> edges; ///< each with its reverse behind it
  llvm::SmallVector<llvm::SmallVector<unsigned, 4>> leaving{2};
  llvm::SmallVector<unsigned> depth, next;
};

} // namespace mlir::weft
