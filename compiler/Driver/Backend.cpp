// The compiler as libweft sees it: programs in, machine code out.
#include "Driver/Driver.h"
#include "Import/Import.h"
#include "JIT/GpuPipeline.h"
#include "Program/CompilerBackend.h"
#include "Program/Requests.h"
#include "Program/Sites.h"
#include "Runtime/OnDevice.h"
#include "Runtime/Variable.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FileSystem.h"

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>

namespace mlir::weft {

namespace {

using ::weft::CompiledCode;
using ::weft::Phase;
using ::weft::Program;

[[noreturn]] void fail(const std::string &name, const std::string &what,
                       const ::weft::SourceLocation &location = {}) {
  throw ::weft::CompileError(name + ": " + what, location);
}
[[noreturn]] void fail(const Program &program, const std::string &what,
                       const ::weft::SourceLocation &location = {}) {
  fail(program.name, what, location);
}

/// What a phase said of a program. What the user has to decide is in his own words.
[[noreturn]] void fail(const std::string &name, const ::weft::Fault &fault,
                       const ::weft::SourceLocation &location) {
  if (fault.kind == ::weft::ErrorKind::compile) fail(name, fault.message, location);
  ::weft::raise(fault.kind, fault.message, location);
}

/// A GPU, whose host is of that target. Throws CompileError.
Target targetOfChip(const std::string &name, const std::string &chip, Target host) {
  if (!::weft::jit::isGpuChip(chip))
    fail(name, "no code can be compiled for the GPU " + chip + ", which LLVM does not know");
  host.kind = Target::Kind::nvptx;
  host.chip = chip;
  return host;
}

/// The processor of that name; this machine's if it is empty; or a GPU beside the least of
/// processors. Throws CompileError.
Target targetOf(const std::string &name, const std::string &processor) {
  if (processor.empty()) return Target::host();
  if (StringRef(processor).starts_with("sm_"))
    return targetOfChip(name, processor, targetOf(name, "x86-64-v2"));
  for (const auto level : {::weft::CpuLevel::v2, ::weft::CpuLevel::v3, ::weft::CpuLevel::v4}) {
    ::weft::jit::TargetOptions cpu = ::weft::jit::TargetOptions::for_level(level);
    if (cpu.cpu != processor) continue;
    cpu.parallel_work = ::weft::jit::TargetOptions().parallel_work;
    return {.cpu = std::move(cpu)};
  }
  fail(name, "there is no processor '" + processor + "'");
}

/// Makes a variable that nothing assigns a constant, with the value that it has now.
void freeze(ModuleOp module, StringRef symbol, const ::weft::Tensor &value) {
  const ::weft::Tensor host = ::weft::detail::on_host(value);
  DenseElementsAttr elements =
      elementsAttrOf({host.type(), host.impl()->data, nullptr}, module.getContext());
  SmallVector<HandleOp> handles;
  module.walk([&](HandleOp handle) {
    if (handle.getVariable() == symbol) handles.push_back(handle);
  });
  for (HandleOp handle : handles) {
    for (Operation *read : llvm::make_early_inc_range(handle->getUsers())) {
      OpBuilder builder(read);
      auto type = cast<RankedTensorType>(read->getResult(0).getType());
      read->getResult(0).replaceAllUsesWith(
          ConstantOp::create(builder, read->getLoc(), type, elements).getResult());
      read->erase();
    }
    handle.erase();
  }
  module.lookupSymbol(symbol)->erase();
}

/// Where the text of phases goes: what FunctionOptions::dump and the environment ask for.
class Dumps {
public:
  Dumps(const Program &program, const std::string &prefix)
      : prefix(prefix), request(::weft::DumpRequest::from_environment()),
        label(::weft::file_name_of(program.name)) {
    if (request.phases.empty() || request.folder.empty()) return;
    static std::atomic<int> count = 0;
    requested = request.folder + "/" + label + "." + std::to_string(count++);
  }

  bool wants(Phase phase) const { return !prefix.empty() || request.wants(phase); }
  /// All files that were written.
  std::vector<std::string> files;

  void write(Phase phase, const std::string &text) {
    const std::string name(::weft::name_of(phase));
    const std::string suffix =
        phase == Phase::ptx ? "." + name : "." + name + (phase == Phase::object ? ".s" : ".mlir");
    // The option has always left the object out: it is a file of its own for each phase of IR.
    if (!prefix.empty() && phase != Phase::object) writeFile(prefix + suffix, text);
    if (!request.wants(phase)) return;
    if (!requested.empty()) return writeFile(requested + suffix, text);
    llvm::errs() << "// " << label << " after " << name << "\n" << text << "\n";
  }

private:
  void writeFile(const std::string &path, const std::string &text) {
    std::error_code error;
    llvm::raw_fd_ostream out(path, error);
    if (!error) {
      out << text;
      out.close();
      error = out.error();
      out.clear_error();
    }
    if (error) throw ::weft::IOError(path + ": cannot write the IR: " + error.message());
    files.push_back(path);
  }

