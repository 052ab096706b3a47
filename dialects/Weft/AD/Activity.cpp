// Activity analysis: forward from the sources, backward from the targets, over regions.
#include "Weft/AD/Activity.h"

#include "Weft/AD/Context.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

namespace {

/// Whether a value of that type carries a derivative, or would if it were a tensor.
bool isFloating(Type type) {
  if (isa<VarType>(type)) return static_cast<bool>(derivativeTypeOf(type));
  auto shaped = dyn_cast<ShapedType>(type);
  return isa<FloatType, ComplexType>(shaped ? shaped.getElementType() : type);
}

/// What an op without regions does to activity.
enum class Passage {
  ends,  ///< its results are constants
  rule,  ///< it has a derivative
  steer, ///< a number out of a tensor, which may steer loops and branches
  host,  ///< C++ computes it, and an active one is refused
  call,
  unknown,
};

Passage passageOf(Operation *op) {
  if (isa<HostCallOp>(op)) return Passage::host;
  // Of a variable that is differentiated by; other handles are not active.
  if (isa<ReadOp>(op)) return Passage::rule;
  if (const ::weft::OpInfo *info = opInfoOf(op))
    return info->differentiable ? Passage::rule : Passage::ends;
  if (isa<CustomGradientOp>(op)) return Passage::rule;
  if (isa<WidenOp, tensor::CastOp, StackReserveOp, StackStoreOp, StackLoadOp, StackAddOp>(op))
    return Passage::rule;
  if (isa<ItemOp>(op)) return Passage::steer;
  if (isa<func::CallOp>(op)) return Passage::call;
  return Passage::unknown;
}

/// What derivatives of the op's results go to.
SmallVector<Value> differentiatedOperands(Operation *op) {
  if (auto custom = dyn_cast<CustomGradientOp>(op)) return custom.getSources();
  const ::weft::OpInfo *info = opInfoOf(op);
  // An effect has its variable and its tokens among the operands.
  if (!info || info->kind == ::weft::OpKind::effect || !info->differentiable)
    return op->getOperands();
  SmallVector<Value> operands;
  for (auto [i, operand] : llvm::enumerate(op->getOperands()))
    if (info->operands[std::min(i, info->operands.size() - 1)].differentiable)
      operands.push_back(operand);
  return operands;
}

} // namespace

bool isKnownToActivity(Operation *op) {
  const Passage passage = passageOf(op);
  return passage != Passage::unknown && passage != Passage::host;
}

void Activity::find(ArrayRef<Operation *> ops, ValueRange sources, ValueRange targets) {
  varied.clear();
  useful.clear();
  for (Value source : sources) vary(source);
  for (Operation *op : ops) vary(op);
  for (Value target : targets)
    if (isInexactTensor(target.getType())) use(target);
  for (Operation *op : llvm::reverse(ops)) use(op);
}

bool Activity::dependsOnActive(Operation *op) const {
  bool depends = false;
  op->walk([&](Operation *inner) { depends |= anyActive(inner->getOperands()); });
  return depends;
}

void Activity::untilStable(llvm::function_ref<void()> round) {
  bool news = changed; // a loop around this one looks again
  do {
    changed = false;
    round();
    news |= changed;
  } while (changed);
  changed = news;
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void Activity::vary(Value value) {
  if (isFloating(value.getType())) changed |= varied.insert(value).second;
}

void Activity::vary(ValueRange values, ValueRange from) {
  for (auto [value, source] : llvm::zip(values, from))
    if (varied.contains(source)) vary(value);
}

void Activity::vary(Block &block) {
  for (Operation &op : block.without_terminator()) vary(&op);
}

void Activity::vary(Operation *op) {
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions()) {
      if (region.empty()) continue;
      vary(region.front());
      vary(op->getResults(), region.front().getTerminator()->getOperands());
    }
    return;
  }
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    vary(loop.getRegionIterArgs(), loop.getInitArgs());
    untilStable([&] {
      vary(*loop.getBody());
      vary(loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands());
    });
    vary(loop.getResults(), loop.getRegionIterArgs());
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    vary(loop.getBeforeArguments(), loop.getInits());
    untilStable([&] {
      vary(*loop.getBeforeBody());
      vary(loop.getAfterArguments(), loop.getConditionOp().getArgs());
      vary(*loop.getAfterBody());
      vary(loop.getBeforeArguments(), loop.getYieldOp().getOperands());
    });
    vary(loop.getResults(), loop.getAfterArguments());
    return;
  }
  switch (passageOf(op)) {
  case Passage::ends: return;
  case Passage::host:
    if (endsAtHosts) return;
    [[fallthrough]];
  case Passage::rule:
  case Passage::steer:
  case Passage::call:
    if (variesAny(differentiatedOperands(op)))
      for (Value result : op->getResults()) vary(result);
    return;
  case Passage::unknown: break;
  }
  bool varies = false;
  op->walk([&](Operation *inner) { varies |= variesAny(inner->getOperands()); });
  if (varies)
    for (Value result : op->getResults()) vary(result);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void Activity::use(Value value) {
  if (isFloating(value.getType())) changed |= useful.insert(value).second;
}

void Activity::use(ValueRange values, ValueRange by) {
  for (auto [value, user] : llvm::zip(values, by))
    if (useful.contains(user)) use(value);
}

void Activity::use(Block &block) {
  for (Operation &op : llvm::reverse(block.without_terminator())) use(&op);
}

void Activity::use(Operation *op) {
  if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) {
    for (Region &region : op->getRegions()) {
      if (region.empty()) continue;
      use(region.front().getTerminator()->getOperands(), op->getResults());
      use(region.front());
    }
    return;
  }
  // The state of a loop is active as a whole, its results with the arguments: both are of all
  // iterations.
  if (auto loop = dyn_cast<scf::ForOp>(op)) {
    use(loop.getRegionIterArgs(), loop.getResults());
    untilStable([&] {
      use(loop.getBody()->getTerminator()->getOperands(), loop.getRegionIterArgs());
      use(*loop.getBody());
    });
    use(loop.getResults(), loop.getRegionIterArgs());
    use(loop.getInitArgs(), loop.getRegionIterArgs());
    return;
  }
  if (auto loop = dyn_cast<scf::WhileOp>(op)) {
    use(loop.getAfterArguments(), loop.getResults());
    untilStable([&] {
      use(loop.getYieldOp().getOperands(), loop.getBeforeArguments());
      use(*loop.getAfterBody());
      use(loop.getConditionOp().getArgs(), loop.getAfterArguments());
      use(*loop.getBeforeBody());
    });
    use(loop.getResults(), loop.getAfterArguments());
    use(loop.getInits(), loop.getBeforeArguments());
    return;
  }
  if (!usesAny(op->getResults())) return;
  switch (passageOf(op)) {
  case Passage::ends: return;
  case Passage::host:
    if (endsAtHosts) return;
    [[fallthrough]];
  case Passage::rule:
  case Passage::steer:
  case Passage::call:
    for (Value operand : differentiatedOperands(op)) use(operand);
    return;
  case Passage::unknown:
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) use(operand);
    });
  }
}

} // namespace mlir::weft
