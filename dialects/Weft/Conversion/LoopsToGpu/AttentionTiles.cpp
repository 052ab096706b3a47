// What the kernels of attention share, as instructions.
#include "Weft/Conversion/LoopsToGpu/AttentionTiles.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <numbers>

namespace mlir::weft {

void AttentionTiles::setSizes(StringRef causal, double scale, uint64_t queries) {
  const ArrayRef<int64_t> shape = cast<MemRefType>(query.getType()).getShape();
  leading = SmallVector<int64_t>(shape.drop_back(2));
  for (int64_t size : leading) heads *= size;
  rows = shape[shape.size() - 2];
  depth = shape.back();
  keys = cast<MemRefType>(key.getType()).getShape()[shape.size() - 2];
  line = static_cast<int64_t>(llvm::PowerOf2Ceil(depth));
  isCausal = causal != "no";
  rowsOfGroup = isCausal ? std::max<int64_t>(static_cast<int64_t>(queries), 1) : rows;
  groups = rows / rowsOfGroup;
  offset = causal == "bottom_right" ? keys - rowsOfGroup : 0;
  addsMask = mask && !cast<MemRefType>(mask.getType()).getElementType().isInteger(1);
  hides = isCausal || mask;
  toLog2 = scale * std::numbers::log2e;
}

Value AttentionTiles::fma(Value one, Value other, Value sum) {
  return math::FmaOp::create(b, one, other, sum);
}

Value AttentionTiles::power(Value exponent) {
  return LLVM::CallIntrinsicOp::create(b, b.getF32Type(),
                                       b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
      .getResult(0);
}

Value AttentionTiles::packed(Value low, Value high) {
  const StringRef name = format.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
  Value pair = LLVM::CallIntrinsicOp::create(b, VectorType::get(2, format), b.getStringAttr(name),
                                             ValueRange{high, low})
                   .getResult(0);
  return format.isBF16() ? asWord(pair) : pair;
}

Value AttentionTiles::asWord(Value pair) {
  return pair.getType() == b.getI32Type() ? pair : LLVM::BitcastOp::create(b, b.getI32Type(), pair);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

AttentionTiles::Lines AttentionTiles::ofQueries(Value buffer) {
  return {buffer, rows, group ? mul(group, rowsOfGroup) : Value(), rowsOfGroup};
}

Value AttentionTiles::computed(StringRef instruction) {
  return LLVM::InlineAsmOp::create(b, b.getI32Type(), ValueRange(), instruction, "=r",
                                   /*has_side_effects=*/true, /*is_align_stack=*/false,
                                   LLVM::TailCallKind::None, nullptr, nullptr)
      .getRes();
}

void AttentionTiles::placeThread(Value number) {
  thread = number;
  lane = rem(thread, kWarp);
  inGroup = rem(lane, 4);
  warpLine = mul(div(thread, kWarp), linesOfWarp());
  Value matrix = div(lane, 8), odd = rem(matrix, 2), upper = div(matrix, 2);
  linesFirst = placeOfLane(odd, upper);
  alongFirst = placeOfLane(upper, odd);
}

void AttentionTiles::placeBlock(Value first) {
  firstLine = first;
  ownLine = add(add(firstLine, warpLine), div(lane, 4));
}

Value AttentionTiles::placeOfLane(Value lines, Value along) {
  Value line = add(mul(lines, 8), rem(lane, 8));
  return add(mul(line, lineBytes()), mul(exchange(along, mixed(line)), kAccessBytes));
}

Value AttentionTiles::mixed(Value line) {
  const int64_t different = std::min<int64_t>(chunks(), 8);
  return rem(div(line, 8 / different), different);
}

Value AttentionTiles::sharedPointer(Value at, int64_t behind) {
  Value pointer = LLVM::IntToPtrOp::create(b, pointerIn(b, NVVM::NVVMMemorySpace::Shared), at);
  return bytesBehind(b, pointer, static_cast<int32_t>(behind));
}

Value AttentionTiles::globalPointer(Value buffer, int64_t count, Value skipped, int64_t size) {
  const auto wide = [&](Value of) -> Value {
    return arith::ExtUIOp::create(b, b.getI64Type(), of);
  };
  Value start = arith::IndexCastOp::create(
      b, b.getI64Type(), memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
  Value ofHead =
      arith::MulIOp::create(b, wide(head), arith::ConstantIntOp::create(b, count * size, 64));
  // What is the same for keys and values is kept once.
  Value at = add(start, add(ofHead, wide(mul(skipped, size))));
  return LLVM::IntToPtrOp::create(b, pointerIn(b, NVVM::NVVMMemorySpace::Global), at);
}

void AttentionTiles::eachChunk(int64_t lines,
                               function_ref<void(Value, Value, int64_t, int64_t)> what) {
  const int64_t step = kThreads / chunks(); // a multiple of 8: chunks are exchanged alike
  Value chunk = rem(thread, chunks()), first = div(thread, chunks());
  Value place = add(mul(first, lineBytes()), mul(exchange(chunk, mixed(first)), kAccessBytes));
  OpBuilder::InsertionGuard after(b);
  if (depth < line) {
    auto guard = scf::IfOp::create(b, isLess(chunk, number(depth / kCopied)),
                                   /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
  }
  for (int64_t below = 0; below < lines; below += step)
    what(first, place, below * lineBytes(), below);
}

void AttentionTiles::copy(const Lines &lines, Value from, Value to, int64_t count) {
  Value target = add(shared, to);
  Value first = add(from, div(thread, chunks()));
  Value source = globalPointer(
      lines.buffer, lines.count * depth,
      add(mul(lines.begin ? add(lines.begin, first) : first, depth), inLine()), kBytes);
  eachChunk(count, [&](Value line, Value place, int64_t behind, int64_t step) {
    Value bytes;
    if (lines.limit % count != 0)
      bytes = choose(isLess(add(add(from, line), step), number(lines.limit)), number(kAccessBytes),
                     number(0));
    beginCopy(b, sharedPointer(add(target, place), behind),
              bytesBehind(b, source, static_cast<int32_t>(step * depth * kBytes)), bytes);
  });
}

Value AttentionTiles::loadOfLine(const Lines &lines, Value line) {
  Value at = least(line, lines.limit - 1);
  if (lines.begin) at = add(lines.begin, at);
  return LLVM::LoadOp::create(b, b.getF32Type(),
                              globalPointer(lines.buffer, lines.count, at, kFloatBytes));
}

void AttentionTiles::storeLines(MutableArrayRef<Value> sums, function_ref<Value(int64_t)> factor,
                                int64_t place, const Lines &into) {
  const int64_t columns = depth / kFragmentColumns;
  for (int64_t r = 0; r < linesOfThread(); ++r) {
    Value by = factor(r);
    Value inWarp = add(div(lane, 4), r * 8);
    Value begin = add(mul(add(warpLine, inWarp), lineBytes()), place);
    const auto own = ofLine(sums, r, columns);
    for (int64_t j = 0; j < columns; ++j) {
      Value one = *own[2 * j], other = *own[2 * j + 1];
      Value pair = by ? packed(times(one, by), times(other, by)) : packed(one, other);
      Value at =
          add(begin, add(mul(exchange(number(j), mixed(inWarp)), kAccessBytes), mul(inGroup, 4)));
      LLVM::StoreOp::create(b, asWord(pair), sharedPointer(add(shared, at), 0));
    }
  }
  gpu::BarrierOp::create(b);
  Value first = add(firstLine, div(thread, chunks()));
  Value target =
      globalPointer(into.buffer, into.count * depth,
                    add(mul(into.begin ? add(into.begin, first) : first, depth), inLine()), kBytes);
  auto words = VectorType::get(4, b.getI32Type());
  Value from = add(shared, place);
  eachChunk(linesOfBlock(), [&](Value line, Value chunk, int64_t behind, int64_t step) {
    OpBuilder::InsertionGuard after(b);
    if (into.limit % linesOfBlock() != 0) {
      Value isLine = isLess(add(add(firstLine, line), step), number(into.limit));
      auto guard = scf::IfOp::create(b, isLine, /*withElseRegion=*/false);
      b.setInsertionPointToStart(guard.thenBlock());
    }
    Value found =
        LLVM::LoadOp::create(b, words, sharedPointer(add(from, chunk), behind), kAccessBytes);
    LLVM::StoreOp::create(b, found,
                          bytesBehind(b, target, static_cast<int32_t>(step * depth * kBytes)),
                          kAccessBytes);
  });
}

//===----------------------------------------------------------------------===//
// The kernel and its tiles
//===----------------------------------------------------------------------===//

gpu::LaunchOp AttentionTiles::launch(int64_t blocks, int64_t ownOperands, int64_t numbersOfLine,
                                     StringRef module, StringRef kernel) {
  beginOfTiles = ownOperands * ownBytes();
  stageBytes = 2 * tileBytes() + numbersOfLine * tileLines * kFloatBytes;
  Value bytes = number(beginOfTiles + kStages * stageBytes);
  auto launch = launchOf(b, b.getLoc(), index(blocks), index(kThreads), module, kernel);
  launch.getDynamicSharedMemorySizeMutable().assign(bytes);
  auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
  Value all = gpu::DynamicSharedMemoryOp::create(
      b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
  shared = number(memref::ExtractAlignedPointerAsIndexOp::create(b, all));
  return launch;
}

void AttentionTiles::storeNumbers(ArrayRef<Value> ofLine, Value place) {
  auto guard = scf::IfOp::create(b, isLess(thread, number(tileLines)), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(guard.thenBlock());
  Value behind = add(shared, mul(thread, kFloatBytes));
  for (auto [i, number] : llvm::enumerate(ofLine))
    LLVM::StoreOp::create(b, number,
                          sharedPointer(add(behind, numbersOf(place, static_cast<int64_t>(i))), 0));
}

Value AttentionTiles::ofColumn(Value numbers, int64_t behind) {
  Value first = add(add(shared, numbers), mul(inGroup, 2 * kFloatBytes));
  return LLVM::LoadOp::create(b, b.getF32Type(), sharedPointer(first, behind * kFloatBytes));
}

SmallVector<Value>
AttentionTiles::tilesLoop(Value from, Value to, ArrayRef<Value> start,
                          function_ref<void(Value, Value, Value, MutableArrayRef<Value>)> what) {
  auto loop = scf::ForOp::create(b, from, to, number(1), start);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> state(loop.getRegionIterArgs());
  Value place = state.pop_back_val();
  // Those before this one were read by all when they are here.
  waitForCopies(b, 0);
  Value free = sub(number(2 * beginOfTiles + stageBytes), place); // the other one of two
  what(loop.getInductionVar(), place, free, state);
  state.push_back(free);
  scf::YieldOp::create(b, state);
  return SmallVector<Value>(loop.getResults());
}

void AttentionTiles::copyKeys(Value tile, Value to) {
  Value from = mul(tile, tileLines);
  copy(ofKeys(key), from, to, tileLines);
  copy(ofKeys(value), from, add(to, tileBytes()), tileLines);
}

void AttentionTiles::copyKeysBehind(Value tile, Value end, Value to) {
  Value next = add(tile, 1);
  {
    auto guard = scf::IfOp::create(b, isLess(next, end), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard inside(b);
    b.setInsertionPointToStart(guard.thenBlock());
    copyKeys(next, to);
  }
  NVVM::CpAsyncCommitGroupOp::create(b);
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

SmallVector<Value> AttentionTiles::matrices(Value place, int64_t behind, int64_t step,
                                            Value placeOfLane, bool transposed) {
  Value at = add(add(shared, place), exchange(placeOfLane, number(step * 2 * kAccessBytes)));
  return readMatrices(b, sharedPointer(at, behind * lineBytes()), transposed, format);
}

SmallVector<Value *> AttentionTiles::ofLine(MutableArrayRef<Value> all, int64_t line,
                                            int64_t columns) {
  SmallVector<Value *> found;
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t c = 0; c < 2; ++c)
      found.push_back(&sumsOf(all, line / 2, j, columns)[line % 2 * 2 + c]);
  return found;
}

void AttentionTiles::eachOfTile(MutableArrayRef<Value> all,
                                function_ref<void(Value &, int64_t, int64_t)> what) {
  const int64_t columns = tileLines / kFragmentColumns;
  for (int64_t i = 0; i < fragments; ++i)
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t c = 0; c < 4; ++c)
        what(sumsOf(all, i, j, columns)[c], 2 * i + c / 2, j * kFragmentColumns + c % 2);
}

void AttentionTiles::addLinesByTile(int64_t own, Value tile, MutableArrayRef<Value> sums) {
  const int64_t columns = tileLines / kFragmentColumns;
  Value ownPlace = mul(warpLine, lineBytes());
  if (own != 0) ownPlace = add(ownPlace, own);
  for (int64_t step = 0; step < depth / kFragmentDepth; ++step) {
    SmallVector<SmallVector<Value>> left;
    for (int64_t i = 0; i < fragments; ++i)
      left.push_back(matrices(ownPlace, i * kFragmentRows, step, linesFirst));
    for (int64_t j = 0; j < columns; j += 2) {
      const SmallVector<Value> right = matrices(tile, j * kFragmentColumns, step, alongFirst);
      for (int64_t i = 0; i < fragments; ++i)
        for (int64_t half = 0; half < 2; ++half)
          addProduct(b, format, left[i], {right[2 * half], right[2 * half + 1]},
                     sumsOf(sums, i, j + half, columns));
    }
  }
}

void AttentionTiles::addTileByWeights(Value tile, MutableArrayRef<Value> weights,
                                      MutableArrayRef<Value> sums) {
  const int64_t columns = tileLines / kFragmentColumns;
  for (int64_t j = 0; j < columns; j += 2) {
    SmallVector<SmallVector<Value>> left(fragments);
    for (int64_t i = 0; i < fragments; ++i)
      for (int64_t half = 0; half < 2; ++half) {
        const MutableArrayRef<Value> four = sumsOf(weights, i, j + half, columns);
        for (int64_t c = 0; c < 4; c += 2) left[i].push_back(packed(four[c], four[c + 1]));
      }
    for (int64_t step = 0; step < depth / kFragmentDepth; ++step) {
      const SmallVector<Value> right =
          matrices(tile, j * kFragmentColumns, step, linesFirst, /*transposed=*/true);
      for (int64_t i = 0; i < fragments; ++i)
        for (int64_t half = 0; half < 2; ++half)
          addProduct(b, format, left[i], {right[2 * half], right[2 * half + 1]},
                     sumsOf(sums, i, 2 * step + half, depth / kFragmentColumns));
    }
  }
}

//===----------------------------------------------------------------------===//
// What is seen
//===----------------------------------------------------------------------===//

Value AttentionTiles::isSeen(int64_t ofLine, int64_t behind) {
  // What is the same for a tile is computed once, and what is known is compared with.
  const auto reaches = [&](Value last, Value first, int64_t distance) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, sub(last, first), number(distance));
  };
  Value seen;
  if (isCausal)
    seen = ownsKeys ? reaches(add(column, offset), ownLine, 8 * ofLine - behind)
                    : reaches(add(ownLine, offset), column, behind - 8 * ofLine);
  // No row sees more than its own number of keys; what is made of an own key that is not there is
  // not stored.
  if (ownsKeys || keys % tileLines == 0 || (isCausal && rowsOfGroup + offset <= keys)) return seen;
  Value isThere = reaches(number(keys - 1), column, behind);
  return seen ? arith::AndIOp::create(b, seen, isThere).getResult() : isThere;
}

Value AttentionTiles::maskAt(Value row, Value key) {
  const ArrayRef<int64_t> shape = cast<MemRefType>(mask.getType()).getShape();
  SmallVector<Value> all(leading.size());
  Value rest = head;
  for (size_t axis = leading.size(); axis-- > 0;) {
    all[axis] = rem(rest, leading[axis]);
    rest = div(rest, leading[axis]);
  }
  row = least(row, rowsOfGroup - 1);
  all.push_back(group ? add(mul(group, rowsOfGroup), row) : row);
  all.push_back(least(key, keys - 1));
  SmallVector<Value> place;
  for (auto [size, at] : llvm::zip_equal(shape, ArrayRef(all).take_back(shape.size())))
    place.push_back(size == 1 ? index(0)
                              : arith::IndexCastOp::create(b, b.getIndexType(), at).getResult());
  return memref::LoadOp::create(b, mask, place);
}

Value AttentionTiles::seesWithMask(Value &score, int64_t ofLine, int64_t behind) {
  Value seen = isSeen(ofLine, behind);
  if (!mask) return seen;
  Value own = add(ownLine, ofLine * 8), other = add(column, behind);
  Value found = ownsKeys ? maskAt(other, own) : maskAt(own, other);
  if (addsMask) {
    Value added = arith::BitcastOp::create(b, format, found);
    added = arith::ExtFOp::create(b, b.getF32Type(), added);
    score = fma(score, real(toLog2), times(added, real(std::numbers::log2e)));
    found = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, added, minusInfinity());
  }
  return seen ? arith::AndIOp::create(b, seen, found).getResult() : found;
}

void AttentionTiles::clean(Value tile, Value numbers) {
  // Exponents of ones, in both halves of a word: one more carries into the sign.
  const int64_t exponents = format.isBF16() ? 0x7f807f80 : 0x7c007c00,
                one = format.isBF16() ? 0x00800080 : 0x04000400;
  auto words = VectorType::get(4, b.getI32Type());
  const auto bitsOf = [&](Value word, int64_t mask) -> Value {
    return arith::AndIOp::create(b, word, number(mask));
  };
  const auto signsOf = [&](Value word) { return add(bitsOf(word, exponents), one); };
  Value from = add(shared, tile), lineNumbers = add(shared, numbers);
  eachChunk(tileLines, [&](Value line, Value place, int64_t behind, int64_t step) {
    Value pointer = sharedPointer(add(from, place), behind);
    Value chunk = LLVM::LoadOp::create(b, words, pointer, kAccessBytes);
    SmallVector<Value> parts;
    Value any;
    for (int64_t i = 0; i < 4; ++i) {
      parts.push_back(LLVM::ExtractElementOp::create(b, chunk, number(i)));
      Value signs = signsOf(parts.back());
      any = any ? arith::OrIOp::create(b, any, signs).getResult() : signs;
    }
    constexpr int64_t kSigns = int64_t{std::numeric_limits<int32_t>::min()} | 0x8000;
    Value isAny =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bitsOf(any, kSigns), number(0));
    auto guard = scf::IfOp::create(b, isAny, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value cleaned = chunk;
    for (int64_t i = 0; i < 4; ++i) {
      // All bits of the halves that are not finite.
      Value low = arith::ShRUIOp::create(b, bitsOf(signsOf(parts[i]), kSigns), number(15));
      Value kept = exchange(mul(low, 0xffff), number(-1));
      cleaned = LLVM::InsertElementOp::create(
          b, cleaned, arith::AndIOp::create(b, parts[i], kept).getResult(), number(i));
    }
    LLVM::StoreOp::create(b, cleaned, pointer, kAccessBytes);
    Value number = sharedPointer(add(lineNumbers, mul(add(line, step), kFloatBytes)), 0);
    LLVM::StoreOp::create(b, real(std::numeric_limits<double>::quiet_NaN()), number);
  });
}

} // namespace mlir::weft
