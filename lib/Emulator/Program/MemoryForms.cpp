// Loads, stores and atomics: their modifiers, types and vectors.
#include "Emulator/Memory/Access.h"
#include "Emulator/Memory/Modes.h"
#include "Emulator/Program/Decoder.h"
#include "Emulator/Program/Words.h"

namespace weft::emulator {
namespace {

/// Where caches should keep it: has no effect on values.
void skip_cache_hints(WordReader &reader) {
  for (;;) {
    if (!reader.accept_any({"ca", "cg", "cs", "lu", "cv", "wb", "wt", "nc"}).empty()) continue;
    if (reader.accept_prefix("L1::") || reader.accept_prefix("L2::")) continue;
    return;
  }
}

/// .weak and the ordered kinds, which have a scope; true if it is one of these.
bool take_order(WordReader &reader) {
  if (reader.accept("weak")) return false;
  if (reader.accept("volatile")) return true;
  if (reader.accept_any({"relaxed", "acquire", "release", "acq_rel"}).empty()) return false;
  reader.accept_any({"cta", "cluster", "gpu", "sys"});
  return true;
}

std::string_view take_space(WordReader &reader) {
  const std::string_view space = reader.accept_any(
      {"global", "shared", "shared::cta", "local", "const", "param", "param::entry"});
  if (space.empty()) return "generic";
  if (space == "shared::cta") return "shared";
  if (space == "param::entry") return "param";
  return space == "const" ? "global" : space;
}

/// A type as loads and stores see it: its size, and its sign where that is extended.
std::string plain_type(std::string_view type, bool keeps_sign) {
  static const auto &plain = *new std::map<std::string_view, std::string_view>{
      {"b8", "u8"},   {"u8", "u8"},   {"s8", "s8"},   {"b16", "u16"},
      {"u16", "u16"}, {"s16", "s16"}, {"f16", "u16"}, {"bf16", "u16"},
      {"b32", "u32"}, {"u32", "u32"}, {"s32", "s32"}, {"f32", "u32"},
      {"b64", "u64"}, {"u64", "u64"}, {"s64", "s64"}, {"f64", "u64"}};
  const auto found = plain.find(type);
  if (found == plain.end()) return {};
  std::string name(found->second);
  if (!keeps_sign) name[0] = 'u';
  return name;
}

int bits_of_type(const std::string &type) { return std::stoi(type.substr(1)); }

} // namespace

void Decoder::decode_load_or_store(const Statement &statement, const Words &words) {
  const bool load = words[0] != "st";
  WordReader reader(words);
  Instruction in = begin(statement);
  if (take_order(reader)) in.mode |= kOrderedAccess;
  const std::string_view space = take_space(reader);
  skip_cache_hints(reader);
  const std::string_view vector = reader.accept_any({"v2", "v4", "v8"});
  skip_cache_hints(reader);
  const std::string_view word = reader.take();
  const std::string type = plain_type(word, load);
  if (type.empty() || !reader.done())
    fail("unknown instruction '" + std::string(statement.opcode) + "'");
  if (statement.operands.size() != 2) fail(std::string(statement.opcode) + " has two operands");
  if (!load && space == "param") return decode_argument(statement, word);
  const Operand &data = statement.operands[load ? 0 : 1];
  const Operand &address = statement.operands[load ? 1 : 0];

  const std::size_t count = vector.empty() ? 1 : static_cast<std::size_t>(vector[1] - '0');
  const bool list = data.kind == ptx::OperandKind::list;
  if (count > 1 && (!list || data.parts.size() != count))
    fail("a list of " + std::to_string(count) + " registers is wanted");
  const std::vector<Operand> single = {data};
  const std::vector<Operand> &parts = list ? data.parts : single;
  if (parts.size() != count) fail("one register is wanted");
  in.mode |= static_cast<std::uint32_t>(count);

  int bits = std::max(16, bits_of_type(type)); // of registers, which may be wider than the type
  for (const Operand &part : parts)
    if (part.kind == ptx::OperandKind::reg) bits = bits_of(part);
  if (bits < bits_of_type(type) || bits > 64)
    fail("a register of " + std::to_string(bits) + " bits cannot hold a ." + std::string(word));
  std::vector<Slot> slots;
  for (const Operand &part : parts)
    slots.push_back(!load                                 ? source(part, bits,
                                                                   word.front() != 'f' ? 'r'
                                                                   : bits == 32        ? 'f'
                                                                                       : 'g')
                    : part.kind == ptx::OperandKind::sink ? kNoSlot
                                                          : result(part, bits));
  if (count > 4) in.more = keep(slots);
  else std::copy(slots.begin(), slots.end(), in.slots + 1);

  std::string name = load ? "ld " : "st ";
  name += std::string(space) + "." + type + "." + std::to_string(bits);
  const Form *found = forms().find(name);
  if (found == nullptr) fail("unknown instruction '" + std::string(statement.opcode) + "'");
  in.run = found->run;
  if (space == "param") {
    if (address.kind != ptx::OperandKind::address || address.parts.size() != 1)
      fail("a parameter is wanted");
    const auto parameter = parameters_.find(address.parts[0].name);
    if (parameter == parameters_.end())
      fail("there is no parameter " + std::string(address.parts[0].name));
    in.offset = static_cast<std::int64_t>(parameter->second.offset + address.bits);
  } else {
    take_address(in, address, space == "shared" || space == "local");
  }
  emit(in);
}

void Decoder::decode_atomic(const Statement &statement, const Words &words) {
  const bool has_result = words[0] == "atom";
  WordReader reader(words);
  Instruction in = begin(statement);
  take_order(reader);
  reader.accept_any({"cta", "cluster", "gpu", "sys"}); // a scope without an order
  const std::string_view space = take_space(reader);
  std::string op(reader.take());
  if (reader.accept("noftz")) op += ".noftz";
  const std::string_view type = reader.take();
  const Form *found = forms().find("atom ." + op + "." + std::string(type));
  const bool known = space == "global" || space == "shared" || space == "generic";
  if (found == nullptr || !reader.done() || !known)
    fail("unknown instruction '" + std::string(statement.opcode) + "'");
  const std::size_t sources = op == "cas" ? 2 : 1;
  const std::size_t first = has_result ? 1 : 0; // the address
  if (statement.operands.size() != first + 1 + sources)
    fail(std::string(statement.opcode) + " has " + std::to_string(first + 1 + sources) +
         " operands");
  in.run = found->run;
  const auto where = space == "shared"    ? Where::shared
                     : space == "generic" ? Where::generic
                                          : Where::global;
  in.mode |= static_cast<std::uint32_t>(where) << kWhereShift;
  const char letter = found->signature[0];
  const int bits = letter == 'h' || letter == 'e' ? 16 : letter == 'd' || letter == 'g' ? 64 : 32;
  if (has_result && statement.operands[0].kind != ptx::OperandKind::sink)
    in.slots[1] = result(statement.operands[0], bits);
  take_address(in, statement.operands[first], space == "shared");
  for (std::size_t i = 0; i < sources; ++i)
    in.slots[2 + i] = source(statement.operands[first + 1 + i], bits, letter);
  emit(in);
}

} // namespace weft::emulator
