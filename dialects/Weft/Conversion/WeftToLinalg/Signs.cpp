// Widens operands and erases signs in place: regions, block arguments and attributes with them.
#include "Weft/Conversion/WeftToLinalg/Signs.h"

#include "OpDefs/Widening.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

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

void widenOperands(func::FuncOp function) {
  SmallVector<std::pair<Operation *, ::weft::Widened>> found;
  function.walk([&](Operation *op) {
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->widening == ::weft::Widening::none) return;
    const DType dtype = tensorTypeOf(op->getOperand(0).getType()).dtype;
    if (auto widened = ::weft::widened(*info, dtype)) found.emplace_back(op, *widened);
  });
  for (auto [op, wide] : found) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    Type narrow = getElementTypeOrSelf(op->getOperand(0).getType());
    for (OpOperand &operand : op->getOpOperands())
      if (getElementTypeOrSelf(operand.get().getType()) == narrow)
        operand.set(shifted(b, loc, castTo(b, loc, operand.get(), wide.dtype), wide.shift));
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    if (type.getElementType() != narrow) continue;
    result.setType(type.clone(elementTypeOf(wide.dtype, b.getContext())));
    b.setInsertionPointAfter(op);
    Value moved = shifted(b, loc, result, wide.shift);
    Value back = castTo(b, loc, moved, wide.narrow);
    back.setType(type);
    result.replaceUsesWithIf(back, [&](OpOperand &use) {
      return use.getOwner() != back.getDefiningOp() && use.getOwner() != moved.getDefiningOp();
    });
  }
}

//===----------------------------------------------------------------------===//
// Signs
//===----------------------------------------------------------------------===//

/// The numbers of those that have unsigned elements.
static DenseI64ArrayAttr unsignedOnes(TypeRange types, Builder &b) {
  SmallVector<int64_t> numbers;
  for (auto [i, type] : llvm::enumerate(types))
    if (isUnsigned(type)) numbers.push_back(static_cast<int64_t>(i));
  return numbers.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(numbers);
}

static void note(Operation *op, StringRef name, TypeRange types) {
  Builder b(op->getContext());
  if (DenseI64ArrayAttr numbers = unsignedOnes(types, b)) op->setAttr(name, numbers);
}

/// Of ops that show their values to the library.
template <class... Ops>
static void noteValues(Operation *op) {
  const auto noteOf = [&](auto shown) {
    if (shown) note(op, kUnsigned, shown.getValues().getTypes());
  };
  (noteOf(dyn_cast<Ops>(op)), ...);
}

/// What the op says by attributes of its result.
static void eraseInAttributes(Operation *op) {
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        elements && isUnsigned(elements.getType()))
      constant->setAttr("value", elements.bitcast(withoutSign(elements.getElementType())));
  } else if (auto constant = dyn_cast<arith::ConstantOp>(op)) {
    if (auto elements = dyn_cast<DenseElementsAttr>(constant.getValue());
        elements && isUnsigned(elements.getType()))
      constant.setValueAttr(
          cast<TypedAttr>(elements.bitcast(withoutSign(elements.getElementType()))));
  } else if (auto dtype = op->getAttrOfType<TypeAttr>("dtype"); dtype && opInfoOf(op)) {
    op->setAttr("dtype", TypeAttr::get(withoutSign(dtype.getValue())));
  }
}

llvm::DenseMap<Operation *, Signs> eraseSigns(func::FuncOp function) {
  llvm::DenseMap<Operation *, Signs> signs;
  bool any = false;
  const auto hasUnsigned = [](TypeRange types) { return llvm::any_of(types, isUnsigned); };
  function.walk([&](Operation *op) {
    const bool operands = hasUnsigned(op->getOperandTypes()),
               results = hasUnsigned(op->getResultTypes());
    if (!operands && !results) return;
    any = true;
    if (opInfoOf(op))
      signs[op] = {.operandsUnsigned = operands && isUnsigned(op->getOperands().back().getType()),
                   .resultUnsigned = results};
    noteValues<PrintOp, AssertOp, LeaveOp>(op);
    if (auto call = dyn_cast<HostCallOp>(op)) {
      note(op, kUnsigned, call.getValues().getTypes());
      note(op, kUnsignedResults, call.getGiven().getTypes());
    }
    if (results) eraseInAttributes(op);
  });
  note(function, kUnsigned, function.getArgumentTypes());
  note(function, kUnsignedResults, function.getResultTypes());
  const auto erase = [](ValueRange values) {
    for (Value value : values) value.setType(withoutSign(value.getType()));
  };
  if (!any && !hasUnsigned(function.getArgumentTypes())) return signs;
  function.walk([&](Operation *op) {
    erase(op->getResults());
    for (Region &region : op->getRegions())
      for (Block &block : region) erase(block.getArguments());
  });
  const auto types = [](TypeRange from) {
    return llvm::map_to_vector(from, [](Type type) { return withoutSign(type); });
  };
  function.setFunctionType(FunctionType::get(
      function.getContext(), types(function.getArgumentTypes()), types(function.getResultTypes())));
  return signs;
}

} // namespace mlir::weft
