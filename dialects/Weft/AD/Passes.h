// The differentiation pass, declared from Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::weft {

#define GEN_PASS_DECL
#include "Weft/AD/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Weft/AD/Passes.h.inc"

} // namespace mlir::weft
