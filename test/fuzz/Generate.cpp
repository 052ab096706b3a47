// Makes random programs for the fuzzer: what they compute is smooth and tame, and keeps clear of
// what docs/control-flow.md says is refused.
#include "Generate.h"

#include <algorithm>
#include <random>

namespace weft::fuzz {

namespace {

/// What is visible at a point.
struct Scope {
  std::vector<int> values;
  bool effects = true;    ///< whether there may be any
  bool construct = false; ///< whether it is inside of control flow
  int written = -1;       ///< the trainable variable that this construct may assign, but not read
  int depth = 0;          ///< of nesting
};

class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15ULL + 1) {
    program_.seed = seed;
  }

  Program make() {
    program_.n = 1 + below(4);
    program_.open = chance(40);
    program_.compiled_calls = chance(25);
    program_.second_order = chance(15);
    program_.forward = chance(40);
    // Without effects in control flow second derivatives are not refused.
    pure_ = program_.second_order && chance(80);
    for (Type type : {Type::vector, Type::matrix, Type::scalar, Type::integer, Type::integer,
                      Type::ragged, Type::rows, Type::array, Type::boolean})
      program_.make(type);
    for (Type &type : favourites_) type = any_floating();
    const int functions = chance(40) ? 1 + below(2) : 0;
    for (int i = 0; i < functions; ++i) function();
    budget_ = 6 + below(14);
    Scope scope;
    for (int id = 0; id < start_count; ++id) {
      program_.main.parameters.push_back(id);
      scope.values.push_back(id);
    }
    while (budget_ > 0) statement(scope, program_.main);
    const int yields = 1 + below(3);
    for (int i = 0; i < yields; ++i)
      program_.main.yields.push_back(recent_floating(scope, i == 0 ? 1 : 4));
    return std::move(program_);
  }

private:
  int below(int bound) { return static_cast<int>(random_() % static_cast<unsigned>(bound)); }
  bool chance(int percent) { return below(100) < percent; }

  std::vector<int> of(const Scope &scope, Type type) const {
    std::vector<int> found;
    for (int id : scope.values)
      if (program_.types[static_cast<std::size_t>(id)] == type) found.push_back(id);
    return found;
  }
  /// A value of that type, more often a late one.
  int pick(const Scope &scope, Type type) {
    const std::vector<int> found = of(scope, type);
    if (found.empty()) return start_of(type);
    const auto count = static_cast<int>(found.size());
    const int back = chance(60) ? below(std::min(count, 3)) : below(count);
    return found[static_cast<std::size_t>(count - 1 - back)];
  }
  /// One of the last `most` floating values.
  int recent_floating(const Scope &scope, int most) {
    std::vector<int> found;
    for (int id : scope.values)
      if (program_.types[static_cast<std::size_t>(id)] < Type::array) found.push_back(id);
    const auto count = static_cast<int>(found.size());
    return found[static_cast<std::size_t>(count - 1 - below(std::min(count, most)))];
  }
  Type type_of(int id) const { return program_.types[static_cast<std::size_t>(id)]; }
  /// Of values that maps take. A program has more of some types, so that its steps use each other.
  Type some_floating() { return chance(75) ? favourites_[below(2)] : any_floating(); }
  Type any_floating() {
    constexpr Type kTypes[] = {Type::scalar, Type::scalar, Type::vector, Type::vector, Type::vector,
                               Type::matrix, Type::ragged, Type::ragged, Type::rows};
    return kTypes[below(9)];
  }
  /// Of loop state and results of branches.
  Type some_state() {
    const int kind = below(20);
    return kind < 15   ? some_floating()
           : kind < 17 ? Type::array
           : kind < 19 ? Type::integer
                       : Type::scalar;
  }

  int add(Scope &scope, Block &block, Statement statement, Type type) {
    const int id = program_.make(type);
    statement.results = {id};
    block.statements.push_back(std::move(statement));
    scope.values.push_back(id);
    return id;
  }

