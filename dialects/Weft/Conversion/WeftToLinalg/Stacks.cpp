// Stacks of derivatives: slices of a tensor, which bufferization finds in place.
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::weft {

/// What a stack may be that enters a region, or leaves an op with regions; nothing if it does not.
static SmallVector<Value> predecessorsOf(Value stack) {
  auto argument = dyn_cast<BlockArgument>(stack);
  auto branch = dyn_cast_or_null<RegionBranchOpInterface>(
      argument ? argument.getOwner()->getParentOp() : stack.getDefiningOp());
  if (!branch) return {};
  SmallVector<Value> before;
  const auto collect = [&](RegionBranchPoint point, auto operandsFor) {
    SmallVector<RegionSuccessor> successors;
    branch.getSuccessorRegions(point, successors);
    for (const RegionSuccessor &successor : successors)
      for (auto [input, operand] :
           llvm::zip_equal(successor.getSuccessorInputs(), operandsFor(successor)))
        if (input == stack) before.push_back(operand);
  };
  collect(RegionBranchPoint::parent(), [&](const RegionSuccessor &successor) {
    return branch.getEntrySuccessorOperands(successor);
  });
  for (Region &region : branch->getRegions())
    for (Block &block : region)
      if (auto end = dyn_cast<RegionBranchTerminatorOpInterface>(block.getTerminator()))
        collect(RegionBranchPoint(end), [&](const RegionSuccessor &successor) {
          return OperandRange(end.getSuccessorOperands(successor));
        });
  return before;
}

/// How many places a stack has at most, if that is known.
static std::optional<int64_t> roomOf(Value stack) {
  SetVector<Value> stacks;
  stacks.insert(stack);
  int64_t room = 0;
  for (size_t i = 0; i < stacks.size(); ++i) {
    const Value one = stacks[i];
    Operation *op = one.getDefiningOp();
    auto type = cast<RankedTensorType>(one.getType());
    if (!type.isDynamicDim(0)) {
      room = std::max(room, type.getDimSize(0));
    } else if (auto empty = dyn_cast_or_null<StackEmptyOp>(op)) {
      const std::optional<int64_t> size = getConstantIntValue(empty.getSizes().front());
      if (!size) return {};
      room = std::max(room, *size);
    } else if (auto store = dyn_cast_or_null<StackStoreOp>(op)) {
      stacks.insert(store.getStack());
    } else if (auto add = dyn_cast_or_null<StackAddOp>(op)) {
      stacks.insert(add.getStack());
    } else {
      const SmallVector<Value> before = predecessorsOf(one);
      if (before.empty()) return {};
      stacks.insert(before.begin(), before.end());
    }
  }
  return room;
}

/// How many places a value takes, or 0 if that is unknown; `sizes` are those its type leaves open.
static int64_t placesOf(RankedTensorType type, int64_t stackRank, ValueRange sizes) {
  if (type.hasStaticShape()) return 1;
  int64_t places = 1;
  for (int64_t size : type.getShape().drop_back(stackRank - 1)) {
    if (ShapedType::isDynamic(size)) {
      const auto known = sizes.empty() ? std::nullopt : getConstantIntValue(sizes.front());
      if (!known || *known < 0) return 0;
      size = *known;
      sizes = sizes.drop_front();
    }
    if (llvm::MulOverflow(places, size, places)) return 0;
  }
  return places;
}

static LogicalResult checkPlace(Operation *op, RankedTensorType value, Value stack, Value at,
                                ValueRange sizes = {}) {
  auto type = cast<RankedTensorType>(stack.getType());
  const std::optional<int64_t> first = getConstantIntValue(at);
  if (!first || llvm::is_contained(type.getShape(), 0)) return success();
  const int64_t places = placesOf(value, type.getRank(), sizes);
  const std::optional<int64_t> room = roomOf(stack);
  if (!room || (*first >= 0 && *first <= *room && places <= *room - *first)) return success();
  return op->emitOpError() << "needs " << places << (places == 1 ? " place" : " places") << " from "
                           << *first << " on, of a stack that has places 0 to below " << *room;
}

LogicalResult checkStackPlaces(func::FuncOp function) {
  const WalkResult result = function.walk([](Operation *op) {
    return llvm::TypeSwitch<Operation *, WalkResult>(op)
        .Case([](StackStoreOp store) {
          return checkPlace(store, store.getValue().getType(), store.getStack(), store.getAt());
        })
        .Case([](StackLoadOp load) {
          return checkPlace(load, load.getType(), load.getStack(), load.getAt(), load.getSizes());
        })
        .Case([](StackAddOp add) {
          return checkPlace(add, add.getValue().getType(), add.getStack(), add.getAt());
        })
        .Default([](Operation *) { return success(); });
  });
  return failure(result.wasInterrupted());
}

/// The sizes of that type, those it leaves open from `given`.
static Sizes sizesOfType(LinalgBuilder &b, RankedTensorType type, ValueRange given) {
  Sizes sizes;
  for (int64_t size : type.getShape()) {
    if (!ShapedType::isDynamic(size)) {
      sizes.push_back(b.getIndexAttr(size));
      continue;
    }
    sizes.push_back(given.front());
    given = given.drop_front();
  }
  return sizes;
}

/// Whether there is nothing to store or load, where slices would refuse their offset.
static bool hasNoElements(Value stack) {
  return llvm::is_contained(cast<RankedTensorType>(stack.getType()).getShape(), 0);
}

/// The axes of values in a flat stack: those that lie behind each other along its first axis, as
/// one, and those that are its own others. Complex numbers have such a one, for their parts.
static SmallVector<ReassociationIndices> flatGroups(RankedTensorType type, int64_t stackRank) {
  const int64_t along = type.getRank() - stackRank + 1;
  SmallVector<ReassociationIndices> groups{llvm::to_vector<2>(llvm::seq<int64_t>(0, along))};
  for (int64_t axis = along; axis < type.getRank(); ++axis) groups.push_back({axis});
  return groups;
}

namespace {
/// Where a value lies in its stack.
struct Place {
  Place(LinalgBuilder &b, RankedTensorType type, RankedTensorType stack, const Sizes &valueSizes,
        Value at) {
    const int64_t rank = stack.getRank();
    offsets.assign(rank, b.getIndexAttr(0));
    offsets[0] = at;
    strides.assign(rank, b.getIndexAttr(1));
    if (type.hasStaticShape()) {
      sizes = valueSizes;
      sizes.insert(sizes.begin(), b.getIndexAttr(1));
      slice = type;
      return;
    }
    const auto own = ArrayRef(valueSizes).take_back(rank - 1);
    OpFoldResult count = b.getIndexAttr(1);
    for (OpFoldResult size : ArrayRef(valueSizes).drop_back(rank - 1))
      count = b.multiply(count, size);
    // Known or not, the slice's type leaves it open.
    sizes = {b.toValue(count)};
    sizes.append(own.begin(), own.end());
    SmallVector<int64_t> shape{ShapedType::kDynamic};
    llvm::append_range(shape, type.getShape().take_back(rank - 1));
    slice = RankedTensorType::get(shape, type.getElementType());
  }

  Sizes offsets, sizes, strides;
  RankedTensorType slice; ///< of what is taken out
};
} // namespace

/// A value as the slice that it is in its stack.
static Value asSlice(LinalgBuilder &b, Value value, int64_t stackRank) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.hasStaticShape() || type.getRank() == stackRank) return value;
  return tensor::CollapseShapeOp::create(b, value, flatGroups(type, stackRank));
}

