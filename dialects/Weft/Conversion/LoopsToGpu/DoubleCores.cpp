// Products of f64 on tensor cores, which sum them up one by one as fma does.
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

namespace {

/// Builds a product of f64 whose results have the bits of a chain of fma: mma.m16n8k8, or four of
/// mma.m8n8k4 in its place. Which thread has which elements is the PTX manual's "Matrix Fragments
/// for mma.m16n8k8" and "mma.m8n8k4", which are the same ones.
class DoubleCoreBuilder : public FragmentBuilder {
public:
  DoubleCoreBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue,
                    int64_t rowsOfFragment)
      : FragmentBuilder(b, product, epilogue), rowsOfFragment(rowsOfFragment) {
    depth = 16;
    setWarps(4);
  }

protected:
  /// Elements of 16 bytes, a chunk.
  static constexpr int64_t kCopied = 2;

  bool isAcross(const Side &side) const override { return !side.isAlong; }
  Type elementType() override { return b.getF64Type(); }
  int64_t depthOfStep() const override { return 8; }
  /// Zeros would make 0 of a sum that is -0.
  bool endsInZeros() const override { return false; }
  bool readsAhead() const override { return false; }

  /// Whether chunks of a line are exchanged, and by which number: those of 4 lines below each
  /// other, of which two chunks each are read together, are in different banks.
  Value exchanged(Value line) { return mul(rem(line, index(4)), index(2)); }

  Value inLine(const Side &, Value line, Value element) override {
    Value chunk = arith::XOrIOp::create(b, div(element, index(kCopied)), exchanged(line));
    return add(mul(chunk, index(kCopied)), rem(element, index(kCopied)));
  }

  /// With zeros beyond the end of the sum, whose products leave a sum as it is: -0 + -0 is -0.
  Value load(const Side &side, Place place, Value at, Value to) override {
    Value found = ProductBuilder::load(side, place, at, to);
    if (isWhole()) return found;
    Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, add(at, place.inDepth), to);
    const double zero = side.factor == lhs.factor ? -0.0 : 0.0;
    auto vector = dyn_cast<VectorType>(found.getType());
    const TypedAttr zeros = vector ? TypedAttr(DenseElementsAttr::get(vector, zero))
                                   : TypedAttr(b.getF64FloatAttr(zero));
    return arith::SelectOp::create(b, isThere, found, arith::ConstantOp::create(b, zeros));
  }

  void store(const Side &side, Place place, Value stage, Value copied) override {
    Value line = isAcross(side) ? place.inDepth : place.inTile;
    Value element = isAcross(side) ? place.inTile : place.inDepth;
    const SmallVector<Value> to{stage, line, inLine(side, line, element)};
    if (side.width == 1) memref::StoreOp::create(b, copied, side.buffer, to);
    else storeAll(b, copied, side.buffer, to);
  }

  /// What a lane has of a matrix of 8 lines of the tile, `inTile` from `first` on, and of 4
  /// elements along the sum. `first` is a multiple of 16 and `inTile` of 8, so that what is
  /// exchanged depends on the lane alone.
  Value matrix(const Side &side, Value stage, Value first, int64_t inTile, int64_t inDepth) {
    Value group = div(lane, index(4)), inGroup = rem(lane, index(4));
    SmallVector<Value> place{stage};
    if (isAcross(side)) {
      Value inside = inLine(side, inGroup, add(group, index(inTile % 16)));
      place.push_back(add(inGroup, index(inDepth)));
      place.push_back(add(add(first, inside), index(inTile / 16 * 16)));
    } else {
      place.push_back(add(add(first, group), index(inTile)));
      place.push_back(inLine(side, group, add(inGroup, index(inDepth))));
    }
    return memref::LoadOp::create(b, side.buffer, place);
  }

  Fragments load(Value stage, int64_t inDepth) override {
    Fragments found;
    for (int64_t i = 0; i < ofRows; ++i) {
      SmallVector<Value> &left = found.left.emplace_back();
      for (int64_t k = 0; k < depthOfStep(); k += 4)
        for (int64_t half = 0; half < kRows; half += 8)
          left.push_back(matrix(lhs, stage, row, i * kRows + half, inDepth + k));
    }
    for (int64_t j = 0; j < ofColumns; ++j) {
      SmallVector<Value> &right = found.right.emplace_back();
      for (int64_t k = 0; k < depthOfStep(); k += 4)
        right.push_back(matrix(rhs, stage, column, j * kColumns, inDepth + k));
    }
    return found;
  }

  void multiply(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) override {
    if (rowsOfFragment == kRows) return multiplyAll("m16n8k8", left, right, sums);
    for (int64_t k = 0; k < 2; ++k)
      for (int64_t half = 0; half < 2; ++half)
        multiplyAll("m8n8k4", left[2 * k + half], right[k], sums.slice(2 * half, 2));
  }

  void multiplyAll(StringRef shape, ValueRange left, ValueRange right,
                   MutableArrayRef<Value> sums) {
    SmallVector<Value> operands(left);
    llvm::append_range(operands, right);
    llvm::append_range(operands, sums);
    auto result = LLVM::LLVMStructType::getLiteral(b.getContext(),
                                                   SmallVector<Type>(sums.size(), b.getF64Type()));
    // The NVVM dialect has the smaller ones alone.
    auto product = LLVM::CallIntrinsicOp::create(
        b, result, b.getStringAttr("llvm.nvvm.mma." + shape + ".row.col.f64"), operands);
    for (auto [i, sum] : llvm::enumerate(sums))
      sum = LLVM::ExtractValueOp::create(b, product.getResult(0), static_cast<int64_t>(i));
  }

  int64_t rowsOfFragment;
};

} // namespace

std::unique_ptr<ProductBuilder> doubleFragmentsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                                  const Nest *epilogue, int64_t rowsOfFragment) {
  return std::make_unique<DoubleCoreBuilder>(b, product, epilogue, rowsOfFragment);
}

} // namespace mlir::weft