  void statement(Scope &scope, Block &block) {
    --budget_;
    const int kind = below(100);
    const bool nests = scope.depth < 3;
    if (kind < 16) map(scope, block);
    else if (kind < 28) combine(scope, block);
    else if (kind < 34) reduce(scope, block);
    else if (kind < 40) reshape(scope, block);
    else if (kind < 46) product(scope, block);
    else if (kind < 52) index(scope, block);
    else if (kind < 56) whole(scope, block);
    else if (kind < 60) compare(scope, block);
    else if (kind < 65) array(scope, block);
    else if (kind < 68) read(scope, block);
    else if (kind < 73) effect(scope, block);
    else if (!nests) map(scope, block);
    else if (kind < 80) branch(scope, block);
    else if (kind < 83) choose(scope, block);
    else if (kind < 89) count(scope, block);
    else if (kind < 93) loop(scope, block);
    else if (kind < 95) scan(scope, block);
    else if (kind < 99) call(scope, block);
    else slope(scope, block);
  }

  void map(Scope &scope, Block &block) {
    const Type type = some_floating();
    int op = below(18);
    if (op == 15 && chance(60)) op = 0;
    add(scope, block,
        {.kind = Kind::map, .op = op, .number = 0.1 * below(5), .operands = {pick(scope, type)}},
        type);
  }

  void combine(Scope &scope, Block &block) {
    const Type type = some_floating();
    const int x = pick(scope, type);
    int y = pick(scope, Type::scalar);
    if (type == Type::ragged) {
      if (chance(40)) y = x; // no other has the same size for sure
    } else if (type == Type::matrix || type == Type::rows) {
      if (chance(50)) y = pick(scope, Type::vector);
      else if (chance(50)) y = type == Type::matrix ? pick(scope, type) : x;
    } else if (type == Type::vector && chance(70)) {
      y = pick(scope, type);
    }
    add(scope, block, {.kind = Kind::combine, .op = below(7), .operands = {x, y}}, type);
  }

  void reduce(Scope &scope, Block &block) {
    const Type type = std::max(some_floating(), Type::vector);
    int op = below(3);
    Type result = Type::scalar;
    if (type == Type::vector && chance(25)) {
      op = 5;
    } else if (type == Type::matrix && chance(70)) {
      constexpr int kOps[] = {3, 4, 6};
      op = kOps[below(3)];
      result = Type::vector;
    } else if (type == Type::rows && chance(70)) {
      op = 3 + below(2);
      result = op == 3 ? Type::vector : Type::ragged;
    }
    add(scope, block, {.kind = Kind::reduce, .op = op, .operands = {pick(scope, type)}}, result);
  }

  void reshape(Scope &scope, Block &block) {
    const Type type = std::max(some_floating(), Type::vector);
    const bool line = type == Type::vector || type == Type::ragged;
    const int x = pick(scope, type);
    Statement statement{.kind = Kind::reshape, .op = 1 + below(3), .operands = {x}};
    Type result = type;
    if (chance(50)) {
      statement.op = type == Type::matrix && chance(50) ? 0 : line && chance(40) ? 6 : 5;
      if (statement.op == 5) {
        // The derivative needs to know where the second part begins.
        if (program_.open) return map(scope, block);
        statement.operands = {pick(scope, line ? Type::vector : Type::matrix),
                              pick(scope, line ? (chance(50) ? Type::vector : Type::ragged)
                                               : (chance(50) ? Type::matrix : Type::rows))};
      }
      if (statement.op != 0) result = line ? Type::ragged : Type::rows;
    } else if (chance(25)) {
      statement.op = 4;
      result = line ? Type::ragged : Type::rows;
    }
    add(scope, block, std::move(statement), result);
  }

  void product(Scope &scope, Block &block) {
    struct Shapes {
      Type x, y, result;
      int op;
    };
    constexpr Shapes kProducts[] = {
        {Type::matrix, Type::vector, Type::vector, 0},
        {Type::vector, Type::matrix, Type::vector, 0},
        {Type::matrix, Type::matrix, Type::matrix, 0},
        {Type::vector, Type::vector, Type::scalar, 0},
        {Type::rows, Type::vector, Type::ragged, 0},
        {Type::rows, Type::matrix, Type::rows, 0},
        {Type::matrix, Type::matrix, Type::matrix, 1},
        {Type::matrix, Type::vector, Type::vector, 1},
    };
    const Shapes &shapes = kProducts[below(8)];
    add(scope, block,
        {.kind = Kind::product,
         .op = shapes.op,
         .number = static_cast<double>(below(2)),
         .operands = {pick(scope, shapes.x), pick(scope, shapes.y)}},
        shapes.result);
  }

