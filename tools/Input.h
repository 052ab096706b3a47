// Reading a tool's input program: a file or standard input, with errors that show the line.
#pragma once

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/SourceMgr.h"

namespace mlir::weft {

/// A parsed program and what diagnostics need to quote it.
class InputProgram {
public:
  explicit InputProgram(MLIRContext &context) : handler(sources, &context), context(context) {}

  /// Parses and verifies `path` ("-" is standard input). On failure the reason has been printed as
  /// file:line:column with the line and a caret.
  LogicalResult read(StringRef path);
  ModuleOp module() { return *parsed; }
  /// The program parsed again.
  OwningOpRef<ModuleOp> again() { return parseSourceFile<ModuleOp>(sources, &context); }

private:
  llvm::SourceMgr sources;
  SourceMgrDiagnosticHandler handler;
  MLIRContext &context;
  OwningOpRef<ModuleOp> parsed;
};

} // namespace mlir::weft
