// Products of floats of 16 bits on tensor cores: pairs of elements in shared memory, and fragments
// of warps.
#include "Weft/Conversion/LoopsToGpu/ProductBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

namespace {

/// The bits that a widened number is made of (widenedBits); null for another.
Value bitsOf(Value factor) {
  auto widened = factor.getDefiningOp<arith::ExtFOp>();
  auto narrow = widened ? widened.getIn().getDefiningOp<arith::BitcastOp>() : arith::BitcastOp();
  return narrow && narrow.getIn().getType().isInteger(16) ? narrow.getIn() : Value();
}

/// Their format.
FloatType formatOf(Value factor) {
  if (!bitsOf(factor)) return {};
  return cast<FloatType>(factor.getDefiningOp<arith::ExtFOp>().getIn().getType());
}

/// Builds a product of matrices of bf16 or f16 whose warps multiply fragments on tensor cores:
/// every warp has a part of the tile, and each of its mma.m16n8k16 adds products of 16 elements of
/// the summed loop. Which thread has which elements is the PTX manual's "Matrix Fragments for
/// mma.m16n8k16".
class TensorCoreBuilder : public ProductBuilder {
public:
  TensorCoreBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
      : ProductBuilder(b, product, epilogue), format(formatOf(roles.lhs)) {
    tile = isLarge ? 128 : 64;
    depth = 32;
    ofRows = tile / kWarpsOfRows / kRows;
    ofColumns = tile / kWarpsOfColumns / kColumns;
  }

private:
  /// Rows and columns of one mma, and the warps of a block along each.
  static constexpr int64_t kRows = 16, kColumns = 8, kDepth = 16;
  static constexpr int64_t kWarpsOfRows = 2, kWarpsOfColumns = 4;

  Value word(Value x) { return arith::ExtUIOp::create(b, b.getI32Type(), x); }

  void placeThread() override {
    Value lane = rem(thread, index(kWarp)), warp = div(thread, index(kWarp));
    group = div(lane, index(4));
    inGroup = rem(lane, index(4));
    row = mul(div(warp, index(kWarpsOfColumns)), index(tile / kWarpsOfRows));
    column = mul(rem(warp, index(kWarpsOfColumns)), index(tile / kWarpsOfColumns));
  }

  /// Lines of pairs along the summed loop. By what they are longer, 8 lines have their 4 pairs of
  /// one fragment in different banks.
  Value shared(gpu::LaunchOp launch, Value) override {
    return sharedMemory(launch, {tile, depth / 2 + 4}, b.getI32Type());
  }

  int64_t copies() const override { return tile * depth / 2 / kBlockSize; }

  /// 8 lines and 4 pairs at a time, neighbours along what is fastest in memory.
  SmallVector<Value> placeOf(const Side &side, int64_t copy) override {
    const bool isAlong = isAlongSum(side.factor);
    Value number = copy == 0 ? thread : add(thread, index(copy * kBlockSize));
    Value lane = rem(number, index(kWarp)), chunk = div(number, index(kWarp));
    Value chunks = index(isAlong ? depth / 8 : tile / 8);
    Value slow = div(chunk, chunks), fast = rem(chunk, chunks);
    if (isAlong)
      return {add(mul(slow, index(8)), div(lane, index(4))),
              add(mul(fast, index(4)), rem(lane, index(4)))};
    return {add(mul(fast, index(8)), rem(lane, index(8))),
            add(mul(slow, index(4)), div(lane, index(8)))};
  }

