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
    auto launch = launchOf(b, b.getLoc(), index(blocks), index(kThreads), module, kernel);
    launch.getDynamicSharedMemorySizeMutable().assign(sharedBytes(launch));
    auto space = gpu::AddressSpaceAttr::get(b.getContext(), gpu::AddressSpace::Workgroup);
    Value all = gpu::DynamicSharedMemoryOp::create(
        b, MemRefType::get({ShapedType::kDynamic}, b.getI8Type(), AffineMap(), space));
    shared = number(memref::ExtractAlignedPointerAsIndexOp::create(b, all));
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

  /// Shared memory has the own lines of two operands; then stages, each with tiles of two, and two
  /// numbers of each line of a tile.
  int64_t ownBytes() const { return linesOfBlock() * lineBytes(); }
  int64_t beginOfTiles() const { return 2 * ownBytes(); }
  int64_t stageBytes() const { return 2 * (tileBytes() + tileLines * kFloatBytes); }
  /// The logarithm of a row's sum as a power of two, negative; of keys 0. NaN, where the line has
  /// something that is not finite and that has to be kept from those that do not see it.
  Value logsOf(Value place) { return add(place, 2 * tileBytes()); }
  /// The sum of a row's weights by their gradients.
  Value alongOf(Value place) { return add(logsOf(place), tileLines * kFloatBytes); }

  Value sharedBytes(gpu::LaunchOp launch) {
    OpBuilder::InsertionGuard outside(b);
    b.setInsertionPoint(launch);
    return number(beginOfTiles() + kStages * stageBytes());
  }

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
    state.push_back(number(beginOfTiles()));
    if (groups > 1) group = number(0);
    copyRows(least(first, tiles - 1), number(beginOfTiles()));
    storeNumbers(loadNumbers(least(first, tiles - 1)), number(beginOfTiles()));
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
    copyKeys(number(0), number(beginOfTiles()));
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (hides)
      for (int64_t stage = 0; stage < kStages; ++stage)
        clearNumbers(number(beginOfTiles() + stage * stageBytes()));
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
    state.push_back(number(beginOfTiles()));
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
  void copyKeys(Value tile, Value to) {
    Value from = mul(tile, tileLines);
    copy(ofKeys(key), from, to, tileLines);
    copy(ofKeys(op.getValue()), from, add(to, tileBytes()), tileLines);
  }

  /// What a thread loads of a tile of rows: a line's logarithm and sum. Of a line that is not there
  /// weights are 0.
  std::pair<Value, Value> loadNumbers(Value tile) {
    Value row = add(mul(tile, tileLines), least(thread, tileLines - 1));
    Value logs = times(loadOfLine(ofQueries(op.getLogs()), row), real(-std::numbers::log2e));
    if (rowsOfGroup % tileLines != 0)
      logs = choose(isLess(row, number(rowsOfGroup)), logs, minusInfinity());
    return {logs, loadOfLine(ofQueries(op.getAlong()), row)};
  }
  void storeNumbers(std::pair<Value, Value> ofLine, Value place) {
    auto guard = scf::IfOp::create(b, isLess(thread, number(tileLines)), /*withElseRegion=*/false);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    Value behind = add(shared, mul(thread, kFloatBytes));
    LLVM::StoreOp::create(b, ofLine.first, sharedPointer(add(behind, logsOf(place)), 0));
    if (ofLine.second)
      LLVM::StoreOp::create(b, ofLine.second, sharedPointer(add(behind, alongOf(place)), 0));
  }
  void clearNumbers(Value place) { storeNumbers({real(0), Value()}, place); }

  /// A thread's numbers of the columns of a tile, read where they are used first.
  Value ofColumn(Value numbers, int64_t behind) {
    Value first = add(add(shared, numbers), mul(inGroup, 2 * kFloatBytes));
    return LLVM::LoadOp::create(b, b.getF32Type(), sharedPointer(first, behind * kFloatBytes));
  }

  /// Tiles of rows from `from` to `to`, of those of a group from `first` to `end`; behind the last
  /// one of a group is the first of the next.
  SmallVector<Value> rowsLoop(Value from, Value to, Value first, Value end, bool isWhole,
                              ArrayRef<Value> start) {
    auto loop = scf::ForOp::create(b, from, to, number(1), start);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value tile = loop.getInductionVar(), place = state.pop_back_val();
    waitForCopies(b, 0);
    Value free = sub(number(2 * beginOfTiles() + stageBytes()), place); // the other one of two
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
      copyRows(next, free);
      const auto [logs, along] = loadNumbers(next);
      scf::YieldOp::create(b, ValueRange{logs, along});
      b.setInsertionPointToStart(guard.elseBlock());
      scf::YieldOp::create(b, ValueRange{real(0), real(0)});
    }
    group = here;
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (!isWhole) {
      clean(place, logsOf(place));
      clean(add(place, tileBytes()), logsOf(place));
      gpu::BarrierOp::create(b);
    }
    addTile(tile, place, isWhole, state);
    storeNumbers({guard.getResult(0), guard.getResult(1)}, free);
    state.push_back(free);
    scf::YieldOp::create(b, state);
    return SmallVector<Value>(loop.getResults());
  }

  SmallVector<Value> keysLoop(Value from, Value to, Value end, bool isWhole,
                              ArrayRef<Value> start) {
    auto loop = scf::ForOp::create(b, from, to, number(1), start);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    SmallVector<Value> state(loop.getRegionIterArgs());
    Value tile = loop.getInductionVar(), place = state.pop_back_val();
    waitForCopies(b, 0);
    Value free = sub(number(2 * beginOfTiles() + stageBytes()), place);
    Value next = add(tile, 1);
    {
      auto guard = scf::IfOp::create(b, isLess(next, end), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard inside(b);
      b.setInsertionPointToStart(guard.thenBlock());
      copyKeys(next, free);
    }
    NVVM::CpAsyncCommitGroupOp::create(b);
    if (hides && !isWhole) {
      clearNumbers(free);
      clean(place, logsOf(place));
      gpu::BarrierOp::create(b);
    }
    addTile(tile, place, isWhole, state);
    state.push_back(free);
    scf::YieldOp::create(b, state);
    return SmallVector<Value>(loop.getResults());
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
