// Follows handles to their variables and sums up effects from the inside out.
#include "Weft/Effects/ResourceAnalysis.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

//===----------------------------------------------------------------------===//
// Touches
//===----------------------------------------------------------------------===//

bool Touches::add(Touched what, Access access) {
  Entry *at = llvm::lower_bound(entries, what,
                                [](const Entry &entry, Touched t) { return entry.first < t; });
  if (at == entries.end() || at->first != what) {
    entries.insert(at, {what, access});
    return true;
  }
  if (at->second >= access) return false;
  at->second = access;
  return true;
}

bool Touches::add(const Touches &others) {
  bool news = false;
  for (auto [what, access] : others) news |= add(what, access);
  return news;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

ResourceAnalysis::ResourceAnalysis(ModuleOp module) : module(module) {
  for (auto variable : module.getOps<VariableOp>()) {
    numbers[variable.getSymNameAttr()] = variables.size();
    variables.push_back(variable);
  }
  for (auto function : module.getOps<func::FuncOp>())
    functions[function.getSymNameAttr()] = function;
  orderFunctions();
  findRoots();
  // Callees come first, so one round is enough unless functions call each other in a circle.
  auto round = [&] {
    bool news = false;
    for (func::FuncOp function : calleesFirst) news |= summarize(function);
    return news;
  };
  while (round() && recursive) {
  }
  bool news = true;
  while (news) {
    news = false;
    for (func::FuncOp function : llvm::reverse(calleesFirst)) news |= bindArguments(function);
  }
}

func::FuncOp ResourceAnalysis::calleeOf(Operation *op) const {
  auto call = dyn_cast<func::CallOp>(op);
  if (!call) return {};
  auto callee = functions.lookup(call.getCalleeAttr().getRootReference());
  return callee && !callee.isExternal() ? callee : func::FuncOp();
}

void ResourceAnalysis::orderFunctions() {
  enum State { unseen, open, done };
  DenseMap<Operation *, State> states;
  // Depth first with a stack of its own: programs may nest calls as deep as they like.
  struct Frame {
    func::FuncOp function;
    SmallVector<func::FuncOp> callees;
  };
  auto enter = [&](func::FuncOp function) {
    Frame frame{function, {}};
    function.walk([&](func::CallOp call) {
      if (func::FuncOp callee = calleeOf(call)) frame.callees.push_back(callee);
    });
    states[function] = open;
    return frame;
  };
  for (auto first : module.getOps<func::FuncOp>()) {
    if (first.isExternal() || states[first] != unseen) continue;
    SmallVector<Frame> stack;
    stack.push_back(enter(first));
    while (!stack.empty()) {
      Frame &top = stack.back();
      if (top.callees.empty()) {
        states[top.function] = done;
        calleesFirst.push_back(top.function);
        stack.pop_back();
        continue;
      }
      func::FuncOp next = top.callees.pop_back_val();
      if (states[next] == open) recursive = true;
      else if (states[next] == unseen) stack.push_back(enter(next));
    }
  }
}

//===----------------------------------------------------------------------===//
// Handles
//===----------------------------------------------------------------------===//

static bool isHandle(Value value) { return isa<VarType>(value.getType()); }

ArrayRef<Touched> ResourceAnalysis::rootsOf(Value handle) const {
  static const Touched unknown = Touched::anyVariable;
  auto found = roots.find(handle);
  if (found == roots.end() || found->second.empty()) return unknown;
  return found->second;
}

bool ResourceAnalysis::mergeRoots(Value handle, ArrayRef<Touched> more) {
  Roots &known = roots[handle];
  bool news = false;
  for (Touched root : more) {
    auto *at = llvm::lower_bound(known, root);
    if (at != known.end() && *at == root) continue;
    known.insert(at, root);
    news = true;
  }
  return news;
}

void ResourceAnalysis::findRoots() {
  for (func::FuncOp function : calleesFirst) {
    for (BlockArgument argument : function.getArguments())
      if (isHandle(argument))
        roots[argument].push_back({Touched::argument, argument.getArgNumber()});
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      for (Value result : op->getResults()) {
        if (!isHandle(result)) continue;
        if (auto handle = dyn_cast<HandleOp>(op))
          roots[result].push_back(
              {Touched::variable, numbers.lookup(handle.getVariableAttr().getAttr())});
        else derived.push_back(result);
      }
      if (op == function) return;
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            if (isHandle(argument)) derived.push_back(argument);
    });
  }
  bool news = !derived.empty();
  while (news) {
    news = false;
    for (Value handle : derived) news |= mergeSources(handle);
  }
}

