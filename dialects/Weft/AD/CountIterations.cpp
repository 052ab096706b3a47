// The pass weft-count-iterations: loops in any steps as loops over the numbers of their iterations.
#include "Weft/AD/Iterations.h"
#include "Weft/AD/Passes.h"
#include "Weft/IR/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

namespace mlir::weft {

#define GEN_PASS_DEF_COUNTITERATIONSPASS
#include "Weft/AD/Passes.h.inc"

/// Stops the call unless the step is positive; gives one that is.
static Value checkedStep(OpBuilder &b, scf::ForOp loop) {
  Location location = loop.getLoc();
  Value step = loop.getStep();
  Type type = step.getType();
  Value one = arith::ConstantOp::create(b, location, b.getOneAttr(type));
  auto greater = loop.getUnsignedCmp() ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
  Value fits = arith::CmpIOp::create(b, location, greater, step, one);
  Value condition =
      tensor::FromElementsOp::create(b, location, RankedTensorType::get({}, b.getI1Type()), fits);
  AssertOp::create(b, location, condition, "the step of scf.for is not positive", ValueRange());
  return arith::SelectOp::create(b, location, fits, step, one);
}

/// Counts the iterations of a loop; an error for one whose step is known not to be positive.
static LogicalResult countIterations(scf::ForOp loop) {
  const std::optional<APInt> known = constantOf(loop.getStep());
  if (known && known->isOne()) return success();
  OpBuilder b(loop);
  if (!known) loop.getStepMutable().assign(checkedStep(b, loop));
  else if (known->isZero() || (!loop.getUnsignedCmp() && known->isNegative()))
    return loop.emitOpError("has a step that is not positive");
  Location location = loop.getLoc();
  const Iterations iterations = Iterations::of(b, loop);
  Value zero = arith::ConstantIndexOp::create(b, location, 0);
  Value one = arith::ConstantIndexOp::create(b, location, 1);
  // More iterations than a signed number can count nobody lives to see.
  Value count = iterations.count;
  if (!iterations.known) {
    Value most = arith::ConstantIndexOp::create(b, location, std::numeric_limits<int64_t>::max());
    count = arith::MinUIOp::create(b, location, count, most);
  }
  auto counted = scf::ForOp::create(b, location, zero, count, one, loop.getInitArgs());
  counted->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  Block *body = counted.getBody(), *before = loop.getBody();
  if (!body->empty()) body->getTerminator()->erase(); // made where there is no state
  b.setInsertionPointToStart(body);
  SmallVector<Value> arguments{inductionVarOf(b, loop, counted.getInductionVar())};
  llvm::append_range(arguments, counted.getRegionIterArgs());
  for (auto [argument, value] : llvm::zip_equal(before->getArguments(), arguments))
    argument.replaceAllUsesWith(value);
  body->getOperations().splice(body->end(), before->getOperations());
  loop.replaceAllUsesWith(counted.getResults());
  loop.erase();
  return success();
}

namespace {
struct CountIterations : impl::CountIterationsPassBase<CountIterations> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { loops.push_back(loop); });
    for (scf::ForOp loop : loops)
      if (failed(countIterations(loop))) return signalPassFailure();
  }
};
} // namespace

} // namespace mlir::weft
