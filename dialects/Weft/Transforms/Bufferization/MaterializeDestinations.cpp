// The pass weft-materialize-destinations: copies what bufferization could not put where it belongs.
#include "Weft/IR/Buffers.h"
#include "Weft/Transforms/AssignPlaces.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::weft {

#define GEN_PASS_DEF_MATERIALIZEDESTINATIONSPASS
#include "Weft/Transforms/Passes.h.inc"

static bool isStaticBuffer(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref && memref.hasStaticShape();
}

/// Whether `buffer` is all of `place`: the same but for casts.
static bool is(Value buffer, Value place) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>()) buffer = cast.getSource();
  return buffer == place;
}

/// New row-major memory like `buffer`.
static memref::AllocOp allocateLike(ImplicitLocOpBuilder &b, Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t axis = 0; axis < type.getRank(); ++axis)
    if (type.isDynamicDim(axis)) sizes.push_back(memref::DimOp::create(b, buffer, axis));
  return memref::AllocOp::create(b, MemRefType::get(type.getShape(), type.getElementType()), sizes);
}

/// A copy, with the reason for reports.
static void copy(ImplicitLocOpBuilder &b, Value from, Value to, StringRef reason) {
  auto op = memref::CopyOp::create(b, from, to);
  if (!reason.empty()) op->setAttr("weft.reason", b.getStringAttr(reason));
}

static memref::AllocOp copied(ImplicitLocOpBuilder &b, Value buffer, StringRef reason) {
  memref::AllocOp alloc = allocateLike(b, buffer);
  copy(b, buffer, alloc, reason);
  return alloc;
}

/// Bufferization takes a view whose strides only run time knows for row-major memory where a
/// function begins or ends: here its elements get their strides back, or are copied for whoever
/// needs them in a row.
static void straighten(memref::CastOp cast) {
  auto from = dyn_cast<MemRefType>(cast.getSource().getType()),
       to = dyn_cast<MemRefType>(cast.getType());
  if (!from || !to || from.getLayout().isIdentity() || !to.getLayout().isIdentity()) return;
  Value source = cast.getSource();
  cast.getResult().replaceUsesWithIf(source, [](OpOperand &use) {
    Operation *user = use.getOwner();
    return isa<memref::DimOp, linalg::LinalgOp, func::ReturnOp>(user) ||
           (isa<memref::CopyOp>(user) && use.getOperandNumber() == 0);
  });
  if (!cast->use_empty()) {
    ImplicitLocOpBuilder b(cast.getLoc(), cast);
    memref::AllocOp alloc =
        copied(b, source, "the elements of a view are needed one behind the other");
    // The cast may have known more of the sizes.
    Value straight = alloc;
    if (straight.getType() != to) straight = memref::CastOp::create(b, to, straight);
    cast.getResult().replaceAllUsesWith(straight);
  }
  cast.erase();
}

