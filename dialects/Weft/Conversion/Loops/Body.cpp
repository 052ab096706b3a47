// Scalar bodies on elements and on vectors; which ops combine, and with what neutral element.

#include "Weft/Conversion/Loops/Body.h"

#include "Weft/Conversion/Loops/LoopNest.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::weft;

int64_t mlir::weft::costOf(Operation &op) {
  if (isa<arith::ConstantOp, linalg::IndexOp>(op)) return 0;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::RemSIOp, math::SqrtOp>(op)) return 4;
  if (isa<math::AbsFOp, math::FloorOp, math::CeilOp, math::FmaOp, math::CopySignOp>(op)) return 1;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect())) return 20;
  if (op.getNumRegions() != 0) return 20;
  return 1;
}

bool mlir::weft::isVectorizableBody(Block &body) {
  for (Operation &op : body) {
    if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp>(op)) continue;
    // There are no such vector instructions: one element at a time is shorter and no slower.
    if (isa<arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp,
            arith::FloorDivSIOp, arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
      return false;
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() != 0) return false;
    if (!llvm::all_of(op.getResultTypes(),
                      [](Type type) { return VectorType::isValidElementType(type); }))
      return false;
  }
  return true;
}

Value mlir::weft::toLanes(OpBuilder &builder, Location loc, Value value, int64_t lanes) {
  if (lanes == 0 || isa<VectorType>(value.getType())) return value;
  auto type = VectorType::get({lanes}, value.getType());
  if (auto constant = value.getDefiningOp<arith::ConstantOp>())
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, Attribute(constant.getValue())));
  return vector::BroadcastOp::create(builder, loc, type, value);
}

namespace {

/// The same op, with its attributes, on other operands and of other types.
Operation *cloneOn(OpBuilder &builder, Operation &op, ValueRange operands, TypeRange types) {
  return builder.insert(Operation::create(op.getLoc(), op.getName(), types, operands,
                                          NamedAttrList(op.getDiscardableAttrDictionary()),
                                          op.getPropertiesStorage(), BlockRange(), 0));
}

/// Copies one op whose operands are mapped; as a vector op if any of them is a vector.
void cloneElementwise(OpBuilder &builder, Operation &op, IRMapping &map, int64_t lanes) {
  bool vector = llvm::any_of(op.getOperands(), [&](Value operand) {
    return isa<VectorType>(map.lookupOrDefault(operand).getType());
  });
  if (!vector) {
    builder.clone(op, map);
    return;
  }
  SmallVector<Value, 4> operands;
  for (Value operand : op.getOperands())
    operands.push_back(toLanes(builder, op.getLoc(), map.lookupOrDefault(operand), lanes));
  SmallVector<Type, 1> types;
  for (Type type : op.getResultTypes()) types.push_back(VectorType::get({lanes}, type));
  Operation *copy = cloneOn(builder, op, operands, types);
  map.map(op.getResults(), copy->getResults());
}

} // namespace

SmallVector<Value, 2> mlir::weft::buildBody(OpBuilder &builder, Block &body,
                                            const BodyArguments &arguments) {
  IRMapping map;
  map.map(body.getArguments(), ValueRange(arguments.values));
  for (Operation &op : body.without_terminator()) {
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (!index) {
      if (arguments.lanes == 0) builder.clone(op, map);
      else cloneElementwise(builder, op, map, arguments.lanes);
      continue;
    }
    Value value = arguments.indices[index.getDim()];
    if (arguments.lanes != 0 && arguments.laneDim == static_cast<int64_t>(index.getDim())) {
      auto type = VectorType::get({arguments.lanes}, builder.getIndexType());
      Value base = toLanes(builder, op.getLoc(), value, arguments.lanes);
      SmallVector<int64_t> numbers = llvm::to_vector(llvm::seq<int64_t>(0, arguments.lanes));
      Value step = arith::ConstantOp::create(builder, op.getLoc(),
                                             DenseElementsAttr::get(type, ArrayRef(numbers)));
      value = arith::AddIOp::create(builder, op.getLoc(), base, step);
    }
    map.map(index.getResult(), value);
  }
  SmallVector<Value, 2> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(map.lookupOrDefault(value));
  return results;
}

Value mlir::weft::buildCombine(OpBuilder &builder, Operation *combiner, Value lhs, Value rhs) {
  return cloneOn(builder, *combiner, {lhs, rhs}, {lhs.getType()})->getResult(0);
}

Operation *mlir::weft::findCombiner(linalg::LinalgOp op, unsigned index) {
  Block &body = *op.getBlock();
  BlockArgument output = body.getArgument(op.getNumDpsInputs() + index);
  auto *combiner = body.getTerminator()->getOperand(index).getDefiningOp();
  if (!combiner || combiner->getBlock() != &body || !combiner->hasOneUse()) return nullptr;
  if (!output.hasOneUse() || *output.user_begin() != combiner) return nullptr;
  return neutralElement(combiner) ? combiner : nullptr;
}

TypedAttr mlir::weft::neutralElement(Operation *combiner) {
  if (combiner->getNumResults() != 1) return {};
  Type type = combiner->getResult(0).getType();
  Builder builder(combiner->getContext());
  auto floating = [&](double value) -> TypedAttr { return builder.getFloatAttr(type, value); };
  auto integer = [&](const APInt &value) -> TypedAttr {
    return builder.getIntegerAttr(type, value);
  };
  unsigned bits = type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 64;
  double infinity = std::numeric_limits<double>::infinity();
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      // -0 + x is x for every x; 0 + -0 would be 0.
      .Case([&](arith::AddFOp) { return floating(-0.0); })
      .Case([&](arith::MulFOp) { return floating(1.0); })
      .Case([&](arith::MaximumFOp) { return floating(-infinity); })
      .Case([&](arith::MinimumFOp) { return floating(infinity); })
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](Operation *) { return integer(APInt(bits, 0)); })
      .Case([&](arith::MulIOp) { return integer(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>(
          [&](Operation *) { return integer(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) { return integer(APInt::getSignedMinValue(bits)); })
      .Case([&](arith::MinSIOp) { return integer(APInt::getSignedMaxValue(bits)); })
      .Default([](Operation *) { return TypedAttr(); });
}
