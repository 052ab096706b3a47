// The pass weft-shuffle-schedule: shows that tokens alone keep a program right.
#include "Weft/Effects/Passes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <random>

namespace mlir::weft {

#define GEN_PASS_DEF_SHUFFLESCHEDULEPASS
#include "Weft/Effects/Passes.h.inc"

namespace {
struct ShuffleSchedule : impl::ShuffleSchedulePassBase<ShuffleSchedule> {
  using ShuffleSchedulePassBase::ShuffleSchedulePassBase;

  void runOnOperation() override {
    std::mt19937_64 random(seed);
    getOperation().walk([&](Block *block) { shuffle(*block, random); });
  }

private:
  static void shuffle(Block &block, std::mt19937_64 &random) {
    DenseMap<Operation *, unsigned> waitsFor; ///< ops of the block that are not placed yet
    DenseMap<Operation *, SmallVector<Operation *>> waiting;
    auto after = [&](Operation *first, Operation *second) {
      waiting[first].push_back(second);
      ++waitsFor[second];
    };
    Operation *lastEffect = nullptr;
    SmallVector<Operation *> ready;
    for (Operation &op : block.without_terminator()) {
      llvm::SmallPtrSet<Operation *, 8> definers;
      op.walk([&](Operation *inner) {
        for (Value operand : inner->getOperands()) {
          Operation *definer = operand.getDefiningOp();
          if (definer && definer->getBlock() == &block) definers.insert(definer);
        }
      });
      if (!isMemoryEffectFree(&op)) {
        if (lastEffect) definers.insert(lastEffect);
        lastEffect = &op;
      }
      definers.erase(&op);
      for (Operation *definer : definers) after(definer, &op);
      if (definers.empty()) ready.push_back(&op);
    }
    Operation *terminator = block.mightHaveTerminator() ? block.getTerminator() : nullptr;
    while (!ready.empty()) {
      std::swap(ready[random() % ready.size()], ready.back());
      Operation *op = ready.pop_back_val();
      if (terminator) op->moveBefore(terminator);
      else op->moveBefore(&block, block.end());
      for (Operation *next : waiting.lookup(op))
        if (--waitsFor[next] == 0) ready.push_back(next);
    }
  }
};
} // namespace

} // namespace mlir::weft
