// The pass weft-outline-regions: deeply nested regions become functions while buffers are assigned.
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"

namespace mlir::weft {

#define GEN_PASS_DEF_OUTLINEREGIONSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

struct OutlineRegions : impl::OutlineRegionsPassBase<OutlineRegions> {
  using OutlineRegionsPassBase::OutlineRegionsPassBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    IRRewriter rewriter(&getContext());
    // New functions have nests of their own.
    for (size_t i = 0; i < functions.size(); ++i) {
      if (functions[i].isExternal()) continue;
      SmallVector<Region *> deep;
      for (Block &block : functions[i].getBody()) collect(block, 0, deep);
      for (Region *region : deep) {
        rewriter.setInsertionPoint(functions[i]);
        FailureOr<func::FuncOp> outlined =
            outlineSingleBlockRegion(rewriter, region->getLoc(), *region, freshName());
        if (failed(outlined)) return signalPassFailure();
        outlined->setPrivate();
        functions.push_back(*outlined);
      }
    }
  }

  std::string freshName() {
    std::string name;
    do name = "region_" + std::to_string(count++);
    while (getOperation().lookupSymbol(name));
    return name;
  }

  /// The regions at the depth where a nest is cut, if they hold further regions.
  void collect(Block &block, unsigned depth, SmallVectorImpl<Region *> &deep) {
    for (Operation &op : block) {
      if (!isa<scf::IfOp, scf::IndexSwitchOp, scf::ForOp, scf::WhileOp>(op)) continue;
      for (Region &region : op.getRegions()) {
        if (region.empty()) continue;
        Block &body = region.front();
        if (depth + 1 < maxDepth || !isa<scf::YieldOp>(body.getTerminator()))
          collect(body, depth + 1, deep);
        else if (llvm::any_of(body, [](Operation &inner) { return inner.getNumRegions() != 0; }))
          deep.push_back(&region);
      }
    }
  }

  unsigned count = 0;
};

} // namespace

} // namespace mlir::weft
