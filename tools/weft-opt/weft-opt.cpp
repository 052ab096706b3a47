// weft-opt: runs any pass or pipeline, Weft's and upstream's, on a text file.
#include "Compiler/Pipelines.h"
#include "Weft/IR/Weft.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::weft::registerWeftPasses();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mlir::weft::WeftDialect>();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "weft-opt: Weft's optimiser driver\n", registry));
}
