// The passes within a level, declared from Passes.td, and the hooks they need in a registry.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::weft {

#define GEN_PASS_DECL
#include "Weft/Transforms/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Weft/Transforms/Passes.h.inc"

/// Tells one-shot bufferization how print, assert and check_indices read their operands: they
/// become calls of the runtime.
void registerBufferizableEffects(DialectRegistry &registry);
/// The same of host_result, which is new memory.
void registerBufferizableHostResults(DialectRegistry &registry);
/// That draw_into overwrites what it draws into, by a call of the runtime.
void registerBufferizableDraws(DialectRegistry &registry);
/// That call_into overwrites its destination, by a call of the runtime.
void registerBufferizableCalls(DialectRegistry &registry);
/// That attention overwrites its destinations.
void registerBufferizableAttention(DialectRegistry &registry);
/// That stack_reserve updates its operand's buffer, whichever it then is.
void registerBufferizableStacks(DialectRegistry &registry);
/// And that widen is its operand's buffer.
void registerBufferizableWiden(DialectRegistry &registry);

} // namespace mlir::weft
