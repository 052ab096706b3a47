// The user's line of a collective that another language calls, and arguments that it cannot take.
#pragma once

#include <string>

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

private:
  std::string outer_;
};

/// Has a part in a collective whose arguments this rank refuses, so that the others, which wait for
/// it, throw a StateError that names it. `function` lives for ever.
void refuse(const char *function, const Group &group) noexcept;
/// The same for an error of this rank, of whose words they quote the first 320 bytes.
void refuse(const char *function, const Group &group, const std::string &error) noexcept;

} // namespace weft::distributed::detail
