// Attention on tensor cores: what a block keeps, how tiles of keys and values go by, and its
// softmax.
#include "Weft/Conversion/LoopsToGpu/Attention.h"
#include "Weft/Conversion/LoopsToGpu/Combining.h"
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace mlir::weft {

namespace {

/// Warps of a block, and what a warp has: fragments of rows below each other. With two of them it
/// reads each fragment of keys and values from shared memory for twice as many products.
constexpr int64_t kWarps = 4, kThreads = kWarps * kWarp, kFragments = 2;
constexpr int64_t kRowsOfWarp = kFragments * kFragmentRows, kRows = kWarps * kRowsOfWarp;
/// Keys of a tile, at most, and tiles in shared memory: one is copied while another is used.
constexpr int64_t kKeys = 64, kStages = 2;
/// Elements of a copy, a chunk; and bytes of an element.
constexpr int64_t kCopied = 8, kBytes = 2;
/// Rows that a thread has results of: the upper and the lower half of each fragment.
constexpr int64_t kRowsOfThread = 2 * kFragments;

class AttentionBuilder {
public:
  AttentionBuilder(ImplicitLocOpBuilder &b, AttentionOp op)
      : b(b), op(op), format(cast<FloatType>(op.getFormat())) {
    const ArrayRef<int64_t> query = cast<MemRefType>(op.getQuery().getType()).getShape();
    leading = SmallVector<int64_t>(query.drop_back(2));
    for (int64_t size : leading) heads *= size;
    rows = query[query.size() - 2];
    depth = query.back();
    keys = cast<MemRefType>(op.getKey().getType()).getShape()[query.size() - 2];
    line = static_cast<int64_t>(llvm::PowerOf2Ceil(depth));
    isCausal = op.getCausal() != "no";
    offset = op.getCausal() == "bottom_right" ? keys - queries() : 0;
    if (Value mask = op.getMask())
      addsMask = !cast<MemRefType>(mask.getType()).getElementType().isInteger(1);
    // Of a deep head with a mask a thread has no registers for the scores of all.
    if (op.getMask() && depth > 64) tileKeys = kKeys / 2;
    // Scores are powers of two in the end.
    toLog2 = op.getScale().convertToDouble() * std::numbers::log2e;
  }

  gpu::LaunchOp build(StringRef module, StringRef kernel) {
    const int64_t tiles = llvm::divideCeil(rows, kRows);
    auto launch = launchOf(b, b.getLoc(), index(heads * tiles), index(kThreads), module, kernel);
    launch.getDynamicSharedMemorySizeMutable().assign(sharedBytes(launch));
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    Value all = gpu::DynamicSharedMemoryOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
    shared = number(memref::ExtractAlignedPointerAsIndexOp::create(b, all));
    placeThread(number(launch.getThreadIds().x), number(launch.getBlockIds().x));

    copy(op.getQuery(), rows, firstRow, number(0), kRows);
    copyTile(number(0), number(beginOfTiles()));
    NVVM::CpAsyncCommitGroupOp::create(b);
    SmallVector<Value> state = startOfState();
    Value end = lastTile(), whole = wholeTiles();
    const std::optional<int64_t> known = knownWholeTiles();
    if (!known || *known > 0) state = tilesLoop(number(0), whole, end, /*isWhole=*/true, state);
    if (!known || *known * tileKeys != keys)
      state = tilesLoop(whole, end, end, /*isWhole=*/false, state);
    finish(state);
    return launch;
  }

private:
  //===--------------------------------------------------------------------===//
  // Numbers of 32 bits
  //===--------------------------------------------------------------------===//

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value number(int64_t value) { return arith::ConstantIntOp::create(b, value, 32); }
  Value number(Value of) { return arith::IndexCastOp::create(b, b.getI32Type(), of); }
  Value add(Value one, Value other) { return arith::AddIOp::create(b, one, other); }
  Value add(Value one, int64_t other) { return add(one, number(other)); }
  Value sub(Value one, Value other) { return arith::SubIOp::create(b, one, other); }
  Value mul(Value one, int64_t other) { return arith::MulIOp::create(b, one, number(other)); }
  Value div(Value one, int64_t other) { return arith::DivUIOp::create(b, one, number(other)); }
  Value rem(Value one, int64_t other) { return arith::RemUIOp::create(b, one, number(other)); }
  Value exchange(Value one, Value other) { return arith::XOrIOp::create(b, one, other); }
  Value least(Value one, int64_t other) { return arith::MinSIOp::create(b, one, number(other)); }
  Value isLess(Value one, Value other) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, one, other);
  }
  Value choose(Value condition, Value one, Value other) {
    return arith::SelectOp::create(b, condition, one, other);
  }

  Value real(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value minusInfinity() { return real(-std::numeric_limits<double>::infinity()); }
  Value isEqual(Value one, Value other) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, one, other);
  }
  Value fma(Value one, Value other, Value sum) { return math::FmaOp::create(b, one, other, sum); }
  Value times(Value one, Value other) { return arith::MulFOp::create(b, one, other); }
  /// 2 to that power, by the unit for it.
  Value power(Value exponent) {
    return LLVM::CallIntrinsicOp::create(b, b.getF32Type(),
                                         b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f32"), exponent)
        .getResult(0);
  }
  /// Two numbers rounded to the format, `low` in the lower half.
  Value packed(Value low, Value high) {
    const StringRef name = format.isBF16() ? "llvm.nvvm.ff2bf16x2.rn" : "llvm.nvvm.ff2f16x2.rn";
    return LLVM::CallIntrinsicOp::create(b, VectorType::get(2, format), b.getStringAttr(name),
                                         ValueRange{high, low})
        .getResult(0);
  }
  Value asWord(Value pair) { return LLVM::BitcastOp::create(b, b.getI32Type(), pair); }

  //===--------------------------------------------------------------------===//
  // Places
  //===--------------------------------------------------------------------===//

  int64_t queries() { return std::max<int64_t>(static_cast<int64_t>(op.getQueries()), 1); }
  int64_t chunks() const { return line / kCopied; }
  int64_t lineBytes() const { return line * kBytes; }
  /// Where keys and values are in shared memory, behind the queries, and what a tile of one takes.
  int64_t beginOfTiles() const { return kRows * lineBytes(); }
  int64_t tileBytes() const { return tileKeys * lineBytes(); }

  Value sharedBytes(gpu::LaunchOp launch) {
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPoint(launch);
    return number(beginOfTiles() + 2 * kStages * tileBytes());
  }

  /// What an instruction gives there and then: the compiler does not know what it is, and keeps
  /// nothing that is computed from it from another place.
  Value computed(StringRef instruction, ValueRange operands = {}) {
    return LLVM::InlineAsmOp::create(b, b.getI32Type(), operands, instruction,
                                     operands.empty() ? "=r" : "=r,r",
                                     /*has_side_effects=*/true, /*is_align_stack=*/false,
                                     LLVM::TailCallKind::None, nullptr, nullptr)
        .getRes();
  }

  void placeThread(Value number, Value block) {
    const int64_t tiles = llvm::divideCeil(rows, kRows);
    thread = number;
    lane = rem(thread, kWarp);
    inGroup = rem(lane, 4);
    warpRow = mul(div(thread, kWarp), kRowsOfWarp);
    Value tile = rem(block, tiles);
    head = div(block, tiles);
    // The last rows see most keys: what takes longest begins first.
    if (isCausal) tile = sub(this->number(tiles - 1), tile);
    firstRow = mul(tile, kRows);
    Value matrix = div(lane, 8), odd = rem(matrix, 2), upper = div(matrix, 2);
    linesFirst = placeOfLane(odd, upper);
    alongFirst = placeOfLane(upper, odd);
    row = add(add(firstRow, warpRow), div(lane, 4));
  }

  /// Where the lane's line of four matrices is, of which those with these numbers, 0 or 1, are 8
  /// lines on and 8 elements along.
  Value placeOfLane(Value lines, Value along) {
    Value line = add(mul(lines, 8), rem(lane, 8));
    return add(mul(line, lineBytes()), mul(exchange(along, mixed(line)), kAccessBytes));
  }

  /// By what the chunks of a line are exchanged, so that those of 8 lines below each other are in
  /// different banks.
  Value mixed(Value line) {
    const int64_t different = std::min<int64_t>(chunks(), 8);
    return rem(div(line, 8 / different), different);
  }

  Value sharedPointer(Value at, int64_t behind) {
    Value pointer = LLVM::IntToPtrOp::create(b, pointerIn(b, NVVM::NVVMMemorySpace::Shared), at);
    return bytesBehind(b, pointer, static_cast<int32_t>(behind));
  }
  /// An element of the head's part of a buffer, of which a head has `count`.
  Value globalPointer(Value buffer, int64_t count, Value element) {
    const auto wide = [&](Value of) -> Value {
      return arith::ExtUIOp::create(b, b.getI64Type(), of);
    };
    Value start = arith::IndexCastOp::create(
        b, b.getI64Type(), memref::ExtractAlignedPointerAsIndexOp::create(b, buffer));
    Value ofHead =
        arith::MulIOp::create(b, wide(head), arith::ConstantIntOp::create(b, count * kBytes, 64));
    // What is the same for keys and values is kept once.
    Value at = add(start, add(ofHead, wide(mul(element, kBytes))));
    return LLVM::IntToPtrOp::create(b, pointerIn(b, NVVM::NVVMMemorySpace::Global), at);
  }

  /// Calls `what` for each chunk that the thread has of so many lines: with its line, its place in
  /// shared memory, how far that is behind, and the line's distance.
  void eachChunk(int64_t lines,
                 function_ref<void(Value line, Value place, int64_t behind, int64_t step)> what) {
    const int64_t step = kThreads / chunks(); // a multiple of 8: chunks are exchanged alike
    Value chunk = rem(thread, chunks()), first = div(thread, chunks());
    Value place = add(mul(first, lineBytes()), mul(exchange(chunk, mixed(first)), 16));
    OpBuilder::InsertionGuard after(b);
    if (depth < line) {
      auto guard = scf::IfOp::create(b, isLess(chunk, number(depth / kCopied)),
                                     /*withElseRegion=*/false);
      b.setInsertionPointToStart(guard.thenBlock());
    }
    for (int64_t below = 0; below < lines; below += step)
      what(first, place, below * lineBytes(), below);
  }
  /// Where a thread's first chunk is in a line.
  Value inLine() { return mul(rem(thread, chunks()), kCopied); }

  /// Begins copies of lines of a buffer, which has `count` in a head, from `from` on.
  void copy(Value buffer, int64_t count, Value from, Value to, int64_t lines) {
    Value target = add(shared, to);
    Value source = globalPointer(buffer, count * depth,
                                 add(mul(add(from, div(thread, chunks())), depth), inLine()));
    eachChunk(lines, [&](Value first, Value place, int64_t behind, int64_t step) {
      Value bytes;
      if (count % lines != 0)
        bytes = choose(isLess(add(add(from, first), step), number(count)), number(kAccessBytes),
                       number(0));
      beginCopy(b, sharedPointer(add(target, place), behind),
                bytesBehind(b, source, static_cast<int32_t>(step * depth * kBytes)), bytes);
    });
  }
  /// The same of a tile of keys and values.
  void copyTile(Value tile, Value to) {
    Value from = mul(tile, tileKeys);
    copy(op.getKey(), keys, from, to, tileKeys);
    copy(op.getValue(), keys, from, add(to, tileBytes()), tileKeys);
  }

  /// The lane's registers of four matrices, 16 lines from `behind` on and the elements of a step,
  /// in the order in which products take them: moves of registers cost as much as arithmetic.
  SmallVector<Value> matrices(Value place, int64_t behind, int64_t step, Value placeOfLane,
                              bool transposed = false) {
    Value at = add(add(shared, place), exchange(placeOfLane, number(step * 2 * kAccessBytes)));
    return readMatrices(b, sharedPointer(at, behind * lineBytes()), transposed, format);
  }

  //===--------------------------------------------------------------------===//
  // What rows see
  //===--------------------------------------------------------------------===//

  /// One of the rows that a thread has results of.
  Value rowOf(int64_t number) { return add(row, number * 8); }

  /// Whether a thread's row sees a key that is so far behind one, of those that there are and that
  /// come before it; null if it sees all.
  Value isSeen(int64_t ofRow, Value firstKey, int64_t behind) {
    // What is the same for a tile is computed once, and what is known is compared with.
    const auto reaches = [&](Value last, int64_t distance) -> Value {
      return arith::CmpIOp::create(b, arith::CmpIPredicate::sge, sub(last, firstKey),
                                   number(distance));
    };
    Value seen;
    if (isCausal)
      seen = rows == queries() ? reaches(add(row, offset), behind - 8 * ofRow)
                               : reaches(add(rem(rowOf(ofRow), queries()), offset), behind);
    // No row sees more than its own number of keys.
    if (keys % tileKeys == 0 || (isCausal && queries() + offset <= keys)) return seen;
    Value isThere = reaches(number(keys - 1), behind);
    return seen ? arith::AndIOp::create(b, seen, isThere).getResult() : isThere;
  }

  /// What `of` is of the block's rows that see least and most, in causal order.
  Value ofBlock(bool most, function_ref<Value(Value last)> of) {
    Value last = least(add(firstRow, kRows - 1), rows - 1);
    Value extreme = rem(most ? last : firstRow, queries());
    if (rows != queries()) {
      // Rows of two heads: the last of one, the first of another.
      Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, div(firstRow, queries()),
                                          div(last, queries()));
      extreme = choose(isOne, extreme, number(most ? queries() - 1 : 0));
    }
    return of(arith::MaxSIOp::create(b, add(extreme, offset + 1), number(0)));
  }
  /// How many tiles all rows see whole: where that is known, so much.
  std::optional<int64_t> knownWholeTiles() {
    if (op.getMask()) return 0;
    if (isCausal) return std::nullopt;
    return keys / tileKeys;
  }
  Value wholeTiles() {
    if (std::optional<int64_t> known = knownWholeTiles()) return number(*known);
    return ofBlock(/*most=*/false,
                   [&](Value seen) { return least(div(seen, tileKeys), keys / tileKeys); });
  }
  /// Behind which no row sees any.
  Value lastTile() {
    const int64_t all = llvm::divideCeil(keys, tileKeys);
    if (!isCausal) return number(all);
    return ofBlock(/*most=*/true,
                   [&](Value seen) { return least(div(add(seen, tileKeys - 1), tileKeys), all); });
  }

  /// The place of an element in the mask, whose sizes of 1 are repeated.
  Value maskAt(Value row, Value key) {
    const ArrayRef<int64_t> shape = cast<MemRefType>(op.getMask().getType()).getShape();
    SmallVector<Value> all(leading.size());
    Value rest = head;
    for (size_t axis = leading.size(); axis-- > 0;) {
      all[axis] = rem(rest, leading[axis]);
      rest = div(rest, leading[axis]);
    }
    all.push_back(least(row, rows - 1));
    all.push_back(least(key, keys - 1));
    SmallVector<Value> place;
    for (auto [size, at] : llvm::zip_equal(shape, ArrayRef(all).take_back(shape.size())))
      place.push_back(size == 1 ? index(0)
                                : arith::IndexCastOp::create(b, b.getIndexType(), at).getResult());
    return memref::LoadOp::create(b, op.getMask(), place);
  }

  /// A score of what may be hidden.
  Value masked(Value score, int64_t ofRow, Value firstKey, int64_t behind) {
    Value seen = isSeen(ofRow, firstKey, behind);
    if (op.getMask()) {
      Value mask = maskAt(rowOf(ofRow), add(firstKey, behind));
      if (addsMask) {
        Value added = arith::BitcastOp::create(b, format, mask);
        added = arith::ExtFOp::create(b, b.getF32Type(), added);
        score = fma(score, real(toLog2), times(added, real(std::numbers::log2e)));
        mask = arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, added, minusInfinity());
      }
      seen = seen ? arith::AndIOp::create(b, seen, mask).getResult() : mask;
    }
    return choose(seen, score, minusInfinity());
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// Means, not divided yet, of fragments of rows and of columns; then of each row the largest
  /// score and the thread's part of the sum; then where the tile is in shared memory.
  int64_t meansCount() const { return kFragments * (depth / kFragmentColumns) * 4; }
  SmallVector<Value> startOfState() {
    SmallVector<Value> state(meansCount(), real(0));
    state.append(kRowsOfThread, minusInfinity());
    state.append(kRowsOfThread, real(0));
    state.push_back(number(beginOfTiles()));
    return state;
  }

  SmallVector<Value> tilesLoop(Value from, Value to, Value end, bool isWhole,
                               ArrayRef<Value> start) {
    auto loop = scf::ForOp::create(b, from, to, number(1), start);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value tile = loop.getInductionVar(), place = state.pop_back_val();
    // Those before this one were read by all when they are here.
    waitForCopies(b, 0);
    Value next = add(tile, 1);
    Value free = sub(number(2 * beginOfTiles() + 2 * tileBytes()), place); // the other one of two
    {
      auto guard = scf::IfOp::create(b, isLess(next, end), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(guard.thenBlock());
      copyTile(next, free);
    }
    NVVM::CpAsyncCommitGroupOp::create(b);
    addTile(tile, place, isWhole, state);
    state.push_back(free);
    scf::YieldOp::create(b, state);
    return SmallVector<Value>(loop.getResults());
  }

  /// Fragments of rows by columns: four sums each.
  static MutableArrayRef<Value> sumsOf(MutableArrayRef<Value> all, int64_t row, int64_t column,
                                       int64_t columns) {
    return all.slice((row * columns + column) * 4, 4);
  }

  void addTile(Value tile, Value place, bool isWhole, MutableArrayRef<Value> state) {
    const int64_t columns = tileKeys / kFragmentColumns;
    SmallVector<Value> scores(kFragments * columns * 4, real(0));
    for (int64_t step = 0; step < depth / kFragmentDepth; ++step) {
      SmallVector<SmallVector<Value>> left;
      for (int64_t i = 0; i < kFragments; ++i)
        left.push_back(matrices(mul(warpRow, lineBytes()), i * kFragmentRows, step, linesFirst));
      for (int64_t j = 0; j < columns; j += 2) {
        const SmallVector<Value> right = matrices(place, j * kFragmentColumns, step, alongFirst);
        for (int64_t i = 0; i < kFragments; ++i)
          for (int64_t half = 0; half < 2; ++half)
            addProduct(b, format, left[i], {right[2 * half], right[2 * half + 1]},
                       sumsOf(scores, i, j + half, columns));
      }
    }
    if (!isWhole) {
      Value firstKey = add(mul(tile, tileKeys), mul(inGroup, 2));
      for (int64_t i = 0; i < kFragments; ++i)
        for (int64_t j = 0; j < columns; ++j)
          for (int64_t c = 0; c < 4; ++c) {
            Value &score = sumsOf(scores, i, j, columns)[c];
            score = masked(score, 2 * i + c / 2, firstKey, j * kFragmentColumns + c % 2);
          }
    }
    for (int64_t r = 0; r < kRowsOfThread; ++r) exponentiate(r, scores, state);
    addValues(add(place, tileBytes()), scores, state.take_front(meansCount()));
  }

  /// A thread's numbers of a row among fragments.
  static SmallVector<Value *> ofRow(MutableArrayRef<Value> all, int64_t row, int64_t columns) {
    SmallVector<Value *> found;
    for (int64_t j = 0; j < columns; ++j)
      for (int64_t c = 0; c < 2; ++c)
        found.push_back(&sumsOf(all, row / 2, j, columns)[row % 2 * 2 + c]);
    return found;
  }

  /// As an intrinsic: of arith's op upstream may make a call of libdevice.
  Value larger(Value one, Value other) { return LLVM::MaxNumOp::create(b, one, other); }
  /// Of the lanes that have a row together.
  Value acrossRow(Value value, function_ref<Value(Value, Value)> combine) {
    for (int32_t mask : {1, 2})
      value = combine(
          value,
          gpu::ShuffleOp::create(b, value, mask, kWarp, gpu::ShuffleMode::XOR).getShuffleResult());
    return value;
  }

  /// What a row's largest score is for its exponents: 0 where it sees nothing.
  Value base(Value largest) { return choose(isEqual(largest, minusInfinity()), real(0), largest); }
  /// By what scores are multiplied to be powers of two: by nothing, where that has been done.
  double factor() const { return addsMask ? 1 : toLog2; }

  /// Makes a row's scores weights, and what it has so far relative to the same largest score.
  void exponentiate(int64_t row, MutableArrayRef<Value> scores, MutableArrayRef<Value> state) {
    Value &largest = state[meansCount() + row], &sum = state[meansCount() + kRowsOfThread + row];
    const auto own = ofRow(scores, row, tileKeys / kFragmentColumns);
    Value most = *own.front();
    for (Value *score : ArrayRef(own).drop_front()) most = larger(most, *score);
    most = larger(largest,
                  acrossRow(most, [&](Value one, Value other) { return larger(one, other); }));
    Value by = real(factor()), from = times(base(most), real(-factor()));
    Value shrunk = power(fma(largest, by, from));
    largest = most;
    sum = times(sum, shrunk);
    for (Value *score : own) {
      *score = power(fma(*score, by, from));
      sum = arith::AddFOp::create(b, sum, *score);
    }
    for (Value *mean : ofRow(state.take_front(meansCount()), row, depth / kFragmentColumns))
      *mean = times(*mean, shrunk);
  }

  /// Adds the values of a tile, by their weights.
  void addValues(Value place, MutableArrayRef<Value> weights, MutableArrayRef<Value> means) {
    const int64_t columns = tileKeys / kFragmentColumns;
    for (int64_t j = 0; j < columns; j += 2) {
      SmallVector<SmallVector<Value>> left(kFragments);
      for (int64_t i = 0; i < kFragments; ++i)
        for (int64_t half = 0; half < 2; ++half) {
          const MutableArrayRef<Value> four = sumsOf(weights, i, j + half, columns);
          for (int64_t c = 0; c < 4; c += 2) {
            Value pair = packed(four[c], four[c + 1]);
            left[i].push_back(format.isBF16() ? asWord(pair) : pair);
          }
        }
      for (int64_t step = 0; step < depth / kFragmentDepth; ++step) {
        const SmallVector<Value> right =
            matrices(place, j * kFragmentColumns, step, linesFirst, /*transposed=*/true);
        for (int64_t i = 0; i < kFragments; ++i)
          for (int64_t half = 0; half < 2; ++half)
            addProduct(b, format, left[i], {right[2 * half], right[2 * half + 1]},
                       sumsOf(means, i, 2 * step + half, depth / kFragmentColumns));
      }
    }
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  void finish(MutableArrayRef<Value> state) {
    // A block that saw nothing has copies on their way to where results go.
    waitForCopies(b, 0);
    if (isCausal) placeThread(computed("mov.u32 $0, %tid.x;"), computed("mov.u32 $0, %ctaid.x;"));
    const int64_t columns = depth / kFragmentColumns;
    for (int64_t r = 0; r < kRowsOfThread; ++r) {
      Value sum = acrossRow(state[meansCount() + kRowsOfThread + r], [&](Value one, Value other) {
        return arith::AddFOp::create(b, one, other).getResult();
      });
      Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, sum, real(0));
      sum = choose(isPositive, sum, real(1));
      Value inverse = arith::DivFOp::create(b, real(1), sum);
      Value inWarp = add(div(lane, 4), r * 8);
      Value line = mul(add(warpRow, inWarp), lineBytes());
      const auto means = ofRow(state.take_front(meansCount()), r, columns);
      for (int64_t j = 0; j < columns; ++j) {
        Value pair = packed(times(*means[2 * j], inverse), times(*means[2 * j + 1], inverse));
        Value at =
            add(line, add(mul(exchange(number(j), mixed(inWarp)), kAccessBytes), mul(inGroup, 4)));
        LLVM::StoreOp::create(b, asWord(pair), sharedPointer(add(shared, at), 0));
      }
      storeLog(r, state[meansCount() + r], sum);
    }
    gpu::BarrierOp::create(b);
    Value target = globalPointer(op.getInto()[0], rows * depth,
                                 add(mul(add(firstRow, div(thread, chunks())), depth), inLine()));
    auto words = VectorType::get(4, b.getI32Type());
    eachChunk(kRows, [&](Value first, Value place, int64_t behind, int64_t step) {
      OpBuilder::InsertionGuard after(b);
      if (rows % kRows != 0) {
        Value isRow = isLess(add(add(firstRow, first), step), number(rows));
        auto guard = scf::IfOp::create(b, isRow, /*withElseRegion=*/false);
        b.setInsertionPointToStart(guard.thenBlock());
      }
      Value found =
          LLVM::LoadOp::create(b, words, sharedPointer(add(shared, place), behind), kAccessBytes);
      LLVM::StoreOp::create(b, found,
                            bytesBehind(b, target, static_cast<int32_t>(step * depth * kBytes)),
                            kAccessBytes);
    });
  }

  /// The logarithm of a row's sum of exponentials, by one of the lanes that have the row.
  void storeLog(int64_t ofRow, Value largest, Value sum) {
    Value isOne = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, inGroup, number(0));
    Value isRow = arith::AndIOp::create(b, isOne, isLess(rowOf(ofRow), number(rows)));
    auto guard = scf::IfOp::create(b, isRow, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value log = fma(base(largest), real(factor() * std::numbers::ln2), math::LogOp::create(b, sum));
    Value bits = arith::TruncIOp::create(b, b.getI16Type(), asWord(packed(log, real(0))));
    LLVM::StoreOp::create(b, bits, globalPointer(op.getInto()[1], rows, rowOf(ofRow)));
  }

  ImplicitLocOpBuilder &b;
  AttentionOp op;
  FloatType format;
  SmallVector<int64_t> leading;
  int64_t heads = 1, rows = 0, keys = 0, depth = 0;
  int64_t tileKeys = kKeys;
  int64_t line = 0; ///< elements of a line of shared memory, a power of two
  bool isCausal = false, addsMask = false;
  int64_t offset = 0; ///< by how much the last key that a row sees is behind its number
  double toLog2 = 0;
  Value shared, thread, lane, inGroup, warpRow, head, firstRow;
  Value row;                    ///< the first one that the thread has results of
  Value linesFirst, alongFirst; ///< the lane's places in four matrices
};

} // namespace

gpu::LaunchOp buildAttention(ImplicitLocOpBuilder &b, AttentionOp op, StringRef module,
                             StringRef kernel) {
  return AttentionBuilder(b, op).build(module, kernel);
}

} // namespace mlir::weft
