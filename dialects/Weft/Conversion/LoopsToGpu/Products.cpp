// Tiles of products: which loops are rows and columns, copies to shared memory, and the inner loop.
#include "Weft/Conversion/LoopsToGpu/Products.h"
#include "Weft/Conversion/Cost.h"
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"
#include "Weft/Conversion/LoopsToGpu/ProductBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::weft {

namespace {

/// Sums are made of parts of at least so many products, to have about so many blocks.
constexpr int64_t kLeastOfPart = 128, kManyBlocks = 256;
/// Bytes of all banks of shared memory.
constexpr int64_t kBankBytes = 128;
/// A multiple of the depth of every kind of tile, so that parts do not depend on which is taken.
constexpr int64_t kDepths = 32;
/// Tiles below each other whose blocks run at the same time, so that they share what they read.
constexpr int64_t kTilesOfGroup = 16;

} // namespace

/// How many numbers of a factor's type these bytes have; 1 of those that are no words.
static int64_t mostOf(Value factor, int64_t bytes = kAccessBytes) {
  const unsigned bits = factor.getType().getIntOrFloatBitWidth();
  if (bits == 32 || bits == 64) return bytes * 8 / bits;
  return bytes == kAccessBytes ? 1 : bytes / 4;
}

ProductBuilder::ProductBuilder(ImplicitLocOpBuilder &b, const Nest &product, const Nest *epilogue)
    : b(b), nest(b, product.generic()), op(product.generic()), roles(*rolesOf(op)),
      product(product), epilogue(epilogue) {
  isLarge = hasLargeTiles(op, roles);
  // Two blocks of a multiprocessor wait for memory in turn.
  const bool isWide = isWorthTilesOf(op, roles, kLargeTile, kLargeTile, 2 * kManyTiles);
  rowsOfThread = isLarge ? 8 : 4;
  columnsOfThread = isWide ? 8 : 4;
  tileRows = kAlong * rowsOfThread;
  tileColumns = kAlong * columnsOfThread;
  depth = isLarge ? 8 : 16;
  together = columnsOfThread;
  for (Value factor : {roles.lhs, roles.rhs})
    together = std::min({together, mostOf(factor), std::max<int64_t>(padding(factor), 1)});
}

ProductBuilder::Side ProductBuilder::sideOf(Value factor, ArrayRef<unsigned> loops, int64_t tile,
                                            Value count) {
  Side side{factor, loops, tile, count};
  side.isAlong = isAlongSum(factor);
  const unsigned fastest = side.isAlong ? roles.summed.back() : loops.back();
  side.width = NeighbourReads(op, copied(factor), fastest).width(mostCopied(side));
  return side;
}

SmallVector<gpu::LaunchOp> ProductBuilder::build(StringRef module, StringRef kernel) {
  if (epilogue) after.emplace(b, epilogue->generic());
  rows = nest.count(roles.rows);
  columns = nest.count(roles.columns);
  summed = nest.count(roles.summed);
  tilesOfColumns = b.createOrFold<arith::CeilDivUIOp>(columns, index(tileColumns));
  tiles = b.createOrFold<arith::MulIOp>(b.createOrFold<arith::CeilDivUIOp>(rows, index(tileRows)),
                                        tilesOfColumns);
  batches = nest.count(roles.batches);
  blocks = b.createOrFold<arith::MulIOp>(tiles, batches);
  const auto whole = [&] {
    return tilesLaunch(
        index(0), summed, nullptr, module, kernel, [&](Value) { return startOf(); },
        [&](Value, ArrayRef<Value> sums) { finish(sums); });
  };
  if (product.isProduct || !roles.isSum) return {whole()};
  Value parts = numberOfParts();
  if (const auto known = getConstantIntValue(parts)) {
    if (*known <= 1) return {whole()};
    return inParts(parts, module, kernel);
  }
  Value many = arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, parts, index(1));
  auto choice = scf::IfOp::create(b, many, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<gpu::LaunchOp> launches = inParts(parts, module, kernel);
  b.setInsertionPointToStart(choice.elseBlock());
  launches.push_back(whole());
  return launches;
}

Value ProductBuilder::numberOfParts() {
  Value most = b.createOrFold<arith::DivUIOp>(summed, index(kLeastOfPart));
  Value wanted = b.createOrFold<arith::DivUIOp>(index(kManyBlocks),
                                                b.createOrFold<arith::MaxUIOp>(blocks, index(1)));
  return b.createOrFold<arith::MinUIOp>(most, wanted);
}

