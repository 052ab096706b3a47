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
    "  weft-opt step.mlir --weft-phase-linalg -o step.linalg.mlir\n"
    "  weft-opt step.mlir --split-input-file --verify-diagnostics\n";

/// Reads, runs and writes; as upstream's main does, but for the words of what cannot be written.
static llvm::LogicalResult run(llvm::StringRef inputName, llvm::StringRef outputName,
                               mlir::DialectRegistry &registry) {
  std::string error = mlir::weft::overwritten(inputName.str(), outputName.str());
  std::unique_ptr<llvm::MemoryBuffer> input;
  if (error.empty()) input = mlir::weft::openProgram(inputName, error);
  std::unique_ptr<llvm::ToolOutputFile> output;
  if (input) output = mlir::openOutputFile(outputName, &error);
  if (!input || !output) {
    llvm::errs() << "error: " << error << '\n';
    return llvm::failure();
  }
  if (!mlir::weft::isParsable(*input)) return llvm::failure();
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  const llvm::LogicalResult result =
      mlir::MlirOptMain(output->os(), std::move(input), registry, config);
  const bool written = mlir::weft::finish(output->os(), outputName);
  if (failed(result) || !written) return llvm::failure();
  output->keep();
  return llvm::success();
}

int mlir::weft::optMain(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  mlir::weft::hideLibraryOptions();
  mlir::weft::registerPasses();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
  const auto [input, output] = mlir::registerAndParseCLIOptions(argc, argv, overview, registry);
  const auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses())
    return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, input, output, registry));
  return mlir::asMainReturnCode(run(input, output, registry));
}
