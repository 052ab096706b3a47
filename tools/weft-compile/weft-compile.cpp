// weft-compile: takes a program from one phase to another: text, an object file with a C header,
// assembly, or PTX.
#include "../Help.h"
#include "../Input.h"
#include "../Output.h"
#include "../Tools.h"
#include "Driver/Driver.h"
#include "Freeze.h"
#include "Header.h"
#include "JIT/GpuPipeline.h"
#include "JIT/ObjectCompiler.h"
#include "Program/Requests.h"
#include "Reports/KernelReport.h"
#include "Reports/MemoryReport.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/ToolOutputFile.h"

#include <cstdlib>

using namespace mlir;
using namespace mlir::weft;
namespace cl = llvm::cl;
using ::weft::Phase;

namespace {
/// Registered when this tool starts: the tools are one program, and each has its own options.
struct Options {
  cl::OptionCategory category{"weft-compile options"};
  cl::opt<std::string> inputFile{cl::Positional, cl::desc("FILE.mlir (- for standard input)"),
                                 cl::init("-"), cl::cat(category)};
  cl::opt<std::string> outputFile{"o", cl::desc("Where to write; - is standard output"),
                                  cl::init("-"), cl::value_desc("file"), cl::cat(category)};
  cl::opt<std::string> fromName{"compile-from",
                                cl::desc("Phase that the input has gone through; by default trace"),
                                cl::init("trace"), cl::value_desc("phase"), cl::cat(category)};
  cl::opt<std::string> toName{
      "compile-to",
      cl::desc("Phase to stop after, or assembly; by default object, which has its PTX inside if "
               "it is for nvptx"),
      cl::init("object"), cl::value_desc("phase"), cl::cat(category)};
  cl::opt<std::string> targetName{"target", cl::desc("cpu or nvptx; by default cpu"),
                                  cl::init("cpu"), cl::cat(category)};
  cl::opt<std::string> chip{"chip",
                            cl::desc("The processor by LLVM's name; by default this one, or "
                                     "sm_90a for nvptx"),
                            cl::cat(category)};
  cl::opt<std::string> header{"emit-header", cl::desc("Write a C header of the entries"),
                              cl::value_desc("file.h"), cl::cat(category)};
  cl::list<std::string> frozen{
      "freeze",
      cl::desc(
          "Make variables and inputs a part of the object: all variables that the text gives a "
          "value and nothing assigns; or, comma-separated, w (a variable), w=FILE.npy, "
          "input1=FILE.npy, FUNCTION.input1=FILE.npy"),
      cl::value_desc("name[=file.npy]"),
      cl::ValueOptional,
      cl::CommaSeparated,
      cl::cat(category)};
  cl::opt<std::string> report{
      "report",
      cl::desc(
          "copies: print every copy and allocation that is left, with its reason, and "
          "whether variables are updated in place; saved: print every value that "
          "derivatives store, and why it is not computed again; kernels: print what each "
          "kernel for nvptx is launched with and needs, registers where ptxas is on the PATH or "
          "WEFT_PTXAS names it; the program is only written with -o"),
      cl::value_desc("what"), cl::cat(category)};
  cl::opt<bool> errorOnCopy{"error-on-copy", cl::desc("Fail if any copy is left"),
                            cl::cat(category)};
  cl::opt<bool> timed{"time", cl::desc("Print the times of the phases to standard error"),
                      cl::cat(category)};
  cl::opt<bool> verifyEach{"verify-each", cl::desc("Verify the IR after every pass"),
                           cl::init(true), cl::cat(category)};
};
} // namespace

static Options *options;

static int refuse(const llvm::Twine &why) {
  llvm::errs() << "error: " << why << '\n';
  return 1;
}

static int writeFile(StringRef path, StringRef contents) {
  std::string error;
  std::unique_ptr<llvm::ToolOutputFile> file = openOutputFile(path, &error);
  if (!file) return refuse(error);
  file->os() << contents;
  if (!finish(file->os(), path)) return 1;
  file->keep();
  return 0;
}