  std::string prefix, requested;
  ::weft::DumpRequest request;
  std::string label;
};

/// Set when LLVM's global objects are about to be destroyed.
std::atomic<bool> ending = false;
thread_local bool compiling = false;

class Backend final : public ::weft::CompilerBackend {
public:
  Backend() : driver(context, Target::host()) {
    driver.stopWhen([this] { return context.isInterrupted(); });
  }

  CompiledCode compile(const Program &program, const std::string &dump,
                       const std::string &chip) override {
    return compile(program, dump, chip, /*profiled=*/false);
  }

  CompiledCode compile_profiled(const Program &program) override {
    return compile(program, {}, {}, /*profiled=*/true);
  }

  std::string ir(const Program &program, Phase phase, const std::string &chip) override {
    const CompileLock lock(*this, program.name);
    Driver &driver = driverFor(program.name, chip);
    OwningOpRef<ModuleOp> module = import(program);
    DiagnosticText diagnostics(context);
    const Use use(*this, driver, program, {});
    const LogicalResult ran = driver.run(*module, Phase::trace, phase);
    context.throwInterrupt();
    if (failed(ran)) fail(program.name, driver.fault(*module, diagnostics), diagnostics.location());
    if (phase == Phase::object) {
      auto assembly = driver.emitAssembly(*module);
      if (!assembly) fail(program, assembly.fault().message);
      return *assembly;
    }
    if (phase == Phase::ptx) {
      auto ptx = driver.emitPtx(*module);
      if (!ptx) fail(program, ptx.fault().message);
      return *ptx;
    }
    return print(*module);
  }

  ::weft::SavedProgram save(const Program &program, std::span<const std::size_t> frozen) override {
    const CompileLock lock(*this, program.name);
    OwningOpRef<ModuleOp> module = import(program);
    ::weft::SavedProgram saved{.bytecode = {},
                               .function = symbolName(program.name),
                               .variables = variableSymbols(program)};
    for (const std::size_t number : frozen)
      freeze(*module, saved.variables[number], program.variables[number]->load().contiguous());
    llvm::raw_string_ostream os(saved.bytecode);
    if (failed(writeBytecodeToFile(*module, os, BytecodeWriterConfig("weft"))))
      fail(program, "it cannot be written as bytecode");
    return saved;
  }

  CompiledCode compile(const ::weft::SavedProgram &saved, const std::string &name,
                       const std::string &processor) override {
    const CompileLock lock(*this, name);
    const auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> module;
    {
      DiagnosticText diagnostics(context);
      module = parseSourceString<ModuleOp>(saved.bytecode, ParserConfig(&context));
      if (!module)
        fail(name, "its program cannot be read: another version of Weft may have saved it (" +
                       diagnostics.text() + ")");
    }
    Driver own(context, targetOf(name, processor));
    own.stopWhen([this] { return context.isInterrupted(); });
    auto code = own.compile(*module, saved.function, Phase::trace, saved.variables);
    context.throwInterrupt();
    if (!code) fail(name, code.fault(), own.errorLocation());
    code->report.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return std::move(*code);
  }

  std::string host_processor() override { return ::weft::jit::TargetOptions::host().cpu; }

private:
  /// One program at a time.
  class CompileLock {
  public:
    CompileLock(Backend &backend, const std::string &name) : backend(backend), lock(backend.mutex) {
      if (ending)
        throw ::weft::StateError(name + ": the process is ending, and the compiler with "
                                        "it: call the function with such arguments before, "
                                        "so that its code is there");
      compiling = true;
    }
    ~CompileLock() {
      compiling = false;
      // After each one, as LLVM creates objects when it first needs them: those created last are
      // destroyed first. No other begins then, and the one that another thread is at is waited for.
      static Backend *const self = &backend;
      std::atexit([] {
        ending = true;
        if (!compiling) const std::lock_guard lock(self->mutex);
      });
    }
    CompileLock(const CompileLock &) = delete;
    CompileLock &operator=(const CompileLock &) = delete;

  private:
    Backend &backend;
    std::lock_guard<std::mutex> lock;
  };

  /// The driver set up for one program, for as long as it lives.
  class Use {
  public:
    Use(Backend &backend, Driver &driver, const Program &program, Driver::Observer observer)
        : driver(driver) {
      driver.observe(std::move(observer));
      driver.reproduceFrom(
          [&backend, &program] { return importProgram(program, &backend.context); }, Phase::trace);
    }
    ~Use() {
      driver.observe({});
      driver.reproduceFrom({}, Phase::trace);
      driver.nameCalls({});
      driver.noteTimes(false);
    }
    Use(const Use &) = delete;
    Use &operator=(const Use &) = delete;

