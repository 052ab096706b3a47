// Counts the iterations of scf.for.
#include "Weft/AD/Iterations.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <limits>

namespace mlir::weft {

// Bounds of traced loops are elements of cast constant tensors, which nothing has folded yet.
std::optional<APInt> constantOf(Value value) {
  SmallVector<Type> casts; // the last first
  for (;;) {
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>()) {
      casts.push_back(cast.getType());
      value = cast.getIn();
    } else if (auto item = value.getDefiningOp<ItemOp>()) {
      value = item.getX();
    } else if (auto cast = value.getDefiningOp<CastOp>()) {
      // To i1 a number is not cut off, and from i1 it has no sign.
      Type from = getElementTypeOrSelf(cast.getX().getType()),
           to = getElementTypeOrSelf(cast.getType());
      if (!from.isInteger() || !to.isInteger() || from.isInteger(1) || to.isInteger(1))
        return std::nullopt;
      casts.push_back(to);
      value = cast.getX();
    } else {
      break;
    }
  }
  APInt number;
  if (!matchPattern(value, m_ConstantInt(&number))) {
    DenseElementsAttr elements;
    if (!matchPattern(value, m_Constant(&elements)) || !elements.getElementType().isInteger() ||
        elements.getNumElements() != 1)
      return std::nullopt;
    number = *elements.value_begin<APInt>();
  }
  for (Type type : llvm::reverse(casts)) {
    auto integer = dyn_cast<IntegerType>(type);
    if (!integer && !isa<IndexType>(type)) return std::nullopt;
    number = number.sextOrTrunc(integer ? integer.getWidth() : IndexType::kInternalStorageBitWidth);
  }
  return number;
}

static bool isConstant(Value value, int64_t number) {
  std::optional<APInt> known = constantOf(value);
  return known && known->getSExtValue() == number;
}

static Value asIndex(OpBuilder &b, Location location, Value number) {
  if (isa<IndexType>(number.getType())) return number;
  return arith::IndexCastUIOp::create(b, location, b.getIndexType(), number);
}

Iterations Iterations::of(OpBuilder &b, scf::ForOp loop) {
  Location location = loop.getLoc();
  Value low = loop.getLowerBound(), high = loop.getUpperBound(), step = loop.getStep();
  std::optional<APInt> knownLow = constantOf(low), knownHigh = constantOf(high),
                       knownStep = constantOf(step);
  if (knownLow && knownHigh && knownStep && !knownStep->isZero()) {
    const bool some = loop.getUnsignedCmp() ? knownLow->ult(*knownHigh) : knownLow->slt(*knownHigh);
    APInt count(knownLow->getBitWidth(), 0);
    if (some)
      count = llvm::APIntOps::RoundingUDiv(*knownHigh - *knownLow, *knownStep, APInt::Rounding::UP);
    const auto known = static_cast<int64_t>(
        std::min(count.getZExtValue(), static_cast<uint64_t>(std::numeric_limits<int64_t>::max())));
    return {arith::ConstantIndexOp::create(b, location, known), known};
  }
  // The difference is right as an unsigned number, however far the bounds are apart.
  Value length = isConstant(low, 0) ? high : arith::SubIOp::create(b, location, high, low);
  Value count =
      isConstant(step, 1) ? length : arith::CeilDivUIOp::create(b, location, length, step);
  Value none = arith::ConstantOp::create(b, location, b.getZeroAttr(low.getType()));
  Value some = arith::CmpIOp::create(
      b, location, loop.getUnsignedCmp() ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt,
      low, high);
  count = arith::SelectOp::create(b, location, some, count, none);
  return {asIndex(b, location, count), std::nullopt};
}

Value iterationOf(OpBuilder &b, scf::ForOp loop) {
  Location location = loop.getLoc();
  Value iteration = loop.getInductionVar();
  if (!isConstant(loop.getLowerBound(), 0))
    iteration = arith::SubIOp::create(b, location, iteration, loop.getLowerBound());
  if (!isConstant(loop.getStep(), 1))
    iteration = arith::DivUIOp::create(b, location, iteration, loop.getStep());
  return asIndex(b, location, iteration);
}

Value inductionVarOf(OpBuilder &b, scf::ForOp loop, Value iteration) {
  Location location = loop.getLoc();
  Type type = loop.getInductionVar().getType();
  if (type != iteration.getType())
    iteration = arith::IndexCastUIOp::create(b, location, type, iteration);
  if (!isConstant(loop.getStep(), 1))
    iteration = arith::MulIOp::create(b, location, iteration, loop.getStep());
  if (!isConstant(loop.getLowerBound(), 0))
    iteration = arith::AddIOp::create(b, location, iteration, loop.getLowerBound());
  return iteration;
}

} // namespace mlir::weft
