// weft-run: compiles a function of an .mlir file for this machine and runs it, and runs programs
// that C++ exported.
#include "../Help.h"
#include "../Input.h"
#include "../Output.h"
#include "../Tools.h"
#include "Arguments.h"
#include "CodeCache/CodeCache.h"
#include "Driver/Driver.h"
#include "Function/CompiledCall.h"
#include "Program/Requests.h"
#include "Runtime/DeviceCalls.h"
#include "Runtime/Variable.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include <weft/io.h>
#include <weft/weft.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>

using namespace mlir;
using namespace mlir::weft;
namespace cl = llvm::cl;
namespace cache = ::weft::cache;

namespace {
/// An error of the program that runs: with a line, which is the program's, it says what it is.
struct ProgramError : std::runtime_error {
  explicit ProgramError(const ::weft::Error &error)
      : std::runtime_error((error.location().known() ? "" : "error: ") +
                           std::string(error.what())) {}
};

/// Registered when this tool starts: the tools are one program, and each has its own options.
struct Options {
  cl::OptionCategory category{"weft-run options"};
  cl::opt<std::string> inputFile{
      cl::Positional, cl::desc("FILE.mlir (- for standard input), or an exported program"),
      cl::init("-"), cl::cat(category)};
  cl::opt<std::string> entry{"entry", cl::desc("Function to run; by default the only one"),
                             cl::value_desc("name"), cl::cat(category)};
  cl::list<std::string> argTexts{
      "arg",
      cl::desc("An argument: FILE.npy, 'dense<3> : tensor<2xi32>', "
               "'random<SEED> : tensor<64x8xf32>' or 'iota : tensor<8xf32>'"),
      cl::value_desc("tensor"), cl::cat(category)};
  cl::opt<bool> printResults{"print", cl::desc("Print the results"), cl::cat(category)};
  cl::list<std::string> saveFiles{"save", cl::desc("Write the results, in order, as .npy"),
                                  cl::value_desc("file.npy"), cl::cat(category)};
  cl::list<std::string> checkFiles{
      "check",
      cl::desc("Compare the results, in order, with .npy files; exit 1 if they "
               "differ by more than the tolerance"),
      cl::value_desc("file.npy"), cl::cat(category)};
  cl::opt<double> tolerance{"tolerance", cl::desc("Relative tolerance of --check, by default 1e-5"),
                            cl::init(1e-5), cl::cat(category)};
  cl::opt<bool> timed{"time", cl::desc("Print times of the phases and of repeated runs"),
                      cl::cat(category)};
  cl::opt<int> repeats{"repeats", cl::desc("Runs that --time takes the median of, by default 1000"),
                       cl::init(1000), cl::cat(category)};
  cl::opt<std::string> fromPhase{
      "from", cl::desc("Phase that the input has gone through; by default trace"),
      cl::init("trace"), cl::value_desc("phase"), cl::cat(category)};
  cl::opt<std::string> device{"device", cl::desc("Where the function runs: cpu, or gpu:0"),
                              cl::init("cpu"), cl::value_desc("device"), cl::cat(category)};
  cl::opt<bool> verifyEach{"verify-each", cl::desc("Verify the IR after every pass"),
                           cl::init(true), cl::cat(category)};
};
} // namespace

static Options *options;

static double millisecondsSince(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start)
      .count();
}

/// What code is compiled for: this machine's processor, or the GPU's chip.
static Target targetOf(::weft::Device device) {
  Target target = Target::host();
  if (device.kind == ::weft::DeviceKind::cpu) return target;
  target.kind = Target::Kind::nvptx;
  target.chip = ::weft::chip_of(::weft::device::runtime_of(device).facts());
  return target;
}

/// What is wrong with the options; an empty text if nothing is.
static std::string checkOptions() {
  const std::optional<::weft::Phase> from = ::weft::phase_of(options->fromPhase);
  if (!from || *from >= ::weft::Phase::llvm)
    return "--from=" + options->fromPhase + ": weft-run takes " +
           ::weft::phase_names(::weft::Phase::bufferize);
  if (options->repeats < 1)
    return "--repeats=" + std::to_string(options->repeats) + ": at least one run is needed";
  if (!(options->tolerance >= 0) || std::isinf(options->tolerance))
    return "--tolerance=" + std::to_string(options->tolerance) +
           ": it is a finite number that is not negative";
  for (const std::string &file : options->saveFiles)
    if (std::string why = overwritten(options->inputFile.getValue(), file); !why.empty())
      return why;
  return "";
}

