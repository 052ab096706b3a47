// Calls of the runtime (lib/Runtime/CallContext.h) from code on buffers.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

/// Calls the runtime function `name`, which is declared in the module on first use. A memref
/// operand arrives as a pointer to its first element, whatever its type; the context, if
/// `withContext`, comes before all operands. Both are done by the conversion to LLVM.
void callRuntime(ImplicitLocOpBuilder &b, StringRef name, ValueRange operands, bool withContext);

/// A pointer to constant text (with a NUL after it).
Value textPointer(ImplicitLocOpBuilder &b, StringRef text);

/// The user's "file:line" of a location, or "".
std::string placeOf(Location location);

} // namespace mlir::weft