/// Adds the roots of what may become this handle.
bool ResourceAnalysis::mergeSources(Value handle) {
  auto from = [&](ValueRange sources, unsigned index) {
    if (index >= sources.size()) return mergeRoots(handle, {Touched::anyVariable});
    // The list may move while another one grows. One that is empty may still fill.
    return mergeRoots(handle, Roots(roots.lookup(sources[index])));
  };
  auto either = [&](ValueRange some, ValueRange others, unsigned index) {
    const bool news = from(some, index);
    return from(others, index) || news;
  };
  auto unknown = [&] { return mergeRoots(handle, {Touched::anyVariable}); };

  if (auto argument = dyn_cast<BlockArgument>(handle)) {
    const unsigned index = argument.getArgNumber();
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto loop = dyn_cast<scf::ForOp>(parent)) {
      if (index == 0) return unknown();
      return either(loop.getInitArgs(), loop.getBody()->getTerminator()->getOperands(), index - 1);
    }
    if (auto loop = dyn_cast<scf::WhileOp>(parent)) {
      if (argument.getOwner() == loop.getAfterBody())
        return from(loop.getConditionOp().getArgs(), index);
      return either(loop.getInits(), loop.getYieldOp().getOperands(), index);
    }
    return unknown();
  }

  auto result = cast<OpResult>(handle);
  const unsigned index = result.getResultNumber();
  Operation *op = result.getOwner();
  return TypeSwitch<Operation *, bool>(op)
      .Case<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>([&](Operation *op) {
        bool news = false;
        for (Region &region : op->getRegions())
          for (Block &block : region)
            if (auto yield = dyn_cast<scf::YieldOp>(block.getTerminator()))
              news |= from(yield.getOperands(), index);
        return news;
      })
      .Case([&](scf::ForOp loop) {
        return either(loop.getInitArgs(), loop.getBody()->getTerminator()->getOperands(), index);
      })
      .Case([&](scf::WhileOp loop) { return from(loop.getConditionOp().getArgs(), index); })
      .Case([&](arith::SelectOp select) {
        return either(select.getTrueValue(), select.getFalseValue(), 0);
      })
      .Case([&](func::CallOp call) {
        func::FuncOp callee = calleeOf(call);
        if (!callee) return unknown();
        bool news = false;
        for (Block &block : callee.getBody()) {
          auto ret = dyn_cast<func::ReturnOp>(block.getTerminator());
          if (!ret) continue;
          for (Touched root : Roots(roots.lookup(ret.getOperand(index))))
            news |= root.kind() == Touched::argument ? from(call.getOperands(), root.index())
                                                     : mergeRoots(handle, root);
        }
        return news;
      })
      .Default([&](Operation *) { return unknown(); });
}

/// Tells callees which variables their arguments may be.
bool ResourceAnalysis::bindArguments(func::FuncOp caller) {
  bool news = false;
  Summary &summary = summaries[caller];
  summary.pointsTo.resize(caller.getNumArguments());
  auto point = [&](Roots &to, Touched what) {
    if (llvm::is_contained(to, what)) return;
    to.push_back(what);
    news = true;
  };
  // Anybody may call a public function, with any variable.
  if (caller.isPublic())
    for (BlockArgument argument : caller.getArguments())
      if (isHandle(argument))
        point(summary.pointsTo[argument.getArgNumber()], Touched::anyVariable);
  caller.walk([&](func::CallOp call) {
    func::FuncOp callee = calleeOf(call);
    if (!callee) return;
    summaries[callee].pointsTo.resize(callee.getNumArguments());
    for (OpOperand &operand : call->getOpOperands()) {
      if (!isHandle(operand.get())) continue;
      for (Touched root : rootsOf(operand.get())) {
        Roots all = {root};
        if (root.kind() == Touched::argument) all = summaries[caller].pointsTo[root.index()];
        for (Touched one : all) point(summaries[callee].pointsTo[operand.getOperandNumber()], one);
      }
    }
  });
  return news;
}

