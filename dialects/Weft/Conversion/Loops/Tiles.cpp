// Emits square tiles: inputs that run along another loop than the vectors are transposed on the
// way.

#include "Weft/Conversion/Loops/EmitterParts.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::weft;

/// Rows become columns, in place: as many vectors as each has lanes, a power of two. Stage `half`
/// exchanges the blocks of `half` lanes beside the diagonal of each block of twice as many.
void NestEmitter::transpose(SmallVectorImpl<Value> &rows) {
  const auto lanes = static_cast<int64_t>(rows.size());
  for (int64_t half = 1; half < lanes; half *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < lanes; ++lane) {
      const bool right = (lane & half) != 0;
      low.push_back(right ? lanes + lane - half : lane);
      high.push_back(right ? lanes + lane : lane + half);
    }
    for (int64_t row = 0; row < lanes; ++row) {
      if ((row & half) != 0) continue;
      Value upper = rows[row], lower = rows[row + half];
      rows[row] = vector::ShuffleOp::create(b_, loc_, upper, lower, low);
      rows[row + half] = vector::ShuffleOp::create(b_, loc_, upper, lower, high);
    }
  }
}

/// The transposed input `access` in one tile: a vector along the loop of vectors for each row.
SmallVector<Value> NestEmitter::transposedRows(const Access &access, Value at) {
  Value view = flat(access);
  auto type = VectorType::get({nest_.tile}, cast<MemRefType>(view.getType()).getElementType());
  SmallVector<Value> rows;
  for (int64_t lane = 0; lane < nest_.tile; ++lane)
    rows.push_back(vector::LoadOp::create(b_, loc_, type, view, laneAt(access, at, lane)));
  transpose(rows);
  return rows;
}

/// A place on the stack for the rows of a tile, which is made once per call.
Value NestEmitter::tileBuffer(VectorType row) {
  OpBuilder::InsertionGuard guard(b_);
  auto function = b_.getInsertionBlock()->getParentOp();
  if (!isa<func::FuncOp>(function)) function = function->getParentOfType<func::FuncOp>();
  b_.setInsertionPointToStart(&cast<func::FuncOp>(function).getBody().front());
  auto type = MemRefType::get({nest_.tile * nest_.tile}, row.getElementType());
  return memref::AllocaOp::create(b_, loc_, type, b_.getI64IntegerAttr(64));
}

/// The tile of the rows from `row` on and of the lanes from `column` on.
void NestEmitter::tile(const Position &position, Value row, Value column) {
  /// So many ops of a body are repeated for each row of a tile; a larger one is a loop, and finds
  /// the rows on the stack.
  constexpr int64_t kRepeated = 4;
  Position corner = position;
  enter(corner, nest_.tileDim, row);
  enter(corner, nest_.vectorDim, column);
  SmallVector<SmallVector<Value>> inputs(nest_.numInputs());
  for (auto [i, access] : llvm::enumerate(nest_.inputs()))
    if (nest_.isTransposed(access) && !nest_.op.getBlock()->getArgument(i).use_empty())
      inputs[i] = transposedRows(access, corner.at[i]);

  Block &body = *nest_.op.getBlock();
  if (std::distance(body.begin(), body.end()) - 1 <= kRepeated) {
    for (int64_t r = 0; r < nest_.tile; ++r) {
      Position inside = position;
      for (auto [i, rows] : llvm::enumerate(inputs))
        if (!rows.empty()) inside.loaded[i] = fromMemory(nest_.accesses[i], rows[r]);
      enter(inside, nest_.tileDim, row, r);
      enter(inside, nest_.vectorDim, column);
      element(inside, nest_.tile, {});
    }
    return;
  }
  SmallVector<Value> buffers(inputs.size());
  for (auto [rows, buffer] : llvm::zip_equal(inputs, buffers)) {
    if (rows.empty()) continue;
    buffer = tileBuffer(cast<VectorType>(rows.front().getType()));
    for (auto [r, vector] : llvm::enumerate(rows))
      vector::StoreOp::create(b_, loc_, vector, buffer,
                              constant(static_cast<int64_t>(r) * nest_.tile));
  }
  loop(constant(0), constant(nest_.tile), 1, [&](Value r) {
    Position inside = position;
    Value start = arith::MulIOp::create(b_, loc_, r, constant(nest_.tile));
    for (auto [i, buffer] : llvm::enumerate(buffers)) {
      if (!buffer) continue;
      auto type = cast<VectorType>(inputs[i].front().getType());
      Value vector = vector::LoadOp::create(b_, loc_, type, buffer, start);
      inside.loaded[i] = fromMemory(nest_.accesses[i], vector);
    }
    enter(inside, nest_.tileDim, arith::AddIOp::create(b_, loc_, row, r));
    enter(inside, nest_.vectorDim, column);
    element(inside, nest_.tile, {});
  });
}

