// The op host_call: its text, what it demands of its operands, and its effects.
#include "Weft/IR/Bridge.h"

namespace mlir::weft {

static bool endsInToken(TypeRange types) { return !types.empty() && isa<TokenType>(types.back()); }

OperandRange HostCallOp::getValues() {
  return getOperandsAndAfter().drop_back(endsInToken(getOperandsAndAfter().getTypes()) ? 1 : 0);
}

ResultRange HostCallOp::getGiven() {
  return getResultsAndToken().drop_back(endsInToken(getResultsAndToken().getTypes()) ? 1 : 0);
}

Value HostCallOp::getAfter() {
  return endsInToken(getOperandsAndAfter().getTypes()) ? getOperandsAndAfter().back() : Value();
}

MutableOperandRange HostCallOp::getAfterMutable() {
  const unsigned values = getValues().size();
  return MutableOperandRange(*this, values, getNumOperands() - values);
}

Value HostCallOp::getToken() {
  return endsInToken(getResultsAndToken().getTypes()) ? Value(getResultsAndToken().back())
                                                      : Value();
}

//===----------------------------------------------------------------------===//
// Effects
//===----------------------------------------------------------------------===//

OwnEffects HostCallOp::getOwnEffects() {
  return {.reads = false, .writes = false, .io = !getPure(), .stops = !getPure()};
}

void HostCallOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects) {
  addMemoryEffects(*this, effects);
}

/// A pure one as well may throw.
Speculation::Speculatability HostCallOp::getSpeculatability() {
  return Speculation::NotSpeculatable;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

// weft.host_call [pure] @callee(%operands) [after %token] attributes : (types) -> types
ParseResult HostCallOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  auto &properties = result.getOrAddProperties<Properties>();
  if (succeeded(parser.parseOptionalKeyword("pure"))) properties.pure = builder.getUnitAttr();
  if (parser.parseSymbolName(properties.callee)) return failure();
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  OpAsmParser::UnresolvedOperand after;
  if (parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren)) return failure();
  const bool ordered = succeeded(parser.parseOptionalKeyword("after"));
  FunctionType type;
  if ((ordered && parser.parseOperand(after)) || parser.parseOptionalAttrDict(result.attributes) ||
      parser.parseColon())
    return failure();
  const SMLoc at = parser.getCurrentLocation();
  if (parser.parseType(type) ||
      parser.resolveOperands(operands, type.getInputs(), at, result.operands))
    return failure();
  result.addTypes(type.getResults());
  if (!ordered) return success();
  Type token = TokenType::get(parser.getContext());
  result.addTypes(token);
  return parser.resolveOperand(after, token, result.operands);
}

void HostCallOp::print(OpAsmPrinter &printer) {
  if (getPure()) printer << " pure";
  printer << ' ';
  printer.printSymbolName(getCallee());
  printer << '(' << getValues() << ')';
  if (getAfter()) printer << " after " << getAfter();
  printer.printOptionalAttrDict((*this)->getAttrs(), {getCalleeAttrName(), getPureAttrName()});
  printer << " : ";
  printer.printFunctionalType(TypeRange(getValues()), TypeRange(getGiven()));
}

LogicalResult HostCallOp::verify() {
  if (getCallee().empty()) return emitOpError("names no callable");
  auto isToken = [](Type type) { return isa<TokenType>(type); };
  if (llvm::any_of(getValues().getTypes(), isToken) || llvm::any_of(getGiven().getTypes(), isToken))
    return emitOpError("has at most one token before it and one of its own, after all tensors");
  if (getPure() && getAfter()) return emitOpError("is pure, so tokens do not order it");
  return success();
}

} // namespace mlir::weft
