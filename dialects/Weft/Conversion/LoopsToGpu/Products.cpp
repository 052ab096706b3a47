// Tiles of products: which loops are rows and columns, copies to shared memory, and the inner loop.
#include "Weft/Conversion/LoopsToGpu/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

using linalg::GenericOp;

namespace {

/// Threads of a block along each axis of its tile.
constexpr int64_t kAlong = 16;
/// Fewer rows or columns than this are no tile's.
constexpr int64_t kLeastOfTile = 16;
/// From so many rows and columns on the tiles are the large ones.
constexpr int64_t kManyOfTile = 512;
/// Banks of shared memory.
constexpr int64_t kBanks = 32;

/// What the loops of a product are.
struct Roles {
  SmallVector<unsigned> batches, rows, columns;
  unsigned summed = 0;
  OpOperand *lhs = nullptr, *rhs = nullptr;
};

/// None if it is no product of two buffers by plain subscripts.
std::optional<Roles> rolesOf(GenericOp op) {
  SmallVector<unsigned> reduced;
  op.getReductionDims(reduced);
  if (op.getNumDpsInputs() != 2 || op.getNumDpsInits() != 1 || reduced.size() != 1)
    return std::nullopt;
  Roles roles;
  roles.summed = reduced.front();
  roles.lhs = op.getDpsInputOperand(0);
  roles.rhs = op.getDpsInputOperand(1);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type || !type.getElementType().isIntOrFloat() || !map.isProjectedPermutation())
      return std::nullopt;
  }
  AffineMap left = op.getMatchingIndexingMap(roles.lhs);
  AffineMap right = op.getMatchingIndexingMap(roles.rhs);
  if (!left.isFunctionOfDim(roles.summed) || !right.isFunctionOfDim(roles.summed))
    return std::nullopt;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (loop == roles.summed) continue;
    const bool isLeft = left.isFunctionOfDim(loop), isRight = right.isFunctionOfDim(loop);
    if (isLeft && isRight) roles.batches.push_back(loop);
    else if (isLeft) roles.rows.push_back(loop);
    else if (isRight) roles.columns.push_back(loop);
    else return std::nullopt;
  }
  if (!op.getBody()->getOps<linalg::IndexOp>().empty()) return std::nullopt;
  return roles;
}

/// Builds the launch of one product.
class ProductBuilder {
public:
  ProductBuilder(ImplicitLocOpBuilder &b, GenericOp op)
      : b(b), nest(b, op), op(op), roles(*rolesOf(op)) {
    const auto rows = knownCount(op, roles.rows), columns = knownCount(op, roles.columns);
    isLarge = rows && columns && *rows >= kManyOfTile && *columns >= kManyOfTile;
    ofThread = isLarge ? 8 : 4;
    tile = kAlong * ofThread;
    depth = isLarge ? 8 : 16;
  }

