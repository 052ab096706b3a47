// Follows values through a program: which are the same on all ranks, and what they are computed of.
#include "Program/RanksAgree.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "OpDefs/CollectiveSymbol.h"
#include "Program/Ranks.h"
#include "Program/RanksKnown.h"
#include "Program/Sites.h"
#include "Support/Fault.h"

namespace weft {

namespace {

using namespace ranks;

/// What one walk through a program gave.
struct Walk {
  std::vector<Known> results;
  RanksDecisions decisions;
};

/// What walks share.
struct Followed {
  /// What operands are, and the condition, and how many loops are around the call.
  using Key =
      std::tuple<const Program *, std::vector<std::pair<Same, std::uint64_t>>, Same, std::uint32_t>;
  bool checks; ///< whether collectives are refused that some ranks might not come to
  std::map<Key, Walk> calls = {};
  Walk outermost = {};
};

/// Follows values through a program and those that it calls.
class Follower {
public:
  Follower(const Program &program, Followed &followed, std::uint32_t depth = 0)
      : program_(program), followed_(followed), known_(program.values.size()), depth_(depth) {}

  /// Runs over a program with these inputs and captured tensors, under a condition that is so.
  Walk run(std::span<const Known> operands, Same condition) {
    const std::size_t inputs = program_.inputs.size();
    for (std::size_t i = 0; i < inputs + program_.captured.size(); ++i) {
      Known known = i < operands.size() ? operands[i] : varying();
      // Who made constants captured tensors has checked the program before.
      if (i >= inputs && known.varies() && !followed_.checks)
        known = constant_of(program_.captures[i - inputs]).value_or(varying());
      known_[i < inputs ? program_.inputs[i] : program_.captured[i - inputs]] = std::move(known);
    }
    walk(program_.nodes, condition);
    walk_.results = of(program_.outputs);
    return std::move(walk_);
  }

private:
  template <class Ids>
  std::vector<Known> of(const Ids &ids) const {
    std::vector<Known> all;
    for (const ValueId id : ids) all.push_back(known_[id]);
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
    const auto all = [&](const Known &known) {
      std::uint64_t number = 0;
      for (const ValueId result : results_of(node))
        known_[result] = number++ == 0 ? known : Computed(info.name).of(known).by(number).known();
    };
    if (info.kind == OpKind::collective) {
      const Same group = std::get<std::int64_t>(*attr_of(node.op, node.attrs, "group"));
      if (followed_.checks && both(condition, group) != group) refuse(node);
      if (!gives_the_same(node.op)) return all(varying());
      Known given = Computed(collective_symbol(node.op, node.attrs)).known();
      given.same = group;
      return all(given);
    }
    if (info.reads_variable()) return all(varying());
    if (node.op == OpCode::constant) return all(constant_of(*ConstantAttrs(node.attrs).value));
    Computed computed(info.name);
    for (const ValueId operand : node.operands) computed.of(known_[operand]);
    for (const Attr &attr : node.attrs) computed.by(attr);
    // Sizes of others may be known here and open on other ranks.
    if (node.operands.empty() && node.result != kNoValue) computed.by(program_.values[node.result]);
    Known known = computed.known();
    if (node.op == OpCode::cast && is_integer(program_.values[node.result].dtype))
      known.number = known_[node.operands[0]].number;
    all(known);
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
    const std::vector<Known> operands = of(node.operands);
    const auto give = [&](std::size_t i, Known known) {
      known_[construct.results[i]] = std::move(known);
    };
    switch (construct.kind) {
    case ConstructKind::branch:
    case ConstructKind::choice: {
      const Known &by = operands[0];
      const Decided here(*this, node, by.same);
      std::string words = words_of(by);
      if (by.number && construct.kind == ConstructKind::choice)
        words = " on " + std::to_string(*by.number);
      else if (by.number) words = *by.number != 0 ? " on true" : " on false";
      walk_.decisions.words[&node] = std::move(words);
      std::vector<Computed> results(construct.results.size(), Computed("cond").of(by));
      for (const ProgramRegion &region : construct.regions) {
        walk(region.nodes, both(condition, by.same));
        for (std::size_t i = 0; i < results.size(); ++i) results[i].of(known_[region.results[i]]);
      }
      for (std::size_t i = 0; i < results.size(); ++i) give(i, results[i].known());
      return;
    }
    case ConstructKind::loop: {
      const ProgramRegion &holding = construct.regions[0], &body = construct.regions[1];
      std::vector<Same> state = same_of(operands);
      // Collectives in the condition run as often as it holds.
      Known holds;
      const auto turn = [&](const std::vector<Known> &arguments) {
        for (std::size_t i = 0; i < state.size(); ++i)
          known_[holding.arguments[i]] = known_[body.arguments[i]] = arguments[i];
        const Decided here(*this, node, holds.same);
        walk(holding.nodes, both(condition, holds.same));
        walk(body.nodes, both(condition, holds.same));
        return of(body.results);
      };
      ++depth_;
      const std::vector<Known> after = until_stable(state, [&](const std::vector<Known> &before) {
        for (std::size_t i = 0; i < state.size(); ++i)
          known_[holding.arguments[i]] = known_[body.arguments[i]] = before[i];
        {
          const Decided here(*this, node, holds.same);
          walk(holding.nodes, both(condition, holds.same));
        }
        const Same held = holds.same;
        holds = known_[holding.results[0]];
        holds.same = both(holds.same, held);
        return turn(before);
      });
      holds = resolved(holds, operands, after);
      const std::vector<Known> known = resolved_state(state, operands, after);
      --depth_;
      turn(known);
      walk_.decisions.words[&node] = words_of(holds);
      for (std::size_t i = 0; i < state.size(); ++i)
        give(i, Computed("while_loop").of(holds).of(known[i]).known());
      return;
    }
    case ConstructKind::counted: {
      const Known turns = Computed("turns")
                              .of(operands[0])
                              .of(operands[1])
                              .by(static_cast<std::uint64_t>(construct.step))
                              .known();
      const Decided here(*this, node, turns.same);
      const std::vector<Known> first(operands.begin() + 2, operands.end());
      std::vector<Same> state = same_of(first);
      const ProgramRegion &body = construct.regions[0];
      const auto turn = [&](const std::vector<Known> &arguments) {
        known_[body.arguments[0]] =
            Computed("turn").of(operands[0]).by(std::uint64_t{depth_}).known();
        for (std::size_t i = 0; i < state.size(); ++i) known_[body.arguments[i + 1]] = arguments[i];
        walk(body.nodes, both(condition, turns.same));
        return of(body.results);
      };
      ++depth_;
      const std::vector<Known> after = until_stable(state, turn);
      const std::vector<Known> known = resolved_state(state, first, after);
      turn(known);
      --depth_;
      walk_.decisions.words[&node] =
          words_of_turns(operands[0], operands[1], construct.step, turns);
      for (std::size_t i = 0; i < state.size(); ++i)
        give(i, Computed("for_loop").of(turns).of(known[i]).known());
      return;
    }
    case ConstructKind::call:
    case ConstructKind::record:
    case ConstructKind::push: {
      const Walk &walk = called(node, operands, condition);
      for (std::size_t i = 0; i < construct.results.size(); ++i)
        give(i, i < walk.results.size() ? walk.results[i] : varying());
      return;
    }
    case ConstructKind::custom:
      if (!followed_.checks) called(node, {}, condition);
      for (std::size_t i = 0; i < construct.results.size(); ++i) give(i, operands[i]);
      return;
    case ConstructKind::host:
    case ConstructKind::pull:
      for (std::size_t i = 0; i < construct.results.size(); ++i) give(i, varying());
      return;
    }
  }

