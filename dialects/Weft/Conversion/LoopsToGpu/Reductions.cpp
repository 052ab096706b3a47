// How reductions are spread over threads, and how these combine what they have.
#include "Weft/Conversion/LoopsToGpu/Reductions.h"
#include "Weft/Conversion/Cost.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

using linalg::GenericOp;

namespace {

/// Warps of a block that share the reduced axes where the fastest axis stays.
constexpr int64_t kWarps = kBlockSize / kWarp;
/// Below so many elements a result is one thread's.
constexpr int64_t kFewElements = 8;
/// Parts are made if there are fewer blocks than this, and at least so many elements a result.
constexpr int64_t kFewBlocks = 128, kLeastToSplit = 4096;
/// Elements of a part, at least: of rows, and of columns, of which a warp has 32 at a time; and how
/// many blocks all parts make together.
constexpr int64_t kLeastOfPart = 2048, kLeastOfColumns = 128, kManyBlocks = 512;
/// How many elements a thread reads before it adds them, unless what is added is expensive.
constexpr int64_t kInFlight = 4, kCheap = 32;

/// How a reduction is spread.
struct Spread {
  bool alongLoops = true; ///< whether neighbouring threads are neighbours along the reduced loops
  int64_t threads = 1;    ///< for each result
  int64_t results() const { return kBlockSize / threads; } ///< of a block
};

SmallVector<unsigned> parallelOf(GenericOp op) {
  SmallVector<unsigned> loops;
  op.getParallelDims(loops);
  return loops;
}

SmallVector<unsigned> reducedOf(GenericOp op) {
  SmallVector<unsigned> loops;
  op.getReductionDims(loops);
  return loops;
}

/// Whether the inputs' fastest axis is one of those reduced: of the operand with the most elements,
/// where unknown sizes count as large.
bool reducesFastest(GenericOp op) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  double most = 0;
  bool reduces = true;
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(input);
    if (map.getNumResults() == 0) continue;
    double elements = 1;
    for (unsigned loop = 0; loop < sizes.size(); ++loop)
      if (map.isFunctionOfDim(loop))
        elements *= ShapedType::isDynamic(sizes[loop]) ? 1 << 20 : static_cast<double>(sizes[loop]);
    if (elements <= most) continue;
    most = elements;
    reduces = false;
    for (unsigned loop : reducedOf(op)) reduces |= map.getResults().back().isFunctionOfDim(loop);
  }
  return reduces;
}

Spread spreadOf(GenericOp op) {
  const std::optional<int64_t> results = knownCount(op, parallelOf(op));
  const std::optional<int64_t> elements = knownCount(op, reducedOf(op));
  Spread spread;
  if (elements && *elements < kFewElements) return spread;
  spread.alongLoops = reducesFastest(op);
  const bool many = !results || *results >= 4096;
  if (!spread.alongLoops) {
    spread.threads = results && *results >= 32768 ? 1 : kWarps;
  } else if (elements && *elements < 64) {
    spread.threads = 8;
  } else if (elements ? *elements <= (many ? 4096 : 1024) : many) {
    spread.threads = kWarp;
  } else {
    spread.threads = kBlockSize;
  }
  return spread;
}

/// Builds the launches of one reduction.
class ReductionBuilder {
public:
  ReductionBuilder(ImplicitLocOpBuilder &b, GenericOp op, SmallVector<Operation *> combiners,
                   ArrayRef<Value> starts, StringRef module, StringRef kernel)
      : b(b), nest(b, op), op(op), combining(b, std::move(combiners)), starts(starts),
        module(module), kernel(kernel), parallel(parallelOf(op)), reduced(reducedOf(op)),
        spread(spreadOf(op)) {}

