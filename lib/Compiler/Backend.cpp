// The compiler as libweft sees it: programs in, machine code out.
#include "Compiler/Driver.h"
#include "Compiler/Import.h"
#include "Program/CompilerBackend.h"
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
  Backend()
      : context(makeRegistry(), MLIRContext::Threading::DISABLED), driver(context, Target::host()) {
    context.loadAllAvailableDialects();
  }

  CompiledCode compile(const Program &program, const std::string &dump) override {
    const std::lock_guard lock(mutex);
    const auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> module = import(program);
    const ::weft::Digest digest = digestOf(*module);
    std::vector<std::string> files;
    driver.observe({});
    if (!dump.empty()) {
      writeText(dump, Phase::trace, *module, files);
      driver.observe([&](Phase phase, ModuleOp result) { writeText(dump, phase, result, files); });
    }
    auto code =
        driver.load(*module, symbolName(program.name), Phase::trace, variableSymbols(program));
    if (!code) fail(program, code.fault().message);
    code->module = digest;
    code->report.files = std::move(files);
    code->report.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return std::move(*code);
  }

  std::string ir(const Program &program, Phase phase) override {
    const std::lock_guard lock(mutex);
    OwningOpRef<ModuleOp> module = import(program);
    DiagnosticText diagnostics(context);
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

  OwningOpRef<ModuleOp> import(const Program &program) {
    DiagnosticText diagnostics(context);
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
