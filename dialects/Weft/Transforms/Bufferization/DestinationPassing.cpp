// The pass weft-destination-passing: destination-passing style for results and loop-carried
// tensors.
#include "Weft/Transforms/AssignPlaces.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_DESTINATIONPASSINGPASS
#include "Weft/Transforms/Passes.h.inc"

static bool isStaticTensor(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape();
}

static bool isView(Operation *op) {
  return isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp,
             tensor::ExtractSliceOp>(op);
}

/// Whether the old contents of `argument` may be needed once `op`, in the function's body, is done:
/// by a later operation, or through an alias made before.
static bool neededAfter(BlockArgument argument, Operation *op) {
  for (Operation *user : argument.getUsers()) {
    Operation *top = op->getBlock()->findAncestorOpInBlock(*user);
    if (!top || op->isBeforeInBlock(top)) return true;
    if (top == op) continue;
    if (isView(user) || user->hasTrait<OpTrait::IsTerminator>() || user->getNumRegions() != 0)
      return true;
  }
  return false;
}

static bool isUsedIn(BlockArgument argument, Operation *op) {
  return llvm::any_of(argument.getUsers(), [&](Operation *user) { return op->isAncestor(user); });
}

//===----------------------------------------------------------------------===//
// Stores
//===----------------------------------------------------------------------===//

/// Stores `value` in `destination`, as a copy that bufferization makes vanish where it finds that
/// what computes the elements can write there itself. A reshape before the end is done after the
/// store instead. Where the old contents are still needed, the copy gets other memory; then
/// weft-materialize-destinations stores the result when that is possible.
static Value store(OpBuilder &b, Location loc, Value value, Value destination) {
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>()) {
    auto groups = expand.getReassociationIndices();
    Value inner = tensor::CollapseShapeOp::create(b, loc, expand.getSrcType(), destination, groups);
    inner = store(b, loc, expand.getSrc(), inner);
    return tensor::ExpandShapeOp::create(b, loc, expand.getType(), inner, groups);
  }
  if (auto collapse = value.getDefiningOp<tensor::CollapseShapeOp>();
      collapse && collapse.getSrcType().hasStaticShape()) {
    auto groups = collapse.getReassociationIndices();
    Value inner = tensor::ExpandShapeOp::create(b, loc, collapse.getSrcType(), destination, groups);
    inner = store(b, loc, collapse.getSrc(), inner);
    return tensor::CollapseShapeOp::create(b, loc, collapse.getType(), inner, groups);
  }
  // A scalar is written where it belongs at once.
  if (auto made = value.getDefiningOp<tensor::FromElementsOp>();
      made && made.getType().getRank() == 0)
    return tensor::InsertOp::create(b, loc, made.getElements()[0], destination, ValueRange());
  return linalg::CopyOp::create(b, loc, value, destination).getResult(0);
}

/// Whether `value` is what a loop makes of `place`: the loop works there already.
static bool comesFrom(Value value, Value place) {
  auto result = dyn_cast<OpResult>(value);
  if (!result) return false;
  const unsigned number = result.getResultNumber();
  if (auto loop = dyn_cast<scf::ForOp>(result.getOwner()))
    return loop.getInitArgs()[number] == place;
  if (auto loop = dyn_cast<scf::WhileOp>(result.getOwner()))
    return ValueRange(loop.getBeforeArguments()).getTypes() == loop.getResultTypes() &&
           loop.getInits()[number] == place;
  return false;
}

/// Stores a result of the function in its argument `place`. What a loop starts with and what a
/// branch yields is put there as well, if the old contents are not needed later: then they work in
/// place, and the store at the end has nothing left to do.
static Value storeResult(OpBuilder &b, Location loc, Value value, BlockArgument place) {
  Operation *op = value.getDefiningOp();
  const bool atTop = op && op->getBlock() == place.getOwner() && !neededAfter(place, op);
  Value destination = place;
  OpBuilder::InsertionGuard guard(b);
  if (auto loop = dyn_cast_or_null<scf::ForOp>(op); loop && atTop) {
    OpOperand &init = loop.getInitArgsMutable()[cast<OpResult>(value).getResultNumber()];
    // Inside the loop the old contents may be read in every iteration.
    if (init.get() != place && !isUsedIn(place, loop)) {
      OpBuilder before(loop);
      init.set(store(before, loc, init.get(), place));
      destination = init.get();
    }
  } else if (auto branch = dyn_cast_or_null<scf::IfOp>(op); branch && atTop) {
    for (Region *region : branch.getRegions()) {
      Operation *yield = region->front().getTerminator();
      OpOperand &yielded = yield->getOpOperand(cast<OpResult>(value).getResultNumber());
      OpBuilder inner(yield);
      if (yielded.get() != place) yielded.set(store(inner, loc, yielded.get(), place));
    }
  }
  return store(b, loc, value, destination);
}

