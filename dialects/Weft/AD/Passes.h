// The differentiation pass, declared from Passes.td.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::weft {

/// On a module whose derivative was refused for what the user has to decide: the diagnostic is in
/// the user's words.
inline constexpr StringLiteral refusedName = "weft.refused";

/// On derivatives that end at host calls, instead of being refused there, since whoever asks for
/// them has found out which results have none.
inline constexpr StringLiteral endsAtHostsName = "weft.ends_at_hosts";

/// On a function in the place of a pullback that was not recorded.
inline constexpr StringLiteral unrecordedName = "weft.unrecorded";

#define GEN_PASS_DECL
#include "Weft/AD/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "Weft/AD/Passes.h.inc"

} // namespace mlir::weft
