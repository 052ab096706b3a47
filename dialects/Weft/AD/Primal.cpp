// Copies a function to where it is differentiated, with what it calls.
#include "Weft/AD/Primal.h"

#include "Weft/AD/Rules.h"
#include "mlir/IR/IRMapping.h"

namespace mlir::weft {

Primal::~Primal() {
  for (UnrealizedConversionCastOp cast : casts) {
    cast.getResult(0).replaceAllUsesWith(cast.getOperand(0));
    cast.erase();
  }
  if (holder) holder->erase();
}

SmallVector<Value> Primal::sources() const {
  return llvm::map_to_vector(casts,
                             [](UnrealizedConversionCastOp cast) { return cast.getResult(0); });
}

SmallVector<Operation *> Primal::ops() const {
  SmallVector<Operation *> ops;
  Block *block = holder ? holder->getBlock() : context.op->getBlock();
  for (auto at = before ? std::next(before->getIterator()) : block->begin(); &*at != holder; ++at)
    if (!llvm::is_contained(casts, &*at)) ops.push_back(&*at);
  return ops;
}

void Primal::findActive() {
  context.activity.find(ops(), sources(),
                        isa<GradientOp>(context.op) ? results().take_front() : results());
}

LogicalResult Primal::build(func::FuncOp function, ValueRange args, ArrayRef<int64_t> wrt) {
  before = context.op->getPrevNode();
  OpBuilder &builder = context.builder;
  SmallVector<Value> own(args), values;
  Location location = context.op->getLoc();
  for (int64_t i : wrt) {
    casts.push_back(
        UnrealizedConversionCastOp::create(builder, location, args[i].getType(), args[i]));
    own[i] = casts.back().getResult(0);
  }
  if (failed(inlineBody(function, context.op, -1, own, location, values))) return failure();
  holder =
      UnrealizedConversionCastOp::create(builder, location, TypeRange(ValueRange(values)), values);
  builder.setInsertionPoint(holder);
  findActive();
  if (failed(inlineActiveCalls())) return failure();
  return check();
}

LogicalResult inlineFunction(Context &context, func::FuncOp function, Operation *call,
                             ValueRange args, Location callLocation,
                             SmallVectorImpl<Value> &returned,
                             llvm::function_ref<void(Operation *, Operation *)> copied) {
  if (function.isExternal())
    return context.refuse(call) << "@" << function.getSymName()
                                << " has no body, so it cannot be differentiated";
  if (!function.getBody().hasOneBlock())
    return context.refuse(call) << "@" << function.getSymName()
                                << " branches between blocks; only straight-line code and scf can "
                                   "be differentiated";
  IRMapping mapping;
  mapping.map(function.getArguments(), args);
  Block &body = function.getBody().front();
  SmallVector<Operation *> from, to;
  for (Operation &original : body.without_terminator()) {
    Operation *clone = context.builder.clone(original, mapping);
    original.walk([&](Operation *op) { from.push_back(op); });
    clone->walk([&](Operation *op) { to.push_back(op); });
  }
  for (auto [original, clone] : llvm::zip_equal(from, to)) {
    clone->setLoc(CallSiteLoc::get(original->getLoc(), callLocation));
    copied(original, clone);
  }
  for (Value value : body.getTerminator()->getOperands()) returned.push_back(mapping.lookup(value));
  return success();
}

LogicalResult Primal::inlineBody(func::FuncOp function, Operation *call, int caller,
                                 ValueRange args, Location callLocation,
                                 SmallVectorImpl<Value> &returned) {
  for (int around = caller; around != -1; around = inlined[around].caller)
    if (inlined[around].function == function)
      return context.refuse(call) << "@" << function.getSymName()
                                  << " calls itself, so it cannot be differentiated";
  const int number = static_cast<int>(inlined.size());
  inlined.push_back({function, caller});
  return inlineFunction(context, function, call, args, callLocation, returned,
                        [&](Operation *original, Operation *clone) {
                          context.originals[clone] = original;
                          clone->removeAttr(pulledName); // of another derivative
                          if (isa<func::CallOp>(clone)) callers[clone] = number;
                        });
}

LogicalResult Primal::inlineActiveCalls() {
  for (;;) {
    SmallVector<func::CallOp> calls;
    for (Operation *op : ops())
      op->walk([&](func::CallOp call) {
        if (context.activity.anyActive(call.getResults())) calls.push_back(call);
      });
    if (calls.empty()) return success();
    for (func::CallOp call : calls) {
      auto callee = context.symbols.lookup<func::FuncOp>(call.getCallee());
      if (!callee)
        return context.refuse(call) << "no function " << call.getCalleeAttr() << " in the module";
      OpBuilder::InsertionGuard guard(context.builder);
      context.builder.setInsertionPoint(call);
      SmallVector<Value> values;
      if (failed(inlineBody(callee, call, callers.lookup(call), call.getOperands(), call.getLoc(),
                            values)))
        return failure();
      call.replaceAllUsesWith(values);
      context.originals.erase(call);
      callers.erase(call);
      call.erase();
    }
    findActive();
  }
}

/// Refuses what is active and has no derivative.
LogicalResult Primal::check() {
  for (Operation *op : ops()) {
    WalkResult result =
        op->walk<WalkOrder::PreOrder>(
            [&](Operation *inner) {
              if (isControlFlow(inner) || isKnownToActivity(inner) ||
                  !context.activity.anyActive(inner->getResults()) ||
                  !context.activity.dependsOnActive(inner))
                return WalkResult::advance();
              if (auto host = dyn_cast<HostCallOp>(inner))
                return refuseHost(context, host), WalkResult::interrupt();
              context.refuse(inner)
                  << "depends on what is differentiated and has no derivative: only weft "
                     "ops on tensors, scf and func.call have one; a number can stay a tensor "
                     "of rank 0";
              return WalkResult::interrupt();
            });
    if (result.wasInterrupted()) return failure();
  }
  return success();
}

} // namespace mlir::weft
