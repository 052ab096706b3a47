// Expands one derivative: the function's body in place, then adjoints or tangents by the rules.
#include "Weft/AD/Expansion.h"

#include "Weft/AD/Forward.h"
#include "Weft/AD/Primal.h"
#include "Weft/AD/Reverse.h"
#include "Weft/AD/Rules.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

FlatSymbolRefAttr differentiatedFunction(Operation *op) {
  if (auto gradient = dyn_cast<GradientOp>(op)) return gradient.getCalleeAttr();
  if (auto vjp = dyn_cast<VjpOp>(op)) return vjp.getCalleeAttr();
  if (auto jvp = dyn_cast<JvpOp>(op)) return jvp.getCalleeAttr();
  if (auto record = dyn_cast<RecordOp>(op)) return record.getCalleeAttr();
  return {};
}

/// The floating tensors among values, which have derivatives.
static SmallVector<Value> floatingOf(ValueRange values) {
  return llvm::filter_to_vector(values,
                                [](Value value) { return isInexactTensor(value.getType()); });
}

/// The derivatives of values, zeros for those that have none, of these types.
static SmallVector<Value> derivativesOf(Context &context, ArrayRef<Value> values, TypeRange types) {
  SmallVector<Value> derivatives;
  for (auto [value, type] : llvm::zip_equal(values, types)) {
    Value derivative = context.derivatives.lookup(value);
    derivatives.push_back(context.typed(derivative ? derivative : context.zerosLike(value), type));
  }
  return derivatives;
}

/// The tangents of the floating results.
static FailureOr<SmallVector<Value>> push(Context &context, const Primal &primal, JvpOp op) {
  for (auto [source, tangent] : llvm::zip_equal(primal.sources(), op.getTangents()))
    context.derivatives.set(source, tangent);
  if (failed(Forward(context).run(primal.ops(), primal.end()))) return failure();
  context.emitter.setLocation(op.getLoc());
  SmallVector<Value> of = floatingOf(primal.results());
  return derivativesOf(context, of, TypeRange(op->getResultTypes()).take_back(of.size()));
}

/// The cotangents of the sources, which are the last results of the op that asks for them; they are
/// built in front of it.
static FailureOr<SmallVector<Value>> pull(Context &context, const Primal &primal, Operation *op,
                                          ValueRange cotangents) {
  context.builder.setInsertionPoint(op);
  for (auto [result, cotangent] : llvm::zip(floatingOf(primal.results()), cotangents))
    accumulate(context, result, cotangent);
  if (failed(Reverse(context).run(primal.ops()))) return failure();
  context.emitter.setLocation(op->getLoc());
  SmallVector<Value> sources = primal.sources();
  return derivativesOf(context, sources, TypeRange(op->getResultTypes()).take_back(sources.size()));
}

/// Notes the tensors of the forward part that ops of the reverse, between two of a block, use.
static void noteUses(Context &context, const Primal &primal, Block *block, Operation *before,
                     Operation *behind) {
  SmallVector<Operation *> ops = primal.ops();
  const DenseSet<Operation *> forward(ops.begin(), ops.end());
  llvm::SetVector<Value> used;
  auto end = behind ? behind->getIterator() : block->end();
  for (auto at = before ? std::next(before->getIterator()) : block->begin(); at != end; ++at)
    at->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *source = operand.getDefiningOp();
        if (source && forward.contains(source) && isWeftTensor(operand.getType()) &&
            !source->hasTrait<OpTrait::ConstantLike>() && !isa<StackEmptyOp>(source) &&
            !context.saved.isHolder(operand))
          used.insert(operand);
      }
    });
  for (Value value : used)
    context.saved.keep(Saved::Form::value, value, 1,
                       "nothing outside of loops and branches is computed again", {});
}

/// Builds the reverse at each place that pulls cotangents back through a recorded call.
static LogicalResult pullAll(Context &context, const Primal &primal, RecordOp record) {
  // The uses of a value are listed from the last to the first.
  SmallVector<Operation *> users(record.getRecord().getUsers());
  for (Operation *user : llvm::reverse(users)) {
    auto op = cast<PullOp>(user);
    Operation *before = op->getPrevNode(), *behind = op->getNextNode();
    Block *block = op->getBlock();
    context.derivatives = Derivatives();
    context.emitter.setLocation(op.getLoc());
    IREmitter::Scope scalars(context.emitter);
    OpBuilder::InsertionGuard guard(context.builder);
    context.builder.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> pulled = pull(context, primal, op, op.getCotangents());
    if (failed(pulled)) return failure();
    op->replaceAllUsesWith(*pulled);
    op.erase();
    eraseUnused(block, before, behind);
    noteUses(context, primal, block, before, behind);
  }
  return success();
}

static LogicalResult expand(Context &context) {
  Operation *op = context.op;
  Operation *before = op->getPrevNode(), *behind = nullptr;
  Block *block = op->getBlock();
  ArrayRef<int64_t> wrt = op->getAttrOfType<DenseI64ArrayAttr>("wrt").asArrayRef();
  auto function = context.symbols.lookup<func::FuncOp>(differentiatedFunction(op).getValue());
  context.emitter.setLocation(op->getLoc());
  {
    Primal primal(context);
    if (failed(
            primal.build(function, op->getOperands().take_front(function.getNumArguments()), wrt)))
      return failure();
    FailureOr<SmallVector<Value>> derivatives = SmallVector<Value>();
    if (auto jvp = dyn_cast<JvpOp>(op)) {
      derivatives = push(context, primal, jvp);
    } else if (auto vjp = dyn_cast<VjpOp>(op)) {
      derivatives = pull(context, primal, op, vjp.getCotangents());
    } else if (auto record = dyn_cast<RecordOp>(op)) {
      if (failed(pullAll(context, primal, record))) return failure();
    } else {
      const ::weft::DType dtype = tensorTypeOf(op->getResult(0).getType()).dtype;
      derivatives = pull(context, primal, op, context.emitter.scalar(1, dtype));
    }
    if (failed(derivatives)) return failure();
    SmallVector<Value> results(primal.results());
    llvm::append_range(results, *derivatives);
    for (auto [from, to] : llvm::zip(op->getResults(), results))
      from.replaceAllUsesWith(from.getType() == to.getType() ? to
                                                             : context.typed(to, from.getType()));
    const bool forward = isa<JvpOp>(op);
    behind = op->getNextNode();
    op->erase();
    eraseUnused(block, primal.end(), behind);
    if (!forward) noteUses(context, primal, block, primal.end(), behind);
  }
  eraseUnused(block, before, behind);
  return success();
}

LogicalResult expandDerivative(Operation *op, SymbolTable &symbols,
                               ::weft::CheckpointBudget checkpoint,
                               std::vector<::weft::SavedNote> &notes) {
  if (auto own = op->getAttrOfType<StringAttr>("checkpoint"))
    checkpoint = *::weft::parse_checkpoint(own.getValue()); // verified
  Context context(op, symbols, checkpoint, differentiatedFunction(op).getValue().str());
  try {
    if (failed(expand(context))) return failure();
  } catch (const BuildFailed &) {
    return failure(); // the diagnostic is given
  }
  llvm::move(context.saved.take(), std::back_inserter(notes));
  for (Operation *further : context.further)
    if (failed(expandDerivative(further, symbols, checkpoint, notes))) return failure();
  return success();
}

} // namespace mlir::weft
