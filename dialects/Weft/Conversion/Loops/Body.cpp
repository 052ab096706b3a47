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

bool mlir::weft::hasVectorForm(Operation &op) {
  if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp>(op)) return true;
  // There are no such instructions; and lanes behind the last element must not trap.
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
          arith::CeilDivSIOp, arith::CeilDivUIOp>(op))
    return false;
  return !isa<memref::LoadOp>(op);
}

bool mlir::weft::isVectorizableBody(Block &body) {
  for (Operation &op : body) {
    if (isa<linalg::IndexOp, linalg::YieldOp, arith::ConstantOp, memref::LoadOp>(op)) continue;
    if (!OpTrait::hasElementwiseMappableTraits(&op) || op.getNumRegions() != 0) return false;
    if (!llvm::all_of(op.getResultTypes(),
                      [](Type type) { return VectorType::isValidElementType(type); }))
      return false;
  }
  return true;
}

LaneSteps::LaneSteps(Block &body, unsigned laneDim,
                     llvm::function_ref<bool(unsigned argument)> isSame) {
  for (BlockArgument argument : body.getArguments())
    if (isSame(argument.getArgNumber())) steps_[argument] = 0;
  for (Operation &op : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(op)) {
      steps_[index] = index.getDim() == laneDim ? 1 : 0;
    } else if (llvm::all_of(op.getOperands(), [&](Value v) { return of(v) == 0; })) {
      for (Value result : op.getResults()) steps_[result] = 0;
    } else if (isa<arith::AddIOp, arith::SubIOp>(op) && op.getResult(0).getType().isIndex()) {
      std::optional<int64_t> lhs = of(op.getOperand(0)), rhs = of(op.getOperand(1));
      if (lhs && rhs) steps_[op.getResult(0)] = isa<arith::AddIOp>(op) ? *lhs + *rhs : *lhs - *rhs;
    }
  }
}

std::optional<int64_t> LaneSteps::of(Value value) const {
  auto known = steps_.find(value);
  if (known != steps_.end()) return known->second;
  // What comes from around the body is the same everywhere.
  Operation *definition = value.getDefiningOp();
  const bool inside = isa<BlockArgument>(value)
                          ? isa<linalg::LinalgOp>(value.getParentBlock()->getParentOp())
                          : isa<linalg::LinalgOp>(definition->getParentOp());
  return inside ? std::nullopt : std::optional<int64_t>(0);
}

