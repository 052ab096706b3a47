// Verifiers of the ops whose rules are not about types alone.
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"

namespace mlir::weft {

/// An error unless the elements are in the text: others, such as those of a resource, may be
/// nowhere, and phases read what is dense alone.
static LogicalResult verifyElements(Operation *op, ElementsAttr elements) {
  if (isa<DenseElementsAttr>(elements)) return success();
  return op->emitOpError() << "the value must be dense<..>, whose elements stand in the text";
}

LogicalResult ConstantOp::verify() {
  if (failed(verifyElements(*this, getValueAttr()))) return failure();
  // A type that is merely compatible would be lost in the text.
  if (getValueAttr().getType() != getType())
    return emitOpError() << "the value is of type " << getValueAttr().getType()
                         << ", but the result of " << getType();
  return success();
}

LogicalResult SpecialOp::verify() {
  const size_t given = getOperands().size();
  size_t wanted = 1;
  switch (getFunction()) {
  case SpecialFunction::zeta:
  case SpecialFunction::betaln:
  case SpecialFunction::gammainc:
  case SpecialFunction::gammaincc:
  case SpecialFunction::gammainc_da:
  case SpecialFunction::atan2:
  case SpecialFunction::hypot: wanted = 2; break;
  case SpecialFunction::betainc: wanted = 3; break;
  default: break;
  }
  if (given == wanted) return success();
  return emitOpError() << stringifySpecialFunction(getFunction()) << " is of " << wanted
                       << (wanted == 1 ? " operand" : " operands") << ", but there are " << given;
}

LogicalResult VariableOp::verify() {
  if (!isWeftTensor(getType()))
    return emitOpError() << "the type must be a ranked tensor of " << dtypesInWords() << ", but is "
                         << getType();
  if (cast<RankedTensorType>(getType()).getRank() > ::weft::max_rank)
    return emitOpError() << "a tensor has at most " << ::weft::max_rank
                         << " dimensions, but the variable has "
                         << cast<RankedTensorType>(getType()).getRank();
  if (!cast<RankedTensorType>(getType()).hasStaticShape())
    return emitOpError() << "the shape must be known, but the type is " << getType();
  if (getInitialAttr() && failed(verifyElements(*this, getInitialAttr()))) return failure();
  if (getInitialAttr() && getInitialAttr().getType() != getType())
    return emitOpError() << "the initial value is of type " << getInitialAttr().getType()
                         << ", but the variable of " << getType();
  const Attribute over = (*this)->getAttr(kCutOverRanks);
  if (!over) return success();
  const auto cut = dyn_cast<DictionaryAttr>(over);
  const auto isAtLeast = [&](StringRef name, int64_t least) {
    const auto number = cut ? cut.getAs<IntegerAttr>(name) : IntegerAttr();
    return number && number.getType().isSignlessInteger(64) && number.getInt() >= least;
  };
  if (!isAtLeast("group", 0) || !isAtLeast("ranks", 1) || cut.size() != 2)
    return emitOpError() << kCutOverRanks
                         << " must be {group = <i64, at least 0>, ranks = <i64, at "
                         << "least 1>}, but is " << over;
  if (getInitialAttr())
    return emitOpError() << "a variable of which ranks have parts cannot have an initial value";
  return success();
}

LogicalResult HandleOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto variable = symbols.lookupNearestSymbolFrom<VariableOp>(*this, getVariableAttr());
  if (!variable)
    return emitOpError() << "no weft.variable " << getVariableAttr() << " in the module";
  if (variable.getType() != getHandle().getType().getValueType())
    return emitOpError() << "variable " << getVariableAttr() << " is of type " << variable.getType()
                         << ", but the handle of " << getHandle().getType().getValueType();
  return success();
}

LogicalResult AssignAddOp::verify() {
  const ::weft::TensorType value = tensorTypeOf(getValue().getType());
  const ::weft::OperandInfo &operand = opInfoOf(*this)->operands[0];
  if (!operand.admits.contains(value.dtype))
    return emitOpError() << operand.name << " must be " << operand.admits.word << ", but it is "
                         << to_string(value);
  return success();
}

LogicalResult verifyCollective(Operation *op) {
  auto isTensor = [](Value value) { return !isa<TokenType>(value.getType()); };
  SmallVector<Value> operands(llvm::make_filter_range(op->getOperands(), isTensor));
  SmallVector<Type> inferred, written;
  if (failed(inferResultTypes(op->getName().getStringRef(), op->getContext(), op->getLoc(),
                              operands, op->getAttrDictionary(), inferred)))
    return failure();
  for (Value result : llvm::make_filter_range(op->getResults(), isTensor))
    written.push_back(result.getType());
  if (areCompatible(inferred, written)) return success();
  return op->emitOpError() << "gives " << inferred << ", but the result is of type " << written;
}

LogicalResult ItemOp::verify() {
  if (getX().getType().getRank() != 0)
    return emitOpError() << "x must be a scalar tensor, but is " << getX().getType();
  return success();
}

LogicalResult CheckIndicesOp::verify() {
  const ::weft::TensorType indices = tensorTypeOf(getIndices().getType());
  if (indices.dtype != ::weft::DType::i32 && indices.dtype != ::weft::DType::i64)
    return emitOpError() << "indices must be an integer (i32, i64), but it is "
                         << to_string(indices);
  return success();
}

LogicalResult OnStopOp::verify() {
  if (getVariables().size() == getState().size()) return success();
  return emitOpError("wants one value for each variable");
}

LogicalResult JoinOp::verify() {
  if (getTokens().empty()) return emitOpError("wants at least one token");
  return success();
}

LogicalResult WidenOp::verify() {
  RankedTensorType from = getX().getType(), to = getType();
  bool fits = from.getElementType() == to.getElementType() && from.getRank() == to.getRank();
  for (int64_t axis = 0; fits && axis < from.getRank(); ++axis)
    fits = to.isDynamicDim(axis) || to.getDimSize(axis) == from.getDimSize(axis);
  if (!fits)
    return emitOpError() << "the result must be the operand's type with fewer sizes known, but "
                         << from << " becomes " << to;
  return success();
}

LogicalResult DrawIntoOp::verify() {
  RankedTensorType type = getInto().getType();
  Type element = type.getElementType();
  if (getPermutation() &&
      (type.getRank() != 1 || !(element.isInteger(32) || element.isInteger(64))))
    return emitOpError() << "a permutation is of rank 1 and of i32 or i64, but it is " << type;
  return success();
}

/// Shape functions also check ops without results.
template <class Op>
static LogicalResult verifyBySignature(Op op) {
  SmallVector<Type> none;
  ValueRange operands = op->getOperands();
  if (op.getAfter()) operands = operands.drop_back();
  return inferResultTypes(op->getName().getStringRef(), op->getContext(), op->getLoc(), operands,
                          op->getAttrDictionary(), none);
}

LogicalResult PrintOp::verify() { return verifyBySignature(*this); }
LogicalResult AssertOp::verify() { return verifyBySignature(*this); }

} // namespace mlir::weft