SmallVector<gpu::LaunchOp> ProductBuilder::inParts(Value parts, StringRef module,
                                                   StringRef kernel) {
  OpBuilder::InsertionGuard after(b);
  Value ofPart = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::CeilDivUIOp>(b.createOrFold<arith::CeilDivUIOp>(summed, parts),
                                         index(kDepths)),
      index(kDepths));
  Value results =
      b.createOrFold<arith::MulIOp>(batches, b.createOrFold<arith::MulIOp>(rows, columns));
  Type element = cast<MemRefType>(op.getDpsInitOperand(0)->get().getType()).getElementType();
  auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, element);
  Value buffer = memref::AllocOp::create(b, type, ValueRange{parts, results});
  memref::DeallocOp::create(b, buffer);
  b.setInsertionPointAfter(buffer.getDefiningOp());
  gpu::LaunchOp ofTiles;
  {
    OpBuilder::InsertionGuard outside(b);
    ofTiles = tilesLaunch(
        nullptr, ofPart, parts, module, (kernel + "_parts").str(),
        [&](Value) -> Value {
          return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(element)));
        },
        [&](Value result, ArrayRef<Value> sums) {
          for (auto [i, sum] : llvm::enumerate(sums))
            memref::StoreOp::create(b, sum, buffer, ValueRange{part, add(result, index(i))});
        });
  }
  b.setInsertionPointAfter(ofTiles);

  gpu::LaunchOp ofParts =
      launchOf(b, b.getLoc(), b.createOrFold<arith::CeilDivUIOp>(results, index(kBlockSize)),
               index(kBlockSize), module, (kernel + "_of_parts").str());
  Value result = add(mul(ofParts.getBlockIds().x, index(kBlockSize)), ofParts.getThreadIds().x);
  auto guard =
      scf::IfOp::create(b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, result, results),
                        /*withElseRegion=*/false);
  b.setInsertionPointToStart(guard.thenBlock());
  SmallVector<unsigned> loops(roles.batches);
  loops.append(roles.rows);
  loops.append(roles.columns);
  nest.setPlaces(loops, result);
  auto loop = scf::ForOp::create(b, index(0), parts, index(1), startOf());
  {
    OpBuilder::InsertionGuard ofLoop(b);
    b.setInsertionPointToStart(loop.getBody());
    Value next = memref::LoadOp::create(b, buffer, ValueRange{loop.getInductionVar(), result});
    Value partial = loop.getRegionIterArgs().front();
    Value sum = isa<FloatType>(element) ? Value(arith::AddFOp::create(b, partial, next))
                                        : Value(arith::AddIOp::create(b, partial, next));
    scf::YieldOp::create(b, sum);
  }
  finish({loop.getResult(0)});
  return {ofTiles, ofParts};
}

Value ProductBuilder::startOf() {
  return nest.loadOrStart(*op.getDpsInitOperand(0), product.starts);
}

void ProductBuilder::finish(ArrayRef<Value> sums) {
  const auto count = static_cast<int64_t>(sums.size());
  Value buffer = op.getDpsInitOperand(0)->get();
  // The results of one body after another, of which each store has its own.
  const auto storeAt = [&](KernelBody &body, unsigned number, unsigned fastest,
                           ArrayRef<Value> values) {
    OpOperand &init = *body.generic().getDpsInitOperand(number);
    Value from = body.place(fastest);
    if (count > 1 && accessWidth(body.generic(), init, fastest, count) == count) {
      auto type = VectorType::get(count, cast<MemRefType>(init.get().getType()).getElementType());
      storeAll(b, vector::FromElementsOp::create(b, type, values), init.get(),
               body.subscripts(init));
      return;
    }
    for (auto [i, value] : llvm::enumerate(values)) {
      body.setPlace(fastest, i == 0 ? from : add(from, index(i)));
      body.store(number, value);
    }
    body.setPlace(fastest, from);
  };
  const unsigned fastest = roles.columns.back();
  if (!epilogue || isStored(buffer, {product, *epilogue})) storeAt(nest, 0, fastest, sums);
  if (!epilogue) return;

  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  unsigned fastestAfter = 0;
  for (auto [loop, of] : llvm::enumerate(parallel)) {
    after->setPlace(loop, nest.place(of));
    if (of == fastest) fastestAfter = loop;
  }
  Value from = after->place(fastestAfter);
  SmallVector<SmallVector<Value>> results(epilogue->generic().getNumDpsInits());
  for (auto [i, sum] : llvm::enumerate(sums)) {
    after->setPlace(fastestAfter, i == 0 ? from : add(from, index(i)));
    const auto values = after->body({}, [&](OpOperand &operand) -> Value {
      return operand.get() == buffer ? sum : after->loadOrStart(operand, epilogue->starts);
    });
    for (auto [number, value] : llvm::enumerate(values)) results[number].push_back(value);
  }
  after->setPlace(fastestAfter, from);
  for (auto [number, values] : llvm::enumerate(results))
    storeAt(*after, number, fastestAfter, values);
}

