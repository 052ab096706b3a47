// From statements of a function to instructions that the machine runs.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "Emulator/Program/Forms.h"
#include "Emulator/Program/Kernel.h"
#include "Emulator/Program/Registers.h"
#include "Emulator/Ptx/Lexer.h"
#include "Emulator/Ptx/Syntax.h"

namespace weft::emulator {

/// Decodes one function. Its methods throw ptx::SyntaxError for what PTX does not allow or the
/// machine does not know.
class Decoder {
public:
  /// `addresses` has those of the module's variables that lie in device memory.
  Decoder(const ptx::Module &module, const ptx::Function &function,
          std::shared_ptr<const SourceText> source,
          const std::map<std::string_view, std::uint64_t> &addresses);

  Kernel decode();

private:
  using Statement = ptx::Statement;
  using Operand = ptx::Operand;
  using Words = std::vector<std::string_view>;

  // Decoder.cpp: the function as a whole.
  void lay_out_parameters();
  void lay_out_memory();
  void plan();
  void find_constants(std::vector<bool> &elsewhere);
  std::optional<Slot> constant_of(const Statement &statement);
  void decode(const Statement &statement);
  void resolve_branches();

  // Operands.cpp: registers, numbers, names.
  [[noreturn]] void fail(const std::string &what) const;
  int bits_of(const Operand &reg) const;
  Slot constant(std::uint64_t bits, std::uint32_t bytes);
  std::optional<Slot> special_register(std::string_view name);
  std::optional<std::uint64_t> address_of(std::string_view name) const;
  /// A register that is written, or room for a result that nobody wants.
  Slot result(const Operand &operand, int bits);
  Slot source(const Operand &operand, int bits, char letter = 'r');
  Slot predicate(const Operand &operand);
  std::uint64_t number(const Operand &operand, int bits, char letter) const;
  Slot scratch(int bits);
  Slot carry();
  void take_lists(Instruction &in, const Statement &statement, std::string_view signature);
  void take_operands(Instruction &in, const Statement &statement, std::string_view signature);
  void check_convert(const Instruction &in, const Statement &statement) const;
  /// The slot, offset and mode of `[register + number]`.
  void take_address(Instruction &in, const Operand &operand, bool shared);
  const Slot *keep(const std::vector<Slot> &slots);

  Instruction begin(const Statement &statement);
  void emit(const Instruction &in) { kernel_.code.push_back(in); }
  const Form &form(std::string_view name) const;

  // Special.cpp, MemoryForms.cpp, CopyForms.cpp, WarpgroupForms.cpp: instructions whose operands
  // are not a plain list.
  bool decode_special(const Statement &statement);
  void decode_move(const Statement &statement, const Words &words);
  void decode_convert_address(const Statement &statement, const Words &words);
  void decode_branch(const Statement &statement, const Words &words);
  void decode_load_or_store(const Statement &statement, const Words &words);
  void decode_atomic(const Statement &statement, const Words &words);
  void decode_copy(const Statement &statement, const Words &words);
  void decode_warpgroup(const Statement &statement, const Words &words);
  void decode_prefetch(const Statement &statement);
  void decode_argument(const Statement &statement, std::string_view type);
  void decode_call(const Statement &statement, const Words &words);

  const ptx::Module &module_;
  const ptx::Function &function_;
  const std::map<std::string_view, std::uint64_t> &addresses_;
  Kernel kernel_;
  std::map<std::string_view, Parameter> parameters_;
  /// `.param` variables of the body, which arguments of calls are stored to.
  struct Argument {
    Slot slot;
    int bits;
  };
  std::map<std::string_view, Argument> arguments_;
  std::map<std::string_view, std::uint64_t> variables_; ///< shared and local ones
  std::vector<Slot> registers_;
  std::map<std::pair<std::uint64_t, std::uint32_t>, Slot> constants_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Slot> parameter_slots_; ///< by offset and bytes
  std::map<Special, Slot> specials_;
  std::map<int, Slot> scratch_;
  Slot carry_ = kNoSlot, always_ = kNoSlot;
  std::vector<std::uint32_t> begins_; ///< of each statement, its first instruction
  std::vector<bool> is_constant_;     ///< statements that became constants
  const Statement *at_ = nullptr;
};

} // namespace weft::emulator
