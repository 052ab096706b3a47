// Prints programs of the fuzzer, and says what their types and variables are.
#include "Program.h"

#include <sstream>

namespace weft::fuzz {

namespace {

constexpr const char *kTypeNames[] = {"scalar", "vector", "matrix",  "ragged",
                                      "rows",   "array",  "integer", "boolean"};
constexpr const char *kKindNames[] = {"map",    "combine", "reduce", "reshape", "product", "index",
                                      "whole",  "compare", "array",  "random",  "read",    "assign",
                                      "add_to", "check",   "print",  "branch",  "choose",  "count",
                                      "loop",   "scan",    "call",   "slope"};

class Printer {
public:
  explicit Printer(const Program &program) : program_(program) {}

  std::string text() {
    out_ << "seed " << program_.seed << ", n = " << program_.n
         << (program_.open ? ", unknown to traces" : "")
         << (program_.compiled_calls ? ", calls of compiled functions" : "") << '\n';
    for (std::size_t i = 0; i < program_.functions.size(); ++i) {
      out_ << "function " << i << ' ';
      block(program_.functions[i], 0);
      out_ << '\n';
    }
    out_ << "main ";
    block(program_.main, 0);
    out_ << '\n';
    return out_.str();
  }

private:
  static constexpr const char *kStart[] = {"x",      "w",    "s",     "n",     "k",
                                           "ragged", "rows", "array", "longer"};

  void value(int id) {
    if (id < start_count) out_ << kStart[id];
    else out_ << '%' << id;
  }
  void values(const std::vector<int> &ids, bool types) {
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (i > 0) out_ << ", ";
      value(ids[i]);
      if (types) out_ << ": " << kTypeNames[static_cast<int>(program_.types[ids[i]])];
    }
  }
  void block(const Block &block, int depth) {
    const std::string indent(2 * static_cast<std::size_t>(depth + 1), ' ');
    out_ << '(';
    values(block.parameters, true);
    out_ << ") {\n";
    for (const Statement &statement : block.statements) {
      out_ << indent;
      values(statement.results, true);
      out_ << (statement.results.empty() ? "" : " = ")
           << kKindNames[static_cast<int>(statement.kind)] << '.' << statement.op << " [";
      out_ << statement.number << "] ";
      values(statement.operands, false);
      for (const Block &inner : statement.blocks) {
        out_ << ' ';
        this->block(inner, depth + 1);
      }
      out_ << '\n';
    }
    out_ << indent << "yield ";
    values(block.yields, false);
    out_ << '\n' << std::string(2 * static_cast<std::size_t>(depth), ' ') << '}';
  }

  const Program &program_;
  std::ostringstream out_;
};

std::size_t size_of(const Block &block) {
  std::size_t size = block.statements.size();
  for (const Statement &statement : block.statements)
    for (const Block &inner : statement.blocks) size += size_of(inner);
  return size;
}

} // namespace

bool is_floating(Type type) { return type <= Type::array; }

int start_of(Type type) {
  switch (type) {
  case Type::scalar: return start_s;
  case Type::vector: return start_x;
  case Type::matrix: return start_w;
  case Type::ragged: return start_ragged;
  case Type::rows: return start_rows;
  case Type::array: return start_array;
  case Type::integer: return start_n;
  case Type::boolean: return start_boolean;
  }
  return start_s;
}

Type type_of_variable(int variable) {
  return variable == variable_p || variable == variable_v ? Type::vector : Type::scalar;
}

const char *name_of_variable(int variable) {
  constexpr const char *kNames[] = {"p", "q", "v", "c"};
  return kNames[variable];
}

std::size_t size_of(const Program &program) {
  std::size_t size = size_of(program.main);
  for (const Block &function : program.functions) size += size_of(function);
  return size;
}

std::string to_string(const Program &program) { return Printer(program).text(); }

} // namespace weft::fuzz
