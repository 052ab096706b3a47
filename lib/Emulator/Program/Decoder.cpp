// A function as a whole: its parameters, memory and registers, and one statement after the other.
#include "Emulator/Program/Decoder.h"

#include <algorithm>

#include "Emulator/Instructions/Convert.h"
#include "Emulator/Machine/Block.h"

namespace weft::emulator {
namespace {

std::uint64_t rounded_up(std::uint64_t x, std::uint64_t to) { return (x + to - 1) / to * to; }

} // namespace

Decoder::Decoder(const ptx::Module &module, const ptx::Function &function,
                 std::shared_ptr<const SourceText> source,
                 const std::map<std::string_view, std::uint64_t> &addresses)
    : module_(module), function_(function), addresses_(addresses) {
  kernel_.name = function.name;
  kernel_.source = std::move(source);
  std::copy(function.most_threads, function.most_threads + 3, kernel_.most_threads.begin());
  std::copy(function.required_threads, function.required_threads + 3,
            kernel_.required_threads.begin());
  std::copy(function.cluster, function.cluster + 3, kernel_.cluster.begin());
}

Kernel Decoder::decode() {
  lay_out_parameters();
  lay_out_memory();
  plan();
  begins_.reserve(function_.statements.size() + 1);
  for (std::size_t i = 0; i < function_.statements.size(); ++i) {
    begins_.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
    at_ = &function_.statements[i];
    if (!is_constant_[i]) decode(*at_);
  }
  begins_.push_back(static_cast<std::uint32_t>(kernel_.code.size()));
  Statement end; // a function may end without a ret
  end.line = function_.statements.empty() ? function_.line : function_.statements.back().line;
  end.opcode = "ret";
  at_ = &end;
  decode(end);
  resolve_branches();
  return std::move(kernel_);
}

void Decoder::lay_out_parameters() {
  std::uint64_t offset = 0;
  for (const ptx::Variable &variable : function_.parameters) {
    offset = rounded_up(offset, variable.alignment);
    const Parameter parameter{static_cast<std::uint32_t>(offset),
                              static_cast<std::uint32_t>(variable.size)};
    kernel_.parameters.push_back(parameter);
    parameters_[variable.name] = parameter;
    offset += variable.size;
  }
  kernel_.parameter_bytes = static_cast<std::uint32_t>(offset);
}

void Decoder::lay_out_memory() {
  // Of the module's shared variables, those that this function names.
  std::map<std::string_view, bool> named;
  const auto note = [&](const auto &self, const Operand &operand) -> void {
    if (operand.kind == ptx::OperandKind::name) named[operand.name] = true;
    for (const Operand &part : operand.parts) self(self, part);
  };
  for (const Statement &statement : function_.statements)
    for (const Operand &operand : statement.operands) note(note, operand);
  std::uint64_t shared = 0, local = 0, dynamic_alignment = 16;
  const auto place = [&](const ptx::Variable &variable, std::uint64_t &end, std::uint64_t base) {
    end = rounded_up(end, variable.alignment);
    variables_[variable.name] = base + end;
    end += variable.size;
  };
  std::vector<const ptx::Variable *> dynamic;
  const auto take = [&](const ptx::Variable &variable) {
    if (variable.space == ptx::Space::local) return place(variable, local, 0);
    if (variable.space != ptx::Space::shared) return;
    if (variable.size == 0) {
      dynamic.push_back(&variable);
      dynamic_alignment = std::max(dynamic_alignment, variable.alignment);
    } else {
      place(variable, shared, kSharedBegin);
    }
  };
  for (const ptx::Variable &variable : module_.variables)
    if (named.contains(variable.name)) take(variable);
  for (const ptx::Variable &variable : function_.variables) {
    if (variable.space == ptx::Space::param) {
      arguments_[variable.name] = {kernel_.register_bytes, 8 * static_cast<int>(variable.size)};
      kernel_.register_bytes += lane_bytes(64);
      continue;
    }
    if (variable.space == ptx::Space::global || variable.space == ptx::Space::constant)
      throw ptx::SyntaxError(variable.line, "the variable " + std::string(variable.name) +
                                                " has to stand outside of functions");
    take(variable);
  }
  if (!dynamic.empty()) shared = rounded_up(shared, dynamic_alignment);
  for (const ptx::Variable *variable : dynamic) variables_[variable->name] = kSharedBegin + shared;
  kernel_.static_shared_bytes = static_cast<std::uint32_t>(shared);
  kernel_.local_bytes = static_cast<std::uint32_t>(rounded_up(local, 16));
}

void Decoder::plan() {
  always_ = constant(kAllLanes, sizeof(LaneMask));
  is_constant_.assign(function_.statements.size(), false);
  registers_.assign(function_.registers.size(), kNoSlot);
  std::vector<bool> elsewhere(function_.registers.size());
  find_constants(elsewhere);
  const RegisterPlan planned = plan_registers(function_, elsewhere);
  for (std::size_t i = 0; i < registers_.size(); ++i)
    if (!elsewhere[i] && planned.slots[i] != kNoSlot)
      registers_[i] = kernel_.register_bytes + planned.slots[i];
  kernel_.register_bytes += planned.bytes;
  // What the assembler of a real one would need is not known; this is what is live at once.
  kernel_.registers_per_thread = std::clamp(planned.bytes / 128 + 8, 16U, 255U);
}

// Registers that are written once, by a parameter, a number or a special register, are no work:
// they are constants of the launch or of the block.
void Decoder::find_constants(std::vector<bool> &elsewhere) {
  std::vector<int> writes(function_.registers.size());
  for (const Statement &statement : function_.statements)
    if (!statement.operands.empty() && statement.operands[0].kind != ptx::OperandKind::address)
      for_registers(statement.operands[0],
                    [&](int number) { ++writes[static_cast<std::size_t>(number)]; });
  for (std::size_t i = 0; i < function_.statements.size(); ++i) {
    const Statement &statement = function_.statements[i];
    if (statement.guard >= 0 || statement.operands.size() != 2 ||
        statement.operands[0].kind != ptx::OperandKind::reg)
      continue;
    const auto target = static_cast<std::size_t>(statement.operands[0].number);
    if (writes[target] != 1) continue;
    at_ = &statement;
    if (const std::optional<Slot> slot = constant_of(statement)) {
      registers_[target] = *slot;
      elsewhere[target] = is_constant_[i] = true;
    }
  }
}

std::optional<Slot> Decoder::constant_of(const Statement &statement) {
  const Operand &value = statement.operands[1];
  const int bits = function_.registers[static_cast<std::size_t>(statement.operands[0].number)].bits;
  const std::string_view opcode = statement.opcode;
  if (opcode.starts_with("ld.param.")) {
    const std::string_view type = opcode.substr(9);
    if (type.size() != 3 || bits == 1 || type.substr(1) != std::to_string(bits)) return {};
    if (value.kind != ptx::OperandKind::address || value.parts.size() != 1) return {};
    const auto found = parameters_.find(value.parts[0].name);
    const auto bytes = static_cast<std::uint32_t>(bits) / 8;
    if (found == parameters_.end() || value.bits + bytes > found->second.size) return {};
    const auto offset = static_cast<std::uint32_t>(found->second.offset + value.bits);
    auto &slot = parameter_slots_[{offset, bytes}];
    if (slot == 0) { // a slot of constants has its top bit set
      slot = kInConstants | static_cast<Slot>(kernel_.constants.size());
      kernel_.constants.resize(kernel_.constants.size() + lane_bytes(bits));
      kernel_.copied_parameters.push_back({slot, offset, bytes});
    }
    return slot;
  }
  const bool to_global = opcode == "cvta.to.global.u64" || opcode == "cvta.global.u64";
  const bool move =
      opcode.starts_with("mov.") && opcode.size() == 7 && opcode.substr(5) == std::to_string(bits);
  if (!to_global && !move) return {};
  if (value.kind == ptx::OperandKind::reg) {
    const Slot slot = registers_[static_cast<std::size_t>(value.number)];
    const bool constant =
        slot != kNoSlot && bits_of(value) == bits; // so far only constants have one
    return constant ? std::optional(slot) : std::nullopt;
  }
  if (!move) return {};
  if (value.kind == ptx::OperandKind::name) {
    if (bits == 32)
      if (const std::optional<Slot> slot = special_register(value.name)) return slot;
    if (const auto address = address_of(value.name))
      return constant(*address + value.bits, static_cast<std::uint32_t>(bits) / 8);
    return {};
  }
  if (value.kind == ptx::OperandKind::integer || value.kind == ptx::OperandKind::float32 ||
      value.kind == ptx::OperandKind::float64)
    return source(value, bits, opcode[4] != 'f' ? 'r' : bits == 32 ? 'f' : 'g');
  return {};
}

Instruction Decoder::begin(const Statement &statement) {
  Instruction in;
  in.line = static_cast<std::uint32_t>(statement.line);
  in.guard = always_;
  if (statement.guard >= 0) {
    in.guard = registers_[static_cast<std::size_t>(statement.guard)];
    in.guard_flip = statement.guard_negated ? kAllLanes : 0;
  }
  return in;
}

const Form &Decoder::form(std::string_view name) const {
  const Form *found = forms().find(name);
  if (found == nullptr) fail("unknown instruction '" + std::string(at_->opcode) + "'");
  return *found;
}

void Decoder::decode(const Statement &statement) {
  if (decode_special(statement)) return;
  const Form &found = form(statement.opcode);
  Instruction in = begin(statement);
  in.run = found.run;
  in.mode = found.mode;
  take_operands(in, statement, found.signature);
  emit(in);
}

void Decoder::resolve_branches() {
  for (std::size_t i = 0; i < function_.statements.size(); ++i) {
    const Statement &statement = function_.statements[i];
    if (!statement.opcode.starts_with("br")) continue;
    if (!statement.opcode.starts_with("bra") && !statement.opcode.starts_with("brx")) continue;
    at_ = &statement;
    const auto target = [&](std::string_view name) {
      const auto found = function_.labels.find(name);
      if (found == function_.labels.end()) fail("there is no label " + std::string(name));
      return begins_[found->second.statement];
    };
    Instruction &in = kernel_.code[begins_[i + 1] - 1];
    if (statement.opcode.starts_with("bra")) {
      in.offset = target(statement.operands[0].name);
      continue;
    }
    const auto list = function_.labels.find(statement.operands[1].name);
    if (list == function_.labels.end() || list->second.targets.empty())
      fail("there is no list of targets " + std::string(statement.operands[1].name));
    std::vector<Slot> targets;
    for (const std::string_view name : list->second.targets) targets.push_back(target(name));
    in.mode = static_cast<std::uint32_t>(targets.size());
    in.more = keep(targets);
  }
}

} // namespace weft::emulator
