// Finds the variables behind handles, and carries the choice among several as an index.
#include "Weft/Transforms/ChosenHandles.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

static bool isHandle(Value value) { return isa<VarType>(value.getType()); }

/// Whether an op hands on what it gets, as the analysis knows it.
static bool passesHandles(Operation *op) {
  return isa<arith::SelectOp, scf::IfOp, scf::ForOp, scf::WhileOp, scf::IndexSwitchOp, scf::YieldOp,
             scf::ConditionOp>(op);
}

/// Collects the variables that a read or assign may mean.
static LogicalResult collect(Operation *op, const ResourceAnalysis &analysis, Meanings &meanings) {
  SmallVector<unsigned, 1> &numbers = meanings[op];
  for (Touched root : analysis.rootsOf(op->getOperand(0))) {
    if (root.kind() != Touched::variable)
      return op->emitOpError("gets a handle that may be any variable's; handles come from "
                             "weft.handle, through scf and arith.select");
    numbers.push_back(root.index());
  }
  return success();
}

/// Turns handles into the numbers of their variables, in place.
static void numberHandles(func::FuncOp function, const ResourceAnalysis &analysis) {
  const Type index = IndexType::get(function.getContext());
  SmallVector<HandleOp> handles;
  function.walk([&](Operation *op) {
    if (auto handle = dyn_cast<HandleOp>(op)) return handles.push_back(handle);
    for (Value result : op->getResults())
      if (isHandle(result)) result.setType(index);
    for (Region &region : op->getRegions())
      for (Value argument : region.getArguments())
        if (isHandle(argument)) argument.setType(index);
  });
  for (HandleOp handle : handles) {
    OpBuilder builder(handle);
    const unsigned number = analysis.rootsOf(handle).front().index();
    Value constant = arith::ConstantIndexOp::create(builder, handle.getLoc(), number);
    handle.getHandle().replaceAllUsesWith(constant);
    handle.erase();
  }
}

LogicalResult resolveHandles(func::FuncOp function, const ResourceAnalysis &analysis,
                             Meanings &meanings) {
  bool chosen = false;
  WalkResult result = function.walk([&](Operation *op) -> WalkResult {
    if (ownEffectsOf(op).onVariable()) return collect(op, analysis, meanings);
    if (!llvm::any_of(op->getOperands(), isHandle)) return WalkResult::advance();
    chosen = true;
    if (passesHandles(op)) return WalkResult::advance();
    return op->emitOpError("cannot take a handle of a variable"), WalkResult::interrupt();
  });
  if (result.wasInterrupted()) return failure();
  if (chosen) numberHandles(function, analysis);
  return success();
}

} // namespace mlir::weft
