// What a PTX module says, as the parser found it: functions, variables and statements with their
// lines.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace weft::emulator::ptx {

enum class Space : std::uint8_t { param, global, constant, shared, local };

/// A variable: one of the module, of a function, or a parameter.
struct Variable {
  Space space = Space::global;
  std::string_view name;
  int line = 0;
  std::uint64_t size = 0; ///< in bytes; 0 of an `.extern .shared` array without a size
  std::uint64_t alignment = 1;
  bool external = false;
  std::vector<std::uint8_t> initial; ///< empty where nothing was said: zeros
};

enum class OperandKind : std::uint8_t {
  reg,     ///< a register of the function: `number`
  name,    ///< a special register, a variable or a label
  integer, ///< `bits`
  float32, ///< `bits`
  float64, ///< `bits`
  address, ///< `[parts[0] + bits]`, or of tensors `[parts[0], {..}]`
  list,    ///< `{a, b}`
  pair,    ///< `a|b`
  group,   ///< `(a, b)` of calls
  sink     ///< `_`: the result is not wanted
};

struct Operand {
  OperandKind kind = OperandKind::sink;
  bool negated = false; ///< `!p`
  int number = -1;
  std::string_view name;
  std::uint64_t bits = 0;
  std::vector<Operand> parts;
};

/// One instruction, `@!guard opcode operands;`.
struct Statement {
  int line = 0;
  int guard = -1; ///< the number of a register, or none
  bool guard_negated = false;
  std::string_view opcode;
  std::vector<Operand> operands;
};

/// A register; the parser numbers those of a function from 0.
struct Register {
  std::string name;
  int bits = 0; ///< 1 of a predicate, 16, 32, 64 or 128
};

struct Label {
  std::size_t statement = 0;             ///< what it stands in front of
  std::vector<std::string_view> targets; ///< of `.branchtargets`
};

/// An entry or a function.
struct Function {
  bool entry = false;
  bool declared_only = false;
  std::string_view name;
  int line = 0;
  std::vector<Variable> parameters;
  std::vector<Variable> variables;
  std::vector<Register> registers;
  std::vector<Statement> statements;
  std::map<std::string_view, Label> labels;
  std::uint32_t most_threads[3] = {0, 0, 0};     ///< `.maxntid`; zeros where nothing is said
  std::uint32_t required_threads[3] = {0, 0, 0}; ///< `.reqntid`
  std::uint32_t cluster[3] = {0, 0, 0};          ///< `.reqnctapercluster`
};

struct Module {
  int major = 0, minor = 0; ///< of `.version`
  std::string_view target;  ///< `sm_90a`
  std::vector<Variable> variables;
  std::vector<Function> functions;
};

} // namespace weft::emulator::ptx
