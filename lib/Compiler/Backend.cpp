// The compiler as libweft sees it: programs in, machine code out.
#include "Compiler/Driver.h"
#include "Compiler/Import.h"
#include "Program/CompilerBackend.h"
#include "JIT/Loader.h"
#include "llvm/Support/FileSystem.h"

#include <chrono>
#include <mutex>

namespace mlir::weft {

namespace {

using ::weft::CompiledCode;
using ::weft::Phase;
using ::weft::Program;

[[noreturn]] void fail(const Program &program, const std::string &what) {
  throw ::weft::CompileError(program.name + ": " + what);
}

class Backend final : public ::weft::CompilerBackend {
public:
  Backend() : context(makeRegistry(), MLIRContext::Threading::DISABLED), driver(context, Target::host()) {
    context.loadAllAvailableDialects();
  }

  CompiledCode compile(const Program &program, const std::string &dump) override {
    const std::lock_guard lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    DiagnosticText diagnostics(context);
    CompiledCode code;
    OwningOpRef<ModuleOp> module = import(program, diagnostics);
    driver.observe({});
    if (!dump.empty()) {
      writeText(dump, Phase::trace, *module, code.report.files);
      driver.observe([&](Phase phase, ModuleOp result) {
        writeText(dump, phase, result, code.report.files);
      });
    }
    driver.takeTimes();
    if (failed(driver.run(*module, Phase::trace, Phase::bufferize)))
      fail(program, diagnostics.text());
    code.arena_bytes = arenaBytes(*module, program);
    if (failed(driver.run(*module, Phase::bufferize, Phase::llvm)))
      fail(program, diagnostics.text());
    auto object = driver.emitObject(*module);
    if (!object) fail(program, object.fault().message);
    code.report.code_bytes = (*object)->getBufferSize();
    ::weft::jit::PhaseTimes spent;
    auto loaded = ::weft::jit::loadObject(std::move(*object), &spent);
    if (!loaded) fail(program, loaded.fault().message);
    auto entry = (*loaded)->lookup(entryName(symbolName(program.name)));
    if (!entry) fail(program, entry.fault().message);
    code.entry = reinterpret_cast<::weft::CompiledEntry>(*entry);
    code.code = std::shared_ptr<void>(std::move(*loaded));
    code.report.phases = driver.takeTimes();
    code.report.phases.push_back({"link", spent.link});
    code.report.total_ms = std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - start)
                               .count();
    return code;
  }

  std::string ir(const Program &program, Phase phase) override {
    const std::lock_guard lock(mutex);
    DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module = import(program, diagnostics);
    driver.observe({});
    if (failed(driver.run(*module, Phase::trace, phase))) fail(program, diagnostics.text());
    if (phase == Phase::object) {
      auto assembly = driver.emitAssembly(*module);
      if (!assembly) fail(program, assembly.fault().message);
      return *assembly;
    }
    return print(*module);
  }

private:
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerCompilerDialects(registry);
    return registry;
  }

  OwningOpRef<ModuleOp> import(const Program &program, DiagnosticText &diagnostics) {
    OwningOpRef<ModuleOp> module = importProgram(program, &context);
    if (!module) fail(program, diagnostics.text());
    return module;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }

  void writeText(const std::string &prefix, Phase phase, ModuleOp module,
                 std::vector<std::string> &files) {
    std::string path = prefix + "." + std::string(::weft::name_of(phase)) + ".mlir";
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    if (!error) {
      module.print(out);
      out.close();
      error = out.error();
      out.clear_error();
    }
    if (error) throw ::weft::IOError(path + ": cannot write the IR: " + error.message());
    files.push_back(std::move(path));
  }

  static std::size_t arenaBytes(ModuleOp module, const Program &program) {
    auto function = module.lookupSymbol<func::FuncOp>(symbolName(program.name));
    auto bytes = function ? function->getAttrOfType<IntegerAttr>("weft.arena_bytes") : IntegerAttr();
    return bytes ? static_cast<std::size_t>(bytes.getInt()) : 0;
  }

  std::mutex mutex;
  MLIRContext context;
  Driver driver;
};

} // namespace
} // namespace mlir::weft

extern "C" ::weft::CompilerBackend *weft_compiler_backend() {
  // Never destroyed: compiled code may be called while the process ends.
  static auto *backend = new mlir::weft::Backend;
  return backend;
}
