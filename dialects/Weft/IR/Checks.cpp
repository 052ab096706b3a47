// Checks of sizes at run time: when an op needs one, and what a check that must fail leaves of the
// code behind it.
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Written types
//===----------------------------------------------------------------------===//

bool knowsMoreThanInferred(Operation *op) {
  const ::weft::OpInfo *info = opInfoOf(op);
  if (!info || op->getNumResults() == 0 || op->getNumResults() != info->results ||
      !llvm::all_of(op->getResultTypes(), llvm::IsaPred<RankedTensorType>))
    return false;
  auto isOpen = [](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    return shaped && !shaped.hasStaticShape();
  };
  // Of known operands all is known but what depends on a value.
  if (llvm::none_of(op->getOperandTypes(), isOpen) && sizeOperands(op).empty()) return false;
  SmallVector<Type> types;
  if (failed(inferResultTypes(op->getName().getStringRef(), op->getContext(), std::nullopt,
                              op->getOperands(), op->getAttrDictionary(), types)))
    return true;
  for (auto [has, inferred] : llvm::zip_equal(op->getResultTypes(), types)) {
    auto written = cast<RankedTensorType>(has), known = cast<RankedTensorType>(inferred);
    for (int64_t axis = 0; axis < written.getRank(); ++axis)
      if (!written.isDynamicDim(axis) && known.isDynamicDim(axis)) return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Code that is never run
//===----------------------------------------------------------------------===//

/// Whether `standIn` has something for that type.
static bool hasStandIn(Type type) {
  if (auto memref = dyn_cast<MemRefType>(type))
    return MemRefType::isValidElementType(memref.getElementType());
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    return tensor.getElementType().isIntOrIndexOrFloat();
  return type.isIntOrIndexOrFloat();
}

/// A value of that type that costs nothing: it is never looked at.
static Value standIn(OpBuilder &b, Location loc, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped) return arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  SmallVector<Value> sizes;
  for (int64_t size : shaped.getShape())
    if (ShapedType::isDynamic(size)) sizes.push_back(arith::ConstantIndexOp::create(b, loc, 0));
  if (isa<RankedTensorType>(type))
    return tensor::EmptyOp::create(b, loc, cast<RankedTensorType>(type), sizes);
  auto memref = cast<MemRefType>(type);
  auto plain = MemRefType::get(memref.getShape(), memref.getElementType(),
                               MemRefLayoutAttrInterface(), memref.getMemorySpace());
  Value buffer = memref::AllocOp::create(b, loc, plain, sizes);
  return plain == memref ? buffer : memref::CastOp::create(b, loc, memref, buffer).getResult();
}

LogicalResult eraseBehind(Operation *op, RewriterBase &rewriter) {
  Block *block = op->getBlock();
  if (!block || !block->getParent()->hasOneBlock() || !block->mightHaveTerminator())
    return failure();
  Operation *end = block->getTerminator();
  if (op == end || op->getNextNode() == end) return failure();
  auto isBehind = [&](Value value) {
    Operation *source = value.getDefiningOp();
    return source && source->getBlock() == block && op->isBeforeInBlock(source);
  };
  for (Value value : end->getOperands())
    if (isBehind(value) && !hasStandIn(value.getType())) return failure();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : end->getOpOperands())
    if (isBehind(operand.get())) {
      Value value = standIn(rewriter, op->getLoc(), operand.get().getType());
      rewriter.modifyOpInPlace(end, [&] { operand.set(value); });
    }
  while (end->getPrevNode() != op) rewriter.eraseOp(end->getPrevNode());
  return success();
}

/// A check that holds says nothing; one that fails is the end.
LogicalResult CheckSizesOp::canonicalize(CheckSizesOp op, PatternRewriter &rewriter) {
  APInt holds;
  if (!matchPattern(op.getHolds(), m_ConstantInt(&holds))) return failure();
  if (holds.isZero()) return eraseBehind(op, rewriter);
  rewriter.eraseOp(op);
  return success();
}

LogicalResult LeaveOp::canonicalize(LeaveOp op, PatternRewriter &rewriter) {
  const bool goesOn = op.getKind() == LeaveKind::print || op.getKind() == LeaveKind::host ||
                      op.getKind() == LeaveKind::interrupt || op.getKind() == LeaveKind::routine;
  if (goesOn) return failure();
  return eraseBehind(op, rewriter);
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

/// A message has as many {} as sizes; one without sizes may be any text.
static LogicalResult verifyText(Operation *op, StringRef text, size_t sizes) {
  const size_t places = text.count("{}");
  if (sizes == 0 || places == sizes) return success();
  return op->emitOpError() << "has " << places << " {} in its text for " << sizes << " sizes";
}

/// Whether a weft.leave of that kind says something of sizes.
static bool isOfSizes(LeaveKind kind) {
  return kind == LeaveKind::shape || kind == LeaveKind::value || kind == LeaveKind::bounds;
}

LogicalResult CheckSizesOp::verify() {
  if (!isOfSizes(getError())) return emitOpError("says no error of sizes: shape, value or bounds");
  return verifyText(*this, getText(), getSizes().size());
}

LogicalResult LeaveOp::verify() {
  if (!(*this)->getParentOfType<FunctionOpInterface>())
    return emitOpError("must be in a function, whose call it leaves");
  if ((getVariables() ? getVariables()->size() : 0) != getState().size())
    return emitOpError("wants one value for each variable");
  if ((getKind() == LeaveKind::host) != static_cast<bool>(getGiven()))
    return emitOpError("of kind host, and no other, says what types it gives");
  if (ArrayAttr types = getGivenAttr())
    for (Attribute given : types)
      if (auto type = dyn_cast<TypeAttr>(given); !type || !isWeftTensor(type.getValue()))
        return type ? emitOpError("gives ") << type.getValue() << ", which is no tensor"
                    : emitOpError("gives ") << given << ", which is no tensor";
  auto isIndex = [](Type type) { return type.isIndex(); };
  switch (getKind()) {
  case LeaveKind::index: {
    TypeRange types = getValues().getTypes();
    auto indices = types.empty() ? ShapedType() : dyn_cast<ShapedType>(types.front());
    if (types.size() != 2 || !indices || !indices.hasRank() || !types.back().isIndex() ||
        !(indices.getElementType().isSignlessInteger(32) ||
          indices.getElementType().isSignlessInteger(64)))
      return emitOpError("of kind index wants the indices and the size of the axis");
    return success();
  }
  case LeaveKind::interrupt:
    if (!getValues().empty()) return emitOpError("of kind interrupt takes no values");
    return success();
  case LeaveKind::shape:
  case LeaveKind::value:
  case LeaveKind::bounds:
    if (!llvm::all_of(getValues().getTypes(), isIndex))
      return emitOpError("of kind ") << stringifyLeaveKind(getKind()) << " takes sizes alone";
    return verifyText(*this, getText(), getValues().size());
  case LeaveKind::routine: return verifyRoutine(*this);
  case LeaveKind::assertion:
  case LeaveKind::print:
  case LeaveKind::host:
    for (Type type : getValues().getTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (!shaped || !shaped.hasRank() || !dtypeOf(shaped.getElementType()))
        return emitOpError("takes tensors or buffers of ")
               << dtypesInWords() << ", but not " << type;
    }
    return success();
  }
  return success();
}

} // namespace mlir::weft
