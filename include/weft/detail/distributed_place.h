// What another language tells collectives: the user's line, what an exchange is for, and arguments
// and errors that keep it from one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <weft/distributed.h>

namespace weft::distributed::detail {

/// While it lives, collectives of this thread tell other ranks that they are called at `place`,
/// "train.py:41".
class Place {
public:
  explicit Place(std::string place);
  ~Place();
  Place(const Place &) = delete;
  Place &operator=(const Place &) = delete;

  /// That of this thread; empty if there is none.
  static std::string current();

private:
  std::string outer_;
};

/// Has a part in a collective whose arguments this rank refuses, so that the others, which wait for
/// it, throw a StateError that names it. `function` lives for ever.
void refuse(const char *function, const Group &group) noexcept;
/// The same for an error of this rank, of whose words they quote the first 320 bytes.
void refuse(const char *function, const Group &group, const std::string &error) noexcept;

/// Whether the other ranks know of the error by which this thread breaks off, as it came of a
/// collective or they have been told.
bool ranks_know_of_error();
/// That what is done from now on has nothing to do with an error before.
void forget_error();

/// `all_reduce_replicas` of the world, outside of traces. Ranks that are not at the same, `what`,
/// have a StateError that says so; also where there are no tensors.
std::vector<Tensor> reduce_replicas(const std::vector<std::vector<Tensor>> &xs,
                                    std::int64_t replicas, Reduction reduction,
                                    const std::string &what);

} // namespace weft::distributed::detail