/// Stores every operand of a loop's terminator in the tensor of `carried` that it takes the place
/// of, where the size is known.
static void storeCarried(OpBuilder &b, Operation *terminator, MutableOperandRange operands,
                         ValueRange carried) {
  b.setInsertionPoint(terminator);
  for (auto [operand, own] : llvm::zip_equal(operands, carried))
    if (isStaticTensor(own.getType()) && operand.get() != own && !comesFrom(operand.get(), own))
      operand.set(store(b, terminator->getLoc(), operand.get(), own));
}

static void storeInLoop(OpBuilder &b, scf::ForOp loop) {
  Operation *yield = loop.getBody()->getTerminator();
  storeCarried(b, yield, MutableOperandRange(yield), loop.getRegionIterArgs());
}

/// Only loops that hand the same types around: in others a value has no place of its own.
static void storeInLoop(OpBuilder &b, scf::WhileOp loop) {
  if (ValueRange(loop.getBeforeArguments()).getTypes() !=
      ValueRange(loop.getAfterArguments()).getTypes())
    return;
  scf::ConditionOp condition = loop.getConditionOp();
  storeCarried(b, condition, condition.getArgsMutable(), loop.getBeforeArguments());
  Operation *yield = loop.getYieldOp();
  storeCarried(b, yield, MutableOperandRange(yield), loop.getAfterArguments());
}

/// Makes a choice between whole tensors, which a buffer cannot be in place, one of their elements.
/// Not where a size is unknown, as that of one tensor may not be that of the other.
static void chooseElements(OpBuilder &b, arith::SelectOp select) {
  auto type = dyn_cast<RankedTensorType>(select.getType());
  if (!type || !type.hasStaticShape() || isa<ShapedType>(select.getCondition().getType())) return;
  b.setInsertionPoint(select);
  Location loc = select.getLoc();
  Value init = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
  AffineMap identity = b.getMultiDimIdentityMap(type.getRank());
  SmallVector<utils::IteratorType> loops(type.getRank(), utils::IteratorType::parallel);
  auto generic = linalg::GenericOp::create(
      b, loc, init.getType(), ValueRange{select.getTrueValue(), select.getFalseValue()}, init,
      {identity, identity, identity}, loops, [&](OpBuilder &body, Location at, ValueRange args) {
        Value chosen = arith::SelectOp::create(body, at, select.getCondition(), args[0], args[1]);
        linalg::YieldOp::create(body, at, chosen);
      });
  select.replaceAllUsesWith(generic.getResult(0));
  select.erase();
}

/// Makes constants that an op computes into, such as the start of a sum, fills of memory: the data
/// of the program would be copied for it.
static void fillStarts(OpBuilder &b, linalg::LinalgOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    auto constant = init.get().getDefiningOp<arith::ConstantOp>();
    auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : nullptr;
    if (!elements || !elements.isSplat()) continue;
    b.setInsertionPoint(op);
    Location loc = op.getLoc();
    auto type = cast<RankedTensorType>(constant.getType());
    Value scalar = arith::ConstantOp::create(b, loc, elements.getSplatValue<TypedAttr>());
    Value empty = tensor::EmptyOp::create(b, loc, type.getShape(), type.getElementType());
    init.set(linalg::FillOp::create(b, loc, scalar, empty).getResult(0));
  }
}

