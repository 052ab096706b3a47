// Emits loops, loads, bodies, accumulators and stores for each form of nest.

#include "Weft/Conversion/Loops/EmitterParts.h"

#include "Weft/Conversion/Loops/Body.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::weft;

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Steps into loop `dim` at index `iv + more`: moves every access, and loads what changes no more.
void NestEmitter::enter(Position &position, unsigned dim, Value iv, int64_t more) {
  position.entered.set(dim);
  position.ivs[nest_.dims[dim].source] =
      more == 0 ? iv : b_.createOrFold<arith::AddIOp>(loc_, iv, constant(more));
  SmallVector<std::tuple<Value, Product, Value>, 4> known; // accesses often move alike
  for (auto [access, at] : llvm::zip_equal(nest_.accesses, position.at)) {
    const Product &stride = access.strides[dim];
    if (stride.isZero()) continue;
    auto *same = llvm::find_if(known, [&](auto &entry) {
      return std::get<0>(entry) == at && std::get<1>(entry) == stride;
    });
    if (same != known.end()) {
      at = std::get<2>(*same);
      continue;
    }
    Value before = at;
    Value offset = iv;
    if (!stride.isConstant(1))
      offset = b_.createOrFold<arith::MulIOp>(loc_, iv, stride.materialize(b_, loc_));
    at = at ? b_.createOrFold<arith::AddIOp>(loc_, at, offset) : offset;
    if (more != 0) { // apart, so that neighbours share what comes before
      Value distance = (Product(more) * stride).materialize(b_, loc_);
      at = b_.createOrFold<arith::AddIOp>(loc_, at, distance);
    }
    known.emplace_back(before, stride, at);
  }
  loadReady(position);
}

/// Loads the inputs that no loop still to come moves.
void NestEmitter::loadReady(Position &position) {
  for (unsigned i = 0; i < nest_.numInputs(); ++i) {
    const Access &access = nest_.accesses[i];
    if (position.loaded[i] || nest_.op.getBlock()->getArgument(i).use_empty()) continue;
    bool ready = true;
    for (unsigned d = 0; d < nest_.dims.size(); ++d)
      ready &= position.entered.test(d) || access.strides[d].isZero();
    if (!ready) continue;
    // Along the loop of vectors a contiguous input is loaded as a vector instead.
    if (nest_.form != NestForm::scalar && !access.strides[nest_.vectorDim].isZero()) continue;
    position.loaded[i] =
        access.memref ? load(access, position.at[i], 0, {}) : access.operand->get();
  }
}

/// The body on the elements at `position`, with `outputs` for the output arguments that it reads.
SmallVector<Value, 2> NestEmitter::body(const Position &position, ValueRange outputs, int64_t lanes,
                                        Value mask) {
  BodyArguments arguments;
  arguments.lanes = lanes;
  arguments.indices = position.ivs;
  arguments.leftOut = extrema_;
  if (nest_.form != NestForm::scalar) arguments.laneDim = nest_.dims[nest_.vectorDim].source;
  for (unsigned i = 0; i < nest_.numInputs(); ++i) {
    Value value = position.loaded[i];
    if (!value && !nest_.op.getBlock()->getArgument(i).use_empty())
      value = load(nest_.accesses[i], position.at[i], lanes, mask);
    if (!value) value = outputs.empty() ? Value() : outputs.front(); // never used
    arguments.values.push_back(value);
  }
  llvm::append_range(arguments.values, outputs);
  if (nest_.pairs && lanes == nest_.lanes) return bodyOfPairs(arguments);
  return buildBody(b_, *nest_.op.getBlock(), arguments);
}

