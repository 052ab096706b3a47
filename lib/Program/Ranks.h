// What a program has all ranks of a group do together: which collectives, whether they come to all
// of them, and how ranks find out that their programs differ.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "Program/Program.h"

namespace weft {

/// The collectives of a program in order, with the control flow around them. Ranks that have equal
/// ones do the same together, whatever else their programs do, and whatever sizes their tensors
/// have, which each collective compares itself.
struct RanksSchedule {
  std::uint64_t digest = 0;       ///< 0 if there are none
  std::vector<std::string> lines; ///< "  all_reduce_sum [] 0 0 0 of f32 (train.py:41)"

  /// What the digest is of: a line without where it stands.
  static std::string_view without_place(std::string_view line);
};
RanksSchedule ranks_schedule_of(const Program &program);

/// Notes for the life of the scope that this thread runs a program with that schedule; null or an
/// empty one changes nothing. It must live as long.
class RanksScope {
public:
  // Inline, as every call of compiled code has one, and nearly none has collectives.
  explicit RanksScope(const RanksSchedule *schedule)
      : entered_(schedule != nullptr && schedule->digest != 0) {
    if (entered_) [[unlikely]]
      outer_ = exchange(schedule);
  }
  ~RanksScope() {
    if (entered_) [[unlikely]]
      exchange(outer_);
  }
  RanksScope(const RanksScope &) = delete;
  RanksScope &operator=(const RanksScope &) = delete;

  /// That of the innermost scope, or null.
  static const RanksSchedule *current();

private:
  /// Sets that of this thread, and gives the one before.
  static const RanksSchedule *exchange(const RanksSchedule *schedule);

  bool entered_;
  const RanksSchedule *outer_ = nullptr;
};

/// Throws ValueError, at its line, for a collective that some ranks of its group might come to and
/// others not: one under a condition, or in a loop, that is not known to be the same on all of
/// them. Known to be the same are constants, what collectives give to all ranks alike, and what is
/// computed of these.
void check_ranks_agree(const Program &program);

} // namespace weft