int64_t ProductBuilder::neighboursOfResults() {
  const int64_t size = op.getStaticLoopRanges()[roles.columns.back()];
  int64_t count = mostNeighbours();
  while (count > 1 && (ShapedType::isDynamic(size) || size % count != 0)) count /= 2;
  return count;
}

gpu::LaunchOp ProductBuilder::tilesLaunch(Value from, Value to, Value parts, StringRef module,
                                          StringRef kernel, function_ref<Value(Value)> start,
                                          function_ref<void(Value, ArrayRef<Value>)> store) {
  OpBuilder::InsertionGuard outside(b);
  gpu::LaunchOp launch = launchOf(b, b.getLoc(), blocks, index(kBlockSize), module, kernel, parts);
  thread = launch.getThreadIds().x;
  Value block = launch.getBlockIds().x;
  batch = div(block, tiles);
  nest.setPlaces(roles.batches, batch);
  // Some rows of tiles at a time, column by column.
  Value ofBatch = rem(block, tiles), ofGroup = mul(tilesOfColumns, index(kTilesOfGroup));
  Value group = div(ofBatch, ofGroup), inGroup = rem(ofBatch, ofGroup);
  Value firstOfGroup = mul(group, index(kTilesOfGroup));
  Value inColumn = arith::MinUIOp::create(
      b, index(kTilesOfGroup), arith::SubIOp::create(b, div(tiles, tilesOfColumns), firstOfGroup));
  Value tileOfRows = add(firstOfGroup, rem(inGroup, inColumn));
  Value tileOfColumns = div(inGroup, inColumn);
  lhs = sideOf(roles.lhs, roles.rows, tileRows, rows);
  rhs = sideOf(roles.rhs, roles.columns, tileColumns, columns);
  lhs.first = mul(tileOfRows, index(tileRows));
  rhs.first = mul(tileOfColumns, index(tileColumns));
  placeBuffers(launch);
  placeThread();
  if (parts) {
    part = launch.getBlockIds().y;
    from = mul(part, to);
    to = arith::MinUIOp::create(b, add(from, to), summed);
  }

  SmallVector<Value> sums;
  const int64_t neighbours = neighboursOfResults();
  const unsigned fastest = roles.columns.back();
  eachResult([&](Value result, Value) {
    for (int64_t i = 0; i < neighbours; ++i) {
      if (i != 0) nest.setPlace(fastest, add(nest.place(fastest), index(1)));
      sums.push_back(start(i == 0 ? result : add(result, index(i))));
    }
  });
  const SmallVector<Value> results = addParts(from, to, std::move(sums));
  size_t number = 0;
  eachResult([&](Value result, Value isInside) {
    auto guard = scf::IfOp::create(b, isInside, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    store(result, ArrayRef(results).slice(number, neighbours));
    number += neighbours;
  });
  return launch;
}

// What a part needs is on its way while the one before is multiplied.
SmallVector<Value> ProductBuilder::addParts(Value from, Value to, SmallVector<Value> sums) {
  const size_t results = sums.size();
  SmallVector<Value> first = loadPart(from, to);
  sums.push_back(index(0));
  if (storesLate()) {
    llvm::append_range(sums, first);
  } else {
    storePart(index(0), first);
    gpu::BarrierOp::create(b);
  }
  auto loop = scf::ForOp::create(b, from, to, index(depth), sums);
  {
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(loop.getBody());
    Value at = loop.getInductionVar(), stage = loop.getRegionIterArgs()[results];
    Value other = arith::SubIOp::create(b, index(1), stage);
    if (storesLate()) {
      storePart(stage, loop.getRegionIterArgs().drop_front(results + 1));
      gpu::BarrierOp::create(b);
    }
    SmallVector<Value> next = loadPart(add(at, index(depth)), to);
    sums = addPart(stage, at, to, SmallVector<Value>(loop.getRegionIterArgs().take_front(results)));
    sums.push_back(other);
    if (storesLate()) {
      llvm::append_range(sums, next);
    } else {
      storePart(other, next);
      gpu::BarrierOp::create(b);
    }
    scf::YieldOp::create(b, sums);
  }
  return SmallVector<Value>(loop.getResults().take_front(results));
}

bool ProductBuilder::isAlongSum(Value factor) {
  for (Value part : computedFrom(op, factor, [](Value) { return false; })) {
    if (auto argument = dyn_cast<BlockArgument>(part)) {
      AffineMap map =
          op.getMatchingIndexingMap(cast<linalg::LinalgOp>(*op).getMatchingOpOperand(argument));
      if (map.getNumResults() == 0) continue;
      return map.getResults().back().isFunctionOfDim(roles.summed.back());
    }
    auto load = part.getDefiningOp<memref::LoadOp>();
    if (!load || load.getIndices().empty()) continue;
    const auto loops = loopsOf(op, load.getIndices().back());
    return loops && loops->test(roles.summed.back());
  }
  return false;
}

bool ProductBuilder::isWhole() {
  const std::optional<int64_t> known = knownCount(op, roles.summed);
  return known && *known % depth == 0;
}

void ProductBuilder::placeThread() {
  // Neighbouring threads have neighbouring columns, so that they meet different banks.
  column = mul(rem(thread, index(kAlong)), index(together));
  row = mul(div(thread, index(kAlong)), index(together));
}

int64_t ProductBuilder::padding(Value factor) const { return mostOf(factor, kBankBytes) / depth; }

int64_t ProductBuilder::mostCopied(const Side &side) const {
  return std::min(mostOf(side.factor), side.tile * depth / kBlockSize);
}

void ProductBuilder::placeBuffers(gpu::LaunchOp launch) {
  for (Side *side : {&lhs, &rhs}) {
    const int64_t line = side->tile + (side->isAlong ? padding(side->factor) : 0);
    side->buffer = sharedMemory(launch, {2, depth, line}, side->factor.getType());
  }
}

ProductBuilder::Place ProductBuilder::placeOf(const Side &side, int64_t copy) {
  Value number = copy == 0 ? thread : add(thread, index(copy * kBlockSize));
  Value fast = index((side.isAlong ? depth : side.tile) / side.width);
  Value inside = mul(rem(number, fast), index(side.width)), outside = div(number, fast);
  return side.isAlong ? Place{inside, outside} : Place{outside, inside};
}

Type ProductBuilder::typeOfCopy(const Side &side) {
  Type element = side.factor.getType();
  return side.width == 1 ? element : VectorType::get(side.width, element);
}

void ProductBuilder::setPlaces(const Side &side, Place place, Value at) {
  const auto within = [&](Value of, Value count, bool isFast) -> Value {
    Value end = arith::SubIOp::create(b, count, index(isFast ? side.width : 1));
    return arith::MinUIOp::create(b, of, end);
  };
  const bool hasWholeTiles = knownCount(op, side.loops).value_or(1) % side.tile == 0;
  Value inDepth = add(at, place.inDepth), inTile = add(side.first, place.inTile);
  nest.setPlaces(roles.summed, isWhole() ? inDepth : within(inDepth, summed, side.isAlong));
  nest.setPlaces(side.loops, hasWholeTiles ? inTile : within(inTile, side.count, !side.isAlong));
}

SmallVector<Value> ProductBuilder::neighbours(const Side &side, Place place, Value at) {
  setPlaces(side, place, at);
  const unsigned fastest = side.isAlong ? roles.summed.back() : side.loops.back();
  if (side.width != 1) {
    const auto found = NeighbourReads(op, copied(side.factor), fastest).values(nest, side.width);
    return llvm::map_to_vector(found, [](ArrayRef<Value> values) { return values.front(); });
  }
  return nest.values(copied(side.factor), {},
                     [&](OpOperand &operand) { return nest.load(operand); });
}

Value ProductBuilder::load(const Side &side, Place place, Value at, Value /*to*/) {
  const SmallVector<Value> elements = neighbours(side, place, at);
  if (side.width == 1) return elements.front();
  return vector::FromElementsOp::create(b, cast<VectorType>(typeOfCopy(side)), elements);
}

void ProductBuilder::store(const Side &side, Place place, Value stage, Value copied) {
  if (side.width == 1) {
    memref::StoreOp::create(b, copied, side.buffer, ValueRange{stage, place.inDepth, place.inTile});
    return;
  }
  if (!side.isAlong) {
    storeAll(b, copied, side.buffer, {stage, place.inDepth, place.inTile});
    return;
  }
  for (int64_t i = 0; i < side.width; ++i)
    memref::StoreOp::create(b, vector::ExtractOp::create(b, copied, i), side.buffer,
                            ValueRange{stage, add(place.inDepth, index(i)), place.inTile});
}

SmallVector<Value> ProductBuilder::loadPart(Value at, Value to) {
  SmallVector<Type> types;
  for (const Side *side : {&lhs, &rhs}) types.append(copies(*side), typeOfCopy(*side));
  Value isThere = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at, to);
  auto choice = scf::IfOp::create(b, types, isThere, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(choice.thenBlock());
  SmallVector<Value> copied;
  for (const Side *side : {&lhs, &rhs})
    for (int64_t copy = 0; copy < copies(*side); ++copy)
      copied.push_back(load(*side, placeOf(*side, copy), at, to));
  scf::YieldOp::create(b, copied);
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, llvm::map_to_vector(types, [&](Type type) -> Value {
                         return arith::ConstantOp::create(b, cast<TypedAttr>(b.getZeroAttr(type)));
                       }));
  return SmallVector<Value>(choice.getResults());
}

