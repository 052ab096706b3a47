// Debug information of compiled code: the user's lines, and which op call each instruction serves.
#pragma once

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <optional>
#include <string>

namespace weft::jit {

/// The op call that a location stands for.
struct CallName {
  std::string op;       ///< "matmul"
  std::string function; ///< the traced function it is in
};

/// Finds op calls by their numbers; nothing for a number that there is none of.
using CallNames = std::function<std::optional<CallName>(std::int64_t site)>;

/// Prepares a module in the LLVM dialect for translation with line tables: every operation gets
/// the line of its op call, as code of a function named after the op that was inlined. gdb stops at
/// the lines and shows op and traced function as frames.
void addDebugInfo(mlir::ModuleOp module, const CallNames &names);

} // namespace weft::jit