  void index(Scope &scope, Block &block) {
    struct Shapes {
      int op;
      Type x, value, result;
    };
    constexpr Shapes kIndexed[] = {
        {0, Type::vector, Type::integer, Type::scalar},
        {0, Type::matrix, Type::integer, Type::vector},
        {1, Type::vector, Type::scalar, Type::vector},
        {1, Type::matrix, Type::vector, Type::matrix},
        {2, Type::ragged, Type::integer, Type::ragged},
        {2, Type::rows, Type::integer, Type::rows},
        {3, Type::ragged, Type::integer, Type::vector},
        {4, Type::scalar, Type::integer, Type::ragged},
        {4, Type::vector, Type::integer, Type::rows},
        {3, Type::rows, Type::integer, Type::matrix},
    };
    const Shapes &shapes = kIndexed[below(10)];
    Statement statement{.kind = Kind::index,
                        .op = shapes.op,
                        .operands = {pick(scope, shapes.x), pick(scope, Type::integer)}};
    if (shapes.op == 1) statement.operands.push_back(pick(scope, shapes.value));
    add(scope, block, std::move(statement), shapes.result);
  }

  void whole(Scope &scope, Block &block) {
    const int op = below(5);
    const Type type = op == 3   ? Type::scalar
                      : op == 4 ? (chance(50) ? Type::ragged : Type::rows)
                                : Type::integer;
    add(scope, block,
        {.kind = Kind::whole,
         .op = op,
         .number = static_cast<double>(below(5)),
         .operands = {pick(scope, type), pick(scope, type)}},
        Type::integer);
  }

  void compare(Scope &scope, Block &block) {
    const Type type = chance(50) ? Type::integer : Type::scalar;
    const int x = pick(scope, type), y = pick(scope, type);
    add(scope, block,
        {.kind = Kind::compare,
         .op = x == y || chance(50) ? 1 : 0,
         .number = type == Type::integer ? below(4) : 0.3 * (below(5) - 2),
         .operands = {x, y}},
        Type::boolean);
  }

  void array(Scope &scope, Block &block) {
    constexpr Type kResults[] = {Type::array, Type::array,  Type::vector,
                                 Type::rows,  Type::ragged, Type::array};
    constexpr int kOps[] = {0, 0, 0, 1, 2, 2, 3, 4, 5};
    int op = kOps[below(9)];
    if (op == 4 && program_.open) op = 3; // a reshape that has a derivative for one unknown size
    Statement statement{.kind = Kind::array, .op = op};
    if (op == 5) {
      statement.operands = {pick(scope, Type::matrix)};
    } else {
      statement.operands = {pick(scope, Type::array)};
      if (op == 0) statement.operands.push_back(pick(scope, Type::vector));
      if (op == 1 || op == 2) statement.operands.push_back(pick(scope, Type::integer));
      if (op == 1) statement.operands.push_back(pick(scope, Type::vector));
    }
    add(scope, block, std::move(statement), kResults[op]);
  }

  void read(Scope &scope, Block &block) {
    if (chance(15) && scope.effects) {
      const Type type = some_floating();
      add(scope, block, {.kind = Kind::random, .operands = {pick(scope, type)}}, type);
      return;
    }
    int variable = below(variable_count);
    if (variable == scope.written) variable = variable_c;
    add(scope, block, {.kind = Kind::read, .op = variable}, type_of_variable(variable));
  }

  void effect(Scope &scope, Block &block) {
    if (!scope.effects) return read(scope, block);
    Statement statement;
    const int kind = below(10);
    if (kind < 7) {
      statement.kind = chance(60) ? Kind::assign : Kind::add_to;
      statement.op = kTrainable + below(variable_count - kTrainable);
      // To add to a variable is to read it.
      if (!scope.construct && chance(30)) statement.op = below(kTrainable);
      if (scope.written >= 0 && chance(70)) {
        statement.kind = Kind::assign;
        statement.op = scope.written;
      }
      statement.operands = {pick(scope, type_of_variable(statement.op))};
    } else if (kind < 9) {
      statement.kind = Kind::check;
      statement.operands = {pick(scope, Type::scalar)};
    } else {
      statement.kind = Kind::print;
      statement.operands = {pick(scope, Type::integer)};
    }
    block.statements.push_back(std::move(statement));
  }

  //===--------------------------------------------------------------------===//
  // Control flow
  //===--------------------------------------------------------------------===//