  gpu::LaunchOp build(ArrayRef<Value> starts, StringRef module, StringRef kernel) {
    rows = nest.count(roles.rows);
    columns = nest.count(roles.columns);
    summed = nest.size(roles.summed);
    Value tilesOfRows = b.createOrFold<arith::CeilDivUIOp>(rows, index(tile));
    Value tilesOfColumns = b.createOrFold<arith::CeilDivUIOp>(columns, index(tile));
    Value tiles = b.createOrFold<arith::MulIOp>(tilesOfRows, tilesOfColumns);
    Value blocks = b.createOrFold<arith::MulIOp>(tiles, nest.count(roles.batches));
    gpu::LaunchOp launch = launchOf(b, b.getLoc(), blocks, index(kBlockSize), module, kernel);
    lhs = shared(launch, *roles.lhs);
    rhs = shared(launch, *roles.rhs);

    thread = launch.getThreadIds().x;
    Value block = launch.getBlockIds().x;
    nest.setPlaces(roles.batches, div(block, tiles));
    Value ofBatch = rem(block, tiles);
    firstRow = mul(div(ofBatch, tilesOfColumns), index(tile));
    firstColumn = mul(rem(ofBatch, tilesOfColumns), index(tile));
    // Neighbouring threads have neighbouring columns, so that they meet different banks.
    column = rem(thread, index(kAlong));
    row = div(thread, index(kAlong));

    SmallVector<Value> sums;
    eachResult(
        [&](Value, Value) { sums.push_back(nest.loadOrStart(*op.getDpsInitOperand(0), starts)); });
    auto loop = scf::ForOp::create(b, index(0), summed, index(depth), sums);
    {
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(loop.getBody());
      Value at = loop.getInductionVar();
      copyPart(lhs, *roles.lhs, roles.rows, firstRow, rows, at);
      copyPart(rhs, *roles.rhs, roles.columns, firstColumn, columns, at);
      gpu::BarrierOp::create(b);
      sums = addPart(at, SmallVector<Value>(loop.getRegionIterArgs()));
      gpu::BarrierOp::create(b);
      scf::YieldOp::create(b, sums);
    }
    size_t number = 0;
    eachResult([&](Value isRow, Value isColumn) {
      auto guard = scf::IfOp::create(b, arith::AndIOp::create(b, isRow, isColumn),
                                     /*withElseRegion=*/false);
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(guard.thenBlock());
      nest.store(0, loop.getResult(number++));
    });
    return launch;
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }
  Value add(Value one, Value other) { return arith::AddIOp::create(b, one, other); }
  Value mul(Value one, Value other) { return arith::MulIOp::create(b, one, other); }
  Value div(Value one, Value other) { return arith::DivUIOp::create(b, one, other); }
  Value rem(Value one, Value other) { return arith::RemUIOp::create(b, one, other); }
  Value last(Value count) { return arith::SubIOp::create(b, count, index(1)); }

  /// Whether the summed loop runs fastest in an operand.
  bool isAlongSum(OpOperand &operand) {
    return op.getMatchingIndexingMap(&operand).getResults().back() ==
           getAffineDimExpr(roles.summed, b.getContext());
  }

  /// Place for a part of an operand, the summed loop first. Threads that copy along that loop are
  /// spread over all banks by what each line is longer.
  Value shared(gpu::LaunchOp launch, OpOperand &operand) {
    const int64_t line = tile + (isAlongSum(operand) ? kBanks / depth : 0);
    return sharedMemory(launch, {depth, line},
                        cast<MemRefType>(operand.get().getType()).getElementType());
  }

  /// Copies a part of an operand, neighbouring threads along what is fastest in memory. Beyond the
  /// ends it has what is there, which nobody uses.
  void copyPart(Value buffer, OpOperand &operand, ArrayRef<unsigned> loops, Value first,
                Value count, Value at) {
    const bool isAlong = isAlongSum(operand);
    const int64_t fast = isAlong ? depth : tile;
    for (int64_t done = 0; done < tile * depth; done += kBlockSize) {
      Value number = done == 0 ? thread : add(thread, index(done));
      Value inside = rem(number, index(fast)), outside = div(number, index(fast));
      Value inDepth = isAlong ? inside : outside, inTile = isAlong ? outside : inside;
      nest.setPlace(roles.summed, arith::MinUIOp::create(b, add(at, inDepth), last(summed)));
      nest.setPlaces(loops, arith::MinUIOp::create(b, add(first, inTile), last(count)));
      memref::StoreOp::create(b, nest.load(operand), buffer, ValueRange{inDepth, inTile});
    }
  }

