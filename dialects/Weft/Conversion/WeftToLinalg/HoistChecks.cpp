// Takes checks of sizes and indices in front of what computes the tensors that they are about.
#include "Weft/Conversion/WeftToLinalg/HoistChecks.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

/// Pure arithmetic on numbers: what a check needs, and may be computed earlier.
static bool isScalar(Operation *op) {
  if (isa<tensor::FromElementsOp>(op)) return true;
  return op->getNumRegions() == 0 && isMemoryEffectFree(op) &&
         llvm::all_of(op->getResultTypes(), [](Type type) { return type.isIntOrIndexOrFloat(); });
}

/// The later of two ops of a block, where null stands before all.
static Operation *later(Operation *a, Operation *b) {
  if (a == nullptr || b == nullptr) return a != nullptr ? a : b;
  return a->isBeforeInBlock(b) ? b : a;
}

/// Moves the check, and the arithmetic that it needs, as far up as its operands allow, but not past
/// `fence`.
static void hoist(Operation *check, Operation *fence) {
  Block *block = check->getBlock();
  Operation *after = fence;
  llvm::SetVector<Operation *> needed;
  SmallVector<Operation *> work{check};
  while (!work.empty()) {
    for (Value operand : work.pop_back_val()->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def == nullptr || def->getBlock() != block) continue;
      if (fence != nullptr && !fence->isBeforeInBlock(def)) continue;
      if (!isScalar(def)) after = later(after, def);
      else if (needed.insert(def)) work.push_back(def);
    }
  }
  SmallVector<Operation *> moved(needed.begin(), needed.end());
  llvm::sort(moved, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  moved.push_back(check);
  for (Operation *op : moved) {
    // What stands there already is in the right order.
    if (after != nullptr && op->isBeforeInBlock(after)) continue;
    // By taking it out and in again the others keep their numbers, which a move would forget.
    op->remove();
    block->getOperations().insert(
        after == nullptr ? block->begin() : std::next(Block::iterator(after)), op);
    after = op;
  }
}

void hoistChecks(func::FuncOp function) {
  function.walk([](Block *block) {
    // Sizes are checked before indices: these may be computed in as many elements as the check of
    // sizes promises, which are read where there are fewer.
    Operation *fence = nullptr, *sizesFence = nullptr;
    for (Operation &op : llvm::make_early_inc_range(*block)) {
      const bool stops = op.hasTrait<StopsCall>(), ofSizes = isa<CheckSizesOp>(op);
      if (stops) hoist(&op, ofSizes ? sizesFence : fence);
      if (isMemoryEffectFree(&op)) continue;
      fence = later(fence, &op);
      if (!stops || ofSizes) sizesFence = &op;
    }
  });
}

} // namespace mlir::weft
