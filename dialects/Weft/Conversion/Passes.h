// The conversion passes out of the weft dialect, declared from Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/Pass.h"

namespace mlir::weft {

#define GEN_PASS_DECL
#include "Weft/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Weft/Conversion/Passes.h.inc"

} // namespace mlir::weft
