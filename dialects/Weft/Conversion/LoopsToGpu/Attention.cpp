// Attention on tensor cores: how tiles of keys and values go by a block of queries, and its
// softmax.
#include "Weft/Conversion/LoopsToGpu/Attention.h"
#include "Weft/Conversion/LoopsToGpu/AttentionTiles.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numbers>

namespace mlir::weft {

namespace {

class AttentionBuilder : AttentionTiles {
public:
  AttentionBuilder(ImplicitLocOpBuilder &b, AttentionOp op) : AttentionTiles(b, op), op(op) {
    // With two fragments a warp reads each fragment of keys and values from shared memory for twice
    // as many products.
    fragments = 2;
    // Of a deep head with a mask a thread has no registers for the scores of all.
    if (mask && depth > 64) tileLines /= 2;
  }

  gpu::LaunchOp build(StringRef module, StringRef kernel) {
    auto launch = AttentionTiles::launch(heads * blocksOfHead(), /*ownOperands=*/1,
                                         /*numbersOfLine=*/hides ? 1 : 0, module, kernel);
    place(number(launch.getThreadIds().x), number(launch.getBlockIds().x));

    copy(ofQueries(query), firstLine, number(0), linesOfBlock());
    copyKeys(number(0), stage(0));
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (hides)
      for (int64_t i = 0; i < kStages; ++i) clearNumbers(stage(i));
    SmallVector<Value> state = startOfState();
    Value end = lastTile(), whole = wholeTiles();
    const std::optional<int64_t> known = knownWholeTiles();
    if (!known || *known > 0) state = keysLoop(number(0), whole, end, /*isWhole=*/true, state);
    if (!known || *known * tileLines != keys)
      state = keysLoop(whole, end, end, /*isWhole=*/false, state);
    finish(state);
    return launch;
  }

private:
  int64_t blocksOfGroup() const { return llvm::divideCeil(rowsOfGroup, linesOfBlock()); }
  int64_t blocksOfHead() const { return groups * blocksOfGroup(); }

  void place(Value thread, Value block) {
    placeThread(thread);
    Value ofHead = rem(block, blocksOfHead());
    head = div(block, blocksOfHead());
    if (groups > 1) group = div(ofHead, blocksOfGroup());
    Value tile = groups > 1 ? rem(ofHead, blocksOfGroup()) : ofHead;
    // The last rows see most keys: what takes longest begins first.
    if (isCausal) tile = sub(number(blocksOfGroup() - 1), tile);
    placeBlock(mul(tile, linesOfBlock()));
  }

  //===--------------------------------------------------------------------===//
  // What rows see
  //===--------------------------------------------------------------------===//

  /// How many keys the block's rows see that see least and most, in causal order.
  Value seenByLeast() { return most(add(firstLine, offset + 1), 0); }
  Value seenByMost() {
    return most(add(least(add(firstLine, linesOfBlock() - 1), rowsOfGroup - 1), offset + 1), 0);
  }
  /// How many tiles all rows see whole: where that is known, so much.
  std::optional<int64_t> knownWholeTiles() {
    if (mask) return 0;
    if (isCausal) return std::nullopt;
    return keys / tileLines;
  }
  Value wholeTiles() {
    if (std::optional<int64_t> known = knownWholeTiles()) return number(*known);
    return least(div(seenByLeast(), tileLines), keys / tileLines);
  }
  /// Behind which no row sees any.
  Value lastTile() {
    const int64_t all = llvm::divideCeil(keys, tileLines);
    if (!isCausal) return number(all);
    return least(div(add(seenByMost(), tileLines - 1), tileLines), all);
  }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  /// Means, not divided yet, of fragments of rows and of columns; then of each row the largest
  /// score and the thread's part of the sum; then where the tile is in shared memory.
  int64_t meansCount() const { return fragments * (depth / kFragmentColumns) * 4; }
  SmallVector<Value> startOfState() {
    SmallVector<Value> state(meansCount(), real(0));
    state.append(linesOfThread(), minusInfinity());
    state.append(linesOfThread(), real(0));
    state.push_back(stage(0));
    return state;
  }

