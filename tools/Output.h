// A tool's output: where it may not go, and what could not be written, which is an error with the
// name of where it was to go.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/raw_ostream.h"

#include <filesystem>
#include <string>

namespace mlir::weft {

/// Whether these name one file, whose content the second would replace; no device or
/// pipe, and not "-".
inline bool isSameFile(const std::string &first, const std::string &second) {
  namespace fs = std::filesystem;
  if (first.empty() || second.empty() || first == "-" || second == "-") return false;
  std::error_code error;
  if (fs::equivalent(first, second, error)) return fs::is_regular_file(first, error);
  if (fs::exists(first, error) || fs::exists(second, error)) return false;
  const fs::path a = fs::weakly_canonical(fs::absolute(first, error), error);
  return !error && a == fs::weakly_canonical(fs::absolute(second, error), error) && !error;
}

/// What is wrong with writing `output`, after `inputs` were read and before anything is written; an
/// empty text if nothing is.
inline std::string overwritten(llvm::ArrayRef<std::string> inputs, const std::string &output) {
  for (const std::string &input : inputs)
    if (isSameFile(input, output)) return output + ": input and output are the same file";
  return "";
}

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
