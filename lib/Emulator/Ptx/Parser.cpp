// The grammar of PTX: directives, declarations and statements.
#include "Emulator/Ptx/Parser.h"

#include <bit>
#include <optional>

namespace weft::emulator::ptx {
namespace {

/// The size in bytes of a fundamental type, written with its dot; 0 if it is none.
int size_of_type(std::string_view type) {
  static const auto &sizes = *new std::map<std::string_view, int>{
      {".b8", 1},  {".u8", 1},  {".s8", 1},   {".b16", 2},   {".u16", 2},
      {".s16", 2}, {".f16", 2}, {".bf16", 2}, {".f16x2", 4}, {".bf16x2", 4},
      {".b32", 4}, {".u32", 4}, {".s32", 4},  {".f32", 4},   {".b64", 8},
      {".u64", 8}, {".s64", 8}, {".f64", 8},  {".b128", 16}};
  const auto found = sizes.find(type);
  return found == sizes.end() ? 0 : found->second;
}

std::optional<Space> space_of(std::string_view word) {
  if (word == ".global") return Space::global;
  if (word == ".const") return Space::constant;
  if (word == ".shared") return Space::shared;
  if (word == ".local") return Space::local;
  if (word == ".param") return Space::param;
  return {};
}

/// The registers that one pair of braces declares.
struct Scope {
  struct Family { // `%r<5>`: %r0 to %r4
    std::string_view prefix;
    int first, count;
  };
  std::map<std::string_view, int> names;
  std::vector<Family> families;

  int find(std::string_view name) const {
    if (const auto found = names.find(name); found != names.end()) return found->second;
    std::size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    if (name.size() - digits > 9 || digits == name.size()) return -1;
    if (name[digits] == '0' && digits + 1 < name.size()) return -1; // %r01 is not %r1
    int index = 0;
    for (const char c : name.substr(digits)) index = index * 10 + (c - '0');
    for (const Family &family : families)
      if (family.prefix == name.substr(0, digits) && index < family.count)
        return family.first + index;
    return -1;
  }
};

class Parser {
public:
  explicit Parser(std::string_view text) : lexer_(text) {}

  Module parse() {
    read_header();
    while (lexer_.peek().kind != TokenKind::end) read_top();
    return std::move(module_);
  }

private:
  [[noreturn]] void fail(const Token &token, const std::string &what) const {
    throw SyntaxError(token.line, what + ", found " + shown(token));
  }

  Token expect(TokenKind kind, const char *what) {
    if (lexer_.peek().kind != kind) fail(lexer_.peek(), std::string(what) + " is wanted");
    return lexer_.take();
  }
  void expect(char sign) {
    if (!lexer_.peek().is(sign)) fail(lexer_.peek(), std::string("'") + sign + "' is wanted");
    lexer_.take();
  }
  void expect(std::string_view word) {
    if (!lexer_.peek().is(word)) fail(lexer_.peek(), "'" + std::string(word) + "' is wanted");
    lexer_.take();
  }
  bool accept(char sign) {
    if (!lexer_.peek().is(sign)) return false;
    lexer_.take();
    return true;
  }
  bool accept(std::string_view word) {
    if (!lexer_.peek().is(word)) return false;
    lexer_.take();
    return true;
  }
  std::uint64_t integer() {
    const bool negative = accept('-');
    const std::uint64_t bits = expect(TokenKind::integer, "a whole number").bits;
    return negative ? 0 - bits : bits;
  }

  void read_header() {
    expect(".version");
    const Token version = lexer_.take();
    const std::size_t dot = version.text.find('.');
    if (version.kind != TokenKind::float64 || dot == std::string_view::npos)
      fail(version, "a version such as 8.0 is wanted");
    for (const char c : version.text.substr(0, dot)) module_.major = module_.major * 10 + (c - '0');
    for (const char c : version.text.substr(dot + 1))
      module_.minor = module_.minor * 10 + (c - '0');
    expect(".target");
    module_.target = expect(TokenKind::word, "a target such as sm_90").text;
    while (accept(',')) {
      const Token option = expect(TokenKind::word, "an option of the target");
      if (option.text != "debug") fail(option, "the only known option of a target is debug");
    }
    expect(".address_size");
    if (const Token size = lexer_.peek(); integer() != 64)
      fail(size, "addresses have 64 bits here");
  }

