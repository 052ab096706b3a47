// State of a counted loop that only collects what its iterations give, each at a place of its own.
#pragma once

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// The op that fills a place of piece of state `number` of the loop, if that is all that its
/// iterations do with the elements, and no two fill the same place; null otherwise. Then the
/// cotangent of a place is the one that it has behind the loop, whichever iteration filled it.
UpdateSliceOp outputOf(scf::ForOp loop, unsigned number);

/// Whether what `update` stores can be had back from the loop's result by `loadOutput`.
bool canLoadOutput(UpdateSliceOp update);

/// What `update`, from `outputOf`, stored in an iteration of the loop: from its result `stack`,
/// behind the loop, where `inductionVar` is what the loop counted with in that iteration.
Value loadOutput(OpBuilder &builder, scf::ForOp loop, UpdateSliceOp update, Value stack,
                 Value inductionVar);

} // namespace mlir::weft
