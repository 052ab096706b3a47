// How collectives cut what they move, and what that costs on a network of given latency and
// bandwidth.
#pragma once

#include <algorithm>
#include <cstddef>

namespace weft::distributed {

/// At most so many bytes go with the words by which ranks meet.
inline constexpr std::size_t kSmall = 6 << 10;

/// The bytes of a piece of a rank's share of a reduction. Between hosts they are what MPI's
/// libraries send at once: a longer message asks its receiver first, and the answer comes behind
/// all that is under way already.
constexpr std::size_t piece_bytes(std::size_t share, bool between_hosts) {
  if (between_hosts) return 60 << 10;
  return std::clamp<std::size_t>(share / 8, 1 << 16, 1 << 19);
}

/// What is between two ranks, each with a network card of its own.
struct Link {
  double latency;   ///< seconds until a short message is there
  double message;   ///< seconds of the processor that one message more takes
  double bandwidth; ///< bytes a second, in each direction
};

/// The seconds of an all_reduce of so many bytes on each of the ranks. Few bytes go to everybody;
/// of many each rank gets the parts of its share, and sends the sum (Thakur, Rabenseifner & Gropp,
/// Int. J. High Perform. Comput. Appl. 19, 2005, compare such schedules). Additions run meanwhile.
constexpr double all_reduce_seconds(const Link &link, std::size_t ranks, std::size_t bytes) {
  if (ranks == 1) return 0;
  constexpr std::size_t kWords = 200; // of a header, with names and lines
  const auto others = static_cast<double>(ranks - 1);
  // A card sends its messages one after the other, whatever processors do meanwhile.
  const auto sent = [&](double messages, double each) {
    return messages * std::max(link.message, each / link.bandwidth);
  };
  const bool few = bytes <= kSmall;
  const double meet = link.latency + sent(others, static_cast<double>(kWords + (few ? bytes : 0)));
  if (few) return meet;
  const std::size_t share = (bytes + ranks - 1) / ranks, piece = piece_bytes(share, true),
                    pieces = (share + piece - 1) / piece;
  return meet + 2 * link.latency +
         sent(2 * others * static_cast<double>(pieces),
              static_cast<double>(share) / static_cast<double>(pieces));
}

} // namespace weft::distributed