  SmallVector<Value> keysLoop(Value from, Value to, Value end, bool isWhole,
                              ArrayRef<Value> start) {
    return tilesLoop(from, to, start,
                     [&](Value tile, Value place, Value free, MutableArrayRef<Value> state) {
                       copyKeysBehind(tile, end, free);
                       if (hides && !isWhole) {
                         clearNumbers(free);
                         clean(add(place, tileBytes()), numbersOf(place));
                         gpu::BarrierOp::create(b);
                       }
                       addTile(tile, place, isWhole, state);
                     });
  }

  void addTile(Value tile, Value place, bool isWhole, MutableArrayRef<Value> state) {
    SmallVector<Value> scores(fragments * (tileLines / kFragmentColumns) * 4, real(0));
    if (hides && !isWhole) {
      // NaN of a value that is seen goes to the sums by its score.
      SmallVector<Value> columns(tileLines);
      eachOfTile(scores, [&](Value &score, int64_t, int64_t behind) {
        if (!columns[behind]) columns[behind] = ofColumn(numbersOf(place), behind);
        score = columns[behind];
      });
    }
    addLinesByTile(/*own=*/0, place, scores);
    if (!isWhole) {
      column = add(mul(tile, tileLines), mul(inGroup, 2));
      eachOfTile(scores, [&](Value &score, int64_t ofLine, int64_t behind) {
        Value seen = seesWithMask(score, ofLine, behind);
        score = orMinusInfinity(seen, score);
      });
    }
    for (int64_t r = 0; r < linesOfThread(); ++r) exponentiate(r, scores, state);
    addTileByWeights(add(place, tileBytes()), scores, state.take_front(meansCount()));
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
  Value base(Value largest) {
    Value sees = arith::CmpFOp::create(b, arith::CmpFPredicate::OEQ, largest, minusInfinity());
    return choose(sees, real(0), largest);
  }

  /// Makes a row's scores weights, and what it has so far relative to the same largest score.
  void exponentiate(int64_t row, MutableArrayRef<Value> scores, MutableArrayRef<Value> state) {
    Value &largest = state[meansCount() + row], &sum = state[meansCount() + linesOfThread() + row];
    const auto own = ofLine(scores, row, tileLines / kFragmentColumns);
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
    for (Value *mean : ofLine(state.take_front(meansCount()), row, depth / kFragmentColumns))
      *mean = times(*mean, shrunk);
  }

  //===--------------------------------------------------------------------===//
  // Results
  //===--------------------------------------------------------------------===//

  void finish(MutableArrayRef<Value> state) {
    // A block that saw nothing has copies on their way to where results go.
    waitForCopies(b, 0);
    if (isCausal) place(computed("mov.u32 $0, %tid.x;"), computed("mov.u32 $0, %ctaid.x;"));
    const Lines logs = ofQueries(op.getInto()[1]);
    storeLines(
        state.take_front(meansCount()),
        [&](int64_t r) -> Value {
          Value sum =
              acrossRow(state[meansCount() + linesOfThread() + r], [&](Value one, Value other) {
                return arith::AddFOp::create(b, one, other).getResult();
              });
          Value isPositive = arith::CmpFOp::create(b, arith::CmpFPredicate::UGT, sum, real(0));
          sum = choose(isPositive, sum, real(1));
          storeLog(logs, r, state[meansCount() + r], sum);
          return arith::DivFOp::create(b, real(1), sum);
        },
        /*place=*/0, ofQueries(op.getInto()[0]));
  }

  /// The logarithm of a row's sum of exponentials, by one of the lanes that have the row.
  void storeLog(const Lines &logs, int64_t ofLine, Value largest, Value sum) {
    Value row = add(ownLine, ofLine * 8);
    Value isRow = arith::AndIOp::create(b, isEqual(inGroup, 0), isLess(row, number(logs.limit)));
    auto guard = scf::IfOp::create(b, isRow, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value log = fma(base(largest), real(factor() * std::numbers::ln2), math::LogOp::create(b, sum));
    Value at = logs.begin ? add(logs.begin, row) : row;
    LLVM::StoreOp::create(b, log, globalPointer(logs.buffer, logs.count, at, kFloatBytes));
  }

  AttentionOp op;
};

} // namespace

gpu::LaunchOp buildAttention(ImplicitLocOpBuilder &b, Operation *op, StringRef module,
                             StringRef kernel) {
  if (auto forward = dyn_cast<AttentionOp>(op))
    return AttentionBuilder(b, forward).build(module, kernel);
  return buildAttentionGradients(b, cast<AttentionGradientsOp>(op), module, kernel);
}

} // namespace mlir::weft
