// The flow that a minimum cut limits, by Dinic's algorithm (Soviet Math. Doklady 11, 1970).
#include "Weft/AD/MinCut.h"

#include <algorithm>

namespace mlir::weft {

unsigned MinCut::addNode(int64_t weight) {
  leaving.resize(leaving.size() + 2);
  connect(into(count), outOf(count), weight);
  return count++;
}

void MinCut::connect(unsigned from, unsigned to, int64_t room) {
  leaving[from].push_back(edges.size());
  edges.push_back({to, room});
  leaving[to].push_back(edges.size());
  edges.push_back({from, 0});
}

/// Finds how far each vertex is from the source along edges with room; whether the sink is reached.
bool MinCut::layer() {
  depth.assign(leaving.size(), 0);
  next.assign(leaving.size(), 0);
  llvm::SmallVector<unsigned> queue{source};
  depth[source] = 1;
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned number : leaving[queue[at]]) {
      const Edge &edge = edges[number];
      if (edge.room == 0 || depth[edge.to] != 0) continue;
      depth[edge.to] = depth[queue[at]] + 1;
      queue.push_back(edge.to);
    }
  return depth[sink] != 0;
}

/// Pushes one path's flow to the sink. A path is as long as the program's longest chain, so it is
/// kept here and not on the machine's stack.
int64_t MinCut::push(unsigned from, int64_t most) {
  llvm::SmallVector<unsigned> path;
  unsigned at = from;
  while (at != sink) {
    if (next[at] == leaving[at].size()) {
      if (path.empty()) return 0;
      depth[at] = 0; // leads nowhere
      at = edges[path.pop_back_val() ^ 1].to;
      ++next[at];
      continue;
    }
    const unsigned number = leaving[at][next[at]];
    const Edge &edge = edges[number];
    if (edge.room == 0 || depth[edge.to] != depth[at] + 1) {
      ++next[at];
      continue;
    }
    path.push_back(number);
    at = edge.to;
  }
  for (unsigned number : path) most = std::min(most, edges[number].room);
  for (unsigned number : path) {
    edges[number].room -= most;
    edges[number ^ 1].room += most;
  }
  return most;
}

std::optional<llvm::SmallVector<unsigned>> MinCut::solve() {
  int64_t flow = 0;
  while (layer())
    while (int64_t more = push(source, never)) {
      flow += more;
      if (flow >= never) return std::nullopt;
    }
  // The side of the sink: what still has room on a way to it. The cut next to it computes least.
  llvm::SmallVector<bool> reaches(leaving.size(), false);
  llvm::SmallVector<unsigned> queue{sink};
  reaches[sink] = true;
  for (size_t at = 0; at < queue.size(); ++at)
    for (unsigned number : leaving[queue[at]]) {
      const unsigned from = edges[number].to; // by the reverse of an edge into this vertex
      if (reaches[from] || edges[number ^ 1].room == 0) continue;
      reaches[from] = true;
      queue.push_back(from);
    }
  llvm::SmallVector<unsigned> kept;
  for (unsigned node = 0; node < count; ++node)
    if (reaches[outOf(node)] && !reaches[into(node)]) kept.push_back(node);
  return kept;
}

} // namespace mlir::weft