  SmallVector<gpu::LaunchOp> build() {
    results = nest.count(parallel);
    elements = nest.count(reduced);
    blocks = b.createOrFold<arith::CeilDivUIOp>(results, nest.index(spread.results()));
    const std::optional<int64_t> knownResults = knownCount(op, parallel);
    const std::optional<int64_t> knownElements = knownCount(op, reduced);
    const bool never =
        spread.threads == 1 || (knownElements && *knownElements < leastToSplit()) ||
        (knownResults && llvm::divideCeil(*knownResults, spread.results()) >= kFewBlocks);
    if (never) {
      whole();
    } else if (knownResults && knownElements) {
      inParts(nest.index(*knownElements), numberOfParts());
    } else {
      Value few =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, blocks, nest.index(kFewBlocks));
      Value long_ =
          arith::CmpIOp::create(b, arith::CmpIPredicate::uge, elements, nest.index(leastToSplit()));
      auto choice = scf::IfOp::create(b, arith::AndIOp::create(b, few, long_),
                                      /*withElseRegion=*/true);
      b.setInsertionPointToStart(choice.thenBlock());
      inParts(elements, numberOfParts());
      b.setInsertionPointToStart(choice.elseBlock());
      whole();
    }
    return launches;
  }

private:
  using Values = Combining::Values;

  int64_t leastOfPart() const { return spread.alongLoops ? kLeastOfPart : kLeastOfColumns; }
  int64_t leastToSplit() const { return spread.alongLoops ? kLeastToSplit : 2 * kLeastOfColumns; }

  /// How many parts every result is made of, so that there are about kManyBlocks blocks.
  Value numberOfParts() {
    Value most = b.createOrFold<arith::CeilDivUIOp>(elements, nest.index(leastOfPart()));
    Value wanted = b.createOrFold<arith::DivUIOp>(
        nest.index(kManyBlocks), b.createOrFold<arith::MaxUIOp>(blocks, nest.index(1)));
    return b.createOrFold<arith::MinUIOp>(most, wanted);
  }

  /// A launch whose threads are spread over results, in `blocksOfY` parts.
  void begin(StringRef name, Value blocksOfX, Value blocksOfY = nullptr) {
    gpu::LaunchOp launch =
        launchOf(b, b.getLoc(), blocksOfX, nest.index(kBlockSize), module, name, blocksOfY);
    launches.push_back(launch);
  }

  /// Sets `result` and `lane`, the number of a thread among those of one result.
  void place(const Spread &spread) {
    gpu::LaunchOp launch = launches.back();
    Value thread = launch.getThreadIds().x;
    const int64_t along = spread.alongLoops ? spread.threads : spread.results();
    Value fast = arith::RemUIOp::create(b, thread, nest.index(along));
    Value slow = arith::DivUIOp::create(b, thread, nest.index(along));
    lane = spread.alongLoops ? fast : slow;
    group = spread.alongLoops ? slow : fast;
    Value first = arith::MulIOp::create(b, launch.getBlockIds().x, nest.index(spread.results()));
    result = arith::AddIOp::create(b, first, group);
    inside = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, result, results);
  }

  /// What this thread has of elements `lane`, `lane + threads`, ... of a range, taken by `step`;
  /// neutral beyond the last result.
  Values gather(int64_t threads, Value from, Value to, function_ref<Values(Value, Values)> step) {
    auto guard = scf::IfOp::create(b, combining.types(), inside, /*withElseRegion=*/true);
    b.setInsertionPointToStart(guard.thenBlock());
    Value first = arith::AddIOp::create(b, from, lane);
    Values partial = combining.neutral();
    if (costOf(*op.getBody()) <= kCheap) {
      // Several at a time while there are so many: their loads do not wait for each other.
      Values carried = partial;
      carried.push_back(first);
      Value end = arith::SubIOp::create(b, to, nest.index((kInFlight - 1) * threads));
      auto loop = scf::ForOp::create(b, first, end, nest.index(kInFlight * threads), carried);
      b.setInsertionPointToStart(loop.getBody());
      carried = Values(loop.getRegionIterArgs().drop_back());
      for (int64_t i = 0; i < kInFlight; ++i)
        carried = step(arith::AddIOp::create(b, loop.getInductionVar(), nest.index(i * threads)),
                       std::move(carried));
      carried.push_back(
          arith::AddIOp::create(b, loop.getInductionVar(), nest.index(kInFlight * threads)));
      scf::YieldOp::create(b, carried);
      b.setInsertionPointAfter(loop);
      first = loop.getResults().back();
      partial = Values(loop.getResults().drop_back());
    }
    auto loop = scf::ForOp::create(b, first, to, nest.index(threads), partial);
    b.setInsertionPointToStart(loop.getBody());
    scf::YieldOp::create(b, step(loop.getInductionVar(), Values(loop.getRegionIterArgs())));
    b.setInsertionPointAfter(loop);
    scf::YieldOp::create(b, loop.getResults());
    b.setInsertionPointToStart(guard.elseBlock());
    scf::YieldOp::create(b, combining.neutral());
    b.setInsertionPointAfter(guard);
    return Values(guard.getResults());
  }

  /// One element of the op.
  Values element(Value at, Values partial) {
    nest.setPlaces(reduced, at);
    return nest.body(partial);
  }

  /// What all threads of a result have together: known to lane 0.
  Values combineLanes(const Spread &spread, Values partial) {
    if (!spread.alongLoops) return combineWarps(partial);
    partial = combining.acrossLanes(std::move(partial), std::min(spread.threads, kWarp));
    if (spread.threads <= kWarp) return partial;
    // One value of each warp; the first thread takes them in their order.
    Value thread = launches.back().getThreadIds().x;
    Value warp = arith::DivUIOp::create(b, thread, nest.index(kWarp));
    SmallVector<Value> buffers = combining.shared(launches.back(), kWarps);
    Value first =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                              arith::RemUIOp::create(b, thread, nest.index(kWarp)), nest.index(0));
    auto guard = scf::IfOp::create(b, first, /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    for (size_t i = 0; i < partial.size(); ++i)
      memref::StoreOp::create(b, partial[i], buffers[i], ValueRange{warp});
    b.setInsertionPointAfter(guard);
    gpu::BarrierOp::create(b);
    return rest(buffers, partial, [&](Value at) { return SmallVector<Value>{at}; });
  }

  /// The same where a block's warps share the reduced loops of neighbouring results.
  Values combineWarps(Values partial) {
    SmallVector<Value> buffers = combining.shared(launches.back(), {kWarps, kWarp});
    for (size_t i = 0; i < partial.size(); ++i)
      memref::StoreOp::create(b, partial[i], buffers[i], ValueRange{lane, group});
    gpu::BarrierOp::create(b);
    return rest(buffers, partial, [&](Value at) { return SmallVector<Value>{at, group}; });
  }

  /// The first value, and those that other warps left in shared memory.
  Values rest(ArrayRef<Value> buffers, Values partial,
              function_ref<SmallVector<Value>(Value)> subscripts) {
    for (int64_t warp = 1; warp < kWarps; ++warp)
      for (size_t i = 0; i < partial.size(); ++i)
        partial[i] = combining.combine(
            i, partial[i], memref::LoadOp::create(b, buffers[i], subscripts(nest.index(warp))));
    return partial;
  }

  /// Lane 0 of each result does what `last` does.
  void finish(function_ref<void()> last) {
    Value first = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, nest.index(0));
    auto guard = scf::IfOp::create(b, arith::AndIOp::create(b, first, inside),
                                   /*withElseRegion=*/false);
    b.setInsertionPointToStart(guard.thenBlock());
    last();
    b.setInsertionPointAfter(guard);
  }

  /// Stores the results, combined with what they begin with.
  void store(const Values &all) {
    nest.setPlaces(parallel, result);
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
      Value start = nest.loadOrStart(init, starts);
      nest.store(number, combining.combine(number, start, all[number]));
    }
  }

  /// One launch.
  void whole() {
    OpBuilder::InsertionGuard after(b);
    begin(kernel, blocks);
    place(spread);
    nest.setPlaces(parallel, result);
    Values partial = gather(spread.threads, nest.index(0), elements, [&](Value at, Values values) {
      return element(at, std::move(values));
    });
    if (spread.threads > 1) partial = combineLanes(spread, partial);
    finish([&] { store(partial); });
  }

  /// A launch for `parts` parts of each result, and one for what they are together.
  void inParts(Value elements, Value parts) {
    OpBuilder::InsertionGuard after(b);
    // A part has a whole number of turns of its threads.
    Value turn = nest.index(spread.threads);
    Value ofPart = b.createOrFold<arith::MulIOp>(
        b.createOrFold<arith::CeilDivUIOp>(b.createOrFold<arith::CeilDivUIOp>(elements, parts),
                                           turn),
        turn);
    SmallVector<Value> buffers;
    for (Type element : combining.types()) {
      auto type = MemRefType::get({ShapedType::kDynamic, ShapedType::kDynamic}, element);
      buffers.push_back(memref::AllocOp::create(b, type, ValueRange{results, parts}));
    }
    Operation *end = buffers.back().getDefiningOp();
    SmallVector<Operation *> frees;
    for (Value buffer : buffers) frees.push_back(memref::DeallocOp::create(b, buffer));
    b.setInsertionPointAfter(end);

    begin((kernel + "_parts").str(), blocks, parts);
    {
      OpBuilder::InsertionGuard kernelOnly(b);
      place(spread);
      nest.setPlaces(parallel, result);
      Value part = launches.back().getBlockIds().y;
      Value from = arith::MulIOp::create(b, part, ofPart);
      Value to = arith::MinUIOp::create(b, arith::AddIOp::create(b, from, ofPart), elements);
      Values partial = gather(spread.threads, from, to, [&](Value at, Values values) {
        return element(at, std::move(values));
      });
      partial = combineLanes(spread, partial);
      finish([&] {
        for (size_t i = 0; i < partial.size(); ++i)
          memref::StoreOp::create(b, partial[i], buffers[i], ValueRange{result, part});
      });
    }
    b.setInsertionPointAfter(launches.back());

    const Spread ofParts{.alongLoops = true, .threads = kWarp};
    begin((kernel + "_of_parts").str(),
          b.createOrFold<arith::CeilDivUIOp>(results, nest.index(ofParts.results())));
    place(ofParts);
    Values partial = gather(kWarp, nest.index(0), parts, [&](Value at, Values values) {
      for (size_t i = 0; i < values.size(); ++i)
        values[i] = combining.combine(
            i, values[i], memref::LoadOp::create(b, buffers[i], ValueRange{result, at}));
      return values;
    });
    partial = combineLanes(ofParts, partial);
    finish([&] { store(partial); });
  }

  ImplicitLocOpBuilder &b;
  KernelBody nest;
  GenericOp op;
  Combining combining;
  ArrayRef<Value> starts;
  StringRef module;
  StringRef kernel;
  SmallVector<unsigned> parallel, reduced;
  Spread spread;
  Value results, elements, blocks;   ///< on the host
  Value lane, group, result, inside; ///< of the present kernel
  SmallVector<gpu::LaunchOp> launches;
};

} // namespace

bool isWorthThreads(GenericOp op) { return spreadOf(op).threads > 1 && !combinersOf(op).empty(); }

SmallVector<gpu::LaunchOp> buildReduction(ImplicitLocOpBuilder &b, GenericOp op,
                                          ArrayRef<Value> starts, StringRef module,
                                          StringRef kernel) {
  return ReductionBuilder(b, op, combinersOf(op), starts, module, kernel).build();
}

} // namespace mlir::weft
