// Widens operands and erases signs in place: regions, block arguments and attributes with them.
#include "Weft/Conversion/WeftToLinalg/Signs.h"

#include "OpDefs/Widening.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::weft {

using ::weft::DType;
using ::weft::OpCode;

//===----------------------------------------------------------------------===//
// Widening
//===----------------------------------------------------------------------===//

static Value castTo(OpBuilder &b, Location loc, Value x, DType dtype) {
  return buildOp(b, loc, OpCode::cast, x, {dtype});
}

/// The number `shift` more, element by element.
static Value shifted(OpBuilder &b, Location loc, Value x, std::optional<int64_t> shift) {
  if (!shift) return x;
  Type element = getElementTypeOrSelf(x.getType());
  auto type = RankedTensorType::get({}, element);
  Value number = ConstantOp::create(
      b, loc, type, DenseElementsAttr::get(type, b.getIntegerAttr(element, *shift)));
  return buildOp(b, loc, OpCode::add, {x, number}, {});
}

/// Does an op in the dtype in which it is computed.
static void widenOp(Operation *op, const ::weft::Widened &wide) {
  OpBuilder b(op);
  Location loc = op->getLoc();
  Type narrow = getElementTypeOrSelf(op->getOperand(0).getType());
  for (OpOperand &operand : op->getOpOperands())
    if (getElementTypeOrSelf(operand.get().getType()) == narrow)
      operand.set(shifted(b, loc, castTo(b, loc, operand.get(), wide.dtype), wide.shift));
  b.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getElementType() != narrow) continue;
    result.setType(type.clone(elementTypeOf(wide.dtype, b.getContext())));
    Value moved = shifted(b, loc, result, wide.shift);
    Value back = castTo(b, loc, moved, wide.narrow);
    back.setType(type);
    result.replaceUsesWithIf(back, [&](OpOperand &use) {
      return use.getOwner() != back.getDefiningOp() && use.getOwner() != moved.getDefiningOp();
    });
  }
}

/// The integers of an iota, rounded once each.
static void widenIota(IotaOp iota) {
  OpBuilder b(iota);
  RankedTensorType type = iota.getType();
  iota.setDtype(b.getI64Type());
  iota.getResult().setType(type.clone(b.getI64Type()));
  b.setInsertionPointAfter(iota);
  Value rounded = castTo(b, iota.getLoc(), iota, *dtypeOf(type.getElementType()));
  rounded.setType(type);
  iota.getResult().replaceAllUsesExcept(rounded, rounded.getDefiningOp());
}

/// Sums of products of two tensors of floats of 16 bits, as of matrices and in convolutions: their
/// lowering widens each number where it is read.
static bool isNarrowProduct(Operation *op, ::weft::Widening widening) {
  using ::weft::Widening;
  if (op->getNumOperands() != 2 || (widening != Widening::product && widening != Widening::ring))
    return false;
  const auto typeOf = [&](int64_t i) {
    return cast<RankedTensorType>(op->getOperand(i).getType());
  };
  FloatType format = narrowFormat(typeOf(0));
  return format && format.getWidth() == 16 && narrowFormat(typeOf(1)) == format &&
         (typeOf(0).getRank() > 1 || typeOf(1).getRank() > 1);
}

void widenOperands(func::FuncOp function, bool withoutLibrary) {
  SmallVector<std::pair<Operation *, ::weft::Widened>> found;
  function.walk([&](Operation *op) {
    if (auto iota = dyn_cast<IotaOp>(op); iota && narrowFormat(iota.getType())) widenIota(iota);
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->widening == ::weft::Widening::none) return;
    const bool isProduct = info->widening == ::weft::Widening::product;
    if (withoutLibrary && isNarrowProduct(op, info->widening)) return;
    const auto types =
        llvm::map_to_vector(op->getOperands().take_front(isProduct ? 2 : 1),
                            [](Value operand) { return tensorTypeOf(operand.getType()); });
    if (auto widened = ::weft::widened(*info, types, !withoutLibrary))
      found.emplace_back(op, *widened);
  });
  for (auto [op, wide] : found) widenOp(op, wide);
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// Of ops that show their values to the library.
template <class... Ops>
static void noteValues(Operation *op) {
  const auto noteOf = [&](auto shown) {
    if (shown) noteElements(op, kElements, shown.getValues().getTypes());
  };
  (noteOf(dyn_cast<Ops>(op)), ...);
}

