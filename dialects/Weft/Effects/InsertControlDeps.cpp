// The pass weft-insert-control-deps: tokens between effects that conflict.
#include "Weft/Effects/Passes.h"
#include "Weft/Effects/ResourceAnalysis.h"
#include "Weft/Effects/TokenChains.h"
#include "Weft/Effects/Tokens.h"
#include "Weft/IR/Bridge.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/SaveAndRestore.h"

#include <map>

namespace mlir::weft {

#define GEN_PASS_DEF_INSERTCONTROLDEPSPASS
#include "Weft/Effects/Passes.h.inc"

namespace {

/// The tokens of what happened to one thing so far.
struct Chain {
  Value lastWrite;
  SmallVector<Value, 2> readsSince; ///< they come after the last write
  /// Where among these is the last read by an op that also wrote this other slot.
  llvm::SmallDenseMap<unsigned, unsigned, 2> readBesides;
  /// What a write, or whoever wants all of it to be done, waits for.
  ArrayRef<Value> end() const { return readsSince.empty() ? ArrayRef(lastWrite) : readsSince; }
};

/// Chains by the number of their slot: a thing that a function touches and that needs order.
using Chains = llvm::SmallMapVector<unsigned, Chain, 4>;

/// What an op does to the slots of its function.
using SlotAccesses = SmallVector<std::pair<unsigned, Access>, 4>;

/// What a function's tokens stand for.
struct Slots {
  SmallVector<Touched> things;
  /// Whether the function takes and returns a token for each; otherwise it begins and finishes.
  bool inSignature;
};

/// The things that a function touches and that need order: in one that begins and finishes, those
/// that are written at all.
Slots slotsOf(func::FuncOp function, bool inSignature, const ResourceAnalysis &analysis) {
  Slots slots{{}, inSignature};
  const Touches &touches = analysis.summaryOf(function);
  for (auto [what, access] : touches) {
    // What touches any variable meets the others in their slots.
    const bool written = what.kind() == Touched::anyVariable
                             ? access == Access::write
                             : llvm::any_of(touches, [&, what = what](Touches::Entry other) {
                                 return other.second == Access::write &&
                                        analysis.mayAlias(function, what, other.first);
                               });
    if (inSignature || written) slots.things.push_back(what);
  }
  return slots;
}

/// Threads tokens through one function.
class Inserter {
public:
  Inserter(func::FuncOp function, const ResourceAnalysis &analysis,
           const DenseMap<Operation *, Slots> &allSlots)
      : function(function), analysis(analysis), allSlots(allSlots),
        slots(allSlots.find(function)->second), builder(function.getContext()),
        tokenType(TokenType::get(function.getContext())) {
    for (auto [number, thing] : llvm::enumerate(slots.things)) {
      every.push_back(number);
      if (thing.kind() == Touched::variable) numbers[thing] = number;
      else irregular.push_back(number);
    }
  }

  LogicalResult run() {
    Block &body = function.getBody().front();
    Operation *ret = body.getTerminator();
    Chains chains;
    if (slots.inSignature) {
      const unsigned count = function.getNumArguments();
      for (unsigned slot = 0; slot < slots.things.size(); ++slot) {
        (void)function.insertArgument(count + slot, tokenType, {}, function.getLoc());
        chains[slot].lastWrite = function.getArgument(count + slot);
      }
    } else {
      builder.setInsertionPointToStart(&body);
      begin = BeginOp::create(builder, function.getLoc(), tokenType);
      for (unsigned slot = 0; slot < slots.things.size(); ++slot) chains[slot].lastWrite = begin;
    }
    if (failed(orderBlock(body, chains))) return failure();

    builder.setInsertionPoint(ret);
    if (!slots.inSignature) {
      SmallVector<Value> tokens;
      for (auto &[slot, chain] : chains) tokens.push_back(chain.lastWrite);
      graph.reduce(tokens);
      if (!tokens.empty() && tokens.front() != begin)
        FinishOp::create(builder, ret->getLoc(), tokens);
      if (begin.use_empty()) begin.getDefiningOp()->erase();
      return success();
    }
    for (auto &[slot, chain] : chains) {
      (void)function.insertResult(function.getNumResults(), tokenType, {});
      ret->insertOperands(ret->getNumOperands(), endOf(chain, ret->getLoc()));
    }
    return success();
  }

private:
  //===--------------------------------------------------------------------===//
  // Slots
  //===--------------------------------------------------------------------===//

