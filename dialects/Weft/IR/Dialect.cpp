// Registers the dialect; custom pieces of its syntax.
#include "Weft/IR/Weft.h"

#include "Weft/IR/Bridge.h"
#include "Weft/IR/SizeLists.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/Transforms/InliningUtils.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::weft;

#include "Weft/IR/Dialect.cpp.inc"
#include "Weft/IR/Enums.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "Weft/IR/Types.cpp.inc"

namespace {
/// Every op may stand in the place of a call: names of variables mean the same in all functions.
struct Inlining : DialectInlinerInterface {
  using DialectInlinerInterface::DialectInlinerInterface;
  bool isLegalToInline(Operation *, Region *, bool, IRMapping &) const final { return true; }
};
} // namespace

void WeftDialect::initialize() {
  addInterfaces<Inlining>();
  addTypes<
#define GET_TYPEDEF_LIST
#include "Weft/IR/Types.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "Weft/IR/Ops.cpp.inc"
      >();
}

Operation *WeftDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type,
                                            Location location) {
  // What weft.item takes out of a constant is a scalar of the upstream dialects.
  if (type.isIntOrFloat()) return arith::ConstantOp::materialize(builder, value, type, location);
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || !isWeftTensor(type) || elements.getType() != type) return nullptr;
  return ConstantOp::create(builder, location, cast<RankedTensorType>(type), elements);
}

//===----------------------------------------------------------------------===//
// custom<OperandTypes>: one type if all operands have it, otherwise the list
//===----------------------------------------------------------------------===//

static ParseResult parseTypeList(OpAsmParser &parser, ArrayRef<Type *> types) {
  Type first;
  if (parser.parseType(first)) return failure();
  if (failed(parser.parseOptionalComma())) {
    for (Type *type : types) *type = first;
    return success();
  }
  *types[0] = first;
  for (size_t i = 1; i < types.size(); ++i) {
    if (i > 1 && parser.parseComma()) return failure();
    if (parser.parseType(*types[i])) return failure();
  }
  return success();
}

static void printTypeList(OpAsmPrinter &printer, ArrayRef<Type> types) {
  if (llvm::all_equal(types)) {
    printer << types.front();
    return;
  }
  llvm::interleaveComma(types, printer);
}

static ParseResult parseOperandTypes(OpAsmParser &parser, Type &a, Type &b) {
  return parseTypeList(parser, {&a, &b});
}
static void printOperandTypes(OpAsmPrinter &printer, Operation *, Type a, Type b) {
  printTypeList(printer, {a, b});
}
static ParseResult parseOperandTypes(OpAsmParser &parser, Type &a, Type &b, Type &c) {
  return parseTypeList(parser, {&a, &b, &c});
}
static void printOperandTypes(OpAsmPrinter &printer, Operation *, Type a, Type b, Type c) {
  printTypeList(printer, {a, b, c});
}

//===----------------------------------------------------------------------===//
// custom<VariableValue>: "= elements : type", or ": type" of a variable that starts as zero
//===----------------------------------------------------------------------===//

static ParseResult parseVariableValue(OpAsmParser &parser, TypeAttr &type, ElementsAttr &initial) {
  if (succeeded(parser.parseOptionalEqual())) {
    if (parser.parseAttribute(initial)) return failure();
    type = TypeAttr::get(initial.getType());
    return success();
  }
  Type parsed;
  if (parser.parseColonType(parsed)) return failure();
  type = TypeAttr::get(parsed);
  return success();
}
static void printVariableValue(OpAsmPrinter &printer, Operation *, TypeAttr type,
                               ElementsAttr initial) {
  if (initial) printer << "= " << initial;
  else printer << ": " << type.getValue();
}

//===----------------------------------------------------------------------===//
// custom<After>: "after %token", which goes with a token as a result
//===----------------------------------------------------------------------===//

static OptionalParseResult parseAfter(OpAsmParser &parser,
                                      std::optional<OpAsmParser::UnresolvedOperand> &after,
                                      Type &afterType, Type &tokenType) {
  if (failed(parser.parseOptionalKeyword("after"))) return std::nullopt;
  if (parser.parseOperand(after.emplace())) return failure();
  afterType = tokenType = TokenType::get(parser.getContext());
  return success();
}
static void printAfter(OpAsmPrinter &printer, Operation *, Value after, Type, Type) {
  if (after) printer << "after " << after;
}

#define GET_OP_CLASSES
#include "Weft/IR/Ops.cpp.inc"
