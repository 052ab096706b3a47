// Neutral elements, shuffles and shared memory.
#include "Weft/Conversion/LoopsToGpu/Combining.h"
#include "Weft/Conversion/LoopsToGpu/KernelBody.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

/// The element that changes nothing; null for an op that has none.
static TypedAttr neutralOf(Operation *combiner) {
  Type type = combiner->getResult(0).getType();
  OpBuilder b(combiner->getContext());
  if (auto number = dyn_cast<FloatType>(type)) {
    const llvm::fltSemantics &format = number.getFloatSemantics();
    auto given = [&](const APFloat &value) { return TypedAttr(b.getFloatAttr(type, value)); };
    return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
        .Case([&](arith::AddFOp) { return given(APFloat::getZero(format, /*Negative=*/true)); })
        .Case([&](arith::MulFOp) { return given(APFloat::getOne(format)); })
        .Case([&](arith::MaximumFOp) { return given(APFloat::getInf(format, /*Negative=*/true)); })
        .Case([&](arith::MinimumFOp) { return given(APFloat::getInf(format)); })
        .Case<arith::MaxNumFOp, arith::MinNumFOp>(
            [&](auto) { return given(APFloat::getNaN(format)); })
        .Default(TypedAttr());
  }
  if (!type.isInteger()) return {};
  const unsigned bits = type.getIntOrFloatBitWidth();
  auto given = [&](const APInt &value) { return TypedAttr(b.getIntegerAttr(type, value)); };
  return llvm::TypeSwitch<Operation *, TypedAttr>(combiner)
      .Case<arith::AddIOp, arith::OrIOp, arith::XOrIOp, arith::MaxUIOp>(
          [&](auto) { return given(APInt::getZero(bits)); })
      .Case([&](arith::MulIOp) { return given(APInt(bits, 1)); })
      .Case<arith::AndIOp, arith::MinUIOp>([&](auto) { return given(APInt::getAllOnes(bits)); })
      .Case([&](arith::MaxSIOp) { return given(APInt::getSignedMinValue(bits)); })
      .Case([&](arith::MinSIOp) { return given(APInt::getSignedMaxValue(bits)); })
      .Default(TypedAttr());
}

SmallVector<Operation *> combinersOf(linalg::GenericOp op) {
  SmallVector<Operation *> combiners;
  for (auto [argument, value] :
       llvm::zip_equal(op.getRegionOutputArgs(), op.getBody()->getTerminator()->getOperands())) {
    Operation *combiner = value.getDefiningOp();
    if (!combiner || combiner->getBlock() != op.getBody() || combiner->getNumOperands() != 2 ||
        !value.hasOneUse() || !argument.hasOneUse() || *argument.getUsers().begin() != combiner ||
        !value.getType().isIntOrFloat() || value.getType().getIntOrFloatBitWidth() > 64 ||
        !neutralOf(combiner))
      return {};
    combiners.push_back(combiner);
  }
  return combiners;
}

SmallVector<Type> Combining::types() const {
  return llvm::map_to_vector(combiners, [](Operation *op) { return op->getResult(0).getType(); });
}

Combining::Values Combining::neutral() {
  return llvm::map_to_vector(combiners, [&](Operation *combiner) -> Value {
    return arith::ConstantOp::create(b, neutralOf(combiner));
  });
}

Value Combining::combine(size_t result, Value one, Value other) {
  Operation *made = b.clone(*combiners[result]);
  made->setOperands({one, other});
  return made->getResult(0);
}

Combining::Values Combining::combine(const Values &ones, const Values &others) {
  Values made;
  for (size_t i = 0; i < ones.size(); ++i) made.push_back(combine(i, ones[i], others[i]));
  return made;
}

/// What the thread has whose number differs in `mask`.
Value Combining::fromLane(Value value, int64_t mask) {
  Type type = value.getType();
  const unsigned bits = type.getIntOrFloatBitWidth();
  Type sameBits = b.getIntegerType(bits), word = b.getI32Type();
  Value asBits = type.isInteger() ? value : arith::BitcastOp::create(b, sameBits, value);
  auto shuffle = [&](Value of) -> Value {
    return gpu::ShuffleOp::create(b, of, static_cast<int32_t>(mask), kWarp, gpu::ShuffleMode::XOR)
        .getShuffleResult();
  };
  Value got;
  if (bits == 32) {
    got = shuffle(asBits);
  } else if (bits < 32) {
    got = arith::TruncIOp::create(b, sameBits, shuffle(arith::ExtUIOp::create(b, word, asBits)));
  } else { // 64
    Value shift = arith::ConstantOp::create(b, b.getIntegerAttr(sameBits, 32));
    Value high = arith::ShRUIOp::create(b, asBits, shift);
    Value low = shuffle(arith::TruncIOp::create(b, word, asBits));
    high = shuffle(arith::TruncIOp::create(b, word, high));
    high = arith::ShLIOp::create(b, arith::ExtUIOp::create(b, sameBits, high), shift);
    got = arith::OrIOp::create(b, arith::ExtUIOp::create(b, sameBits, low), high);
  }
  return type.isInteger() ? got : arith::BitcastOp::create(b, type, got).getResult();
}

Combining::Values Combining::acrossLanes(Values partial, int64_t threads) {
  for (int64_t mask = threads / 2; mask > 0; mask /= 2)
    for (size_t i = 0; i < partial.size(); ++i)
      partial[i] = combine(i, partial[i], fromLane(partial[i], mask));
  return partial;
}

SmallVector<Value> Combining::shared(gpu::LaunchOp launch, ArrayRef<int64_t> shape) {
  return llvm::map_to_vector(types(), [&](Type type) { return sharedMemory(launch, shape, type); });
}

} // namespace mlir::weft