  /// The slots of what an op touches, each with the strongest access.
  SlotAccesses accessesOf(const Touches &touches) {
    llvm::SmallDenseMap<unsigned, Access> strongest;
    auto add = [&](unsigned slot, Access access) {
      auto [at, isNew] = strongest.try_emplace(slot, access);
      if (!isNew) at->second = std::max(at->second, access);
    };
    for (auto [what, access] : touches) {
      if (what.kind() == Touched::variable)
        if (auto found = numbers.find(what); found != numbers.end()) add(found->second, access);
      // What touches any variable touches each slot, so that it meets the others there.
      const bool any = what.kind() == Touched::anyVariable;
      for (unsigned slot : what.kind() == Touched::variable ? irregular : every) {
        Touched thing = slots.things[slot];
        if ((any || thing.kind() != Touched::anyVariable) &&
            analysis.mayAlias(function, what, thing))
          add(slot, access);
      }
    }
    SlotAccesses accesses(strongest.begin(), strongest.end());
    llvm::sort(accesses);
    return accesses;
  }

  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  /// What an op that does this to a slot waits for.
  static void appendBefore(SmallVectorImpl<Value> &tokens, const Chain &chain, Access access) {
    if (access == Access::read) tokens.push_back(chain.lastWrite);
    else llvm::append_range(tokens, chain.end());
  }

  /// Records what an op did to the slot. If it reads this one and writes another, as asserts do, it
  /// comes after all ops before it that did, and stands for them.
  static void advance(Chain &chain, Access access, Value token,
                      std::optional<unsigned> written = std::nullopt) {
    if (access == Access::write) {
      chain = Chain();
      chain.lastWrite = token;
      return;
    }
    if (written) {
      auto [at, isNew] = chain.readBesides.try_emplace(*written, chain.readsSince.size());
      if (!isNew) {
        chain.readsSince[at->second] = token;
        return;
      }
    }
    chain.readsSince.push_back(token);
  }

  Value join(SmallVectorImpl<Value> &tokens, Location location) {
    return graph.join(builder, location, tokens);
  }
  Value endOf(const Chain &chain, Location location) {
    SmallVector<Value> tokens(chain.end());
    return join(tokens, location);
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  LogicalResult orderBlock(Block &block, Chains &chains) {
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator()))
      if (failed(orderOp(&op, chains))) return failure();
    return success();
  }

  LogicalResult orderOp(Operation *op, Chains &chains) {
    if (auto ordered = dyn_cast<OrderedOpInterface>(op); ordered && ordered.getOwnEffects().any())
      return orderEffect(ordered, chains);
    if (auto call = dyn_cast<func::CallOp>(op)) return orderCall(call, chains);
    if (op->getNumRegions() == 0) {
      if (mayStop(op)) guard(op, chains);
      return success();
    }
    Touches touches = analysis.touchesOf(op);
    if (auto loop = dyn_cast<scf::ForOp>(op)) return orderFor(loop, touches, chains);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) return orderWhile(loop, touches, chains);
    if (isa<scf::IfOp, scf::IndexSwitchOp, scf::ExecuteRegionOp>(op))
      return orderBranches(op, touches, chains);
    if (touches.empty()) return success();
    return op->emitOpError("cannot hold reads or assigns of variables, prints or asserts; scf.if, "
                           "scf.for, scf.while and scf.index_switch can");
  }

  LogicalResult orderEffect(OrderedOpInterface op, Chains &chains) {
    if (isOpTriviallyDead(op)) return op->erase(), success();
    SlotAccesses accesses = accessesOf(analysis.touchesOf(op));
    SmallVector<Value> before;
    for (auto [slot, access] : accesses) appendBefore(before, chains[slot], access);
    builder.setInsertionPoint(op);
    Value after = before.empty() ? begin : join(before, op->getLoc());
    SmallVector<Type> types(op->getResultTypes());
    types.push_back(tokenType);
    Operation *with = rebuild(builder, op, op->getOperands(), types);
    cast<OrderedOpInterface>(with).getAfterMutable().assign(after);
    op->replaceAllUsesWith(with->getResults().drop_back());
    op->erase();
    Value token = with->getResults().back();
    graph.add(token, before);
    std::optional<unsigned> written;
    for (auto [slot, access] : accesses)
      if (access == Access::write) written = slot;
    for (auto [slot, access] : accesses) advance(chains[slot], access, token, written);
    return success();
  }