//===----------------------------------------------------------------------===//
// Touches of ops
//===----------------------------------------------------------------------===//

bool ResourceAnalysis::summarize(func::FuncOp function) {
  Summary &summary = summaries[function];
  Touches touches;
  for (Block &block : function.getBody())
    for (Operation &op : block) touches.add(computeTouches(&op, summary));
  return summary.touches.add(touches);
}

Touches ResourceAnalysis::computeTouches(Operation *op, Summary &summary) {
  Touches touches;
  if (op->getNumRegions() > 0) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Operation &inner : block) touches.add(computeTouches(&inner, summary));
    if (!op->hasTrait<OpTrait::HasRecursiveMemoryEffects>() && !isMemoryEffectFree(op))
      summary.foreign = op;
    return nested[op] = touches;
  }
  if (func::FuncOp callee = calleeOf(op)) {
    if (Operation *foreign = summaries[callee].foreign) summary.foreign = foreign;
    return touchesOf(op);
  }
  if (isa<OrderedOpInterface>(op)) return touchesOf(op);
  if (!op->hasTrait<OpTrait::IsTerminator>() && !isa<FinishOp>(op) && !isMemoryEffectFree(op))
    summary.foreign = op;
  return touches;
}

Touches ResourceAnalysis::touchesOf(Operation *op) const {
  if (op->getNumRegions() > 0) return nested.lookup(op);
  if (func::FuncOp callee = calleeOf(op))
    return substitute(summaryOf(callee), cast<func::CallOp>(op));
  Touches touches;
  auto ordered = dyn_cast<OrderedOpInterface>(op);
  if (!ordered) return touches;
  const OwnEffects own = ordered.getOwnEffects();
  if (own.io) touches.add(Touched::io, Access::write);
  // After it, each variable must hold what was written before it and nothing else.
  if (own.stops) touches.add(Touched::anyVariable, Access::read);
  if (own.reads || own.writes)
    for (Touched root : rootsOf(op->getOperand(0)))
      touches.add(root, own.writes ? Access::write : Access::read);
  return touches;
}

const Touches &ResourceAnalysis::summaryOf(func::FuncOp function) const {
  static const Touches none;
  auto found = summaries.find(function);
  return found == summaries.end() ? none : found->second.touches;
}

Touches ResourceAnalysis::substitute(const Touches &ofCallee, func::CallOp call) const {
  Touches touches;
  for (auto [what, access] : ofCallee) {
    if (what.kind() != Touched::argument) touches.add(what, access);
    else
      for (Touched root : rootsOf(call.getOperand(what.index()))) touches.add(root, access);
  }
  return touches;
}

bool ResourceAnalysis::mayAlias(func::FuncOp function, Touched a, Touched b) const {
  if (a == b) return true;
  if (!a.isVariable() || !b.isVariable()) return false;
  if (a.kind() == Touched::anyVariable || b.kind() == Touched::anyVariable) return true;
  if (a.kind() == Touched::variable && b.kind() == Touched::variable) return false;
  auto all = [&](Touched what) -> Roots {
    if (what.kind() != Touched::argument) return {what};
    auto found = summaries.find(function);
    if (found == summaries.end() || what.index() >= found->second.pointsTo.size())
      return {Touched::anyVariable};
    return found->second.pointsTo[what.index()];
  };
  for (Touched first : all(a))
    for (Touched second : all(b))
      if (first == second || first.kind() == Touched::anyVariable ||
          second.kind() == Touched::anyVariable)
        return true;
  return false;
}

bool ResourceAnalysis::conflict(func::FuncOp function, const Touches &a, const Touches &b) const {
  for (auto [first, firstAccess] : a)
    for (auto [second, secondAccess] : b)
      if ((firstAccess == Access::write || secondAccess == Access::write) &&
          mayAlias(function, first, second))
        return true;
  return false;
}

Operation *ResourceAnalysis::foreignEffectIn(func::FuncOp function) const {
  auto found = summaries.find(function);
  return found == summaries.end() ? nullptr : found->second.foreign;
}

} // namespace mlir::weft
