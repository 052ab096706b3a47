// Products of f32, each a chain of fma, whose parts are copied to shared memory beside the program.
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::weft {

namespace {

/// A factor whose neighbours in memory are along the sum has lines along it in shared memory, of
/// which a thread reads some at once; one whose neighbours are along the tile, lines along
/// that.
class StagedFloatBuilder : public StagedBuilder {
public:
  StagedFloatBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
      : StagedBuilder(b, product, epilogue) {
    depth = 16;
    // Neighbouring columns of a thread are read together; where lines are along the sum, those of
    // neighbouring threads lie in different banks.
    together = isAlongSum(roles.rhs) ? 1 : kCopied;
  }

  /// Whether both factors are copied as they are, and no part is shorter than others.
  bool isFit() { return isWhole() && areCopied(); }

protected:
  /// Elements of 16 bytes, a chunk.
  static constexpr int64_t kCopied = 4;
  /// Elements along the sum that are multiplied in a step: more take more registers.
  static constexpr int64_t kStep = 2;

  bool isAcross(const Side &side) const override { return !side.isAlong; }
  Type elementType() override { return b.getF32Type(); }
  int64_t depthOfStep() const override { return kStep; }
  bool endsInZeros() const override { return false; }
  bool readsAhead() const override { return false; }
  /// What every block may have: two of them are on a multiprocessor.
  int64_t mostSharedBytes() const override { return 48 * 1024; }

  // A warp has 4 x 8 threads where columns have lines along the sum, which 8 threads read without
  // meeting in a bank, and 2 x 16 where not.
  void placeThread() override {
    if (together != 1) return ProductBuilder::placeThread();
    Value lane = rem(thread, index(kWarp)), warp = div(thread, index(kWarp));
    column = add(mul(rem(warp, index(2)), index(8)), rem(lane, index(8)));
    row = add(mul(div(warp, index(2)), index(4)), div(lane, index(8)));
  }

  /// Of so many chunks of a line along the sum one is taken for another, so that lines that are
  /// read together are in different banks: those of a warp's rows, or of 8 columns.
  int64_t chunksExchanged(const Side &side) const { return side.factor == roles.lhs ? 2 : 4; }

  Value inLine(const Side &side, Value line, Value element) override {
    if (isAcross(side)) return element;
    Value by = rem(div(line, index(together == 1 ? 2 : together)), index(chunksExchanged(side)));
    return mul(arith::XOrIOp::create(b, div(element, index(kCopied)), by), index(kCopied));
  }

  /// How far the result number `i` of a thread along an axis is behind its first one.
  int64_t behind(int64_t i) const { return i / together * kAlong * together + i % together; }

  /// Neighbours in shared memory.
  SmallVector<Value> read(Value pointer, int64_t count) {
    if (count == 1) return {LLVM::LoadOp::create(b, elementType(), pointer)};
    Value all = LLVM::LoadOp::create(b, VectorType::get(count, elementType()), pointer,
                                     /*alignment=*/static_cast<unsigned>(count * 4));
    SmallVector<Value> found;
    for (int64_t i = 0; i < count; ++i) found.push_back(vector::ExtractOp::create(b, all, i));
    return found;
  }

  /// Elements along the sum of a step for each of a thread's rows or columns, `first` among them.
  SmallVector<SmallVector<Value>> fragments(const Side &side, Value stage, Value first,
                                            int64_t count, int64_t inDepth) {
    SmallVector<SmallVector<Value>> found(count);
    if (!isAcross(side)) {
      const int64_t exchanged = chunksExchanged(side) * kCopied;
      const int64_t known = inDepth / exchanged * exchanged + inDepth % kCopied;
      Value element = inLine(side, first, index(inDepth - known));
      for (int64_t i = 0; i < count; ++i)
        found[i] = read(pointerTo(side.buffer, stage, {first, element}, {behind(i), known}), kStep);
      return found;
    }
    for (int64_t k = 0; k < kStep; ++k)
      for (int64_t i = 0; i < count; i += together) {
        Value pointer = pointerTo(side.buffer, stage, {index(0), first}, {inDepth + k, behind(i)});
        for (auto [j, element] : llvm::enumerate(read(pointer, together)))
          found[i + static_cast<int64_t>(j)].push_back(element);
      }
    return found;
  }

  Fragments load(Value stage, int64_t inDepth) override {
    return {fragments(lhs, stage, row, rowsOfThread, inDepth),
            fragments(rhs, stage, column, columnsOfThread, inDepth)};
  }

  void multiply(const Fragments &fragments, MutableArrayRef<Value> sums) override {
    for (int64_t k = 0; k < kStep; ++k)
      for (int64_t i = 0; i < rowsOfThread; ++i)
        for (int64_t j = 0; j < columnsOfThread; ++j) {
          Value &sum = sums[i * columnsOfThread + j];
          sum = math::FmaOp::create(b, fragments.left[i][k], fragments.right[j][k], sum);
        }
  }
};

} // namespace

std::unique_ptr<ProductBuilder> stagedFloatsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                               const Nest *epilogue) {
  return ifFit<StagedFloatBuilder>(b, product, epilogue);
}

} // namespace mlir::weft