namespace {
struct DestinationPassing : impl::DestinationPassingPassBase<DestinationPassing> {
  void runOnOperation() override {
    // A function that gets more arguments fits no call any more.
    SymbolTableCollection symbols;
    WalkResult walked = getOperation().walk([&](Operation *op) -> WalkResult {
      for (StringRef name : {"callee", "pullback"})
        if (auto symbol = op->getAttrOfType<FlatSymbolRefAttr>(name))
          if (auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, symbol);
              callee && !callee.isExternal())
            return op->emitOpError("calls a function that is yet to get places for its results; "
                                   "calls are inlined before"),
                   WalkResult::interrupt();
      return WalkResult::advance();
    });
    if (walked.wasInterrupted()) return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal()) continue;
      if (failed(check(function))) return signalPassFailure();
      storeIn(function);
    }
  }

  static LogicalResult check(func::FuncOp function) {
    if (function->hasAttr("weft.split"))
      return function.emitOpError(
          "has a 'weft.split', by which weft-split-derivative makes two functions of it before");
    auto isBuffer = [](Type type) { return isa<BaseMemRefType>(type); };
    if (llvm::any_of(function.getResultTypes(), isBuffer))
      return function.emitOpError(
          "gives buffers already, and results that are to be bound are tensors");
    return success();
  }

  void storeIn(func::FuncOp function) {
    OpBuilder b(&getContext());
    function.walk([&](Operation *op) {
      if (auto select = dyn_cast<arith::SelectOp>(op)) chooseElements(b, select);
      else if (auto loops = dyn_cast<linalg::LinalgOp>(op)) fillStarts(b, loops);
      else if (auto loop = dyn_cast<scf::ForOp>(op)) storeInLoop(b, loop);
      else if (auto loop = dyn_cast<scf::WhileOp>(op)) storeInLoop(b, loop);
    });
    storeResults(b, function);
  }

  void storeResults(OpBuilder &b, func::FuncOp function) {
    // Only what the function gives a new value may be written to: a variable that keeps its value
    // is no place for other things even when nobody reads it any more.
    DenseSet<Attribute> updatedVariables;
    for (unsigned index = 0; index < function.getNumResults(); ++index)
      if (Attribute variable = function.getResultAttr(index, "weft.variable"))
        updatedVariables.insert(variable);
    DenseMap<Attribute, BlockArgument> variables;
    for (BlockArgument argument : function.getArguments()) {
      const unsigned index = argument.getArgNumber();
      if (!isa<TensorType>(argument.getType())) continue;
      Attribute variable = function.getArgAttr(index, "weft.variable");
      if (variable && updatedVariables.contains(variable)) variables[variable] = argument;
      else function.setArgAttr(index, "bufferization.writable", b.getBoolAttr(false));
    }

    // Functions of several blocks have no phase before this one; alone, the pass leaves them.
    auto ret = dyn_cast<func::ReturnOp>(function.getBody().front().getTerminator());
    if (!ret) return;
    b.setInsertionPoint(ret);
    SmallVector<std::pair<OpOperand *, BlockArgument>> updates;
    // A value with several places is computed in the first; the others are copies of what is there.
    DenseMap<Value, Value> stored;
    // Outputs before variables: an output may be the old value of a variable.
    for (OpOperand &operand : ret->getOpOperands()) {
      const unsigned index = operand.getOperandNumber();
      Value value = operand.get();
      if (Value first = stored.lookup(value)) value = first;
      if (Attribute variable = function.getResultAttr(index, "weft.variable")) {
        updates.push_back({&operand, variables.lookup(variable)});
        continue;
      }
      if (!isStaticTensor(value.getType())) continue;
      DictionaryAttr attrs =
          b.getDictionaryAttr(b.getNamedAttr("weft.output", b.getI64IntegerAttr(index)));
      const unsigned number = function.getNumArguments();
      (void)function.insertArgument(number, value.getType(), attrs, ret->getLoc());
      const Value before = operand.get();
      Location place = value.getDefiningOp() ? value.getDefiningOp()->getLoc() : ret->getLoc();
      operand.set(storeResult(b, place, value, function.getArgument(number)));
      stored.try_emplace(before, operand.get());
    }
    for (auto [operand, place] : updates) {
      if (Value first = stored.lookup(operand->get())) operand->set(first);
      Attribute variable = function.getArgAttr(place.getArgNumber(), "weft.variable");
      if (operand->get() != place && !comesFrom(operand->get(), place))
        operand->set(storeResult(b, assignPlace(ret->getLoc(), variable), operand->get(), place));
    }
  }
};
} // namespace

} // namespace mlir::weft
