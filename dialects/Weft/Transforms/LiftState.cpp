// The pass weft-lift-state: variables become arguments and results.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_LIFTSTATEPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Symbols of variables, in the order of their first mention.
using Variables = llvm::SetVector<Attribute>;

/// The present value of each variable.
using State = llvm::MapVector<Attribute, Value>;

/// The symbol behind a handle, or null.
FlatSymbolRefAttr variableOf(Value handle) {
  auto op = handle.getDefiningOp<HandleOp>();
  return op ? op.getVariableAttr() : FlatSymbolRefAttr();
}

/// Walks a function in program order and replaces what variables do by what their values are.
class Lifter {
public:
  explicit Lifter(MLIRContext *context) : rewriter(context) {}

  /// Lifts the operations of `block`. On return `state` holds the values at its end.
  LogicalResult liftBlock(Block &block, State &state) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (failed(liftOp(&op, state))) return failure();
    return success();
  }

  /// Erases the handles, which nobody uses any more.
  void eraseHandles(func::FuncOp function) {
    function.walk([&](HandleOp op) { rewriter.eraseOp(op); });
  }

private:
  LogicalResult liftOp(Operation *op, State &state) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      rewriter.replaceOp(read, state[variableOf(read.getVariable())]);
      return success();
    }
    if (auto assign = dyn_cast<AssignOp>(op)) {
      state[variableOf(assign.getVariable())] = assign.getValue();
      rewriter.eraseOp(assign);
      return success();
    }
    if (auto assign = dyn_cast<AssignAddOp>(op)) {
      Value &value = state[variableOf(assign.getVariable())];
      rewriter.setInsertionPoint(assign);
      value = AddOp::create(rewriter, assign.getLoc(), value.getType(), value, assign.getValue());
      rewriter.eraseOp(assign);
      return success();
    }
    if (op->getNumRegions() == 0) return success();
    if (auto branch = dyn_cast<scf::IfOp>(op)) return liftIf(branch, state);
    if (auto loop = dyn_cast<scf::ForOp>(op)) return liftFor(loop, state);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) return liftWhile(loop, state);
    WalkResult result = op->walk([&](Operation *inner) {
      return isa<ReadOp, AssignOp, AssignAddOp>(inner) ? WalkResult::interrupt()
                                                       : WalkResult::advance();
    });
    if (!result.wasInterrupted()) return success();
    return op->emitOpError("cannot hold reads or assigns of variables; scf.if, scf.for and "
                           "scf.while can");
  }

  static Variables writtenIn(Operation *op) {
    Variables written;
    op->walk([&](Operation *inner) {
      if (isa<AssignOp, AssignAddOp>(inner)) written.insert(variableOf(inner->getOperand(0)));
    });
    return written;
  }

  static SmallVector<Value> valuesOf(const Variables &variables, State &state) {
    return llvm::map_to_vector(variables, [&](Attribute variable) { return state[variable]; });
  }

  /// Replaces `op` by `larger`, which has the results of `op` and then those of `written`.
  void replaceByLarger(Operation *op, Operation *larger, const Variables &written, State &state) {
    const unsigned count = op->getNumResults();
    for (auto [variable, result] : llvm::zip_equal(written, larger->getResults().drop_front(count)))
      state[variable] = result;
    rewriter.replaceOp(op, larger->getResults().take_front(count));
  }

  LogicalResult liftIf(scf::IfOp op, State &state) {
    Variables written = writtenIn(op);
    SmallVector<Type> types(op.getResultTypes());
    for (Value value : valuesOf(written, state)) types.push_back(value.getType());
    State thenState = state, elseState = state;
    if (failed(liftBlock(*op.thenBlock(), thenState)) ||
        (op.elseBlock() && failed(liftBlock(*op.elseBlock(), elseState))))
      return failure();
    if (written.empty()) return success();

    rewriter.setInsertionPoint(op);
    auto larger = scf::IfOp::create(rewriter, op.getLoc(), types, op.getCondition(),
                                    /*addThenBlock=*/false, /*addElseBlock=*/false);
    larger.getThenRegion().takeBody(op.getThenRegion());
    larger.getElseRegion().takeBody(op.getElseRegion());
    if (larger.getElseRegion().empty()) {
      rewriter.createBlock(&larger.getElseRegion());
      scf::YieldOp::create(rewriter, op.getLoc());
    }
    larger.thenYield()->insertOperands(op.getNumResults(), valuesOf(written, thenState));
    larger.elseYield()->insertOperands(op.getNumResults(), valuesOf(written, elseState));
    replaceByLarger(op, larger, written, state);
    return success();
  }

  LogicalResult liftFor(scf::ForOp op, State &state) {
    Variables written = writtenIn(op);
    if (written.empty()) {
      State inner = state;
      return liftBlock(*op.getBody(), inner);
    }
    SmallVector<Value> inits(op.getInitArgs());
    llvm::append_range(inits, valuesOf(written, state));
    rewriter.setInsertionPoint(op);
    auto larger = scf::ForOp::create(rewriter, op.getLoc(), op.getLowerBound(), op.getUpperBound(),
                                     op.getStep(), inits);
    larger->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    const unsigned carried = op.getInitArgs().size();
    // The builder leaves a block without terminator; the old body moves in, with more arguments.
    Block *body = larger.getBody();
    rewriter.mergeBlocks(op.getBody(), body, body->getArguments().take_front(1 + carried));
    State inner = state;
    for (auto [variable, argument] :
         llvm::zip_equal(written, larger.getRegionIterArgs().drop_front(carried)))
      inner[variable] = argument;
    if (failed(liftBlock(*body, inner))) return failure();
    body->getTerminator()->insertOperands(carried, valuesOf(written, inner));
    replaceByLarger(op, larger, written, state);
    return success();
  }

  LogicalResult liftWhile(scf::WhileOp op, State &state) {
    Variables written = writtenIn(op);
    if (written.empty()) {
      State inner = state;
      if (failed(liftBlock(*op.getBeforeBody(), inner))) return failure();
      return liftBlock(*op.getAfterBody(), inner);
    }
    SmallVector<Value> inits(op.getInits()), values = valuesOf(written, state);
    llvm::append_range(inits, values);
    SmallVector<Type> types(op.getResultTypes());
    for (Value value : values) types.push_back(value.getType());
    rewriter.setInsertionPoint(op);
    auto larger = scf::WhileOp::create(rewriter, op.getLoc(), types, inits);
    larger.getBefore().takeBody(op.getBefore());
    larger.getAfter().takeBody(op.getAfter());

    State inner = state;
    auto enter = [&](Block &block) {
      for (auto [variable, value] : llvm::zip_equal(written, values))
        inner[variable] = block.addArgument(value.getType(), op.getLoc());
    };
    enter(larger.getBefore().front());
    if (failed(liftBlock(larger.getBefore().front(), inner))) return failure();
    scf::ConditionOp condition = larger.getConditionOp();
    condition.getArgsMutable().append(valuesOf(written, inner));
    enter(larger.getAfter().front());
    if (failed(liftBlock(larger.getAfter().front(), inner))) return failure();
    scf::YieldOp yield = larger.getYieldOp();
    yield->insertOperands(yield->getNumOperands(), valuesOf(written, inner));
    replaceByLarger(op, larger, written, state);
    return success();
  }

  IRRewriter rewriter;
};

