// The schedule of a program's collectives, and which values are the same on all ranks.
#include "Program/Ranks.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "OpDefs/CollectiveSymbol.h"
#include "Program/Sites.h"
#include "Support/Digest.h"
#include "Support/Fault.h"

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

  void list(const Program &program, const std::vector<ProgramNode> &nodes, std::size_t depth) {
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
        if (node.result != kNoValue)
          line += " of " + std::string(name_of(program.values[node.result].dtype));
        lines_.push_back(line + behind);
        continue;
      }
      const ProgramConstruct &construct = *node.construct;
      line += site.name();
      for (const std::uint32_t wrt : construct.wrt) line += " " + std::to_string(wrt);
      lines_.push_back(line + behind);
      for (const ProgramRegion &region : construct.regions) {
        list(program, region.nodes, depth + 1);
        lines_.push_back(std::string(2 * depth, ' ') + "-");
      }
      if (construct.callee) list(*construct.callee, construct.callee->nodes, depth + 1);
    }
  }

private:
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

} // namespace

std::string_view RanksSchedule::without_place(std::string_view line) {
  return line.substr(0, line.find(kPlace));
}

RanksSchedule ranks_schedule_of(const Program &program) {
  RanksSchedule schedule;
  Lister(schedule).list(program, program.nodes, 0);
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

bool ranks_know_of_error() { return error_is_known; }
void set_ranks_know_of_error(bool know) { error_is_known = know; }

void tell_ranks_by(TellRanks *tell) { tells = tell; }
void tell_ranks(const RanksSchedule &schedule, const std::string &words) noexcept {
  TellRanks *const tell = tells;
  if (tell == nullptr || !schedule.of_world || error_is_known) return;
  tell(words);
  error_is_known = true;
}

//===----------------------------------------------------------------------===//
// Values that are the same on all ranks
//===----------------------------------------------------------------------===//

namespace {

/// The group on all ranks of which a value is the same: its number; 0 is the world, and so all
/// groups. kVaries is none.
using Same = std::int64_t;
constexpr Same kWorld = 0, kVaries = -1;

/// Of what is computed of both.
Same both(Same a, Same b) {
  if (a == kVaries || b == kVaries) return kVaries;
  if (a == kWorld) return b;
  return b == kWorld || a == b ? a : kVaries;
}

/// Whether all ranks of the group get the same of a collective.
bool gives_the_same(OpCode op) {
#define WEFT_COLLECTIVE(collective, function, same)                                                \
  if (op == OpCode::collective) return same;
#include "Collectives.inc"
#undef WEFT_COLLECTIVE
  return false;
}

/// What calls of programs gave, by what they were called with and the condition.
using Followed = std::map<std::tuple<const Program *, std::vector<Same>, Same>, std::vector<Same>>;

/// Follows values through a program and those that it calls.
class Follower {
public:
  Follower(const Program &program, Followed &followed)
      : program_(program), followed_(followed), same_(program.values.size()) {}

  /// Runs over a program with these inputs and captured tensors, under a condition that is so;
  /// gives what its outputs are.
  std::vector<Same> run(std::span<const Same> operands, Same condition) {
    std::size_t i = 0;
    for (const std::vector<ValueId> *ids : {&program_.inputs, &program_.captured})
      for (const ValueId id : *ids) {
        same_[id] = i < operands.size() ? operands[i] : kVaries;
        ++i;
      }
    walk(program_.nodes, condition);
    return of(program_.outputs);
  }

private:
  template <class Ids>
  std::vector<Same> of(const Ids &ids) const {
    std::vector<Same> all;
    for (const ValueId id : ids) all.push_back(same_[id]);
    return all;
  }

  void walk(const std::vector<ProgramNode> &nodes, Same condition) {
    for (const ProgramNode &node : nodes) {
      if (node.construct) walk(node, *node.construct, condition);
      else walk(node, condition);
    }
  }

  void walk(const ProgramNode &node, Same condition) {
    const OpInfo &info = op_info(node.op);
    Same same = info.reads_variable() ? kVaries : kWorld;
    if (info.kind == OpKind::collective) {
      const Same group = std::get<std::int64_t>(*attr_of(node.op, node.attrs, "group"));
      if (both(condition, group) != group) refuse(node);
      same = gives_the_same(node.op) ? group : kVaries;
    } else {
      for (const ValueId operand : node.operands) same = both(same, same_[operand]);
    }
    for (const ValueId result : results_of(node)) same_[result] = same;
  }

  /// A condition under which a construct runs what is in it.
  class Decided {
  public:
    Decided(Follower &follower, const ProgramNode &node, Same own)
        : follower_(follower), outer_(follower.decides_) {
      if (own != kWorld) follower.decides_ = &node;
    }
    ~Decided() { follower_.decides_ = outer_; }
    Decided(const Decided &) = delete;
    Decided &operator=(const Decided &) = delete;

  private:
    Follower &follower_;
    const ProgramNode *outer_;
  };

  void walk(const ProgramNode &node, const ProgramConstruct &construct, Same condition) {
    const std::vector<Same> operands = of(node.operands);
    const auto give = [&](std::size_t i, Same same) { same_[construct.results[i]] = same; };
    switch (construct.kind) {
    case ConstructKind::branch:
    case ConstructKind::choice: {
      const Decided here(*this, node, operands[0]);
      std::vector<Same> results(construct.results.size(), operands[0]);
      for (const ProgramRegion &region : construct.regions) {
        walk(region.nodes, both(condition, operands[0]));
        for (std::size_t i = 0; i < results.size(); ++i)
          results[i] = both(results[i], same_[region.results[i]]);
      }
      for (std::size_t i = 0; i < results.size(); ++i) give(i, results[i]);
      return;
    }
    case ConstructKind::loop: {
      std::vector<Same> state = operands;
      const auto turns = [&] {
        for (std::size_t i = 0; i < state.size(); ++i)
          same_[construct.regions[0].arguments[i]] = same_[construct.regions[1].arguments[i]] =
              state[i];
      };
      // Collectives in the condition run as often as it holds.
      Same holds = kWorld;
      until_stable(state, [&] {
        turns();
        {
          const Decided here(*this, node, holds);
          walk(construct.regions[0].nodes, both(condition, holds));
        }
        holds = both(holds, same_[construct.regions[0].results[0]]);
        const Decided here(*this, node, holds);
        walk(construct.regions[0].nodes, both(condition, holds));
        walk(construct.regions[1].nodes, both(condition, holds));
        return of(construct.regions[1].results);
      });
      for (std::size_t i = 0; i < state.size(); ++i) give(i, both(state[i], holds));
      return;
    }
    case ConstructKind::counted: {
      const Same turns = both(operands[0], operands[1]);
      const Decided here(*this, node, turns);
      std::vector<Same> state(operands.begin() + 2, operands.end());
      const ProgramRegion &body = construct.regions[0];
      until_stable(state, [&] {
        same_[body.arguments[0]] = operands[0];
        for (std::size_t i = 0; i < state.size(); ++i) same_[body.arguments[i + 1]] = state[i];
        walk(body.nodes, both(condition, turns));
        return of(body.results);
      });
      for (std::size_t i = 0; i < state.size(); ++i) give(i, both(state[i], turns));
      return;
    }
    case ConstructKind::call:
    case ConstructKind::record:
    case ConstructKind::push: {
      auto key = std::make_tuple(construct.callee.get(), operands, condition);
      auto found = followed_.find(key);
      if (found == followed_.end()) {
        std::vector<Same> given = Follower(*construct.callee, followed_).run(operands, condition);
        found = followed_.emplace(std::move(key), std::move(given)).first;
      }
      const std::vector<Same> &results = found->second;
      for (std::size_t i = 0; i < construct.results.size(); ++i)
        give(i, i < results.size() ? results[i] : kVaries);
      return;
    }
    case ConstructKind::custom:
      for (std::size_t i = 0; i < construct.results.size(); ++i) give(i, operands[i]);
      return;
    case ConstructKind::host:
    case ConstructKind::pull:
      for (std::size_t i = 0; i < construct.results.size(); ++i) give(i, kVaries);
      return;
    }
  }

  /// Weakens the state of a loop until a turn of it leaves it as it is.
  template <class Turn>
  static void until_stable(std::vector<Same> &state, const Turn &turn) {
    for (bool changed = true; changed;) {
      changed = false;
      const std::vector<Same> after = turn();
      for (std::size_t i = 0; i < state.size(); ++i) {
        const Same weaker = both(state[i], after[i]);
        changed |= weaker != state[i];
        state[i] = weaker;
      }
    }
  }

  [[noreturn]] void refuse(const ProgramNode &node) const {
    const Site site{&program_, &node};
    const char *const function = site.function();
    std::string where = "control flow around it";
    if (decides_ != nullptr) {
      const Site decides{&program_, decides_};
      where = std::string(decides.name());
      if (const std::string place = to_string(decides.location()); !place.empty())
        where += " (" + place + ")";
    }
    raise(ErrorKind::value,
          std::string(function != nullptr ? function : site.name()) + ": " + where +
              " decides whether this rank comes to it, by a value that may differ between ranks, "
              "and the others would wait for ever: let them decide alike, by what all_reduce, "
              "all_gather or broadcast gives, or take the collective out",
          site.location());
  }

  const Program &program_;
  Followed &followed_;
  std::vector<Same> same_;
  const ProgramNode *decides_ = nullptr; ///< the innermost construct that does, by what varies
};

} // namespace

void check_ranks_agree(const Program &program) {
  Followed followed;
  Follower(program, followed).run({}, kWorld);
}

} // namespace weft