/// The function to run: the one named, or the only public one with a body.
static func::FuncOp findEntry(ModuleOp module) {
  if (!options->entry.empty()) {
    auto function = module.lookupSymbol<func::FuncOp>(options->entry);
    if (!function || function.isDeclaration())
      throw ::weft::ValueError("there is no function @" + options->entry + " with a body in " +
                               options->inputFile);
    return function;
  }
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isDeclaration() || !function.isPublic()) continue;
    if (only)
      throw ::weft::ValueError(options->inputFile +
                               " has several functions; choose one with --entry=" +
                               only.getName().str() + " or --entry=" + function.getName().str());
    only = function;
  }
  if (!only) throw ::weft::ValueError("there is no function with a body in " + options->inputFile);
  return only;
}

/// Prints an error at the function unless tensors are all that it takes and gives.
static LogicalResult checkSignature(func::FuncOp function) {
  if (function->hasAttr("weft.split"))
    return emitError(function.getLoc())
           << '@' << function.getName()
           << " becomes two functions by its 'weft.split', but weft-run runs one";
  for (auto [types, verb] : {std::pair(function.getArgumentTypes(), "takes "),
                             std::pair(function.getResultTypes(), "gives ")})
    for (Type type : types)
      if (!isWeftTensor(type))
        return emitError(function.getLoc())
               << '@' << function.getName() << ' ' << verb << type
               << ", but weft-run hands over ranked tensors of " << dtypesInWords() << " alone";
  return success();
}

/// Inputs, outputs and variables of the function as a program without nodes.
static ::weft::Program describe(ModuleOp module, func::FuncOp function) {
  ::weft::Program program;
  program.name = function.getName().str();
  auto add = [&](Type type, std::vector<::weft::ValueId> &list) {
    program.values.push_back(tensorTypeOf(type));
    list.push_back(static_cast<::weft::ValueId>(program.values.size() - 1));
  };
  for (Type type : function.getArgumentTypes()) add(type, program.inputs);
  for (Type type : function.getResultTypes()) add(type, program.outputs);
  for (auto variable : module.getOps<VariableOp>()) {
    const ::weft::TensorType type = tensorTypeOf(variable.getType());
    ::weft::Tensor value = ::weft::zeros(type.shape, type.dtype);
    if (auto initial = dyn_cast_or_null<DenseElementsAttr>(variable.getInitialAttr())) {
      ::weft::ConstantRef constant = constantOf(initial);
      value = ::weft::visit_dtype(type.dtype, [&]<class T>() {
        return ::weft::tensor(std::span<const T>(static_cast<const T *>(constant->bytes),
                                                 static_cast<size_t>(initial.getNumElements())),
                              type.shape);
      });
    }
    program.variables.push_back(std::make_shared<::weft::VariableState>(
        value, variable.getSymName().str(), /*trainable=*/true));
    program.written.push_back(true); // the text may assign any of them
  }
  return program;
}

/// Throws unless the arguments fit the function's types.
static void checkArguments(const ::weft::Program &program, ArrayRef<::weft::Tensor> arguments) {
  if (arguments.size() != program.inputs.size())
    throw ::weft::ValueError("@" + program.name + " takes " +
                             std::to_string(program.inputs.size()) + " arguments, but " +
                             std::to_string(arguments.size()) + " are given with --arg");
  for (size_t i = 0; i < arguments.size(); ++i) {
    const ::weft::TensorType &wanted = program.values[program.inputs[i]];
    bool fits =
        wanted.dtype == arguments[i].dtype() && wanted.shape.size() == arguments[i].shape().size();
    for (size_t d = 0; fits && d < wanted.shape.size(); ++d)
      fits = wanted.shape[d] == ::weft::unknown || wanted.shape[d] == arguments[i].shape()[d];
    if (!fits)
      throw ::weft::ValueError("argument " + std::to_string(i) + " of @" + program.name +
                               " must be " + to_string(wanted) + ", but --arg gives " +
                               to_string(arguments[i].type()));
  }
}

