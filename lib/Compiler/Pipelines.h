// The phases of compilation by name: what each runs, wants and leaves.
#pragma once

namespace mlir::weft {

/// Registers every pass of Weft's for textual pipelines.
void registerWeftPasses();

} // namespace mlir::weft
