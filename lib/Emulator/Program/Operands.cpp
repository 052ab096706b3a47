// Operands: registers and numbers as slots, names as addresses.
#include <cstring>

#include "Emulator/Instructions/Convert.h"
#include "Emulator/Machine/Block.h"
#include "Emulator/Memory/Modes.h"
#include "Emulator/Program/Decoder.h"

namespace weft::emulator {
namespace {

const std::map<std::string_view, Special> &special_names() {
  static const auto &names = *new std::map<std::string_view, Special>{
      {"%tid.x", Special::tid_x},
      {"%tid.y", Special::tid_y},
      {"%tid.z", Special::tid_z},
      {"%ntid.x", Special::ntid_x},
      {"%ntid.y", Special::ntid_y},
      {"%ntid.z", Special::ntid_z},
      {"%ctaid.x", Special::ctaid_x},
      {"%ctaid.y", Special::ctaid_y},
      {"%ctaid.z", Special::ctaid_z},
      {"%nctaid.x", Special::nctaid_x},
      {"%nctaid.y", Special::nctaid_y},
      {"%nctaid.z", Special::nctaid_z},
      {"%laneid", Special::laneid},
      {"%warpid", Special::warpid},
      {"%nwarpid", Special::nwarpid},
      {"%lanemask_eq", Special::lanemask_eq},
      {"%lanemask_le", Special::lanemask_le},
      {"%lanemask_lt", Special::lanemask_lt},
      {"%lanemask_ge", Special::lanemask_ge},
      {"%lanemask_gt", Special::lanemask_gt},
      {"%dynamic_smem_size", Special::dynamic_smem_size},
      {"%total_smem_size", Special::total_smem_size},
      {"%smid", Special::smid},
      {"%nsmid", Special::nsmid},
      {"%clusterid.x", Special::clusterid_x},
      {"%clusterid.y", Special::clusterid_y},
      {"%clusterid.z", Special::clusterid_z},
      {"%nclusterid.x", Special::nclusterid_x},
      {"%nclusterid.y", Special::nclusterid_y},
      {"%nclusterid.z", Special::nclusterid_z},
      {"%cluster_ctaid.x", Special::cluster_ctaid_x},
      {"%cluster_ctaid.y", Special::cluster_ctaid_y},
      {"%cluster_ctaid.z", Special::cluster_ctaid_z},
      {"%cluster_nctaid.x", Special::cluster_nctaid_x},
      {"%cluster_nctaid.y", Special::cluster_nctaid_y},
      {"%cluster_nctaid.z", Special::cluster_nctaid_z},
      {"%cluster_ctarank", Special::cluster_ctarank},
      {"%cluster_nctarank", Special::cluster_nctarank},
  };
  return names;
}

int bits_of_letter(char letter) {
  switch (letter) {
  case 'h':
  case 'e': return 16;
  case 'r':
  case 'f': return 32;
  case 'd':
  case 'g': return 64;
  case 'q': return 128;
  default: return 1;
  }
}

template <class To, class From>
To bits_as(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

} // namespace

void Decoder::fail(const std::string &what) const { throw ptx::SyntaxError(at_->line, what); }

int Decoder::bits_of(const Operand &reg) const {
  return function_.registers[static_cast<std::size_t>(reg.number)].bits;
}

Slot Decoder::constant(std::uint64_t bits, std::uint32_t bytes) {
  const auto [found, is_new] = constants_.emplace(std::pair(bits, bytes), 0);
  if (!is_new) return found->second;
  const std::size_t at = kernel_.constants.size();
  found->second = kInConstants | static_cast<Slot>(at);
  // A predicate is one mask for all lanes, and may be taken for one of 32 bits: so it has room.
  kernel_.constants.resize(at + std::size_t{bytes} * kLanes);
  for (int lane = 0; lane < kLanes; ++lane)
    std::memcpy(kernel_.constants.data() + at + static_cast<std::size_t>(lane) * bytes, &bits,
                bytes < 8 ? bytes : 8);
  return found->second;
}

std::optional<Slot> Decoder::special_register(std::string_view name) {
  if (name == "WARP_SZ") return constant(kLanes, 4);
  const auto found = special_names().find(name);
  if (found == special_names().end()) return {};
  const auto [known, is_new] = specials_.emplace(found->second, 0);
  if (is_new) {
    known->second = kernel_.register_bytes;
    kernel_.register_bytes += lane_bytes(32);
    kernel_.specials.push_back({found->second, known->second});
  }
  return known->second;
}

std::optional<std::uint64_t> Decoder::address_of(std::string_view name) const {
  if (const auto found = variables_.find(name); found != variables_.end()) return found->second;
  if (const auto found = addresses_.find(name); found != addresses_.end()) return found->second;
  return {};
}

Slot Decoder::scratch(int bits) {
  const auto [found, is_new] = scratch_.emplace(bits, kernel_.register_bytes);
  if (is_new) kernel_.register_bytes += (lane_bytes(bits) + 63) / 64 * 64;
  return found->second;
}

Slot Decoder::carry() {
  if (carry_ == kNoSlot) {
    carry_ = kernel_.register_bytes;
    kernel_.register_bytes += 64;
  }
  return carry_;
}

Slot Decoder::result(const Operand &operand, int bits) {
  if (operand.kind == ptx::OperandKind::sink) return scratch(bits);
  if (operand.kind != ptx::OperandKind::reg) fail("a register is wanted for the result");
  if (bits_of(operand) != bits)
    fail("the register " + std::string(operand.name) + " has " + std::to_string(bits_of(operand)) +
         " bits, and " + std::string(at_->opcode) + " gives " + std::to_string(bits));
  return registers_[static_cast<std::size_t>(operand.number)];
}

std::uint64_t Decoder::number(const Operand &operand, int bits, char letter) const {
  const bool is_float = letter == 'f' || letter == 'g' || letter == 'e';
  switch (operand.kind) {
  case ptx::OperandKind::integer: {
    if (is_float && letter != 'e') fail("a floating-point number is wanted");
    const auto value = static_cast<std::int64_t>(operand.bits);
    if (bits < 64 && (value >> bits) != 0 && (value >> (bits - 1)) != -1)
      fail("the number " + std::to_string(value) + " does not fit " + std::to_string(bits) +
           " bits");
    return bits == 64 ? operand.bits : operand.bits & ((1ULL << bits) - 1);
  }
  case ptx::OperandKind::float32:
    if (bits == 32) return operand.bits;
    if (letter == 'g')
      return bits_as<std::uint64_t>(
          static_cast<double>(bits_as<float>(static_cast<std::uint32_t>(operand.bits))));
    break;
  case ptx::OperandKind::float64:
    if (bits == 64) return operand.bits;
    if (letter == 'f')
      return bits_as<std::uint32_t>(static_cast<float>(bits_as<double>(operand.bits)));
    break;
  default: fail("a register or a number is wanted");
  }
  fail("a floating-point number of another width is wanted");
}

Slot Decoder::source(const Operand &operand, int bits, char letter) {
  if (operand.kind == ptx::OperandKind::reg) {
    if (operand.negated) fail("only predicates can be negated");
    if (bits_of(operand) != bits)
      fail("the register " + std::string(operand.name) + " has " +
           std::to_string(bits_of(operand)) + " bits, and " + std::string(at_->opcode) + " wants " +
           std::to_string(bits));
    const Slot slot = registers_[static_cast<std::size_t>(operand.number)];
    return slot == kNoSlot ? scratch(bits) : slot; // nobody writes it
  }
  if (operand.kind == ptx::OperandKind::name) {
    if (bits == 32)
      if (const std::optional<Slot> slot = special_register(operand.name)) return *slot;
    if (const auto address = address_of(operand.name))
      return constant(*address + operand.bits, static_cast<std::uint32_t>(bits) / 8);
    fail("unknown name '" + std::string(operand.name) + "'");
  }
  return constant(number(operand, bits, letter), static_cast<std::uint32_t>(bits) / 8);
}

Slot Decoder::predicate(const Operand &operand) {
  if (operand.kind == ptx::OperandKind::integer)
    return constant((operand.bits != 0) != operand.negated ? kAllLanes : 0, sizeof(LaneMask));
  if (operand.kind != ptx::OperandKind::reg || bits_of(operand) != 1) fail("a predicate is wanted");
  const Slot slot = registers_[static_cast<std::size_t>(operand.number)];
  if (!operand.negated) return slot == kNoSlot ? scratch(1) : slot;
  Instruction flip = begin(*at_);
  flip.run = form("not.pred").run;
  flip.slots[0] = kernel_.register_bytes; // one for each, as an instruction may have several
  flip.slots[1] = slot;
  kernel_.register_bytes += 64;
  emit(flip);
  return flip.slots[0];
}

// Lists of registers, such as {%f1, %f2}; one register may stand without braces.
void Decoder::take_lists(Instruction &in, const Statement &statement, std::string_view signature) {
  signature.remove_prefix(1);
  const bool has_address = signature.back() == 'A';
  const std::size_t lists = signature.size() / 2, wanted = lists + (has_address ? 1 : 0);
  if (statement.operands.size() != wanted)
    fail(std::string(statement.opcode) + " has " + std::to_string(wanted) + " operands, not " +
         std::to_string(statement.operands.size()));
  std::vector<Slot> slots;
  for (std::size_t i = 0; i < lists; ++i) {
    const auto count = static_cast<std::size_t>(signature[2 * i] - '0');
    const char letter = signature[2 * i + 1];
    const Operand &operand = statement.operands[i];
    const bool list = operand.kind == ptx::OperandKind::list;
    if ((list ? operand.parts.size() : 1) != count)
      fail("a list of " + std::to_string(count) + " registers is wanted");
    for (std::size_t k = 0; k < count; ++k) {
      const Operand &part = list ? operand.parts[k] : operand;
      if (i > 0) slots.push_back(source(part, bits_of_letter(letter), letter));
      else if (part.kind == ptx::OperandKind::sink) slots.push_back(kNoSlot);
      else slots.push_back(result(part, bits_of_letter(letter)));
    }
  }
  in.more = keep(slots);
  if (has_address) take_address(in, statement.operands[lists], true);
}

void Decoder::take_operands(Instruction &in, const Statement &statement,
                            std::string_view signature) {
  if (signature.starts_with('[')) return take_lists(in, statement, signature);
  const auto wanted = [&] {
    std::size_t count = 0;
    for (const char letter : signature) count += letter != '.' && letter != ':' && letter != 'c';
    return count;
  }();
  const bool optional = signature.find('.') != std::string_view::npos;
  const std::size_t given = statement.operands.size();
  if (given != wanted && !(optional && given + 1 == wanted))
    fail(std::string(statement.opcode) + " has " + std::to_string(wanted) + " operands, not " +
         std::to_string(given));
  std::size_t next = 0, slot = 0;
  bool is_result = true;
  for (std::size_t i = 0; i < signature.size(); ++i) {
    const char letter = signature[i];
    if (letter == ':') {
      is_result = false;
      continue;
    }
    if (letter == 'c') {
      in.slots[slot++] = carry();
      continue;
    }
    if (letter == '.') {
      if (given != wanted) { // what follows is missing
        ++slot;
        ++i;
      }
      continue;
    }
    const Operand &operand = statement.operands[next++];
    if (letter == 'P' || letter == 'R' || letter == 'O') {
      const bool pair = operand.kind == ptx::OperandKind::pair;
      if (pair && letter == 'O') fail(std::string(at_->opcode) + " gives one predicate");
      in.slots[slot++] = result(pair ? operand.parts[0] : operand, letter == 'R' ? 32 : 1);
      in.slots[slot++] = pair ? result(operand.parts[1], 1) : kNoSlot;
    } else if (letter == 'v' || letter == 'w') {
      const int bits = operand.kind == ptx::OperandKind::reg       ? bits_of(operand)
                       : operand.kind == ptx::OperandKind::float32 ? 32
                                                                   : 64;
      const auto bytes = static_cast<std::uint32_t>(bits) / 8;
      if (bits == 1 || bits > 64) fail("a register of 16 to 64 bits is wanted");
      in.mode |= letter == 'v' ? bytes : bytes << kConvertSourceShift;
      const char kind = operand.kind == ptx::OperandKind::float32   ? 'f'
                        : operand.kind == ptx::OperandKind::float64 ? 'g'
                                                                    : 'r';
      in.slots[slot++] = letter == 'v' ? result(operand, bits) : source(operand, bits, kind);
    } else if (letter == 'p') {
      in.slots[slot++] = is_result ? result(operand, 1) : predicate(operand);
    } else {
      in.slots[slot++] = is_result ? result(operand, bits_of_letter(letter))
                                   : source(operand, bits_of_letter(letter), letter);
    }
    is_result = false;
  }
  if (signature == kConvertSignature) check_convert(in, statement);
}

// The registers of a conversion may be wider than its types, unless one of these is bf16, but not
// narrower.
void Decoder::check_convert(const Instruction &in, const Statement &statement) const {
  const auto bytes_of = [&](std::string_view type) {
    const std::string_view digits = type.substr(type.find_first_of("0123456789"));
    return digits == "8" ? 1U : digits == "16" ? 2U : digits == "32" ? 4U : 8U;
  };
  const std::size_t source_dot = statement.opcode.rfind('.');
  const std::size_t target_dot = statement.opcode.rfind('.', source_dot - 1);
  const std::string_view source = statement.opcode.substr(source_dot + 1);
  const std::string_view target =
      statement.opcode.substr(target_dot + 1, source_dot - target_dot - 1);
  const std::uint32_t source_bytes = in.mode >> kConvertSourceShift & 0xff;
  const std::uint32_t target_bytes = in.mode & 0xff;
  if (target_bytes < bytes_of(target) || source_bytes < bytes_of(source))
    fail("a register is narrower than its type in " + std::string(statement.opcode));
  if ((target == "bf16" || source == "bf16") &&
      (target_bytes != bytes_of(target) || source_bytes != bytes_of(source)))
    fail("registers of " + std::string(statement.opcode) + " are as wide as its types");
}

void Decoder::take_address(Instruction &in, const Operand &operand, bool shared) {
  if (operand.kind != ptx::OperandKind::address || operand.parts.size() != 1)
    fail("an address such as [%rd1+4] is wanted");
  const Operand &base = operand.parts[0];
  in.offset = static_cast<std::int64_t>(operand.bits);
  if (base.kind == ptx::OperandKind::reg) {
    const int bits = bits_of(base);
    if (bits != 64 && !(shared && bits == 32)) fail("an address has 64 bits");
    if (bits == 32) in.mode |= kNarrowAddress;
    in.slots[0] = source(base, bits);
    return;
  }
  if (base.kind == ptx::OperandKind::integer) {
    in.slots[0] = constant(base.bits, 8);
    return;
  }
  const auto address = address_of(base.name);
  if (!address) fail("unknown name '" + std::string(base.name) + "'");
  in.slots[0] = constant(*address, 8);
}

const Slot *Decoder::keep(const std::vector<Slot> &slots) {
  auto kept = std::make_unique<Slot[]>(slots.size());
  std::copy(slots.begin(), slots.end(), kept.get());
  kernel_.lists.push_back(std::move(kept));
  return kernel_.lists.back().get();
}

} // namespace weft::emulator
