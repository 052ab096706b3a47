// Reductions: few elements go to everybody, who adds them all; of many each rank adds a part, while
// the rest is under way.
#include "Distributed/Reduce.h"

#include <algorithm>
#include <cstring>

namespace weft::distributed {

namespace {

class Reducer {
public:
  Reducer(Call &call, const Reducing &what)
      : call_(call), what_(what), combine_(call.function(), what.reduction, what.dtype),
        item_(item_size(what.dtype)) {
    for (int i = 0; i < call.size(); ++i) {
      const auto [begin, end] = share_of(what.replicas, i, call.size());
      nodes_.push_back(nodes_of(begin, end, what.replicas));
    }
  }

  /// Combines this rank's replicas to subtrees; gives where their values are.
  std::vector<const std::byte *> combine_own() {
    const std::int64_t begin = share_of(what_.replicas, call_.rank(), call_.size()).first;
    std::vector<const std::byte *> values;
    for (const Node &node : mine()) {
      const std::int64_t first = node.index << node.level;
      const std::int64_t last = std::min((node.index + 1) << node.level, what_.replicas);
      std::vector<NodeValues> leaves;
      for (std::int64_t i = first; i < last; ++i)
        leaves.push_back({{0, i}, what_.own + static_cast<std::size_t>(i - begin) * bytes()});
      if (leaves.size() == 1) {
        values.push_back(leaves[0].values);
        continue;
      }
      std::byte *const to = call_.room(bytes());
      // Of long runs a piece at a time, which the cache keeps.
      constexpr std::size_t kPiece = 1 << 14;
      for (std::size_t at = 0; at < what_.elements; at += kPiece) {
        std::vector<NodeValues> piece = leaves;
        for (NodeValues &leaf : piece) leaf.values += at * item_;
        combine_tree(combine_, node, what_.replicas, piece, std::min(kPiece, what_.elements - at),
                     item_, to + at * item_, scratch_);
      }
      values.push_back(to);
    }
    return values;
  }

  bool is_small() const { return most_nodes() * bytes() <= Call::kSmall; }

  /// All elements, at once, by everybody.
  void small(const Call::Common &common, const std::vector<const std::byte *> &own,
             std::size_t first, std::size_t count, std::byte *to) {
    std::string bytes_of_own;
    for (const std::byte *values : own)
      bytes_of_own.append(reinterpret_cast<const char *>(values), bytes());
    const std::vector<std::string_view> all = call_.meet(common, bytes_of_own);
    std::vector<NodeValues> given;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto *values = reinterpret_cast<const std::byte *>(all[i].data());
      for (std::size_t n = 0; n < nodes_[i].size(); ++n)
        given.push_back({nodes_[i][n], values + n * bytes() + first * item_});
    }
    combine_tree(combine_, root_of(what_.replicas), what_.replicas, given, count, item_, to,
                 scratch_);
  }

