// Runs phases, keeps pass managers, counts time.
#include "Driver/Driver.h"

#include "Driver/Reproducer.h"
#include "JIT/GpuPipeline.h"
#include "JIT/Loader.h"
#include "Pipelines/Inputs.h"
#include "Program/Requests.h"
#include "Reports/MemoryReport.h"
#include "Runtime/CallContext.h"
#include "Weft/AD/Passes.h"
#include "Weft/AD/Saved.h"
#include "Weft/IR/Places.h"
#include "Weft/Transforms/Passes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include <chrono>

namespace mlir::weft {

using ::weft::Phase;

void registerCompilerDialects(DialectRegistry &registry) {
  registerWeftDialects(registry);
  ::weft::jit::registerTranslations(registry);
}

static DialectRegistry compilerDialects() {
  DialectRegistry registry;
  registerCompilerDialects(registry);
  return registry;
}

CompilerContext::CompilerContext() : MLIRContext(compilerDialects(), Threading::DISABLED) {
  loadAllAvailableDialects();
  registerActionHandler([this](llvm::function_ref<void()> act, const tracing::Action &) {
    if (!interrupt && weft_rt_interrupt_flag.load(std::memory_order_relaxed) != 0) try {
        ::weft::detail::handle_interrupt();
      } catch (...) {
        interrupt = std::current_exception();
      }
    if (!interrupt) act();
  });
}

void CompilerContext::throwInterrupt() {
  if (interrupt) std::rethrow_exception(std::exchange(interrupt, nullptr));
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

void Driver::reproduceFrom(Source fresh, Phase phase) {
  source = std::move(fresh);
  sourcePhase = phase;
}

LogicalResult Driver::runPhases(ModuleOp module, Phase from, Phase to, Phase &phase) {
  for (int i = static_cast<int>(from) + 1; i <= static_cast<int>(std::min(to, Phase::llvm)); ++i) {
    phase = static_cast<Phase>(i);
    if (phase == Phase::linalg && verifiesInput &&
        failed(verifyAtRuntime(module, Phase::lift_state)))
      return failure();
    const auto start = std::chrono::steady_clock::now();
    if (failed(managerOf(phase).run(module)) || stops()) return failure();
    // Tensors still say their sizes here: what a pattern folded wrongly is an error, and no other
    // numbers.
    if (phase == Phase::linalg && failed(mlir::verify(module))) return failure();
    addTime(std::string(::weft::name_of(phase)),
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
                .count());
    if (phase == Phase::differentiate)
      if (auto notes = dyn_cast_or_null<ArrayAttr>(module->removeAttr(savedNotesName)))
        savedNotes = savedNotesOf(notes);
    if (observer) observer(phase, module);
  }
  return success();
}

LogicalResult Driver::verifyInput(ModuleOp module, Phase from) {
  if (failed(verifyHasGoneThrough(module, from, target))) return failure();
  verifiesInput = from < Phase::linalg;
  if (verifiesInput || from > Phase::schedule) return success();
  return verifyAtRuntime(module, from);
}

LogicalResult Driver::run(ModuleOp module, Phase from, Phase to) {
  Phase phase = from;
  if (from < Phase::differentiate) savedNotes.clear();
  reproducerNote.clear();
  if (failed(verifyHasGoneThrough(module, from, target))) return failure();
  if (succeeded(runPhases(module, from, to, phase))) return success();
  if (!stops() && !module->hasAttr(refusedName)) writeReproducer(phase);
  return failure();
}

void Driver::writeReproducer(Phase phase) {
  if (!source) return;
  const std::string name(::weft::name_of(phase));
  // The phases before it ran once without an error, and nobody wants their dumps again.
  OwningOpRef<ModuleOp> module = source();
  Observer kept = std::exchange(observer, {});
  Phase last = sourcePhase;
  const bool remade =
      module && succeeded(runPhases(*module, sourcePhase,
                                    static_cast<Phase>(static_cast<int>(phase) - 1), last));
  observer = std::move(kept);
  if (!remade) return;
  auto file = mlir::weft::writeReproducer(*module, name, pipelineOf(phase, target), verify);
  reproducerNote = file ? "the phase " + name +
                              " failed; to see it again:\n  weft-opt "
                              "--run-reproducer " +
                              *file
                        : "the phase " + name + " failed; " + file.fault().message;
}

::weft::Fault Driver::fault(ModuleOp module, const DiagnosticText &diagnostics) const {
  if (module->hasAttr(refusedName)) return {::weft::ErrorKind::state, diagnostics.text()};
  std::string text = diagnostics.text();
  if (!reproducer().empty()) text += "\n" + reproducer();
  return {::weft::ErrorKind::compile, std::move(text)};
}

::weft::Result<std::unique_ptr<llvm::MemoryBuffer>> Driver::emitObject(ModuleOp module) {
  const ::weft::jit::HostPart host(module);
  ::weft::jit::PhaseTimes spent;
  auto object = ::weft::jit::compileToObject(module, target.cpu, &spent);
  addTime("translate", spent.translate);
  addTime("optimize", spent.optimize);
  addTime("codegen", spent.codegen);
  return object;
}

::weft::Result<std::string> Driver::emitAssembly(ModuleOp module) {
  const ::weft::jit::HostPart host(module);
  return ::weft::jit::compileToAssembly(module, target.cpu);
}

::weft::Result<std::string> Driver::emitPtx(ModuleOp module) {
  const auto start = std::chrono::steady_clock::now();
  auto text = ::weft::jit::emitPtx(module);
  addTime(
      "ptx",
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  return text;
}

::weft::Check Driver::embedPtx(ModuleOp module, StringRef name) {
  auto ptx = emitPtx(module);
  if (!ptx) return ptx.fault();
  return ::weft::jit::embedPtx(module, *ptx, name);
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

::weft::Result<::weft::CompiledCode> Driver::compile(ModuleOp module, StringRef name, Phase from,
                                                     ArrayRef<std::string> symbols) {
  auto fault = [&](std::string what) {
    return ::weft::Fault{::weft::ErrorKind::compile, std::move(what)};
  };
  takeTimes();
  location = {};
  DiagnosticText diagnostics(context);
  if (from >= Phase::llvm)
    return fault("code is loaded from a phase before llvm, where its arguments are known");
  auto phaseFault = [&] {
    location = diagnostics.location();
    return this->fault(module, diagnostics);
  };
  if (failed(run(module, from, Phase::bufferize))) return phaseFault();
  auto function = module.lookupSymbol<func::FuncOp>(name);
  if (!function) return fault("there is no function @" + name.str() + " after bufferize");
  ::weft::CompiledCode code;
  if (auto bytes = function->getAttrOfType<IntegerAttr>("weft.arena_bytes"))
    code.arena_bytes = static_cast<std::size_t>(bytes.getInt());
  code.report.memory = memoryNotesOf(function);
  code.report.saved = savedNotes;
  auto variables = variablesOf(function, symbols);
  if (!variables) return variables.fault();
  code.variables = std::move(*variables);
  if (notesTimes) {
    PassManager notes(&context);
    notes.addPass(createNoteTimesPass());
    if (failed(notes.run(module))) return phaseFault();
  }

  if (failed(run(module, Phase::bufferize, Phase::llvm))) return phaseFault();
  if (target.kind == Target::Kind::nvptx) {
    auto ptx = emitPtx(module);
    if (!ptx) return ptx.fault();
    code.ptx = std::move(*ptx);
    code.chip = target.chip;
  }
  const ::weft::jit::HostPart host(module);
  if (::weft::debug_info_requested() || ::weft::perf_map_requested())
    ::weft::jit::addDebugInfo(module, callNames ? callNames : [](int64_t) { return std::nullopt; });
  auto object = emitObject(module);
  if (!object) return object.fault();
  code.report.code_bytes = (*object)->getBufferSize();
  code.object = (*object)->getBuffer().str();
  code.symbol = entryName(name);
  code.report.phases = takeTimes();
  return code;
}

::weft::Result<::weft::CompiledCode> Driver::load(ModuleOp module, StringRef name, Phase from,
                                                  ArrayRef<std::string> symbols) {
  auto code = compile(module, name, from, symbols);
  if (!code) return code.fault();
  const ::weft::jit::LoadFor who{.gdb = ::weft::debug_info_requested(),
                                 .perf = ::weft::perf_map_requested()};
  ::weft::jit::PhaseTimes spent;
  auto loaded = ::weft::jit::loadObject(llvm::MemoryBuffer::getMemBufferCopy(code->object, name),
                                        &spent, who);
  if (!loaded) return loaded.fault();
  code->report.phases.push_back({"link", spent.link});
  auto entry = (*loaded)->lookup(code->symbol);
  if (!entry) return entry.fault();
  code->entry = reinterpret_cast<::weft::CompiledEntry>(*entry);
  code->code = std::shared_ptr<void>(std::move(*loaded));
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

std::vector<::weft::SourceLocation> numberSites(ModuleOp module) {
  std::vector<::weft::SourceLocation> locations;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    locations.push_back(placeOf(op->getLoc()));
    op->setLoc(withSite(op->getLoc(), static_cast<int64_t>(locations.size()) - 1));
  });
  return locations;
}

::weft::jit::CallNames callNamesOf(ModuleOp module) {
  auto names = std::make_shared<std::vector<::weft::jit::CallName>>();
  module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    auto function = op->getParentOfType<func::FuncOp>();
    names->push_back(
        {op->getName().stripDialect().str(), function ? function.getName().str() : ""});
  });
  return [names](int64_t number) -> std::optional<::weft::jit::CallName> {
    if (number < 0 || static_cast<size_t>(number) >= names->size()) return std::nullopt;
    return (*names)[static_cast<size_t>(number)];
  };
}

namespace {
class TextLocations final : public ::weft::LocationTable {
public:
  explicit TextLocations(std::vector<::weft::SourceLocation> locations)
      : locations(std::move(locations)) {}

  ::weft::SourceLocation location(std::int64_t site) const override {
    const auto number = static_cast<size_t>(site);
    return site >= 0 && number < locations.size() ? locations[number] : ::weft::SourceLocation();
  }

private:
  std::vector<::weft::SourceLocation> locations;
};
} // namespace

std::shared_ptr<const ::weft::LocationTable>
tableOf(std::vector<::weft::SourceLocation> locations) {
  return std::make_shared<TextLocations>(std::move(locations));
}

DiagnosticText::DiagnosticText(MLIRContext &context)
    : handler(&context, [this](Diagnostic &diagnostic) {
        llvm::raw_string_ostream os(collected);
        const ::weft::SourceLocation location = placeOf(diagnostic.getLocation());
        if (collected.empty()) {
          first = location;
        } else {
          os << '\n';
          if (location.known() && location != first) os << to_string(location) << ": ";
          os << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "");
        }
        os << diagnostic;
        for (Diagnostic &note : diagnostic.getNotes()) os << "\n  note: " << note;
        return success();
      }) {}

} // namespace mlir::weft
