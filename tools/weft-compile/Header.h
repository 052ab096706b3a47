// C headers of ahead-of-time objects.
#pragma once

#include "Support/Fault.h"
#include "mlir/IR/BuiltinOps.h"

namespace mlir::weft {

/// A C header that declares every entry of a module after phase `bufferize`, with one pointer per
/// input, variable that it uses, and output, and a size for each that an input's type leaves open.
/// Pointers to what is only read are const. Outputs of unknown size are new memory. A fault if the
/// size of a variable is unknown. `locations` are those of the sites that the code names. With a
/// name of the kernels' text in the object, the functions take the number of a GPU and run there.
::weft::Result<std::string> emitHeader(ModuleOp module, StringRef guard,
                                       ArrayRef<::weft::SourceLocation> locations, StringRef ptx);

} // namespace mlir::weft
