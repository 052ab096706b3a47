// Parts of products that are copied to shared memory beside the program (cp.async), several ahead
// of the one that is multiplied.
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Fragments.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

/// More parts than these are not worth their memory.
static constexpr int64_t kMostStages = 4;

/// The address of an element, as a number.
static Value addressOf(ImplicitLocOpBuilder &b, Value buffer, ValueRange place) {
  auto type = cast<MemRefType>(buffer.getType());
  auto [strides, offset] = type.getStridesAndOffset();
  memref::ExtractStridedMetadataOp open;
  if (ShapedType::isDynamic(offset) || ShapedType::isDynamicShape(strides))
    open = memref::ExtractStridedMetadataOp::create(b, buffer);
  const auto number = [&](int64_t known, function_ref<Value()> of) -> Value {
    return ShapedType::isDynamic(known) ? of()
                                        : arith::ConstantIndexOp::create(b, known).getResult();
  };
  Value at = number(offset, [&]() -> Value { return open.getOffset(); });
  for (size_t axis = 0; axis < strides.size(); ++axis) {
    Value stride = number(strides[axis], [&]() -> Value { return open.getStrides()[axis]; });
    at = arith::AddIOp::create(b, at, arith::MulIOp::create(b, place[axis], stride));
  }
  Value bytes = arith::ConstantIndexOp::create(b, type.getElementTypeBitWidth() / 8);
  Value address =
      arith::AddIOp::create(b, memref::ExtractAlignedPointerAsIndexOp::create(b, buffer),
                            arith::MulIOp::create(b, at, bytes));
  return arith::IndexCastOp::create(b, b.getI64Type(), address);
}

Value StagedBuilder::pointerTo(Value buffer, Value stage, ArrayRef<Value> place,
                               ArrayRef<int64_t> behind) {
  const ArrayRef<int64_t> shape = cast<MemRefType>(buffer.getType()).getShape().drop_front();
  const int64_t bytes = elementType().getIntOrFloatBitWidth() / 8;
  Value at = index(0);
  int64_t known = 0, ofPart = bytes;
  for (auto [axis, size] : llvm::enumerate(shape)) {
    at = add(mul(at, index(size)), place[axis]);
    known = known * size + (behind.empty() ? 0 : behind[axis]);
    ofPart *= size;
  }
  Type pointer = pointerIn(b, NVVM::NVVMMemorySpace::Shared);
  const auto number = [&](Value value) {
    return arith::IndexCastOp::create(b, b.getI64Type(), value).getResult();
  };
  Value start = LLVM::IntToPtrOp::create(
      b, pointer, number(memref::ExtractAlignedPointerAsIndexOp::create(b, buffer)));
  Value inPart = bytesBehind(b, start, number(mul(at, index(bytes))));
  return bytesBehind(b, bytesBehind(b, inPart, number(mul(stage, index(ofPart)))),
                     static_cast<int32_t>(known * bytes));
}

void StagedBuilder::placeBuffers(gpu::LaunchOp launch) {
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
                      mostSharedBytes() / (bytesOf(typeOf(lhs, 1)) + bytesOf(typeOf(rhs, 1))));
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

bool StagedBuilder::isCopied(const Side &side) {
  const unsigned fastest = side.isAlong ? roles.summed.back() : side.loops.back();
  auto read = plainRead(op, copied(side.factor), fastest);
  return read && side.width * elementType().getIntOrFloatBitWidth() == 8 * kAccessBytes;
}

void StagedBuilder::copyPart(Value stage, Value at, Value to) {
  auto guard = scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, to),
                                 /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    for (const Side *side : {&lhs, &rhs})
      for (int64_t number = 0; number < copies(*side); ++number)
        copy(*side, placeOf(*side, number), stage, at, to);
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

void StagedBuilder::copy(const Side &side, Place place, Value stage, Value at, Value to) {
  setPlaces(side, place, at);
  const unsigned fastest = side.isAlong ? roles.summed.back() : side.loops.back();
  PlainRead read = *plainRead(op, copied(side.factor), fastest);
  Value isThere;
  if (read.isThere)
    isThere = nest.values(read.isThere, {}, [&](OpOperand &operand) { return nest.load(operand); })
                  .front();
  if (!isWhole()) {
    Value isInside =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, add(at, place.inDepth), to);
    isThere = isThere ? arith::AndIOp::create(b, isThere, isInside).getResult() : isInside;
  }
  const auto words = [&](int64_t value) { return arith::ConstantIntOp::create(b, value, 32); };
  // So many bytes are read, and the others become zero.
  Value bytes =
      isThere ? arith::SelectOp::create(b, isThere, words(kAccessBytes), words(0)) : Value();
  const auto [line, element] = inShared(side, place);
  Value target = pointerTo(side.buffer, stage, {line, element});
  Value source = LLVM::IntToPtrOp::create(b, LLVM::LLVMPointerType::get(b.getContext()),
                                          addressOf(b, read.buffer(), read.place(nest)));
  source = LLVM::AddrSpaceCastOp::create(b, pointerIn(b, NVVM::NVVMMemorySpace::Global), source);
  beginCopy(b, target, source, bytes);
}