  void read_top() {
    if (skip_notes()) return;
    bool external = false;
    for (;;) {
      if (accept(".extern")) external = true;
      else if (!accept(".visible") && !accept(".weak") && !accept(".common")) break;
    }
    const Token word = lexer_.peek();
    if (accept(".entry")) return read_function(word.line, true, external);
    if (accept(".func")) return read_function(word.line, false, external);
    if (const auto space = space_of(word.text); space && *space != Space::param) {
      lexer_.take();
      module_.variables.push_back(read_variable(*space, external));
      while (accept(',')) fail(lexer_.peek(), "one variable in each declaration is known");
      return expect(';');
    }
    fail(word, "an entry, a function or a variable is wanted");
  }

  /// What says something to debuggers and assemblers only.
  bool skip_notes() {
    const Token word = lexer_.peek();
    if (word.is(".loc") || word.is(".file")) { // numbers, strings and commas to the end of the line
      while (lexer_.peek().line == word.line && lexer_.peek().kind != TokenKind::end) lexer_.take();
      return true;
    }
    if (accept(".pragma")) {
      do expect(TokenKind::string, "a string");
      while (accept(','));
      expect(';');
      return true;
    }
    if (accept(".section")) {
      expect(TokenKind::word, "a name");
      expect('{');
      while (!lexer_.peek().is('}')) {
        if (lexer_.peek().kind == TokenKind::end) fail(lexer_.peek(), "'}' is wanted");
        lexer_.take();
      }
      expect('}');
      return true;
    }
    return false;
  }

  /// `.align 4 .b8 name[16] = {..}` after the word of its space.
  Variable read_variable(Space space, bool external) {
    Variable variable;
    variable.space = space;
    variable.external = external;
    variable.line = lexer_.peek().line;
    std::uint64_t alignment = 0;
    if (accept(".align")) alignment = integer();
    const Token type = expect(TokenKind::word, "a type");
    const int element = size_of_type(type.text);
    if (element == 0) fail(type, "a type such as .b32 is wanted");
    if (accept(".ptr")) { // of parameters: where they point to
      if (space_of(lexer_.peek().text)) lexer_.take();
      if (accept(".align")) integer();
    }
    variable.name = expect(TokenKind::word, "a name").text;
    std::uint64_t count = 1;
    while (accept('[')) {
      if (accept(']')) {
        count = 0;
        break;
      }
      count *= integer();
      expect(']');
    }
    variable.size = count * static_cast<std::uint64_t>(element);
    variable.alignment = alignment == 0 ? static_cast<std::uint64_t>(element) : alignment;
    if ((variable.alignment & (variable.alignment - 1)) != 0)
      throw SyntaxError(variable.line, "an alignment is a power of two");
    if (accept('=')) read_initial(variable, element);
    return variable;
  }

  /// The bits of a number that stands behind a `-` or not.
  std::uint64_t number(const Token &token, bool negative) {
    switch (token.kind) {
    case TokenKind::integer: return negative ? 0 - token.bits : token.bits;
    case TokenKind::float64: return negative ? token.bits ^ 1ULL << 63 : token.bits;
    case TokenKind::float32:
      // NVIDIA's assembler has no minus before this one either.
      if (negative) fail(token, "the sign of 0f.. is one of its bits");
      return token.bits;
    default: fail(token, "a number is wanted");
    }
  }