  /// The results with what a part adds to them.
  SmallVector<Value> addPart(Value at, SmallVector<Value> sums) {
    const std::optional<int64_t> known = knownCount(op, roles.summed);
    const bool isWhole = known && *known % depth == 0;
    Value end = isWhole
                    ? index(depth)
                    : arith::MinUIOp::create(b, index(depth), arith::SubIOp::create(b, summed, at))
                          .getResult();
    const int64_t unrolled = isWhole ? 4 : 1;
    auto loop = scf::ForOp::create(b, index(0), end, index(unrolled), sums);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    sums = SmallVector<Value>(loop.getRegionIterArgs());
    for (int64_t i = 0; i < unrolled; ++i) {
      Value line = i == 0 ? loop.getInductionVar() : add(loop.getInductionVar(), index(i));
      SmallVector<Value> left, right;
      for (int64_t j = 0; j < ofThread; ++j) {
        auto load = [&](Value buffer, Value place) -> Value {
          return memref::LoadOp::create(
              b, buffer, ValueRange{line, j == 0 ? place : add(place, index(j * kAlong))});
        };
        left.push_back(load(lhs, row));
        right.push_back(load(rhs, column));
      }
      for (int64_t j = 0; j < ofThread * ofThread; ++j) {
        Value &sum = sums[j];
        Value next =
            nest.body(sum,
                      [&](OpOperand &operand) {
                        return &operand == roles.lhs ? left[j / ofThread] : right[j % ofThread];
                      })
                .front();
        sum = fuseProduct(b, next, sum);
      }
    }
    scf::YieldOp::create(b, sums);
    return SmallVector<Value>(loop.getResults());
  }

  /// Calls `what` with the place set to each result of the thread, and whether it is one.
  void eachResult(function_ref<void(Value isRow, Value isColumn)> what) {
    for (int64_t i = 0; i < ofThread; ++i) {
      Value m = add(add(firstRow, row), index(i * kAlong));
      Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, m, rows);
      nest.setPlaces(roles.rows, arith::MinUIOp::create(b, m, last(rows)));
      for (int64_t j = 0; j < ofThread; ++j) {
        Value n = add(add(firstColumn, column), index(j * kAlong));
        Value isColumn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, n, columns);
        nest.setPlaces(roles.columns, arith::MinUIOp::create(b, n, last(columns)));
        what(isRow, isColumn);
      }
    }
  }

  ImplicitLocOpBuilder &b;
  KernelBody nest;
  GenericOp op;
  Roles roles;
  bool isLarge = false;
  int64_t ofThread = 0; ///< rows and columns of a thread's results
  int64_t tile = 0;     ///< rows and columns of a block's
  int64_t depth = 0;    ///< of the summed loop, of a part
  Value rows, columns, summed;
  Value lhs, rhs; ///< shared memory
  Value thread, row, column, firstRow, firstColumn;
};

} // namespace

Value fuseProduct(ImplicitLocOpBuilder &b, Value sum, Value partial) {
  auto add = sum.getDefiningOp<arith::AddFOp>();
  if (!add) return sum;
  Value other = add.getLhs() == partial ? add.getRhs() : add.getLhs();
  auto product = other.getDefiningOp<arith::MulFOp>();
  if (!product || (add.getLhs() != partial && add.getRhs() != partial)) return sum;
  Value result = math::FmaOp::create(b, product.getLhs(), product.getRhs(), partial);
  add.erase();
  if (product->use_empty()) product.erase();
  return result;
}

bool isWorthTiles(GenericOp op) {
  const std::optional<Roles> roles = rolesOf(op);
  if (!roles) return false;
  auto isEnough = [&](ArrayRef<unsigned> loops) {
    const std::optional<int64_t> count = knownCount(op, loops);
    return !loops.empty() && (!count || *count >= kLeastOfTile);
  };
  return isEnough(roles->rows) && isEnough(roles->columns);
}

gpu::LaunchOp buildProduct(ImplicitLocOpBuilder &b, GenericOp op, ArrayRef<Value> starts,
                           StringRef module, StringRef kernel) {
  return ProductBuilder(b, op).build(starts, module, kernel);
}

} // namespace mlir::weft
