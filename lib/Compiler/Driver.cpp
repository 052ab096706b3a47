// Runs phases, keeps pass managers, counts time.
#include "Compiler/Driver.h"

#include "JIT/GpuPipeline.h"
#include "JIT/Loader.h"
#include "mlir/IR/Diagnostics.h"
#include <chrono>

namespace mlir::weft {

using ::weft::Phase;

void registerCompilerDialects(DialectRegistry &registry) {
  registerWeftDialects(registry);
  ::weft::jit::registerTranslations(registry);
}

Driver::Driver(MLIRContext &context, Target target) : context(context), target(std::move(target)) {}

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

::weft::Result<std::string> Driver::emitPtx(ModuleOp module) {
  return ::weft::jit::emitPtx(module);
}

/// The variables among the arguments of a bufferized function.
static ::weft::Result<std::vector<std::size_t>> variablesOf(func::FuncOp function,
                                                            ArrayRef<std::string> symbols) {
  std::vector<std::size_t> variables;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto symbol = function.getArgAttrOfType<FlatSymbolRefAttr>(i, "weft.variable");
    if (!symbol) continue;
    const auto *found = llvm::find(symbols, symbol.getValue());
    if (found == symbols.end())
      return ::weft::Fault{::weft::ErrorKind::compile,
                           "the variable @" + symbol.getValue().str() + " is not known"};
    variables.push_back(static_cast<std::size_t>(found - symbols.begin()));
  }
  return variables;
}

::weft::Result<::weft::CompiledCode> Driver::load(ModuleOp module, StringRef name, Phase from,
                                                  ArrayRef<std::string> symbols) {
  auto fault = [&](std::string what) {
    return ::weft::Fault{::weft::ErrorKind::compile, std::move(what)};
  };
  takeTimes();
  DiagnosticText diagnostics(context);
  if (from >= Phase::llvm)
    return fault("code is loaded from a phase before llvm, where its arguments are known");
  if (failed(run(module, from, Phase::bufferize))) return fault(diagnostics.text());
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) return fault("there is no function @" + name.str() + " after bufferize");
  ::weft::CompiledCode code;
  if (auto bytes = function->getAttrOfType<IntegerAttr>("weft.arena_bytes"))
    code.arena_bytes = static_cast<std::size_t>(bytes.getInt());
  auto variables = variablesOf(function, symbols);
  if (!variables) return variables.fault();
  code.variables = std::move(*variables);

  if (failed(run(module, Phase::bufferize, Phase::llvm))) return fault(diagnostics.text());
  auto object = emitObject(module);
  if (!object) return object.fault();
  code.report.code_bytes = (*object)->getBufferSize();
  code.object = (*object)->getBuffer().str();
  code.symbol = entryName(name);
  ::weft::jit::PhaseTimes spent;
  auto loaded = ::weft::jit::loadObject(std::move(*object), &spent);
  if (!loaded) return loaded.fault();
  addTime("link", spent.link);
  auto entry = (*loaded)->lookup(entryName(name));
  if (!entry) return entry.fault();
  code.entry = reinterpret_cast<::weft::CompiledEntry>(*entry);
  code.code = std::shared_ptr<void>(std::move(*loaded));
  code.report.phases = takeTimes();
  return code;
}

std::vector<::weft::CompileReport::PhaseTime> Driver::takeTimes() {
  return std::exchange(times, {});
}

::weft::Digest digestOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo(false).useLocalScope());
  ::weft::Sha256 sha;
  sha.text(text);
  return sha.finish();
}

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        llvm::raw_string_ostream os(collected);
        if (!collected.empty()) os << '\n';
        if (!isa<UnknownLoc>(diagnostic.getLocation())) os << diagnostic.getLocation() << ": ";
        os << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "")
           << diagnostic;
        for (Diagnostic &note : diagnostic.getNotes()) os << "\n  note: " << note;
        return success();
      }) {}

} // namespace mlir::weft
