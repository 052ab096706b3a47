// What an op of a body costs: the one model that fusion, the choice of loops and threads go by.
#pragma once

#include "mlir/IR/Block.h"
#include "mlir/IR/Operation.h"

namespace mlir::weft {

/// A rough count of simple instructions per element, or per vector where there is a vector form: 1
/// for an addition, more for a division or a function, 0 for what needs no instruction of its own.
int64_t costOf(Operation &op);

/// The sum of the costs of a body, without its terminator.
int64_t costOf(Block &body);

} // namespace mlir::weft
