// The pass weft-collectives-to-host-calls.
#include "OpDefs/CollectiveSymbol.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"

namespace mlir::weft {

#define GEN_PASS_DEF_COLLECTIVESTOHOSTCALLSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

struct CollectivesToHostCalls : impl::CollectivesToHostCallsPassBase<CollectivesToHostCalls> {
  void runOnOperation() override {
    getOperation()->walk([](Operation *op) {
      if (!op->hasTrait<IsCollective>()) return;
      // Nothing is done: they say how derivatives are taken, and what may be cut, which they were.
      if (op->hasTrait<IsAnnotation>()) {
        op->getResult(0).replaceAllUsesWith(op->getOperand(0));
        if (op->getNumResults() > 1) op->getResult(1).replaceAllUsesWith(op->getOperand(1));
        op->erase();
        return;
      }
      OpBuilder b(op);
      auto call = HostCallOp::create(b, op->getLoc(), op->getResultTypes(),
                                     ::weft::collective_symbol(opInfoOf(op)->op, attrsOf(op)),
                                     /*pure=*/false, op->getOperands());
      op->replaceAllUsesWith(call);
      op->erase();
    });
  }
};

} // namespace

} // namespace mlir::weft
