// Sizes that only the call knows: lists of which some are operands, and what is said of those that
// do not fit.
#pragma once

#include "Weft/IR/Weft.h"

namespace mlir::weft {

// The custom directives of the ops' formats. A list may be in the dictionary of attributes instead.

/// `[%n, 3, -1]`
ParseResult parseSizeList(OpAsmParser &parser,
                          SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                          SmallVectorImpl<Type> &types, DenseI64ArrayAttr &list);
void printSizeList(OpAsmPrinter &printer, Operation *op, OperandRange values, TypeRange types,
                   DenseI64ArrayAttr list);
/// `to [%n, 3, -1]`
ParseResult parseTargetSizes(OpAsmParser &parser,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                             SmallVectorImpl<Type> &types, DenseI64ArrayAttr &list);
void printTargetSizes(OpAsmPrinter &printer, Operation *op, OperandRange values, TypeRange types,
                      DenseI64ArrayAttr list);
/// `from [0, %a] to [%n, -1] by [1, 2]`; strides of 1 are left out.
ParseResult parseSliceBounds(OpAsmParser &parser,
                             SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                             SmallVectorImpl<Type> &types, DenseI64ArrayAttr &starts,
                             DenseI64ArrayAttr &limits, DenseI64ArrayAttr &strides);
void printSliceBounds(OpAsmPrinter &printer, Operation *op, OperandRange values, TypeRange types,
                      DenseI64ArrayAttr starts, DenseI64ArrayAttr limits,
                      DenseI64ArrayAttr strides);
/// `low [0, %n] high [1, 0] interior [0, 2]`; an interior of zeros is left out.
ParseResult parsePadAmounts(OpAsmParser &parser,
                            SmallVectorImpl<OpAsmParser::UnresolvedOperand> &operands,
                            SmallVectorImpl<Type> &types, DenseI64ArrayAttr &low,
                            DenseI64ArrayAttr &high, DenseI64ArrayAttr &interior);
void printPadAmounts(OpAsmPrinter &printer, Operation *op, OperandRange values, TypeRange types,
                     DenseI64ArrayAttr low, DenseI64ArrayAttr high, DenseI64ArrayAttr interior);

/// The text of a weft.check_sizes of two sizes that meet in an axis of the op's result.
std::string sizesDoNotBroadcast(Operation *op, int64_t axis);

/// Moves sizes that are constants into their lists; of the result more is known then, which a
/// weft.widen forgets.
LogicalResult canonicalizeSizes(Operation *op, PatternRewriter &rewriter);

} // namespace mlir::weft
