// The user's line of a collective that another language calls.
#pragma once

#include <string>

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

} // namespace weft::distributed::detail
