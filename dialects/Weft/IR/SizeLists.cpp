// Lists of sizes of which some are operands: their text, and what becomes of sizes that are known.
#include "Weft/IR/SizeLists.h"
#include "Weft/IR/Bridge.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

static_assert(::weft::detail::kDynamic == ShapedType::kDynamic);

OperandRange sizeOperands(Operation *op) {
  const ::weft::OpInfo *info = opInfoOf(op);
  OperandRange all = op->getOperands();
  if (!info || !info->takes_sizes()) return all.take_front(0);
  return all.drop_front(info->operands.size() - 1);
}

Value sizeOperandOf(Operation *op, StringRef list, size_t entry) {
  const ::weft::OpInfo *info = opInfoOf(op);
  OperandRange values = sizeOperands(op);
  size_t next = 0;
  for (const ::weft::AttrInfo &attr : info->attrs) {
    if (!attr.takes_values) continue;
    const StringRef name(attr.name.data(), attr.name.size());
    auto sizes = cast<DenseI64ArrayAttr>(*op->getInherentAttr(name)).asArrayRef();
    for (auto [i, size] : llvm::enumerate(sizes)) {
      if (name == list && i == entry)
        return ShapedType::isDynamic(size) && next < values.size() ? values[next] : Value();
      next += ShapedType::isDynamic(size);
    }
  }
  return {};
}

std::string sizesDoNotBroadcast(Operation *op, int64_t axis) {
  return (op->getName().stripDialect() + ": the shapes do not broadcast: {} meets {} in axis " +
          Twine(axis) + " of the result; an unknown size never stretches")
      .str();
}

LogicalResult canonicalizeSizes(Operation *op, PatternRewriter &rewriter) {
  const ::weft::OpInfo &info = *opInfoOf(op);
  OperandRange values = sizeOperands(op);
  SmallVector<Value> operands(op->getOperands().drop_back(values.size()));
  const size_t before = operands.size();
  NamedAttrList attributes(op->getAttrDictionary());
  size_t next = 0;
  for (const ::weft::AttrInfo &attr : info.attrs) {
    if (!attr.takes_values) continue;
    const StringRef name(attr.name.data(), attr.name.size());
    SmallVector<int64_t> sizes(cast<DenseI64ArrayAttr>(attributes.get(name)).asArrayRef());
    for (int64_t &size : sizes) {
      if (!ShapedType::isDynamic(size)) continue;
      Value value = values[next++];
      DenseElementsAttr number;
      // A negative one is an error when the program comes to it.
      if (matchPattern(value, m_Constant(&number)) && !number.getSplatValue<APInt>().isNegative())
        size = number.getSplatValue<APInt>().getSExtValue();
      else operands.push_back(value);
    }
    attributes.set(name, rewriter.getDenseI64ArrayAttr(sizes));
  }
  if (operands.size() - before == values.size()) return failure();
  SmallVector<Type> types;
  if (failed(inferResultTypes(op->getName().getStringRef(), op->getContext(), std::nullopt,
                              operands, attributes.getDictionary(op->getContext()), types)))
    return failure(); // and so is one that does not fit
  auto written = cast<RankedTensorType>(op->getResult(0).getType());
  auto inferred = cast<RankedTensorType>(types.front());
  if (failed(verifyCompatibleShape(inferred, written))) return failure();
  SmallVector<int64_t> shape(inferred.getShape());
  for (auto [size, known] : llvm::zip(shape, written.getShape()))
    if (!ShapedType::isDynamic(known)) size = known;
  OperationState state(op->getLoc(), op->getName(), operands, written.clone(shape), attributes);
  Value result = rewriter.create(state)->getResult(0);
  if (result.getType() != written)
    result = WidenOp::create(rewriter, op->getLoc(), written, result);
  rewriter.replaceOp(op, result);
  return success();
}

//===----------------------------------------------------------------------===//
// Text: [%n, 3, -1]
//===----------------------------------------------------------------------===//

ParseResult parseSizeList(OpAsmParser &parser,
                          SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                          SmallVectorImpl<Type> &types, DenseI64ArrayAttr &list) {
  SmallVector<int64_t> sizes;
  const auto entry = [&]() -> ParseResult {
    OpAsmParser::UnresolvedOperand operand;
    OptionalParseResult isOperand = parser.parseOptionalOperand(operand);
    if (!isOperand.has_value()) return parser.parseInteger(sizes.emplace_back());
    if (failed(*isOperand)) return failure();
    operands.push_back(operand);
    types.push_back(RankedTensorType::get({}, parser.getBuilder().getI64Type()));
    sizes.push_back(ShapedType::kDynamic);
    return success();
  };
  // In the dictionary of attributes, as generic text has it.
  if (failed(parser.parseOptionalLSquare())) return success();
  if (failed(parser.parseOptionalRSquare()) &&
      (parser.parseCommaSeparatedList(entry) || parser.parseRSquare()))
    return failure();
  list = parser.getBuilder().getDenseI64ArrayAttr(sizes);
  return success();
}

