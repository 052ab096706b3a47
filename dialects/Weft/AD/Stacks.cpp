// Builds stacks into loops.
#include "Weft/AD/Stacks.h"

#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

void replaceByLarger(Context &context, Operation *op, Operation *larger) {
  for (auto [from, to] : llvm::zip(op->getResults(), larger->getResults())) {
    context.activity.follow(from, to);
    context.derivatives.follow(from, to);
    context.saved.follow(from, to);
  }
  if (Operation *original = context.originals.lookup(op)) {
    context.originals.erase(op);
    context.originals[larger] = original;
  }
  op->replaceAllUsesWith(larger->getResults().take_front(op->getNumResults()));
  op->erase();
}

/// A number as a tensor that a stack can hold, and as its type.
RankedTensorType keptType(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type)) return tensor;
  return RankedTensorType::get({}, type.isIndex() ? IntegerType::get(type.getContext(), 64) : type);
}

Value asTensor(OpBuilder &b, Location location, Value value) {
  if (isa<RankedTensorType>(value.getType())) return value;
  RankedTensorType type = keptType(value.getType());
  if (value.getType().isIndex())
    value = arith::IndexCastOp::create(b, location, type.getElementType(), value);
  return tensor::FromElementsOp::create(b, location, type, value);
}

/// Where a value of unknown sizes begins, and these sizes.
static RankedTensorType placesOf(RankedTensorType type) {
  const auto count = static_cast<int64_t>(1 + type.getNumDynamicDims());
  return RankedTensorType::get(count, IntegerType::get(type.getContext(), 64));
}

LoopStacks::LoopStacks(Context &context, scf::ForOp loop, const Iterations &iterations)
    : context(context), loop(loop), location(loop.getLoc()), blocks{loop.getBody()},
      iterations(iterations) {
  OpBuilder b = OpBuilder::atBlockBegin(loop.getBody());
  numbers.push_back(iterationOf(b, loop));
}

LoopStacks::LoopStacks(Context &context, scf::WhileOp loop)
    : context(context), loop(loop), location(loop.getLoc()),
      blocks{loop.getBeforeBody(), loop.getAfterBody()},
      numbers{loop.getBeforeArguments().back(), loop.getAfterArguments().back()} {}

void LoopStacks::onlyWhen(Value when, Value place) {
  due = when;
  numbers[0] = place;
}

void LoopStacks::onlyEvery(Value length) {
  OpBuilder b(loop->getContext());
  b.setInsertionPointAfterValue(numbers[0]);
  Value place = arith::DivUIOp::create(b, location, numbers[0], length);
  Value first = arith::MulIOp::create(b, location, place, length);
  onlyWhen(arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, first, numbers[0]), place);
}

unsigned LoopStacks::addState(Value init) {
  State state{init, {}, {}, {}};
  for (Block *block : blocks) {
    state.in.push_back(block->addArgument(init.getType(), location));
    state.out.push_back(state.in.back());
  }
  states.push_back(std::move(state));
  return states.size() - 1;
}

/// A stack of values of known sizes.
unsigned LoopStacks::addStack(RankedTensorType value) {
  constexpr int64_t first = 4; // places of a stack that grows
  SmallVector<int64_t> shape{iterations && iterations->known ? *iterations->known
                                                             : ShapedType::kDynamic};
  llvm::append_range(shape, value.getShape());
  OpBuilder b(loop);
  SmallVector<Value> sizes;
  if (!iterations) sizes.push_back(arith::ConstantIndexOp::create(b, location, first));
  else if (!iterations->known) sizes.push_back(iterations->count);
  return addState(StackEmptyOp::create(
      b, location, RankedTensorType::get(shape, value.getElementType()), sizes));
}

void LoopStacks::store(OpBuilder &b, unsigned stack, unsigned block, Value value) {
  Value &at = states[stack].out[block];
  if (!iterations) {
    Value one = arith::ConstantIndexOp::create(b, location, 1);
    Value count = arith::AddIOp::create(b, location, numbers[block], one);
    at = StackReserveOp::create(b, location, at.getType(), at, count);
  }
  storeAt(b, at, value, numbers[block]);
}

/// Stores, if it is due.
void LoopStacks::storeAt(OpBuilder &b, Value &stack, Value value, Value at) {
  if (!due) {
    stack = StackStoreOp::create(b, location, stack.getType(), value, stack, at);
    return;
  }
  auto branch = scf::IfOp::create(b, location, stack.getType(), due, /*withElseRegion=*/true);
  OpBuilder inner = branch.getThenBodyBuilder();
  Value stored = StackStoreOp::create(inner, location, stack.getType(), value, stack, at);
  scf::YieldOp::create(inner, location, stored);
  inner = branch.getElseBodyBuilder();
  scf::YieldOp::create(inner, location, stack);
  stack = branch.getResult(0);
}

