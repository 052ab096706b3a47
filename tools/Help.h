// What --help shows of a tool made from one of upstream's, and where options of another are for.
#pragma once

#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::weft {

/// Moves the options that LLVM's libraries registered so far, hundreds of them, from --help to
/// --help-hidden. To be called before the tool's own are registered.
inline void hideLibraryOptions() {
  for (auto &[name, option] : llvm::cl::getRegisteredOptions())
    if (!name.starts_with("help") && name != "version") option->setHiddenFlag(llvm::cl::Hidden);
}

/// False, after an error, where a tool is asked for a plugin: passes of others run in weft-opt,
/// whose output the other tools read.
inline bool takesNoPlugin(int argc, char **argv, llvm::StringRef tool) {
  for (int i = 1; i < argc; ++i) {
    const llvm::StringRef name = llvm::StringRef(argv[i]).ltrim('-').split('=').first;
    if (!llvm::StringRef(argv[i]).starts_with("-") || !name.starts_with("load-") ||
        !name.ends_with("-plugin"))
      continue;
    llvm::errs() << "error: --" << name << ": " << tool
                 << " loads no plugins: run their passes by weft-opt, as in 'weft-opt FILE --"
                 << name << "=PLUGIN --pass-pipeline=... | " << tool << " -'\n";
    return false;
  }
  return true;
}

} // namespace mlir::weft
