// What training does together: many tensors reduced over replicas in few exchanges, and words that
// all ranks have to have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <weft/distributed.h>

namespace weft::distributed {

/// Who does it: the function that the user called, which lives for ever, and where.
struct Caller {
  const char *function;
  std::source_location where;
};

/// Which elements of a tensor, in row-major order, a rank gets: from the first to before the
/// second. Each is one rank's, of which all ranks know.
using PartOf = std::function<std::pair<std::int64_t, std::int64_t>(std::size_t tensor, int rank)>;

/// Lists of tensors, one for each of this rank's replicas, of the same dtypes and shapes.
struct Lists {
  Reduction reduction;
  const std::vector<std::vector<Tensor>> &leaves;
  /// If it is not empty, a rank gets its part of each tensor alone, of one dimension.
  PartOf part_of = {};
};

/// Reduces many tensors over `replicas` replicas, of which this rank has its share; gives one list
/// for each of `lists`. All ranks get the same bits, or those of their parts. Those of a dtype go
/// together, in exchanges of `bucket_bytes` or of one tensor. Ranks meet once for several:
/// exchanges are under way while earlier ones are added. `what` is said where ranks do not do the
/// same, a StateError.
std::vector<std::vector<Tensor>>
reduce_in_buckets(const Caller &caller, const Group &group, std::int64_t replicas,
                  std::span<const Lists> lists, const std::string &what, std::size_t bucket_bytes);

/// Whether ranks of a group are on different hosts, which all of them know.
bool on_several_hosts(const Group &group);

/// Gives all ranks the whole of a run of bytes, a tensor of u8 on the host, of which each has a
/// part already: rank r that from `ends[r - 1]` to `ends[r]`. What is short goes with the meeting.
void gather_run(const Caller &caller, const Group &group, const std::string &what,
                std::span<const std::size_t> ends, const Tensor &run);

/// A few bytes of each rank, all of one length; `what` is the same on all ranks, or else it is a
/// StateError on all of them, which has both.
std::vector<std::string> exchange_bytes(const Caller &caller, const Group &group,
                                        const std::string &what, std::string_view bytes);

/// The same of texts of any lengths.
std::vector<std::string> exchange_texts(const Caller &caller, const Group &group,
                                        const std::string &what, const std::string &text);

/// Lines that all ranks have to have in common, of which the first that differs is a StateError on
/// all of them.
void compare_lines(const Caller &caller, const Group &group, const std::vector<std::string> &lines);

} // namespace weft::distributed
