// The gradients of attention on tensor cores: those of keys and values by blocks of keys, those of
// queries by blocks of rows.
#include "Weft/Conversion/LoopsToGpu/Attention.h"
#include "Weft/Conversion/LoopsToGpu/AttentionTiles.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

#include <numbers>

namespace mlir::weft {

namespace {

class AttentionGradientsBuilder : AttentionTiles {
public:
  AttentionGradientsBuilder(ImplicitLocOpBuilder &b, AttentionGradientsOp op)
      : AttentionTiles(b, op), op(op) {
    // What fits in the registers of a thread: sums of two results by depth, and scores and their
    // gradients by the lines of a tile.
    fragments = depth <= 64 ? 2 : 1;
    tileLines = depth > 32 && depth <= 64 ? 32 : 64;
  }

  gpu::LaunchOp build(StringRef module, StringRef kernel) {
    const int64_t blocks = heads * (blocksOfKeys() + blocksOfRows());
    auto launch =
        AttentionTiles::launch(blocks, /*ownOperands=*/2, /*numbersOfLine=*/2, module, kernel);
    placeThread(number(launch.getThreadIds().x));
    Value block = number(launch.getBlockIds().x), keyBlocks = number(heads * blocksOfKeys());
    auto phases = scf::IfOp::create(b, isLess(block, keyBlocks), /*withElseRegion=*/true);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(phases.thenBlock());
    ownsKeys = true;
    ofBlockOfKeys(block);
    b.setInsertionPointToStart(phases.elseBlock());
    ownsKeys = false;
    ofBlockOfRows(sub(block, keyBlocks));
    return launch;
  }

private:
  int64_t blocksOfKeys() const { return llvm::divideCeil(keys, linesOfBlock()); }
  int64_t blocksOfGroup() const { return llvm::divideCeil(rowsOfGroup, linesOfBlock()); }
  int64_t blocksOfRows() const { return groups * blocksOfGroup(); }

  /// The logarithm of a row's sum as a power of two, negative; of keys 0. NaN, where the line has
  /// something that is not finite and that has to be kept from those that do not see it.
  Value logsOf(Value place) { return numbersOf(place, 0); }
  /// The sum of a row's weights by their gradients.
  Value alongOf(Value place) { return numbersOf(place, 1); }

  int64_t sumsCount() const { return fragments * (depth / kFragmentColumns) * 4; }

  //===--------------------------------------------------------------------===//
  // The two kinds of blocks
  //===--------------------------------------------------------------------===//

  void ofBlockOfKeys(Value block) {
    head = div(block, blocksOfKeys());
    group = Value();
    placeBlock(mul(rem(block, blocksOfKeys()), linesOfBlock()));
    // Own lines, beside those of the first tile of rows, are here at the first barrier.
    copy(ofKeys(key), firstLine, number(0), linesOfBlock());
    copy(ofKeys(op.getValue()), firstLine, number(ownBytes()), linesOfBlock());

    const int64_t tiles = llvm::divideCeil(rowsOfGroup, tileLines);
    Value first = number(0), wholeFrom = number(mask ? tiles : 0), end = number(tiles);
    if (isCausal) {
      // The rows that see the first own key, and those that see the last.
      first = least(div(most(add(firstLine, -offset), 0), tileLines), tiles);
      if (!mask) {
        Value all = add(firstLine, linesOfBlock() - 1 - offset + tileLines - 1);
        wholeFrom = least(div(most(all, 0), tileLines), tiles);
      }
    }
    SmallVector<Value> state(2 * sumsCount(), real(0));
    state.push_back(stage(0));
    if (groups > 1) group = number(0);
    copyRows(least(first, tiles - 1), stage(0));
    storeNumbers(loadNumbers(least(first, tiles - 1)), stage(0));
    NVVM::CpAsyncCommitGroupOp::create(b);

    const auto ofGroup = [&](SmallVector<Value> sums) {
      if (hides) sums = rowsLoop(first, wholeFrom, first, end, /*isWhole=*/false, sums);
      if (!mask) sums = rowsLoop(wholeFrom, end, first, end, /*isWhole=*/true, sums);
      return sums;
    };
    if (groups > 1) {
      auto loop = scf::ForOp::create(b, number(0), number(groups), number(1), state);
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(loop.getBody());
      group = loop.getInductionVar();
      scf::YieldOp::create(b, ofGroup(SmallVector<Value>(loop.getRegionIterArgs())));
      state.assign(loop.getResults().begin(), loop.getResults().end());
    } else {
      state = ofGroup(state);
    }
    // A block that nobody sees has copies on their way to where results go.
    waitForCopies(b, 0);
    MutableArrayRef<Value> sums(state);
    Value scale = real(scaleOfScores());
    storeLines(
        sums.take_front(sumsCount()), [&](int64_t) { return scale; }, /*place=*/0,
        ofKeys(op.getInto()[1]));
    storeLines(
        sums.slice(sumsCount(), sumsCount()), [](int64_t) { return Value(); },
        /*place=*/ownBytes(), ofKeys(op.getInto()[2]));
  }

