// Loads and stores of elements and vectors, however an access walks from lane to lane.

#include "Weft/Conversion/Loops/Body.h"
#include "Weft/Conversion/Loops/EmitterParts.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::weft;

Value FlatViews::get(const Access &access) {
  Value &view = views_[access.memref];
  if (view) return view;
  OpBuilder builder(access.memref.getContext());
  builder.setInsertionPointAfterValue(access.memref);
  Location loc = access.memref.getLoc();
  auto type = cast<MemRefType>(access.memref.getType());
  Value source = access.memref;
  Type element = type.getElementType();
  if (element.isInteger(1)) { // a bool is a byte in memory, and vectors of i1 are not
    element = builder.getI8Type();
    auto bytes = MemRefType::get(type.getShape(), element, type.getLayout());
    source = UnrealizedConversionCastOp::create(builder, loc, bytes, source).getResult(0);
  }
  OpFoldResult size = builder.getIndexAttr(access.extent);
  int64_t extent = access.extent;
  if (extent < 0) {
    // Nothing reads this size; computing what a view spans would be code for nothing.
    extent = ShapedType::kDynamic;
    size = arith::ConstantIndexOp::create(builder, loc, std::numeric_limits<int64_t>::max())
               .getResult();
  }
  view = memref::ReinterpretCastOp::create(builder, loc, MemRefType::get({extent}, element), source,
                                           builder.getIndexAttr(0), ArrayRef<OpFoldResult>{size},
                                           ArrayRef<OpFoldResult>{builder.getIndexAttr(1)});
  return view;
}

/// The flat view that `access` walks through.
Value NestEmitter::flat(const Access &access) {
  Value &view = flat_[access.operand->getOperandNumber()];
  if (!view) view = views_.get(access);
  return view;
}

/// How far `lane` is from the first one.
Value NestEmitter::laneAt(const Access &access, Value at, int64_t lane) {
  if (lane == 0) return at;
  Value distance = (Product(lane) * access.strides[nest_.vectorDim]).materialize(b_, loc_);
  return b_.createOrFold<arith::AddIOp>(loc_, at, distance);
}

/// A bool from the byte that it is in memory; anything else as it is.
Value NestEmitter::fromMemory(const Access &access, Value value) {
  if (!access.elementType.isInteger(1)) return value;
  Value zero = arith::ConstantOp::create(b_, loc_, b_.getZeroAttr(value.getType()));
  return arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ne, value, zero);
}

Value NestEmitter::load(const Access &access, Value at, int64_t lanes, Value mask) {
  Value view = flat(access);
  if (!at) at = constant(0);
  if (lanes == 0) return fromMemory(access, memref::LoadOp::create(b_, loc_, view, at));
  return fromMemory(access, loadVector(access, view, at, lanes, mask));
}

Value NestEmitter::loadVector(const Access &access, Value view, Value at, int64_t lanes,
                              Value mask) {
  Type element = cast<MemRefType>(view.getType()).getElementType();
  auto type = VectorType::get({lanes}, element);
  auto whole = [&](Value from) -> Value {
    return vector::LoadOp::create(b_, loc_, type, view, from);
  };
  auto offset = [&](Value from, int64_t distance) {
    return b_.createOrFold<arith::AddIOp>(loc_, from, constant(distance));
  };
  const Walk walk = nest_.walk(access);
  if (mask) {
    // Ones where nothing is loaded: a division there must not trap.
    Attribute one = b_.getOneAttr(element);
    Value rest = arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type, one));
    return vector::MaskedLoadOp::create(b_, loc_, type, view, at, mask, rest);
  }
  if (walk == Walk::contiguous) return whole(at);
  if (walk == Walk::reversed) return reversed(whole(offset(at, 1 - lanes)), lanes);
  const int64_t stride = walk == Walk::strided ? access.strides[nest_.vectorDim].constant : 0;
  if (stride != 0 && stride <= lanes) {
    // So many vectors hold all lanes. The last one begins earlier, to end with the last lane:
    // behind that one there may be nothing.
    Value result;
    for (int64_t part = 0; part < stride; ++part) {
      const int64_t first = part + 1 < stride ? part * lanes : (lanes - 1) * stride + 1 - lanes;
      Value vector = whole(offset(at, first));
      SmallVector<int64_t> picks;
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t place = lane * stride - first;
        const bool here = place >= 0 && place < lanes;
        picks.push_back(here ? lanes + place : lane);
      }
      result = vector::ShuffleOp::create(b_, loc_, result ? result : vector, vector, picks);
    }
    return result;
  }
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < lanes; ++lane)
    elements.push_back(memref::LoadOp::create(b_, loc_, view, laneAt(access, at, lane)));
  return vector::FromElementsOp::create(b_, loc_, type, elements);
}

Value NestEmitter::reversed(Value vector, int64_t lanes) {
  SmallVector<int64_t> order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, lanes)));
  return vector::ShuffleOp::create(b_, loc_, vector, vector, order);
}

/// Upper halves of words are picked from memory's view of these: LLVM would shift and cut them,
/// vector by vector.
static Value picked(OpBuilder &b, Value value) {
  auto cut = value.getDefiningOp<arith::TruncIOp>();
  auto shift = cut ? cut.getIn().getDefiningOp<arith::ShRUIOp>() : arith::ShRUIOp();
  auto type = dyn_cast<VectorType>(value.getType());
  llvm::APInt distance;
  if (!shift || !type || !type.getElementType().isInteger(16) ||
      !getElementTypeOrSelf(shift.getType()).isInteger(32) ||
      !matchPattern(shift.getRhs(), m_ConstantInt(&distance)) || distance != 16)
    return value;
  const int64_t lanes = type.getNumElements();
  Value halves = vector::BitCastOp::create(
      b, value.getLoc(), VectorType::get({2 * lanes}, type.getElementType()), shift.getLhs());
  SmallVector<int64_t> upper;
  for (int64_t lane = 0; lane < lanes; ++lane) upper.push_back(2 * lane + 1);
  return vector::ShuffleOp::create(b, value.getLoc(), halves, halves, upper);
}

void NestEmitter::store(const Access &access, Value at, Value value, int64_t lanes, Value mask) {
  Value view = flat(access);
  if (!at) at = constant(0);
  value = toLanes(b_, loc_, value, lanes);
  if (lanes != 0) value = picked(b_, value);
  if (access.elementType.isInteger(1)) {
    Type byte = b_.getI8Type();
    if (lanes != 0) byte = VectorType::get({lanes}, byte);
    value = arith::ExtUIOp::create(b_, loc_, byte, value);
  }
  if (lanes == 0) {
    memref::StoreOp::create(b_, loc_, value, view, at);
    return;
  }
  if (mask) {
    vector::MaskedStoreOp::create(b_, loc_, view, at, mask, value);
    return;
  }
  switch (nest_.walk(access)) {
  case Walk::contiguous: vector::StoreOp::create(b_, loc_, value, view, at); return;
  case Walk::reversed:
    at = b_.createOrFold<arith::AddIOp>(loc_, at, constant(1 - lanes));
    vector::StoreOp::create(b_, loc_, reversed(value, lanes), view, at);
    return;
  case Walk::same:
  case Walk::strided:
  case Walk::lanes:
    for (int64_t lane = 0; lane < lanes; ++lane) {
      Value element = vector::ExtractOp::create(b_, loc_, value, lane);
      memref::StoreOp::create(b_, loc_, element, view, laneAt(access, at, lane));
    }
  }
}
