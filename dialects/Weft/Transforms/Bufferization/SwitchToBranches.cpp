// The pass weft-switch-to-branches: an scf.index_switch that gives tensors becomes a tree of
// scf.if.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SWITCHTOBRANCHESPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Builds the branches among regions `first` to before `limit`, of which `position` names one.
SmallVector<Value> branch(OpBuilder &b, scf::IndexSwitchOp op, ArrayRef<Region *> regions,
                          Value position, unsigned first, unsigned limit) {
  if (first + 1 == limit) {
    // The region's ops stand where the builder is.
    Block &block = regions[first]->front();
    SmallVector<Value> yielded(block.getTerminator()->getOperands());
    block.getTerminator()->erase();
    b.getInsertionBlock()->getOperations().splice(b.getInsertionPoint(), block.getOperations());
    return yielded;
  }
  const unsigned middle = (first + limit) / 2;
  Location location = op.getLoc();
  Value number = arith::ConstantIndexOp::create(b, location, middle);
  Value below = arith::CmpIOp::create(b, location, arith::CmpIPredicate::ult, position, number);
  auto made = scf::IfOp::create(b, location, op.getResultTypes(), below, /*addThenBlock=*/true,
                                /*addElseBlock=*/true);
  OpBuilder::InsertionGuard guard(b);
  for (bool isBelow : {true, false}) {
    b.setInsertionPointToEnd(isBelow ? made.thenBlock() : made.elseBlock());
    SmallVector<Value> values = isBelow ? branch(b, op, regions, position, first, middle)
                                        : branch(b, op, regions, position, middle, limit);
    scf::YieldOp::create(b, location, values);
  }
  return made.getResults();
}

struct SwitchToBranches : impl::SwitchToBranchesPassBase<SwitchToBranches> {
  void runOnOperation() override {
    SmallVector<scf::IndexSwitchOp> ops; // inner ones first
    getOperation()->walk([&](scf::IndexSwitchOp op) {
      if (llvm::any_of(op.getResultTypes(), [](Type type) { return isa<TensorType>(type); }))
        ops.push_back(op);
    });
    for (scf::IndexSwitchOp op : ops) {
      OpBuilder b(op);
      Location location = op.getLoc();
      // Where the case stands among all; the default is the last.
      SmallVector<Region *> regions;
      const unsigned count = op.getNumCases();
      Value position = arith::ConstantIndexOp::create(b, location, count);
      for (auto [i, number] : llvm::enumerate(op.getCases())) {
        regions.push_back(&op.getCaseRegions()[i]);
        Value named = arith::ConstantIndexOp::create(b, location, number);
        Value chosen =
            arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, op.getArg(), named);
        Value place = arith::ConstantIndexOp::create(b, location, i);
        position = arith::SelectOp::create(b, location, chosen, place, position);
      }
      regions.push_back(&op.getDefaultRegion());
      op.replaceAllUsesWith(branch(b, op, regions, position, 0, regions.size()));
      op.erase();
    }
  }
};

} // namespace
} // namespace mlir::weft
