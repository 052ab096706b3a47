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

/// The plane of the last two loops: strips of as many rows as a tile has, and in each the tiles and
/// what is left behind the last one.
void NestEmitter::tiles(Position &position) {
  const Product &rows = nest_.dims[nest_.tileDim].size, &columns = nest_.dims[nest_.vectorDim].size;
  const int64_t side = nest_.tile;
  Value height = rows.materialize(b_, loc_), width = columns.materialize(b_, loc_);
  Value grain;
  if (position.entered.none() && worthThreads())
    grain = grainOf(Product(nest_.cost * side) * columns);
  if (position.entered.none() && !columns.isStatic()) {
    // A result without elements may have any number of rows.
    Value none = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq, width, constant(0));
    height = arith::SelectOp::create(b_, loc_, none, constant(0), height);
  }
  Value full = columns.isStatic() ? constant(columns.constant / side * side)
                                  : b_.createOrFold<arith::AndIOp>(loc_, width, constant(-side));
  OpFoldResult rest = b_.getIndexAttr(columns.constant % side);
  if (!columns.isStatic()) rest = b_.createOrFold<arith::SubIOp>(loc_, width, full);

  auto rowByRow = [&](Value begin, Value end, Value column, OpFoldResult count) {
    loop(begin, end, 1, [&](Value row) {
      Position inside = position;
      enter(inside, nest_.tileDim, row);
      vectorSteps(inside, column, count);
    });
  };
  auto strip = [&](Value first, Value end) {
    loop(constant(0), full, side, [&](Value column) { tile(position, first, column); });
    if (!isConstantIntValue(rest, 0)) rowByRow(first, end, full, rest);
  };
  Value strips = b_.createOrFold<arith::CeilDivUIOp>(loc_, height, constant(side));
  auto outer = loop(constant(0), strips, 1, [&](Value iv) {
    Value first = arith::MulIOp::create(b_, loc_, iv, constant(side));
    Value end = arith::AddIOp::create(b_, loc_, first, constant(side));
    if (rows.isStatic() && rows.constant % side == 0) return strip(first, end);
    Value whole = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ule, end, height);
    auto branch = scf::IfOp::create(b_, loc_, whole, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(branch.thenBlock());
    strip(first, end);
    b_.setInsertionPointToStart(branch.elseBlock());
    OpFoldResult all = columns.isStatic() ? OpFoldResult(b_.getIndexAttr(columns.constant)) : width;
    rowByRow(first, height, constant(0), all);
  });
  if (grain) parallel_ = ParallelLoop{outer, grain};
}
