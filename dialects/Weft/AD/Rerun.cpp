// Copies iterations of loops without their effects.
#include "Weft/AD/Rerun.h"

#include "Weft/AD/Iterations.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

/// Whether an op without regions does more than compute its results, a call in what it calls.
static bool hasEffects(Operation *op, llvm::SmallPtrSetImpl<Operation *> &entered) {
  if (isa<scf::YieldOp, scf::ConditionOp, func::ReturnOp>(op)) return false;
  auto call = dyn_cast<func::CallOp>(op);
  if (!call) return !isMemoryEffectFree(op);
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
  if (!callee || callee.isExternal()) return true;
  if (!entered.insert(callee).second) return false; // being looked at
  return callee
      .walk([&](Operation *inner) {
        return inner->getNumRegions() == 0 && hasEffects(inner, entered) ? WalkResult::interrupt()
                                                                         : WalkResult::advance();
      })
      .wasInterrupted();
}

static bool hasEffects(Operation *op) {
  llvm::SmallPtrSet<Operation *, 4> entered;
  return op->getNumRegions() == 0 && hasEffects(op, entered);
}

/// Whether the op has effects and nothing else, so that a second run does without it.
static bool isOnlyEffect(Operation *op) { return op->getNumResults() == 0 && hasEffects(op); }

std::string whyNotRerun(Operation *loop) {
  Operation *reads = nullptr, *writes = nullptr, *refused = nullptr;
  loop->walk([&](Operation *op) {
    if (isa<ReadOp>(op)) reads = reads ? reads : op;
    else if (!hasEffects(op)) return;
    else if (op->getNumResults() != 0) refused = refused ? refused : op;
    else if (!isa<PrintOp, AssertOp>(op)) writes = writes ? writes : op;
  });
  if (refused) return refused->getName().getStringRef().str() + " may not happen again";
  if (reads && writes)
    return writes->getName().getStringRef().str() + " may change what weft.read reads";
  return "";
}

IterationOps::IterationOps(Operation *loop) {
  if (auto op = dyn_cast<scf::ForOp>(loop)) {
    after = opsOf(*op.getBody());
    states = op.getInitArgs().size();
  } else {
    auto until = cast<scf::WhileOp>(loop);
    before = opsOf(*until.getBeforeBody());
    after = opsOf(*until.getAfterBody());
    states = until.getInits().size();
    handedOn = until.getNumResults();
  }
}

namespace {

/// Copies ops and what is known of them.
class Copier {
public:
  Copier(Context &context) : context(context) {}

  IRMapping mapping;

  void map(Value from, Value to) {
    mapping.map(from, to);
    context.activity.imitate(from, to);
  }

  void copy(ArrayRef<Operation *> ops) {
    for (Operation *op : ops) {
      if (isOnlyEffect(op)) continue;
      Operation *clone = context.builder.clone(*op, mapping);
      SmallVector<Operation *> from, to, effects;
      op->walk([&](Operation *inner) { from.push_back(inner); });
      clone->walk([&](Operation *inner) { to.push_back(inner); });
      for (auto [original, inner] : llvm::zip_equal(from, to)) {
        describe(original, inner);
        if (isOnlyEffect(inner)) effects.push_back(inner);
      }
      for (Operation *effect : effects) {
        context.originals.erase(effect);
        effect->erase();
      }
    }
  }

private:
  void describe(Operation *from, Operation *to) {
    context.originals[to] = context.originalOf(from);
    if (context.outputs.contains(from)) context.outputs.insert(to);
    else context.outputs.erase(to); // of one that is gone
    for (auto [a, b] : llvm::zip_equal(from->getResults(), to->getResults()))
      context.activity.imitate(a, b);
    for (auto [a, b] : llvm::zip_equal(from->getRegions(), to->getRegions()))
      for (auto [x, y] : llvm::zip_equal(a.getArguments(), b.getArguments()))
        context.activity.imitate(x, y);
  }

  Context &context;
};

} // namespace

scf::ForOp rerun(Context &context, Operation *loop, const IterationOps &ops, Value first,
                 Value count) {
  OpBuilder &b = context.builder;
  Location location = loop->getLoc();
  Value zero = arith::ConstantIndexOp::create(b, location, 0),
        one = arith::ConstantIndexOp::create(b, location, 1);
  auto counted = dyn_cast<scf::ForOp>(loop);
  auto until = dyn_cast<scf::WhileOp>(loop);
  ValueRange begins =
      counted ? ValueRange(counted.getRegionIterArgs()) : ValueRange(until.getBeforeArguments());
  begins = begins.take_front(ops.states);
  auto again = scf::ForOp::create(b, location, zero, count, one, begins);
  if (!again.getBody()->empty()) again.getBody()->clear(); // made where there is no state
  context.originals[again] = context.originalOf(loop);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToEnd(again.getBody());

  Copier copier(context);
  for (auto [from, argument, result] :
       llvm::zip_equal(begins, again.getRegionIterArgs(), again.getResults())) {
    copier.map(from, argument);
    context.activity.imitate(from, result);
  }
  SmallVector<Value> yielded;
  auto yields = [&](ValueRange values) {
    for (Value value : values.take_front(ops.states))
      yielded.push_back(copier.mapping.lookupOrDefault(value));
  };
  if (counted) {
    Value iteration = arith::AddIOp::create(b, location, first, again.getInductionVar());
    copier.map(counted.getInductionVar(), inductionVarOf(b, counted, iteration));
    copier.copy(ops.after);
    yields(counted.getBody()->getTerminator()->getOperands());
  } else {
    copier.copy(ops.before);
    // Each argument has a cotangent of its own, as in the loop itself, whatever else uses the
    // value; the first one's is handed on first.
    for (unsigned i = ops.handedOn; i-- > 0;) {
      Value argument = until.getAfterArguments()[i];
      Value passed = copier.mapping.lookupOrDefault(until.getConditionOp().getArgs()[i]);
      if (context.activity.isActive(argument) && isa<RankedTensorType>(passed.getType()))
        passed = tensor::CastOp::create(b, location, passed.getType(), passed);
      copier.map(argument, passed);
    }
    copier.copy(ops.after);
    yields(until.getYieldOp().getOperands());
  }
  scf::YieldOp::create(b, location, yielded);
  return again;
}

