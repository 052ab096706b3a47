// Writes reproducers, as weft-opt --run-reproducer reads them.
#include "Driver/Reproducer.h"

#include "Import/Import.h"
#include "Program/Requests.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AsmState.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

namespace mlir::weft {

/// The name of the function that the module is compiled for.
static std::string nameOf(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isDeclaration()) return symbolName(function.getName());
  return "module";
}

::weft::Result<std::string> writeReproducer(ModuleOp module, StringRef phase, StringRef pipeline,
                                            bool verify) {
  SmallString<128> model(::weft::DumpRequest::from_environment().folder);
  if (model.empty()) llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, model);
  llvm::sys::path::append(model, "weft-" + nameOf(module) + "-" + phase + "-%%%%%%.mlir");
  auto fault = [&](std::error_code error) {
    return ::weft::Fault{::weft::ErrorKind::io, "no reproducer could be written to " +
                                                    model.str().str() + ": " + error.message()};
  };
  int descriptor = -1;
  SmallString<128> path;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(model, descriptor, path))
    return fault(error);
  llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/true);
  AsmState state(module.getOperation(), OpPrintingFlags().enableDebugInfo());
  state.attachResourcePrinter("mlir_reproducer", [&](Operation *, AsmResourceBuilder &builder) {
    builder.buildString("pipeline", pipeline);
    builder.buildBool("disable_threading", true);
    builder.buildBool("verify_each", verify);
  });
  module->print(out, state);
  out << '\n';
  out.close();
  if (std::error_code error = out.error()) {
    out.clear_error();
    return fault(error);
  }
  return path.str().str();
}

} // namespace mlir::weft