static std::string textOf(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os, OpPrintingFlags().enableDebugInfo(false));
  os << '\n';
  return text;
}

static void printTimes(Driver &driver) {
  for (const auto &phase : driver.takeTimes())
    llvm::errs() << llvm::format("%9.2f ms  ", phase.milliseconds) << phase.phase << '\n';
}

namespace {
/// What the options ask for, checked.
struct Request {
  Phase from = Phase::trace, to = Phase::object;
  bool assembly = false;
  Target target = Target::host();

  bool forGpu() const { return target.kind == Target::Kind::nvptx; }
};
} // namespace

/// What is wrong with where the request is to write, before anything is read or written.
static std::string checkFiles(const Request &request) {
  std::vector<std::string> inputs = frozenFiles(options->frozen);
  inputs.push_back(options->inputFile);
  for (const std::string &output : {options->outputFile.getValue(), options->header.getValue()})
    if (std::string why = overwritten(inputs, output); !why.empty()) return why;
  if (isSameFile(options->outputFile, options->header))
    return options->header + ": -o and --emit-header are the same file";
  const bool binary = request.to == Phase::object && !request.assembly;
  const bool writes = options->report.empty() || options->outputFile.getNumOccurrences() != 0;
  if (binary && writes && options->outputFile == "-" && llvm::outs().is_displayed())
    return "an object is no text for a terminal: say -o FILE.o, or --compile-to=assembly";
  return "";
}

/// Fills the request; an error text if the options do not fit.
static std::string readRequest(Request &request) {
  if (options->targetName == "nvptx") request.target.kind = Target::Kind::nvptx;
  else if (options->targetName != "cpu")
    return "--target=" + options->targetName + ": there are cpu and nvptx";
  if (!options->chip.empty()) {
    if (request.target.kind == Target::Kind::nvptx) {
      if (!::weft::jit::isGpuChip(options->chip))
        return "--chip=" + options->chip + ": LLVM knows no such GPU";
      request.target.chip = options->chip;
    } else {
      if (::weft::Check check = ::weft::jit::checkProcessor(options->chip))
        return "--chip=" + options->chip + ": " + check->message;
      request.target.cpu.cpu = options->chip;
      request.target.cpu.features = "";
      // Of a level it is known how wide its vectors are; other processors are taken to be like
      // this.
      for (auto level : {::weft::CpuLevel::v2, ::weft::CpuLevel::v3, ::weft::CpuLevel::v4})
        if (::weft::jit::TargetOptions::for_level(level).cpu == options->chip)
          request.target.cpu.take_level(level);
    }
  }
  const std::optional<Phase> from = ::weft::phase_of(options->fromName);
  if (!from || *from > Phase::llvm)
    return "--compile-from=" + options->fromName + ": no text has such a phase; there are " +
           ::weft::phase_names(Phase::llvm);
  request.from = *from;
  request.assembly = options->toName == "assembly";
  if (!request.assembly) {
    const std::optional<Phase> to = ::weft::phase_of(options->toName);
    if (!to)
      return "--compile-to=" + options->toName + ": there is no such phase; there are " +
             ::weft::phase_names() + ", assembly";
    request.to = *to;
  }
  if (request.to == Phase::ptx && !request.forGpu()) return "--compile-to=ptx needs --target=nvptx";
  if (request.from > request.to)
    return "--compile-from=" + options->fromName + " comes after --compile-to=" + options->toName;
  if (!options->header.empty() &&
      (request.from > Phase::bufferize || request.to < Phase::bufferize))
    return "--emit-header needs the phase bufferize between --compile-from and --compile-to";
  if (!options->frozen.empty() &&
      (request.from > Phase::lift_state || request.to < Phase::lift_state))
    return "--freeze needs the phase lift-state between --compile-from and --compile-to";
  for (size_t i = 0; i < options->frozen.size(); ++i)
    for (size_t j = 0; j < options->frozen.size(); ++j)
      if (i != j && options->frozen[i].empty() &&
          options->frozen.getPosition(i) == options->frozen.getPosition(j))
        return "--freeze: a name is missing beside a comma";
  if (std::string why = checkFiles(request); !why.empty()) return why;
  if (!options->report.empty() && options->report != "copies" && options->report != "saved" &&
      options->report != "kernels")
    return "--report=" + options->report + ": there are copies, saved and kernels";
  if (options->report == "kernels" && !request.forGpu())
    return "--report=kernels needs --target=nvptx";
  if (options->report == "kernels" && request.to < Phase::llvm)
    return "--report=kernels needs the phase llvm, which is behind --compile-to=" + options->toName;
  if (options->report == "saved" &&
      (request.from >= Phase::differentiate || request.to < Phase::differentiate))
    return "--report=saved needs the phase differentiate between --compile-from and --compile-to";
  if ((options->report == "copies" || options->errorOnCopy) &&
      (request.from > Phase::bufferize || request.to < Phase::bufferize))
    return "--report=copies and --error-on-copy need the phase bufferize between --compile-from "
           "and --compile-to";
  return "";
}

