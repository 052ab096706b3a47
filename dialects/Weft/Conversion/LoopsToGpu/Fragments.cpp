// Which products are on tensor cores, and what these have in common: warps of a tile, and results.
#include "Weft/Conversion/LoopsToGpu/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

namespace mlir::weft {

ChipTraits ChipTraits::of(unsigned capability, bool hasWarpgroups) {
  ChipTraits chip;
  chip.hasWarpgroups = hasWarpgroups;
  chip.hasAsyncCopies = chip.hasNarrowFragments = capability >= 80;
  // Others have these instructions too, with units for f64 that are few.
  if (capability == 80) chip.rowsOfDoubles = 8;
  if (capability == 90 || capability == 100) chip.rowsOfDoubles = 16;
  return chip;
}

SmallVector<gpu::LaunchOp> buildProduct(ImplicitLocOpBuilder &b, const Nest &product,
                                        const Nest *epilogue, const ChipTraits &chip,
                                        StringRef module, StringRef kernel) {
  const ProductRoles roles = *rolesOf(product.generic());
  std::unique_ptr<ProductBuilder> builder;
  if (chip.hasWarpgroups && isOfNarrowFloats(roles)) builder = warpgroupsOf(b, product, epilogue);
  if (builder) return builder->build(module, kernel);
  if (chip.hasNarrowFragments && isOfNarrowFloats(roles))
    builder = narrowFragmentsOf(b, product, epilogue);
  else if (chip.rowsOfDoubles != 0 && isOfFused(product, roles, b.getF64Type()))
    builder = doubleFragmentsOf(b, product, epilogue, chip.rowsOfDoubles);
  else if (chip.hasAsyncCopies && isOfFused(product, roles, b.getF32Type())) {
    if (chip.roundsToTf32) builder = tensorFloatsOf(b, product, epilogue);
    if (!builder) builder = stagedFloatsOf(b, product, epilogue);
  }
  if (!builder) builder = std::make_unique<ProductBuilder>(b, product, epilogue);
  return builder->build(module, kernel);
}

bool isOfFused(const Nest &product, const ProductRoles &roles, Type type) {
  linalg::GenericOp op = product.generic();
  Value sum = op.getBody()->getTerminator()->getOperand(0);
  return roles.isSum && roles.lhs.getType() == type && sum.getType() == type &&
         (product.isProduct || sum.getDefiningOp<math::FmaOp>());
}

void FragmentBuilder::setWarps(int64_t warpsOfRows) {
  warpsOfColumns = kBlockSize / kWarp / warpsOfRows;
  ofRows = tileRows / warpsOfRows / kRows;
  ofColumns = tileColumns / warpsOfColumns / kColumns;
}

void FragmentBuilder::placeThread() {
  lane = rem(thread, index(kWarp));
  Value warp = div(thread, index(kWarp));
  row = mul(div(warp, index(warpsOfColumns)), index(ofRows * kRows));
  column = mul(rem(warp, index(warpsOfColumns)), index(ofColumns * kColumns));
}

void FragmentBuilder::multiply(const Fragments &fragments, MutableArrayRef<Value> sums) {
  for (int64_t i = 0; i < ofRows; ++i)
    for (int64_t j = 0; j < ofColumns; ++j)
      multiply(fragments.left[i], fragments.right[j],
               sums.slice((i * ofColumns + j) * kSums, kSums));
}

void FragmentBuilder::eachResult(function_ref<void(Value result, Value isInside)> what) {
  Value group = div(lane, index(4)), inGroup = rem(lane, index(4));
  const int64_t neighbours = neighboursOfResults();
  for (int64_t i = 0; i < ofRows; ++i)
    for (int64_t j = 0; j < ofColumns; ++j)
      for (int64_t c = 0; c < kSums; c += neighbours) {
        Value m = add(add(row, index(i * kRows + c / 2 * 8)), group);
        Value n = add(add(column, index(j * kColumns + c % 2)), mul(inGroup, index(2)));
        oneResult(m, n, what);
      }
}

} // namespace mlir::weft
