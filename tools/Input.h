// Reading a tool's input program: a file or standard input, with errors that show the line.
#pragma once

#include <memory>
#include <string>

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::weft {

/// The text of a file, "-" for standard input, also of one that holds bytecode; null with the
/// reason in `error`. A file, pipe or device with more than 1 GiB is refused: no program is as
/// long, and a device may never end. So are other binary files.
std::unique_ptr<llvm::MemoryBuffer> openProgram(StringRef path, std::string &error);

/// Whether upstream's parser can take the text; else the reason has been printed.
bool isParsable(const llvm::MemoryBuffer &input);

/// A parsed program and what diagnostics need to quote it.
class InputProgram {
public:
  explicit InputProgram(MLIRContext &context) : handler(sources, &context), context(context) {}

  /// Parses and verifies `path` ("-" is standard input). On failure the reason has been printed as
  /// file:line:column with the line and a caret.
  LogicalResult read(StringRef path);
  ModuleOp module() { return *parsed; }
  /// The program parsed again.
  OwningOpRef<ModuleOp> again();

private:
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  MLIRContext &context;
  OwningOpRef<ModuleOp> parsed;
};

} // namespace mlir::weft