/// Prints the report on each function of a bufferized module; fails if no copy may be left.
static int reportCopies(ModuleOp module) {
  std::string text, firstCopy;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic()) continue;
    const std::string name = function.getName().str();
    const ::weft::CompileReport account = memoryReportOf(function);
    text += name + ": " + account.memory_text();
    for (const ::weft::MemoryNote &note : account.memory) {
      if (note.kind != ::weft::MemoryNote::Kind::copy || !firstCopy.empty()) continue;
      firstCopy = name + " copies " + note.size_text() + ": " + note.reason;
      if (!note.location.empty()) firstCopy += " (" + note.location + ")";
    }
  }
  if (options->report == "copies") {
    llvm::outs() << text;
    if (!finish(llvm::outs(), "-")) return 1;
  }
  return options->errorOnCopy && !firstCopy.empty() ? refuse("CompileError: " + firstCopy) : 0;
}

/// Prints what the derivatives of the module store.
static int reportSaved(const Driver &driver) {
  ::weft::CompileReport account;
  account.saved = driver.saved();
  llvm::outs() << account.saved_text();
  return finish(llvm::outs(), "-") ? 0 : 1;
}

/// Prints the report on the kernels of a module after phase `llvm`.
static int reportKernels(ModuleOp module, Driver &driver, const std::string &chip) {
  std::vector<KernelNote> notes = kernelNotesOf(module);
  const char *own = std::getenv("WEFT_PTXAS");
  auto ptxas = llvm::sys::findProgramByName(own != nullptr && *own != 0 ? own : "ptxas");
  if (own != nullptr && *own != 0 && !(ptxas && llvm::sys::fs::can_execute(*ptxas)))
    return refuse("WEFT_PTXAS=" + llvm::Twine(own) + ": there is no such program");
  if (ptxas) {
    auto ptx = driver.emitPtx(module);
    if (!ptx) return refuse(ptx.fault().message);
    if (::weft::Check check = addAssembled(notes, *ptx, chip, *ptxas))
      return refuse(check->message);
  }
  llvm::outs() << textOf(notes, chip);
  return finish(llvm::outs(), "-") ? 0 : 1;
}

/// What the kernels' text is called in the object: as the first of its entries, of which no other
/// object has one. Empty if there are none.
static std::string ptxNameOf(ModuleOp module) {
  for (Operation &op : module.getOps()) {
    auto symbol = dyn_cast<SymbolOpInterface>(op);
    if (!symbol || !isa<FunctionOpInterface>(op)) continue;
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      if (function.isPublic() && !function.isDeclaration())
        return entryName(function.getName()) + "_ptx";
    } else if (symbol.getName().ends_with("_weft_entry")) {
      return symbol.getName().str() + "_ptx";
    }
  }
  return "";
}

