// Reads input programs.
#include "Input.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::weft {

LogicalResult InputProgram::read(StringRef path) {
  std::string error;
  std::unique_ptr<llvm::MemoryBuffer> file = openInputFile(path, &error);
  if (!file) {
    llvm::errs() << "error: " << error << '\n';
    return failure();
  }
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  parsed = parseSourceFile<ModuleOp>(sources, &context);
  return success(static_cast<bool>(parsed));
}

} // namespace mlir::weft