struct LiftState : impl::LiftStatePassBase<LiftState> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(checkCalls(function))) return signalPassFailure();
    SmallVector<VariableOp> variables(module.getOps<VariableOp>());
    if (variables.empty()) return;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(lift(function, variables))) return signalPassFailure();
  }

  /// Calls were inlined before, all but those of functions that come back to themselves. Such a
  /// function would find its own temporaries in the one block of memory that is planned for it.
  static LogicalResult checkCalls(func::FuncOp function) {
    WalkResult result = function.walk([&](func::CallOp call) -> WalkResult {
      auto callee =
          function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal()) return WalkResult::advance();
      return call.emitOpError("calls a function that could not be inlined: is it recursive?"),
             WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult lift(func::FuncOp function, ArrayRef<VariableOp> variables) {
    if (failed(checkHandles(function))) return failure();
    State state;
    Variables all;
    for (VariableOp variable : variables) {
      auto symbol = FlatSymbolRefAttr::get(variable.getSymNameAttr());
      Builder b(&getContext());
      DictionaryAttr attrs = b.getDictionaryAttr(b.getNamedAttr("weft.variable", symbol));
      const unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, variable.getType(), attrs, variable.getLoc());
      state[symbol] = function.getArgument(index);
    }
    State before = state;
    Lifter lifter(&getContext());
    if (failed(lifter.liftBlock(function.getBody().front(), state))) return failure();
    lifter.eraseHandles(function);

    Operation *ret = function.getBody().front().getTerminator();
    for (auto [symbol, value] : state) {
      if (value == before[symbol]) continue;
      Builder b(&getContext());
      DictionaryAttr attrs = b.getDictionaryAttr(b.getNamedAttr("weft.variable", symbol));
      (void)function.insertResult(function.getNumResults(), value.getType(), attrs);
      ret->insertOperands(ret->getNumOperands(), value);
    }
    return success();
  }

  /// A handle is known for its variable only where it is used directly.
  LogicalResult checkHandles(func::FuncOp function) {
    if (function.getBody().getBlocks().size() != 1)
      return function.emitOpError("has branches between blocks; control flow is scf here");
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      if (isa<ReadOp, AssignOp, AssignAddOp>(op)) {
        if (variableOf(op->getOperand(0))) return WalkResult::advance();
        return op->emitOpError("does not get its handle from weft.handle directly"),
               WalkResult::interrupt();
      }
      for (Value operand : op->getOperands())
        if (isa<VarType>(operand.getType()))
          return op->emitOpError("cannot take a handle of a variable"), WalkResult::interrupt();
      return WalkResult::advance();
    });
    return failure(result.wasInterrupted());
  }
};

} // namespace

} // namespace mlir::weft
