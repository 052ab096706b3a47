// Products of f32 on tensor cores, whose factors are rounded to tf32, where that was asked for.
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

namespace {

/// Builds a product each of whose mma.m16n8k8 adds products of 8 elements of the summed loop. Which
/// thread has which elements is the PTX manual's "Matrix Fragments for mma.m16n8k8" of .tf32.
class TensorFloatBuilder : public FragmentBuilder {
public:
  TensorFloatBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
      : FragmentBuilder(b, product, epilogue) {
    // The more a warp has of both, the fewer bytes of shared memory it reads for each product.
    const bool isHuge = isWorthTilesOf(op, roles, 256, 128);
    const bool isMiddling = isWorthTilesOf(op, roles, 128, 128);
    tileRows = isHuge ? 256 : isMiddling ? 128 : 64;
    tileColumns = isHuge || isMiddling ? 128 : 64;
    depth = 16;
    setWarps(isHuge ? 4 : 2);
  }

  /// Whether both factors are copied as they are.
  bool isFit() { return areCopied(); }

protected:
  /// Elements of a copy of 16 bytes, a chunk; and along the sum of a product.
  static constexpr int64_t kCopied = 4, kStep = 8;

  Type elementType() override { return b.getF32Type(); }
  int64_t mostCopied(const Side &) const override { return kCopied; }
  bool isAcross(const Side &side) const override { return !side.isAlong; }

  /// Chunks are exchanged so that those that are read together are in different banks: of 8 lines
  /// along the sum; or pairs of chunks of 4 lines across it.
  Value inLine(const Side &side, Value line, Value element) override {
    Value exchanged =
        isAcross(side) ? mul(rem(line, index(4)), index(2)) : rem(div(line, index(2)), index(4));
    Value chunk = arith::XOrIOp::create(b, div(element, index(kCopied)), exchanged);
    return add(mul(chunk, index(kCopied)), rem(element, index(kCopied)));
  }

  int64_t depthOfStep() const override { return kStep; }
  bool endsInZeros() const override { return true; }
  bool readsAhead() const override { return true; }

  /// Chunks of a line by neighbouring threads; of lines along the sum two by two lines, which fill
  /// all banks.
  Place placeOf(const Side &side, int64_t copy) override {
    Value number = copy == 0 ? thread : add(thread, index(copy * kBlockSize));
    Value ofLine = index((isAcross(side) ? side.tile : depth) / kCopied);
    Value line = div(number, ofLine), element = mul(rem(number, ofLine), index(kCopied));
    return isAcross(side) ? Place{line, element} : Place{element, line};
  }

  /// A number rounded to the nearest of tf32, as products take them.
  Value rounded(Value number) {
    return NVVM::ConvertFloatToTF32Op::create(b, b.getI32Type(), number, NVVM::FPRoundingMode::RNA,
                                              NVVM::SaturationMode::NONE, /*relu=*/false);
  }

  /// The registers of a warp's fragments of a factor, four of 16 lines or of twice 8: elements of 8
  /// lines and of 8 more, or, not `linesFirst`, of 4 along the sum and 4 more, and then the others.
  SmallVector<Value> fragment(const Side &side, Value stage, Value first, int64_t inTile,
                              int64_t inDepth, bool linesFirst) {
    SmallVector<Value> found;
    if (!isAcross(side)) {
      // A chunk is a line of 8 x 8 numbers of 16 bits.
      Value inMatrix = rem(lane, index(8)), matrix = div(lane, index(8));
      Value odd = rem(matrix, index(2)), upper = div(matrix, index(2));
      Value line = add(first, mul(linesFirst ? odd : upper, index(8)));
      Value along = mul(linesFirst ? upper : odd, index(kCopied));
      Value element = inLine(side, inMatrix, add(along, index(inDepth)));
      Value pointer = pointerTo(side.buffer, stage, {add(line, inMatrix), element}, {inTile, 0});
      for (Value bits : readMatrices(b, pointer, /*transposed=*/false, b.getBF16Type()))
        found.push_back(rounded(arith::BitcastOp::create(b, b.getF32Type(), bits)));
      return found;
    }
    Value group = div(lane, index(4)), inGroup = rem(lane, index(4));
    for (int64_t i = 0; i < 4; ++i) {
      const int64_t lines = linesFirst ? i % 2 : i / 2, along = linesFirst ? i / 2 : i % 2;
      Value element = inLine(side, inGroup, add(add(first, group), index(inTile + lines * 8)));
      Value pointer =
          pointerTo(side.buffer, stage, {inGroup, element}, {inDepth + along * kCopied, 0});
      found.push_back(rounded(LLVM::LoadOp::create(b, b.getF32Type(), pointer)));
    }
    return found;
  }

  Fragments load(Value stage, int64_t inDepth) override {
    Fragments found;
    for (int64_t i = 0; i < ofRows; ++i)
      found.left.push_back(fragment(lhs, stage, row, i * kRows, inDepth, /*linesFirst=*/true));
    for (int64_t j = 0; j < ofColumns; j += 2) {
      const SmallVector<Value> two =
          fragment(rhs, stage, column, j * kColumns, inDepth, /*linesFirst=*/false);
      found.right.push_back({two[0], two[1]});
      found.right.push_back({two[2], two[3]});
    }
    return found;
  }

  void multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) override {
    addProduct(b, NVVM::MMATypes::tf32, kStep, left, right, sums);
  }
};

} // namespace

std::unique_ptr<ProductBuilder> tensorFloatsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                               const Nest *epilogue) {
  return ifFit<TensorFloatBuilder>(b, product, epilogue);
}

} // namespace mlir::weft