/// What the op says by attributes of its result.
static void eraseInAttributes(Operation *op) {
  const auto erased = [](Attribute value) -> DenseElementsAttr {
    auto elements = dyn_cast<DenseElementsAttr>(value);
    if (!elements || !isStoredOtherwise(elements.getElementType())) return {};
    return elements.bitcast(storageType(elements.getElementType()));
  };
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (DenseElementsAttr elements = erased(constant.getValue()))
      constant->setAttr("value", elements);
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (DenseElementsAttr elements = erased(constant.getValue()))
      constant.setValueAttr(cast<TypedAttr>(elements));
  } else if (auto dtype = op->getAttrOfType<TypeAttr>("dtype"); dtype && opInfoOf(op)) {
    op->setAttr("dtype", TypeAttr::get(storageType(dtype.getValue())));
  }
}

/// Whether an op of upstream's computes with floats of 16 or 8 bits, which become integers.
static bool computesIn16Bits(Operation *op) {
  const auto is16Bits = [](Type type) { return bool(narrowFormat(type)); };
  return isa<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
         !isa<arith::SelectOp>(op) &&
         !(isa<arith::ConstantOp>(op) && isa<RankedTensorType>(op->getResult(0).getType())) &&
         (llvm::any_of(op->getOperandTypes(), is16Bits) ||
          llvm::any_of(op->getResultTypes(), is16Bits));
}

/// The format of the first of the types that is one of floats of 16 or 8 bits.
static FloatType formatOf(TypeRange types) {
  for (Type type : types)
    if (FloatType format = narrowFormat(type)) return format;
  return {};
}

FailureOr<llvm::DenseMap<Operation *, Signs>> eraseSigns(func::FuncOp function,
                                                         bool convertsFloats) {
  llvm::DenseMap<Operation *, Signs> signs;
  bool any = false;
  const auto isAny = [](TypeRange types) { return llvm::any_of(types, isStoredOtherwise); };
  const WalkResult walk = function.walk([&](Operation *op) {
    const bool operands = isAny(op->getOperandTypes()), results = isAny(op->getResultTypes());
    if (!operands && !results) return WalkResult::advance();
    if (computesIn16Bits(op)) {
      op->emitOpError(
          "computes with floats of 16 or 8 bits, which only ops of the weft dialect do");
      return WalkResult::interrupt();
    }
    any = true;
    if (isa<WeftDialect>(op->getDialect())) {
      signs[op] = {.operandsUnsigned = operands && isUnsigned(op->getOperands().back().getType()),
                   .resultUnsigned = llvm::any_of(op->getResultTypes(), isUnsigned),
                   .operandFormat = formatOf(op->getOperandTypes()),
                   .resultFormat = formatOf(op->getResultTypes()),
                   .convertsFloats = convertsFloats};
    }
    noteValues<PrintOp, AssertOp, LeaveOp>(op);
    if (auto call = dyn_cast<HostCallOp>(op)) {
      noteElements(op, kElements, call.getValues().getTypes());
      noteElements(op, kResultElements, call.getGiven().getTypes());
    }
    if (results) eraseInAttributes(op);
    return WalkResult::advance();
  });
  if (walk.wasInterrupted()) return failure();
  noteElements(function, kElements, function.getArgumentTypes());
  noteElements(function, kResultElements, function.getResultTypes());
  const auto erase = [](ValueRange values) {
    for (Value value : values) value.setType(storageType(value.getType()));
  };
  if (!any && !isAny(function.getArgumentTypes())) return signs;
  function.walk([&](Operation *op) {
    erase(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region) erase(block.getArguments());
  });
  const auto types = [](TypeRange from) {
    return llvm::map_to_vector(from, [](Type type) { return storageType(type); });
  };
  function.setFunctionType(FunctionType::get(
      function.getContext(), types(function.getArgumentTypes()), types(function.getResultTypes())));
  return signs;
}

} // namespace mlir::weft