  /// The token of the last print or assert, or null.
  Value lastIo(const Chains &chains) const {
    for (unsigned slot : irregular)
      if (slots.things[slot].kind() == Touched::io)
        if (const auto *chain = chains.find(slot); chain != chains.end())
          return chain->second.lastWrite;
    return enclosingIo;
  }

  /// The indices of an op that has some; of other ops, an operand of unknown size.
  static OpOperand &whatMayNotFit(Operation *op) {
    if (const ::weft::OpInfo *info = opInfoOf(op))
      for (auto [i, operand] : llvm::enumerate(info->operands))
        if (operand.role == ::weft::OperandRole::index) return op->getOpOperand(i);
    for (OpOperand &operand : op->getOpOperands())
      if (auto type = dyn_cast<ShapedType>(operand.get().getType()); type && !type.hasStaticShape())
        return operand;
    return op->getOpOperand(0);
  }

  /// Lets an op that may stop the call by itself wait for the last print or assert.
  void guard(Operation *op, const Chains &chains) {
    Value last = lastIo(chains);
    if (!last || last == begin || op->getNumOperands() == 0) return;
    builder.setInsertionPoint(op);
    OpOperand &operand = whatMayNotFit(op);
    operand.set(GuardOp::create(builder, op->getLoc(), operand.get(), last));
  }

  LogicalResult orderCall(func::CallOp call, Chains &chains) {
    func::FuncOp callee = analysis.calleeOf(call);
    auto found = callee ? allSlots.find(callee) : allSlots.end();
    if (found == allSlots.end() || !found->second.inSignature) return success();
    const Slots &inside = found->second;
    SmallVector<Value> operands(call.getOperands());
    SmallVector<Type> types(call.getResultTypes());
    SmallVector<SlotAccesses> accesses;
    SmallVector<SmallVector<Value>> befores;
    builder.setInsertionPoint(call);
    llvm::SmallDenseSet<unsigned> named;
    for (Touches::Entry entry : analysis.summaryOf(callee)) {
      Touches touches;
      touches.add(entry.first, entry.second);
      accesses.push_back(accessesOf(analysis.substitute(touches, call)));
      if (entry.first.kind() != Touched::anyVariable)
        for (auto [slot, access] : accesses.back()) named.insert(slot);
    }
    for (auto [thing, slotAccesses] : llvm::zip_equal(inside.things, accesses)) {
      // All variables there are, but those that have a token of their own.
      if (thing.kind() == Touched::anyVariable)
        llvm::erase_if(slotAccesses, [&](auto one) { return named.contains(one.first); });
      SmallVector<Value> &before = befores.emplace_back();
      for (auto [slot, access] : slotAccesses) appendBefore(before, chains[slot], access);
      operands.push_back(before.empty() ? fallback(chains) : join(before, call.getLoc()));
      types.push_back(tokenType);
    }
    Operation *with = rebuild(builder, call, operands, types);
    const unsigned count = call.getNumResults();
    call->replaceAllUsesWith(with->getResults().take_front(count));
    call->erase();
    // Several things of the callee may be one of the caller's: then all their tokens count.
    llvm::SmallMapVector<unsigned, std::pair<Access, SmallVector<Value>>, 4> tokens;
    for (auto [i, slotAccesses] : llvm::enumerate(accesses)) {
      Value token = with->getResult(count + i);
      graph.add(token, befores[i]);
      for (auto [slot, access] : slotAccesses) {
        auto &entry = tokens.insert({slot, {access, {}}}).first->second;
        entry.first = std::max(entry.first, access);
        entry.second.push_back(token);
      }
    }
    builder.setInsertionPointAfter(with);
    for (auto &[slot, entry] : tokens) {
      SmallVector<Value> parts = entry.second;
      Value token = join(parts, with->getLoc());
      if (parts.size() > 1) graph.add(token, parts);
      advance(chains[slot], entry.first, token);
    }
    return success();
  }

  /// A token that is surely there, for a callee that touches nothing the caller keeps in order.
  Value fallback(Chains &chains) { return begin ? begin : chains.front().second.lastWrite; }

  //===--------------------------------------------------------------------===//
  // Regions
  //===--------------------------------------------------------------------===//

