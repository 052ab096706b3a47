// weft-opt: runs any pass or pipeline, Weft's and upstream's, on a text file.
#include "Compiler/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::registerAllPasses();
  mlir::weft::registerWeftPasses();
  mlir::weft::registerWeftPipelines();
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::weft::registerWeftDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "weft-opt: Weft's optimiser driver\n", registry));
}