  void read_initial(Variable &variable, int element) {
    const bool list = accept('{');
    do {
      const bool negative = accept('-');
      const Token token = lexer_.take();
      std::uint64_t bits = number(token, negative);
      if (token.kind == TokenKind::float64 && element == 4)
        bits = std::bit_cast<std::uint32_t>(static_cast<float>(std::bit_cast<double>(bits)));
      for (int i = 0; i < element; ++i)
        variable.initial.push_back(static_cast<std::uint8_t>(bits >> (8 * i)));
    } while (list && accept(','));
    if (list) expect('}');
    if (variable.size == 0) variable.size = variable.initial.size();
    if (variable.initial.size() > variable.size)
      throw SyntaxError(variable.line,
                        "more initial values than " + std::string(variable.name) + " has elements");
  }

  void read_parameters(std::vector<Variable> &into) {
    expect('(');
    if (accept(')')) return;
    do {
      if (accept(".reg")) fail(lexer_.peek(), "parameters in registers are not known");
      expect(".param");
      into.push_back(read_variable(Space::param, false));
    } while (accept(','));
    expect(')');
  }

  void read_numbers(std::uint32_t (&into)[3]) {
    for (std::uint32_t &number : into) number = 1;
    int i = 0;
    do {
      if (i == 3) fail(lexer_.peek(), "at most three numbers are wanted");
      into[i++] = static_cast<std::uint32_t>(integer());
    } while (accept(','));
  }

  void read_function(int line, bool entry, bool external) {
    module_.functions.emplace_back();
    function_ = &module_.functions.back();
    function_->entry = entry;
    function_->line = line;
    std::vector<Variable> results;
    if (!entry && lexer_.peek().is('(')) read_parameters(results);
    function_->name = expect(TokenKind::word, "a name").text;
    if (lexer_.peek().is('(')) read_parameters(function_->parameters);
    for (;;) {
      if (accept(".maxntid")) read_numbers(function_->most_threads);
      else if (accept(".reqntid")) read_numbers(function_->required_threads);
      else if (accept(".reqnctapercluster")) read_numbers(function_->cluster);
      else if (accept(".minnctapersm") || accept(".maxnreg") || accept(".maxclusterrank"))
        integer();
      else if (accept(".explicitcluster") || accept(".noreturn")) continue;
      else if (!skip_notes()) break;
    }
    if (accept(';')) {
      function_->declared_only = true;
      return;
    }
    if (external) fail(lexer_.peek(), "';' is wanted after an external function");
    expect('{');
    scopes_.assign(1, {});
    while (!scopes_.empty()) read_statement();
  }

  void read_statement() {
    const Token token = lexer_.peek();
    if (accept('{')) {
      scopes_.emplace_back();
      return;
    }
    if (accept('}')) {
      scopes_.pop_back();
      return;
    }
    if (accept(';') || skip_notes()) return;
    if (accept(".reg")) return read_registers();
    if (const auto space = space_of(token.text); token.kind == TokenKind::word && space) {
      lexer_.take();
      function_->variables.push_back(read_variable(*space, false));
      return expect(';');
    }
    if (token.is('@')) return read_instruction();
    if (token.kind != TokenKind::word || token.text.front() == '.')
      fail(token, "a statement is wanted");
    lexer_.take();
    if (!lexer_.peek().is(':')) return read_instruction(token);
    lexer_.take();
    Label label{function_->statements.size(), {}};
    if (accept(".branchtargets")) {
      do label.targets.push_back(expect(TokenKind::word, "a label").text);
      while (accept(','));
      expect(';');
    }
    if (!function_->labels.emplace(token.text, label).second)
      throw SyntaxError(token.line, "the label " + shown(token) + " stands twice");
  }

