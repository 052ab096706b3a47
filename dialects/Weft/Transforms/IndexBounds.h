// What is known of an index where a loop counts it.
#pragma once

#include "mlir/IR/Value.h"

namespace mlir::weft {

/// Whether `index`, an integer, is known to be at least 0 and below `size`, an index that is not
/// negative: it counts with loops between such bounds. False if that is not seen.
bool isKnownInside(Value index, Value size);

} // namespace mlir::weft
