// Builds the pipelines of the phases.
#include "Compiler/Pipelines.h"

#include "Weft/Conversion/Passes.h"

namespace mlir::weft {

void registerWeftPasses() { registerWeftConversionPasses(); }

} // namespace mlir::weft
