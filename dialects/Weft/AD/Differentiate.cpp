// The pass weft-differentiate: which derivative is expanded when.
#include "Weft/AD/Expansion.h"
#include "Weft/AD/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "Weft/AD/Passes.h.inc"

namespace {

/// Expands the derivatives of a module, those inside a function before those of it.
class Driver {
public:
  explicit Driver(ModuleOp module) : symbols(module) {}

  /// Expands every derivative in the function and in all it calls.
  LogicalResult process(func::FuncOp function) {
    state[function] = State::open;
    // Expansion adds no derivative, so those that are there now are all.
    SmallVector<Operation *> derivatives;
    WalkResult walked = function.walk([&](Operation *op) {
      FlatSymbolRefAttr callee = differentiatedFunction(op);
      if (callee) derivatives.push_back(op);
      else if (auto call = dyn_cast<func::CallOp>(op)) callee = call.getCalleeAttr();
      return callee ? WalkResult(processCallee(op, callee)) : WalkResult::advance();
    });
    if (walked.wasInterrupted()) return failure();
    for (Operation *op : derivatives)
      if (failed(expandDerivative(op, symbols))) return failure();
    state[function] = State::done;
    return success();
  }

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
    if (isa<func::CallOp>(op)) return success();
    return op->emitOpError() << "differentiates " << symbol
                             << " inside of that function itself, which has no end";
  }

  SymbolTable symbols;
  DenseMap<Operation *, State> state;
};

struct Differentiate : impl::DifferentiatePassBase<Differentiate> {
  void runOnOperation() override {
    Driver driver(getOperation());
    SmallVector<func::FuncOp> functions(getOperation().getOps<func::FuncOp>());
    for (func::FuncOp function : functions)
      if (!driver.done(function) && failed(driver.process(function))) return signalPassFailure();
    WalkResult left = getOperation().walk([](Operation *op) {
      if (!differentiatedFunction(op) && !isa<PullOp>(op)) return WalkResult::advance();
      op->emitOpError("is left by weft-differentiate; it may stand inside of func.func only");
      return WalkResult::interrupt();
    });
    if (left.wasInterrupted()) signalPassFailure();
  }
};

} // namespace
} // namespace mlir::weft