  /// A pair, with zeros beyond the end of the sum.
  Value elementOf(const Side &side, ArrayRef<Value> place, Value at, Value to) override {
    Value bits = bitsOf(side.factor);
    const auto element = [&](Value inDepth) -> Value {
      Value of = add(at, inDepth);
      nest.setPlaces(roles.summed, arith::MinUIOp::create(b, of, last(summed)));
      Value found =
          nest.values(bits, {}, [&](OpOperand &operand) { return nest.load(operand); }).front();
      if (isWhole()) return word(found);
      Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, of, to);
      Value zero = arith::ConstantIntOp::create(b, 0, 32);
      return arith::SelectOp::create(b, isThere, word(found), zero);
    };
    nest.setPlaces(side.loops,
                   arith::MinUIOp::create(b, add(side.first, place[0]), last(side.count)));
    Value low = element(mul(place[1], index(2)));
    Value high = element(add(mul(place[1], index(2)), index(1)));
    return arith::OrIOp::create(
        b, low, arith::ShLIOp::create(b, high, arith::ConstantIntOp::create(b, 16, 32)));
  }

  SmallVector<Value> addPart(Value, Value, SmallVector<Value> sums) override {
    for (int64_t k = 0; k < depth; k += kDepth) {
      // The thread's pairs of a line, and those 8 elements on.
      const auto pair = [&](Value buffer, Value line, int64_t more) -> Value {
        Value found = memref::LoadOp::create(
            b, buffer, ValueRange{line, add(inGroup, index(k / 2 + more / 2))});
        if (format.isBF16()) return found;
        return LLVM::BitcastOp::create(b, VectorType::get(2, format), found);
      };
      SmallVector<SmallVector<Value>> left, right;
      for (int64_t i = 0; i < ofRows; ++i) {
        Value upper = add(add(row, index(i * kRows)), group), lower = add(upper, index(8));
        left.push_back({pair(lhs.buffer, upper, 0), pair(lhs.buffer, lower, 0),
                        pair(lhs.buffer, upper, 8), pair(lhs.buffer, lower, 8)});
      }
      for (int64_t j = 0; j < ofColumns; ++j) {
        Value line = add(add(column, index(j * kColumns)), group);
        right.push_back({pair(rhs.buffer, line, 0), pair(rhs.buffer, line, 8)});
      }
      for (int64_t i = 0; i < ofRows; ++i)
        for (int64_t j = 0; j < ofColumns; ++j)
          addFragments(left[i], right[j],
                       MutableArrayRef<Value>(sums).slice((i * ofColumns + j) * 4, 4));
    }
    return sums;
  }

  void addFragments(ArrayRef<Value> left, ArrayRef<Value> right, MutableArrayRef<Value> sums) {
    const NVVM::MMATypes type = format.isBF16() ? NVVM::MMATypes::bf16 : NVVM::MMATypes::f16;
    auto result =
        LLVM::LLVMStructType::getLiteral(b.getContext(), SmallVector<Type>(4, b.getF32Type()));
    auto product = NVVM::MmaOp::create(b, result, left, right, sums, {kRows, kColumns, kDepth},
                                       std::nullopt, std::nullopt, std::array{type, type},
                                       std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
    for (int64_t i = 0; i < 4; ++i) sums[i] = LLVM::ExtractValueOp::create(b, product, i);
  }

  void eachResult(function_ref<void(Value result, Value isInside)> what) override {
    for (int64_t i = 0; i < ofRows; ++i)
      for (int64_t j = 0; j < ofColumns; ++j)
        for (int64_t c = 0; c < 4; ++c) {
          Value m = add(add(row, index(i * kRows + c / 2 * 8)), group);
          Value n = add(add(column, index(j * kColumns + c % 2)), mul(inGroup, index(2)));
          oneResult(m, n, what);
        }
  }

  FloatType format;
  int64_t ofRows = 0, ofColumns = 0; ///< products of a warp along each
  Value group, inGroup;              ///< of the lane
};

} // namespace

bool isOfNarrowFloats(const ProductRoles &roles) {
  return roles.isSum && formatOf(roles.lhs) && formatOf(roles.lhs) == formatOf(roles.rhs);
}

SmallVector<gpu::LaunchOp> buildOnTensorCores(ImplicitLocOpBuilder &b, const Nest &product,
                                              const Nest *epilogue, StringRef module,
                                              StringRef kernel) {
  return TensorCoreBuilder(b, product, epilogue).build(module, kernel);
}

} // namespace mlir::weft