void ProductBuilder::storePart(Value stage, ValueRange copied) {
  for (const Side *side : {&lhs, &rhs})
    for (int64_t copy = 0; copy < copies(*side); ++copy) {
      store(*side, placeOf(*side, copy), stage, copied.front());
      copied = copied.drop_front();
    }
}

SmallVector<Value> ProductBuilder::addPart(Value stage, Value at, Value to,
                                           SmallVector<Value> sums) {
  Value end =
      isWhole()
          ? index(depth)
          : arith::MinUIOp::create(b, index(depth), arith::SubIOp::create(b, to, at)).getResult();
  const int64_t unrolled = isWhole() ? 4 : 1;
  auto loop = scf::ForOp::create(b, index(0), end, index(unrolled), sums);
  OpBuilder::InsertionGuard after(b);
  b.setInsertionPointToStart(loop.getBody());
  sums = SmallVector<Value>(loop.getRegionIterArgs());
  for (int64_t i = 0; i < unrolled; ++i) {
    Value line = i == 0 ? loop.getInductionVar() : add(loop.getInductionVar(), index(i));
    const auto elements = [&](Value buffer, Value first, int64_t ofThread) {
      SmallVector<Value> found;
      for (int64_t j = 0; j < ofThread; j += together) {
        Value place = j == 0 ? first : add(first, index(j * kAlong));
        if (together == 1) {
          found.push_back(memref::LoadOp::create(b, buffer, ValueRange{stage, line, place}));
          continue;
        }
        Value all = loadAll(b, together, buffer, {stage, line, place});
        for (int64_t k = 0; k < together; ++k)
          found.push_back(vector::ExtractOp::create(b, all, k));
      }
      return found;
    };
    const SmallVector<Value> left = elements(lhs.buffer, row, rowsOfThread),
                             right = elements(rhs.buffer, column, columnsOfThread);
    for (int64_t j = 0; j < rowsOfThread * columnsOfThread; ++j) {
      Value &sum = sums[j];
      IRMapping known;
      known.map(op.getMatchingBlockArgument(op.getDpsInitOperand(0)), sum);
      known.map(roles.lhs, left[j / columnsOfThread]);
      known.map(roles.rhs, right[j % columnsOfThread]);
      Value next = nest.values(op.getBody()->getTerminator()->getOperands(), known, {}).front();
      sum = product.isProduct ? fuseProduct(b, next, sum) : next;
    }
  }
  scf::YieldOp::create(b, sums);
  return SmallVector<Value>(loop.getResults());
}

