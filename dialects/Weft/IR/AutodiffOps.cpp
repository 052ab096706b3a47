// Verifiers of the ops that stand for derivatives of functions.
#include "Support/Checkpoint.h"
#include "Weft/IR/Bridge.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::weft {

bool isInexactTensor(Type type) {
  return isWeftTensor(type) && ::weft::is_inexact(tensorTypeOf(type).dtype);
}

Type derivativeTypeOf(Type type) {
  if (auto variable = dyn_cast<VarType>(type)) type = variable.getValueType();
  return isInexactTensor(type) ? type : Type();
}

LogicalResult verifyDifferentiated(Operation *root) {
  WalkResult result = root->walk([&](Operation *op) -> WalkResult {
    if (!op->hasTrait<IsDerivative>()) return WalkResult::advance();
    return op->emitOpError("is a derivative, which weft-differentiate computes before"),
           WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

/// `types`, which belong to what `what` names one by one, must be the expected ones.
static LogicalResult verifyTypes(Operation *op, StringRef what, TypeRange expected,
                                 TypeRange types) {
  if (expected.size() != types.size())
    return op->emitOpError() << "needs " << expected.size() << " " << what << "s, but has "
                             << types.size();
  for (auto [i, want, have] : llvm::enumerate(expected, types))
    if (want != have)
      return op->emitOpError() << what << " " << i << " must be " << want << ", but is " << have;
  return success();
}

/// The function, or null after a diagnostic: it exists, takes these arguments, and can be
/// differentiated by those in `wrt`.
static FunctionOpInterface verifyCall(Operation *op, SymbolTableCollection &symbols,
                                      FlatSymbolRefAttr callee, ValueRange args,
                                      ArrayRef<int64_t> wrt) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(op, callee);
  if (!function) {
    op->emitOpError() << "no function " << callee << " in the module";
    return {};
  }
  if (failed(verifyTypes(op, "argument", function.getArgumentTypes(), args.getTypes()))) return {};
  if (auto checkpoint = op->getAttrOfType<StringAttr>("checkpoint"))
    if (auto read = ::weft::parse_checkpoint(checkpoint.getValue()); !read) {
      op->emitOpError() << read.fault().message;
      return {};
    }
  SmallVector<bool> seen(args.size());
  for (int64_t i : wrt) {
    if (i < 0 || i >= static_cast<int64_t>(args.size())) {
      op->emitOpError() << "wrt names argument " << i << ", but " << callee << " has "
                        << args.size();
      return {};
    }
    if (!derivativeTypeOf(args[i].getType())) {
      op->emitOpError() << "wrt names argument " << i << " of type " << args[i].getType()
                        << ", but only floating tensors have derivatives, and variables";
      return {};
    }
    if (seen[i]) {
      op->emitOpError() << "wrt names argument " << i << " twice";
      return {};
    }
    seen[i] = true;
  }
  return function;
}

static SmallVector<Type> floatingOf(TypeRange types) {
  return llvm::to_vector(llvm::make_filter_range(types, isInexactTensor));
}

/// The types of the derivatives by those of the values.
static SmallVector<Type> derivativeTypesAt(ValueRange values, ArrayRef<int64_t> places) {
  return llvm::map_to_vector(places,
                             [&](int64_t i) { return derivativeTypeOf(values[i].getType()); });
}

/// The results: those of the function, then the derivatives.
static LogicalResult verifyResults(Operation *op, FunctionOpInterface function,
                                   ArrayRef<Type> derivatives) {
  SmallVector<Type> expected(function.getResultTypes());
  llvm::append_range(expected, derivatives);
  return verifyTypes(op, "result", expected, op->getResultTypes());
}

LogicalResult GradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface function = verifyCall(*this, symbols, getCalleeAttr(), getArgs(), getWrt());
  if (!function) return failure();
  if (function.getNumResults() == 0)
    return emitOpError() << getCalleeAttr() << " has no result to differentiate";
  Type first = function.getResultTypes()[0];
  if (!isInexactTensor(first) || isa<ComplexType>(getElementTypeOrSelf(first)) ||
      cast<RankedTensorType>(first).getRank() != 0)
    return emitOpError() << "the first result of " << getCalleeAttr()
                         << " must be a floating scalar tensor, but is " << first
                         << "; weft.vjp takes other results";
  return verifyResults(*this, function, derivativeTypesAt(getArgs(), getWrt()));
}

LogicalResult VjpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface function = verifyCall(*this, symbols, getCalleeAttr(), getArgs(), getWrt());
  if (!function || failed(verifyTypes(*this, "cotangent", floatingOf(function.getResultTypes()),
                                      getCotangents().getTypes())))
    return failure();
  return verifyResults(*this, function, derivativeTypesAt(getArgs(), getWrt()));
}

