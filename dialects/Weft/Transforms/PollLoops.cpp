// The pass weft-poll-loops: places in loops where the program around may interrupt the call.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"

namespace mlir::weft {

#define GEN_PASS_DEF_POLLLOOPSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// How many elements the ops of a block make; nothing where that is not known, or there is a loop.
std::optional<int64_t> elementsIn(Block &block) {
  int64_t count = 0;
  auto walked = block.walk([&](Operation *op) {
    if (isa<LoopLikeOpInterface, HostCallOp>(op)) return WalkResult::interrupt();
    for (Type type : op->getResultTypes()) {
      auto shaped = dyn_cast<ShapedType>(type);
      if (shaped && !shaped.hasStaticShape()) return WalkResult::interrupt();
      count += shaped ? shaped.getNumElements() : 1;
    }
    return WalkResult::advance();
  });
  return walked.wasInterrupted() ? std::nullopt : std::optional(count);
}

/// Whether nobody would want to interrupt a loop: some microseconds.
bool isShort(scf::ForOp loop) {
  constexpr int64_t kFewTurns = 1 << 12, kFewElements = 1 << 14;
  std::optional<llvm::APInt> turns = loop.getStaticTripCount();
  if (!turns || turns->ugt(kFewTurns)) return false;
  std::optional<int64_t> elements = elementsIn(*loop.getBody());
  return elements && *elements * turns->getSExtValue() <= kFewElements;
}

struct PollLoops : impl::PollLoopsPassBase<PollLoops> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!module->hasAttr("weft.interruptible")) return;
    module.walk([](Operation *op) {
      if (auto loop = dyn_cast<scf::WhileOp>(op)) pollIn(*loop.getBeforeBody(), op);
      else if (auto loop = dyn_cast<scf::ForOp>(op); loop && !isShort(loop))
        pollIn(*loop.getBody(), op);
    });
  }

  static void pollIn(Block &block, Operation *loop) {
    OpBuilder b = OpBuilder::atBlockBegin(&block);
    PollOp::create(b, loop->getLoc());
  }
};

} // namespace

} // namespace mlir::weft
