// Reductions: few elements go to everybody, who adds them all; of many each rank adds a part, while
// the rest is under way.
#include "Distributed/Reduce.h"

#include <algorithm>
#include <cstring>
#include <deque>

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

  /// Combines this rank's replicas to subtrees.
  void combine_own() {
    const std::int64_t begin = share_of(what_.replicas, call_.rank(), call_.size()).first;
    for (const Node &node : mine()) {
      const std::int64_t first = node.index << node.level;
      const std::int64_t last = std::min((node.index + 1) << node.level, what_.replicas);
      std::vector<NodeValues> leaves;
      for (std::int64_t i = first; i < last; ++i)
        leaves.push_back({{0, i}, what_.own + static_cast<std::size_t>(i - begin) * bytes()});
      if (leaves.size() == 1) {
        own_.push_back(leaves[0].values);
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
      own_.push_back(to);
    }
  }

  /// All elements of a world of one.
  void copy(std::byte *to) const { std::memcpy(to, own_[0], bytes()); }

  // Few elements go with the words by which ranks meet, and everybody adds them all.

  /// What a rank says of it then, so that the next may lie behind it.
  std::size_t bytes_of(int rank) const {
    constexpr std::size_t kAligned = 16;
    const std::size_t all = nodes_[static_cast<std::size_t>(rank)].size() * bytes();
    return (all + kAligned - 1) / kAligned * kAligned;
  }
  std::size_t most_bytes() const {
    std::size_t most = 0;
    for (int i = 0; i < call_.size(); ++i) most = std::max(most, bytes_of(i));
    return most;
  }
  void say(std::string &text) const {
    const std::size_t end = text.size() + bytes_of(call_.rank());
    for (const std::byte *values : own_)
      text.append(reinterpret_cast<const char *>(values), bytes());
    text.resize(end);
  }
  /// Reads what each rank said from `at` on, and moves that behind it.
  void add(const std::vector<std::string_view> &said, std::vector<std::size_t> &at, std::byte *to) {
    const auto [first, last] =
        is_everywhere() ? std::pair(std::size_t{0}, what_.elements) : share(call_.rank());
    std::vector<NodeValues> given;
    for (std::size_t i = 0; i < said.size(); ++i) {
      const auto *values = reinterpret_cast<const std::byte *>(said[i].data()) + at[i];
      for (std::size_t n = 0; n < nodes_[i].size(); ++n)
        given.push_back({nodes_[i][n], values + n * bytes() + first * item_});
      at[i] += bytes_of(static_cast<int>(i));
    }
    if (first == last) return;
    combine_tree(combine_, root_of(what_.replicas), what_.replicas, given, last - first, item_, to,
                 scratch_);
  }

  // Of many each rank adds its share, in pieces, while later ones are under way, and passes them on
  // at once. Of several reductions all ranks start messages in the same order: the parts of all,
  // then what they come to.

  /// Receives come before sends, so that what comes finds its place.
  void receive_parts() {
    const auto [begin, end] = share(call_.rank());
    // `ready_[p]` is the last message of piece p.
    const std::size_t pieces = pieces_of(call_.rank());
    given_.resize(pieces);
    ready_.assign(pieces, 0);
    std::vector<std::vector<std::byte *>> rooms(nodes_.size());
    for (std::size_t r = 0; r < nodes_.size(); ++r)
      for (std::size_t n = 0; n < nodes_[r].size(); ++n)
        rooms[r].push_back(static_cast<int>(r) == call_.rank() ? nullptr
                                                               : call_.room((end - begin) * item_));
    for (std::size_t p = 0; p < pieces; ++p) {
      const auto [from, count] = piece(call_.rank(), p);
      for (const int other : call_.others())
        for (std::byte *room : rooms[static_cast<std::size_t>(other)])
          ready_[p] = call_.recv(other, room + (from - begin) * item_, count * item_);
      for (std::size_t r = 0; r < nodes_.size(); ++r)
        for (std::size_t n = 0; n < nodes_[r].size(); ++n)
          given_[p].push_back({nodes_[r][n], static_cast<int>(r) == call_.rank()
                                                 ? own_[n] + from * item_
                                                 : rooms[r][n] + (from - begin) * item_});
    }
  }
  void receive_results(std::byte *to) {
    if (!is_everywhere()) return;
    for (const int other : call_.others())
      for (std::size_t p = 0; p < pieces_of(other); ++p) {
        const auto [from, count] = piece(other, p);
        call_.recv(other, to + from * item_, count * item_);
      }
  }
  void send_parts() {
    std::size_t most_pieces = 0;
    for (const int other : call_.others()) most_pieces = std::max(most_pieces, pieces_of(other));
    for (std::size_t p = 0; p < most_pieces; ++p)
      for (const int other : call_.others()) {
        if (p >= pieces_of(other)) continue;
        const auto [from, count] = piece(other, p);
        for (const std::byte *values : own_)
          call_.send(other, values + from * item_, count * item_);
      }
  }
  void add_parts(std::byte *to) {
    const bool everywhere = is_everywhere();
    const std::size_t begin = share(call_.rank()).first;
    for (std::size_t p = 0; p < given_.size(); ++p) {
      call_.wait(ready_[p]);
      const auto [from, count] = piece(call_.rank(), p);
      std::byte *const at = to + (everywhere ? from : from - begin) * item_;
      combine_tree(combine_, root_of(what_.replicas), what_.replicas, given_[p], count, item_, at,
                   scratch_);
      if (everywhere)
        for (const int other : call_.others()) call_.send(other, at, count * item_);
    }
  }

private:
  /// Whether all ranks get all elements, of which each adds as many as any other.
  bool is_everywhere() const { return what_.ends.empty(); }
  /// The elements that a rank adds.
  std::pair<std::size_t, std::size_t> share(int rank) const {
    if (!is_everywhere()) {
      const auto r = static_cast<std::size_t>(rank);
      return {r == 0 ? 0 : what_.ends[r - 1], what_.ends[r]};
    }
    const auto [begin, end] =
        share_of(static_cast<std::int64_t>(what_.elements), rank, call_.size());
    return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
  }
  const std::vector<Node> &mine() const { return nodes_[static_cast<std::size_t>(call_.rank())]; }
  std::size_t bytes() const { return what_.elements * item_; }

  std::size_t piece_elements(int rank) const {
    const auto [begin, end] = share(rank);
    return piece_bytes((end - begin) * item_, call_.group().between_hosts) / item_;
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
  std::vector<const std::byte *> own_;         ///< this rank's nodes
  std::vector<std::vector<NodeValues>> given_; ///< those of all ranks, for each piece
  std::vector<std::size_t> ready_;
};

} // namespace