static void printTimes(const ::weft::CompiledCode &code, double compileMs) {
  llvm::outs() << "compile " << llvm::format("%.1f ms (", compileMs);
  llvm::interleaveComma(code.report.phases, llvm::outs(), [](const auto &phase) {
    llvm::outs() << phase.phase << llvm::format(" %.1f", phase.milliseconds);
  });
  llvm::outs() << "), cache " << code.report.cache << ", arena " << (code.arena_bytes + 1023) / 1024
               << " KiB, code " << (code.report.code_bytes + 1023) / 1024 << " KiB, "
               << code.report.copies() << (code.report.copies() == 1 ? " copy\n" : " copies\n");
}

/// Whether `actual` equals the file's tensor within the tolerance; says where it does not.
static bool matches(size_t index, const ::weft::Tensor &actual, const std::string &file) {
  const ::weft::Tensor expected = ::weft::load_npy(file);
  if (!(actual.type() == expected.type())) {
    llvm::errs() << "result " << index << " is " << to_string(actual.type()) << ", but " << file
                 << " holds " << to_string(expected.type()) << '\n';
    return false;
  }
  const std::vector<double> a = actual.to_vector<double>(), e = expected.to_vector<double>();
  for (size_t i = 0; i < a.size(); ++i) {
    const bool same = a[i] == e[i] || (std::isnan(a[i]) && std::isnan(e[i])) ||
                      std::abs(a[i] - e[i]) <= options->tolerance * std::max(1.0, std::abs(e[i]));
    if (same) continue;
    llvm::errs() << "result " << index << " differs from " << file << " at element " << i << ": "
                 << llvm::format("%.9g instead of %.9g", a[i], e[i]) << '\n';
    return false;
  }
  return true;
}

/// Prints, saves and compares the results as the options ask; whether they are what --check wants.
static bool useResults(const std::string &name, const std::vector<::weft::Tensor> &results) {
  if (options->printResults) {
    llvm::outs() << name << ": " << results.size() << (results.size() == 1 ? " result" : " results")
                 << '\n';
    for (const ::weft::Tensor &result : results) llvm::outs() << "  " << to_string(result) << '\n';
  }
  for (size_t i = 0; i < options->saveFiles.size(); ++i) {
    if (i >= results.size())
      throw ::weft::ValueError("--save names " + std::to_string(options->saveFiles.size()) +
                               " files, but there are " + std::to_string(results.size()) +
                               " results");
    ::weft::save_npy(options->saveFiles[i], results[i]);
  }
  bool same = true;
  for (size_t i = 0; i < options->checkFiles.size(); ++i) {
    if (i >= results.size())
      throw ::weft::ValueError("--check names " + std::to_string(options->checkFiles.size()) +
                               " files, but there are " + std::to_string(results.size()) +
                               " results");
    same &= matches(i, results[i], options->checkFiles[i]);
  }
  return same;
}

/// What a run takes, in microseconds.
static double medianOf(llvm::function_ref<std::vector<::weft::Tensor>()> run) {
  ::weft::set_print_sink([](std::string_view) {}); // the program printed once already
  std::vector<double> times;
  for (int i = 0; i < options->repeats; ++i) {
    const auto at = std::chrono::steady_clock::now();
    (void)run();
    times.push_back(millisecondsSince(at) * 1e3);
  }
  std::nth_element(times.begin(), times.begin() + times.size() / 2, times.end());
  return times[times.size() / 2];
}

static void printMedian(double microseconds) {
  llvm::outs() << "run     " << llvm::format("%.2f us median of ", microseconds)
               << options->repeats.getValue() << '\n';
}

/// Says what an exported program has in it.
static void describe(const ::weft::LoadedProgram &program) {
  const auto list = [](const std::vector<::weft::TensorType> &types) {
    llvm::interleaveComma(types, llvm::outs(),
                          [](const auto &type) { llvm::outs() << to_string(type); });
  };
  llvm::outs() << program.name() << ", exported by Weft " << program.weft_version() << '\n';
  for (const ::weft::ProgramEntry &entry : program.entries()) {
    llvm::outs() << "  (";
    list(entry.inputs);
    llvm::outs() << ") -> (";
    list(entry.outputs);
    llvm::outs() << ") for ";
    llvm::interleaveComma(entry.processors, llvm::outs());
    for (const std::string &chip : entry.chips) llvm::outs() << ", " << chip;
    llvm::outs() << '\n';
  }
  for (const auto &[name, variable] : program.variables())
    llvm::outs() << "  " << name << " : " << to_string(variable.value().type()) << '\n';
}

