// Which reads of a body lie side by side along a loop, and accesses of several elements for them.
#include "Weft/Conversion/LoopsToGpu/Neighbours.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

namespace {

int64_t bytesOf(Type element) { return llvm::divideCeil(element.getIntOrFloatBitWidth(), 8); }

/// Whether neighbouring iterations of a loop have neighbours along the last axis.
bool isSideBySide(AffineMap map, unsigned loop) {
  const ArrayRef<AffineExpr> places = map.getResults();
  if (places.empty()) return false;
  auto last = dyn_cast<AffineDimExpr>(places.back());
  return last && last.getPosition() == loop &&
         llvm::none_of(places.drop_back(),
                       [&](AffineExpr place) { return place.isFunctionOfDim(loop); });
}

/// Whether a buffer begins where `width` elements are aligned: a view too, at a place of which only
/// the steps are known.
bool beginsAligned(Value buffer, int64_t width) {
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(cast<MemRefType>(buffer.getType()).getStridesAndOffset(strides, offset))) return false;
  if (!ShapedType::isDynamic(offset)) return offset % width == 0;
  Operation *view = buffer.getDefiningOp();
  if (isa_and_present<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(view))
    return beginsAligned(view->getOperand(0), width);
  auto part = dyn_cast_if_present<memref::SubViewOp>(view);
  SmallVector<int64_t> steps; // the source may have more axes
  if (!part || !beginsAligned(part.getSource(), width) ||
      failed(part.getSourceType().getStridesAndOffset(steps, offset)))
    return false;
  return llvm::all_of(llvm::zip_equal(part.getMixedOffsets(), steps), [&](auto axis) {
    const auto [at, stride] = axis;
    const std::optional<int64_t> known = getConstantIntValue(at);
    if (known == 0) return true;
    return !ShapedType::isDynamic(stride) && known.value_or(1) * stride % width == 0;
  });
}

/// Whether every `width`th element along the last axis is aligned to as many.
bool isAligned(Value buffer, int64_t width) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset = 0;
  if (failed(type.getStridesAndOffset(strides, offset)) || strides.empty() || strides.back() != 1 ||
      !beginsAligned(buffer, width))
    return false;
  for (auto [stride, size] :
       llvm::zip_equal(ArrayRef(strides).drop_back(), type.getShape().drop_back()))
    if (size != 1 && (ShapedType::isDynamic(stride) || stride % width != 0)) return false;
  return true;
}

/// At most `most` elements of a loop of `size` iterations that one access has.
int64_t accessWidth(Value buffer, int64_t size, int64_t most) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  // Vectors of i1 have other bits than their elements.
  if (!element.isIntOrFloat() || element.isInteger(1) || ShapedType::isDynamic(size)) return 1;
  int64_t width = most;
  while (width > 1 && (width * bytesOf(element) > kAccessBytes || size % width != 0 ||
                       !isAligned(buffer, width)))
    width /= 2;
  return width;
}

} // namespace

int64_t accessWidth(linalg::GenericOp op, OpOperand &operand, unsigned loop, int64_t most) {
  if (!isa<MemRefType>(operand.get().getType()) ||
      !isSideBySide(op.getMatchingIndexingMap(&operand), loop))
    return 1;
  return accessWidth(operand.get(), op.getStaticLoopRanges()[loop], most);
}

Value loadAll(ImplicitLocOpBuilder &b, int64_t width, Value buffer, ValueRange place) {
  Type element = cast<MemRefType>(buffer.getType()).getElementType();
  return vector::LoadOp::create(b, VectorType::get(width, element), buffer, place,
                                /*nontemporal=*/false, llvm::MaybeAlign(width * bytesOf(element)));
}

void storeAll(ImplicitLocOpBuilder &b, Value elements, Value buffer, ValueRange place) {
  auto type = cast<VectorType>(elements.getType());
  vector::StoreOp::create(b, elements, buffer, place, /*nontemporal=*/false,
                          llvm::MaybeAlign(type.getNumElements() * bytesOf(type.getElementType())));
}

SmallVector<Value> PlainRead::place(KernelBody &nest) {
  if (operand) return nest.subscripts(*operand);
  return nest.values(load.getIndices(), {}, [&](OpOperand &other) { return nest.load(other); });
}

std::optional<PlainRead> plainRead(linalg::GenericOp op, Value value, unsigned loop) {
  PlainRead read;
  auto choice = value.getDefiningOp<arith::SelectOp>();
  if (choice && (matchPattern(choice.getFalseValue(), m_Zero()) ||
                 matchPattern(choice.getFalseValue(), m_PosZeroFloat()))) {
    read.isThere = choice.getCondition();
    const auto loops = loopsOf(op, read.isThere);
    if (!loops || loops->test(loop)) return std::nullopt;
    value = choice.getTrueValue();
  }
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == op.getBody())
    read.operand = cast<linalg::LinalgOp>(*op).getMatchingOpOperand(argument);
  else if (auto load = value.getDefiningOp<memref::LoadOp>()) read.load = load;
  else return std::nullopt;
  if (!isa<MemRefType>(read.buffer().getType())) return std::nullopt;
  return read;
}

