// The pass weft-print-effect-order: conflicts beside the order that tokens make.
#include "Weft/Effects/Passes.h"
#include "Weft/Effects/ResourceAnalysis.h"
#include "Weft/Effects/Tokens.h"

namespace mlir::weft {

#define GEN_PASS_DEF_PRINTEFFECTORDERPASS
#include "Weft/Effects/Passes.h.inc"

namespace {

/// The ops of a block that touch something, in the order of the program, and who waits for whom.
class BlockOrder {
public:
  BlockOrder(Block &block, func::FuncOp function, const ResourceAnalysis &analysis) {
    for (Operation &op : block) {
      Touches touches = analysis.touchesOf(&op);
      if (!touches.empty()) effects.push_back({&op, touches});
    }
    const size_t count = effects.size();
    conflicts.assign(count, llvm::BitVector(count));
    through = conflicts;
    ordered = conflicts;
    for (size_t later = 0; later < count; ++later)
      for (size_t earlier = 0; earlier < later; ++earlier) {
        if (!analysis.conflict(function, effects[earlier].second, effects[later].second)) continue;
        conflicts[later].set(earlier);
        through[later].set(earlier);
        through[later] |= through[earlier];
      }
    for (size_t later = 0; later < count; ++later) {
      llvm::SmallPtrSet<Operation *, 16> waits = tokenPredecessors(effects[later].first);
      for (size_t earlier = 0; earlier < count; ++earlier)
        if (waits.contains(effects[earlier].first)) ordered[later].set(earlier);
    }
  }

  void print(raw_ostream &os) const {
    for (size_t later = 0; later < effects.size(); ++later)
      for (size_t earlier = 0; earlier < later; ++earlier) {
        const bool isOrdered = ordered[later][earlier];
        os << "  " << nameOf(earlier) << (isOrdered ? " -> " : " | ") << nameOf(later);
        if (conflicts[later][earlier]) os << (isOrdered ? ": conflict" : ": UNORDERED CONFLICT");
        else if (through[later][earlier])
          os << (isOrdered ? ": conflict through others" : ": UNORDERED CONFLICT");
        else if (isOrdered) os << ": NO CONFLICT";
        os << '\n';
      }
  }

private:
  std::string nameOf(size_t i) const {
    Operation *op = effects[i].first;
    if (auto name = op->getAttrOfType<StringAttr>("name")) return name.str();
    return (op->getName().getStringRef() + "#" + Twine(i)).str();
  }

  SmallVector<std::pair<Operation *, Touches>> effects;
  std::vector<llvm::BitVector> conflicts, through, ordered;
};

struct PrintEffectOrder : impl::PrintEffectOrderPassBase<PrintEffectOrder> {
  void runOnOperation() override {
    ResourceAnalysis analysis(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      llvm::outs() << '@' << function.getName() << '\n';
      function.walk<WalkOrder::PreOrder>(
          [&](Block *block) { BlockOrder(*block, function, analysis).print(llvm::outs()); });
    }
    llvm::outs().flush();
  }
};

} // namespace

} // namespace mlir::weft