  /// The scope of a region inside of this one.
  Scope inside(const Scope &scope) {
    Scope inner = scope;
    ++inner.depth;
    if (pure_) inner.effects = false;
    if (!scope.construct && inner.effects && chance(15)) inner.written = below(kTrainable);
    inner.construct = true;
    return inner;
  }
  void fill(Scope &scope, Block &block, int least = 0) {
    const int count = least + below(5);
    for (int i = 0; i < count && (budget_ > 0 || i < least); ++i) statement(scope, block);
  }
  /// A value of that type that the block computed after there were `before` values, and depends on
  /// its state; it is computed now if need be. Some blocks hand on what was there before.
  int made_inside(Scope &scope, Block &block, std::size_t before, Type type) {
    if (chance(10)) return pick(scope, type);
    std::vector<int> found;
    for (std::size_t i = before; i < scope.values.size(); ++i)
      if (type_of(scope.values[i]) == type) found.push_back(scope.values[i]);
    if (!found.empty()) return found[found.size() - 1 - below(std::min<int>(found.size(), 3))];
    const int x = pick(scope, type);
    if (type == Type::array)
      return add(scope, block,
                 {.kind = Kind::array, .op = 0, .operands = {x, pick(scope, Type::vector)}}, type);
    if (type == Type::integer)
      return add(scope, block, {.kind = Kind::whole, .op = 1, .operands = {x, pick(scope, type)}},
                 type);
    return add(scope, block,
               {.kind = Kind::combine, .op = below(6), .operands = {x, pick(scope, Type::scalar)}},
               type);
  }
  /// A block without parameters that gives values of these types.
  Block side(const Scope &inner, const std::vector<Type> &types) {
    Scope scope = inner;
    Block block;
    const std::size_t before = scope.values.size();
    fill(scope, block);
    for (Type type : types) block.yields.push_back(made_inside(scope, block, before, type));
    return block;
  }
  std::vector<Type> some_types(int most) {
    std::vector<Type> types;
    const int count = 1 + below(most);
    for (int i = 0; i < count; ++i) types.push_back(some_state());
    return types;
  }
  void results(Scope &scope, Statement &statement, const std::vector<Type> &types) {
    for (Type type : types) {
      statement.results.push_back(program_.make(type));
      scope.values.push_back(statement.results.back());
    }
  }
  std::vector<int> parameters(Scope &scope, const std::vector<Type> &types) {
    std::vector<int> results;
    for (Type type : types) {
      results.push_back(program_.make(type));
      scope.values.push_back(results.back());
    }
    return results;
  }

  void branch(Scope &scope, Block &block) {
    const std::vector<Type> types =
        scope.effects && !pure_ && chance(10) ? std::vector<Type>() : some_types(3);
    Statement statement{.kind = Kind::branch, .operands = {pick(scope, Type::boolean)}};
    const Scope inner = inside(scope);
    for (int i = 0; i < 2; ++i) statement.blocks.push_back(side(inner, types));
    results(scope, statement, types);
    block.statements.push_back(std::move(statement));
  }

  void choose(Scope &scope, Block &block) {
    const std::vector<Type> types = some_types(2);
    Statement statement{.kind = Kind::choose, .operands = {pick(scope, Type::integer)}};
    const Scope inner = inside(scope);
    const int cases = 2 + below(2);
    for (int i = 0; i < cases; ++i) statement.blocks.push_back(side(inner, types));
    results(scope, statement, types);
    block.statements.push_back(std::move(statement));
  }

  /// A block of an iteration: parameters of `first` and `types`, and yields of `types`.
  Block iteration(const Scope &inner, Type first, const std::vector<Type> &types) {
    Scope scope = inner;
    Block body;
    std::vector<Type> all = {first};
    all.insert(all.end(), types.begin(), types.end());
    body.parameters = parameters(scope, all);
    const std::size_t before = scope.values.size();
    fill(scope, body, 1);
    for (Type type : types) body.yields.push_back(made_inside(scope, body, before, type));
    return body;
  }
  void carry(const Scope &scope, Statement &statement, const std::vector<Type> &types) {
    for (Type type : types) statement.operands.push_back(pick(scope, type));
  }

  void count(Scope &scope, Block &block) {
    const std::vector<Type> types = some_types(3);
    Statement statement{.kind = Kind::count,
                        .op = below(4),
                        .number = static_cast<double>(below(4)),
                        .operands = {pick(scope, Type::integer)}};
    carry(scope, statement, types);
    statement.blocks.push_back(iteration(inside(scope), Type::integer, types));
    results(scope, statement, types);
    block.statements.push_back(std::move(statement));
  }

