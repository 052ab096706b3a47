// Random numbers: a call of the library later on, or Philox4x32-10 in integers of 64 bits, whose
// words keep their upper halves zero. By rejection: routines of the library, which compare the
// sizes themselves.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

namespace {

/// Builds the code of Philox4x32-10, as lib/Kernels/RandomLevel.cpp has it, on one counter.
class PhiloxBuilder {
public:
  PhiloxBuilder(OpBuilder &builder, Location loc) : b_(loc, builder) {}

  using Words = std::array<Value, 4>;

  /// The words of block `index` of a stream of a seed.
  Words block(Value seed, Value stream, Value index) {
    Words counter{low(index), high(index), low(stream), high(stream)};
    std::array<Value, 2> key{low(seed), high(seed)};
    for (int round = 0; round < 10; ++round) {
      Value a = arith::MulIOp::create(b_, counter[0], number(0xD2511F53));
      Value c = arith::MulIOp::create(b_, counter[2], number(0xCD9E8D57));
      counter = {exclusiveOr(exclusiveOr(high(c), counter[1]), key[0]), low(c),
                 exclusiveOr(exclusiveOr(high(a), counter[3]), key[1]), low(a)};
      key[0] = low(arith::AddIOp::create(b_, key[0], number(0x9E3779B9)));
      key[1] = low(arith::AddIOp::create(b_, key[1], number(0xBB67AE85)));
    }
    return counter;
  }

  /// Words 2 i and 2 i + 1 of a block as one number, the first as its high half.
  Value wide(const Words &words, int i) {
    return arith::OrIOp::create(b_, arith::ShLIOp::create(b_, words[2 * i], number(32)),
                                words[2 * i + 1]);
  }

  /// Element number `at` of a tensor of random numbers.
  Value element(Value seed, Value stream, Value at, Type type) {
    const bool isWide = type.getIntOrFloatBitWidth() == 64;
    Value index = shiftRight(at, isWide ? 1 : 2);
    Words words = block(seed, stream, index);
    Value place = arith::AndIOp::create(b_, at, number(isWide ? 1 : 3));
    if (isWide) {
      Value bits = pick(place, 0, wide(words, 0), wide(words, 1));
      if (type.isInteger()) return bits;
      return unitInterval(shiftRight(bits, 11), type, 0x1p-53);
    }
    Value odd = pick(place, 1, words[1], pick(place, 2, words[2], words[3]));
    Value bits = pick(place, 0, words[0], odd);
    if (type.isInteger(1)) return arith::TruncIOp::create(b_, type, shiftRight(bits, 31));
    if (type.isInteger()) return arith::TruncIOp::create(b_, type, bits);
    // 24 bits fit an i32, from which the conversion is one instruction everywhere.
    Value narrow = arith::TruncIOp::create(b_, b_.getI32Type(), shiftRight(bits, 8));
    return unitInterval(narrow, type, 0x1p-24);
  }

  Value number(int64_t value) {
    Value &constant = numbers_[value];
    if (!constant) constant = arith::ConstantIntOp::create(b_, value, 64);
    return constant;
  }

private:
  Value low(Value x) { return arith::AndIOp::create(b_, x, number(0xFFFFFFFF)); }
  Value high(Value x) { return shiftRight(x, 32); }
  Value shiftRight(Value x, int64_t count) { return arith::ShRUIOp::create(b_, x, number(count)); }
  Value exclusiveOr(Value lhs, Value rhs) { return arith::XOrIOp::create(b_, lhs, rhs); }
  /// `yes` where `place` is `wanted`, else `no`.
  Value pick(Value place, int64_t wanted, Value yes, Value no) {
    Value there = arith::CmpIOp::create(b_, arith::CmpIPredicate::eq, place, number(wanted));
    return arith::SelectOp::create(b_, there, yes, no);
  }
  Value unitInterval(Value integer, Type type, double step) {
    Value exact = arith::SIToFPOp::create(b_, type, integer);
    return arith::MulFOp::create(b_, exact,
                                 arith::ConstantOp::create(b_, b_.getFloatAttr(type, step)));
  }

  ImplicitLocOpBuilder b_;
  DenseMap<int64_t, Value> numbers_;
};

/// Stops the call unless `state` has its two numbers.
void requireState(LinalgBuilder &b, Value state, StringRef op) {
  b.requireEqual(b.sizesOf(state)[0], b.getIndexAttr(2),
                 op + ": state must be of shape (2,), but has {} elements and not {}");
}

/// The seed and the number of the stream.
std::array<Value, 2> partsOf(LinalgBuilder &b, Value state) {
  return {tensor::ExtractOp::create(b, state, ValueRange{b.index(0)}),
          tensor::ExtractOp::create(b, state, ValueRange{b.index(1)})};
}

/// Numbers that the library draws. A loop that computes each from its place could read on in the
/// same iteration, but takes a block per element where the library takes one per four, in more
/// registers than the memory between the loops costs.
Value drawn(LinalgBuilder &b, Value state, const Sizes &sizes, Type type, bool permutation) {
  auto [seed, stream] = partsOf(b, state);
  Value into = b.empty(sizes, type);
  Value result = DrawIntoOp::create(b, into.getType(), into, seed, stream,
                                    permutation ? b.getUnitAttr() : UnitAttr());
  b.setSizes(result, sizes);
  return result;
}

/// Whether the numbers are known to be so few that a loop computes them sooner than a call begins.
bool areFew(const Sizes &sizes) {
  constexpr int64_t kMost = 16;
  int64_t count = 1;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> known = getConstantIntValue(size);
    if (!known || *known > kMost) return false;
    count *= *known;
  }
  return count <= kMost;
}

} // namespace

