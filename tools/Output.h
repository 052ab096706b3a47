// Ending a tool's output: what could not be written is an error with the name of where it was to
// go.
#pragma once

#include "llvm/Support/raw_ostream.h"

namespace mlir::weft {

/// Writes out what `os` still holds. If some of it could not be written, says so on standard error
/// and gives false; LLVM's own streams would end the process instead.
inline bool finish(llvm::raw_fd_ostream &os, llvm::StringRef name) {
  os.flush();
  if (!os.has_error()) return true;
  llvm::errs() << "error: " << (name == "-" ? "standard output" : name)
               << ": cannot be written: " << os.error().message() << '\n';
  os.clear_error();
  return false;
}

} // namespace mlir::weft