  void ofBlockOfRows(Value block) {
    head = div(block, blocksOfRows());
    Value ofHead = rem(block, blocksOfRows()), own = ofHead;
    group = Value();
    if (groups > 1) {
      group = div(ofHead, blocksOfGroup());
      own = rem(ofHead, blocksOfGroup());
    }
    // The last rows see most keys: what takes longest begins first.
    if (isCausal) own = sub(number(blocksOfGroup() - 1), own);
    placeBlock(mul(own, linesOfBlock()));
    copy(ofQueries(query), firstLine, number(0), linesOfBlock());
    copy(ofQueries(op.getCotangent()), firstLine, number(ownBytes()), linesOfBlock());
    copyKeys(number(0), stage(0));
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (hides)
      for (int64_t i = 0; i < kStages; ++i) clearNumbers(stage(i));
    for (int64_t r = 0; r < linesOfThread(); ++r) {
      Value row = add(ownLine, r * 8);
      ownLogs.push_back(
          times(loadOfLine(ofQueries(op.getLogs()), row), real(-std::numbers::log2e)));
      ownAlong.push_back(loadOfLine(ofQueries(op.getAlong()), row));
    }

    const int64_t tiles = llvm::divideCeil(keys, tileLines);
    Value whole = number(mask ? 0 : keys / tileLines), end = number(tiles);
    if (isCausal) {
      // How many keys the first row sees, and the last one.
      Value last = least(add(firstLine, linesOfBlock() - 1), rowsOfGroup - 1);
      if (!mask)
        whole = least(div(most(add(firstLine, offset + 1), 0), tileLines), keys / tileLines);
      end = least(div(most(add(last, offset + tileLines), 0), tileLines), tiles);
    }
    SmallVector<Value> state(sumsCount(), real(0));
    state.push_back(stage(0));
    if (!mask) state = keysLoop(number(0), whole, end, /*isWhole=*/true, state);
    if (hides || keys % tileLines != 0) state = keysLoop(whole, end, end, /*isWhole=*/false, state);
    waitForCopies(b, 0);
    Value scale = real(scaleOfScores());
    storeLines(
        MutableArrayRef<Value>(state).take_front(sumsCount()), [&](int64_t) { return scale; },
        /*place=*/0, ofQueries(op.getInto()[0]));
  }

  double scaleOfScores() { return op.getScale().convertToDouble(); }

  //===--------------------------------------------------------------------===//
  // Tiles
  //===--------------------------------------------------------------------===//

  void copyRows(Value tile, Value to) {
    Value from = mul(tile, tileLines);
    copy(ofQueries(query), from, to, tileLines);
    copy(ofQueries(op.getCotangent()), from, add(to, tileBytes()), tileLines);
  }
  /// What a thread loads of a tile of rows: a line's logarithm and sum. Of a line that is not there
  /// weights are 0.
  SmallVector<Value> loadNumbers(Value tile) {
    Value row = add(mul(tile, tileLines), least(thread, tileLines - 1));
    Value logs = times(loadOfLine(ofQueries(op.getLogs()), row), real(-std::numbers::log2e));
    if (rowsOfGroup % tileLines != 0)
      logs = choose(isLess(row, number(rowsOfGroup)), logs, minusInfinity());
    return {logs, loadOfLine(ofQueries(op.getAlong()), row)};
  }
  /// Tiles of rows from `from` to `to`, of those of a group from `first` to `end`; behind the last
  /// one of a group is the first of the next.
  SmallVector<Value> rowsLoop(Value from, Value to, Value first, Value end, bool isWhole,
                              ArrayRef<Value> start) {
    return tilesLoop(from, to, start,
                     [&](Value tile, Value place, Value free, MutableArrayRef<Value> state) {
                       const SmallVector<Value> numbers = copyRowsBehind(tile, first, end, free);
                       if (!isWhole) {
                         clean(place, logsOf(place));
                         clean(add(place, tileBytes()), logsOf(place));
                         gpu::BarrierOp::create(b);
                       }
                       addTile(tile, place, isWhole, state);
                       storeNumbers(numbers, free);
                     });
  }
  /// Begins copies of the tile behind one, and gives its numbers, which are on their way.
  SmallVector<Value> copyRowsBehind(Value tile, Value first, Value end, Value to) {
    Value next = add(tile, 1), isThere = isLess(next, end), here = group;
    if (groups > 1) {
      Value behind = add(group, 1);
      group = choose(isThere, group, behind);
      next = choose(isThere, next, first);
      isThere = arith::OrIOp::create(b, isThere, isLess(behind, number(groups)));
    }
    auto guard = scf::IfOp::create(b, TypeRange{b.getF32Type(), b.getF32Type()}, isThere,
                                   /*addThenBlock=*/true, /*addElseBlock=*/true);
    {
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(guard.thenBlock());
      copyRows(next, to);
      scf::YieldOp::create(b, loadNumbers(next));
      b.setInsertionPointToStart(guard.elseBlock());
      scf::YieldOp::create(b, ValueRange{real(0), real(0)});
    }
    group = here;
    NVVM::CpAsyncCommitGroupOp::create(b);
    return SmallVector<Value>(guard.getResults());
  }