Value lowerDrawUniform(LinalgBuilder &b, DrawUniformOp op) {
  requireState(b, op.getState(), "draw_uniform");
  Type type = op.getType().getElementType();
  OperandRange values = op.getSizes();
  const Sizes sizes = b.sizesIn(op.getShape(), values, "draw_uniform");
  if (!b.withoutLibrary() && !areFew(sizes))
    return drawn(b, op.getState(), sizes, type, /*permutation=*/false);
  SmallVector<Value> strides = b.stridesOf(sizes);
  const unsigned rank = sizes.size();
  AffineMap seedMap = AffineMap::get(rank, 0, b.getAffineConstantExpr(0), b.getContext());
  AffineMap streamMap = AffineMap::get(rank, 0, b.getAffineConstantExpr(1), b.getContext());
  return b.elementwise(
      sizes, type, {op.getState(), op.getState()}, {seedMap, streamMap},
      [&](OpBuilder &builder, Location loc, ValueRange args) -> Value {
        PhiloxBuilder philox(builder, loc);
        Value at = LinalgBuilder::placeInLine(builder, loc, strides);
        at = at ? arith::IndexCastOp::create(builder, loc, builder.getI64Type(), at).getResult()
                : philox.number(0);
        return philox.element(args[0], args[1], at, type);
      });
}

Value lowerDrawPermutation(LinalgBuilder &b, DrawPermutationOp op) {
  requireState(b, op.getState(), "draw_permutation");
  Type type = op.getType().getElementType();
  OperandRange values = op.getSizes();
  const Sizes sizes = b.sizesIn(op.getShape(), values, "draw_permutation");
  if (type.isInteger(32))
    b.requireAtMost(sizes[0], b.getIndexAttr(int64_t{1} << 31),
                    "draw_permutation: {} numbers do not fit the dtype i32", sizes[0]);
  if (!b.withoutLibrary()) return drawn(b, op.getState(), sizes, type, /*permutation=*/true);
  Value ordered = b.elementwise(sizes, type, {}, {},
                                [&](OpBuilder &builder, Location loc, ValueRange) -> Value {
                                  Value at = linalg::IndexOp::create(builder, loc, 0);
                                  return arith::IndexCastOp::create(builder, loc, type, at);
                                });

  Value one = b.index(1), count = b.toValue(sizes[0]);
  auto [seed, stream] = partsOf(b, op.getState());
  Value last = arith::SubIOp::create(b, count, one);
  auto loop = scf::ForOp::create(b, b.index(0), last, one, ordered);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    PhiloxBuilder philox(b, b.getLoc());
    Type wideType = b.getI64Type();
    Value iteration = loop.getInductionVar(), tensor = loop.getRegionIterArg(0);
    Value left =
        arith::IndexCastOp::create(b, wideType, arith::SubIOp::create(b, count, iteration));
    Value bits = philox.wide(
        philox.block(seed, stream, arith::IndexCastOp::create(b, wideType, iteration)), 0);
    Value picked = arith::MulUIExtendedOp::create(b, bits, left).getHigh();
    Value from = arith::IndexCastOp::create(b, b.getIndexType(), picked);
    Value to = arith::SubIOp::create(b, last, iteration);
    Value moved = tensor::ExtractOp::create(b, tensor, from);
    Value replaced = tensor::ExtractOp::create(b, tensor, to);
    tensor = tensor::InsertOp::create(b, replaced, tensor, from);
    tensor = tensor::InsertOp::create(b, moved, tensor, to);
    scf::YieldOp::create(b, tensor);
  }
  b.setSizes(loop.getResult(0), sizes);
  return loop.getResult(0);
}

Value lowerDrawLogGamma(LinalgBuilder &b, DrawLogGammaOp op) {
  return b.routine(op, b.sizesOf(op.getA()));
}

Value lowerDrawPoisson(LinalgBuilder &b, DrawPoissonOp op) {
  return b.routine(op, b.sizesOf(op.getRate()));
}

Value lowerDrawBinomial(LinalgBuilder &b, DrawBinomialOp op) {
  return b.routine(op, b.sizesOf(op.getN()));
}

Value lowerDrawMultinomial(LinalgBuilder &b, DrawMultinomialOp op) {
  return b.routine(op, b.sizesOf(op.getPvals()));
}

} // namespace mlir::weft