  const Walk &called(const ProgramNode &node, const std::vector<Known> &operands, Same condition) {
    const Program *const callee = node.construct->callee.get();
    std::vector<std::pair<Same, std::uint64_t>> known;
    for (const Known &operand : operands) known.emplace_back(operand.same, operand.how);
    Followed::Key key(callee, std::move(known), condition, depth_);
    auto found = followed_.calls.find(key);
    if (found == followed_.calls.end()) {
      Walk walk = Follower(*callee, followed_, depth_).run(operands, condition);
      found = followed_.calls.emplace(std::move(key), std::move(walk)).first;
    }
    walk_.decisions.calls[&node] = &found->second.decisions;
    return found->second;
  }

  //===--------------------------------------------------------------------===//
  // The state of loops
  //===--------------------------------------------------------------------===//

  static std::vector<Same> same_of(const std::vector<Known> &all) {
    std::vector<Same> same;
    for (const Known &one : all) same.push_back(one.same);
    return same;
  }

  /// An element of the state of the loop that is walked, whatever it is.
  Known element(std::size_t i, Same same) const {
    if (same == kVaries) return varying();
    const auto number = static_cast<std::uint32_t>(i);
    Known known = Computed("state").by(std::uint64_t{depth_}).by(std::uint64_t{number}).known();
    known.same = same;
    known.carried = {{depth_, number}};
    return known;
  }