/// Erases ops that nobody needs, with what is known of them, and such ops in their regions.
static void eraseUnneeded(Context &context, Block &block) {
  const SmallVector<Operation *> ops = opsOf(block);
  for (Operation *op : llvm::reverse(ops)) {
    if (!op->use_empty() || (!isa<ReadOp>(op) && !wouldOpBeTriviallyDead(op))) {
      for (Region &region : op->getRegions())
        for (Block &inner : region) eraseUnneeded(context, inner);
      continue;
    }
    op->walk([&](Operation *inner) {
      for (Value result : inner->getResults()) context.activity.forget(result);
      for (Region &region : inner->getRegions())
        for (Value argument : region.getArguments()) context.activity.forget(argument);
      context.originals.erase(inner);
    });
    op->erase();
  }
}

scf::ForOp dropUnneeded(Context &context, scf::ForOp again) {
  Block *body = again.getBody();
  // What they use would count as needed.
  eraseUnneeded(context, *body);
  Operation *yield = body->getTerminator();
  llvm::SetVector<Value> needed;
  auto need = [&](Value value) {
    if (value.getParentBlock() == body) needed.insert(value);
  };
  auto needOperands = [&](Operation *op) {
    op->walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  };
  for (auto [result, value] : llvm::zip_equal(again.getResults(), yield->getOperands()))
    if (!result.use_empty()) need(value);
  for (Operation &op : body->without_terminator())
    if (!isa<ReadOp>(op) && !wouldOpBeTriviallyDead(&op)) needOperands(&op);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (Operation *op = needed[i].getDefiningOp()) needOperands(op);
    else if (unsigned number = cast<BlockArgument>(needed[i]).getArgNumber())
      need(yield->getOperand(number - 1));
  }
  SmallVector<Value> operands{again.getLowerBound(), again.getUpperBound(), again.getStep()};
  SmallVector<Type> types;
  SmallVector<Value> results;
  for (unsigned i = again.getNumResults(); i-- > 0;) {
    BlockArgument argument = again.getRegionIterArg(i);
    if (needed.contains(argument) || !again.getResult(i).use_empty()) continue;
    context.activity.forget(argument);
    context.activity.forget(again.getResult(i));
    argument.replaceAllUsesWith(again.getInitArgs()[i]);
    body->eraseArgument(argument.getArgNumber());
    yield->eraseOperand(i);
    results.push_back(again.getResult(i));
  }
  if (results.empty()) return again;
  SmallVector<Value> kept;
  for (auto [init, result] : llvm::zip_equal(again.getInitArgs(), again.getResults())) {
    if (llvm::is_contained(results, result)) continue;
    operands.push_back(init);
    types.push_back(init.getType());
    kept.push_back(result);
  }
  OpBuilder b(again);
  auto smaller = cast<scf::ForOp>(rebuild(b, again, operands, types));
  for (auto [from, to] : llvm::zip_equal(kept, smaller.getResults())) {
    context.activity.imitate(from, to);
    context.saved.follow(from, to);
    from.replaceAllUsesWith(to);
    context.activity.forget(from);
  }
  again.erase();
  eraseUnneeded(context, *smaller.getBody());
  return smaller;
}

void hoistReads(Operation *loop, Block *block) {
  SmallVector<ReadOp> reads;
  block->walk([&](ReadOp read) { reads.push_back(read); });
  DenseMap<Attribute, Value> bySymbol; ///< of handles in the loop
  DenseMap<Value, Value> byHandle;
  OpBuilder b(loop);
  for (ReadOp read : reads) {
    if (!read.getValue().use_empty()) {
      Value handle = read.getVariable();
      auto made = handle.getDefiningOp<HandleOp>();
      Value &value = made ? bySymbol[made.getVariableAttr()] : byHandle[handle];
      if (!value) {
        if (made) handle = b.clone(*made)->getResult(0);
        Operation *hoisted = b.clone(*read);
        hoisted->setOperand(0, handle);
        value = hoisted->getResult(0);
      }
      read.getValue().replaceAllUsesWith(value);
    }
    read.erase();
  }
}

} // namespace mlir::weft
