// What --help shows of a tool derived from one of upstream's: its own options, and where to begin.
#pragma once

#include "llvm/Support/CommandLine.h"

namespace mlir::weft {

/// Moves the options that LLVM's libraries registered so far, hundreds of them, from --help to
/// --help-hidden. To be called before the tool's own are registered.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!name.starts_with("help") && name != "version") option->setHiddenFlag(llvm::cl::Hidden);
}

} // namespace mlir::weft