std::optional<int64_t> LaneSteps::ofLoad(memref::LoadOp load) const {
  OperandRange at = load.getIndices();
  if (llvm::all_of(at, [&](Value v) { return of(v) == 0; })) return 0;
  MemRefType type = load.getMemRefType();
  if (!type.isLastDimUnitStride() ||
      !llvm::all_of(at.drop_back(), [&](Value v) { return of(v) == 0; }))
    return std::nullopt;
  std::optional<int64_t> step = of(at.back());
  return step && (*step == 1 || *step == -1) ? step : std::nullopt;
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

/// One op per lane.
void cloneByLane(OpBuilder &builder, Operation &op, IRMapping &map, int64_t lanes) {
  Location loc = op.getLoc();
  SmallVector<SmallVector<Value>> results(op.getNumResults());
  for (int64_t lane = 0; lane < lanes; ++lane) {
    IRMapping mine;
    for (Value operand : op.getOperands()) {
      Value value = map.lookupOrDefault(operand);
      if (isa<VectorType>(value.getType()))
        value = vector::ExtractOp::create(builder, loc, value, lane);
      mine.map(operand, value);
    }
    for (auto [elements, result] : llvm::zip_equal(results, builder.clone(op, mine)->getResults()))
      elements.push_back(result);
  }
  for (auto [elements, result] : llvm::zip_equal(results, op.getResults())) {
    auto type = VectorType::get({lanes}, result.getType());
    map.map(result, vector::FromElementsOp::create(builder, loc, type, elements).getResult());
  }
}

/// Lane 0 of an index in a body, which steps from lane to lane.
Value firstLane(OpBuilder &builder, Value value, const IRMapping &map,
                const BodyArguments &arguments) {
  Value mapped = map.lookupOrDefault(value);
  if (!isa<VectorType>(mapped.getType())) return mapped;
  if (auto index = value.getDefiningOp<linalg::IndexOp>()) return arguments.indices[index.getDim()];
  Operation *op = value.getDefiningOp();
  Value lhs = firstLane(builder, op->getOperand(0), map, arguments);
  Value rhs = firstLane(builder, op->getOperand(1), map, arguments);
  return cloneOn(builder, *op, {lhs, rhs}, lhs.getType())->getResult(0);
}

/// A load whose lanes may lie in one run.
void cloneLoad(OpBuilder &builder, memref::LoadOp load, IRMapping &map,
               const BodyArguments &arguments, const LaneSteps &steps) {
  Location loc = load.getLoc();
  const std::optional<int64_t> step = steps.ofLoad(load);
  if (step && *step == 0) {
    builder.clone(*load, map);
    return;
  }
  // A bool is a byte in memory, of which there are no vectors.
  if (!step || load.getMemRefType().getElementType().isInteger(1))
    return cloneByLane(builder, *load, map, arguments.lanes);
  SmallVector<Value> at;
  for (Value index : load.getIndices()) at.push_back(firstLane(builder, index, map, arguments));
  if (*step < 0) {
    Value back = arith::ConstantIndexOp::create(builder, loc, arguments.lanes - 1);
    at.back() = arith::SubIOp::create(builder, loc, at.back(), back);
  }
  auto type = VectorType::get({arguments.lanes}, load.getMemRefType().getElementType());
  Value value = vector::LoadOp::create(builder, loc, type, load.getMemRef(), at);
  if (*step < 0) {
    SmallVector<int64_t> order =
        llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, arguments.lanes)));
    value = vector::ShuffleOp::create(builder, loc, value, value, order);
  }
  map.map(load.getResult(), value);
}

} // namespace

SmallVector<Value, 2> mlir::weft::buildBody(OpBuilder &builder, Block &body,
                                            const BodyArguments &arguments) {
  IRMapping map;
  map.map(body.getArguments(), ValueRange(arguments.values));
  std::optional<LaneSteps> steps;
  auto isOutput = [&](Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto loops = dyn_cast<linalg::LinalgOp>(body.getParentOp());
    return argument && loops && argument.getOwner() == &body &&
           argument.getArgNumber() >= loops.getNumDpsInputs();
  };
  for (Operation &op : body.without_terminator()) {
    if (llvm::is_contained(arguments.leftOut, &op)) {
      const unsigned element = isOutput(op.getOperand(0)) ? 1 : 0;
      map.map(op.getResult(0), map.lookupOrDefault(op.getOperand(element)));
      continue;
    }
    auto index = dyn_cast<linalg::IndexOp>(op);
    if (!index) {
      auto load = dyn_cast<memref::LoadOp>(op);
      if (arguments.lanes == 0) {
        builder.clone(op, map);
      } else if (load) {
        if (!steps)
          steps.emplace(body, arguments.laneDim, [&](unsigned argument) {
            Value value = arguments.values[argument];
            return !value || !isa<VectorType>(value.getType());
          });
        cloneLoad(builder, load, map, arguments, *steps);
      } else if (!hasVectorForm(op) && llvm::any_of(op.getOperands(), [&](Value operand) {
                   return isa<VectorType>(map.lookupOrDefault(operand).getType());
                 })) {
        cloneByLane(builder, op, map, arguments.lanes);
      } else {
        cloneElementwise(builder, op, map, arguments.lanes);
      }
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

bool mlir::weft::dependsOnOrder(Operation *combiner) {
  return isa<FloatType>(combiner->getResult(0).getType()) &&
         !isa<arith::MaximumFOp, arith::MinimumFOp>(combiner);
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
