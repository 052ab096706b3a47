// Takes away statements, regions, state, iterations and sizes, one at a time.
#include "Reduce.h"

#include <algorithm>
#include <map>
#include <utility>

namespace weft::fuzz {

namespace {

using Names = std::map<int, int>;

/// A position in a program: a statement of a block, which is in main (-1) or a function.
struct Position {
  Block *block;
  std::size_t at;
  int function;

  Statement &statement() const { return block->statements[at]; }
};

void collect(Block &block, int function, std::vector<Position> &positions) {
  for (std::size_t i = 0; i < block.statements.size(); ++i) {
    positions.push_back({&block, i, function});
    for (Block &inner : block.statements[i].blocks) collect(inner, function, positions);
  }
}

std::vector<Position> positions_of(Program &program) {
  std::vector<Position> positions;
  collect(program.main, -1, positions);
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    collect(program.functions[i], static_cast<int>(i), positions);
  return positions;
}

void rename(std::vector<int> &ids, const Names &names) {
  for (int &id : ids)
    for (auto found = names.find(id); found != names.end(); found = names.find(id))
      id = found->second;
}

/// Renames uses.
void rename(Block &block, const Names &names) {
  for (Statement &statement : block.statements) {
    rename(statement.operands, names);
    for (Block &inner : statement.blocks) rename(inner, names);
  }
  rename(block.yields, names);
}
void rename(Program &program, const Names &names) {
  rename(program.main, names);
  for (Block &function : program.functions) rename(function, names);
}

/// A value of that type that is always there.
int stand_in(const Program &program, int function, Type type) {
  if (function >= 0)
    for (int id : program.functions[static_cast<std::size_t>(function)].parameters)
      if (program.types[static_cast<std::size_t>(id)] == type) return id;
  return start_of(type);
}

/// Gives everything that the block defines new numbers.
void refresh(Program &program, Block &block, Names &names) {
  const auto fresh = [&](std::vector<int> &ids) {
    for (int &id : ids) {
      const int renamed = program.make(program.types[static_cast<std::size_t>(id)]);
      names[id] = renamed;
      id = renamed;
    }
  };
  fresh(block.parameters);
  for (Statement &statement : block.statements) {
    fresh(statement.results);
    for (Block &inner : statement.blocks) refresh(program, inner, names);
  }
}

class Smaller {
public:
  explicit Smaller(const Program &program) : program_(program) {}

  std::vector<Program> all() {
    const std::size_t count = positions_of(program_).size();
    simpler_flags();
    for (std::size_t i = 0; i < count; ++i) without(i);
    for (std::size_t i = 0; i < count; ++i) unwrapped(i);
    fewer_yields();
    for (std::size_t i = 0; i < count; ++i) fewer_values(i);
    for (std::size_t i = 0; i < count; ++i) simpler(i);
    for (std::size_t i = 0; i < count; ++i) operands_replaced(i);
    return std::move(found_);
  }

private:
  template <class Change>
  void propose(const Change &change) {
    Program copy = program_;
    if (change(copy)) found_.push_back(std::move(copy));
  }
  /// The same at a position.
  template <class Change>
  void propose_at(std::size_t i, const Change &change) {
    propose([&](Program &copy) { return change(copy, positions_of(copy)[i]); });
  }

  void simpler_flags() {
    propose([](Program &copy) { return std::exchange(copy.open, false); });
    propose([](Program &copy) { return std::exchange(copy.compiled_calls, false); });
    propose([](Program &copy) { return std::exchange(copy.second_order, false); });
    propose([](Program &copy) { return std::exchange(copy.forward, false); });
    propose([](Program &copy) { return copy.n > 1 && --copy.n > 0; });
    propose([](Program &copy) {
      // Functions that nothing calls.
      const auto empty = [](const Block &block) { return block.statements.empty(); };
      bool changed = false;
      std::vector<bool> called(copy.functions.size());
      for (const Position &position : positions_of(copy))
        if (position.statement().kind == Kind::call)
          called[static_cast<std::size_t>(position.statement().op)] = true;
      for (std::size_t i = 0; i < called.size(); ++i) {
        if (called[i] || empty(copy.functions[i])) continue;
        copy.functions[i].statements.clear();
        for (int &id : copy.functions[i].yields)
          id = stand_in(copy, static_cast<int>(i), copy.types[static_cast<std::size_t>(id)]);
        changed = true;
      }
      return changed;
    });
  }

  void without(std::size_t i) {
    propose_at(i, [](Program &copy, const Position &position) {
      Names names;
      for (int id : position.statement().results)
        names[id] = stand_in(copy, position.function, copy.types[static_cast<std::size_t>(id)]);
      position.block->statements.erase(position.block->statements.begin() +
                                       static_cast<std::ptrdiff_t>(position.at));
      rename(copy, names);
      return true;
    });
  }