void reduce(Call &call, const Call::Common &common, std::span<const Reducing> whats,
            std::span<std::byte *const> to) {
  std::deque<Reducer> small, large;
  std::vector<std::byte *> small_to, large_to;
  std::size_t said_bytes = 0; // all ranks come to the same
  for (std::size_t i = 0; i < whats.size(); ++i) {
    Reducer reducer(call, whats[i]);
    reducer.combine_own();
    if (call.size() == 1) {
      reducer.copy(to[i]);
      continue;
    }
    const std::size_t bytes = reducer.most_bytes();
    const bool is_small = said_bytes + bytes <= kSmall;
    if (is_small) said_bytes += bytes;
    (is_small ? small : large).push_back(std::move(reducer));
    (is_small ? small_to : large_to).push_back(to[i]);
  }
  if (call.size() == 1) return;
  std::string said;
  for (const Reducer &reducer : small) reducer.say(said);
  const std::vector<std::string_view> all = call.meet(common, said);
  for (Reducer &reducer : large) reducer.receive_parts();
  for (std::size_t i = 0; i < large.size(); ++i) large[i].receive_results(large_to[i]);
  for (Reducer &reducer : large) reducer.send_parts();
  std::vector<std::size_t> at(all.size(), 0);
  for (std::size_t i = 0; i < small.size(); ++i) small[i].add(all, at, small_to[i]);
  for (std::size_t i = 0; i < large.size(); ++i) large[i].add_parts(large_to[i]);
  call.wait_all();
}

} // namespace weft::distributed
