// Products of floats of 16 bits on tensor cores: lines of elements in shared memory, and fragments
// of warps.
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::weft {

Value narrowBitsOf(Value factor) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  auto narrow = widened ? widened.getIn().getDefiningOp<arith::BitcastOp>() : arith::BitcastOp();
  return narrow && narrow.getIn().getType().isInteger(16) ? narrow.getIn() : Value();
}

FloatType narrowFormatOf(Value factor) {
  if (!narrowBitsOf(factor)) return {};
  return cast<FloatType>(factor.getDefiningOp<arith::ExtFOp>().getIn().getType());
}

namespace {

/// Builds a product of matrices of bf16 or f16, each of whose mma.m16n8k16 adds products of 16
/// elements of the summed loop. Which thread has which elements is the PTX manual's "Matrix
/// Fragments for mma.m16n8k16".
class TensorCoreBuilder : public FragmentBuilder {
public:
  TensorCoreBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
      : FragmentBuilder(b, product, epilogue), format(narrowFormatOf(roles.lhs)) {
    // The more a warp has of both, the fewer bytes of shared memory it reads for each product.
    const bool isHuge = isWorthTilesOf(op, roles, 256, 128);
    const bool isMiddling = isWorthTilesOf(op, roles, 128, 128);
    tileRows = isHuge ? 256 : isMiddling ? 128 : 64;
    tileColumns = isHuge || isMiddling ? 128 : 64;
    depth = 32;
    setWarps(isHuge ? 4 : 2);
  }

protected:
  /// Elements of a copy of 16 bytes, a chunk.
  static constexpr int64_t kCopied = 8;

  Value copied(Value factor) override { return narrowBitsOf(factor); }
  int64_t mostCopied(const Side &) const override { return kCopied; }

  /// As they are in memory: fragments are transposed when they are read.
  bool isAcross(const Side &side) const override { return !side.isAlong && isWide(side); }
  Type elementType() override { return b.getI16Type(); }

  /// Chunks are exchanged so that those of 8 lines that stand below each other, which are written
  /// and read together, are in different banks.
  Value inLine(const Side &side, Value line, Value element) override {
    Value exchanged = isAcross(side) ? rem(line, index(8)) : rem(div(line, index(2)), index(4));
    Value chunk = arith::XOrIOp::create(b, div(element, index(kCopied)), exchanged);
    return add(mul(chunk, index(kCopied)), rem(element, index(kCopied)));
  }

  int64_t copies(const Side &side) const override {
    return side.tile * depth / (isWide(side) ? kCopied : 2) / kBlockSize;
  }

  /// Whether 8 elements are copied at once, and not pairs along the sum.
  static bool isWide(const Side &side) { return side.width == kCopied; }

  /// 8 lines and as many neighbours as a warp has left at a time, so that lines are written to
  /// different banks.
  Place placeOf(const Side &side, int64_t copy) override {
    Value number = copy == 0 ? thread : add(thread, index(copy * kBlockSize));
    if (isAcross(side)) {
      Value ofLine = index(side.tile / kCopied);
      return {div(number, ofLine), mul(rem(number, ofLine), index(kCopied))};
    }
    Value inWarp = rem(number, index(kWarp)), chunk = div(number, index(kWarp));
    if (isWide(side))
      return {mul(div(inWarp, index(8)), index(kCopied)),
              add(mul(chunk, index(8)), rem(inWarp, index(8)))};
    Value chunks = index(side.isAlong ? depth / 8 : side.tile / 8);
    Value slow = div(chunk, chunks), fast = rem(chunk, chunks);
    Value line = side.isAlong ? add(mul(slow, index(8)), div(inWarp, index(4)))
                              : add(mul(fast, index(8)), rem(inWarp, index(8)));
    Value pair = side.isAlong ? add(mul(fast, index(4)), rem(inWarp, index(4)))
                              : add(mul(slow, index(4)), div(inWarp, index(8)));
    return {mul(pair, index(2)), line};
  }

  Type typeOfCopy(const Side &side) override {
    return isWide(side) ? VectorType::get(kCopied / 2, b.getI32Type())
                        : VectorType::get(1, b.getI32Type());
  }

