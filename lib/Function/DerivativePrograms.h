// Programs derived from a program: its derivative, what of it a derivative reaches, and the program
// as it may run again.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "Ops/Interpreter.h"
#include "Program/Program.h"

namespace weft {

/// Calls `callee` and pulls cotangents back through the call. The inputs are those of `callee`, its
/// captured tensors, and a cotangent per floating output; the outputs are those of `callee`, then
/// the gradients by the operands that `wrt` numbers, as in ProgramConstruct. With a half it is to
/// be compiled as that half of a derivative; without one the gradients are its only outputs, and
/// `wrt` names no variable. `ends_at_hosts` as in ProgramConstruct.
std::shared_ptr<const Program> derivative_of(const std::shared_ptr<const Program> &callee,
                                             const std::vector<std::uint32_t> &wrt,
                                             std::optional<DerivativePart::Half> half,
                                             bool ends_at_hosts);

/// What derivatives of a program's outputs come to, of which operands (inputs, captured tensors,
/// variables).
struct ReachedOperands {
  /// For each output the operands that its derivative may reach: by a path of floating values
  /// through ops with derivatives.
  std::vector<std::vector<bool>> outputs;
  /// The outputs that have no derivative by some operands, as a host call stands between them.
  std::vector<RefusedResult> refused;
  /// Whether these are all: what is between a derivative inside of the program and its operands is
  /// for the compiler to find out.
  bool all_refused = true;
};
ReachedOperands reached_operands(const Program &program);

/// The program as it may run again where it ran before: without prints and checks, and without
/// assigns to variables that it does not read. Itself if it has none of these.
std::shared_ptr<const Program> without_effects(const std::shared_ptr<const Program> &program);

/// The first op in the nodes, and in what they call, that may not happen twice; empty if none.
std::string_view effect_of(const std::vector<ProgramNode> &nodes);

} // namespace weft
