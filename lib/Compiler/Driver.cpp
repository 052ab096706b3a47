// Runs phases, keeps pass managers, counts time.
#include "Compiler/Driver.h"

#include "JIT/ObjectCompiler.h"
#include "mlir/IR/Diagnostics.h"
#include <chrono>

namespace mlir::weft {

using ::weft::Phase;

void registerCompilerDialects(DialectRegistry &registry) {
  registerWeftDialects(registry);
  ::weft::jit::registerTranslations(registry);
}

Driver::Driver(MLIRContext &context, Target target)
    : context(context), target(std::move(target)) {}

PassManager &Driver::managerOf(Phase phase) {
  std::unique_ptr<PassManager> &manager = managers[phase];
  if (!manager) {
    manager = std::make_unique<PassManager>(&context);
    manager->enableVerifier(verify);
    buildPhase(phase, *manager, target);
  }
  return *manager;
}

void Driver::addTime(std::string phase, double milliseconds) {
  times.push_back({std::move(phase), milliseconds});
}

LogicalResult Driver::run(ModuleOp module, Phase from, Phase to) {
  for (int i = static_cast<int>(from) + 1; i <= static_cast<int>(std::min(to, Phase::llvm)); ++i) {
    const Phase phase = static_cast<Phase>(i);
    const auto start = std::chrono::steady_clock::now();
    if (failed(managerOf(phase).run(module))) return failure();
    addTime(std::string(::weft::name_of(phase)),
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count());
    if (observer) observer(phase, module);
  }
  return success();
}

::weft::Result<std::unique_ptr<llvm::MemoryBuffer>> Driver::emitObject(ModuleOp module) {
  ::weft::jit::PhaseTimes spent;
  auto object = ::weft::jit::compileToObject(module, target.cpu, &spent);
  addTime("translate", spent.translate);
  addTime("optimize", spent.optimize);
  addTime("codegen", spent.codegen);
  return object;
}

::weft::Result<std::string> Driver::emitAssembly(ModuleOp module) {
  return ::weft::jit::compileToAssembly(module, target.cpu);
}

std::vector<::weft::CompileReport::PhaseTime> Driver::takeTimes() {
  return std::exchange(times, {});
}

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        llvm::raw_string_ostream os(collected);
        if (!collected.empty()) os << '\n';
        if (!isa<UnknownLoc>(diagnostic.getLocation())) os << diagnostic.getLocation() << ": ";
        os << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "") << diagnostic;
        for (Diagnostic &note : diagnostic.getNotes()) os << "\n  note: " << note;
        return success();
      }) {}

} // namespace mlir::weft
