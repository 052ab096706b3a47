// What the kernels of attention share: which lines a block has, how tiles of others go by in shared
// memory, and which pairs of queries and keys see each other.
#pragma once

#include "Weft/Conversion/LoopsToGpu/Combining.h"
#include "Weft/Conversion/LoopsToGpu/Cores.h"
#include "Weft/IR/Weft.h"

#include <cmath>

namespace mlir::weft {

/// Builds kernels whose warps have lines of a matrix of scores: its rows, which are of queries, or
/// its columns, of keys. Lines of the other kind go by in tiles. Heads that share keys have their
/// rows behind each other; where it matters which row of a head a row is, a block has rows of one.
class AttentionTiles {
protected:
  /// Warps of a block.
  static constexpr int64_t kWarps = 4, kThreads = kWarps * kWarp;
  /// Tiles in shared memory: one is copied while another is used.
  static constexpr int64_t kStages = 2;
  /// Elements of a copy, a chunk; and bytes of an element and of an f32.
  static constexpr int64_t kCopied = 8, kBytes = 2, kFloatBytes = 4;

  /// Of AttentionOp or AttentionGradientsOp.
  template <class Op>
  AttentionTiles(ImplicitLocOpBuilder &b, Op op)
      : b(b), query(op.getQuery()), key(op.getKey()), value(op.getValue()), mask(op.getMask()),
        format(cast<FloatType>(op.getFormat())) {
    setSizes(op.getCausal(), op.getScale().convertToDouble(), op.getQueries());
  }

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
  Value most(Value one, int64_t other) { return arith::MaxSIOp::create(b, one, number(other)); }
  Value isLess(Value one, Value other) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::slt, one, other);
  }
  Value isEqual(Value one, int64_t other) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, one, number(other));
  }
  Value choose(Value condition, Value one, Value other) {
    return arith::SelectOp::create(b, condition, one, other);
  }

  Value real(double value) {
    return arith::ConstantOp::create(b, b.getF32FloatAttr(static_cast<float>(value)));
  }
  Value minusInfinity() { return real(-HUGE_VAL); }
  Value fma(Value one, Value other, Value sum);
  Value times(Value one, Value other) { return arith::MulFOp::create(b, one, other); }
  Value minus(Value one, Value other) { return arith::SubFOp::create(b, one, other); }
  /// 2 to that power, by the unit for it.
  Value power(Value exponent);
  /// Two numbers rounded to the format, `low` in the lower half, as products take them.
  Value packed(Value low, Value high);
  Value asWord(Value pair);

  //===--------------------------------------------------------------------===//
  // Lines
  //===--------------------------------------------------------------------===//

  /// Lines of a buffer that a block or its tiles may have.
  struct Lines {
    Value buffer;
    int64_t count; ///< of a head
    Value begin;   ///< the first of those that are meant; null for 0
    int64_t limit; ///< how many are meant
  };
  Lines ofKeys(Value buffer) const { return {buffer, keys, Value(), keys}; }
  /// Those of the block's group of rows.
  Lines ofQueries(Value buffer);

  int64_t chunks() const { return line / kCopied; }
  int64_t lineBytes() const { return line * kBytes; }
  int64_t tileBytes() const { return tileLines * lineBytes(); }
  int64_t linesOfWarp() const { return fragments * kFragmentRows; }
  int64_t linesOfBlock() const { return kWarps * linesOfWarp(); }
  /// Lines that a thread has results of: the upper and the lower half of each fragment.
  int64_t linesOfThread() const { return 2 * fragments; }

  /// What an instruction gives there and then: the compiler does not know what it is, and keeps
  /// nothing that is computed from it from another place.
  Value computed(StringRef instruction);

  /// Sets what follows from the number of a thread.
  void placeThread(Value number);
  /// Sets the first of the block's own lines in its head or group, which the thread's follow from.
  void placeBlock(Value firstLine);

  /// By what the chunks of a line are exchanged, so that those of 8 lines below each other are in
  /// different banks.
  Value mixed(Value line);

  Value sharedPointer(Value at, int64_t behind);
  /// Behind the `skipped` elements of `size` bytes of the head's part of a buffer, of `count`.
  Value globalPointer(Value buffer, int64_t count, Value skipped, int64_t size);

  /// Calls `what` for each chunk that the thread has of so many lines: with its line, its place in
  /// shared memory, how far that is behind, and the line's distance.
  void eachChunk(int64_t lines,
                 function_ref<void(Value line, Value place, int64_t behind, int64_t step)> what);

  //===--------------------------------------------------------------------===//
  // The kernel and its tiles
  //===--------------------------------------------------------------------===//

  /// The launch, with shared memory for `ownOperands` operands' own lines and then for the stages,
  /// each with tiles of two operands and `numbersOfLine` numbers of each line of these.
  gpu::LaunchOp launch(int64_t blocks, int64_t ownOperands, int64_t numbersOfLine, StringRef module,
                       StringRef kernel);
  int64_t ownBytes() const { return linesOfBlock() * lineBytes(); }
  Value stage(int64_t of) { return number(beginOfTiles + of * stageBytes); }
  /// Where numbers of a stage at `place` are: of a line that NaN is to reach, or 0; then others.
  Value numbersOf(Value place, int64_t number = 0) {
    return add(place, 2 * tileBytes() + number * tileLines * kFloatBytes);
  }
  /// Stores a number of each line of a tile, which the line's thread has.
  void storeNumbers(ArrayRef<Value> ofLine, Value place);
  void clearNumbers(Value place) { storeNumbers({real(0)}, place); }
  /// A thread's number of a column of a tile.
  Value ofColumn(Value numbers, int64_t behind);

  /// A loop over tiles whose last value is where the tile is in shared memory. `what` is called
  /// where the tile is there and nobody uses the `free` stage any more.
  SmallVector<Value> tilesLoop(
      Value from, Value to, ArrayRef<Value> start,
      function_ref<void(Value tile, Value place, Value free, MutableArrayRef<Value> state)> what);
  /// Begins copies of a tile of keys and values; of the one behind `tile`, if it is before `end`.
  void copyKeys(Value tile, Value to);
  void copyKeysBehind(Value tile, Value end, Value to);

  /// Begins copies of `count` lines, from `from` on, to shared memory.
  void copy(const Lines &lines, Value from, Value to, int64_t count);
  /// An f32 of a line, of which a buffer has one for each.
  Value loadOfLine(const Lines &lines, Value line);

  /// Results of the block's own lines, four sums of each fragment, times what `factor` gives of one
  /// of a thread's lines: through shared memory at `place`, where the warp has lines of its own.
  void storeLines(MutableArrayRef<Value> sums, function_ref<Value(int64_t line)> factor,
                  int64_t place, const Lines &into);

  //===--------------------------------------------------------------------===//
  // Products
  //===--------------------------------------------------------------------===//

  /// The lane's registers of four matrices, 16 lines from `behind` on and the elements of a step,
  /// in the order in which products take them: moves of registers cost as much as arithmetic.
  SmallVector<Value> matrices(Value place, int64_t behind, int64_t step, Value placeOfLane,
                              bool transposed = false);

  /// Fragments of own lines by columns: four sums each.
  static MutableArrayRef<Value> sumsOf(MutableArrayRef<Value> all, int64_t row, int64_t column,
                                       int64_t columns) {
    return all.slice((row * columns + column) * 4, 4);
  }
  /// A thread's numbers of a line among fragments.
  static SmallVector<Value *> ofLine(MutableArrayRef<Value> all, int64_t line, int64_t columns);

  /// Calls `what` for each number of a thread in the fragments of own lines by a tile's: with which
  /// of its lines it is of, and how far its column is behind the first one.
  void eachOfTile(MutableArrayRef<Value> all,
                  function_ref<void(Value &number, int64_t ofLine, int64_t behind)> what);

  /// Adds to fragments of own lines by a tile's the products of own lines in shared memory with
  /// those of the tile.
  void addLinesByTile(int64_t own, Value tile, MutableArrayRef<Value> sums);
  /// Adds to fragments of own lines by depth the tile's lines, by weights, which are rounded.
  void addTileByWeights(Value tile, MutableArrayRef<Value> weights, MutableArrayRef<Value> sums);

  //===--------------------------------------------------------------------===//
  // What is seen
  //===--------------------------------------------------------------------===//

  /// Whether own line `ofLine` of the thread and the column so far behind `column` see each other,
  /// of those that there are; null if all do.
  Value isSeen(int64_t ofLine, int64_t behind);
  /// The same with the mask; null if all do. A score to which the mask adds a number is scaled.
  Value seesWithMask(Value &score, int64_t ofLine, int64_t behind);
  Value orMinusInfinity(Value seen, Value number) {
    return seen ? choose(seen, number, minusInfinity()) : number;
  }
  /// By what scores are multiplied to be powers of two: by nothing, where that has been done.
  double factor() const { return addsMask ? 1 : toLog2; }

  /// Where a row may not look, what is not finite is to have no influence, and 0 times it has: puts
  /// 0 in its place in a tile, and NaN in that of the line's number, an f32 in `numbers`.
  void clean(Value tile, Value numbers);

  ImplicitLocOpBuilder &b;
  Value query, key, value, mask;
  FloatType format;
  SmallVector<int64_t> leading;
  int64_t heads = 1, rows = 0, keys = 0, depth = 0;
  int64_t groups = 1, rowsOfGroup = 0; ///< of a head: rows of which it matters where they are
  int64_t line = 0;                    ///< elements of a line of shared memory, a power of two
  bool isCausal = false, addsMask = false;
  bool hides = false; ///< whether a row may not see all keys
  int64_t offset = 0; ///< by how much the last key that a row sees is behind its number
  double toLog2 = 0;  ///< makes exponents of e of scores, and these of 2

  int64_t fragments = 1, tileLines = 64;
  bool ownsKeys = false; ///< whether own lines are of keys, and tiles of rows

  int64_t beginOfTiles = 0, stageBytes = 0; ///< in shared memory

  Value shared, thread, lane, inGroup, warpLine;
  Value head, group;            ///< the block's; null if a head has one
  Value firstLine;              ///< the block's first own line
  Value ownLine;                ///< the first own line that the thread has results of
  Value column;                 ///< the first line of a tile that it has
  Value linesFirst, alongFirst; ///< the lane's places in four matrices

private:
  void setSizes(StringRef causal, double scale, uint64_t queries);
  /// Where the lane's line of four matrices is, of which those with these numbers, 0 or 1, are 8
  /// lines on and 8 elements along.
  Value placeOfLane(Value lines, Value along);
  /// Where a thread's first chunk is in a line.
  Value inLine() { return mul(rem(thread, chunks()), kCopied); }
  /// The place of an element in the mask, whose sizes of 1 are repeated.
  Value maskAt(Value row, Value key);
};

} // namespace mlir::weft
