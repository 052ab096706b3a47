// What the input of a phase must look like.
#pragma once

#include "Pipelines/Pipelines.h"

namespace mlir::weft {

/// Fails after a diagnostic if the module has an op in it that the phase `from`, which it is said
/// to have gone through, or one before that leaves in no program.
LogicalResult verifyHasGoneThrough(ModuleOp module, ::weft::Phase from, const Target &target);

/// Puts checks into a program that somebody wrote and that has gone through `from`, lift-state,
/// linalg or schedule, which make all that it does defined, as weft-runtime-verification says.
/// Fails after a diagnostic at what cannot be checked.
LogicalResult verifyAtRuntime(ModuleOp module, ::weft::Phase from);

} // namespace mlir::weft