NeighbourReads::NeighbourReads(linalg::GenericOp op, ValueRange wanted, unsigned loop)
    : op(op), wanted(wanted), loop(loop) {
  for (Value part : computedFrom(op, wanted, [](Value) { return false; })) {
    if (auto argument = dyn_cast<BlockArgument>(part)) {
      OpOperand *operand = cast<linalg::LinalgOp>(*op).getMatchingOpOperand(argument);
      AffineMap map = op.getMatchingIndexingMap(operand);
      if (!isa<MemRefType>(operand->get().getType()) || !map.isFunctionOfDim(loop)) {
        uniform.push_back(operand);
        continue;
      }
      operands.push_back(operand);
      known &= isSideBySide(map, loop);
    } else if (auto load = part.getDefiningOp<memref::LoadOp>()) {
      if (isUniform(load)) continue;
      ofBody.push_back(load);
      known &= readsNeighbours(load);
    }
  }
}

bool NeighbourReads::isUniform(Value value) {
  const auto loops = loopsOf(op, value);
  return loops && !loops->test(loop);
}

bool NeighbourReads::isLoop(Value subscript) const {
  auto at = subscript.getDefiningOp<linalg::IndexOp>();
  return at && at.getDim() == loop;
}

bool NeighbourReads::readsNeighbours(memref::LoadOp load) {
  if (load.getIndices().empty() ||
      !llvm::all_of(load.getIndices().drop_back(), [&](Value index) { return isUniform(index); }))
    return false;
  Value last = load.getIndices().back();
  if (isLoop(last)) return true;
  // What is outside of a window reads the first element, and is not used.
  auto inside = last.getDefiningOp<arith::SelectOp>();
  return inside && isLoop(inside.getTrueValue()) &&
         getConstantIntValue(inside.getFalseValue()) == 0 && isUniform(inside.getCondition()) &&
         llvm::all_of(load->getUsers(), [&](Operation *user) {
           auto used = dyn_cast<arith::SelectOp>(user);
           return used && used.getCondition() == inside.getCondition() &&
                  used.getTrueValue() == load.getResult() &&
                  used.getFalseValue() != load.getResult();
         });
}

int64_t NeighbourReads::width(int64_t most) {
  if (!known || (operands.empty() && ofBody.empty())) return 1;
  const int64_t size = op.getStaticLoopRanges()[loop];
  int64_t width = most;
  for (OpOperand *operand : operands) width = accessWidth(op, *operand, loop, width);
  for (memref::LoadOp load : ofBody) width = accessWidth(load.getMemRef(), size, width);
  return width;
}

SmallVector<SmallVector<Value>> NeighbourReads::values(KernelBody &nest, int64_t width,
                                                       ArrayRef<Value> starts) {
  ImplicitLocOpBuilder &b = nest.builder();
  Value from = nest.place(loop);
  const auto startOf = [&](OpOperand &operand) -> Value {
    return starts.empty() || !op.isDpsInit(&operand)
               ? Value()
               : starts[operand.getOperandNumber() - op.getNumDpsInputs()];
  };
  const auto readOnce = [&](OpOperand &operand) { return nest.load(operand); };
  llvm::SmallDenseMap<OpOperand *, Value> once, all;
  for (OpOperand *operand : uniform) {
    Value start = startOf(*operand);
    once[operand] = start ? start : nest.load(*operand);
  }
  for (OpOperand *operand : operands) {
    if (Value start = startOf(*operand)) once[operand] = start;
    else all[operand] = loadAll(b, width, operand->get(), nest.subscripts(*operand));
  }
  SmallVector<Value> ofLoads;
  for (memref::LoadOp load : ofBody)
    ofLoads.push_back(
        loadAll(b, width, load.getMemRef(), nest.values(load.getIndices(), {}, readOnce)));

  SmallVector<SmallVector<Value>> found;
  for (int64_t i = 0; i < width; ++i) {
    nest.setPlace(loop, i == 0 ? from : arith::AddIOp::create(b, from, nest.index(i)).getResult());
    IRMapping loaded;
    for (auto [load, elements] : llvm::zip_equal(ofBody, ofLoads))
      loaded.map(load.getResult(), vector::ExtractOp::create(b, elements, i).getResult());
    const auto read = [&](OpOperand &operand) -> Value {
      if (Value same = once.lookup(&operand)) return same;
      return vector::ExtractOp::create(b, all.lookup(&operand), i);
    };
    found.push_back(nest.values(wanted, loaded, read));
  }
  nest.setPlace(loop, from);
  return found;
}

} // namespace mlir::weft
