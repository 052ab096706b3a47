// Why code for a program would, or would not, be found in the cache.
#pragma once

#include "CodeCache/CodeCache.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::weft {

/// Compares a program in phase `trace` with the entries, and says in a few lines whether its code
/// is there, or which parts of the key differ from the nearest entry.
void explain(ModuleOp module, ArrayRef<::weft::cache::Listed> entries, raw_ostream &os);

/// An entry's name as messages show it.
inline std::string shortName(const std::string &name) { return name.substr(0, 12) + "..."; }

} // namespace mlir::weft
