// Which loops a tile has, what goes through shared memory, and the two ways through it.
#include "Weft/Conversion/LoopsToGpu/Transposes.h"
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::weft {

using linalg::GenericOp;

namespace {

/// Elements of a tile along each axis.
constexpr int64_t kTile = 32;
/// Fewer along an axis are no tile's.
constexpr int64_t kLeast = 8;

/// What is read along another axis than the results'.
struct Crossed {
  unsigned loop = 0; ///< the fastest axis of the inputs
  SmallVector<OpOperand *> inputs;
};

/// None if nothing is, or along several axes.
std::optional<Crossed> crossedOf(GenericOp op) {
  const unsigned last = op.getNumLoops() - 1;
  if (op.getNumLoops() < 2 || op.getNumReductionLoops() != 0) return std::nullopt;
  for (OpOperand &init : op.getDpsInitsMutable())
    if (!isa<MemRefType>(init.get().getType()) || !op.getMatchingIndexingMap(&init).isIdentity())
      return std::nullopt;
  std::optional<Crossed> crossed;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    AffineMap map = op.getMatchingIndexingMap(input);
    if (!type || !type.getElementType().isIntOrFloat() || !map.isFunctionOfDim(last) ||
        op.getMatchingBlockArgument(input).use_empty())
      continue;
    auto fastest = dyn_cast<AffineDimExpr>(map.getResults().back());
    if (!fastest || fastest.getPosition() == last || !map.isProjectedPermutation()) continue;
    if (crossed && crossed->loop != fastest.getPosition()) return std::nullopt;
    if (!crossed) crossed.emplace();
    crossed->loop = fastest.getPosition();
    crossed->inputs.push_back(input);
  }
  return crossed;
}

} // namespace

bool isTranspose(GenericOp op) {
  const std::optional<Crossed> crossed = crossedOf(op);
  if (!crossed) return false;
  const auto isEnough = [&](unsigned loop) {
    const int64_t size = op.getStaticLoopRanges()[loop];
    return ShapedType::isDynamic(size) || size >= kLeast;
  };
  // As much as shared memory holds; nothing is stored to what other threads still read.
  constexpr size_t kMostInputs = 4;
  if (crossed->inputs.size() > kMostInputs || !isEnough(crossed->loop) ||
      !isEnough(op.getNumLoops() - 1))
    return false;
  return llvm::none_of(op.getDpsInits(), [&](Value stored) {
    return llvm::any_of(crossed->inputs,
                        [&](OpOperand *input) { return mayShare(stored, input->get()); });
  });
}

gpu::LaunchOp buildTranspose(ImplicitLocOpBuilder &b, const Nest &nest, StringRef module,
                             StringRef kernel) {
  GenericOp op = nest.generic();
  const Crossed crossed = *crossedOf(op);
  const unsigned last = op.getNumLoops() - 1;
  KernelBody body(b, op);
  const auto add = [&](Value x, Value y) -> Value { return arith::AddIOp::create(b, x, y); };
  const auto mul = [&](Value x, Value y) -> Value { return arith::MulIOp::create(b, x, y); };
  const auto div = [&](Value x, Value y) -> Value { return arith::DivUIOp::create(b, x, y); };
  const auto rem = [&](Value x, Value y) -> Value { return arith::RemUIOp::create(b, x, y); };
  SmallVector<unsigned> others;
  for (unsigned loop = 0; loop < last; ++loop)
    if (loop != crossed.loop) others.push_back(loop);
  Value side = body.index(kTile);
  Value tilesOfLast = b.createOrFold<arith::CeilDivUIOp>(body.size(last), side);
  Value tiles = b.createOrFold<arith::MulIOp>(
      b.createOrFold<arith::CeilDivUIOp>(body.size(crossed.loop), side), tilesOfLast);
  Value blocks = b.createOrFold<arith::MulIOp>(tiles, body.count(others));
  OpBuilder::InsertionGuard outside(b);
  gpu::LaunchOp launch = launchOf(b, b.getLoc(), blocks, body.index(kBlockSize), module, kernel);
  SmallVector<Value> buffers;
  for (OpOperand *input : crossed.inputs)
    buffers.push_back(sharedMemory(launch, {kTile, kTile + 1},
                                   cast<MemRefType>(input->get().getType()).getElementType()));

  Value block = launch.getBlockIds().x, thread = launch.getThreadIds().x;
  body.setPlaces(others, div(block, tiles));
  Value ofOthers = rem(block, tiles);
  Value firstCrossed = mul(div(ofOthers, tilesOfLast), side);
  Value firstLast = mul(rem(ofOthers, tilesOfLast), side);
  Value fast = rem(thread, side), slow = div(thread, side);
  const auto isInside = [&](Value crossedAt, Value lastAt) -> Value {
    return arith::AndIOp::create(
        b, arith::CmpIOp::create(b, arith::CmpIPredicate::ult, crossedAt, body.size(crossed.loop)),
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, lastAt, body.size(last)));
  };
  constexpr int64_t kLines = kBlockSize / kTile;
  const auto eachLine = [&](bool alongLast, function_ref<void(Value line)> what) {
    for (int64_t done = 0; done < kTile; done += kLines) {
      Value line = add(slow, body.index(done));
      Value crossedAt = add(firstCrossed, alongLast ? line : fast);
      Value lastAt = add(firstLast, alongLast ? fast : line);
      auto guard = scf::IfOp::create(b, isInside(crossedAt, lastAt), /*withElseRegion=*/false);
      OpBuilder::InsertionGuard after(b);
      b.setInsertionPointToStart(guard.thenBlock());
      body.setPlace(crossed.loop, crossedAt);
      body.setPlace(last, lastAt);
      what(line);
    }
  };
  eachLine(/*alongLast=*/false, [&](Value line) {
    for (auto [input, buffer] : llvm::zip_equal(crossed.inputs, buffers))
      memref::StoreOp::create(b, body.load(*input), buffer, ValueRange{line, fast});
  });
  gpu::BarrierOp::create(b);
  eachLine(/*alongLast=*/true, [&](Value line) {
    const SmallVector<Value> results = body.body({}, [&](OpOperand &operand) -> Value {
      const auto *found = llvm::find(crossed.inputs, &operand);
      if (found == crossed.inputs.end()) return body.loadOrStart(operand, nest.starts);
      Value buffer = buffers[static_cast<size_t>(found - crossed.inputs.begin())];
      return memref::LoadOp::create(b, buffer, ValueRange{fast, line});
    });
    for (auto [number, result] : llvm::enumerate(results)) body.store(number, result);
  });
  return launch;
}

} // namespace mlir::weft
