// Runs the rule of one op with the emitter of IR.
#include "Weft/AD/Rules.h"

#include "Autodiff/Rules/NoDerivative.h"
#include "Autodiff/Rules/Rules.h"
#include "Weft/AD/Primal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

void accumulate(Context &context, Value value, Value derivative) {
  if (!context.activity.isActive(value)) return;
  Value sum = context.derivatives.lookup(value);
  context.derivatives.set(value, sum ? context.emitter.add(sum, derivative) : derivative);
}

namespace {

/// Types and values of a call, as its rule wants them.
struct RecordedCall {
  explicit RecordedCall(Operation *op) : info(*opInfoOf(op)), attrs(attrsOf(op)) {
    for (Value operand : op->getOperands()) {
      operands.push_back(operand);
      types.push_back(tensorTypeOf(operand.getType()));
    }
    for (Value result : op->getResults().take_front(info.results)) {
      results.push_back(result);
      resultTypes.push_back(tensorTypeOf(result.getType()));
    }
  }
  const ::weft::OpInfo &info;
  ::weft::Attrs attrs;
  std::vector<Value> operands;
  std::vector<::weft::TensorType> types;
  std::vector<Value> results;
  std::vector<::weft::TensorType> resultTypes;
};

/// The sizes that a value's type leaves open.
SmallVector<Value> openSizes(OpBuilder &builder, Location location, Value value) {
  SmallVector<Value> sizes;
  auto type = cast<RankedTensorType>(value.getType());
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis))
      sizes.push_back(tensor::DimOp::create(builder, location, value, axis));
  return sizes;
}

/// Runs the rule for the operands that want a cotangent; of the results' some may be null.
void runReverseRule(Context &context, const RecordedCall &call, ArrayRef<Value> cotangents,
                    ArrayRef<bool> wanted) {
  std::vector<Value> gradients(call.operands.size());
  SmallVector<bool> given;
  for (Value cotangent : cotangents) given.push_back(static_cast<bool>(cotangent));
  ::weft::autodiff::VjpCall<IREmitter> rule({.op = call.info.op,
                                             .attrs = call.attrs,
                                             .operand_types = call.types,
                                             .result_types = call.resultTypes,
                                             .operands = call.operands,
                                             .results = call.results,
                                             .cotangents = {cotangents.data(), cotangents.size()},
                                             .has_cotangent = {given.data(), given.size()},
                                             .wanted = {wanted.data(), wanted.size()},
                                             .gradients = gradients});
  ::weft::autodiff::vjp(context.emitter, call.info.op, rule);
  for (auto [operand, gradient] : llvm::zip(call.operands, gradients))
    if (gradient) accumulate(context, operand, gradient);
}

void reverseTableOp(Context &context, Operation *op, ArrayRef<Value> cotangents) {
  RecordedCall call(op);
  Value cotangent = cotangents.front();
  SmallVector<bool> wanted;
  for (Value operand : call.operands) wanted.push_back(context.activity.isActive(operand));
  if (auto gather = dyn_cast<GatherOp>(op))
    if (Value sum = context.derivatives.lookup(gather.getX())) {
      // Into the sum itself: a loop that reads a slice per iteration would else add all of x each
      // time.
      sum = context.typed(sum, gather.getX().getType());
      Value total = context.emitter.scatter_add(sum, gather.getIndices(), cotangent,
                                                static_cast<int64_t>(gather.getAxis()));
      context.derivatives.set(gather.getX(), total);
      return;
    }
  if (isa<UpdateSliceOp>(op)) {
    // The slice is read before it is cleared, so that it can be cleared in place.
    SmallVector<bool> first(wanted.size(), false);
    std::swap(first.back(), wanted.back());
    runReverseRule(context, call, cotangents, first);
    if (context.outputs.contains(op))
      return accumulate(context, op->getOperand(0),
                        context.typed(cotangent, call.operands[0].getType()));
  }
  if (llvm::is_contained(wanted, true)) runReverseRule(context, call, cotangents, wanted);
}