  /// Weakens the state of a loop until a turn of it leaves it as it is; gives what a turn makes.
  template <class Turn>
  std::vector<Known> until_stable(std::vector<Same> &state, const Turn &turn) {
    for (;;) {
      std::vector<Known> before;
      for (std::size_t i = 0; i < state.size(); ++i) before.push_back(element(i, state[i]));
      std::vector<Known> after = turn(before);
      bool changed = false;
      for (std::size_t i = 0; i < state.size(); ++i) {
        const Same weaker = both(state[i], after[i].same);
        changed |= weaker != state[i];
        state[i] = weaker;
      }
      if (!changed) return after;
    }
  }

  /// A value of the loop that is walked by what its state is at first and what a turn makes of it,
  /// as far as the value is computed of it.
  Known resolved(const Known &value, const std::vector<Known> &first,
                 const std::vector<Known> &after) const {
    if (value.varies()) return varying();
    std::vector<std::uint32_t> elements; // grows while it is walked
    const auto need = [&](const Known &known) {
      for (const auto &[depth, number] : known.carried)
        if (depth == depth_ && std::ranges::find(elements, number) == elements.end())
          elements.push_back(number);
    };
    need(value);
    for (std::size_t i = 0; i < elements.size(); ++i) need(after[elements[i]]);
    if (elements.empty()) return value;
    std::ranges::sort(elements);
    Computed computed("recurrence");
    // Constants are shown as they stand in the source: at first, then in the loop.
    for (const std::uint32_t i : elements) computed.by(std::uint64_t{i}).of(first[i]);
    computed.of(value);
    for (const std::uint32_t i : elements) computed.of(after[i]);
    Known known = computed.known();
    known.same = value.same;
    std::erase_if(known.carried, [&](const Carried &one) { return one.first == depth_; });
    return known;
  }

  std::vector<Known> resolved_state(const std::vector<Same> &state, const std::vector<Known> &first,
                                    const std::vector<Known> &after) const {
    std::vector<Known> known;
    for (std::size_t i = 0; i < state.size(); ++i)
      known.push_back(resolved(element(i, state[i]), first, after));
    return known;
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
  std::vector<Known> known_;
  Walk walk_;
  std::uint32_t depth_;                  ///< how many loops are around
  const ProgramNode *decides_ = nullptr; ///< the innermost construct that does, by what varies
};

} // namespace

void check_ranks_agree(const Program &program) {
  Followed followed{.checks = true};
  Follower(program, followed).run({}, kWorld);
}

std::shared_ptr<const RanksDecisions> decisions_of(const Program &program) {
  const auto followed = std::make_shared<Followed>(false);
  followed->outermost = Follower(program, *followed).run({}, kWorld);
  return {followed, &followed->outermost.decisions};
}

} // namespace weft
