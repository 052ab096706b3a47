// weft-lsp-server: diagnostics, hover and completion for .mlir files in editors.
#include "Help.h"
#include "Registration.h"
#include "Tools.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int mlir::weft::languageServerMain(int argc, char **argv) {
  const llvm::cl::extrahelp more(
      "\nweft-lsp-server: diagnostics, hover and completion for .mlir files in editors.\n"
      "An editor starts it without arguments and speaks the Language Server Protocol with it\n"
      "over standard input and output.\n");
  mlir::weft::hideLibraryOptions();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
