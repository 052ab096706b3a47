// What happens to dtypes before weft ops become linalg: small ones are widened where nothing
// computes in them, integers lose their signs, and floats of 16 and 8 bits become their bits.
#pragma once

#include "Weft/Conversion/ScalarBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::weft {

/// Does ops whose record says `widening` on dtypes that have no routines of their own in the dtype
/// in which these are computed (OpDefs/Widening.h).
void widenOperands(func::FuncOp function, bool withoutLibrary);

/// Makes all types of the function those of storage, as arith and linalg want them. Gives what the
/// weft ops in it, which are lowered next, were told by their types. The function, and ops that
/// show values to the library, keep it as an attribute, kElements. Fails, after a diagnostic, where
/// an op of upstream's computes with floats of 16 or 8 bits.
FailureOr<llvm::DenseMap<Operation *, Signs>> eraseSigns(func::FuncOp function,
                                                         bool convertsFloats);

} // namespace mlir::weft
