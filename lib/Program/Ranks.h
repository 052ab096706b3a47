// What a program has all ranks of a group do together: which collectives, whether they come to all
// of them, and how ranks find out that their programs differ.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "Program/Program.h"

namespace weft {

/// The collectives of a program in order, with the control flow around them, and the constants that
/// decide it. Ranks that have equal ones do the same together, whatever else their programs do, and
/// whatever sizes their tensors have, which each collective compares itself.
struct RanksSchedule {
  std::uint64_t digest = 0;       ///< 0 if there are none
  std::vector<std::string> lines; ///< "  all_reduce_sum [] 0 0 0 of f32 (train.py:41)"
  bool of_world = true;           ///< whether all ranks of the world are in each
  std::set<std::int64_t> groups;  ///< the numbers of their groups

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

/// Keeps other threads, for the life of the scope, from programs with collectives of the groups
/// that a schedule has: each rank might come to what they do together in another order. Nothing in
/// a world of one rank, or of groups that an outer scope of this thread has.
class GroupsScope {
public:
  /// Throws StateError, which names both functions, if another thread is in such a program. What
  /// the ranks have exchanged cannot be trusted then, and all of them fail where they meet next.
  GroupsScope(const RanksSchedule &schedule, const std::string &function);
  ~GroupsScope();
  GroupsScope(const GroupsScope &) = delete;
  GroupsScope &operator=(const GroupsScope &) = delete;

  /// Throws StateError, of a call of that function, if another thread is in a program with
  /// collectives of the group.
  static void check_free(std::int64_t group, const char *function);

private:
  std::vector<std::int64_t> taken_;
};

/// Whether the other ranks know of the error by which this thread breaks off: one of a collective,
/// or one that they have been told. Collectives that begin set it to false.
bool ranks_know_of_error();
void set_ranks_know_of_error(bool know);

/// Has the other ranks of the world hear of an error, of whose words they quote some, where they
/// meet next.
using TellRanks = void(const std::string &words) noexcept;
/// What does so from now on; a world of several ranks says it when it begins.
void tell_ranks_by(TellRanks *tell);
/// Has all ranks of the world fail where they meet next; a world of several ranks says by what.
using BreakRanks = void(const std::string &words) noexcept;
void break_ranks_by(BreakRanks *breaks);
/// Whether the world has several ranks.
bool has_several_ranks();
/// Tells the others, which would wait for the collectives of the schedule, of an error that ends a
/// program on this rank, unless they know of it.
void tell_ranks(const RanksSchedule &schedule, const std::string &words) noexcept;

/// Throws ValueError, at its line, for a collective that some ranks of its group might come to and
/// others not: one under a condition, or in a loop, that is not known to be the same on all of
/// them. Known to be the same are constants, which schedules have, what collectives give to all
/// ranks alike, and what is computed of these.
void check_ranks_agree(const Program &program);

} // namespace weft