SmallVector<Value> StagedBuilder::addParts(Value from, Value to, SmallVector<Value> sums) {
  if (stages == 0) return ProductBuilder::addParts(from, to, std::move(sums));
  if (getConstantIntValue(from) && knownCount(op, roles.summed).value_or(0) != 0)
    return addCopiedParts(from, to, std::move(sums));
  // Of no part nothing would be in shared memory.
  Value isAny = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, from, to);
  auto choice = scf::IfOp::create(b, ValueRange(sums).getTypes(), isAny, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, sums);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, addCopiedParts(from, to, std::move(sums)));
  return SmallVector<Value>(choice.getResults());
}

SmallVector<Value> StagedBuilder::addPart(Value stage, Value, Value, SmallVector<Value> sums) {
  for (int64_t k = 0; k < depth; k += depthOfStep()) multiply(load(stage, k), sums);
  return sums;
}

SmallVector<Value> StagedBuilder::addCopiedParts(Value from, Value to, SmallVector<Value> sums) {
  const int64_t ahead = stages - 1;
  for (int64_t i = 0; i < ahead; ++i) copyPart(index(i), add(from, index(i * depth)), to);
  const size_t results = sums.size();
  // A part; where fragments are read ahead, the last ones are left to be multiplied behind the next
  // barrier: ptxas keeps products there if others wait for what is read there as well.
  const auto part = [&](Value at, Value stage, Value free, Fragments &left) {
    const auto copyNext = [&] { copyPart(free, add(at, index(ahead * depth)), to); };
    waitForCopies(b, ahead - 1);
    if (!readsAhead()) {
      for (int64_t k = 0; k < depth; k += depthOfStep()) {
        multiply(load(stage, k), sums);
        if (k == 0) copyNext(); // beside these products
      }
      return;
    }
    Fragments present = load(stage, 0);
    if (!left.left.empty()) multiply(left, sums);
    copyNext();
    for (int64_t k = depthOfStep(); k < depth; k += depthOfStep()) {
      Fragments next = load(stage, k);
      multiply(present, sums);
      present = std::move(next);
    }
    left = std::move(present);
  };
  Fragments left;
  SmallVector<Value> carried;
  if (readsAhead()) {
    part(from, index(0), index(ahead), left);
    from = add(from, index(depth));
    carried = valuesOf(left);
  }
  sums.push_back(index(readsAhead() ? 1 : 0));
  llvm::append_range(sums, carried);

  auto loop = scf::ForOp::create(b, from, to, index(depth), sums);
  {
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(), stage = loop.getRegionIterArgs()[results];
    const auto isAt = [&](int64_t number) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, stage, index(number));
    };
    Value next = arith::SelectOp::create(b, isAt(ahead), index(0), add(stage, index(1)));
    // That of the part before: all have read it when they are at the barrier.
    Value free = arith::SelectOp::create(b, isAt(0), index(ahead),
                                         arith::SubIOp::create(b, stage, index(1)));
    sums = SmallVector<Value>(loop.getRegionIterArgs().take_front(results));
    setValues(left, loop.getRegionIterArgs().drop_front(results + 1));
    part(at, stage, free, left);
    sums.push_back(next);
    llvm::append_range(sums, valuesOf(left));
    scf::YieldOp::create(b, sums);
  }
  sums = SmallVector<Value>(loop.getResults().take_front(results));
  if (readsAhead()) {
    setValues(left, loop.getResults().drop_front(results + 1));
    multiply(left, sums);
  }
  return sums;
}

SmallVector<Value> StagedBuilder::valuesOf(const Fragments &fragments) {
  SmallVector<Value> values;
  for (const auto *side : {&fragments.left, &fragments.right})
    for (ArrayRef<Value> registers : *side) llvm::append_range(values, registers);
  return values;
}

void StagedBuilder::setValues(Fragments &fragments, ValueRange values) {
  for (auto *side : {&fragments.left, &fragments.right})
    for (SmallVector<Value> &registers : *side) {
      registers.assign(values.begin(), values.begin() + registers.size());
      values = values.drop_front(registers.size());
    }
}

} // namespace mlir::weft