static int compile(MLIRContext &context, InputProgram &input, const Request &request) {
  ModuleOp module = input.module();
  Driver driver(context, request.target);
  driver.verifyEach(options->verifyEach);
  driver.reproduceFrom([&] { return input.again(); }, request.from);
  if (failed(driver.verifyInput(module, request.from))) return 1;
  auto fail = [&] { return driver.reproducer().empty() ? 1 : refuse(driver.reproducer()); };
  const bool text = request.to <= Phase::llvm && !request.assembly;
  const Phase last = text ? request.to : Phase::llvm;
  const Phase before = std::min(last, Phase::bufferize);
  // Code from later phases has numbers of another text.
  std::vector<::weft::SourceLocation> locations;
  if (request.from < Phase::bufferize) locations = numberSites(module);
  Phase done = request.from;
  if (!options->frozen.empty()) {
    done = Phase::lift_state;
    if (failed(driver.run(module, request.from, done))) return fail();
    if (::weft::Check check = freeze(module, options->frozen)) return refuse(check->message);
    // What is constant now may make more so.
    PassManager passes(&context);
    buildSimplifyPhase(passes, request.target);
    if (failed(passes.run(module))) return 1;
  }
  if (failed(driver.run(module, done, before))) return fail();
  if (!options->header.empty()) {
    const std::string guard = llvm::sys::path::filename(options->header).str();
    auto contents = emitHeader(module, guard, locations, request.forGpu() ? ptxNameOf(module) : "");
    if (!contents) return refuse(contents.fault().message);
    if (int status = writeFile(options->header, *contents)) return status;
  }
  if (options->report == "saved")
    if (int status = reportSaved(driver)) return status;
  if (options->report == "copies" || options->errorOnCopy)
    if (int status = reportCopies(module)) return status;
  // A report is what was wanted, unless there is a file for the program too.
  const bool writes = options->report.empty() || options->outputFile.getNumOccurrences() != 0;
  if (!writes && options->report != "kernels") return 0;
  const std::string ptxName = ptxNameOf(module);
  if (failed(driver.run(module, std::max(before, request.from), last))) return fail();
  if (options->report == "kernels")
    if (int status = reportKernels(module, driver, request.target.chip)) return status;
  if (!writes) return 0;
  if (request.forGpu() && !text && request.to != Phase::ptx && !ptxName.empty())
    if (::weft::Check check = driver.embedPtx(module, ptxName)) return refuse(check->message);
  int status = 0;
  if (text) {
    status = writeFile(options->outputFile, textOf(module));
  } else if (request.assembly) {
    auto assembly = driver.emitAssembly(module);
    status =
        assembly ? writeFile(options->outputFile, *assembly) : refuse(assembly.fault().message);
  } else if (request.to == Phase::ptx) {
    auto ptx = driver.emitPtx(module);
    status = ptx ? writeFile(options->outputFile, *ptx) : refuse(ptx.fault().message);
  } else {
    auto object = driver.emitObject(module);
    status = object ? writeFile(options->outputFile, (*object)->getBuffer())
                    : refuse(object.fault().message);
  }
  if (options->timed) printTimes(driver);
  return status;
}

int mlir::weft::compileMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  static Options registered;
  options = &registered;
  cl::HideUnrelatedOptions(options->category);
  const std::string overview =
      "weft-compile: take a program from one phase to another\n\n"
      "  weft-compile step.mlir --compile-to=linalg\n"
      "  weft-compile step.mlir -o step.o --emit-header=step.h\n"
      "  weft-compile step.mlir --target=nvptx --chip=sm_80 -o step.o --emit-header=step.h\n"
      "  weft-compile step.mlir --target=nvptx --chip=sm_90a --compile-to=ptx\n\n"
      "Phases: " +
      ::weft::phase_names() + "\n";
  if (!takesNoPlugin(argc, argv, "weft-compile")) return 1;
  cl::ParseCommandLineOptions(argc, argv, overview);
  Request request;
  if (std::string why = readRequest(request); !why.empty()) return refuse(why);
  CompilerContext context;
  InputProgram input(context);
  try {
    if (failed(input.read(options->inputFile))) return 1;
    return compile(context, input, request);
  } catch (const ::weft::Error &error) {
    return refuse(error.message());
  }
}