Value lowerStackEmpty(LinalgBuilder &b, StackEmptyOp op) {
  // Upstream makes a tensor.cast of a size that is known and moves it through loops as if their
  // state kept its size; a stack that grows does not.
  Sizes sizes = sizesOfType(b, op.getType(), op.getSizes());
  for (OpFoldResult &size : sizes)
    if (std::optional<int64_t> known = getConstantIntValue(size)) size = b.getIndexAttr(*known);
  Value stack = b.empty(sizes, op.getType().getElementType());
  if (stack.getType() != op.getType()) stack = WidenOp::create(b, op.getType(), stack);
  return stack;
}

Value lowerStackStore(LinalgBuilder &b, StackStoreOp op) {
  if (hasNoElements(op.getStack())) return op.getStack();
  RankedTensorType stack = op.getStack().getType();
  Place place(b, op.getValue().getType(), stack, b.sizesOf(op.getValue()), op.getAt());
  return tensor::InsertSliceOp::create(b, asSlice(b, op.getValue(), stack.getRank()), op.getStack(),
                                       place.offsets, place.sizes, place.strides);
}

Value lowerStackLoad(LinalgBuilder &b, StackLoadOp op) {
  RankedTensorType type = op.getType();
  Sizes sizes = sizesOfType(b, type, op.getSizes());
  if (hasNoElements(op.getStack())) return b.empty(sizes, type.getElementType());
  const int64_t rank = op.getStack().getType().getRank();
  Place place(b, type, op.getStack().getType(), sizes, op.getAt());
  Value value = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                               place.sizes, place.strides);
  if (type.getNumDynamicDims() > 1 && type.getRank() != rank)
    value = b.typed(b.expanded(value, sizes), type);
  else if (!type.hasStaticShape() && type.getRank() != rank)
    value = tensor::ExpandShapeOp::create(b, type, value, flatGroups(type, rank), sizes);
  b.setSizes(value, sizes);
  return value;
}

Value lowerStackAdd(LinalgBuilder &b, StackAddOp op) {
  if (hasNoElements(op.getStack())) return op.getStack();
  RankedTensorType stack = op.getStack().getType();
  Place place(b, op.getValue().getType(), stack, b.sizesOf(op.getValue()), op.getAt());
  Value before = tensor::ExtractSliceOp::create(b, place.slice, op.getStack(), place.offsets,
                                                place.sizes, place.strides);
  const unsigned rank = place.slice.getRank();
  AffineMap identity = b.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
  auto sum = linalg::GenericOp::create(
      b, place.slice, asSlice(b, op.getValue(), stack.getRank()), before, {identity, identity},
      loops, [signs = b.signsOf(op)](OpBuilder &builder, Location loc, ValueRange args) {
        ScalarBuilder scalar(builder, loc, signs);
        Value total = scalar.add(scalar.decoded(args[1]), scalar.decoded(args[0]));
        linalg::YieldOp::create(builder, loc, scalar.encoded(total));
      });
  return tensor::InsertSliceOp::create(b, sum.getResult(0), op.getStack(), place.offsets,
                                       place.sizes, place.strides);
}

} // namespace mlir::weft
