// C headers of ahead-of-time objects.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::weft {

/// A C header that declares every entry of a module after phase `bufferize`, with one pointer per
/// input, variable and output. A fault if a size is unknown: such outputs need the C++ API.
/// `places` are those of the sites that the code names.
::weft::Result<std::string> emitHeader(ModuleOp module, StringRef guard,
                                       ArrayRef<::weft::SourcePlace> places);

} // namespace mlir::weft
