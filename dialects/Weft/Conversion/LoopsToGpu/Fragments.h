// Products whose parts are copied to shared memory beside the program, and those whose warps
// multiply fragments of matrices on tensor cores.
#pragma once

#include "Weft/Conversion/LoopsToGpu/ProductBuilder.h"
#include "Weft/Conversion/LoopsToGpu/Products.h"

namespace mlir::weft {

/// The bits of bf16 or f16 that a factor is widened to f32 from, and their format; null of others.
Value narrowBitsOf(Value factor);
FloatType narrowFormatOf(Value factor);
/// Whether both factors are such numbers of one format.
bool isOfNarrowFloats(const ProductRoles &roles);
/// Whether it is one chain of fused products of a type for each result.
bool isOfFused(const Nest &product, const ProductRoles &roles, Type type);

/// Those that build them.
std::unique_ptr<ProductBuilder> narrowFragmentsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                                  const Nest *epilogue);
/// Of warpgroups; null if there are few tiles, or parts cannot be copied beside the program.
std::unique_ptr<ProductBuilder> warpgroupsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                             const Nest *epilogue);
std::unique_ptr<ProductBuilder> doubleFragmentsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                                  const Nest *epilogue, int64_t rowsOfFragment);
/// Of f32, rounded to tf32; null if its parts cannot be copied beside the program.
std::unique_ptr<ProductBuilder> tensorFloatsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                               const Nest *epilogue);
/// Of f32, without tensor cores; null if its parts cannot be copied beside the program.
std::unique_ptr<ProductBuilder> stagedFloatsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                               const Nest *epilogue);

/// Builds a product whose parts are copied to shared memory beside the program, if 16 bytes of both
/// factors are as in memory.
class StagedBuilder : public ProductBuilder {
protected:
  using ProductBuilder::ProductBuilder;

  /// Whether lines of shared memory are along the tile, and not along the sum.
  virtual bool isAcross(const Side &side) const = 0;
  /// What these are made of.
  virtual Type elementType() = 0;
  /// Where an element of a line is, so that those that are accessed together are in different
  /// banks.
  virtual Value inLine(const Side &side, Value line, Value element) = 0;
  /// Where an element of a part is: its line, and its place in that.
  virtual std::pair<Value, Value> inShared(const Side &side, Place place) {
    Value line = isAcross(side) ? place.inDepth : place.inTile;
    Value element = isAcross(side) ? place.inTile : place.inDepth;
    return {line, inLine(side, line, element)};
  }

  /// What one step along the sum multiplies: fragments of rows and of columns, each the registers
  /// of a thread.
  struct Fragments {
    SmallVector<SmallVector<Value>> left, right;
  };
  virtual int64_t depthOfStep() const = 0;
  virtual Fragments load(Value stage, int64_t inDepth) = 0;
  virtual void multiply(const Fragments &fragments, MutableArrayRef<Value> sums) = 0;

  void placeBuffers(gpu::LaunchOp launch) override;
  SmallVector<Value> addParts(Value from, Value to, SmallVector<Value> sums) override;
  SmallVector<Value> addPart(Value stage, Value at, Value to, SmallVector<Value> sums) override;
  bool storesLate() const override { return true; }

  using ProductBuilder::load;

  /// A pointer to an element of a part in shared memory, so much behind a place. Places that are
  /// the same in all iterations of a loop are computed once, and what is known is a part of the
  /// access.
  Value pointerTo(Value buffer, Value stage, ArrayRef<Value> place, ArrayRef<int64_t> behind = {});

  /// Whether zeros of both factors beyond the end of the sum leave the sums as they are.
  virtual bool endsInZeros() const = 0;
  /// Whether fragments are read while those before them are multiplied, across barriers too. It
  /// takes registers.
  virtual bool readsAhead() const = 0;
  /// What a block may have of shared memory.
  virtual int64_t mostSharedBytes() const = 0;

  /// Whether a factor can be copied as it is, 16 bytes at a time.
  bool isCopied(const Side &side);
  /// Whether both are.
  bool areCopied() {
    return isCopied(sideOf(roles.lhs, roles.rows, tileRows, nullptr)) &&
           isCopied(sideOf(roles.rhs, roles.columns, tileColumns, nullptr));
  }
  /// Begins copies of a part, if there is one, and makes them a group.
  void copyPart(Value stage, Value at, Value to);

private:
  void copy(const Side &side, Place place, Value stage, Value at, Value to);
  /// addParts where there is one.
  SmallVector<Value> addCopiedParts(Value from, Value to, SmallVector<Value> sums);
  static SmallVector<Value> valuesOf(const Fragments &fragments);
  static void setValues(Fragments &fragments, ValueRange values);

  int64_t stages = 0; ///< parts in shared memory that are copied beside the program; 0 if not so
};

/// One that builds such a product if it can; null if not.
template <class Builder>
std::unique_ptr<ProductBuilder> ifFit(ImplicitLocOpBuilder &b, const Nest &product,
                                      const Nest *epilogue) {
  auto builder = std::make_unique<Builder>(b, product, epilogue);
  if (!builder->isFit()) return nullptr;
  return builder;
}

/// Builds a product of which every warp has a part of the tile, made of fragments of 16 x 8
/// results. Which thread has which of these is the same for all types.
class FragmentBuilder : public StagedBuilder {
protected:
  using StagedBuilder::StagedBuilder;

  /// Rows and columns of a fragment, and how many of its sums a thread has.
  static constexpr int64_t kRows = 16, kColumns = 8, kSums = 4;

  /// Sets how many warps a block has along rows; the others are along columns.
  void setWarps(int64_t ofRows);

  void multiply(const Fragments &fragments, MutableArrayRef<Value> sums) override;
  virtual void multiply(ArrayRef<Value> left, ArrayRef<Value> right,
                        MutableArrayRef<Value> sums) = 0;

  void placeThread() override;
  int64_t mostNeighbours() const override { return 2; }
  void eachResult(function_ref<void(Value result, Value isInside)> what) override;
  /// 99 KB, what a block may have on every chip that has tensor cores for these.
  int64_t mostSharedBytes() const override { return 99 * 1024; }

  int64_t ofRows = 0, ofColumns = 0; ///< fragments of a warp along each
  Value lane;

private:
  int64_t warpsOfColumns = 0;
};

} // namespace mlir::weft
