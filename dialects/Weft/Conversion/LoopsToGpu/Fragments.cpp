// What products on tensor cores have in common: warps of a tile, shared memory, and results.
#include "Weft/Conversion/LoopsToGpu/Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

ChipTraits ChipTraits::of(unsigned capability) {
  ChipTraits chip;
  chip.hasNarrowFragments = capability >= 80;
  // Others have these instructions too, with units for f64 that are few.
  if (capability == 80) chip.rowsOfDoubles = 8;
  if (capability == 90 || capability == 100) chip.rowsOfDoubles = 16;
  return chip;
}

bool hasFragments(const Nest &product, const ChipTraits &chip) {
  const ProductRoles roles = *rolesOf(product.generic());
  return (chip.hasNarrowFragments && isOfNarrowFloats(roles)) ||
         (chip.rowsOfDoubles != 0 && isOfFusedDoubles(product, roles));
}

std::unique_ptr<ProductBuilder> fragmentsOf(ImplicitLocOpBuilder &b, const Nest &product,
                                            const Nest *epilogue, const ChipTraits &chip) {
  return (isOfNarrowFloats(*rolesOf(product.generic())) ? narrowFragmentsOf : doubleFragmentsOf)(
      b, product, epilogue, chip);
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
  // More than a kernel may declare.
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value all = gpu::DynamicSharedMemoryOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
  int64_t bytes = 0;
  for (Side *side : {&lhs, &rhs}) {
    const bool across = isAcross(*side);
    auto type = MemRefType::get({2, across ? depth : side->tile, across ? side->tile : depth},
                                elementType(), AffineMap(), space);
    side->buffer = memref::ViewOp::create(b, type, all, index(bytes), ValueRange());
    bytes += type.getNumElements() * type.getElementTypeBitWidth() / 8;
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
