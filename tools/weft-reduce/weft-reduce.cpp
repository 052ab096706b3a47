// weft-reduce: makes a program that a test script finds interesting as small as possible.
#include "Help.h"
#include "Import/TextLimits.h"
#include "Input.h"
#include "Output.h"
#include "Reductions.h"
#include "Registration.h"
#include "Tools.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

/// Looks at what upstream's main is going to read: of bytecode its text, in the file `text`. Gives
/// false after an error, which was printed.
static bool isReadable(std::string &path, std::optional<llvm::FileRemover> &text) {
  // What is not there upstream reports, and standard input can be read once only.
  if (!llvm::sys::fs::is_regular_file(path)) return true;
  const auto start = llvm::MemoryBuffer::getFileSlice(path, 4, 0);
  std::string error;
  const auto input = mlir::weft::openProgram(path, error);
  llvm::SmallString<128> name;
  int file = -1;
  if (input && !mlir::weft::isParsable(*input)) return false;
  if (input && !(start && mlir::weft::isBytecode((*start)->getBuffer()))) return true;
  if (input) {
    if (const auto code = llvm::sys::fs::createTemporaryFile("weft-reduce", "mlir", file, name))
      error = "cannot write a temporary file: " + code.message();
  }
  if (!error.empty()) {
    llvm::errs() << "error: " << error << '\n';
    return false;
  }
  text.emplace(name);
  llvm::raw_fd_ostream os(file, /*shouldClose=*/true);
  os << input->getBuffer();
  path = name.str().str();
  return mlir::weft::finish(os, path);
}

int mlir::weft::reduceMain(int argc, char **argv) {
  std::string output;
  std::vector<std::string> inputs;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (!argument.starts_with("-")) {
      inputs.push_back(argument.str());
    } else if (argument.consume_front("--o") || argument.consume_front("-o")) {
      if (argument.consume_front("=")) output = argument.str();
      else if (argument.empty() && i + 1 < argc) output = argv[++i];
    }
  }
  // Upstream's main empties the output before it reads.
  if (const std::string wrong = mlir::weft::overwritten(inputs, output); !wrong.empty()) {
    llvm::errs() << "error: " << wrong << '\n';
    return 1;
  }
  std::optional<llvm::FileRemover> text;
  std::vector<char *> arguments(argv, argv + argc + 1);
  for (std::string &input : inputs) {
    const std::string given = input;
    if (!isReadable(input, text)) return 1;
    for (int i = 1; i < argc; ++i)
      if (given == argv[i]) arguments[i] = input.data();
  }
  const llvm::cl::extrahelp more(
      "\nweft-reduce: make a program small that a script finds interesting.\n\n"
      "  weft-reduce big.mlir -o small.mlir --reduction-tree='traversal-mode=0 test=fails.sh'\n\n"
      "The script gets a file name and exits with 1 if the program in it still shows what is\n"
      "looked for, and with 0 if not.\n");
  mlir::weft::hideLibraryOptions();
  mlir::weft::registerPasses();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
  mlir::weft::registerReductions(registry);
  mlir::MLIRContext context(registry);
  // Most smaller programs that it tries are wrong, so what is said of them counts only if it fails.
  // The handler finds the lines that it quotes by the names of the files.
  std::string remarks;
  llvm::raw_string_ostream os(remarks);
  context.printOpOnDiagnostic(false);
  llvm::SourceMgr sources;
  mlir::SourceMgrDiagnosticHandler handler(sources, &context, os);
  const bool fails = mlir::failed(mlir::mlirReduceMain(argc, arguments.data(), context));
  if (fails) llvm::errs() << remarks;
  return fails;
}