/// Reads, casts, and ops on stacks. A place of a stack is stored once, so what a stack was before a
/// store has no other cotangent than what it is after it; and a larger stack's serves the smaller
/// one.
void reverseOther(Context &context, Operation *op, Value cotangent) {
  OpBuilder &b = context.builder;
  Location location = op->getLoc();
  auto pass = [&](Value stack) { accumulate(context, stack, cotangent); };
  auto give = [&](Value stack, Value value, Value at) {
    if (!context.activity.isActive(value)) return;
    Value loaded =
        StackLoadOp::create(b, location, value.getType(), stack, at, openSizes(b, location, value));
    accumulate(context, value, loaded);
  };
  if (auto read = dyn_cast<ReadOp>(op)) {
    accumulate(context, read.getVariable(), cotangent);
  } else if (auto load = dyn_cast<StackLoadOp>(op)) {
    Value sum = context.derivatives.lookup(load.getStack());
    if (!sum) sum = context.zerosLike(load.getStack());
    Value value = context.typed(cotangent, load.getType());
    sum = StackAddOp::create(b, location, sum.getType(), value, sum, load.getAt());
    context.derivatives.set(load.getStack(), sum);
  } else if (auto store = dyn_cast<StackStoreOp>(op)) {
    give(cotangent, store.getValue(), store.getAt());
    if (store.getAgain())
      // What was there before goes nowhere.
      cotangent = StackStoreOp::create(b, location, cotangent.getType(),
                                       context.zerosLike(store.getValue()), cotangent,
                                       store.getAt(), /*again=*/true);
    pass(store.getStack());
  } else if (auto add = dyn_cast<StackAddOp>(op)) {
    give(cotangent, add.getValue(), add.getAt());
    pass(add.getStack());
  } else if (auto reserve = dyn_cast<StackReserveOp>(op)) {
    pass(reserve.getStack());
  } else {
    Value x = op->getOperand(0);
    accumulate(context, x, context.typed(cotangent, x.getType()));
  }
}

SmallVector<Value> forwardTableOp(Context &context, Operation *op) {
  RecordedCall call(op);
  std::vector<Value> tangents;
  SmallVector<bool> hasTangent;
  for (Value operand : call.operands) {
    tangents.push_back(context.derivatives.lookup(operand));
    hasTangent.push_back(static_cast<bool>(tangents.back()));
  }
  SmallVector<Value> all(call.results.size());
  ::weft::autodiff::JvpCall<IREmitter> rule({.op = call.info.op,
                                             .attrs = call.attrs,
                                             .operand_types = call.types,
                                             .result_types = call.resultTypes,
                                             .operands = call.operands,
                                             .results = call.results,
                                             .has_tangent = {hasTangent.data(), hasTangent.size()},
                                             .tangents = tangents,
                                             .more = {all.data() + 1, all.size() - 1}});
  all.front() = ::weft::autodiff::jvp(context.emitter, call.info.op, rule);
  return all;
}

/// The same op on tangents.
Value forwardOther(Context &context, Operation *op) {
  OpBuilder &b = context.builder;
  Location location = op->getLoc();
  auto tangentOrZeros = [&](Value value) {
    Value tangent = context.derivatives.lookup(value);
    return context.typed(tangent ? tangent : context.zerosLike(value), value.getType());
  };
  auto stackTangent = [&](Value stack) {
    Value tangent = context.derivatives.lookup(stack);
    return tangent ? tangent : context.zerosLike(stack);
  };
  if (auto read = dyn_cast<ReadOp>(op)) return context.derivatives.lookup(read.getVariable());
  if (auto load = dyn_cast<StackLoadOp>(op))
    return StackLoadOp::create(b, location, load.getType(), stackTangent(load.getStack()),
                               load.getAt(), load.getSizes());
  if (auto store = dyn_cast<StackStoreOp>(op)) {
    Value stack = stackTangent(store.getStack());
    return StackStoreOp::create(b, location, stack.getType(), tangentOrZeros(store.getValue()),
                                stack, store.getAt(), store.getAgain());
  }
  if (auto add = dyn_cast<StackAddOp>(op)) {
    Value stack = stackTangent(add.getStack());
    if (!context.derivatives.lookup(add.getValue())) return stack;
    return StackAddOp::create(b, location, stack.getType(), tangentOrZeros(add.getValue()), stack,
                              add.getAt());
  }
  if (auto reserve = dyn_cast<StackReserveOp>(op)) {
    Value stack = stackTangent(reserve.getStack());
    return StackReserveOp::create(b, location, stack.getType(), stack, reserve.getCount());
  }
  return context.typed(tangentOrZeros(op->getOperand(0)), op->getResult(0).getType());
}