/// The plane of the last two loops in blocks, which threads can share; in each the tiles, column
/// of tiles by column, and what is left behind them. Blocks keep the lines that tiles share in the
/// cache, and the pages in reach: twice as fast as strips of tiles where rows are 8 KiB apart.
void NestEmitter::tiles(Position &position) {
  constexpr int64_t kBlockRows = 128, kBlockColumns = 512;
  const Product &rows = nest_.dims[nest_.tileDim].size, &columns = nest_.dims[nest_.vectorDim].size;
  const int64_t side = nest_.tile;
  Value height = rows.materialize(b_, loc_), width = columns.materialize(b_, loc_);
  Value grain;
  if (position.entered.none() && worthThreads()) {
    const bool narrow = columns.isStatic() && columns.constant < kBlockColumns;
    const Product block = narrow ? columns : Product(kBlockColumns);
    grain = grainOf(Product(nest_.cost * kBlockRows) * block);
  }
  auto divided = [&](Value size, int64_t by) {
    return b_.createOrFold<arith::CeilDivUIOp>(loc_, size, constant(by));
  };
  /// Beginning, end of the whole tiles, and end of a block along one loop.
  struct Range {
    Value begin, whole, end;
    bool hasRest;
  };
  auto rangeOf = [&](Value block, int64_t size, const Product &all, Value total) {
    Value begin = b_.createOrFold<arith::MulIOp>(loc_, block, constant(size));
    Value end = b_.createOrFold<arith::AddIOp>(loc_, begin, constant(size));
    if (!all.isStatic() || all.constant % size != 0)
      end = b_.createOrFold<arith::MinUIOp>(loc_, end, total);
    if (all.isStatic() && all.constant % side == 0) return Range{begin, end, end, false};
    Value length = b_.createOrFold<arith::SubIOp>(loc_, end, begin);
    Value tiles = b_.createOrFold<arith::AndIOp>(loc_, length, constant(-side));
    return Range{begin, b_.createOrFold<arith::AddIOp>(loc_, begin, tiles), end, true};
  };
  auto rowByRow = [&](Value begin, Value end, Value column, Value columnEnd) {
    Value count = b_.createOrFold<arith::SubIOp>(loc_, columnEnd, column);
    loop(begin, end, 1, [&](Value row) {
      Position inside = position;
      enter(inside, nest_.tileDim, row);
      vectorSteps(inside, column, count);
    });
  };
  Value across = divided(width, kBlockColumns);
  Value number = b_.createOrFold<arith::MulIOp>(loc_, divided(height, kBlockRows), across);
  auto outer = loop(constant(0), number, 1, [&](Value iv) {
    const Range down =
        rangeOf(b_.createOrFold<arith::DivUIOp>(loc_, iv, across), kBlockRows, rows, height);
    const Range along =
        rangeOf(b_.createOrFold<arith::RemUIOp>(loc_, iv, across), kBlockColumns, columns, width);
    loop(along.begin, along.whole, side, [&](Value column) {
      loop(down.begin, down.whole, side, [&](Value row) { tile(position, row, column); });
    });
    if (along.hasRest) rowByRow(down.begin, down.whole, along.whole, along.end);
    if (down.hasRest) rowByRow(down.whole, down.end, along.begin, along.end);
  });
  if (grain) parallel_ = ParallelLoop{outer, grain};
}
