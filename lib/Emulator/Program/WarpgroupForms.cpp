// wgmma.mma_async: its shape and types, its matrices, and what it is told about them.
#include <charconv>

#include "Emulator/Memory/Modes.h"
#include "Emulator/Program/Decoder.h"
#include "Emulator/Program/Words.h"

namespace weft::emulator {

// wgmma.mma_async.sync.aligned.m64nNk16.f32.T.T {d..}, a, b, p, 1, 1{, transposed}, transposed;
void Decoder::decode_warpgroup(const Statement &statement, const Words &words) {
  const auto unknown = [&] { fail("unknown instruction '" + std::string(statement.opcode) + "'"); };
  if (module_.target != "sm_90a")
    fail(std::string(words[0]) + " is an instruction of sm_90a, and the target is " +
         std::string(module_.target));
  WordReader reader(words);
  if (!reader.accept("mma_async") || !reader.accept("sync") || !reader.accept("aligned")) unknown();
  std::string_view shape = reader.take();
  if (!shape.starts_with("m64n") || !shape.ends_with("k16")) unknown();
  shape = shape.substr(4, shape.size() - 7);
  int columns = 0;
  if (std::from_chars(shape.begin(), shape.end(), columns).ptr != shape.end()) unknown();
  if (columns < 8 || columns > 256 || columns % 8 != 0)
    fail("a product of a warpgroup has 8 to 256 columns, a multiple of 8, and not " +
         std::to_string(columns));
  if (!reader.accept("f32")) unknown();
  const std::string_view type = reader.accept_any({"f16", "bf16"});
  if (type.empty() || !reader.accept(type) || !reader.done()) unknown();

  const auto &operands = statement.operands;
  const bool in_registers = operands.size() > 1 && operands[1].kind == ptx::OperandKind::list;
  const std::size_t wanted = in_registers ? 7 : 8;
  if (operands.size() != wanted)
    fail("wgmma.mma_async has " + std::to_string(wanted) + " operands, not " +
         std::to_string(operands.size()));
  Instruction in = begin(statement);
  in.run = form("wgmma.mma_async " + std::string(type)).run;
  in.offset = columns;
  std::vector<Slot> slots;
  if (operands[0].kind != ptx::OperandKind::list ||
      operands[0].parts.size() != static_cast<std::size_t>(columns / 2))
    fail("a list of " + std::to_string(columns / 2) + " registers is wanted");
  for (const Operand &part : operands[0].parts) slots.push_back(result(part, 32));
  if (in_registers) {
    if (operands[1].parts.size() != 4) fail("a list of 4 registers is wanted");
    for (const Operand &part : operands[1].parts) slots.push_back(source(part, 32));
    in.mode |= kWarpgroupRegisters;
  } else {
    in.slots[0] = source(operands[1], 64);
  }
  in.more = keep(slots);
  in.slots[1] = source(operands[2], 64);
  in.slots[2] = predicate(operands[3]);
  // 1 or -1 for each matrix, then whether those in memory are transposed.
  const auto flag = [&](std::size_t i, std::int64_t set, std::int64_t clear, std::uint32_t mode) {
    const auto value = static_cast<std::int64_t>(operands[i].bits);
    if (operands[i].kind != ptx::OperandKind::integer || (value != set && value != clear))
      fail("operand " + std::to_string(i + 1) + " is " + std::to_string(clear) + " or " +
           std::to_string(set));
    if (value == set) in.mode |= mode;
  };
  flag(4, -1, 1, kWarpgroupNegateA);
  flag(5, -1, 1, kWarpgroupNegateB);
  if (!in_registers) flag(6, 1, 0, kWarpgroupAcrossA);
  flag(wanted - 1, 1, 0, kWarpgroupAcrossB);
  emit(in);
}

} // namespace weft::emulator
