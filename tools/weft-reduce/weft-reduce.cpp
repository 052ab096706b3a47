// weft-reduce: makes a program that a test script finds interesting as small as possible.
#include "Registration.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Tools/mlir-reduce/MlirReduceMain.h"

int main(int argc, char **argv) {
  mlir::weft::registerPasses();
  mlir::DialectRegistry registry;
  mlir::weft::registerDialects(registry);
  mlir::MLIRContext context(registry);
  return mlir::failed(mlir::mlirReduceMain(argc, argv, context));
}