/// Runs a program that C++ exported, or without arguments, if it takes some, describes it.
static int runExported(MLIRContext &context) {
  if (!options->entry.empty())
    throw ::weft::ValueError(
        options->inputFile +
        " is an exported program: the types of the arguments choose its entry, not --entry");
  const auto start = std::chrono::steady_clock::now();
  const ::weft::LoadedProgram program =
      ::weft::load_program(options->inputFile, {.device = ::weft::parse_device(options->device)});
  const double loadMs = millisecondsSince(start);
  std::vector<::weft::Tensor> arguments;
  for (const std::string &text : options->argTexts)
    arguments.push_back(parseArgument(text, context));
  const auto takesNone = [](const ::weft::ProgramEntry &entry) { return entry.inputs.empty(); };
  if (arguments.empty() && llvm::none_of(program.entries(), takesNone)) {
    describe(program);
    return 0;
  }
  const auto run = [&] {
    try {
      return program.run(arguments, std::source_location()); // lines are the program's
    } catch (const ::weft::Error &error) {
      throw ProgramError(error);
    }
  };
  const bool same = useResults(program.name(), run());
  if (options->timed) {
    const double median = medianOf(run);
    llvm::outs() << "load    " << llvm::format("%.2f ms\n", loadMs);
    printMedian(median);
  }
  return same ? 0 : 1;
}

/// Whether the input is what export_program writes. What is no file is read once only.
static bool isExported() {
  if (!llvm::sys::fs::is_regular_file(options->inputFile)) return false;
  std::ifstream in(options->inputFile, std::ios::binary);
  char start[8] = {};
  return in.read(start, sizeof start) && StringRef(start, sizeof start) == "WEFTPROG";
}

/// The key of the code of one function of a text, which has gone through `from`.
static std::optional<cache::Key> keyOf(const ::weft::Digest &module, const std::string &function,
                                       ::weft::Phase from, const Target &target) {
  ::weft::Sha256 sha;
  sha.text("weft text 1");
  sha.update(module.data(), module.size());
  sha.text(function);
  sha.text(::weft::name_of(from));
  return cache::key_of(sha.finish(), target.kind == Target::Kind::cpu ? "" : target.chip);
}

/// The function's code, from the cache or compiled now; nothing after errors, which were printed.
static std::optional<::weft::CompiledCode>
compileOrFind(MLIRContext &context, InputProgram &input, const std::string &name,
              ::weft::Phase from, ArrayRef<std::string> symbols, const Target &target) {
  const auto start = std::chrono::steady_clock::now();
  ModuleOp module = input.module();
  const ::weft::Digest digest = digestOf(module);
  const std::optional<cache::Key> key = keyOf(digest, name, from, target);
  const std::optional<cache::Folder> folder = cache::Folder::from_environment();
  const bool isCached = folder && key && !::weft::fresh_code_requested();
  if (isCached)
    if (auto found = cache::load(*folder, *key, name)) return found;

  Driver driver(context, target);
  driver.verifyEach(options->verifyEach);
  // Errors of these phases show the line; those of load come as one text.
  driver.reproduceFrom([&] { return input.again(); }, from);
  if (from < ::weft::Phase::bufferize) driver.nameCalls(callNamesOf(module));
  if (failed(driver.verifyInput(module, from)) ||
      failed(driver.run(module, from, ::weft::Phase::bufferize))) {
    if (!driver.reproducer().empty()) llvm::errs() << "error: " << driver.reproducer() << '\n';
    return std::nullopt;
  }
  auto phases = driver.takeTimes();
  ::weft::CompiledCode code = driver.load(module, name, ::weft::Phase::bufferize, symbols).value();
  phases.insert(phases.end(), code.report.phases.begin(), code.report.phases.end());
  code.report.phases = std::move(phases);
  code.report.total_ms = millisecondsSince(start);
  code.report.cache = isCached ? "miss" : "off";
  code.module = digest;
  if (isCached) cache::store(*folder, *key, name, code);
  return code;
}

