// Which products are on tensor cores, and what these have in common: warps of a tile, shared
// memory, and results.
#include "Weft/Conversion/LoopsToGpu/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

/// What a block may have on every chip that has tensor cores for these: 99 KB.
static constexpr int64_t kMostSharedBytes = 99 * 1024;
/// More parts than these are not worth their memory.
static constexpr int64_t kMostStages = 4;

ChipTraits ChipTraits::of(unsigned capability) {
  ChipTraits chip;
  chip.hasNarrowFragments = capability >= 80;
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
  if (chip.hasNarrowFragments && isOfNarrowFloats(roles))
    builder = narrowFragmentsOf(b, product, epilogue);
  else if (chip.rowsOfDoubles != 0 && isOfFusedDoubles(product, roles))
    builder = doubleFragmentsOf(b, product, epilogue, chip.rowsOfDoubles);
  else builder = std::make_unique<ProductBuilder>(b, product, epilogue);
  return builder->build(module, kernel);
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

void FragmentBuilder::placeBuffers(gpu::LaunchOp launch) {
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  const auto typeOf = [&](const Side &side, int64_t parts) {
    const bool across = isAcross(side);
    return MemRefType::get({parts, across ? depth : side.tile, across ? side.tile : depth},
                           elementType(), AffineMap(), space);
  };
  const auto bytesOf = [](MemRefType type) {
    return type.getNumElements() * type.getElementTypeBitWidth() / 8;
  };
  if (isCopied(lhs) && isCopied(rhs) && (endsInZeros() || isWhole()))
    stages = std::min(kMostStages,
                      kMostSharedBytes / (bytesOf(typeOf(lhs, 1)) + bytesOf(typeOf(rhs, 1))));
  // More than a kernel may declare.
  Value all = gpu::DynamicSharedMemoryOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
  int64_t bytes = 0;
  for (Side *side : {&lhs, &rhs}) {
    const MemRefType type = typeOf(*side, stages == 0 ? 2 : stages);
    side->buffer = memref::ViewOp::create(b, type, all, index(bytes), ValueRange());
    bytes += bytesOf(type);
  }
  OpBuilder::InsertionGuard inside(b);
  b.setInsertionPoint(launch);
  launch.getDynamicSharedMemorySizeMutable().assign(
      arith::ConstantIntOp::create(b, bytes, 32).getResult());
}

void FragmentBuilder::multiply(const Fragments &fragments, MutableArrayRef<Value> sums) {
  for (int64_t i = 0; i < ofRows; ++i)
    for (int64_t j = 0; j < ofColumns; ++j)
      multiply(fragments.left[i], fragments.right[j],
               sums.slice((i * ofColumns + j) * kSums, kSums));
}

SmallVector<Value> FragmentBuilder::addPart(Value stage, Value, Value, SmallVector<Value> sums) {
  for (int64_t k = 0; k < depth; k += depthOfStep()) multiply(load(stage, k), sums);
  return sums;
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
