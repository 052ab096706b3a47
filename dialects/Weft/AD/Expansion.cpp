// Expands one derivative: the function's body in place, then adjoints or tangents by the rules.
#include "Weft/AD/Expansion.h"

#include "OpDefs/Derivatives/Rules.h"
#include "Weft/AD/IREmitter.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::weft {

FlatSymbolRefAttr differentiatedFunction(Operation *op) {
  if (auto gradient = dyn_cast<GradientOp>(op)) return gradient.getCalleeAttr();
  if (auto vjp = dyn_cast<VjpOp>(op)) return vjp.getCalleeAttr();
  if (auto jvp = dyn_cast<JvpOp>(op)) return jvp.getCalleeAttr();
  return {};
}

namespace {

/// Whether a value of that type carries a derivative that ops of other dialects would drop.
bool isFloating(Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  return isa<FloatType>(shaped ? shaped.getElementType() : type);
}

class Expansion {
public:
  Expansion(Operation *op, SymbolTable &symbols)
      : op(op), symbols(symbols), builder(op), emitter(builder) {}

  LogicalResult run();

private:
  // Forward part.
  LogicalResult inlineBody(func::FuncOp function, Operation *call, ValueRange args,
                           Location callLocation, SmallVectorImpl<Value> &results);
  LogicalResult inlineOp(Operation &original, IRMapping &mapping, Location callLocation);
  LogicalResult checkDifferentiable(Operation &original, Operation *call);
  LogicalResult noteActivity(Operation &original, Operation *clone);
  bool dependsOnSource(Operation *inlined);
  InFlightDiagnostic refuse(Operation &original);

  // Derivatives.
  LogicalResult reverse(ArrayRef<Value> cotangents);
  LogicalResult forward(ValueRange tangents);
  void accumulate(Value value, Value derivative);
  Value zerosLike(Value value);
  void replace(ArrayRef<Value> derivatives);
  void eraseUnused(Operation *before);

  Operation *op;
  SymbolTable &symbols;
  OpBuilder builder;
  IREmitter emitter;