  /// Appends a token to the operands of a block's terminator for each slot.
  void yieldTokens(Block &block, Chains &chains) {
    Operation *terminator = block.getTerminator();
    builder.setInsertionPoint(terminator);
    for (auto &[slot, chain] : chains)
      terminator->insertOperands(terminator->getNumOperands(), endOf(chain, terminator->getLoc()));
  }

  /// The tokens with which an op's regions begin.
  SmallVector<Value> entryTokens(Operation *op, const SlotAccesses &accesses, Chains &chains) {
    builder.setInsertionPoint(op);
    SmallVector<Value> entries;
    for (auto [slot, access] : accesses) {
      SmallVector<Value> before;
      appendBefore(before, chains[slot], access);
      Value entry = join(before, op->getLoc());
      if (before.size() > 1) graph.add(entry, before);
      entries.push_back(entry);
    }
    return entries;
  }

  /// Replaces an op by one with these operands and a token more per slot as results.
  Operation *replaceByLarger(Operation *op, ValueRange operands, const SlotAccesses &accesses,
                             ArrayRef<Value> entries, Chains &chains) {
    SmallVector<Type> types(op->getResultTypes());
    types.append(accesses.size(), tokenType);
    builder.setInsertionPoint(op);
    const unsigned count = op->getNumResults();
    Operation *larger = rebuild(builder, op, operands, types);
    op->replaceAllUsesWith(larger->getResults().take_front(count));
    op->erase();
    for (auto [i, slotAccess] : llvm::enumerate(accesses)) {
      Value token = larger->getResult(count + i);
      graph.add(token, entries[i]);
      advance(chains[slotAccess.first], slotAccess.second, token);
    }
    return larger;
  }

  /// Regions of which at most one runs, at most once: one without effects hands the tokens on.
  LogicalResult orderBranches(Operation *op, const Touches &touches, Chains &chains) {
    SlotAccesses accesses = accessesOf(touches);
    SmallVector<Value> entries = entryTokens(op, accesses, chains);
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && !accesses.empty() && branch.getElseRegion().empty()) {
      builder.createBlock(&branch.getElseRegion());
      scf::YieldOp::create(builder, op->getLoc());
    }
    llvm::SaveAndRestore keep(enclosingIo, lastIo(chains));
    for (Region &region : op->getRegions()) {
      if (region.empty()) continue;
      if (!region.hasOneBlock() && !touches.empty()) return refuseBlocks(op);
      Chains inner;
      for (auto [entry, slotAccess] : llvm::zip_equal(entries, accesses))
        inner[slotAccess.first].lastWrite = entry;
      for (Block &block : region) {
        if (failed(orderBlock(block, inner))) return failure();
        if (!accesses.empty()) yieldTokens(block, inner);
      }
    }
    if (!accesses.empty()) replaceByLarger(op, op->getOperands(), accesses, entries, chains);
    return success();
  }

  /// The chains at the start of a loop's block, which gets an argument per slot. Reads of what the
  /// loop does not write come after the last write before the loop, in any order; the argument then
  /// gathers them.
  Chains enterLoop(Block &block, const SlotAccesses &accesses, ArrayRef<Value> entries) {
    Chains inner;
    for (auto [entry, slotAccess] : llvm::zip_equal(entries, accesses)) {
      Value token = block.addArgument(tokenType, block.getParentOp()->getLoc());
      Chain &chain = inner[slotAccess.first];
      if (slotAccess.second == Access::write) chain.lastWrite = token;
      else {
        chain.lastWrite = entry;
        chain.readsSince.push_back(token);
      }
    }
    return inner;
  }

  LogicalResult orderFor(scf::ForOp op, const Touches &touches, Chains &chains) {
    SlotAccesses accesses = accessesOf(touches);
    SmallVector<Value> entries = entryTokens(op, accesses, chains);
    llvm::SaveAndRestore keep(enclosingIo, lastIo(chains));
    Chains inner = enterLoop(*op.getBody(), accesses, entries);
    if (failed(orderBlock(*op.getBody(), inner))) return failure();
    if (accesses.empty()) return success();
    yieldTokens(*op.getBody(), inner);
    SmallVector<Value> operands(op->getOperands());
    llvm::append_range(operands, entries);
    replaceByLarger(op, operands, accesses, entries, chains);
    return success();
  }

  /// The condition's region hands its tokens to the loop's results and to the body, so effects in
  /// it need no other form of the loop.
  LogicalResult orderWhile(scf::WhileOp op, const Touches &touches, Chains &chains) {
    SlotAccesses accesses = accessesOf(touches);
    SmallVector<Value> entries = entryTokens(op, accesses, chains);
    llvm::SaveAndRestore keep(enclosingIo, lastIo(chains));
    for (Block *block : {op.getBeforeBody(), op.getAfterBody()}) {
      Chains inner = enterLoop(*block, accesses, entries);
      if (failed(orderBlock(*block, inner))) return failure();
      if (!accesses.empty()) yieldTokens(*block, inner);
    }
    if (accesses.empty()) return success();
    SmallVector<Value> operands(op->getOperands());
    llvm::append_range(operands, entries);
    replaceByLarger(op, operands, accesses, entries, chains);
    return success();
  }

  LogicalResult refuseBlocks(Operation *op) {
    return op->emitOpError("has branches between blocks; control flow is scf here");
  }

  func::FuncOp function;
  const ResourceAnalysis &analysis;
  const DenseMap<Operation *, Slots> &allSlots;
  const Slots &slots;
  OpBuilder builder;
  Type tokenType;
  std::map<Touched, unsigned> numbers; ///< slots of variables
  SmallVector<unsigned> irregular;     ///< slots of other things
  SmallVector<unsigned> every;
  TokenGraph graph;
  Value begin;       ///< null where tokens come from the caller
  Value enclosingIo; ///< the last print or assert before a region that has none
};

