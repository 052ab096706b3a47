// Expands one derivative: the function's body in place, then adjoints or tangents by the rules.
#include "Weft/AD/Expansion.h"

#include "Weft/AD/Forward.h"
#include "Weft/AD/Primal.h"
#include "Weft/AD/Reverse.h"
#include "Weft/AD/Rules.h"

namespace mlir::weft {

FlatSymbolRefAttr differentiatedFunction(Operation *op) {
  if (auto gradient = dyn_cast<GradientOp>(op)) return gradient.getCalleeAttr();
  if (auto vjp = dyn_cast<VjpOp>(op)) return vjp.getCalleeAttr();
  if (auto jvp = dyn_cast<JvpOp>(op)) return jvp.getCalleeAttr();
  return {};
}

/// The floating tensors among values, which have derivatives.
static SmallVector<Value> floatingOf(ValueRange values) {
  return llvm::filter_to_vector(values,
                                [](Value value) { return isFloatingTensor(value.getType()); });
}

/// Finds the tangents of the results that have one.
static LogicalResult runForward(Context &context, const Primal &primal, JvpOp op) {
  for (auto [source, tangent] : llvm::zip_equal(primal.sources(), op.getTangents()))
    context.derivatives.set(source, tangent);
  return Forward(context).run(primal.ops(), &*context.builder.getInsertionPoint());
}

/// Finds the cotangents of the sources.
static LogicalResult runReverse(Context &context, const Primal &primal) {
  SmallVector<Operation *> ops = primal.ops();
  SmallVector<Value> results = floatingOf(primal.results()), cotangents;
  if (auto vjp = dyn_cast<VjpOp>(context.op)) {
    llvm::append_range(cotangents, vjp.getCotangents());
  } else {
    results.truncate(1);
    cotangents.push_back(context.emitter.scalar(1, context.emitter.type(results[0]).dtype));
  }
  for (auto [result, cotangent] : llvm::zip_equal(results, cotangents))
    accumulate(context, result, cotangent);
  return Reverse(context).run(ops);
}

static LogicalResult expand(Context &context, SymbolTable &symbols) {
  Operation *op = context.op;
  Operation *before = op->getPrevNode();
  Block *block = op->getBlock();
  ArrayRef<int64_t> wrt = op->getAttrOfType<DenseI64ArrayAttr>("wrt").asArrayRef();
  auto function = symbols.lookup<func::FuncOp>(differentiatedFunction(op).getValue());
  context.emitter.setLocation(op->getLoc());
  Operation *behind = op->getNextNode();
  {
    Primal primal(context, symbols);
    if (failed(
            primal.build(function, op->getOperands().take_front(function.getNumArguments()), wrt)))
      return failure();
    auto jvp = dyn_cast<JvpOp>(op);
    if (failed(jvp ? runForward(context, primal, jvp) : runReverse(context, primal)))
      return failure();
    context.emitter.setLocation(op->getLoc());
    // Each derivative is of the value in its place.
    SmallVector<Value> of = jvp ? floatingOf(primal.results()) : primal.sources();
    SmallVector<Value> replacements(primal.results());
    for (Value value : of) {
      Value derivative = context.derivatives.lookup(value);
      replacements.push_back(derivative ? derivative : context.zerosLike(value));
    }
    for (auto [replacement, type] : llvm::zip_equal(replacements, op->getResultTypes()))
      replacement = context.typed(replacement, type);
    op->replaceAllUsesWith(replacements);
  }
  op->erase();
  eraseUnused(block, before, behind);
  return success();
}

LogicalResult expandDerivative(Operation *op, SymbolTable &symbols) {
  Context context(op);
  try {
    return expand(context, symbols);
  } catch (const BuildFailed &) {
    return failure(); // the diagnostic is given
  }
}

} // namespace mlir::weft