  /// With zeros beyond the end of the sum.
  Value load(const Side &side, Place place, Value at, Value to) override {
    Type type = typeOfCopy(side);
    const auto orZero = [&](Value inDepth, Value found) -> Value {
      if (isWhole()) return found;
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, add(at, inDepth), to);
      Value zero = arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(found.getType())));
      return arith::SelectOp::create(b, isThere, found, zero);
    };
    SmallVector<Value> elements;
    if (isWide(side)) {
      elements = neighbours(side, place, at);
    } else {
      Place next{add(place.inDepth, index(1)), place.inTile};
      for (Place of : {place, next})
        elements.push_back(orZero(of.inDepth, neighbours(narrow(side), of, at).front()));
    }
    auto all = VectorType::get(static_cast<int64_t>(elements.size()), b.getI16Type());
    Value words =
        vector::BitCastOp::create(b, type, vector::FromElementsOp::create(b, all, elements));
    return isWide(side) ? orZero(place.inDepth, words) : words;
  }

  /// The same with its elements read one by one.
  static Side narrow(Side side) {
    side.width = 1;
    return side;
  }

  void store(const Side &side, Place place, Value stage, Value copied) override {
    auto type = VectorType::get(isWide(side) ? kCopied : 2, b.getI16Type());
    Value elements = vector::BitCastOp::create(b, type, copied);
    Value line = isAcross(side) ? place.inDepth : place.inTile;
    Value element = isAcross(side) ? place.inTile : place.inDepth;
    storeAll(b, elements, side.buffer, {stage, line, inLine(side, line, element)});
  }

  /// Four 8x8 matrices of a factor from `inTile` lines behind the line `first` of the tile on: the
  /// second is 8 lines on where `linesFirst`, or else 8 elements along the sum; the third is the
  /// other way. Where they are is what loops do not change, the stage, and a number that is known.
  SmallVector<Value> matrices(const Side &side, Value stage, Value first, int64_t inTile,
                              int64_t inDepth, bool linesFirst) {
    Value inMatrix = rem(lane, index(8)), matrix = div(lane, index(8));
    Value odd = mul(rem(matrix, index(2)), index(8)), upper = mul(div(matrix, index(2)), index(8));
    Value lines = add(first, linesFirst ? odd : upper), along = linesFirst ? upper : odd;
    // Multiples of 8, so that a line's number among 8 is that of the matrix's row.
    Value line = add(isAcross(side) ? along : lines, inMatrix), pointer;
    if (isAcross(side)) {
      Value element = inLine(side, inMatrix, add(lines, index(inTile)));
      pointer = pointerTo(side.buffer, stage, {line, element}, {inDepth, 0});
    } else {
      Value element = inLine(side, inMatrix, add(along, index(inDepth)));
      pointer = pointerTo(side.buffer, stage, {line, element}, {inTile, 0});
    }
    return readMatrices(b, pointer, isAcross(side), format);
  }

  int64_t depthOfStep() const override { return 16; }
  bool endsInZeros() const override { return true; }
  bool readsAhead() const override { return true; }

  Fragments load(Value stage, int64_t inDepth) override {
    Fragments found;
    for (int64_t i = 0; i < ofRows; ++i)
      found.left.push_back(matrices(lhs, stage, row, i * kRows, inDepth, /*linesFirst=*/true));
    for (int64_t j = 0; j < ofColumns; j += 2) {
      const SmallVector<Value> two =
          matrices(rhs, stage, column, j * kColumns, inDepth, /*linesFirst=*/false);
      found.right.push_back({two[0], two[1]});
      found.right.push_back({two[2], two[3]});
    }
    return found;
  }

  void multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) override {
    addProduct(b, format, left, right, sums);
  }

  FloatType format;
};

} // namespace

bool isOfNarrowFloats(const ProductRoles &roles) {
  const FloatType format = narrowFormatOf(roles.lhs);
  return roles.isSum && format && format == narrowFormatOf(roles.rhs);
}

std::unique_ptr<ProductBuilder> narrowFragmentsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                                  const Nest *epilogue) {
  return std::make_unique<TensorCoreBuilder>(b, product, epilogue);
}

} // namespace mlir::weft
