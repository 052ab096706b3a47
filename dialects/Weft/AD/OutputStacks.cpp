// State of a counted loop that only collects what its iterations give, each at a place of its own.
#include "Weft/AD/OutputStacks.h"

#include "Weft/AD/Context.h"
#include "Weft/AD/Iterations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

/// Whether all iterations of the loop have the same value.
static bool isInvariant(Value value, scf::ForOp loop) {
  llvm::SetVector<Value> needed;
  needed.insert(value);
  for (size_t i = 0; i < needed.size(); ++i) {
    if (!isInside(needed[i], loop)) continue;
    Operation *source = needed[i].getDefiningOp();
    if (!source || source->getNumRegions() != 0 || !isMemoryEffectFree(source)) return false;
    needed.insert_range(source->getOperands());
  }
  return true;
}

static unsigned widthOf(Type type) {
  type = getElementTypeOrSelf(type);
  if (type.isIndex()) return IndexType::kInternalStorageBitWidth;
  return type.isInteger() ? type.getIntOrFloatBitWidth() : 0;
}

/// Whether the op takes a number out of a tensor of one element, or makes one of it.
static bool movesNumber(Operation *op) {
  return isa<tensor::FromElementsOp, tensor::ExtractOp, ItemOp>(op) && op->getNumOperands() == 1;
}

static bool castsNumber(Operation *op) {
  return isa<arith::IndexCastOp, arith::IndexCastUIOp, CastOp>(op);
}

/// With how many bits the iterations of the loop can be counted: those of its bounds, before casts
/// that only make them wider.
static unsigned bitsOfIterations(scf::ForOp loop) {
  if (loop.getUnsignedCmp()) return IndexType::kInternalStorageBitWidth;
  auto bitsOf = [](Value bound) {
    if (std::optional<APInt> known = constantOf(bound)) return known->getSignificantBits();
    unsigned bits = widthOf(bound.getType());
    while (Operation *source = bound.getDefiningOp()) {
      if (!movesNumber(source) && !castsNumber(source)) break;
      bound = source->getOperand(0);
      const unsigned width = widthOf(bound.getType());
      if (width <= 1) break;
      bits = std::min(bits, width);
    }
    return bits;
  };
  return std::max(bitsOf(loop.getLowerBound()), bitsOf(loop.getUpperBound()));
}

/// With how many bits less than it has a scalar tells apart the iterations of a loop: it is the
/// induction variable times a constant, an invariant apart. Such numbers wrap, and still differ.
/// Nothing if that is not seen.
static std::optional<unsigned> bitsLost(Value value, scf::ForOp loop, unsigned depth = 0) {
  constexpr unsigned deepest = 10; // two ways may be looked at in each
  if (value == loop.getInductionVar()) return 0;
  Operation *source = value.getDefiningOp();
  if (depth == deepest || !source || source->getBlock() != loop.getBody() ||
      source->getNumOperands() == 0 || widthOf(value.getType()) <= 1)
    return std::nullopt;
  auto tensor = dyn_cast<RankedTensorType>(value.getType());
  if (tensor && tensor.getRank() != 0) return std::nullopt;
  auto lostIn = [&](unsigned operand) {
    return bitsLost(source->getOperand(operand), loop, depth + 1);
  };
  if (movesNumber(source)) return lostIn(0);
  if (castsNumber(source)) {
    std::optional<unsigned> lost = lostIn(0);
    const unsigned from = widthOf(source->getOperand(0).getType()), to = widthOf(value.getType());
    return lost && to > from ? *lost + to - from : lost;
  }
  if (isa<arith::AddIOp, arith::SubIOp>(source) || source->hasTrait<TellsApart>()) {
    if (isInvariant(source->getOperand(1), loop)) return lostIn(0);
    return isInvariant(source->getOperand(0), loop) ? lostIn(1) : std::nullopt;
  }
  if (isa<arith::MulIOp, MultiplyOp>(source))
    for (unsigned operand : {0, 1}) {
      std::optional<APInt> factor = constantOf(source->getOperand(1 - operand));
      if (!factor || factor->isZero()) continue;
      if (std::optional<unsigned> lost = lostIn(operand)) return *lost + factor->countr_zero();
    }
  return std::nullopt;
}

/// Whether no two iterations of the loop have the same number `value`, a scalar.
static bool differsByIteration(Value value, scf::ForOp loop) {
  std::optional<unsigned> lost = bitsLost(value, loop);
  // More iterations than that nobody lives to see.
  constexpr unsigned mostIterations = 48;
  return lost &&
         std::min(bitsOfIterations(loop), mostIterations) + *lost <= widthOf(value.getType());
}

/// Whether the op reads no element of a tensor operand.
static bool looksAtSizes(Operation *op) { return isa<tensor::DimOp, SizeOp>(op); }

UpdateSliceOp outputOf(scf::ForOp loop, unsigned number) {
  auto update = loop.getBody()->getTerminator()->getOperand(number).getDefiningOp<UpdateSliceOp>();
  Value state = loop.getRegionIterArg(number);
  if (!update || update->getBlock() != loop.getBody() || update.getX() != state ||
      update.getValue() == state || !update->hasOneUse())
    return {};
  for (Operation *user : state.getUsers())
    if (user != update && !looksAtSizes(user)) return {};
  if (!differsByIteration(update.getIndex(), loop)) return {};
  return update;
}

bool canLoadOutput(UpdateSliceOp update) {
  auto value = cast<RankedTensorType>(update.getValue().getType()),
       stack = cast<RankedTensorType>(update.getType());
  return update.getAxis() == 0 && value.hasStaticShape() &&
         stack.getShape().drop_front() == value.getShape();
}

Value loadOutput(OpBuilder &b, scf::ForOp loop, UpdateSliceOp update, Value stack,
                 Value inductionVar) {
  IRMapping again;
  again.map(loop.getInductionVar(), inductionVar);
  auto repeat = [&](auto &&self, Value value) -> void {
    Operation *source = value.getDefiningOp();
    if (again.contains(value) || !source || !loop->isAncestor(source)) return;
    for (Value operand : source->getOperands()) self(self, operand);
    b.clone(*source, again);
  };
  repeat(repeat, update.getIndex());
  Location location = update.getLoc();
  Value at = ItemOp::create(b, location, getElementTypeOrSelf(update.getIndex().getType()),
                            again.lookupOrDefault(update.getIndex()));
  at = arith::IndexCastOp::create(b, location, b.getIndexType(), at);
  return StackLoadOp::create(b, location, update.getValue().getType(), stack, at, ValueRange());
}

} // namespace mlir::weft
