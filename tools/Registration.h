// What every tool that takes arbitrary IR registers: all of upstream's dialects and passes, and
// Weft's.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace mlir::weft {

void registerDialects(DialectRegistry &registry);
void registerPasses();

} // namespace mlir::weft
