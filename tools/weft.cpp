// weft: the command-line tools as one program. The name that it is called by says which one it is
// (bin/ has a link for each), or else its first argument.
#include "Tools.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <string>
#include <vector>

using llvm::StringRef;

namespace {

struct Tool {
  StringRef name;
  int (*main)(int argc, char **argv);
  const char *purpose;
};

const Tool tools[] = {
    {"cache", mlir::weft::cacheMain, "look into the code cache"},
    {"compile", mlir::weft::compileMain,
     "take a program from one phase to another, or to an object file"},
    {"lsp-server", mlir::weft::languageServerMain, "diagnostics, hover and completion in editors"},
    {"opt", mlir::weft::optMain, "run passes and pipelines, Weft's and MLIR's, on a program"},
    {"reduce", mlir::weft::reduceMain, "make a program small that a script finds interesting"},
    {"run", mlir::weft::runMain, "compile a function of a program for this machine and run it"},
};

/// By "weft-opt" or "opt".
const Tool *find(StringRef name) {
  name.consume_front("weft-");
  for (const Tool &tool : tools)
    if (tool.name == name) return &tool;
  return nullptr;
}

int usage(llvm::raw_ostream &os) {
  os << "usage: weft TOOL [ARGUMENTS], or weft-TOOL [ARGUMENTS]\n\n";
  for (const Tool &tool : tools) os << llvm::format("  %-12s%s\n", tool.name.data(), tool.purpose);
  os << "\n  weft TOOL --help    the arguments of one tool\n  weft --version      the version of "
        "Weft\n";
  return &os == &llvm::outs() ? 0 : 2;
}

} // namespace

int main(int argc, char **argv) {
  if (argc > 0)
    if (const Tool *tool = find(llvm::sys::path::filename(argv[0]))) return tool->main(argc, argv);
  if (argc < 2) return usage(llvm::errs());
  const StringRef first = argv[1];
  if (first == "--help" || first == "-h" || first == "help") return usage(llvm::outs());
  if (first == "--version") {
    llvm::outs() << "weft " WEFT_VERSION "\n";
    return 0;
  }
  const Tool *tool = find(first);
  if (tool == nullptr) {
    llvm::errs() << "error: there is no tool '" << first << "'\n\n";
    return usage(llvm::errs());
  }
  // As if it had been called by its own name.
  std::string name = ("weft-" + tool->name).str();
  std::vector<char *> arguments(argv + 1, argv + argc + 1);
  arguments.front() = name.data();
  return tool->main(argc - 1, arguments.data());
}
