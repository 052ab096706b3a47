// Loops, subscripts and bodies of structured ops inside of kernels.
#include "Weft/Conversion/LoopsToGpu/KernelBody.h"
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

gpu::LaunchOp launchOf(OpBuilder &b, Location loc, Value blocks, Value threads, StringRef module,
                       StringRef kernel, Value blocksOfY) {
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  auto launch =
      gpu::LaunchOp::create(b, loc, blocks, blocksOfY ? blocksOfY : one, one, threads, one, one);
  launch.setModuleAttr(FlatSymbolRefAttr::get(b.getStringAttr(module)));
  launch.setFunctionAttr(FlatSymbolRefAttr::get(b.getStringAttr(kernel)));
  b.setInsertionPointToStart(&launch.getBody().front());
  gpu::TerminatorOp::create(b, loc);
  b.setInsertionPointToStart(&launch.getBody().front());
  return launch;
}

llvm::SetVector<Value> computedFrom(linalg::GenericOp op, ValueRange wanted,
                                    function_ref<bool(Value)> stops) {
  llvm::SetVector<Value> found;
  auto isInside = [&](Value value) { return value.getParentBlock() == op.getBody(); };
  for (Value value : wanted)
    if (isInside(value) && !stops(value)) found.insert(value);
  for (size_t i = 0; i < found.size(); ++i) {
    Operation *from = found[i].getDefiningOp();
    if (!from) continue;
    // What regions inside of it capture too.
    from->walk([&](Operation *inner) {
      for (Value value : inner->getOperands())
        if (isInside(value) && !stops(value)) found.insert(value);
    });
  }
  return found;
}

SmallVector<Value> readByBody(linalg::GenericOp op) {
  SmallVector<Value> buffers;
  op.getBody()->walk([&](memref::LoadOp load) { buffers.push_back(load.getMemRef()); });
  return buffers;
}

std::optional<llvm::SmallBitVector> loopsOf(linalg::GenericOp op, Value value) {
  llvm::SmallBitVector loops(op.getNumLoops());
  for (Value part : computedFrom(op, value, [](Value) { return false; })) {
    if (auto argument = dyn_cast<BlockArgument>(part)) {
      OpOperand &operand = *cast<linalg::LinalgOp>(*op).getMatchingOpOperand(argument);
      if (op.isDpsInit(&operand)) return std::nullopt;
      AffineMap map = op.getMatchingIndexingMap(&operand);
      for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
        if (map.isFunctionOfDim(loop)) loops.set(loop);
    } else if (auto at = part.getDefiningOp<linalg::IndexOp>()) {
      loops.set(at.getDim());
    } else if (!isPure(part.getDefiningOp())) {
      auto load = part.getDefiningOp<memref::LoadOp>();
      if (!load || mayShare(op.getDpsInitOperand(0)->get(), load.getMemRef())) return std::nullopt;
    }
  }
  return loops;
}

std::optional<int64_t> knownCount(linalg::GenericOp op, ArrayRef<unsigned> loops) {
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  int64_t count = 1;
  for (unsigned loop : loops) {
    if (ShapedType::isDynamic(sizes[loop])) return std::nullopt;
    count *= sizes[loop];
  }
  return count;
}

Value sharedMemory(gpu::LaunchOp launch, ArrayRef<int64_t> shape, Type element) {
  auto space = gpu::AddressSpaceAttr::get(launch.getContext(), gpu::AddressSpace::Workgroup);
  return launch.addWorkgroupAttribution(MemRefType::get(shape, element, AffineMap(), space),
                                        launch.getLoc());
}

KernelBody::KernelBody(ImplicitLocOpBuilder &b, linalg::GenericOp op) : b(b), op(op) {
  auto structured = cast<linalg::LinalgOp>(op.getOperation());
  for (Range range : structured.createLoopRanges(b, op.getLoc())) {
    auto value = dyn_cast<Value>(range.size);
    sizes.push_back(value ? value : index(*getConstantIntValue(range.size)));
  }
  places.resize(sizes.size());
}

Value KernelBody::count(ArrayRef<unsigned> loops) {
  Value count = index(1);
  for (unsigned loop : loops) count = b.createOrFold<arith::MulIOp>(count, sizes[loop]);
  return count;
}

void KernelBody::setPlaces(ArrayRef<unsigned> loops, Value iteration) {
  for (unsigned loop : llvm::reverse(loops)) {
    if (loop == loops.front()) {
      places[loop] = iteration;
      break;
    }
    places[loop] = arith::RemUIOp::create(b, iteration, sizes[loop]);
    iteration = arith::DivUIOp::create(b, iteration, sizes[loop]);
  }
}

SmallVector<Value> KernelBody::subscripts(OpOperand &operand) {
  SmallVector<Value> result;
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (AffineExpr expr : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
      result.push_back(places[dim.getPosition()]);
      continue;
    }
    AffineMap single = AffineMap::get(map.getNumDims(), 0, expr);
    SmallVector<Value> dims(places);
    for (Value &dim : dims)
      if (!dim) dim = index(0);
    result.push_back(affine::AffineApplyOp::create(b, single, dims));
  }
  return result;
}

Value KernelBody::load(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType())) return operand.get();
  return memref::LoadOp::create(b, operand.get(), subscripts(operand));
}

Value KernelBody::loadOrStart(OpOperand &operand, ArrayRef<Value> starts) {
  if (!op.isDpsInit(&operand)) return load(operand);
  Value start = starts[operand.getOperandNumber() - op.getNumDpsInputs()];
  return start ? start : load(operand);
}

void KernelBody::store(unsigned result, Value value) {
  OpOperand *init = op.getDpsInitOperand(result);
  memref::StoreOp::create(b, value, init->get(), subscripts(*init));
}

SmallVector<Value> KernelBody::body(ArrayRef<Value> outs) {
  return body(outs, [&](OpOperand &operand) { return load(operand); });
}

SmallVector<Value> KernelBody::body(ArrayRef<Value> outs, function_ref<Value(OpOperand &)> read) {
  IRMapping known;
  for (auto [number, out] : llvm::enumerate(outs))
    known.map(op.getMatchingBlockArgument(op.getDpsInitOperand(number)), out);
  return values(op.getBody()->getTerminator()->getOperands(), std::move(known), read);
}

SmallVector<Value> KernelBody::values(ValueRange wanted, IRMapping known,
                                      function_ref<Value(OpOperand &)> read) {
  Block *block = op.getBody();
  llvm::SetVector<Value> needed =
      computedFrom(op, wanted, [&](Value value) { return known.contains(value); });
  for (BlockArgument argument : block->getArguments())
    if (needed.contains(argument)) known.map(argument, read(*op.getMatchingOpOperand(argument)));
  for (Operation &inner : block->without_terminator()) {
    if (!llvm::any_of(inner.getResults(), [&](Value value) { return needed.contains(value); }))
      continue;
    if (auto at = dyn_cast<linalg::IndexOp>(inner)) known.map(at.getResult(), places[at.getDim()]);
    else b.clone(inner, known);
  }
  return llvm::map_to_vector(wanted, [&](Value value) { return known.lookupOrDefault(value); });
}

} // namespace mlir::weft