/// Copies each of `values` to the place of the same number, as if all at once: a value that may be
/// in another's place is set aside first.
static void storeAll(ImplicitLocOpBuilder &b, ArrayRef<Value> values, ArrayRef<Value> places,
                     StringRef reason, ArrayRef<Location> locations = {}) {
  SmallVector<Value> sources(values);
  SmallVector<unsigned> moving;
  for (unsigned i = 0; i < values.size(); ++i)
    if (!is(values[i], places[i])) moving.push_back(i);
  if (moving.size() > 1)
    for (unsigned i : moving)
      if (Value root = rootOf(values[i]); !isDistinct(root) || llvm::is_contained(places, root))
        sources[i] = copied(b, values[i], "values trade places and are set aside first");
  for (unsigned i : moving) {
    if (!locations.empty()) b.setLoc(locations[i]);
    copy(b, sources[i], places[i], reason);
  }
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Stores the terminator's operands `numbers` in `places` and hands these on instead.
static void materializeTerminator(Operation *terminator, const MutableOperandRange &operands,
                                  ArrayRef<unsigned> numbers, ArrayRef<Value> places) {
  ImplicitLocOpBuilder b(terminator->getLoc(), terminator);
  SmallVector<Value> values;
  for (unsigned number : numbers) values.push_back(operands[number].get());
  storeAll(b, values, places, "the next iteration of the loop starts from it");
  for (auto [number, place] : llvm::zip_equal(numbers, places)) operands[number].set(place);
}

/// A place for each buffer that the loop starts with, and where it starts from.
static SmallVector<Value> makePlaces(Operation *loop, const MutableOperandRange &inits,
                                     ArrayRef<unsigned> numbers) {
  ImplicitLocOpBuilder b(loop->getLoc(), loop);
  SmallVector<Value> places;
  for (unsigned number : numbers) {
    places.push_back(
        copied(b, inits[number].get(), "the loop changes it from iteration to iteration"));
    inits[number].set(places.back());
  }
  return places;
}

static SmallVector<unsigned> staticBuffers(TypeRange types) {
  SmallVector<unsigned> numbers;
  for (auto [number, type] : llvm::enumerate(types))
    if (isStaticBuffer(type) && cast<MemRefType>(type).getLayout().isIdentity())
      numbers.push_back(number);
  return numbers;
}

static void replaceAll(ArrayRef<unsigned> numbers, ValueRange carried, ArrayRef<Value> places) {
  for (auto [number, place] : llvm::zip_equal(numbers, places))
    carried[number].replaceAllUsesWith(place);
}

static void materialize(scf::ForOp loop) {
  SmallVector<unsigned> numbers = staticBuffers(ValueRange(loop.getRegionIterArgs()).getTypes());
  if (numbers.empty()) return;
  SmallVector<Value> places = makePlaces(loop, loop.getInitArgsMutable(), numbers);
  replaceAll(numbers, loop.getRegionIterArgs(), places);
  Operation *yield = loop.getBody()->getTerminator();
  materializeTerminator(yield, MutableOperandRange(yield), numbers, places);
  replaceAll(numbers, loop.getResults(), places);
}

/// Only loops that hand the same types around; in others state has no one place.
static void materialize(scf::WhileOp loop) {
  ValueRange before(loop.getBeforeArguments()), after(loop.getAfterArguments());
  if (before.getTypes() != after.getTypes()) return;
  SmallVector<unsigned> numbers = staticBuffers(before.getTypes());
  if (numbers.empty()) return;
  SmallVector<Value> places = makePlaces(loop, loop.getInitsMutable(), numbers);
  replaceAll(numbers, before, places);
  replaceAll(numbers, after, places);
  scf::ConditionOp condition = loop.getConditionOp();
  materializeTerminator(condition, condition.getArgsMutable(), numbers, places);
  Operation *yield = loop.getYieldOp();
  materializeTerminator(yield, MutableOperandRange(yield), numbers, places);
  replaceAll(numbers, loop.getResults(), places);
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// The allocation that `buffer` is, if it is one of `function`'s outermost block and not taken yet.
static memref::AllocOp allocationOf(Value buffer, func::FuncOp function) {
  while (auto cast = buffer.getDefiningOp<memref::CastOp>()) buffer = cast.getSource();
  auto alloc = buffer.getDefiningOp<memref::AllocOp>();
  if (!alloc || alloc->getBlock() != &function.getBody().front() || alloc->hasAttr("weft.output"))
    return {};
  return alloc;
}

/// The argument that a result is to be stored in, or null.
static Value placeOf(func::FuncOp function, unsigned result) {
  Attribute variable = function.getResultAttr(result, "weft.variable");
  for (BlockArgument argument : function.getArguments()) {
    const unsigned number = argument.getArgNumber();
    if (variable && function.getArgAttr(number, "weft.variable") == variable) return argument;
    auto output = function.getArgAttrOfType<IntegerAttr>(number, "weft.output");
    if (!variable && output && output.getInt() == result) return argument;
  }
  return {};
}

namespace {
struct MaterializeDestinations : impl::MaterializeDestinationsPassBase<MaterializeDestinations> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    function.walk([](memref::CastOp cast) { straighten(cast); });
    function.walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) materialize(loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op)) materialize(loop);
    });
    if (failed(materializeResults(function))) return signalPassFailure();
    function.walk([](linalg::CopyOp copy) { asMemoryCopy(copy); });
  }

  /// Copies of rows are copies of memory, which is faster than a loop.
  static void asMemoryCopy(linalg::CopyOp copy) {
    Value from = copy.getInputs()[0], to = copy.getOutputs()[0];
    if (getElementTypeOrSelf(from) != getElementTypeOrSelf(to)) return;
    OpBuilder b(copy);
    if (from != to) memref::CopyOp::create(b, copy.getLoc(), from, to);
    copy.erase();
  }

  LogicalResult materializeResults(func::FuncOp function) {
    if (function->hasAttr("weft.split"))
      return function.emitOpError(
          "has a 'weft.split', by which weft-split-derivative makes two functions of it before");
    Operation *ret = function.getBody().front().getTerminator();
    ImplicitLocOpBuilder b(ret->getLoc(), ret);
    SmallVector<Value> values, places, unknown;
    SmallVector<Location> locations;
    for (auto [number, result] : llvm::enumerate(ret->getOperands())) {
      auto type = dyn_cast<MemRefType>(result.getType());
      if (!type)
        return function.emitError("result ")
               << number << " is no tensor: only tensors can be returned";
      if (Value place = placeOf(function, number)) {
        values.push_back(result);
        places.push_back(place);
        Attribute variable = function.getResultAttr(number, "weft.variable");
        locations.push_back(assignPlace(ret->getLoc(), variable));
        if (variable)
          function.setArgAttr(cast<BlockArgument>(place).getArgNumber(), "weft.updated",
                              b.getUnitAttr());
      } else if (auto declared = cast<MemRefType>(function.getResultTypes()[number]);
                 !type.hasStaticShape() || !declared.hasStaticShape()) {
        // Sizes that came to be known after all are those of a view behind a cast that is gone.
        unknown.push_back(result);
      } else {
        return function.emitError("result ")
               << number << " has no place: run weft-destination-passing first";
      }
    }
    // Those of unknown size first: they may be views of a variable that changes below.
    for (auto [number, result] : llvm::enumerate(unknown)) {
      memref::AllocOp alloc = allocationOf(result, function);
      if (!alloc) alloc = copied(b, result, "");
      alloc->setAttr("weft.output", b.getI64IntegerAttr(number));
    }
    storeAll(b, values, places, "", locations);
    ret->setOperands({});
    return function.eraseResults(BitVector(function.getNumResults(), true));
  }
};
} // namespace

} // namespace mlir::weft