  void read_registers() {
    const Token type = expect(TokenKind::word, "a type");
    const int bits = type.text == ".pred" ? 1 : 8 * size_of_type(type.text);
    if (bits == 0 || bits == 8) fail(type, "a type of registers such as .b32 is wanted");
    do {
      const Token name = expect(TokenKind::word, "a name");
      const int first = static_cast<int>(function_->registers.size());
      if (accept('<')) {
        const std::uint64_t count = integer();
        expect('>');
        if (count > 1000000) fail(name, "at most a million registers are wanted");
        scopes_.back().families.push_back({name.text, first, static_cast<int>(count)});
        for (std::uint64_t i = 0; i < count; ++i)
          function_->registers.push_back({std::string(name.text) + std::to_string(i), bits});
      } else {
        scopes_.back().names[name.text] = first;
        function_->registers.push_back({std::string(name.text), bits});
      }
    } while (accept(','));
    expect(';');
  }

  int find_register(std::string_view name) const {
    for (std::size_t i = scopes_.size(); i-- > 0;)
      if (const int found = scopes_[i].find(name); found >= 0) return found;
    return -1;
  }

  void read_instruction() {
    expect('@');
    Statement statement;
    statement.guard_negated = accept('!');
    const Token name = expect(TokenKind::word, "a predicate");
    statement.guard = find_register(name.text);
    if (statement.guard < 0 ||
        function_->registers[static_cast<std::size_t>(statement.guard)].bits != 1)
      fail(name, "a predicate is wanted");
    read_rest(std::move(statement), expect(TokenKind::word, "an instruction"));
  }
  void read_instruction(const Token &opcode) { read_rest({}, opcode); }

  void read_rest(Statement statement, const Token &opcode) {
    statement.line = opcode.line;
    statement.opcode = opcode.text;
    if (!lexer_.peek().is(';')) do
        statement.operands.push_back(read_operand());
      while (accept(','));
    expect(';');
    function_->statements.push_back(std::move(statement));
  }

  Operand read_operand() {
    Operand operand = read_plain();
    if (!accept('|')) return operand;
    Operand pair;
    pair.kind = OperandKind::pair;
    pair.parts.push_back(std::move(operand));
    pair.parts.push_back(read_plain());
    return pair;
  }

  void read_parts(Operand &into, char end) {
    if (accept(end)) return;
    do into.parts.push_back(read_operand());
    while (accept(','));
    expect(end);
  }

  Operand read_plain() {
    Operand operand;
    if (accept('[')) {
      operand.kind = OperandKind::address;
      read_parts(operand, ']');
      if (operand.parts.size() == 1 && operand.parts[0].kind != OperandKind::integer) {
        std::swap(operand.bits, operand.parts[0].bits); // where `+ 4` was read to
      }
      return operand;
    }
    if (accept('{')) {
      operand.kind = OperandKind::list;
      read_parts(operand, '}');
      return operand;
    }
    if (accept('(')) {
      operand.kind = OperandKind::group;
      read_parts(operand, ')');
      return operand;
    }
    operand.negated = accept('!');
    const bool minus = !operand.negated && accept('-');
    const Token token = lexer_.take();
    switch (token.kind) {
    case TokenKind::integer:
    case TokenKind::float32:
    case TokenKind::float64:
      operand.kind = token.kind == TokenKind::integer   ? OperandKind::integer
                     : token.kind == TokenKind::float32 ? OperandKind::float32
                                                        : OperandKind::float64;
      operand.bits = number(token, minus);
      return operand;
    case TokenKind::word: break;
    default: fail(token, "an operand is wanted");
    }
    if (minus) fail(token, "a number is wanted after '-'");
    if (token.text == "_") return operand;
    operand.name = token.text;
    operand.number = find_register(token.text);
    operand.kind = operand.number >= 0 ? OperandKind::reg : OperandKind::name;
    if (accept('+')) operand.bits = integer();
    else if (lexer_.peek().is('-')) operand.bits = integer();
    return operand;
  }

  Lexer lexer_;
  Module module_;
  Function *function_ = nullptr;
  std::vector<Scope> scopes_;
};

} // namespace

Module parse(std::string_view text) { return Parser(text).parse(); }

} // namespace weft::emulator::ptx
