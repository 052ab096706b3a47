// Keeps joins of tokens minimal, in time that is linear in the program; finds what tokens wait for.
#include "Weft/Effects/TokenChains.h"
#include "Weft/Effects/Tokens.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

unsigned TokenGraph::levelOf(Value token) const {
  auto found = nodes.find(token);
  return found == nodes.end() ? 0 : found->second.level;
}

void TokenGraph::add(Value token, ArrayRef<Value> before) {
  unsigned level = 0;
  for (Value one : before) level = std::max(level, levelOf(one) + 1);
  nodes[token] = {level, SmallVector<Value, 2>(before)};
}

void TokenGraph::reduce(SmallVectorImpl<Value> &tokens) const {
  if (tokens.size() < 2) return;
  llvm::SmallSetVector<Value, 8> distinct;
  for (Value token : tokens)
    if (!token.getDefiningOp<BeginOp>()) distinct.insert(token);
  if (distinct.empty()) distinct.insert(tokens.front());
  tokens.assign(distinct.begin(), distinct.end());

  // The search is bounded, so in a very large program a join may keep an operand too many; it
  // orders the same then.
  unsigned lowest = ~0u;
  for (Value token : tokens) lowest = std::min(lowest, levelOf(token));
  size_t budget = 64 + 8 * tokens.size();
  llvm::SmallDenseSet<Value, 16> covered;
  SmallVector<Value, 16> open(tokens.begin(), tokens.end());
  while (!open.empty() && budget-- > 0) {
    auto found = nodes.find(open.pop_back_val());
    if (found == nodes.end() || found->second.level <= lowest) continue;
    for (Value before : found->second.before)
      if (levelOf(before) >= lowest && covered.insert(before).second) open.push_back(before);
  }
  llvm::erase_if(tokens, [&](Value token) { return covered.contains(token); });
}

Value TokenGraph::join(OpBuilder &builder, Location location,
                       SmallVectorImpl<Value> &tokens) const {
  reduce(tokens);
  if (tokens.size() == 1) return tokens.front();
  return JoinOp::create(builder, location, TokenType::get(builder.getContext()), tokens);
}

llvm::SmallPtrSet<Operation *, 16> tokenPredecessors(Operation *op) {
  llvm::SmallPtrSet<Operation *, 16> found;
  SmallVector<Operation *> open = {op};
  while (!open.empty()) {
    Operation *current = open.pop_back_val();
    current->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *definer = operand.getDefiningOp();
        if (isa<TokenType>(operand.getType()) && definer && definer != current &&
            definer->getBlock() == op->getBlock() && found.insert(definer).second)
          open.push_back(definer);
      }
    });
  }
  return found;
}

} // namespace mlir::weft
