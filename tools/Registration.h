// What every tool that takes arbitrary IR registers: all of upstream's dialects and passes, and
// Weft's.
#pragma once

#include "Compiler/Driver.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"

namespace mlir::weft {

inline void registerDialects(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registerCompilerDialects(registry);
}

inline void registerPasses() {
  registerAllPasses();
  registerWeftPasses();
  registerWeftPipelines();
}

} // namespace mlir::weft
