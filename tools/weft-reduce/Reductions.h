// What weft-reduce may replace an op of Weft by.
#pragma once

#include "mlir/IR/DialectRegistry.h"

namespace mlir::weft {

/// Gives the weft dialect its reductions: an op may become one of its operands, or zero.
void registerReductions(DialectRegistry &registry);

} // namespace mlir::weft