/// Prints a list, and takes its values from the front of `values`.
static void printList(OpAsmPrinter &printer, ArrayRef<Value> &values, DenseI64ArrayAttr list) {
  printer << '[';
  llvm::interleaveComma(list.asArrayRef(), printer, [&](int64_t size) {
    if (!ShapedType::isDynamic(size) || values.empty()) {
      printer << size;
      return;
    }
    printer << values.front();
    values = values.drop_front();
  });
  printer << ']';
}

void printSizeList(OpAsmPrinter &printer, Operation *, OperandRange values, TypeRange,
                   DenseI64ArrayAttr list) {
  const SmallVector<Value> all(values);
  ArrayRef<Value> left = all;
  printList(printer, left, list);
}

ParseResult parseTargetSizes(OpAsmParser &parser,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                             SmallVectorImpl<Type> &types, DenseI64ArrayAttr &list) {
  if (failed(parser.parseOptionalKeyword("to"))) return success();
  return parseSizeList(parser, operands, types, list);
}

void printTargetSizes(OpAsmPrinter &printer, Operation *op, OperandRange values, TypeRange types,
                      DenseI64ArrayAttr list) {
  printer << "to ";
  printSizeList(printer, op, values, types, list);
}

/// A list behind a word, of which there is none if the word is missing.
static ParseResult parseNamed(OpAsmParser &parser, StringRef word,
                              SmallVectorImpl<OpAsmParser::UnresolvedOperand> *operands,
                              SmallVectorImpl<Type> &types, DenseI64ArrayAttr &list) {
  if (failed(parser.parseOptionalKeyword(word))) return success();
  SmallVector<OpAsmParser::UnresolvedOperand> none;
  const SMLoc at = parser.getCurrentLocation();
  if (parseSizeList(parser, operands ? *operands : none, types, list)) return failure();
  if (!none.empty()) return parser.emitError(at) << "'" << word << "' has numbers alone";
  return success();
}

/// A list of numbers of which all are `usual` is left out where others are there.
static ParseResult parseUsual(OpAsmParser &parser, StringRef word, int64_t usual,
                              DenseI64ArrayAttr &list, DenseI64ArrayAttr beside) {
  SmallVector<Type> types;
  if (parseNamed(parser, word, nullptr, types, list)) return failure();
  if (!list && beside)
    list = parser.getBuilder().getDenseI64ArrayAttr(SmallVector<int64_t>(beside.size(), usual));
  return success();
}
static void printUsual(OpAsmPrinter &printer, StringRef word, int64_t usual, DenseI64ArrayAttr list,
                       DenseI64ArrayAttr beside) {
  if (list.size() == beside.size() &&
      llvm::all_of(list.asArrayRef(), [&](int64_t size) { return size == usual; }))
    return;
  printer << ' ' << word << ' ';
  ArrayRef<Value> none;
  printList(printer, none, list);
}

ParseResult parseSliceBounds(OpAsmParser &parser,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                             SmallVectorImpl<Type> &types, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits, DenseI64ArrayAttr &strides) {
  return failure(parseNamed(parser, "from", &operands, types, starts) ||
                 parseNamed(parser, "to", &operands, types, limits) ||
                 parseUsual(parser, "by", 1, strides, starts));
}

void printSliceBounds(OpAsmPrinter &printer, Operation *, OperandRange values, TypeRange,
                      DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides) {
  const SmallVector<Value> all(values);
  ArrayRef<Value> left = all;
  printer << "from ";
  printList(printer, left, starts);
  printer << " to ";
  printList(printer, left, limits);
  printUsual(printer, "by", 1, strides, starts);
}

ParseResult parsePadAmounts(OpAsmParser &parser,
                            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                            SmallVectorImpl<Type> &types, DenseI64ArrayAttr &low,
                            DenseI64ArrayAttr &high, DenseI64ArrayAttr &interior) {
  return failure(parseNamed(parser, "low", &operands, types, low) ||
                 parseNamed(parser, "high", &operands, types, high) ||
                 parseUsual(parser, "interior", 0, interior, low));
}

void printPadAmounts(OpAsmPrinter &printer, Operation *, OperandRange values, TypeRange,
                     DenseI64ArrayAttr low, DenseI64ArrayAttr high, DenseI64ArrayAttr interior) {
  const SmallVector<Value> all(values);
  ArrayRef<Value> left = all;
  printer << "low ";
  printList(printer, left, low);
  printer << " high ";
  printList(printer, left, high);
  printUsual(printer, "interior", 0, interior, low);
}

} // namespace mlir::weft
