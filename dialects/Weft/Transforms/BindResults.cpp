// The pass weft-bind-results: destination-passing style for results and loop-carried tensors.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_BINDRESULTSPASS
#include "Weft/Transforms/Passes.h.inc"

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

static bool isArgumentOfFunction(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && isa<func::FuncOp>(argument.getOwner()->getParentOp());
}

/// Stores `value` in `destination`. A reshape before the end is done after the store instead, so
/// that what computes the elements can write to the destination itself.
static Value store(OpBuilder &b, Location loc, Value value, Value destination) {
  using bufferization::MaterializeInDestinationOp;
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto groups = expand.getReassociationIndices();
    Value inner =
        tensor::CollapseShapeOp::create(b, loc, expand.getSrcType(), destination, groups);
    inner = store(b, loc, expand.getSrc(), inner);
    return tensor::ExpandShapeOp::create(b, loc, expand.getType(), inner, groups);
  }
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
      collapse && collapse.getSrcType().hasStaticShape()) {
    auto groups = collapse.getReassociationIndices();
    Value inner =
        tensor::ExpandShapeOp::create(b, loc, collapse.getSrcType(), destination, groups);
    inner = store(b, loc, collapse.getSrc(), inner);
    return tensor::CollapseShapeOp::create(b, loc, collapse.getType(), inner, groups);
  }
  // What a loop starts with and what a branch yields is put there as well, so that they work in
  // place and the store at the end has nothing left to do.
  if (isArgumentOfFunction(destination)) {
    OpBuilder::InsertionGuard guard(b);
    const unsigned number = isa<OpResult>(value) ? cast<OpResult>(value).getResultNumber() : 0;
    if (auto loop = value.getDefiningOp<scf::ForOp>()) {
      b.setInsertionPoint(loop);
      OpOperand &init = loop.getInitArgsMutable()[number];
      if (init.get() != destination) init.set(store(b, loc, init.get(), destination));
      destination = init.get();
    } else if (auto branch = value.getDefiningOp<scf::IfOp>()) {
      for (Region *region : branch.getRegions()) {
        Operation *yield = region->front().getTerminator();
        b.setInsertionPoint(yield);
        Value yielded = yield->getOperand(number);
        if (yielded != destination) yield->setOperand(number, store(b, loc, yielded, destination));
      }
    }
  }
  return MaterializeInDestinationOp::create(b, loc, destination.getType(), value, destination)
      .getResult();
}

/// The block argument that `value` is a view of, if it is one.
static BlockArgument rootArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op))
      return {};
    value = op->getOperand(0);
  }
  return cast<BlockArgument>(value);
}

/// Makes every operand of the terminator that has a tensor of known size of its own among
/// `carried` be stored there. `terminatorOperands` are those that correspond to `carried`.
static void bindCarried(OpBuilder &b, Operation *terminator, MutableOperandRange terminatorOperands,
                        ValueRange carried) {
  b.setInsertionPoint(terminator);
  Location loc = terminator->getLoc();
  // Values that trade places with another are copied first: the stores below overwrite them.
  for (auto [operand, own] : llvm::zip_equal(terminatorOperands, carried)) {
    if (!isStaticTensor(own.getType())) continue;
    BlockArgument root = rootArgument(operand.get());
    if (!root || root == own || !llvm::is_contained(carried, root)) continue;
    auto type = cast<RankedTensorType>(own.getType());
    Value copy = bufferization::AllocTensorOp::create(b, loc, type, ValueRange{}, operand.get());
    operand.set(copy);
  }
  for (auto [operand, own] : llvm::zip_equal(terminatorOperands, carried))
    if (isStaticTensor(own.getType()) && operand.get() != own)
      operand.set(store(b, loc, operand.get(), own));
}

static void bindLoop(OpBuilder &b, scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  bindCarried(b, yield, MutableOperandRange(yield), loop.getRegionIterArgs());
}

/// Only loops that hand the same types around: in others a value has no place of its own.
static void bindLoop(OpBuilder &b, scf::WhileOp loop) {
  if (ValueRange(loop.getBeforeArguments()).getTypes() !=
      ValueRange(loop.getAfterArguments()).getTypes()) return;
  scf::ConditionOp condition = loop.getConditionOp();
  bindCarried(b, condition, condition.getArgsMutable(), loop.getBeforeArguments());
  Operation *yield = loop.getYieldOp();
  bindCarried(b, yield, MutableOperandRange(yield), loop.getAfterArguments());
}

namespace {
struct BindResults : impl::BindResultsPassBase<BindResults> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    OpBuilder b(&getContext());
    function.walk([&](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) bindLoop(b, loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op)) bindLoop(b, loop);
    });
    bindResults(b, function);
  }

  void bindResults(OpBuilder &b, func::FuncOp function) {
    DenseMap<Attribute, BlockArgument> variables;
    for (BlockArgument argument : function.getArguments()) {
      const unsigned index = argument.getArgNumber();
      if (!isa<TensorType>(argument.getType())) continue;
      if (Attribute variable = function.getArgAttr(index, "weft.variable"))
        variables[variable] = argument;
      else function.setArgAttr(index, "bufferization.writable", b.getBoolAttr(false));
    }

    Operation *ret = function.getBody().front().getTerminator();
    // Outputs before variables: an output may be the old value of a variable.
    for (bool updates : {false, true}) {
      for (OpOperand &operand : ret->getOpOperands()) {
        const unsigned index = operand.getOperandNumber();
        Attribute variable = function.getResultAttr(index, "weft.variable");
        if (updates != static_cast<bool>(variable) || !isStaticTensor(operand.get().getType()))
          continue;
        BlockArgument place = variable ? variables.lookup(variable) : BlockArgument();
        if (!place) {
          DictionaryAttr attrs =
              b.getDictionaryAttr(b.getNamedAttr("weft.output", b.getI64IntegerAttr(index)));
          const unsigned number = function.getNumArguments();
          (void)function.insertArgument(number, operand.get().getType(), attrs, ret->getLoc());
          place = function.getArgument(number);
        }
        if (operand.get() == place) continue;
        b.setInsertionPoint(ret);
        operand.set(store(b, ret->getLoc(), operand.get(), place));
      }
    }
  }
};
} // namespace

} // namespace mlir::weft