static int runProgram(MLIRContext &context, InputProgram &input, ::weft::Phase from) {
  ModuleOp module = input.module();
  const ::weft::Device device = ::weft::parse_device(options->device);
  const Target target = targetOf(device);
  func::FuncOp function = findEntry(module);
  if (failed(checkSignature(function))) return 1;
  ::weft::Program program = describe(module, function);
  std::vector<::weft::Tensor> arguments;
  for (const std::string &text : options->argTexts)
    arguments.push_back(parseArgument(text, context));
  checkArguments(program, arguments);
  std::vector<std::string> symbols;
  for (const ::weft::VariableRef &variable : program.variables) symbols.push_back(variable->name());

  const auto start = std::chrono::steady_clock::now();
  // Code from later phases has numbers of another text.
  std::vector<::weft::SourceLocation> locations;
  if (from < ::weft::Phase::bufferize) locations = numberSites(module);
  std::optional<::weft::CompiledCode> found =
      compileOrFind(context, input, program.name, from, symbols, target);
  if (!found) return 1;
  ::weft::CompiledCode code = std::move(*found);
  const double compileMs = millisecondsSince(start);
  const std::string name = program.name;
  const ::weft::CompiledCode shown = code;
  ::weft::CompiledCall call(std::make_shared<const ::weft::Program>(std::move(program)),
                            std::move(code), nullptr, tableOf(std::move(locations)), device);

  SmallVector<::weft::detail::TensorImpl *> inputs;
  for (const ::weft::Tensor &argument : arguments) inputs.push_back(argument.impl());
  const std::span<::weft::detail::TensorImpl *const> span(inputs.data(), inputs.size());
  const auto run = [&] {
    try {
      return call.run(span);
    } catch (const ::weft::Error &error) {
      throw ProgramError(error);
    }
  };
  const std::vector<::weft::Tensor> results = run();

  const bool same = useResults(name, results);
  if (options->timed) {
    const double median = medianOf(run);
    printTimes(shown, compileMs);
    printMedian(median);
  }
  return same ? 0 : 1;
}

int mlir::weft::runMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  static Options registered;
  options = &registered;
  cl::HideUnrelatedOptions(options->category);
  if (!takesNoPlugin(argc, argv, "weft-run")) return 1;
  cl::ParseCommandLineOptions(
      argc, argv,
      "weft-run: compile a function of an .mlir file for this machine and run it, or run a program "
      "that C++ exported\n\n"
      "  weft-run step.mlir --entry=train_step --arg=x.npy --arg='dense<3> : tensor<32xi32>' "
      "--time --print\n"
      "  weft-run predict.weft                # what it can be called with\n"
      "  weft-run predict.weft --arg=x.npy --print\n");
  if (std::string why = checkOptions(); !why.empty()) {
    llvm::errs() << "error: " << why << '\n';
    return 1;
  }
  const ::weft::Phase from = *::weft::phase_of(options->fromPhase);
  // One stream for the program's lines and ours, so that they keep their order.
  ::weft::set_print_sink([](std::string_view line) {
    const bool ends = !line.ends_with(::weft::continues_line);
    llvm::outs() << StringRef(line.data(), line.size() - (ends ? 0 : 1)) << (ends ? "\n" : "");
  });
  CompilerContext context;
  try {
    InputProgram input(context);
    const bool exported = isExported();
    if (!exported && failed(input.read(options->inputFile))) return 1;
    const int status = exported ? runExported(context) : runProgram(context, input, from);
    return finish(llvm::outs(), "-") ? status : 1;
  } catch (const ProgramError &error) {
    finish(llvm::outs(), "-");
    llvm::errs() << error.what() << '\n';
    return 1;
  } catch (const ::weft::Error &error) {
    finish(llvm::outs(), "-");
    llvm::errs() << "error: " << error.message() << '\n'; // its location is a line of this file
    return 1;
  } catch (const std::exception &error) {
    finish(llvm::outs(), "-");
    llvm::errs() << "error: " << error.what() << '\n';
    return 1;
  }
}