void ProductBuilder::eachResult(function_ref<void(Value result, Value isInside)> what) {
  const auto inTile = [&](Value first, int64_t number) {
    const int64_t side = number % together;
    return add(first, index((number - side) * kAlong + side));
  };
  const int64_t neighbours = neighboursOfResults();
  for (int64_t i = 0; i < rowsOfThread; ++i)
    for (int64_t j = 0; j < columnsOfThread; j += neighbours)
      oneResult(inTile(row, i), inTile(column, j), what);
}

void ProductBuilder::oneResult(Value rowOfTile, Value columnOfTile,
                               function_ref<void(Value result, Value isInside)> what) {
  Value m = add(lhs.first, rowOfTile), n = add(rhs.first, columnOfTile);
  Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, m, rows);
  Value isColumn = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, n, columns);
  nest.setPlaces(roles.rows, arith::MinUIOp::create(b, m, last(rows)));
  // Those beyond the end read what belongs to the last neighbours.
  Value lastOnes = arith::SubIOp::create(b, columns, index(neighboursOfResults()));
  nest.setPlaces(roles.columns, arith::MinUIOp::create(b, n, lastOnes));
  what(add(mul(add(mul(batch, rows), m), columns), n), arith::AndIOp::create(b, isRow, isColumn));
}

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

} // namespace mlir::weft
