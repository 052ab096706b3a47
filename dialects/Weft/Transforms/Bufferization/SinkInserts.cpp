// The pass weft-sink-inserts: lets slices be replaced after the last look at what they replace.
#include "Weft/Transforms/Passes.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SINKINSERTSPASS
#include "Weft/Transforms/Passes.h.inc"

/// What a value of a block is read by, more of them than this are not looked at.
static constexpr size_t mostReaders = 256;

static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op);
}

static bool isInsert(Operation *op) { return isa<tensor::InsertOp, tensor::InsertSliceOp>(op); }

static Value destinationOf(Operation *insert) {
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(insert)) return slice.getDest();
  return cast<tensor::InsertOp>(insert).getDest();
}

/// Whether the op only writes to the tensor, from one end to the other, as what brings the state of
/// loops to its place does.
static bool overwrites(OpOperand &use) {
  auto loops = dyn_cast<linalg::LinalgOp>(use.getOwner());
  return loops && loops.isDpsInit(&use) && !loops.payloadUsesValueFromOperand(&use);
}

/// The ops of the block, but `insert`, that read `value` or a view of it, or in whose regions it is
/// read; nothing if they are too many.
static std::optional<llvm::SetVector<Operation *>> readersOf(Value value, Operation *insert) {
  llvm::SetVector<Operation *> readers;
  SmallVector<Value> same{value};
  while (!same.empty()) {
    Value view = same.pop_back_val();
    for (OpOperand &use : view.getUses()) {
      Operation *user = use.getOwner();
      if (overwrites(use)) continue;
      Operation *top = insert->getBlock()->findAncestorOpInBlock(*user);
      if (!top || user == insert || !readers.insert(top)) continue;
      if (readers.size() > mostReaders) return std::nullopt;
      if (isView(user)) same.push_back(user->getResult(0));
    }
  }
  return readers;
}

/// The inserts that must follow `insert` if it moves behind `last`, itself first; nothing if one of
/// the readers, or an op that is no insert, waits for them.
static std::optional<llvm::SetVector<Operation *>>
movedWith(Operation *insert, Operation *last, const llvm::SetVector<Operation *> &readers) {
  llvm::SetVector<Operation *> moved;
  moved.insert(insert);
  for (size_t i = 0; i < moved.size(); ++i)
    for (Operation *user : moved[i]->getUsers()) {
      Operation *top = insert->getBlock()->findAncestorOpInBlock(*user);
      if (last->isBeforeInBlock(top)) continue;
      if (readers.contains(top) || !isInsert(top) || moved.size() > mostReaders)
        return std::nullopt;
      moved.insert(top);
    }
  return moved;
}

/// Moves the insert behind all readers of what it changes.
static void sink(Operation *insert) {
  std::optional<llvm::SetVector<Operation *>> readers = readersOf(destinationOf(insert), insert);
  if (!readers) return;
  Operation *last = insert;
  for (Operation *reader : *readers)
    if (last->isBeforeInBlock(reader)) last = reader;
  if (last == insert || last->hasTrait<OpTrait::IsTerminator>()) return;
  std::optional<llvm::SetVector<Operation *>> moved = movedWith(insert, last, *readers);
  if (!moved) return;
  SmallVector<Operation *> ordered = moved->takeVector();
  llvm::sort(ordered, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    op->moveAfter(last);
    last = op;
  }
}

namespace {
struct SinkInserts : impl::SinkInsertsPassBase<SinkInserts> {
  void runOnOperation() override {
    SmallVector<Operation *> inserts;
    getOperation().walk([&](Operation *op) {
      if (isInsert(op)) inserts.push_back(op);
    });
    // The last first: those behind are out of the way then.
    for (Operation *insert : llvm::reverse(inserts)) sink(insert);
  }
};
} // namespace

} // namespace mlir::weft
