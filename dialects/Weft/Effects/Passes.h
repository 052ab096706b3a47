// The passes about the order of effects, declared from Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::weft {

#define GEN_PASS_DECL
#include "Weft/Effects/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Weft/Effects/Passes.h.inc"

} // namespace mlir::weft
