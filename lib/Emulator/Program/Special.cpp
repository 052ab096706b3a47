// Instructions whose operands are not a plain list: moves, conversions of addresses, branches.
#include "Emulator/Machine/Block.h"
#include "Emulator/Program/Decoder.h"
#include "Emulator/Program/Words.h"

namespace weft::emulator {

bool Decoder::decode_special(const Statement &statement) {
  const Words words = words_of(statement.opcode);
  const std::string_view name = words[0];
  if (name == "mov") decode_move(statement, words);
  else if (name == "cvta") decode_convert_address(statement, words);
  else if (name == "bra" || name == "brx") decode_branch(statement, words);
  else if (name == "ld" || name == "ldu" || name == "st") decode_load_or_store(statement, words);
  else if (name == "atom" || name == "red") decode_atomic(statement, words);
  else if (name == "cp" && words.size() > 3) decode_copy(statement, words);
  else if (name == "wgmma" && words.size() > 1 && words[1] == "mma_async")
    decode_warpgroup(statement, words);
  else if (name == "prefetch" || name == "prefetchu") decode_prefetch(statement);
  else if (name == "call") decode_call(statement, words);
  else return false;
  return true;
}

void Decoder::decode_move(const Statement &statement, const Words &words) {
  if (words.size() != 2 || statement.operands.size() != 2) fail("mov has a type and two operands");
  const Operand &to = statement.operands[0], &from = statement.operands[1];
  const bool packs = from.kind == ptx::OperandKind::list;
  if (!packs && to.kind != ptx::OperandKind::list) {
    Instruction in = begin(statement);
    if (words[1] == "b128") fail("mov.b128 of two registers is not known");
    const Form &found = form(statement.opcode);
    in.run = found.run;
    take_operands(in, statement, found.signature);
    return emit(in);
  }
  const Operand &whole = packs ? to : from, &list = packs ? from : to;
  const std::string_view bits_word = words[1].substr(1);
  if (words[1].front() != 'b') fail("mov of a list has a type of bits");
  const int bits = bits_word == "32" ? 32 : bits_word == "64" ? 64 : bits_word == "128" ? 128 : 0;
  const int count = static_cast<int>(list.parts.size());
  if (bits == 0 || (count != 2 && count != 4) || bits / count < 16)
    fail("mov cannot move a list of that length");
  Instruction in = begin(statement);
  in.run = form(std::string(packs ? "mov pack." : "mov unpack.") + std::string(bits_word) +
                (count == 2 ? ".2" : ".4"))
               .run;
  in.slots[0] = packs ? result(whole, bits) : source(whole, bits);
  std::vector<Slot> parts;
  for (const Operand &part : list.parts) {
    if (!packs && part.kind == ptx::OperandKind::sink) parts.push_back(kNoSlot);
    else parts.push_back(packs ? source(part, bits / count) : result(part, bits / count));
  }
  in.more = keep(parts);
  emit(in);
}

// A generic address is that of global memory, or one of a window for each other space.
void Decoder::decode_convert_address(const Statement &statement, const Words &words) {
  WordReader reader(words);
  const bool to = reader.accept("to");
  const std::string_view space =
      reader.accept_any({"global", "const", "shared", "shared::cta", "local", "param"});
  const bool wide = reader.accept("u64");
  if (space.empty() || !wide || !reader.done() || statement.operands.size() != 2)
    fail("unknown instruction '" + std::string(statement.opcode) + "'");
  std::uint64_t window = 0;
  if (space.starts_with("shared")) window = kSharedWindow;
  else if (space == "local") window = kLocalWindow;
  else if (space == "param") fail("generic addresses of parameters are not known");
  Instruction in = begin(statement);
  in.run = form(window == 0 ? "mov.u64" : to ? "sub.u64" : "add.u64").run;
  in.slots[0] = result(statement.operands[0], 64);
  in.slots[1] = source(statement.operands[1], 64);
  if (window != 0) in.slots[2] = constant(window, 8);
  emit(in);
}

void Decoder::decode_branch(const Statement &statement, const Words &words) {
  WordReader reader(words);
  const bool indexed = words[0] == "brx" && reader.accept("idx");
  const bool uniform = reader.accept("uni");
  const std::size_t count = indexed ? 2 : 1;
  if (!reader.done() || (words[0] == "brx" && !indexed) || statement.operands.size() != count)
    fail("unknown instruction '" + std::string(statement.opcode) + "'");
  Instruction in = begin(statement);
  in.run = form(indexed ? "brx " : uniform ? "bra uni" : "bra ").run;
  if (indexed) in.slots[0] = source(statement.operands[0], 32);
  emit(in); // the target is filled in when all labels have a place
}

// st.param of a variable that a call takes its arguments from.
void Decoder::decode_argument(const Statement &statement, std::string_view type) {
  const Operand &address = statement.operands[0];
  const auto found = address.kind == ptx::OperandKind::address && address.parts.size() == 1
                         ? arguments_.find(address.parts[0].name)
                         : arguments_.end();
  if (found == arguments_.end() || address.bits != 0) fail("an argument of a call is wanted");
  const auto &[slot, bits] = found->second;
  if ((bits != 32 && bits != 64) || !type.ends_with(std::to_string(bits)))
    fail("the argument " + std::string(found->first) + " has " + std::to_string(bits) + " bits");
  Instruction in = begin(statement);
  in.run = form(bits == 32 ? "mov.b32" : "mov.b64").run;
  in.slots[0] = slot;
  in.slots[1] = source(statement.operands[1], bits);
  emit(in);
}

// Of functions there is one, which the driver has: it sets the condition of a graph's node.
void Decoder::decode_call(const Statement &statement, const Words &words) {
  const auto &operands = statement.operands;
  const bool uniform = words.size() == 2 && words[1] == "uni";
  if (words.size() != 1 && !uniform)
    fail("unknown instruction '" + std::string(statement.opcode) + "'");
  if (operands.size() != 2 || operands[0].name != "cudaGraphSetConditional" ||
      operands[1].kind != ptx::OperandKind::group || operands[1].parts.size() != 2)
    fail("the only function that can be called is cudaGraphSetConditional(handle, value)");
  Instruction in = begin(statement);
  in.run = form("call cudaGraphSetConditional").run;
  for (int i = 0; i < 2; ++i) {
    const auto found = arguments_.find(operands[1].parts[static_cast<std::size_t>(i)].name);
    if (found == arguments_.end() || found->second.bits != (i == 0 ? 64 : 32))
      fail("cudaGraphSetConditional wants an argument of 64 and one of 32 bits");
    in.slots[i] = found->second.slot;
  }
  emit(in);
}

// Says to caches what has no effect on values.
void Decoder::decode_prefetch(const Statement &statement) {
  static constexpr std::string_view kForms[] = {"prefetch.L1",        "prefetch.L2",
                                                "prefetch.global.L1", "prefetch.global.L2",
                                                "prefetchu.L1",       "prefetch.tensormap"};
  for (const std::string_view known : kForms)
    if (statement.opcode == known) return;
  fail("unknown instruction '" + std::string(statement.opcode) + "'");
}

} // namespace weft::emulator
