// Walks the forward part and builds tangents beside it.
#include "Weft/AD/Forward.h"

#include "Weft/AD/Rules.h"
#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"

namespace mlir::weft {

LogicalResult Forward::run(ArrayRef<Operation *> ops, Operation *end) {
  auto isActiveRegionOp = [&](Operation *op) {
    return isControlFlow(op) && context.activity.anyActive(op->getResults());
  };
  // A region op takes tangents in, so those before it are in front of it.
  auto *next = llvm::find_if(ops, isActiveRegionOp);
  context.builder.setInsertionPoint(next == ops.end() ? end : *next);
  for (auto *at = ops.begin(); at != ops.end(); ++at) {
    Operation *op = *at;
    if (!context.activity.anyActive(op->getResults())) continue;
    if (!isControlFlow(op)) {
      if (isa<ItemOp>(op)) continue;
      if (auto custom = dyn_cast<CustomGradientOp>(op)) {
        if (failed(forwardCustom(context, custom))) return failure();
        continue;
      }
      SmallVector<Value> tangents = forwardRule(context, op);
      if (!tangents.front()) return failure();
      for (auto [result, tangent] : llvm::zip(op->getResults(), tangents))
        if (tangent) context.derivatives.set(result, tangent);
      continue;
    }
    context.emitter.setLocation(op->getLoc());
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      if (failed(forwardFor(loop))) return failure();
    } else if (auto loop = dyn_cast<scf::WhileOp>(op)) {
      if (failed(forwardWhile(loop))) return failure();
    } else if (failed(forwardBranches(op))) {
      return failure();
    }
    next = std::find_if(at + 1, ops.end(), isActiveRegionOp);
    context.builder.setInsertionPoint(next == ops.end() ? end : *next);
  }
  return success();
}

Value Forward::tangentOf(Value value) {
  if (Value tangent = context.derivatives.lookup(value))
    return context.typed(tangent, derivativeTypeOf(value.getType()));
  // Of a stack of which nothing is stored yet there is nothing to have zeros of.
  if (auto stack = value.getDefiningOp<StackEmptyOp>())
    return context.builder.clone(*stack)->getResult(0);
  return context.zerosLike(value);
}

SmallVector<unsigned> Forward::activePlaces(ValueRange values) const {
  SmallVector<unsigned> places;
  for (auto [i, value] : llvm::enumerate(values))
    if (context.activity.isActive(value) && derivativeTypeOf(value.getType())) places.push_back(i);
  return places;
}

LogicalResult Forward::runRegion(Block &block, ArrayRef<unsigned> places, ValueRange handedOn,
                                 ValueRange arguments, ArrayRef<Value> tangents) {
  Operation *terminator = block.getTerminator();
  RegionScope scope(context, &block);
  for (auto [argument, tangent] : llvm::zip_equal(arguments, tangents))
    context.derivatives.set(argument, tangent);
  if (failed(run(opsOf(block), terminator))) return failure();
  context.builder.setInsertionPoint(terminator);
  context.emitter.setLocation(terminator->getLoc());
  SmallVector<Value> more =
      llvm::map_to_vector(places, [&](unsigned place) { return tangentOf(handedOn[place]); });
  terminator->insertOperands(terminator->getNumOperands(), more);
  return success();
}

/// Replaces a region op by one with these operands that also gives the tangents of the results at
/// `places`.
void Forward::replace(Operation *op, ValueRange operands, ArrayRef<unsigned> places) {
  SmallVector<Type> types(op->getResultTypes());
  for (unsigned place : places) types.push_back(derivativeTypeOf(types[place]));
  OpBuilder::InsertionGuard guard(context.builder);
  context.builder.setInsertionPoint(op);
  const unsigned count = op->getNumResults();
  Operation *larger = rebuild(context.builder, op, operands, types);
  replaceByLarger(context, op, larger);
  for (auto [i, place] : llvm::enumerate(places))
    context.derivatives.set(larger->getResult(place), larger->getResult(count + i));
}

LogicalResult Forward::forwardBranches(Operation *op) {
  SmallVector<unsigned> places = activePlaces(op->getResults());
  for (Region &region : op->getRegions())
    if (failed(runRegion(region.front(), places, region.front().getTerminator()->getOperands(), {},
                         {})))
      return failure();
  replace(op, op->getOperands(), places);
  return success();
}

LogicalResult Forward::forwardFor(scf::ForOp op) {
  SmallVector<unsigned> places = activePlaces(op.getResults());
  SmallVector<Value> operands(op->getOperands()), arguments, tangents;
  for (unsigned place : places) operands.push_back(tangentOf(op.getInitArgs()[place]));
  for (unsigned place : places) {
    arguments.push_back(op.getRegionIterArg(place));
    tangents.push_back(
        op.getBody()->addArgument(derivativeTypeOf(arguments.back().getType()), op.getLoc()));
  }
  if (failed(runRegion(*op.getBody(), places, op.getBody()->getTerminator()->getOperands(),
                       arguments, tangents)))
    return failure();
  replace(op, operands, places);
  return success();
}

LogicalResult Forward::forwardWhile(scf::WhileOp op) {
  SmallVector<unsigned> states = activePlaces(op.getBeforeArguments()),
                        results = activePlaces(op.getResults());
  SmallVector<Value> operands(op->getOperands());
  for (unsigned place : states) operands.push_back(tangentOf(op.getInits()[place]));
  auto enter = [&](Block &block, ArrayRef<unsigned> places, SmallVector<Value> &arguments) {
    SmallVector<Value> tangents;
    for (unsigned place : places) {
      arguments.push_back(block.getArgument(place));
      tangents.push_back(
          block.addArgument(derivativeTypeOf(arguments.back().getType()), op.getLoc()));
    }
    return tangents;
  };
  SmallVector<Value> before, after;
  SmallVector<Value> beforeTangents = enter(*op.getBeforeBody(), states, before),
                     afterTangents = enter(*op.getAfterBody(), results, after);
  if (failed(runRegion(*op.getBeforeBody(), results, op.getConditionOp().getArgs(), before,
                       beforeTangents)) ||
      failed(runRegion(*op.getAfterBody(), states, op.getYieldOp().getOperands(), after,
                       afterTangents)))
    return failure();
  replace(op, operands, results);
  return success();
}

} // namespace mlir::weft
