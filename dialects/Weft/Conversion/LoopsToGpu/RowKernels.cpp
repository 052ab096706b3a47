// Which ops make a chain on rows, and the kernel of one.
#include "Weft/Conversion/LoopsToGpu/RowKernels.h"

#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/ToLLVM/Conventions.h"
#include "Weft/IR/Buffers.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::weft {

using linalg::GenericOp;

bool isRightBehind(Operation *op, Operation *before) {
  if (op->getBlock() != before->getBlock()) return false;
  for (Operation *at = before->getNextNode(); at != op; at = at->getNextNode()) {
    if (!at) return false;
    if (!isPure(at) && !isa<memref::AllocOp>(at)) return false;
  }
  return true;
}

bool isStored(Value buffer, ArrayRef<Nest> ops) {
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->hasAttr(kOutput)) return true;
  return llvm::any_of(buffer.getUsers(), [&](Operation *user) {
    return !isa<memref::DeallocOp>(user) &&
           llvm::none_of(ops, [&](const Nest &nest) { return nest.op == user; });
  });
}

namespace {

/// Elements of a row that a thread has at most, and threads of a block at most: with more of either
/// a multiprocessor may have too few registers.
constexpr int64_t kMostElements = 8, kMostThreads = 512;
/// Ops before the first reduction of a chain, at most.
constexpr size_t kMostBefore = 4;
/// Rows shorter than this are one thread's each, as of other reductions.
constexpr int64_t kLeastColumns = 16;

/// The loops of a chain's ops: those of the rows, then those inside of a row.
struct Loops {
  SmallVector<int64_t> rows;    ///< sizes, some of them unknown
  SmallVector<int64_t> columns; ///< sizes

  int64_t count() const {
    int64_t count = 1;
    for (int64_t size : columns) count *= size;
    return count;
  }
  /// Of a block, for one row: a power of two.
  int64_t threads() const {
    const auto wanted = static_cast<uint64_t>(llvm::divideCeil(count(), kMostElements));
    return std::max<int64_t>(kWarp, static_cast<int64_t>(llvm::PowerOf2Ceil(wanted)));
  }
};

/// The loop of each axis of an operand that has more than one element; none if it is read in
/// another way.
std::optional<SmallVector<unsigned>> axesOf(GenericOp op, OpOperand &operand) {
  SmallVector<unsigned> axes;
  auto type = cast<MemRefType>(operand.get().getType());
  for (auto [size, expr] :
       llvm::zip_equal(type.getShape(), op.getMatchingIndexingMap(&operand).getResults())) {
    if (size == 1) continue;
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim) return std::nullopt;
    axes.push_back(dim.getPosition());
  }
  return axes;
}

bool isBuffer(Value value) { return isa<MemRefType>(value.getType()); }

/// The loops of a reduction of rows; none if it is another one.
std::optional<Loops> loopsOf(GenericOp op) {
  SmallVector<unsigned> parallel, reduced;
  op.getParallelDims(parallel);
  op.getReductionDims(reduced);
  if (reduced.empty() || combinersOf(op).empty()) return std::nullopt;
  if (!parallel.empty() && parallel.back() > reduced.front()) return std::nullopt;
  Loops loops;
  for (auto [loop, size] : llvm::enumerate(op.getStaticLoopRanges()))
    (loop < parallel.size() ? loops.rows : loops.columns).push_back(size);
  if (llvm::is_contained(loops.columns, ShapedType::kDynamic) ||
      llvm::is_contained(loops.rows, 0) || loops.count() < kLeastColumns ||
      loops.count() > kMostElements * kMostThreads)
    return std::nullopt;
  return loops;
}

/// Whether an op makes one number a row, whose axes inside of rows have one element, if any.
bool makesNumbers(GenericOp op, size_t rows) {
  return op.getNumReductionLoops() == 0 &&
         llvm::all_of(ArrayRef(op.getStaticLoopRanges()).drop_front(rows),
                      [](int64_t size) { return size == 1; });
}

/// Finds the ops of a chain.
class Chain {
public:
  explicit Chain(ArrayRef<Nest> nests) : nests(nests) {}