  void loop(Scope &scope, Block &block) {
    const std::vector<Type> types = some_types(3);
    Statement statement{.kind = Kind::loop,
                        .op = below(2),
                        .number = static_cast<double>(below(4)),
                        .operands = {pick(scope, Type::integer)}};
    carry(scope, statement, types);
    const Scope inner = inside(scope);
    Scope test = inner;
    Block condition;
    condition.parameters = parameters(test, types);
    if (chance(40)) fill(test, condition);
    compare(test, condition);
    condition.yields = {chance(70) ? test.values.back() : start_boolean};
    statement.blocks.push_back(std::move(condition));
    statement.blocks.push_back(iteration(inner, Type::integer, types));
    results(scope, statement, types);
    block.statements.push_back(std::move(statement));
  }

  void scan(Scope &scope, Block &block) {
    const std::vector<Type> types = some_types(2);
    const bool rows = chance(40);
    Statement statement{.kind = Kind::scan,
                        .number = static_cast<double>(below(2)),
                        .operands = {pick(scope, rows ? Type::matrix : Type::vector)}};
    carry(scope, statement, types);
    Block body = iteration(inside(scope), rows ? Type::vector : Type::scalar, types);
    // Its last yield is what is stacked.
    Scope last = scope;
    for (int id : body.parameters) last.values.push_back(id);
    for (const Statement &one : body.statements)
      last.values.insert(last.values.end(), one.results.begin(), one.results.end());
    body.yields.push_back(pick(last, Type::scalar));
    statement.blocks.push_back(std::move(body));
    std::vector<Type> all = types;
    all.push_back(Type::vector);
    results(scope, statement, all);
    block.statements.push_back(std::move(statement));
  }

  void function() {
    Scope scope;
    scope.construct = true;
    scope.depth = 2;
    scope.effects = !pure_ && chance(30);
    budget_ = 2 + below(4);
    Block body;
    // Of each type one, so that steps find what they need.
    std::vector<Type> types = {Type::scalar, Type::vector, Type::matrix,  Type::ragged,
                               Type::rows,   Type::array,  Type::integer, Type::boolean};
    body.parameters = parameters(scope, types);
    const std::size_t before = scope.values.size();
    fill(scope, body, 1);
    const std::vector<Type> given = some_types(2);
    for (Type type : given) body.yields.push_back(made_inside(scope, body, before, type));
    effects_.push_back(scope.effects);
    program_.functions.push_back(std::move(body));
  }

  void call(Scope &scope, Block &block) {
    const auto functions = static_cast<int>(program_.functions.size());
    if (functions == 0) return map(scope, block);
    const int number = below(functions);
    const Block &callee = program_.functions[static_cast<std::size_t>(number)];
    if (scope.written >= 0 || (effects_[static_cast<std::size_t>(number)] && !scope.effects))
      return map(scope, block);
    Statement statement{.kind = Kind::call, .op = number};
    std::vector<Type> given;
    for (int id : callee.parameters) statement.operands.push_back(pick(scope, type_of(id)));
    for (int id : callee.yields) given.push_back(type_of(id));
    results(scope, statement, given);
    block.statements.push_back(std::move(statement));
  }

  void slope(Scope &scope, Block &block) {
    const Type type = chance(50) ? Type::vector : Type::scalar;
    Scope inner = inside(scope);
    inner.effects = false;
    Block body;
    body.parameters = parameters(inner, {type});
    fill(inner, body, 1);
    // Something that depends on the parameter.
    const int z = body.parameters[0];
    Statement last{.kind = Kind::combine, .op = 2, .operands = {z, pick(inner, type)}};
    int y = add(inner, body, std::move(last), type);
    if (type == Type::vector) {
      Statement total{.kind = Kind::reduce, .op = 0, .operands = {y}};
      y = add(inner, body, std::move(total), Type::scalar);
    }
    body.yields = {y};
    Statement statement{.kind = Kind::slope, .operands = {pick(scope, type)}};
    statement.blocks.push_back(std::move(body));
    results(scope, statement, {type});
    block.statements.push_back(std::move(statement));
  }

  std::mt19937_64 random_;
  Program program_;
  std::vector<bool> effects_; ///< whether functions have any
  Type favourites_[2] = {};
  int budget_ = 0;
  bool pure_ = false;
};

} // namespace

Program random_program(std::uint64_t seed) { return Generator(seed).make(); }

} // namespace weft::fuzz