void LoopStacks::keepUnknown(OpBuilder &b, Value value, unsigned block, Kept &at) {
  auto type = cast<RankedTensorType>(value.getType());
  Type i64 = b.getI64Type();
  OpBuilder outside(loop);
  Value none = arith::ConstantIndexOp::create(outside, location, 0);
  auto flat = RankedTensorType::get({ShapedType::kDynamic}, type.getElementType());
  at.stack = addState(StackEmptyOp::create(outside, location, flat, none));
  const unsigned end = addState(none);
  RankedTensorType places = placesOf(type);
  at.places = addStack(places);

  Value offset = states[end].in[block];
  SmallVector<Value> numbers{arith::IndexCastOp::create(b, location, i64, offset)};
  uint64_t known = 1; // unsigned: sizes beside a 0 may multiply to anything
  Value count;
  for (int64_t axis = 0; axis < type.getRank(); ++axis) {
    if (!type.isDynamicDim(axis)) {
      known *= static_cast<uint64_t>(type.getDimSize(axis));
      continue;
    }
    Value size = tensor::DimOp::create(b, location, value, axis);
    count = count ? arith::MulIOp::create(b, location, count, size) : size;
    numbers.push_back(arith::IndexCastOp::create(b, location, i64, size));
  }
  if (known != 1)
    count = arith::MulIOp::create(
        b, location, count,
        arith::ConstantIndexOp::create(b, location, static_cast<int64_t>(known)));
  Value next = arith::AddIOp::create(b, location, offset, count);
  if (due) next = arith::SelectOp::create(b, location, due, next, offset);
  Value &stack = states[at.stack].out[block];
  stack = StackReserveOp::create(b, location, flat, stack, next);
  storeAt(b, stack, value, offset);
  states[end].out[block] = next;
  store(b, *at.places, block, tensor::FromElementsOp::create(b, location, places, numbers));
}

void LoopStacks::keep(Value value) {
  const unsigned block = llvm::find(blocks, value.getParentBlock()) - blocks.begin();
  // As early as can be, so that what follows may overwrite the value.
  OpBuilder b(loop->getContext());
  if (due) b.setInsertionPointAfter(due.getDefiningOp());
  else if (Operation *source = value.getDefiningOp()) b.setInsertionPointAfter(source);
  else if (Operation *number = numbers[block].getDefiningOp()) b.setInsertionPointAfter(number);
  else b.setInsertionPointToStart(blocks[block]);
  RankedTensorType type = keptType(value.getType());
  Kept at{};
  if (type.hasStaticShape()) {
    at.stack = addStack(type);
    store(b, at.stack, block, asTensor(b, location, value));
  } else {
    keepUnknown(b, value, block, at);
  }
  kept[value] = at;
}

Operation *LoopStacks::finish() {
  SmallVector<Value> operands(loop->getOperands());
  SmallVector<Type> types(loop->getResultTypes());
  for (const State &state : states) {
    operands.push_back(state.init);
    types.push_back(state.init.getType());
  }
  for (auto [i, block] : llvm::enumerate(blocks)) {
    Operation *terminator = block->getTerminator();
    for (const State &state : states)
      terminator->insertOperands(terminator->getNumOperands(), state.out[i]);
  }
  OpBuilder b(loop);
  const unsigned before = loop->getNumResults();
  Operation *larger = rebuild(b, loop, operands, types);
  for (auto [i, state] : llvm::enumerate(states)) state.last = larger->getResult(before + i);
  replaceByLarger(context, loop, larger);
  return loop = larger;
}

void LoopStacks::note(Value value, int64_t times, std::string reason) {
  const Kept &at = kept.find(value)->second;
  context.saved.keep(due ? Saved::Form::snapshot : Saved::Form::stack, value, times,
                     std::move(reason), states[at.stack].last);
  if (at.places) context.saved.hide(states[*at.places].last);
}

Value LoopStacks::load(OpBuilder &b, Value value, Value iteration) {
  const Kept &at = kept.find(value)->second;
  Value places = at.places ? states[*at.places].last : Value();
  return loadKept(b, location, value.getType(), states[at.stack].last, places, iteration);
}

Value loadKept(OpBuilder &b, Location location, Type kept, Value stack, Value places, Value at) {
  RankedTensorType type = keptType(kept);
  if (!places) {
    Value loaded = StackLoadOp::create(b, location, type, stack, at, ValueRange());
    if (isa<RankedTensorType>(kept)) return loaded;
    Value number = ItemOp::create(b, location, type.getElementType(), loaded);
    if (!kept.isIndex()) return number;
    return arith::IndexCastOp::create(b, location, kept, number);
  }
  auto numbersOf = cast<RankedTensorType>(RankedTensorType::get(
      cast<RankedTensorType>(places.getType()).getShape().drop_front(), b.getI64Type()));
  Value place = StackLoadOp::create(b, location, numbersOf, places, at, ValueRange());
  SmallVector<Value> numbers;
  for (size_t i = 0; i <= type.getNumDynamicDims(); ++i) {
    Value which = arith::ConstantIndexOp::create(b, location, i);
    Value number = tensor::ExtractOp::create(b, location, place, which);
    numbers.push_back(arith::IndexCastOp::create(b, location, b.getIndexType(), number));
  }
  return StackLoadOp::create(b, location, type, stack, numbers[0], ArrayRef(numbers).drop_front());
}

} // namespace mlir::weft