  size_t length() {
    // What leads to the first reduction makes its rows.
    size_t seed = 0;
    auto isElementwise = [&](const Nest &nest) {
      return nest.generic() && nest.generic().getNumReductionLoops() == 0;
    };
    while (seed < nests.size() && seed < kMostBefore && isElementwise(nests[seed])) ++seed;
    if (seed == nests.size() || !nests[seed].generic()) return 0;
    std::optional<Loops> found = loopsOf(nests[seed].generic());
    if (!found) return 0;
    loops = *found;
    size_t length = 0;
    while (length < nests.size() &&
           (length == 0 || isRightBehind(nests[length].op, nests[length - 1].op)) &&
           takes(nests[length], length == 0))
      ++length;
    while (length > seed && !isSafe(nests.take_front(length))) --length;
    return length > std::max<size_t>(seed, 1) ? length : 0;
  }

private:
  /// Whether an op runs over the same rows, and notes what it makes. One behind the first must have
  /// to do with what is there.
  bool takes(const Nest &nest, bool isFirst) {
    GenericOp op = nest.generic();
    if (!op || nest.isProduct) return false;
    const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
    const size_t rows = loops.rows.size(), all = rows + loops.columns.size();
    if (sizes.size() != rows && sizes.size() != all) return false;
    for (size_t loop = 0; loop < (makesNumbers(op, rows) ? rows : sizes.size()); ++loop) {
      const int64_t wanted = loop < rows ? loops.rows[loop] : loops.columns[loop - rows];
      if (sizes[loop] != wanted) return false;
    }
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    if (!reduced.empty() && (reduced.size() != loops.columns.size() || reduced.front() != rows ||
                             combinersOf(op).empty()))
      return false;
    bool isRelated = isFirst;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isBuffer(operand.get())) continue;
      const auto axes = axesOf(op, operand);
      if (!axes) return false;
      const auto known = buffers.find(operand.get());
      if (known == buffers.end()) continue;
      if (known->second != *axes) return false;
      // Unknown numbers of rows are known to be the same then.
      isRelated |= llvm::all_of(llvm::seq<unsigned>(rows), [&](unsigned loop) {
        return !ShapedType::isDynamic(loops.rows[loop]) || llvm::is_contained(*axes, loop);
      });
    }
    if (!isRelated) return false;
    for (OpOperand &operand : op->getOpOperands())
      if (isBuffer(operand.get())) buffers[operand.get()] = *axesOf(op, operand);
    return true;
  }

  /// Whether rows can be made in any order: no thread stores where another reads or stores.
  bool isSafe(ArrayRef<Nest> chain);

  ArrayRef<Nest> nests;
  Loops loops;
  DenseMap<Value, SmallVector<unsigned>> buffers; ///< the loops of the axes of what is used
};

bool Chain::isSafe(ArrayRef<Nest> chain) {
  SmallVector<Value> written, read, gathered;
  for (const Nest &nest : chain) {
    GenericOp op = nest.generic();
    llvm::append_range(gathered, readByBody(op));
    auto reads = [&](OpOperand &operand) {
      if (isBuffer(operand.get()) && !llvm::is_contained(written, operand.get()))
        read.push_back(operand.get());
    };
    for (OpOperand *input : op.getDpsInputOperands()) reads(*input);
    for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable()))
      if (!nest.starts[number] && !op.getMatchingBlockArgument(&init).use_empty()) reads(init);
    for (Value init : op.getDpsInits())
      if (!llvm::is_contained(written, init)) written.push_back(init);
  }
  llvm::erase_if(written, [&](Value buffer) { return !isStored(buffer, chain); });
  const size_t all = llvm::count_if(loops.rows, [](int64_t size) { return size != 1; }) +
                     llvm::count_if(loops.columns, [](int64_t size) { return size != 1; });
  auto isApart = [&](Value stored, Value other) {
    if (!mayShare(stored, other)) return true;
    // The same element of both is one thread's.
    const auto one = placeInArena(rootOf(stored)), two = placeInArena(rootOf(other));
    const bool isSamePlace =
        stored == other || (one && one == two && stored.getType() == other.getType());
    return isSamePlace && buffers[stored] == buffers[other] && buffers[stored].size() == all;
  };
  return llvm::all_of(written, [&](Value stored) {
    return llvm::all_of(read, [&](Value other) { return isApart(stored, other); }) &&
           llvm::none_of(gathered, [&](Value other) { return mayShare(stored, other); }) &&
           llvm::all_of(written,
                        [&](Value other) { return stored == other || isApart(stored, other); });
  });
}

/// Builds the kernel of a chain.
class ChainBuilder {
public:
  ChainBuilder(RewriterBase &rewriter, ArrayRef<Nest> chain)
      : b(chain.front().op->getLoc(), rewriter), chain(chain) {
    b.setInsertionPoint(chain.back().op);
    for (const Nest &nest : chain)
      if (std::optional<Loops> found = loopsOf(nest.generic())) {
        loops = *found;
        break;
      }
    for (unsigned loop = 0; loop < loops.rows.size(); ++loop) rowLoops.push_back(loop);
    for (unsigned loop = 0; loop < loops.columns.size(); ++loop)
      columnLoops.push_back(loops.rows.size() + loop);
  }

