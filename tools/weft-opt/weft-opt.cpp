// weft-opt: runs any pass or pipeline, Weft's and upstream's, on a text file.
#include "Help.h"
#include "Input.h"
#include "Output.h"
#include "Registration.h"
#include "Tools.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ToolOutputFile.h"

static const char overview[] =
    "weft-opt: run passes and pipelines, Weft's and MLIR's, on a program\n\n"
    "  weft-opt step.mlir --weft-simplify --cse\n"
    "  weft-opt step.mlir --weft-phase-lift-state --weft-phase-linalg -o step.linalg.mlir\n"
    "  weft-opt step.mlir --split-input-file --verify-diagnostics\n";

/// Reads, runs and writes; as upstream's main does, but for the words of what cannot be written.
static llvm::LogicalResult run(llvm::StringRef inputName, llvm::StringRef outputName,
                               mlir::DialectRegistry &registry) {
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  std::string error = mlir::weft::overwritten(inputName.str(), outputName.str());
  if (error.empty() && config.shouldEmitBytecode() && outputName == "-" &&
      llvm::outs().is_displayed())
    error = "bytecode is no text for a terminal: say -o FILE.mlirbc";
  std::unique_ptr<llvm::MemoryBuffer> input;
  if (error.empty()) input = mlir::weft::openProgram(inputName, error);
  std::unique_ptr<llvm::ToolOutputFile> output;
  if (input) output = mlir::openOutputFile(outputName, &error);
  if (!input || !output) {
    llvm::errs() << "error: " << error << '\n';
    return llvm::failure();
  }
  if (!mlir::weft::isParsable(*input)) return llvm::failure();
  const llvm::LogicalResult result =
      mlir::MlirOptMain(output->os(), std::move(input), registry, config);
  const bool written = mlir::weft::finish(output->os(), outputName);
  if (failed(result) || !written) return llvm::failure();
  output->keep();
  return llvm::success();
}

#ifdef WEFT_STATIC_LLVM
/// Takes the options back that load plugins, whose LLVM would be a second one beside that inside of
/// the program; gives false, after an error, where one is asked for.
static bool refusePlugins(int argc, char **argv, mlir::DialectRegistry &registry) {
  mlir::MlirOptMainConfig::registerCLOptions(registry);
  auto &options = llvm::cl::getRegisteredOptions();
  for (llvm::StringRef name : {"load-pass-plugin", "load-dialect-plugin"}) {
    if (const auto option = options.find(name); option != options.end())
      option->second->removeArgument();
    for (int i = 1; i < argc; ++i)
      if (llvm::StringRef(argv[i]).ltrim('-').split('=').first == name) {
        llvm::errs() << "error: --" << name
                     << ": this build has LLVM inside, where no plugin finds it; build Weft with "
                        "-DWEFT_STATIC_LLVM=OFF\n";
        return false;
      }
  }
  return true;
}
#endif

int mlir::weft::optMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::weft::hideLibraryOptions();
  mlir::weft::registerPasses();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
#ifdef WEFT_STATIC_LLVM
  if (!refusePlugins(argc, argv, registry)) return 1;
#endif
  const auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, overview, registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return mlir::asMainReturnCode(run(input, output, registry));
}
