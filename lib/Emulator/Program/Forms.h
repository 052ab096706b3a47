// The table of instruction forms: from the text of an opcode with all its modifiers to what
// executes it.
#pragma once

#include <functional>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>

#include "Emulator/Program/Instruction.h"

namespace weft::emulator {

/// A form. Its signature has a letter for each operand, of which the first is the result, unless
/// the signature begins with a colon:
///   h r d q   16, 32, 64 or 128 bits: a register or, as a source, a whole number
///   e f g     the same where numbers are f16 or bf16, f32, f64
///   p         a predicate, as a source perhaps negated
///   P         a predicate or a pair `p|q`, which takes two slots
///   O         a predicate alone, which takes two slots as well
///   R         a 32-bit result or a pair `r|p`, which takes two slots
///   v w       a result or source of any width, of cvt
///   c         no operand: the slot of the carry
///   .         what follows may be missing
/// One that begins with `[` is of lists, the first of results, with a number and a letter for each:
/// `[4f2r1r4f`. Behind them may be an address, A.
struct Form {
  Handler run = nullptr;
  std::string_view signature;
  std::uint32_t mode = 0;
};

class FormTable {
public:
  /// Adds the form `parts[0].parts[1]...`, without parts that are empty. Those whose operands the
  /// decoder reads by itself have a name with a blank, which no opcode has.
  void add(std::initializer_list<std::string_view> parts, Handler run, std::string_view signature,
           std::uint32_t mode = 0);
  /// Null if there is none.
  const Form *find(std::string_view opcode) const;

  /// By their names.
  const std::map<std::string, Form, std::less<>> &all() const { return forms_; }

private:
  std::map<std::string, Form, std::less<>> forms_;
};

/// Those of this processor's level.
const FormTable &forms();

} // namespace weft::emulator
