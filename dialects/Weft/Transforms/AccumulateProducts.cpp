// The pass weft-accumulate-products: sums of matrix products over the iterations of a loop, in
// place.
#include "Weft/Transforms/AccumulateProducts.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::weft {

#define GEN_PASS_DEF_ACCUMULATEPRODUCTSPASS
#include "Weft/Transforms/Passes.h.inc"

/// Whether the op adds its two operands, element by element, the sum so far first.
static bool addsElements(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      llvm::any_of(op.getIndexingMapsArray(), [](AffineMap map) { return !map.isIdentity(); }))
    return false;
  Block &body = *op.getBody();
  if (!llvm::hasNItems(body, 2)) return false;
  Operation &add = body.front();
  return isa<arith::AddFOp, arith::AddIOp>(add) && add.getOperand(0) == body.getArgument(0) &&
         add.getOperand(1) == body.getArgument(1) &&
         body.getTerminator()->getOperand(0) == add.getResult(0);
}

/// The product that `value` is, if nothing else uses it and it starts from zeros.
static linalg::ContractOp productOf(Value value) {
  auto product = value.getDefiningOp<linalg::ContractOp>();
  if (!product || !value.hasOneUse()) return {};
  auto fill = product.getOutputs()[0].getDefiningOp<linalg::FillOp>();
  if (!fill ||
      !(matchPattern(fill.value(), m_PosZeroFloat()) || matchPattern(fill.value(), m_Zero())))
    return {};
  return product;
}

/// Whether the tensor is the state of a loop, or what a product was added to, and is used here for
/// the last time: then it can be added to in place.
static bool isSumSoFar(Value value) {
  if (!value.hasOneUse()) return false;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return isa<LoopLikeOpInterface>(argument.getOwner()->getParentOp());
  Operation *source = value.getDefiningOp();
  return source->hasAttr(addsWholeName);
}

namespace {
struct AccumulateProducts : impl::AccumulateProductsPassBase<AccumulateProducts> {
  void runOnOperation() override {
    SmallVector<linalg::GenericOp> sums;
    getOperation().walk([&](linalg::GenericOp op) {
      if (addsElements(op)) sums.push_back(op);
    });
    for (linalg::GenericOp sum : sums) {
      Value before = sum.getInputs()[0];
      if (before.getParentBlock() != sum->getBlock() || !isSumSoFar(before)) continue;
      linalg::ContractOp product = productOf(sum.getInputs()[1]);
      if (!product || product->getBlock() != sum->getBlock() ||
          before.getType() != product.getResultTypes()[0])
        continue;
      // Where the sum stands: what it adds to may come after the product.
      product->moveBefore(sum);
      product.getOutputsMutable().assign(before);
      product->setAttr(addsWholeName, UnitAttr::get(&getContext()));
      sum.replaceAllUsesWith(product->getResults());
      sum.erase();
    }
  }
};
} // namespace

} // namespace mlir::weft
