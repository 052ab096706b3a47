// Reads input programs and the names of phases.
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

static constexpr int kNumPhases = static_cast<int>(::weft::Phase::object) + 1;

std::optional<::weft::Phase> parsePhase(StringRef name) {
  for (int i = 0; i < kNumPhases; ++i)
    if (StringRef(::weft::name_of(static_cast<::weft::Phase>(i))) == name)
      return static_cast<::weft::Phase>(i);
  return std::nullopt;
}

std::string phaseNames() {
  std::string names;
  for (int i = 0; i < kNumPhases; ++i) {
    if (i != 0) names += ", ";
    names += ::weft::name_of(static_cast<::weft::Phase>(i));
  }
  return names;
}

} // namespace mlir::weft
