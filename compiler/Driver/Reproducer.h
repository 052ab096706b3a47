// Reproducers: a module and the phase that fails on it in one file, for weft-opt.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace mlir::weft {

/// Writes the module, with its locations, and the pipeline to a new file in WEFT_DUMP_DIR, or the
/// folder for temporary files. Returns its path.
::weft::Result<std::string> writeReproducer(ModuleOp module, StringRef phase, StringRef pipeline,
                                            bool verify);

} // namespace mlir::weft