bool hasTableRule(Operation *op) { return opInfoOf(op) && !isa<ReadOp>(op); }

} // namespace

/// The pullback of a weft.custom_gradient, null after a diagnostic.
static func::FuncOp pullbackOf(Context &context, CustomGradientOp op) {
  auto function = context.symbols.lookup<func::FuncOp>(op.getPullback());
  if (!function)
    context.refuse(op) << op.getPullbackAttr() << " is no func.func, so it cannot be used here";
  if (!function || !function->hasAttr(unrecordedName)) return function;
  static_cast<void>(context.refuseUser(
      op, "custom_gradient: a gradient that uses itself was recorded as often as derivatives were "
          "asked for when it was traced, and here is one more: take it of the function instead of "
          "what was compiled of it"));
  return {};
}

void refuseHost(Context &context, HostCallOp op) {
  static_cast<void>(context.refuseUser(
      op, ::weft::autodiff::no_derivative_of("host_call " + op.getCallee().str())));
}

LogicalResult reverseCustom(Context &context, CustomGradientOp op) {
  func::FuncOp pullback = pullbackOf(context, op);
  if (!pullback) return failure();
  context.emitter.setLocation(op.getLoc());
  SmallVector<Value> args, given;
  for (Value result : op.getResults()) {
    if (!derivativeTypeOf(result.getType())) continue;
    Value cotangent = context.derivatives.lookup(result);
    args.push_back(
        context.typed(cotangent ? cotangent : context.zerosLike(result), result.getType()));
  }
  llvm::append_range(args, op.getCaptures());
  if (failed(inlineFunction(context, pullback, op, args, op.getLoc(), given,
                            [&](Operation *, Operation *clone) {
                              if (!isMemoryEffectFree(clone))
                                clone->setAttr(pulledName, context.builder.getUnitAttr());
                            })))
    return failure();
  for (auto [source, cotangent] : llvm::zip_equal(op.getSources(), given))
    accumulate(context, source, context.typed(cotangent, source.getType()));
  return success();
}

LogicalResult forwardCustom(Context &context, CustomGradientOp op) {
  func::FuncOp pullback = pullbackOf(context, op);
  if (!pullback) return failure();
  context.emitter.setLocation(op.getLoc());
  OpBuilder &b = context.builder;
  SmallVector<Value> args, tangents, results;
  SmallVector<int64_t> wrt;
  for (Value result : op.getResults()) {
    if (!derivativeTypeOf(result.getType())) continue;
    wrt.push_back(static_cast<int64_t>(args.size()));
    args.push_back(context.zerosLike(result));
    results.push_back(result);
  }
  llvm::append_range(args, op.getCaptures());
  for (auto [source, type] : llvm::zip_equal(op.getSources(), pullback.getResultTypes())) {
    Value tangent = context.derivatives.lookup(source);
    tangents.push_back(context.typed(tangent ? tangent : context.zerosLike(source), type));
  }
  SmallVector<Type> types(pullback.getResultTypes());
  llvm::append_range(types, TypeRange(results));
  auto vjp = VjpOp::create(b, op.getLoc(), types, op.getPullback(), args, tangents, wrt,
                           /*checkpoint=*/StringAttr());
  for (auto [result, tangent] : llvm::zip_equal(results, vjp.getResults().take_back(wrt.size())))
    context.derivatives.set(result, tangent);
  context.further.push_back(vjp);
  return success();
}

LogicalResult reverseRule(Context &context, Operation *op) {
  context.emitter.setLocation(op->getLoc());
  SmallVector<Value> cotangents = llvm::map_to_vector(
      op->getResults(), [&](Value result) { return context.derivatives.lookup(result); });
  try {
    if (hasTableRule(op)) reverseTableOp(context, op, cotangents);
    else reverseOther(context, op, cotangents.front());
  } catch (const BuildFailed &) {
    return failure();
  } catch (const ::weft::Error &error) {
    return context.refuse(op) << error.what();
  }
  return success();
}

SmallVector<Value> forwardRule(Context &context, Operation *op) {
  context.emitter.setLocation(op->getLoc());
  try {
    if (hasTableRule(op)) return forwardTableOp(context, op);
    return {forwardOther(context, op)};
  } catch (const BuildFailed &) {
    return {Value()};
  } catch (const ::weft::Error &error) {
    context.refuse(op) << error.what();
    return {Value()};
  }
}

} // namespace mlir::weft
