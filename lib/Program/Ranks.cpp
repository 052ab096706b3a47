// The schedule of a program's collectives, and what ranks hear of errors.
#include "Program/Ranks.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "OpDefs/CollectiveSymbol.h"
#include "OpDefs/OpAttrs.h"
#include "Program/RanksAgree.h"
#include "Program/RanksKnown.h"
#include "Program/Sites.h"
#include "Runtime/Variable.h"
#include "Support/Digest.h"
#include "Support/Fault.h"
#include "Support/Fork.h"

namespace weft {

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

namespace {

constexpr std::string_view kPlace = " (";

/// Lists collectives; control flow without any leaves no line. Of a program that is cut over ranks
/// all ops are listed, since the collectives that the compiler adds follow from all of them.
class Lister {
public:
  explicit Lister(RanksSchedule &schedule) : schedule_(schedule), lines_(schedule.lines) {}

  void list(const Program &program) {
    all_ = finds(program.nodes, cut_,
                 [](const ProgramNode &node) { return node.op == OpCode::shard; });
    for (const VariableRef &variable : program.variables)
      if (const auto cut = variable->cut()) {
        schedule_.groups.insert(cut->group);
        schedule_.of_world &= cut->group == 0;
        gathered_.insert(variable.get());
      }
    if (!gathered_.empty()) find_gathered(program);
    const bool decides = std::ranges::any_of(
        program.nodes, [&](const ProgramNode &node) { return node.construct && has_any(node); });
    const auto followed = decides ? decisions_of(program) : nullptr;
    list(program, program.nodes, followed.get(), 0);
    list_outputs(program, 0);
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
      if (!node.construct && op_info(node.op).kind != OpKind::collective) {
        const auto use = uses_.find(&node);
        lines_.push_back(
            line +
            (all_ ? described(program, node) : std::string(op_info(node.op).name) + use->second) +
            behind);
        continue;
      }
      if (!node.construct) {
        line += collective_symbol(node.op, node.attrs).substr(kCollectivePrefix.size());
        const Attr *const group = attr_of(node.op, node.attrs, "group");
        schedule_.of_world &= group != nullptr && std::get<std::int64_t>(*group) == 0;
        if (group != nullptr) schedule_.groups.insert(std::get<std::int64_t>(*group));
        if (node.op == OpCode::shard) add_groups(ShardAttrs(node.attrs));
        if (node.result != kNoValue)
          line += " of " + std::string(name_of(program.values[node.result].dtype));
        lines_.push_back(line + behind);
        continue;
      }
      const ProgramConstruct &construct = *node.construct;
      line += site.name();
      if (all_) line += numbers(node.operands);
      for (const std::uint32_t wrt : construct.wrt) line += " " + std::to_string(wrt);
      if (const auto by = decisions->words.find(&node); by != decisions->words.end())
        line += by->second;
      lines_.push_back(line + behind);
      for (const ProgramRegion &region : construct.regions) {
        list(program, region.nodes, decisions, depth + 1);
        lines_.push_back(std::string(2 * depth, ' ') + "-");
      }
      if (construct.callee) list_call(*construct.callee, *decisions->calls.at(&node), depth + 1);
    }
  }
  void list_call(const Program &callee, const RanksDecisions &decisions, std::size_t depth) {
    list(callee, callee.nodes, &decisions, depth);
    list_outputs(callee, depth);
  }

  void list_outputs(const Program &program, std::size_t depth) {
    if (all_) lines_.push_back(std::string(2 * depth, ' ') + "return" + numbers(program.outputs));
  }
  template <class Ids>
  static std::string numbers(const Ids &ids) {
    std::string text;
    for (const ValueId id : ids) text += " %" + std::to_string(id);
    return text;
  }
  /// An op without what may differ: texts, and the elements of constants.
  static std::string described(const Program &program, const ProgramNode &node) {
    ranks::Mixed attrs("");
    for (const Attr &attr : node.attrs)
      if (!std::holds_alternative<std::string>(attr) && !std::holds_alternative<ConstantRef>(attr))
        attrs.add(attr);
    std::string line = std::string(op_info(node.op).name) + numbers(node.operands);
    if (node.result != kNoValue) line += " of " + to_string(program.values[node.result]);
    return line + " [" + std::to_string(attrs.digest() % 100000000) + "]";
  }
  /// The groups along all sets of the mesh's axes.
  void add_groups(const ShardAttrs &shard) {
    for (std::int64_t i = 0; i < (std::int64_t{1} << shard.mesh.size()) - 2; ++i)
      schedule_.groups.insert(shard.first + i);
  }

  using Known = std::unordered_map<const Program *, bool>;
  /// Whether there is such an op; of what is called often it is found once.
  bool finds(const ProgramNode &node, Known &known, const auto &is_one) {
    if (!node.construct) return is_one(node);
    for (const ProgramRegion &region : node.construct->regions)
      if (finds(region.nodes, known, is_one)) return true;
    const Program *const callee = node.construct->callee.get();
    if (callee == nullptr) return false;
    if (const auto found = known.find(callee); found != known.end()) return found->second;
    const bool any = finds(callee->nodes, known, is_one);
    known.emplace(callee, any);
    return any;
  }
  bool finds(const std::vector<ProgramNode> &nodes, Known &known, const auto &is_one) {
    return std::ranges::any_of(nodes,
                               [&](const ProgramNode &node) { return finds(node, known, is_one); });
  }
  bool has_any(const ProgramNode &node) {
    return all_ || finds(node, known_, [&](const ProgramNode &op) {
             return op_info(op.op).kind == OpKind::collective || uses_.contains(&op);
           });
  }

  /// The ops that use variables in parts, which the compiler gathers before them. Sizes of what
  /// they are used with may differ, as those of a rank's rows do.
  void find_gathered(const Program &program) {
    if (!walked_.insert(&program).second) return;
    std::unordered_map<ValueId, std::string> names;
    find_gathered(program.nodes, names);
  }
  void find_gathered(const std::vector<ProgramNode> &nodes,
                     std::unordered_map<ValueId, std::string> &names) {
    for (const ProgramNode &node : nodes) {
      if (node.construct) {
        for (const ProgramRegion &region : node.construct->regions)
          find_gathered(region.nodes, names);
        if (node.construct->callee) find_gathered(*node.construct->callee);
        continue;
      }
      std::string used;
      if (node.op == OpCode::read) {
        const VariableRef &variable = *variable_in(node.attrs);
        if (!gathered_.contains(variable.get())) continue;
        used = " '" + variable->name() + "'";
        names.emplace(node.result, used);
      }
      for (const ValueId operand : node.operands)
        if (const auto name = names.find(operand); name != names.end()) used += name->second;
      if (!used.empty()) uses_.emplace(&node, std::move(used));
    }
  }

  RanksSchedule &schedule_;
  std::vector<std::string> &lines_;
  Known known_, cut_;
  std::unordered_set<const VariableState *> gathered_;
  std::unordered_set<const Program *> walked_;
  std::unordered_map<const ProgramNode *, std::string> uses_; ///< of gathered variables, by names
  bool all_ = false;
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
