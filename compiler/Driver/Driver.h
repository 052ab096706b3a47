// Runs the phases of compilation one after the other, timed, with their texts on demand.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "JIT/DebugInfo.h"
#include "Pipelines/Pipelines.h"
#include "Program/CompilerBackend.h"
#include "Support/Fault.h"
#include "Weft/Conversion/EntryName.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/MemoryBuffer.h"
#include <weft/phase.h>

namespace mlir::weft {

/// A registry with what Weft's phases need: its own dialects, those it lowers through, and their
/// translations to LLVM IR.
void registerCompilerDialects(DialectRegistry &registry);

/// A context with all of these loaded, for one thread. Between passes, and between rewrites inside
/// of some, it takes interrupts (weft/detail/interrupts.h): after a handler that throws no pass
/// runs any more, and its exception is kept until whoever started the passes asks for it, as none
/// may go through frames of MLIR.
class CompilerContext : public MLIRContext {
public:
  CompilerContext();

  bool isInterrupted() const { return interrupt != nullptr; }
  /// Throws what the handler threw, if it did, once; then passes run again.
  void throwInterrupt();

private:
  std::exception_ptr interrupt;
};

class DiagnosticText;

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

  /// How to get the module again as it was after `phase`: lets a phase that fails leave a
  /// reproducer.
  using Source = std::function<OwningOpRef<ModuleOp>()>;
  void reproduceFrom(Source source, ::weft::Phase phase);
  /// Of the last failure, where there is a reproducer: "the phase linalg failed; to see it again:"
  /// and the command.
  const std::string &reproducer() const { return reproducerNote; }
  /// The last failure, with what was said of it; of kind `state` where the user has to decide.
  ::weft::Fault fault(ModuleOp module, const DiagnosticText &diagnostics) const;

  /// Asked between phases: where it says so, no further one is begun, and the run fails.
  void stopWhen(std::function<bool()> wanted) { stops = std::move(wanted); }

  /// The op calls that debug information shall name.
  void nameCalls(::weft::jit::CallNames names) { callNames = std::move(names); }

  /// Whether code that is loaded reports times (the pass weft-note-times).
  void noteTimes(bool on) { notesTimes = on; }

  /// Looks at a module that somebody wrote, before it is run: it must be one that has gone through
  /// `from`, and gets checks of all that may be undefined, before the phase linalg or now. Fails
  /// after a diagnostic.
  LogicalResult verifyInput(ModuleOp module, ::weft::Phase from);

  /// Runs the phases after `from` up to and including `to`, at most `llvm`. Diagnostics go to the
  /// context's handlers.
  LogicalResult run(ModuleOp module, ::weft::Phase from, ::weft::Phase to);

  /// What the derivatives of the module that last went through phase `differentiate` store.
  const std::vector<::weft::SavedNote> &saved() const { return savedNotes; }

  /// Object code of a module after phase `llvm`: of all but kernels.
  ::weft::Result<std::unique_ptr<llvm::MemoryBuffer>> emitObject(ModuleOp module);
  /// The same as assembly.
  ::weft::Result<std::string> emitAssembly(ModuleOp module);

  /// The PTX of a module after phase `llvm` for nvptx.
  ::weft::Result<std::string> emitPtx(ModuleOp module);
  /// Makes it a part of the object code of such a module, under that name.
  ::weft::Check embedPtx(ModuleOp module, StringRef name);

  /// Compiles a module that has gone through `from`, for one of its functions, and does not load
  /// the code. `variables` are the symbols that CompiledCode::variables counts.
  ::weft::Result<::weft::CompiledCode> compile(ModuleOp module, StringRef function,
                                               ::weft::Phase from, ArrayRef<std::string> variables);
  /// The same, loaded.
  ::weft::Result<::weft::CompiledCode> load(ModuleOp module, StringRef function, ::weft::Phase from,
                                            ArrayRef<std::string> variables);

  /// What the phases since the last call took, in milliseconds.
  std::vector<::weft::CompileReport::PhaseTime> takeTimes();
  /// Where in the user's source the last error of `load` was.
  const ::weft::SourceLocation &errorLocation() const { return location; }

private:
  PassManager &managerOf(::weft::Phase phase);
  LogicalResult runPhases(ModuleOp module, ::weft::Phase from, ::weft::Phase to,
                          ::weft::Phase &failed);
  void writeReproducer(::weft::Phase phase);
  void addTime(std::string phase, double milliseconds);

  MLIRContext &context;
  Target target;
  bool verify = false, notesTimes = false;
  bool verifiesInput = false; ///< before the phase linalg
  Observer observer;
  std::function<bool()> stops = [] { return false; };
  Source source;
  ::weft::Phase sourcePhase = ::weft::Phase::trace;
  std::string reproducerNote;
  std::vector<::weft::SavedNote> savedNotes;
  ::weft::SourceLocation location;
  ::weft::jit::CallNames callNames;
  std::map<::weft::Phase, std::unique_ptr<PassManager>> managers;
  std::vector<::weft::CompileReport::PhaseTime> times;
};

/// Collects diagnostics as text for as long as it lives, those after the first with "error: " and
/// their location before them.
class DiagnosticText {
public:
  explicit DiagnosticText(MLIRContext &context);
  const std::string &text() const { return collected; }
  /// Where the first error is.
  const ::weft::SourceLocation &location() const { return first; }

private:
  std::string collected;
  ::weft::SourceLocation first;
  ScopedDiagnosticHandler handler;
};

/// The digest of a module's text without locations: names it in the code cache.
::weft::Digest digestOf(ModuleOp module);

/// Numbers the ops of a module that was read from text, as the import numbers op calls, so that its
/// code can name them. Gives the location of each number.
std::vector<::weft::SourceLocation> numberSites(ModuleOp module);
/// The ops by these numbers, for debug information.
::weft::jit::CallNames callNamesOf(ModuleOp module);

/// What finds these locations when code fails.
std::shared_ptr<const ::weft::LocationTable> tableOf(std::vector<::weft::SourceLocation> locations);

} // namespace mlir::weft