/// The same where vectors of 16 bits are pairs: on the lower halves of words, then on the upper
/// ones. That keeps each in its word, and neither needs to be moved.
SmallVector<Value, 2> NestEmitter::bodyOfPairs(const BodyArguments &arguments) {
  BodyArguments half = arguments;
  half.lanes = arguments.lanes / 2;
  const auto halves = VectorType::get({half.lanes}, b_.getI16Type());
  const auto words = VectorType::get({half.lanes}, b_.getI32Type());
  Value upper = arith::ConstantOp::create(
      b_, loc_, DenseElementsAttr::get(words, b_.getI32IntegerAttr(16).getValue()));
  SmallVector<Value, 4> upperHalves = arguments.values;
  for (auto [low, high] : llvm::zip_equal(half.values, upperHalves)) {
    if (!low || !isa<VectorType>(low.getType())) continue;
    Value pairs = vector::BitCastOp::create(b_, loc_, words, low);
    low = arith::TruncIOp::create(b_, loc_, halves, pairs);
    high =
        arith::TruncIOp::create(b_, loc_, halves, arith::ShRUIOp::create(b_, loc_, pairs, upper));
  }
  SmallVector<Value, 2> results = buildBody(b_, *nest_.op.getBlock(), half);
  half.values = upperHalves;
  for (auto [low, high] : llvm::zip_equal(results, buildBody(b_, *nest_.op.getBlock(), half))) {
    if (!isa<VectorType>(low.getType())) continue;
    Value above =
        arith::ShLIOp::create(b_, loc_, arith::ExtUIOp::create(b_, loc_, words, high), upper);
    Value below = arith::ExtUIOp::create(b_, loc_, words, low);
    Value pairs = arith::OrIOp::create(b_, loc_, below, above);
    low = vector::BitCastOp::create(b_, loc_, VectorType::get({arguments.lanes}, b_.getI16Type()),
                                    pairs);
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

scf::ForOp NestEmitter::loop(Value begin, Value end, int64_t step, Step body) {
  auto loop = scf::ForOp::create(b_, loc_, begin, end, constant(step));
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
  return loop;
}

ValueRange NestEmitter::reduce(Value begin, Value end, int64_t step, ValueRange init,
                               llvm::function_ref<SmallVector<Value, 2>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b_, loc_, begin, end, constant(step), init);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(loop.getBody());
  SmallVector<Value, 2> results = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b_, loc_, results);
  return loop.getResults();
}

/// The mask of the first `count` of `lanes` lanes.
Value NestEmitter::maskOf(int64_t lanes, OpFoldResult count) {
  if (std::optional<int64_t> number = getConstantIntValue(count)) {
    SmallVector<bool> bits(lanes, false);
    std::fill_n(bits.begin(), *number, true);
    return arith::ConstantOp::create(b_, loc_, b_.getBoolVectorAttr(bits));
  }
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, lanes));
  Value lane = arith::ConstantOp::create(b_, loc_, b_.getI32VectorAttr(numbers));
  Value limit = arith::IndexCastOp::create(b_, loc_, b_.getI32Type(), cast<Value>(count));
  limit = toLanes(b_, loc_, limit, lanes);
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::slt, lane, limit);
}

/// Covers `count` indices from `begin` on in full vectors, then the rest.
void NestEmitter::chunks(Value begin, OpFoldResult count, Chunk body) {
  const int64_t width = nest_.lanes;
  const bool masked = options_.masked && nest_.maskable;
  std::optional<int64_t> number = getConstantIntValue(count);
  auto at = [&](Value offset) { return b_.createOrFold<arith::AddIOp>(loc_, begin, offset); };
  if (number) {
    const int64_t done = *number / width * width;
    if (done == width) body(begin, width, {});
    else if (done != 0)
      loop(begin, at(constant(done)), width, [&](Value iv) { body(iv, width, {}); });
    const int64_t rest = *number - done;
    if (rest == 0) return;
    Value iv = at(constant(done));
    if (rest == 1) return body(iv, 0, {});
    if (!masked) return body(iv, rest, {});
    return body(iv, width, maskOf(width, b_.getIndexAttr(rest)));
  }
  Value total = getValueOrCreateConstantIndexOp(b_, loc_, count);
  Value full = arith::AndIOp::create(b_, loc_, total, constant(-width));
  Value middle = at(full);
  loop(begin, middle, width, [&](Value iv) { body(iv, width, {}); });
  if (!masked) {
    loop(middle, at(total), 1, [&](Value iv) { body(iv, 0, {}); });
    return;
  }
  Value rest = arith::SubIOp::create(b_, loc_, total, full);
  Value some = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, rest, constant(0));
  auto branch = scf::IfOp::create(b_, loc_, some, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b_);
  b_.setInsertionPointToStart(branch.thenBlock());
  body(middle, width, maskOf(width, rest));
}

/// As many iterations of `work` each as make up the least work for a thread.
Value NestEmitter::grainOf(const Product &work) {
  Value all = constant(options_.parallelWork);
  Value one = constant(1);
  Value each = b_.createOrFold<arith::MaxSIOp>(loc_, work.materialize(b_, loc_), one);
  return b_.createOrFold<arith::CeilDivSIOp>(loc_, all, each);
}

