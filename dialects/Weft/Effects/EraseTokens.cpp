// The pass weft-erase-tokens and what it shares with weft-lift-state.
#include "Weft/Effects/Passes.h"
#include "Weft/Effects/Tokens.h"

namespace mlir::weft {

#define GEN_PASS_DEF_ERASETOKENSPASS
#include "Weft/Effects/Passes.h.inc"

static bool isToken(Value value) { return isa<TokenType>(value.getType()); }

Operation *rebuild(OpBuilder &builder, Operation *op, ValueRange operands, TypeRange results) {
  Operation *larger = Operation::create(
      op->getLoc(), op->getName(), results, operands, op->getDiscardableAttrDictionary(),
      op->getPropertiesStorage(), /*successors=*/{}, op->getNumRegions());
  for (auto [to, from] : llvm::zip_equal(larger->getRegions(), op->getRegions())) to.takeBody(from);
  builder.insert(larger);
  return larger;
}

/// Removes the operands that are tokens.
static void dropTokenOperands(Operation *op) {
  if (auto ordered = dyn_cast<OrderedOpInterface>(op)) return ordered.getAfterMutable().clear();
  for (unsigned i = op->getNumOperands(); i-- > 0;)
    if (isToken(op->getOperand(i))) op->eraseOperand(i);
}

/// Puts an op in the place of one that has results which are tokens, without these.
static void dropTokenResults(Operation *op) {
  SmallVector<Type> types;
  SmallVector<Value> kept;
  for (Value result : op->getResults()) {
    if (isToken(result)) continue;
    types.push_back(result.getType());
    kept.push_back(result);
  }
  OpBuilder builder(op);
  Operation *smaller = rebuild(builder, op, op->getOperands(), types);
  for (auto [from, to] : llvm::zip_equal(kept, smaller->getResults())) from.replaceAllUsesWith(to);
  op->erase();
}

static void dropTokensOfSignature(func::FuncOp function) {
  llvm::BitVector arguments(function.getNumArguments()), results(function.getNumResults());
  for (auto [i, type] : llvm::enumerate(function.getArgumentTypes()))
    if (isa<TokenType>(type)) arguments.set(i);
  for (auto [i, type] : llvm::enumerate(function.getResultTypes()))
    if (isa<TokenType>(type)) results.set(i);
  if (arguments.any()) (void)function.eraseArguments(arguments);
  if (results.any()) (void)function.eraseResults(results);
}

void eraseTokens(ModuleOp module) {
  // Inner ops come first. All uses of tokens go before their definitions.
  SmallVector<Operation *> users, producers, aboutTokens;
  SmallVector<Block *> blocks;
  module.walk([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!isa<func::FuncOp>(op) && llvm::any_of(block.getArguments(), isToken))
          blocks.push_back(&block);
    const bool uses = llvm::any_of(op->getOperands(), isToken);
    const bool gives = llvm::any_of(op->getResults(), isToken);
    if (!uses && !gives) return;
    if (isa<GuardOp, FinishOp>(op) || (gives && op->getNumResults() == 1 && isPure(op) &&
                                       op->getNumRegions() == 0 && !isa<OrderedOpInterface>(op)))
      return aboutTokens.push_back(op);
    if (uses) users.push_back(op);
    if (gives) producers.push_back(op);
  });
  for (Operation *op : users) dropTokenOperands(op);
  for (Operation *op : aboutTokens) {
    if (auto guard = dyn_cast<GuardOp>(op)) guard.getY().replaceAllUsesWith(guard.getX());
    op->dropAllReferences();
  }
  for (Operation *op : aboutTokens) op->erase();
  for (Block *block : blocks) block->eraseArguments([](BlockArgument a) { return isToken(a); });
  for (Operation *op : producers) dropTokenResults(op);
  for (auto function : module.getOps<func::FuncOp>()) dropTokensOfSignature(function);
}

namespace {
struct EraseTokens : impl::EraseTokensPassBase<EraseTokens> {
  void runOnOperation() override { eraseTokens(getOperation()); }
};
} // namespace

} // namespace mlir::weft