  gpu::LaunchOp build(StringRef module, StringRef kernel) {
    for (const Nest &nest : chain)
      bodies.push_back(std::make_unique<KernelBody>(b, nest.generic()));
    // Several rows of a block are a warp's each, so that those beyond the last one can stay away
    // from where others store.
    const int64_t threads = loops.threads();
    const int64_t rowsOfBlock = threads == kWarp ? kBlockSize / kWarp : 1;
    Value rows = bodies.front()->count(rowLoops);
    Value blocks = b.createOrFold<arith::CeilDivUIOp>(rows, index(rowsOfBlock));
    launch = launchOf(b, b.getLoc(), blocks, index(threads * rowsOfBlock), module, kernel);

    thread = launch.getThreadIds().x;
    lane = arith::RemUIOp::create(b, thread, index(threads));
    Value group = arith::DivUIOp::create(b, thread, index(threads));
    row = arith::AddIOp::create(
        b, arith::MulIOp::create(b, launch.getBlockIds().x, index(rowsOfBlock)), group);
    if (rowsOfBlock > 1) {
      Value isRow = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, row, rows);
      auto guard = scf::IfOp::create(b, isRow, /*withElseRegion=*/false);
      b.setInsertionPointToStart(guard.thenBlock());
    }
    isFirst = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, lane, index(0));
    // Threads behind the last column compute something of it, and neither load nor store.
    for (int64_t done = 0; done < loops.count(); done += threads) {
      Value column = done == 0 ? lane : arith::AddIOp::create(b, lane, index(done)).getResult();
      Value isColumn;
      if (done + threads > loops.count()) {
        isColumn =
            arith::CmpIOp::create(b, arith::CmpIPredicate::ult, column, index(loops.count()));
        column = arith::MinUIOp::create(b, column, index(loops.count() - 1));
      }
      columns.push_back({column, isColumn});
    }
    for (size_t i = 0; i < chain.size(); ++i) {
      const Nest &nest = chain[i];
      body = bodies[i].get();
      starts = nest.starts;
      body->setPlaces(rowLoops, row);
      if (nest.generic().getNumReductionLoops() != 0) reduce(nest);
      else if (makesNumbers(nest.generic(), rowLoops.size())) makeNumbers(nest);
      else makeRows(nest);
    }
    return launch;
  }