  SmallVector<Value> keysLoop(Value from, Value to, Value end, bool isWhole,
                              ArrayRef<Value> start) {
    return tilesLoop(from, to, start,
                     [&](Value tile, Value place, Value free, MutableArrayRef<Value> state) {
                       copyKeysBehind(tile, end, free);
                       if (hides && !isWhole) {
                         clearNumbers(free);
                         clean(place, logsOf(place));
                         gpu::BarrierOp::create(b);
                       }
                       addTile(tile, place, isWhole, state);
                     });
  }

  /// Adds what a tile makes of the sums: by the weights, which are computed again, and by the
  /// gradients of the scores.
  void addTile(Value tile, Value place, bool isWhole, MutableArrayRef<Value> state) {
    const bool mayHide = hides && !isWhole;
    SmallVector<Value> weights(fragments * (tileLines / kFragmentColumns) * 4, real(0));
    SmallVector<Value> logs(tileLines), along(tileLines);
    if (mayHide && !ownsKeys)
      eachOfTile(weights, [&](Value &weight, int64_t, int64_t behind) {
        if (!logs[behind]) logs[behind] = ofColumn(logsOf(place), behind);
        weight = logs[behind];
      });
    addLinesByTile(/*own=*/0, place, weights);
    column = add(mul(tile, tileLines), mul(inGroup, 2));
    eachOfTile(weights, [&](Value &weight, int64_t ofLine, int64_t behind) {
      Value seen = isWhole ? Value() : seesWithMask(weight, ofLine, behind);
      if (ownsKeys && !logs[behind]) logs[behind] = ofColumn(logsOf(place), behind);
      Value exponent = fma(weight, real(factor()), ownsKeys ? logs[behind] : ownLogs[ofLine]);
      weight = power(orMinusInfinity(seen, exponent));
    });
    if (ownsKeys)
      addTileByWeights(add(place, tileBytes()), weights, state.slice(sumsCount(), sumsCount()));

    SmallVector<Value> byScores(weights.size(), real(0));
    addLinesByTile(/*own=*/ownBytes(), add(place, tileBytes()), byScores);
    auto weight = weights.begin();
    eachOfTile(byScores, [&](Value &by, int64_t ofLine, int64_t behind) {
      if (ownsKeys && !along[behind]) along[behind] = ofColumn(alongOf(place), behind);
      Value own = *weight++;
      by = times(own, minus(by, ownsKeys ? along[behind] : ownAlong[ofLine]));
      // What is hidden has no gradient, be that of its weight what it may.
      if (mayHide)
        by = choose(arith::CmpFOp::create(b, arith::CmpFPredicate::UNE, own, real(0)), by, real(0));
    });
    addTileByWeights(place, byScores, state.take_front(sumsCount()));
  }

  AttentionGradientsOp op;
  SmallVector<Value> ownLogs, ownAlong; ///< of the rows of a thread, as those of a tile
};

} // namespace

gpu::LaunchOp buildAttentionGradients(ImplicitLocOpBuilder &b, AttentionGradientsOp op,
                                      StringRef module, StringRef kernel) {
  return AttentionGradientsBuilder(b, op).build(module, kernel);
}

} // namespace mlir::weft
