// The loops of the cumulative ops' kernels.
#pragma once

#include "OpDefs/OpInfo.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/ValueRange.h"

namespace weft::kernelgen {

/// Makes the loops of a cumulative op over the first `columns` of `operands` of (outer, size,
/// inner) into those of `y`, maybe of unsigned integers. `flags` is a sum of
/// CumulativeFlags.
void buildCumulative(mlir::OpBuilder &builder, mlir::Location loc, OpCode op,
                     mlir::ValueRange operands, mlir::Value flags, mlir::Value columns,
                     mlir::Value y, bool isUnsigned);

} // namespace weft::kernelgen
