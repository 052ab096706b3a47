// Live ranges in the order of the text, stretched over loops, and a linear scan over them.
#include "Emulator/Program/Registers.h"

#include <algorithm>
#include <map>

namespace weft::emulator {
namespace {

/// From the first statement that a register occurs in to the last, both included.
struct Range {
  std::size_t begin = ~std::size_t{0}, end = 0;
  /// Whether what it holds may come from a later statement: it is not written, once and without a
  /// condition, where it occurs first.
  bool may_come_around = true;
  bool occurs() const { return begin <= end; }
};

/// A branch from one statement to another.
struct Edge {
  std::size_t from, to;
};

std::vector<Range> find_ranges(const ptx::Function &function) {
  std::vector<Range> ranges(function.registers.size());
  std::vector<int> writes(function.registers.size());
  for (std::size_t at = 0; at < function.statements.size(); ++at) {
    const ptx::Statement &statement = function.statements[at];
    const auto occurs = [&](int number) {
      Range &range = ranges[static_cast<std::size_t>(number)];
      range.begin = std::min(range.begin, at);
      range.end = std::max(range.end, at);
    };
    if (statement.guard >= 0) occurs(statement.guard);
    for (std::size_t i = statement.operands.size(); i-- > 0;) // sources first
      for_registers(statement.operands[i], [&](int number) {
        Range &range = ranges[static_cast<std::size_t>(number)];
        const bool written = i == 0 && statement.operands[0].kind != ptx::OperandKind::address;
        if (written) ++writes[static_cast<std::size_t>(number)];
        if (!range.occurs() && written && statement.guard < 0) range.may_come_around = false;
        occurs(number);
      });
  }
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (writes[i] != 1) ranges[i].may_come_around = true;
  return ranges;
}

std::vector<Edge> find_edges(const ptx::Function &function) {
  std::vector<Edge> edges;
  const auto add = [&](std::size_t from, std::string_view name) {
    if (const auto label = function.labels.find(name); label != function.labels.end())
      edges.push_back({from, label->second.statement});
  };
  for (std::size_t at = 0; at < function.statements.size(); ++at) {
    const ptx::Statement &statement = function.statements[at];
    if (!statement.opcode.starts_with("br")) continue;
    for (const ptx::Operand &operand : statement.operands) {
      if (operand.kind != ptx::OperandKind::name) continue;
      add(at, operand.name);
      if (const auto list = function.labels.find(operand.name); list != function.labels.end())
        for (const std::string_view name : list->second.targets) add(at, name);
    }
  }
  return edges;
}

/// What is written under a branch that may be passed by may come from an earlier iteration.
void find_skipped(std::vector<Range> &ranges, const std::vector<Edge> &edges) {
  std::map<std::size_t, std::size_t> first_from; // by target
  for (const Edge &edge : edges)
    if (const auto [found, is_new] = first_from.emplace(edge.to, edge.from); !is_new)
      found->second = std::min(found->second, edge.from);
  for (Range &range : ranges)
    for (auto at = first_from.upper_bound(range.begin);
         !range.may_come_around && at != first_from.end() && at->first <= range.end; ++at)
      range.may_come_around = at->second < range.begin;
}

/// A register that is live anywhere in a loop and comes from before it, or around it, or is read
/// behind it, is live in all of it.
void stretch(std::vector<Range> &ranges, const std::vector<Edge> &edges) {
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto &[end, begin] : edges) {
      if (begin > end) continue;
      for (Range &range : ranges) {
        if (!range.occurs() || range.end < begin || range.begin > end) continue;
        const bool inside = range.begin >= begin && range.end <= end;
        if (inside && !range.may_come_around) continue;
        const Range before = range;
        range.begin = std::min(range.begin, begin);
        range.end = std::max(range.end, end);
        changed = changed || before.begin != range.begin || before.end != range.end;
      }
    }
  }
}

} // namespace

RegisterPlan plan_registers(const ptx::Function &function, const std::vector<bool> &elsewhere) {
  std::vector<Range> ranges = find_ranges(function);
  const std::vector<Edge> edges = find_edges(function);
  find_skipped(ranges, edges);
  stretch(ranges, edges);
  RegisterPlan plan;
  plan.slots.assign(ranges.size(), kNoSlot);
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < ranges.size(); ++i)
    if (ranges[i].occurs() && !elsewhere[i]) order.push_back(i);
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(ranges[a].begin, a) < std::pair(ranges[b].begin, b);
  });
  std::multimap<std::size_t, std::size_t> live; // registers by the end of their range
  std::map<int, std::vector<Slot>> free;        // by bits
  for (const std::size_t i : order) {
    while (!live.empty() && live.begin()->first < ranges[i].begin) {
      const std::size_t over = live.begin()->second;
      free[function.registers[over].bits].push_back(plan.slots[over]);
      live.erase(live.begin());
    }
    const int bits = function.registers[i].bits;
    if (std::vector<Slot> &slots = free[bits]; !slots.empty()) {
      plan.slots[i] = slots.back();
      slots.pop_back();
    } else {
      plan.slots[i] = plan.bytes;
      plan.bytes += (lane_bytes(bits) + 63) / 64 * 64;
    }
    live.emplace(ranges[i].end, i);
  }
  return plan;
}

} // namespace weft::emulator
