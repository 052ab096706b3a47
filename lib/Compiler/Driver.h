// Runs the phases of compilation one after the other, timed, with their texts on demand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "Compiler/Pipelines.h"
#include "Program/CompilerBackend.h"
#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include <weft/phase.h>

namespace mlir::weft {

/// A registry with what Weft's phases need: its own dialects, those it lowers through, and their
/// translations to LLVM IR.
void registerCompilerDialects(DialectRegistry &registry);

/// Runs phases on modules of one context, and keeps their pass managers between modules. Not
/// thread-safe: one driver per thread, or a lock.
class Driver {
public:
  /// Called after each phase with its module, for dumps.
  using Observer = std::function<void(::weft::Phase, ModuleOp)>;

  Driver(MLIRContext &context, Target target);

  /// Verify the module after every pass; for tools and tests.
  void verifyEach(bool on) { verify = on; }
  void observe(Observer observer) { this->observer = std::move(observer); }

  /// Runs the phases after `from` up to and including `to`, at most `llvm`. Diagnostics go to the
  /// context's handlers.
  LogicalResult run(ModuleOp module, ::weft::Phase from, ::weft::Phase to);

  /// Object code of a module after phase `llvm`.
  ::weft::Result<std::unique_ptr<llvm::MemoryBuffer>> emitObject(ModuleOp module);
  /// The same as assembly.
  ::weft::Result<std::string> emitAssembly(ModuleOp module);

  /// The PTX of a module after phase `llvm` for nvptx.
  ::weft::Result<std::string> emitPtx(ModuleOp module);

  /// Compiles a module that has gone through `from`, and loads the code of one of its functions.
  /// `variables` are the symbols that CompiledCode::variables counts.
  ::weft::Result<::weft::CompiledCode> load(ModuleOp module, StringRef function, ::weft::Phase from,
                                            ArrayRef<std::string> variables);

  /// What the phases since the last call took, in milliseconds.
  std::vector<::weft::CompileReport::PhaseTime> takeTimes();

private:
  PassManager &managerOf(::weft::Phase phase);
  void addTime(std::string phase, double milliseconds);

  MLIRContext &context;
  Target target;
  bool verify = false;
  Observer observer;
  std::map<::weft::Phase, std::unique_ptr<PassManager>> managers;
  std::vector<::weft::CompileReport::PhaseTime> times;
};

/// Collects diagnostics as text for as long as it lives: "file:line:column: error: ...".
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext &context);
  const std::string &text() const { return collected; }

private:
  std::string collected;
  ScopedDiagnosticHandler handler;
};

/// The digest of a module's text without locations: names it in the code cache.
::weft::Digest digestOf(ModuleOp module);

/// The name of the entry of a compiled function.
inline std::string entryName(StringRef function) { return (function + "_weft_entry").str(); }

} // namespace mlir::weft
