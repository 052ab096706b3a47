// The schedule of a program's collectives, and what ranks hear of errors.
#include "Program/Ranks.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "OpDefs/CollectiveSymbol.h"
#include "Program/RanksAgree.h"
#include "Program/Sites.h"
#include "Support/Digest.h"
#include "Support/Fault.h"
#include "Support/Fork.h"

namespace weft {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {

constexpr std::string_view kPlace = " (";

/// Lists collectives; control flow without any leaves no line.
class Lister {
public:
  explicit Lister(RanksSchedule &schedule) : schedule_(schedule), lines_(schedule.lines) {}

  void list(const Program &program) {
    const bool decides = std::ranges::any_of(
        program.nodes, [&](const ProgramNode &node) { return node.construct && has_any(node); });
    const auto followed = decides ? decisions_of(program) : nullptr;
    list(program, program.nodes, followed.get(), 0);
  }

private:
  /// `decisions` are those of this walk through the program.
  void list(const Program &program, const std::vector<ProgramNode> &nodes,
            const RanksDecisions *decisions, std::size_t depth) {
    for (const ProgramNode &node : nodes) {
      if (!has_any(node)) continue;
      const Site site{&program, &node};
      const std::string place = to_string(site.location());
      const std::string behind = place.empty() ? "" : std::string(kPlace) + place + ")";
      std::string line(2 * depth, ' ');
      if (!node.construct) {
        line += collective_symbol(node.op, node.attrs).substr(kCollectivePrefix.size());
        const Attr *const group = attr_of(node.op, node.attrs, "group");
        schedule_.of_world &= group != nullptr && std::get<std::int64_t>(*group) == 0;
        if (group != nullptr) schedule_.groups.insert(std::get<std::int64_t>(*group));
        if (node.result != kNoValue)
          line += " of " + std::string(name_of(program.values[node.result].dtype));
        lines_.push_back(line + behind);
        continue;
      }
      const ProgramConstruct &construct = *node.construct;
      line += site.name();
      for (const std::uint32_t wrt : construct.wrt) line += " " + std::to_string(wrt);
      if (const auto by = decisions->words.find(&node); by != decisions->words.end())
        line += by->second;
      lines_.push_back(line + behind);
      for (const ProgramRegion &region : construct.regions) {
        list(program, region.nodes, decisions, depth + 1);
        lines_.push_back(std::string(2 * depth, ' ') + "-");
      }
      if (construct.callee)
        list(*construct.callee, construct.callee->nodes, decisions->calls.at(&node), depth + 1);
    }
  }

  bool has_any(const ProgramNode &node) {
    if (!node.construct) return op_info(node.op).kind == OpKind::collective;
    for (const ProgramRegion &region : node.construct->regions)
      if (has_any(region.nodes)) return true;
    const Program *const callee = node.construct->callee.get();
    if (callee == nullptr) return false;
    // Of what is called often it is found once.
    if (const auto known = known_.find(callee); known != known_.end()) return known->second;
    const bool any = has_any(callee->nodes);
    known_.emplace(callee, any);
    return any;
  }
  bool has_any(const std::vector<ProgramNode> &nodes) {
    return std::ranges::any_of(nodes, [&](const ProgramNode &node) { return has_any(node); });
  }

  RanksSchedule &schedule_;
  std::vector<std::string> &lines_;
  std::unordered_map<const Program *, bool> known_;
};

thread_local constinit const RanksSchedule *present = nullptr;
thread_local constinit bool error_is_known = false;
std::atomic<TellRanks *> tells = nullptr;
std::atomic<BreakRanks *> breaks = nullptr;

/// The groups of programs that threads are in.
struct GroupsInUse {
  struct Use {
    std::thread::id by;
    std::string function;
  };
  forks::Mutex<std::mutex> lock;
  std::map<std::int64_t, Use> uses;

  /// The function that another thread is in, or ""; with the lock held.
  std::string other_function(std::int64_t group) const {
    const auto use = uses.find(group);
    const bool is_other = use != uses.end() && use->second.by != std::this_thread::get_id();
    return is_other ? use->second.function : std::string();
  }
};
GroupsInUse &in_use() {
  static auto &groups = *new GroupsInUse;
  return groups;
}

std::string words_of_other(const std::string &function, const std::string &other) {
  return function + ": another thread is in " + other +
         ", which has collectives of the same group: give each thread a group of its own, by split";
}

} // namespace

std::string_view RanksSchedule::without_place(std::string_view line) {
  return line.substr(0, line.find(kPlace));
}

RanksSchedule ranks_schedule_of(const Program &program) {
  RanksSchedule schedule;
  Lister(schedule).list(program);
  if (schedule.lines.empty()) return schedule;
  Sha256 sum;
  for (const std::string &line : schedule.lines) sum.text(RanksSchedule::without_place(line));
  const Digest digest = sum.finish();
  for (std::size_t i = 0; i < sizeof schedule.digest; ++i)
    schedule.digest = schedule.digest << 8 | digest[i];
  return schedule;
}

const RanksSchedule *RanksScope::exchange(const RanksSchedule *schedule) {
  return std::exchange(present, schedule);
}
const RanksSchedule *RanksScope::current() { return present; }

GroupsScope::GroupsScope(const RanksSchedule &schedule, const std::string &function) {
  if (!has_several_ranks()) return;
  GroupsInUse &groups = in_use();
  std::string other;
  {
    const std::lock_guard lock(groups.lock);
    for (const std::int64_t group : schedule.groups)
      if (other.empty()) other = groups.other_function(group);
    if (other.empty()) {
      for (const std::int64_t group : schedule.groups)
        if (groups.uses.try_emplace(group, std::this_thread::get_id(), function).second)
          taken_.push_back(group);
      return;
    }
  }
  const std::string words = words_of_other(function, other);
  breaks.load()(words);
  raise(ErrorKind::state, words);
}

GroupsScope::~GroupsScope() {
  if (taken_.empty()) return;
  GroupsInUse &groups = in_use();
  const std::lock_guard lock(groups.lock);
  for (const std::int64_t group : taken_) groups.uses.erase(group);
}

void GroupsScope::check_free(std::int64_t group, const char *function) {
  if (!has_several_ranks()) return;
  GroupsInUse &groups = in_use();
  std::string other;
  {
    const std::lock_guard lock(groups.lock);
    other = groups.other_function(group);
  }
  if (!other.empty()) raise(ErrorKind::state, words_of_other(function, other));
}

bool ranks_know_of_error() { return error_is_known; }
void set_ranks_know_of_error(bool know) { error_is_known = know; }

void tell_ranks_by(TellRanks *tell) { tells = tell; }
void break_ranks_by(BreakRanks *by) { breaks = by; }
bool has_several_ranks() { return breaks.load() != nullptr; }
void tell_ranks(const RanksSchedule &schedule, const std::string &words) noexcept {
  TellRanks *const tell = tells;
  if (tell == nullptr || !schedule.of_world || error_is_known) return;
  tell(words);
  error_is_known = true;
}

} // namespace weft
