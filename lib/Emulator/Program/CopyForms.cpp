// cp.async: its modifiers, its two addresses and its sizes.
#include "Emulator/Memory/Modes.h"
#include "Emulator/Program/Decoder.h"
#include "Emulator/Program/Words.h"

namespace weft::emulator {

// cp.async.{ca,cg}.shared.global [to], [from], bytes{, bytes that are read};
void Decoder::decode_copy(const Statement &statement, const Words &words) {
  const auto unknown = [&] { fail("unknown instruction '" + std::string(statement.opcode) + "'"); };
  WordReader reader(words);
  if (!reader.accept("async")) unknown();
  const std::string_view caches = reader.accept_any({"ca", "cg"});
  const bool shared = !reader.accept_any({"shared", "shared::cta"}).empty();
  if (caches.empty() || !shared || !reader.accept("global")) unknown();
  reader.accept_any({"L2::64B", "L2::128B", "L2::256B"});
  if (!reader.done()) unknown();
  const auto &operands = statement.operands;
  if (operands.size() != 3 && operands.size() != 4)
    fail("cp.async has two addresses, a size and perhaps another one");
  const Operand &size = operands[2];
  const bool fits = size.kind == ptx::OperandKind::integer &&
                    (size.bits == 16 || (caches == "ca" && (size.bits == 4 || size.bits == 8)));
  if (!fits)
    fail(caches == "ca" ? "cp.async.ca copies 4, 8 or 16 bytes" : "cp.async.cg copies 16 bytes");

  Instruction in = begin(statement);
  in.run = form("cp.async ").run;
  in.mode = static_cast<std::uint32_t>(size.bits) << kCopyBytesShift;
  // The source is decoded as an address as well; an offset of its own is an addition before.
  Instruction source_address = in;
  take_address(source_address, operands[1], false);
  in.slots[1] = source_address.slots[0];
  if (source_address.offset != 0) {
    Instruction sum = begin(statement);
    sum.run = form("add.u64").run;
    sum.slots[0] = kernel_.register_bytes;
    kernel_.register_bytes += kLanes * 8;
    sum.slots[1] = in.slots[1];
    sum.slots[2] = constant(static_cast<std::uint64_t>(source_address.offset), 8);
    emit(sum);
    in.slots[1] = sum.slots[0];
  }
  take_address(in, operands[0], true);
  if (operands.size() == 4) in.slots[2] = source(operands[3], 32);
  emit(in);
}

} // namespace weft::emulator
