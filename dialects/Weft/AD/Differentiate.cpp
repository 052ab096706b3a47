// The pass weft-differentiate: which derivative is expanded when.
#include "Support/Limits.h"
#include "Weft/AD/Expansion.h"
#include "Weft/AD/Passes.h"
#include "Weft/AD/Saved.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "Weft/AD/Passes.h.inc"

namespace {

/// Expands the derivatives of a module, those inside a function before those of it.
class Driver {
public:
  Driver(ModuleOp module, ::weft::CheckpointBudget checkpoint)
      : symbols(module), checkpoint(checkpoint) {}

  /// Expands every derivative in the function and in all it calls.
  LogicalResult process(func::FuncOp function) {
    if (depth == ::weft::kMaxCalls)
      return function.emitError("functions call each other more than ")
             << ::weft::kMaxCalls << " deep";
    ++depth;
    state[function] = State::open;
    // Expansion adds no derivative, so those that are there now are all.
    SmallVector<Operation *> derivatives;
    WalkResult walked = function.walk([&](Operation *op) {
      FlatSymbolRefAttr callee = differentiatedFunction(op);
      if (callee) derivatives.push_back(op);
      else if (auto call = dyn_cast<func::CallOp>(op)) callee = call.getCalleeAttr();
      else if (auto custom = dyn_cast<CustomGradientOp>(op)) callee = custom.getPullbackAttr();
      return callee ? WalkResult(processCallee(op, callee)) : WalkResult::advance();
    });
    if (walked.wasInterrupted()) return failure();
    for (Operation *op : derivatives)
      if (failed(expandDerivative(op, symbols, checkpoint, notes))) return failure();
    state[function] = State::done;
    --depth;
    return success();
  }

  /// On what is stored.
  ArrayRef<::weft::SavedNote> saved() const { return notes; }

  bool done(func::FuncOp function) { return state.lookup(function) == State::done; }

private:
  enum class State { untouched, open, done };

  LogicalResult processCallee(Operation *op, FlatSymbolRefAttr symbol) {
    auto callee = symbols.lookup<func::FuncOp>(symbol.getValue());
    if (!callee)
      return op->emitOpError() << symbol << " is no func.func, so it cannot be differentiated";
    switch (state.lookup(callee)) {
    case State::untouched: return process(callee);
    case State::done: return success();
    case State::open: break;
    }
    // Recursion is none of our business until a derivative is part of it.
    if (!differentiatedFunction(op)) return success();
    return op->emitOpError() << "differentiates " << symbol
                             << " inside of that function itself, which has no end";
  }

  SymbolTable symbols;
  ::weft::CheckpointBudget checkpoint;
  std::vector<::weft::SavedNote> notes;
  size_t depth = 0; ///< of calls, from the first function on
  DenseMap<Operation *, State> state;
};

struct Differentiate : impl::DifferentiatePassBase<Differentiate> {
  using impl::DifferentiatePassBase<Differentiate>::DifferentiatePassBase;

  void runOnOperation() override {
    auto budget = ::weft::parse_checkpoint(checkpoint);
    if (!budget) {
      getOperation().emitError() << getArgument() << ": " << budget.fault().message;
      return signalPassFailure();
    }
    Driver driver(getOperation(), *budget);
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!driver.done(function) && failed(driver.process(function))) return signalPassFailure();
    WalkResult left = getOperation().walk([](Operation *op) {
      if (!differentiatedFunction(op) && !isa<PullOp>(op)) return WalkResult::advance();
      op->emitOpError("is left by weft-differentiate; it may stand inside of func.func only");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted()) return signalPassFailure();
    // Where a derivative was to be, it is.
    getOperation().walk([](CustomGradientOp op) {
      op.replaceAllUsesWith(op.getValues());
      op.erase();
    });
    if (report) getOperation()->setAttr(savedNotesName, attributeOf(driver.saved(), &getContext()));
  }
};

} // namespace
} // namespace mlir::weft
