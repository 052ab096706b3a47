// weft-opt: runs any pass or pipeline, Weft's and upstream's, on a text file.
#include "Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::weft::registerPasses();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "weft-opt: Weft's optimiser driver\n", registry));
}
