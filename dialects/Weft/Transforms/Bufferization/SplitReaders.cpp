// The pass weft-split-readers: keeps bufferization from comparing every reader of a tensor with
// all.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SPLITREADERSPASS
#include "Weft/Transforms/Passes.h.inc"

/// Whether `value` will have a buffer of its own, or the caller's, laid out row by row.
static bool hasPlainBuffer(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<func::FuncOp>(argument.getOwner()->getParentOp());
  while (auto result = dyn_cast<OpResult>(value)) {
    auto op = dyn_cast<linalg::LinalgOp>(result.getOwner());
    if (!op) return isa<arith::ConstantOp, tensor::EmptyOp>(result.getOwner());
    value = op.getDpsInitOperand(result.getResultNumber())->get();
  }
  return false;
}

/// Whether the op computes with the elements of `value`, and does nothing else with it but perhaps
/// write there.
static bool computesWith(Operation *op, Value value) {
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  // A copy says where its source is to be computed.
  if (!loops || isa<linalg::CopyOp>(op)) return false;
  return llvm::any_of(op->getOpOperands(), [&](OpOperand &operand) {
    return operand.get() == value && loops.isDpsInput(&operand) &&
           loops.payloadUsesValueFromOperand(&operand);
  });
}

namespace {
struct SplitReaders : impl::SplitReadersPassBase<SplitReaders> {
  using SplitReadersPassBase::SplitReadersPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    for (BlockArgument argument : function.getArguments()) split(argument);
    SmallVector<Value> results;
    function.walk([&](Operation *op) {
      if (isa<linalg::LinalgOp, arith::ConstantOp>(op))
        llvm::append_range(results, op->getResults());
    });
    for (Value result : results) split(result);
  }

  void split(Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !value.hasNUsesOrMore(maxReaders + 1) || !hasPlainBuffer(value)) return;
    SmallVector<Operation *> readers;
    for (Operation *user : value.getUsers()) {
      // The value may be computed in a slice of another, whose rows lie apart.
      if (isa<tensor::InsertSliceOp>(user)) return;
      if (user->getBlock() == value.getParentBlock() && computesWith(user, value))
        readers.push_back(user);
    }
    if (readers.size() <= maxReaders) return;
    llvm::sort(readers, [](Operation *a, Operation *b) { return a != b && a->isBeforeInBlock(b); });
    readers.erase(llvm::unique(readers), readers.end());
    // The last one stays: what would overwrite the value before it has elements read is seen by it.
    readers.pop_back();

    OpBuilder b(&getContext());
    b.setInsertionPointAfterValue(value);
    Location loc = value.getLoc();
    auto buffer = bufferization::ToBufferOp::create(
        b, loc, MemRefType::get(type.getShape(), type.getElementType()), value,
        /*read_only=*/true);
    const size_t group = std::max(maxReaders / 2, 1u);
    for (size_t first = 0; first < readers.size(); first += group) {
      Value own = bufferization::ToTensorOp::create(b, loc, type, buffer, /*restrict=*/true);
      for (Operation *reader : ArrayRef(readers).drop_front(first).take_front(group))
        for (OpOperand &operand : reader->getOpOperands())
          if (operand.get() == value && cast<linalg::LinalgOp>(reader).isDpsInput(&operand))
            operand.set(own);
    }
  }
};
} // namespace

} // namespace mlir::weft