  private:
    Driver &driver;
  };

  /// The driver for this CPU, or for a GPU.
  Driver &driverFor(const std::string &name, const std::string &chip) {
    if (chip.empty()) return driver;
    std::unique_ptr<Driver> &found = gpus[chip];
    if (!found) {
      found = std::make_unique<Driver>(context, targetOfChip(name, chip, Target::host()));
      found->stopWhen([this] { return context.isInterrupted(); });
    }
    return *found;
  }

  CompiledCode compile(const Program &program, const std::string &dump, const std::string &chip,
                       bool profiled) {
    const CompileLock lock(*this, program.name);
    Driver &driver = driverFor(program.name, chip);
    const auto start = std::chrono::steady_clock::now();
    OwningOpRef<ModuleOp> module = import(program);
    const ::weft::Digest digest = digestOf(*module);
    Dumps dumps(program, dump);
    auto write = [&](Phase phase, ModuleOp result) {
      if (dumps.wants(phase)) dumps.write(phase, print(result));
      if (phase != Phase::llvm) return;
      if (dumps.wants(Phase::object))
        if (auto assembly = driver.emitAssembly(result)) dumps.write(Phase::object, *assembly);
    };
    write(Phase::trace, *module);
    const Use use(*this, driver, program, write);
    driver.nameCalls(callNamesOf(program));
    driver.noteTimes(profiled);
    const std::vector<::weft::SavedValue> saved =
        program.part ? split(driver, program, *module) : std::vector<::weft::SavedValue>();
    auto code =
        driver.load(*module, symbolName(program.name),
                    program.part ? Phase::differentiate : Phase::trace, variableSymbols(program));
    context.throwInterrupt();
    if (!code) fail(program.name, code.fault(), driver.errorLocation());
    if (!chip.empty() && dumps.wants(Phase::ptx)) dumps.write(Phase::ptx, code->ptx);
    code->saved = saved;
    code->module = digest;
    code->report.files = std::move(dumps.files);
    code->report.total_ms =
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
    return std::move(*code);
  }

  OwningOpRef<ModuleOp> import(const Program &program) {
    DiagnosticText diagnostics(context);
    OwningOpRef<ModuleOp> module = importProgram(program, &context);
    if (!module) fail(program, diagnostics.text(), diagnostics.location());
    return module;
  }

  /// Takes a derivative apart, and leaves the half that the program asks for.
  std::vector<::weft::SavedValue> split(Driver &driver, const Program &program, ModuleOp module) {
    DiagnosticText diagnostics(context);
    const LogicalResult ran = driver.run(module, Phase::trace, Phase::differentiate);
    context.throwInterrupt();
    if (failed(ran)) fail(program.name, driver.fault(module, diagnostics), diagnostics.location());
    auto function = module.lookupSymbol<func::FuncOp>(symbolName(program.name));
    ArrayRef<int64_t> sources =
        function->getAttrOfType<DenseI64ArrayAttr>("weft.saved").asArrayRef();
    const bool forward = program.part->half == ::weft::DerivativePart::Half::forward;
    FunctionType type = function.getFunctionType();
    std::vector<::weft::SavedValue> saved;
    for (size_t i = 0; i < sources.size(); i += 2) {
      const auto number = static_cast<uint32_t>(sources[i + 1]);
      Type of = !forward          ? type.getInput(i / 2)
                : sources[i] == 0 ? type.getInput(number)
                                  : type.getResult(number);
      saved.push_back(
          {static_cast<::weft::SavedValue::From>(sources[i]), number, tensorTypeOf(of)});
    }
    return saved;
  }

  static std::string print(ModuleOp module) {
    std::string text;
    llvm::raw_string_ostream os(text);
    module.print(os);
    return text;
  }

  /// The op calls of a program by number, for debug information.
  static ::weft::jit::CallNames callNamesOf(const Program &program) {
    if (!::weft::debug_info_requested() && !::weft::perf_map_requested()) return {};
    auto sites = std::make_shared<const ::weft::Sites>(program);
    return [sites](int64_t number) -> std::optional<::weft::jit::CallName> {
      if (number < 0 || static_cast<size_t>(number) >= sites->all().size()) return std::nullopt;
      const ::weft::Site &site = sites->all()[static_cast<size_t>(number)];
      return ::weft::jit::CallName{std::string(site.name()), symbolName(site.program->name)};
    };
  }

  std::mutex mutex;
  CompilerContext context;
  Driver driver;
  std::map<std::string, std::unique_ptr<Driver>> gpus; ///< by their chips
};

} // namespace
} // namespace mlir::weft

extern "C" ::weft::CompilerBackend *weft_compiler_backend() {
  // Never destroyed: compiled code may be called while the process ends.
  static auto *backend = new mlir::weft::Backend;
  return backend;
}