struct InsertControlDeps : impl::InsertControlDepsPassBase<InsertControlDeps> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    // They call functions by signatures that would change.
    if (failed(verifyDifferentiated(module))) return signalPassFailure();
    eraseTokens(module);
    auto analysis = std::make_unique<ResourceAnalysis>(module);
    llvm::DenseSet<Operation *> fixed = fixedSignatures(module);
    if (copyCalled(fixed, *analysis)) analysis = std::make_unique<ResourceAnalysis>(module);
    DenseMap<Operation *, Slots> slots;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (analysis->summaryOf(function).empty()) continue;
      if (failed(check(function, *analysis))) return signalPassFailure();
      slots[function] = slotsOf(function, !fixed.contains(function), *analysis);
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (slots.contains(function) && failed(Inserter(function, *analysis, slots).run()))
        return signalPassFailure();
  }

private:
  /// Functions that others than calls in this module know.
  static llvm::DenseSet<Operation *> fixedSignatures(ModuleOp module) {
    llvm::DenseSet<Operation *> fixed;
    bool anyPrivate = false;
    for (auto function : module.getOps<func::FuncOp>()) {
      if (function.isPublic()) fixed.insert(function);
      else anyPrivate = true;
    }
    if (!anyPrivate) return fixed;
    if (auto uses = SymbolTable::getSymbolUses(module))
      for (SymbolTable::SymbolUse use : *uses)
        if (!isa<func::CallOp>(use.getUser()))
          if (Operation *used = SymbolTable::lookupSymbolIn(module, use.getSymbolRef()))
            fixed.insert(used);
    return fixed;
  }

  /// Lets calls of such functions call private copies, which take and return tokens. Returns
  /// whether there were any.
  bool copyCalled(const llvm::DenseSet<Operation *> &fixed, const ResourceAnalysis &analysis) {
    ModuleOp module = getOperation();
    SmallVector<func::CallOp> calls;
    module.walk([&](func::CallOp call) {
      func::FuncOp callee = analysis.calleeOf(call);
      if (callee && fixed.contains(callee) && !analysis.summaryOf(callee).empty())
        calls.push_back(call);
    });
    if (calls.empty()) return false;
    SymbolTable symbols(module);
    DenseMap<Operation *, StringAttr> copies;
    for (func::CallOp call : calls) {
      func::FuncOp callee = analysis.calleeOf(call);
      if (copies.contains(callee)) continue;
      func::FuncOp copy = callee.clone();
      copy.setPrivate();
      copies[callee] = symbols.insert(copy);
    }
    module.walk([&](func::CallOp call) {
      if (func::FuncOp callee = analysis.calleeOf(call); callee && copies.contains(callee))
        call.setCallee(copies.lookup(callee));
    });
    return true;
  }

  static LogicalResult check(func::FuncOp function, const ResourceAnalysis &analysis) {
    if (Operation *foreign = analysis.foreignEffectIn(function))
      return foreign->emitOpError("has effects of a kind that tokens do not order");
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("has branches between blocks; control flow is scf here");
    return success();
  }
};

} // namespace

} // namespace mlir::weft