private:
  struct Column {
    Value place;
    Value isThere; ///< null if it is for sure
  };

  Value index(int64_t value) { return arith::ConstantIndexOp::create(b, value); }

  Value zeroOf(Type type) {
    if (auto complex = dyn_cast<ComplexType>(type)) {
      Attribute zero = b.getZeroAttr(complex.getElementType());
      return complex::ConstantOp::create(b, type, b.getArrayAttr({zero, zero}));
    }
    return arith::ConstantOp::create(b, b.getZeroAttr(type));
  }

  /// Whether an operand has one element a row, or one for all.
  bool hasOneOfRow(OpOperand &operand) {
    const auto axes = axesOf(body->generic(), operand);
    return llvm::none_of(*axes, [&](unsigned loop) { return loop >= rowLoops.size(); });
  }

  /// An element in column number `i` of the thread: of what was made or read, or from memory.
  Value read(OpOperand &operand, size_t i) {
    Value buffer = operand.get();
    if (!isBuffer(buffer)) return buffer;
    if (body->generic().isDpsInit(&operand))
      if (Value start = starts[operand.getOperandNumber() - body->generic().getNumDpsInputs()])
        return start;
    const bool isOfRow = hasOneOfRow(operand);
    SmallVector<Value> &values = known[buffer];
    if (values.empty()) values.resize(isOfRow ? 1 : columns.size());
    Value &value = values[isOfRow ? 0 : i];
    if (value) return value;
    if (isOfRow || !columns[i].isThere) return value = body->load(operand);
    Type type = cast<MemRefType>(buffer.getType()).getElementType();
    auto guard = scf::IfOp::create(b, type, columns[i].isThere, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard after(b);
    b.setInsertionPointToStart(guard.thenBlock());
    scf::YieldOp::create(b, body->load(operand));
    b.setInsertionPointToStart(guard.elseBlock());
    scf::YieldOp::create(b, zeroOf(type));
    return value = guard.getResult(0);
  }

  /// Notes what an op made, and stores it unless only the chain reads it.
  void note(unsigned result, SmallVector<Value> values) {
    OpOperand *init = body->generic().getDpsInitOperand(result);
    Value buffer = init->get();
    if (!isStored(buffer, chain)) {
      known[buffer] = std::move(values);
      return;
    }
    const bool isOfRow = hasOneOfRow(*init);
    for (auto [i, value] : llvm::enumerate(values)) {
      if (!isOfRow) body->setPlaces(columnLoops, columns[i].place);
      Value stores = isOfRow ? isFirst : columns[i].isThere;
      OpBuilder::InsertionGuard after(b);
      if (stores) {
        auto guard = scf::IfOp::create(b, stores, /*withElseRegion=*/false);
        b.setInsertionPointToStart(guard.thenBlock());
      }
      body->store(result, value);
    }
    known[buffer] = std::move(values);
  }

  /// A row of results.
  void makeRows(const Nest &nest) {
    SmallVector<SmallVector<Value>> made(nest.generic().getNumDpsInits());
    for (size_t i = 0; i < columns.size(); ++i) {
      body->setPlaces(columnLoops, columns[i].place);
      for (auto [result, value] :
           llvm::enumerate(body->body({}, [&](OpOperand &operand) { return read(operand, i); })))
        made[result].push_back(value);
    }
    for (auto [result, values] : llvm::enumerate(made)) note(result, std::move(values));
  }

  /// One result a row, which all its threads make.
  void makeNumbers(const Nest &nest) {
    for (unsigned loop = rowLoops.size(); loop < nest.generic().getNumLoops(); ++loop)
      body->setPlace(loop, index(0));
    auto values = body->body({}, [&](OpOperand &operand) { return read(operand, 0); });
    for (auto [result, value] : llvm::enumerate(values)) note(result, {value});
  }

  /// One result a row, of all its columns.
  void reduce(const Nest &nest) {
    Combining combining(b, combinersOf(nest.generic()));
    SmallVector<Value> partial = combining.neutral();
    for (size_t i = 0; i < columns.size(); ++i) {
      body->setPlaces(columnLoops, columns[i].place);
      SmallVector<Value> next =
          body->body(partial, [&](OpOperand &operand) { return read(operand, i); });
      for (auto [value, held] : llvm::zip_equal(next, partial))
        held = columns[i].isThere
                   ? arith::SelectOp::create(b, columns[i].isThere, value, held).getResult()
                   : value;
    }
    const int64_t threads = loops.threads();
    partial = combining.acrossLanes(std::move(partial), kWarp);
    if (threads > kWarp) partial = acrossWarps(combining, std::move(partial), threads / kWarp);
    for (auto [number, init] : llvm::enumerate(nest.generic().getDpsInitsMutable())) {
      note(number, {combining.combine(number, read(init, 0), partial[number])});
    }
  }

  /// What the warps of a row have together: known to all their threads.
  SmallVector<Value> acrossWarps(Combining &combining, SmallVector<Value> partial, int64_t warps) {
    SmallVector<Value> buffers = combining.shared(launch, warps);
    Value isOfWarp = arith::CmpIOp::create(
        b, arith::CmpIPredicate::eq, arith::RemUIOp::create(b, thread, index(kWarp)), index(0));
    Value warp = arith::DivUIOp::create(b, thread, index(kWarp));
    auto guard = scf::IfOp::create(b, isOfWarp, /*withElseRegion=*/false);
    {
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(guard.thenBlock());
      for (auto [value, buffer] : llvm::zip_equal(partial, buffers))
        memref::StoreOp::create(b, value, buffer, ValueRange{warp});
    }
    gpu::BarrierOp::create(b);
    for (int64_t i = 0; i < warps; ++i) {
      for (size_t result = 0; result < partial.size(); ++result) {
        Value value = memref::LoadOp::create(b, buffers[result], ValueRange{index(i)});
        partial[result] = i == 0 ? value : combining.combine(result, partial[result], value);
      }
    }
    return partial;
  }

  ImplicitLocOpBuilder b;
  ArrayRef<Nest> chain;
  Loops loops;
  SmallVector<unsigned> rowLoops, columnLoops;
  SmallVector<std::unique_ptr<KernelBody>> bodies;
  KernelBody *body = nullptr; ///< of the present op
  ArrayRef<Value> starts;     ///< of its results
  gpu::LaunchOp launch;
  Value thread, lane, row, isFirst;
  SmallVector<Column> columns;
  DenseMap<Value, SmallVector<Value>> known; ///< elements of buffers that are in registers
};

} // namespace

size_t lengthOfChain(ArrayRef<Nest> nests) { return Chain(nests).length(); }

gpu::LaunchOp buildChain(RewriterBase &rewriter, ArrayRef<Nest> chain, StringRef module,
                         StringRef kernel) {
  return ChainBuilder(rewriter, chain).build(module, kernel);
}

} // namespace mlir::weft