LogicalResult JvpOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface function = verifyCall(*this, symbols, getCalleeAttr(), getArgs(), getWrt());
  if (!function || failed(verifyTypes(*this, "tangent", derivativeTypesAt(getArgs(), getWrt()),
                                      getTangents().getTypes())))
    return failure();
  return verifyResults(*this, function, floatingOf(function.getResultTypes()));
}

LogicalResult RecordOp::verifySymbolUses(SymbolTableCollection &symbols) {
  FunctionOpInterface function = verifyCall(*this, symbols, getCalleeAttr(), getArgs(), getWrt());
  if (!function) return failure();
  for (Operation *user : getRecord().getUsers())
    if (!isa<PullOp>(user))
      return emitOpError() << "its record is for weft.pull alone, but goes to " << user->getName();
  return verifyTypes(*this, "result", function.getResultTypes(), getValues().getTypes());
}

LogicalResult PullOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto record = getRecord().getDefiningOp<RecordOp>();
  if (!record) return emitOpError("takes the record of a weft.record itself");
  auto function =
      symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, record.getCalleeAttr());
  if (!function) return success(); // the record says so
  if (failed(verifyTypes(*this, "cotangent", floatingOf(function.getResultTypes()),
                         getCotangents().getTypes())))
    return failure();
  for (int64_t i : record.getWrt())
    if (i < 0 || i >= static_cast<int64_t>(record.getArgs().size())) return success(); // too
  return verifyTypes(*this, "result", derivativeTypesAt(record.getArgs(), record.getWrt()),
                     getResultTypes());
}

LogicalResult CustomGradientOp::verify() {
  if (failed(verifyTypes(*this, "result", getValues().getTypes(), getResultTypes())))
    return failure();
  for (auto [i, source] : llvm::enumerate(getSources()))
    if (!derivativeTypeOf(source.getType()))
      return emitOpError() << "source " << i << " is of type " << source.getType()
                           << ", but only floating tensors have derivatives";
  return success();
}

LogicalResult CustomGradientOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto function = symbols.lookupNearestSymbolFrom<FunctionOpInterface>(*this, getPullbackAttr());
  if (!function) return emitOpError() << "no function " << getPullbackAttr() << " in the module";
  SmallVector<Type> arguments = floatingOf(getResultTypes());
  llvm::append_range(arguments, getCaptures().getTypes());
  if (failed(verifyTypes(*this, "argument", function.getArgumentTypes(), arguments)))
    return failure();
  TypeRange given = function.getResultTypes();
  if (given.size() != getSources().size())
    return emitOpError() << "has " << getSources().size() << " sources, but " << getPullbackAttr()
                         << " gives " << given.size() << " cotangents";
  for (auto [i, source, type] : llvm::enumerate(getSources().getTypes(), given))
    if (getElementTypeOrSelf(source) != getElementTypeOrSelf(type) ||
        failed(verifyCompatibleShape(source, type)))
      return emitOpError() << "source " << i << " is of type " << source
                           << ", but its cotangent is " << type;
  return success();
}

} // namespace mlir::weft