  /// Each rank adds its share of the elements, in pieces, while later ones are under way, and
  /// passes them on at once where `everywhere`.
  void large(const Call::Common &common, const std::vector<const std::byte *> &own, bool everywhere,
             std::byte *to) {
    call_.meet(common);
    const auto [begin, end] = share(call_.rank());
    // Receives first, so that what comes finds its place. `ready[p]` is the last message of piece
    // p.
    const std::size_t pieces = pieces_of(call_.rank());
    std::vector<std::vector<NodeValues>> given(pieces);
    std::vector<std::size_t> ready(pieces, 0);
    std::vector<std::vector<std::byte *>> rooms(nodes_.size());
    for (std::size_t r = 0; r < nodes_.size(); ++r)
      for (std::size_t n = 0; n < nodes_[r].size(); ++n)
        rooms[r].push_back(static_cast<int>(r) == call_.rank() ? nullptr
                                                               : call_.room((end - begin) * item_));
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto [from, count] = piece(call_.rank(), p);
      for (const int other : call_.others())
        for (std::byte *room : rooms[static_cast<std::size_t>(other)])
          ready[p] = call_.recv(other, room + (from - begin) * item_, count * item_);
      for (std::size_t r = 0; r < nodes_.size(); ++r)
        for (std::size_t n = 0; n < nodes_[r].size(); ++n)
          given[p].push_back({nodes_[r][n], static_cast<int>(r) == call_.rank()
                                                ? own[n] + from * item_
                                                : rooms[r][n] + (from - begin) * item_});
    }
    if (everywhere)
      for (const int other : call_.others())
        for (std::size_t p = 0; p < pieces_of(other); ++p) {
          const auto [from, count] = piece(other, p);
          call_.recv(other, to + from * item_, count * item_);
        }
    std::size_t most_pieces = 0;
    for (const int other : call_.others()) most_pieces = std::max(most_pieces, pieces_of(other));
    for (std::size_t p = 0; p < most_pieces; ++p)
      for (const int other : call_.others()) {
        if (p >= pieces_of(other)) continue;
        const auto [from, count] = piece(other, p);
        for (const std::byte *values : own) call_.send(other, values + from * item_, count * item_);
      }
    for (std::size_t p = 0; p < pieces; ++p) {
      call_.wait(ready[p]);
      const auto [from, count] = piece(call_.rank(), p);
      std::byte *const at = to + (everywhere ? from : from - begin) * item_;
      combine_tree(combine_, root_of(what_.replicas), what_.replicas, given[p], count, item_, at,
                   scratch_);
      if (everywhere)
        for (const int other : call_.others()) call_.send(other, at, count * item_);
    }
    call_.wait_all();
  }

  std::pair<std::size_t, std::size_t> share(int rank) const {
    const auto [begin, end] =
        share_of(static_cast<std::int64_t>(what_.elements), rank, call_.size());
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }

private:
  const std::vector<Node> &mine() const { return nodes_[static_cast<std::size_t>(call_.rank())]; }
  std::size_t bytes() const { return what_.elements * item_; }
  std::size_t most_nodes() const {
    std::size_t most = 0;
    for (const auto &nodes : nodes_) most = std::max(most, nodes.size());
    return most;
  }

  /// The elements of a piece, by its bytes; there are a few in a share, and none is very short.
  std::size_t piece_elements(int rank) const {
    const auto [begin, end] = share(rank);
    const std::size_t bytes = std::clamp<std::size_t>((end - begin) * item_ / 8, 1 << 16, 1 << 19);
    return bytes / item_;
  }
  std::size_t pieces_of(int rank) const {
    const auto [begin, end] = share(rank);
    const std::size_t each = piece_elements(rank);
    return (end - begin + each - 1) / each;
  }
  /// Its first element, and how many it has.
  std::pair<std::size_t, std::size_t> piece(int rank, std::size_t number) const {
    const auto [begin, end] = share(rank);
    const std::size_t each = piece_elements(rank), from = begin + number * each;
    return {from, std::min(each, end - from)};
  }

  Call &call_;
  const Reducing &what_;
  Combiner combine_;
  std::size_t item_;
  std::vector<std::vector<Node>> nodes_; ///< of each rank
  std::vector<std::byte> scratch_;
};

} // namespace

void reduce_everywhere(Call &call, const Call::Common &common, const Reducing &what,
                       std::byte *to) {
  Reducer reducer(call, what);
  const std::vector<const std::byte *> own = reducer.combine_own();
  if (call.size() == 1) std::memcpy(to, own[0], what.elements * item_size(what.dtype));
  else if (reducer.is_small()) reducer.small(common, own, 0, what.elements, to);
  else reducer.large(common, own, /*everywhere=*/true, to);
}

void reduce_share(Call &call, const Call::Common &common, const Reducing &what, std::byte *to) {
  Reducer reducer(call, what);
  const std::vector<const std::byte *> own = reducer.combine_own();
  const auto [begin, end] = reducer.share(call.rank());
  if (call.size() == 1) std::memcpy(to, own[0], what.elements * item_size(what.dtype));
  else if (reducer.is_small()) reducer.small(common, own, begin, end - begin, to);
  else reducer.large(common, own, /*everywhere=*/false, to);
}

} // namespace weft::distributed
