// Walks the forward part backwards; branches.
#include "Weft/AD/Reverse.h"

#include "Weft/AD/Residuals.h"
#include "Weft/AD/Rules.h"
#include "Weft/Effects/Tokens.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

LogicalResult Reverse::run(ArrayRef<Operation *> ops) {
  for (Operation *op : llvm::reverse(ops)) {
    if (op->getNumResults() == 0 || !anyCotangent(op->getResults())) continue;
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(reverseFor(loop))) return failure();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (failed(reverseWhile(loop))) return failure();
    } else if (isControlFlow(op)) {
      if (failed(reverseBranches(op))) return failure();
    } else if (auto custom = dyn_cast<CustomGradientOp>(op)) {
      if (failed(reverseCustom(context, custom))) return failure();
    } else if (failed(reverseRule(context, op))) {
      return failure();
    }
  }
  return success();
}

bool Reverse::anyCotangent(ValueRange values) const {
  return llvm::any_of(values, [&](Value value) {
    return context.activity.isActive(value) && context.derivatives.lookup(value);
  });
}

SmallVector<Value> Reverse::activeCaptures(Operation *op) const {
  SmallVector<Value> captured = capturedBy(op);
  llvm::erase_if(captured, [&](Value value) {
    return !context.activity.isActive(value) || !derivativeTypeOf(value.getType());
  });
  return captured;
}

void Reverse::seed(ValueRange handedOn, ArrayRef<Value> cotangents) {
  for (auto [value, cotangent] : llvm::zip_equal(handedOn, cotangents))
    if (cotangent) accumulate(context, value, cotangent);
}

/// The reverse of a branch adds to the cotangents of the values around it, so it gives new ones of
/// those that any branch adds to.
LogicalResult Reverse::reverseBranches(Operation *op) {
  OpBuilder &b = context.builder;
  Location location = op->getLoc();
  Operation *reverse;
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    reverse = scf::IfOp::create(b, location, TypeRange(), branch.getCondition(),
                                /*addThenBlock=*/true, /*addElseBlock=*/true);
  } else {
    auto choice = cast<scf::IndexSwitchOp>(op);
    reverse = scf::IndexSwitchOp::create(b, location, TypeRange(), choice.getArg(),
                                         choice.getCases(), choice.getNumCases());
    for (Region &region : reverse->getRegions()) region.emplaceBlock();
  }
  SmallVector<Value> cotangents = llvm::map_to_vector(
      op->getResults(), [&](Value result) { return context.derivatives.lookup(result); });
  SmallVector<Value> captured = activeCaptures(op);
  SmallVector<Derivatives::Frame> frames;
  for (auto [from, to] : llvm::zip_equal(op->getRegions(), reverse->getRegions())) {
    if (!to.front().empty()) to.front().clear(); // a terminator, made where there are no results
    RegionScope scope(context, &to.front());
    Block &block = from.front();
    context.emitter.setLocation(location);
    seed(block.getTerminator()->getOperands(), cotangents);
    if (failed(run(opsOf(block)))) return failure();
    frames.push_back(scope.leave());
  }
  llvm::erase_if(captured, [&](Value value) {
    return llvm::none_of(frames, [&](auto &frame) { return frame.contains(value); });
  });
  if (captured.empty()) return reverse->erase(), success();

  context.emitter.setLocation(location);
  for (auto [region, frame] : llvm::zip_equal(reverse->getRegions(), frames)) {
    RegionScope scope(context, &region.front());
    SmallVector<Value> yielded;
    for (Value value : captured) {
      Value cotangent = frame.lookup(value);
      if (!cotangent) cotangent = context.derivatives.lookup(value);
      if (!cotangent) cotangent = context.zerosLike(value);
      yielded.push_back(context.typed(cotangent, derivativeTypeOf(value.getType())));
    }
    scf::YieldOp::create(b, location, yielded);
  }
  SmallVector<Type> types =
      llvm::map_to_vector(captured, [](Value value) { return derivativeTypeOf(value.getType()); });
  Operation *larger = rebuild(b, reverse, reverse->getOperands(), types);
  reverse->erase();
  for (auto [value, result] : llvm::zip_equal(captured, larger->getResults()))
    context.derivatives.set(value, result);
  return saveOfBranches(context, op, larger);
}

} // namespace mlir::weft