void NestEmitter::parallelLoops(Position position, ArrayRef<unsigned> dims) {
  if (dims.empty()) return innermost(position);
  unsigned dim = dims.front();
  Value end = nest_.dims[dim].size.materialize(b_, loc_);
  bool outermost = position.entered.none();
  if (outermost) {
    // A result without elements may have any size in front of the 0.
    Product inner;
    for (unsigned d = 0; d < nest_.dims.size(); ++d)
      if (d != dim && !nest_.dims[d].reduction) inner = inner * nest_.dims[d].size;
    if (!inner.isStatic()) {
      Value none = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::eq,
                                         inner.materialize(b_, loc_), constant(0));
      end = arith::SelectOp::create(b_, loc_, none, constant(0), end);
    }
  }
  Value grain;
  if (outermost && worthThreads()) {
    Product work(nest_.cost);
    for (unsigned d = 0; d < nest_.dims.size(); ++d)
      if (d != dim) work = work * nest_.dims[d].size;
    grain = grainOf(work);
  }
  auto outer = loop(constant(0), end, 1, [&](Value iv) {
    Position inside = position;
    enter(inside, dim, iv);
    parallelLoops(inside, dims.drop_front());
  });
  if (grain) parallel_ = ParallelLoop{outer, grain};
}

/// Below all parallel loops but those of vectors and of the rows of tiles.
void NestEmitter::innermost(Position &position) {
  if (nest_.form == NestForm::tiled) return tiles(position);
  if (nest_.form != NestForm::parallelVector) return element(position, 0, {});
  if (position.entered.none() && worthThreads()) return blocks(position);
  const Product &size = nest_.dims[nest_.vectorDim].size;
  OpFoldResult count = b_.getIndexAttr(size.constant);
  if (!size.isStatic()) count = size.materialize(b_, loc_);
  vectorSteps(position, constant(0), count);
}

void NestEmitter::vectorSteps(Position &position, Value begin, OpFoldResult count) {
  if (!reductions_.empty()) return columns(position, begin, count);
  chunks(begin, count, [&](Value iv, int64_t lanes, Value mask) {
    Position inside = position;
    enter(inside, nest_.vectorDim, iv);
    element(inside, lanes, mask);
  });
}

/// One long loop of vectors as a loop over blocks, which threads can share.
void NestEmitter::blocks(Position &position) {
  const Product &size = nest_.dims[nest_.vectorDim].size;
  int64_t work = nest_.cost;
  for (unsigned d : reductions_)
    if (nest_.dims[d].size.isStatic()) work *= std::max<int64_t>(nest_.dims[d].size.constant, 1);
  int64_t block = std::max<int64_t>(nest_.lanes, llvm::bit_floor<uint64_t>(std::max<int64_t>(
                                                     options_.parallelWork / 2 / work, 1)));
  Value total = size.materialize(b_, loc_);
  Value step = constant(block);
  bool even = size.isStatic() && size.constant % block == 0;
  Value number = b_.createOrFold<arith::CeilDivUIOp>(loc_, total, step);
  Value grain = constant(2);
  auto outer = loop(constant(0), number, 1, [&](Value iv) {
    Value begin = arith::MulIOp::create(b_, loc_, iv, step);
    OpFoldResult count = b_.getIndexAttr(block);
    if (!even) {
      Value left = arith::SubIOp::create(b_, loc_, total, begin);
      count = arith::MinUIOp::create(b_, loc_, left, step).getResult();
    }
    vectorSteps(position, begin, count);
  });
  parallel_ = ParallelLoop{outer, grain};
}

bool NestEmitter::worthThreads() const {
  if (options_.parallelWork == 0) return false;
  Product work(nest_.cost);
  for (const LoopDim &dim : nest_.dims) work = work * dim.size;
  return !work.isStatic() || work.constant >= options_.parallelWork;
}

std::optional<ParallelLoop> NestEmitter::emit() {
  flat_.resize(nest_.accesses.size());
  Position position;
  position.entered.resize(nest_.dims.size());
  position.loaded.resize(nest_.numInputs());
  Value zero = constant(0);
  position.ivs.assign(nest_.op.getNumLoops(), zero);
  for (const Access &access : nest_.accesses) {
    Value at = access.offset;
    if (access.staticOffset != 0) {
      Value number = constant(access.staticOffset);
      at = at ? Value(arith::AddIOp::create(b_, loc_, at, number)) : number;
    }
    position.at.push_back(at);
  }
  SmallVector<unsigned, 4> parallel;
  for (auto [d, dim] : llvm::enumerate(nest_.dims)) {
    if (nest_.form != NestForm::scalar && d == nest_.vectorDim) continue;
    if (nest_.form == NestForm::tiled && d == nest_.tileDim) continue;
    (dim.reduction ? reductions_ : parallel).push_back(d);
  }
  chooseCarried();
  loadReady(position);
  parallelLoops(position, parallel);
  return parallel_;
}

std::optional<ParallelLoop> mlir::weft::emitLoopNest(OpBuilder &builder, LoopNest &nest,
                                                     FlatViews &views,
                                                     const LowerLoopsPassOptions &options) {
  return NestEmitter(builder, nest, views, options).emit();
}