  /// The arguments in `wrt`, as values of their own: two arguments may be one value outside.
  SmallVector<UnrealizedConversionCastOp> sources;
  SmallVector<Value> results;
  /// Values that depend on a source by ops with derivatives, and these ops in program order.
  DenseSet<Value> active;
  SmallVector<Operation *> recorded;
  /// Cotangents or tangents.
  DenseMap<Value, Value> derivatives;
  SmallVector<func::FuncOp> inlining;
};

//===----------------------------------------------------------------------===//
// The forward part, and what of it depends on the sources
//===----------------------------------------------------------------------===//

/// An error at an op of the differentiated function or its copy, with a note at the derivative.
InFlightDiagnostic Expansion::refuse(Operation &original) {
  InFlightDiagnostic diagnostic = original.emitOpError();
  diagnostic.attachNote(op->getLoc()) << "differentiated here, by " << op->getName();
  return diagnostic;
}

LogicalResult Expansion::inlineBody(func::FuncOp function, Operation *call, ValueRange args,
                                    Location callLocation, SmallVectorImpl<Value> &returned) {
  if (function.isExternal())
    return refuse(*call) << "@" << function.getSymName()
                         << " has no body, so it cannot be differentiated";
  if (!function.getBody().hasOneBlock())
    return refuse(*call) << "@" << function.getSymName()
                         << " branches between blocks; only straight-line code and, in time, scf "
                            "can be differentiated";
  if (llvm::is_contained(inlining, function))
    return refuse(*call) << "@" << function.getSymName()
                         << " calls itself, so it cannot be differentiated";
  inlining.push_back(function);
  IRMapping mapping;
  mapping.map(function.getArguments(), args);
  Block &body = function.getBody().front();
  for (Operation &original : body.without_terminator())
    if (failed(inlineOp(original, mapping, callLocation))) return failure();
  for (Value value : body.getTerminator()->getOperands()) returned.push_back(mapping.lookup(value));
  inlining.pop_back();
  return success();
}

/// Whether an operand, or a value that its regions use from outside, is active.
bool Expansion::dependsOnSource(Operation *inlined) {
  bool depends = false;
  inlined->walk([&](Operation *inner) {
    depends |= llvm::any_of(inner->getOperands(), [&](Value v) { return active.contains(v); });
  });
  return depends;
}

LogicalResult Expansion::inlineOp(Operation &original, IRMapping &mapping, Location callLocation) {
  Location location = CallSiteLoc::get(original.getLoc(), callLocation);
  if (auto call = dyn_cast<func::CallOp>(original)) {
    SmallVector<Value> args, values;
    for (Value arg : call.getOperands()) args.push_back(mapping.lookup(arg));
    if (llvm::any_of(args, [&](Value v) { return active.contains(v); })) {
      auto callee = symbols.lookup<func::FuncOp>(call.getCallee());
      if (failed(inlineBody(callee, call, args, location, values))) return failure();
      mapping.map(call.getResults(), values);
      return success();
    }
  }
  Operation *clone = builder.clone(original, mapping);
  clone->walk([&](Operation *inner) {
    inner->setLoc(inner == clone ? location : CallSiteLoc::get(inner->getLoc(), callLocation));
  });
  return noteActivity(original, clone);
}

LogicalResult Expansion::noteActivity(Operation &original, Operation *clone) {
  if (!dependsOnSource(clone)) return success();
  // What C++ computes has no derivative, as if under stop_gradient.
  if (isa<HostCallOp>(clone)) return success();
  if (const ::weft::OpInfo *info = opInfoOf(clone)) {
    // An inactive op is where the derivative ends.
    if (!info->differentiable || clone->getNumResults() == 0 ||
        !isFloatingTensor(clone->getResult(0).getType()))
      return success();
    active.insert(clone->getResult(0));
    recorded.push_back(clone);
    return success();
  }
  if (llvm::none_of(clone->getResultTypes(), isFloating)) return success();
  if (isa<ItemOp>(clone)) {
    // A number may steer loops and branches; whoever computes with it is found out below.
    active.insert(clone->getResult(0));
    return success();
  }
  if (clone->getNumRegions() != 0)
    return refuse(original) << "depends on what is differentiated; derivatives through control "
                               "flow are not implemented yet";
  return refuse(original) << "depends on what is differentiated and has no derivative: only weft "
                             "ops and func.call have one";
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

void Expansion::accumulate(Value value, Value derivative) {
  Value &sum = derivatives[value];
  sum = sum ? emitter.add(sum, derivative) : derivative;
}

Value Expansion::zerosLike(Value value) {
  ::weft::TensorType type = emitter.type(value);
  Value zero = emitter.scalar(0, type.dtype);
  if (type.shape.is_static())
    return type.shape.empty() ? zero : emitter.broadcast(zero, type.shape);
  return emitter.select(emitter.equal(value, value), zero, zero);
}

/// Types and values of a recorded call, as its rule wants them.
struct RecordedCall {
  explicit RecordedCall(Operation *op) : info(*opInfoOf(op)), attrs(attrsOf(op)) {
    for (Value operand : op->getOperands()) {
      operands.push_back(operand);
      types.push_back(tensorTypeOf(operand.getType()));
    }
    result = op->getResult(0);
    resultType = tensorTypeOf(result.getType());
  }
  const ::weft::OpInfo &info;
  ::weft::Attrs attrs;
  std::vector<Value> operands;
  std::vector<::weft::TensorType> types;
  Value result;
  ::weft::TensorType resultType;
};

LogicalResult Expansion::reverse(ArrayRef<Value> cotangents) {
  size_t next = 0;
  for (Value result : results) {
    if (!isFloatingTensor(result.getType()) || next == cotangents.size()) continue;
    Value cotangent = cotangents[next++];
    if (active.contains(result)) accumulate(result, cotangent);
  }
  for (Operation *recordedOp : llvm::reverse(recorded)) {
    Value cotangent = derivatives.lookup(recordedOp->getResult(0));
    if (!cotangent) continue;
    emitter.setLocation(recordedOp->getLoc());
    RecordedCall call(recordedOp);
    SmallVector<bool> wanted;
    for (Value operand : call.operands) wanted.push_back(active.contains(operand));
    std::vector<Value> gradients(call.operands.size());
    ::weft::autodiff::VjpCall<IREmitter> rule({.op = call.info.op,
                                               .attrs = call.attrs,
                                               .operand_types = call.types,
                                               .result_type = call.resultType,
                                               .operands = call.operands,
                                               .result = call.result,
                                               .cotangent = cotangent,
                                               .wanted = {wanted.data(), wanted.size()},
                                               .gradients = gradients});
    try {
      ::weft::autodiff::vjp(emitter, call.info.op, rule);
      for (auto [operand, gradient] : llvm::zip(call.operands, gradients))
        if (gradient) accumulate(operand, gradient);
    } catch (const BuildFailed &) {
      return failure();
    } catch (const ::weft::Error &error) {
      return refuse(*recordedOp) << error.what();
    }
  }
  return success();
}

LogicalResult Expansion::forward(ValueRange tangents) {
  for (auto [source, tangent] : llvm::zip(sources, tangents))
    derivatives[source.getResult(0)] = tangent;
  for (Operation *recordedOp : recorded) {
    emitter.setLocation(recordedOp->getLoc());
    RecordedCall call(recordedOp);
    std::vector<Value> operandTangents;
    SmallVector<bool> hasTangent;
    for (Value operand : call.operands) {
      operandTangents.push_back(derivatives.lookup(operand));
      hasTangent.push_back(static_cast<bool>(operandTangents.back()));
    }
    ::weft::autodiff::JvpCall<IREmitter> rule(
        {.op = call.info.op,
         .attrs = call.attrs,
         .operand_types = call.types,
         .result_type = call.resultType,
         .operands = call.operands,
         .result = call.result,
         .has_tangent = {hasTangent.data(), hasTangent.size()},
         .tangents = operandTangents});
    try {
      derivatives[call.result] = ::weft::autodiff::jvp(emitter, call.info.op, rule);
    } catch (const BuildFailed &) {
      return failure();
    } catch (const ::weft::Error &error) {
      return refuse(*recordedOp) << error.what();
    }
  }
  return success();
}

/// Puts the function's results and the derivatives, each of them for the value in its place, in the
/// place of the op's.
void Expansion::replace(ArrayRef<Value> values) {
  SmallVector<Value> replacements(results);
  for (Value value : values) {
    Value derivative = derivatives.lookup(value);
    if (!derivative) derivative = zerosLike(value);
    replacements.push_back(derivative);
  }
  for (auto [replacement, type] : llvm::zip(replacements, op->getResultTypes()))
    // A derivative may know a size that its value does not, or the other way round.
    if (replacement.getType() != type)
      replacement = tensor::CastOp::create(builder, op->getLoc(), type, replacement);
  op->replaceAllUsesWith(replacements);
  for (UnrealizedConversionCastOp source : sources)
    source.getResult(0).replaceAllUsesWith(source.getOperand(0));
}

/// Erases what neither the results nor the derivatives need of the ops made, which are those
/// between `before` and the differential op.
void Expansion::eraseUnused(Operation *before) {
  for (Operation *last = op->getPrevNode(); last != before;) {
    Operation *previous = last->getPrevNode();
    if (isOpTriviallyDead(last)) last->erase();
    last = previous;
  }
}

LogicalResult Expansion::run() {
  Operation *before = op->getPrevNode();
  ValueRange given = op->getOperands();
  ArrayRef<int64_t> wrt = op->getAttrOfType<DenseI64ArrayAttr>("wrt").asArrayRef();
  auto function = symbols.lookup<func::FuncOp>(differentiatedFunction(op).getValue());
  SmallVector<Value> args(given.take_front(function.getNumArguments()));
  emitter.setLocation(op->getLoc());
  for (int64_t i : wrt) {
    sources.push_back(
        UnrealizedConversionCastOp::create(builder, op->getLoc(), args[i].getType(), args[i]));
    args[i] = sources.back().getResult(0);
    active.insert(args[i]);
  }
  if (failed(inlineBody(function, op, args, op->getLoc(), results))) return failure();

  SmallVector<Value> of;
  if (auto jvp = dyn_cast<JvpOp>(op)) {
    if (failed(forward(jvp.getTangents()))) return failure();
    for (Value result : results)
      if (isFloatingTensor(result.getType())) of.push_back(result);
  } else {
    SmallVector<Value> cotangents;
    if (auto vjp = dyn_cast<VjpOp>(op)) llvm::append_range(cotangents, vjp.getCotangents());
    else cotangents.push_back(emitter.scalar(1, emitter.type(results[0]).dtype));
    if (failed(reverse(cotangents))) return failure();
    for (UnrealizedConversionCastOp source : sources) of.push_back(source.getResult(0));
  }
  emitter.setLocation(op->getLoc());
  replace(of);
  eraseUnused(before);
  op->erase();
  return success();
}

} // namespace

LogicalResult expandDerivative(Operation *op, SymbolTable &symbols) {
  return Expansion(op, symbols).run();
}

} // namespace mlir::weft