  /// One of its blocks instead of a statement.
  void unwrapped(std::size_t i) {
    const Statement &statement = positions_of(program_)[i].statement();
    const std::size_t blocks = statement.kind == Kind::call ? 1 : statement.blocks.size();
    for (std::size_t which = 0; which < blocks; ++which) {
      propose_at(i, [&](Program &copy, const Position &position) {
        const Statement old = position.statement();
        Block body = old.kind == Kind::call ? copy.functions[static_cast<std::size_t>(old.op)]
                                            : old.blocks[which];
        Names names;
        if (old.kind == Kind::call) {
          refresh(copy, body, names);
          rename(body, names);
          names.clear();
        }
        // State begins with what the construct was given.
        const std::size_t given = old.operands.size(), wanted = body.parameters.size();
        for (std::size_t p = 0; p < wanted; ++p) {
          const Type type = copy.types[static_cast<std::size_t>(body.parameters[p])];
          const std::size_t operand = given - wanted + p;
          const bool state = given >= wanted &&
                             copy.types[static_cast<std::size_t>(old.operands[operand])] == type;
          names[body.parameters[p]] =
              state ? old.operands[operand] : stand_in(copy, position.function, type);
        }
        const bool condition = old.kind == Kind::loop && which == 0;
        for (std::size_t r = 0; r < old.results.size(); ++r) {
          const Type type = copy.types[static_cast<std::size_t>(old.results[r])];
          const bool same = !condition && r < body.yields.size() &&
                            copy.types[static_cast<std::size_t>(body.yields[r])] == type;
          names[old.results[r]] = same ? body.yields[r] : stand_in(copy, position.function, type);
        }
        auto &statements = position.block->statements;
        const auto at =
            statements.erase(statements.begin() + static_cast<std::ptrdiff_t>(position.at));
        statements.insert(at, body.statements.begin(), body.statements.end());
        rename(copy, names);
        return true;
      });
    }
  }

  void fewer_yields() {
    for (std::size_t i = 0; i < program_.main.yields.size(); ++i) {
      propose([&](Program &copy) {
        if (copy.main.yields.size() == 1) return false;
        copy.main.yields.erase(copy.main.yields.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      });
    }
  }

  /// Without one of the values that a construct carries or gives.
  void fewer_values(std::size_t i) {
    const Statement &statement = positions_of(program_)[i].statement();
    const Kind kind = statement.kind;
    const bool iterations = kind == Kind::count || kind == Kind::loop || kind == Kind::scan;
    if (!iterations && kind != Kind::branch && kind != Kind::choose) return;
    const std::size_t count = statement.results.size() - (kind == Kind::scan ? 1 : 0);
    for (std::size_t r = 0; r < count; ++r) {
      propose_at(i, [&](Program &copy, const Position &position) {
        Statement &changed = position.statement();
        const auto cut = [](std::vector<int> &ids, std::size_t at) {
          const int id = ids[at];
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(at));
          return id;
        };
        if (!iterations && changed.results.size() == 1) return false;
        Names names;
        const int result = cut(changed.results, r);
        int begin = stand_in(copy, position.function, copy.types[static_cast<std::size_t>(result)]);
        if (iterations) begin = cut(changed.operands, r + 1);
        names[result] = begin;
        for (std::size_t b = 0; b < changed.blocks.size(); ++b) {
          const bool condition = kind == Kind::loop && b == 0;
          if (iterations) names[cut(changed.blocks[b].parameters, r + (condition ? 0 : 1))] = begin;
          if (!condition) cut(changed.blocks[b].yields, r);
        }
        rename(copy, names);
        return true;
      });
    }
  }

  /// Another op of the kind, fewer iterations.
  void simpler(std::size_t i) {
    propose_at(i, [](Program &, const Position &position) {
      Statement &statement = position.statement();
      const bool iterations = statement.kind == Kind::count || statement.kind == Kind::loop;
      if (!iterations || statement.number <= (statement.op == 0 ? 0 : 1)) return false;
      statement.number -= 1;
      return true;
    });
    propose_at(i, [](Program &, const Position &position) {
      Statement &statement = position.statement();
      const Kind kind = statement.kind;
      return (kind == Kind::count || kind == Kind::loop || kind == Kind::map ||
              kind == Kind::combine) &&
             std::exchange(statement.op, 0) != 0;
    });
  }

  void operands_replaced(std::size_t i) {
    const std::size_t count = positions_of(program_)[i].statement().operands.size();
    for (std::size_t o = 0; o < count; ++o) {
      propose_at(i, [&](Program &copy, const Position &position) {
        int &id = position.statement().operands[o];
        const int other =
            stand_in(copy, position.function, copy.types[static_cast<std::size_t>(id)]);
        return std::exchange(id, other) != other;
      });
    }
    const std::vector<Block> &blocks = positions_of(program_)[i].statement().blocks;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      for (std::size_t y = 0; y < blocks[b].yields.size(); ++y) {
        propose_at(i, [&](Program &copy, const Position &position) {
          int &id = position.statement().blocks[b].yields[y];
          const int other =
              stand_in(copy, position.function, copy.types[static_cast<std::size_t>(id)]);
          return std::exchange(id, other) != other;
        });
      }
    }
  }

  Program program_;
  std::vector<Program> found_;
};

} // namespace

std::vector<Program> smaller_programs(const Program &program) { return Smaller(program).all(); }

Program reduce(Program program, const FindFirst &first_interesting,
               const std::function<bool()> &goes_on) {
  std::size_t from = 0;
  bool whole = true; // whether all that was tried since the last success
  while (goes_on()) {
    std::vector<Program> smaller = smaller_programs(program);
    from = std::min(from, smaller.size());
    const std::vector<Program> rest(smaller.begin() + static_cast<std::ptrdiff_t>(from),
                                    smaller.end());
    const std::size_t found = first_interesting(rest);
    if (found < rest.size()) {
      program = rest[found];
      from += found;
      whole = from == 0;
    } else if (whole) {
      break;
    } else {
      from = 0;
      whole = true;
    }
  }
  return program;
}

} // namespace weft::fuzz
