// Registers upstream's dialects and passes, and Weft's.
#include "Registration.h"

#include "Driver/Driver.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

void mlir::weft::registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCompilerDialects(registry);
}

void mlir::weft::registerPasses() {
  registerAllPasses();
  registerWeftPasses();
  registerWeftPipelines();
}
