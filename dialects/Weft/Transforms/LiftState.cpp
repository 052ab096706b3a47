// The pass weft-lift-state: variables become arguments and results.
#include "Weft/Effects/Tokens.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/AssignPlaces.h"
#include "Weft/Transforms/ChosenHandles.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeVerification/Conditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_LIFTSTATEPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Numbers of variables, in the order of their first mention.
using Variables = llvm::SmallSetVector<unsigned, 8>;

/// The present value of each variable.
using State = SmallVector<Value>;

/// Walks a function in program order and replaces what variables do by what their values are.
class Lifter {
public:
  Lifter(func::FuncOp function, const Meanings &meanings, const ResourceAnalysis &analysis)
      : rewriter(function.getContext()), meanings(meanings), atStake(writtenIn(function)) {
    for (unsigned number : atStake)
      names.push_back(FlatSymbolRefAttr::get(analysis.variable(number).getSymNameAttr()));
  }

  /// Lifts the operations of `block`. On return `state` holds the values at its end.
  LogicalResult liftBlock(Block &block, State &state) {
    State told;
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (mayLeave(&op)) tell(&op, state, told);
      if (failed(liftOp(&op, state))) return failure();
    }
    return success();
  }

  /// Where the program assigned a variable last.
  Location placeOfAssign(unsigned number) const { return assigned.at(number); }

private:
  /// Whether the call may be over with this op. An op on unknown sizes counts: its checks are made
  /// by the conversion to linalg.
  static bool mayLeave(Operation *op) {
    if (auto ordered = dyn_cast<OrderedOpInterface>(op)) {
      const OwnEffects own = ordered.getOwnEffects();
      return own.io || own.stops || mayStop(op);
    }
    if (isa<cf::AssertOp>(op) || mayStop(op) || mayBeUndefined(op)) return true;
    auto unknown = [](Type type) {
      auto shaped = dyn_cast<ShapedType>(type);
      return shaped && !shaped.hasStaticShape();
    };
    return isa_and_nonnull<WeftDialect>(op->getDialect()) &&
           (llvm::any_of(op->getOperandTypes(), unknown) ||
            llvm::any_of(op->getResultTypes(), unknown));
  }

  /// Says what the variables hold if the call is over with `op`, unless `told`, what was said last
  /// in the block, says it.
  void tell(Operation *op, const State &state, State &told) {
    SmallVector<Value> now = valuesOf(atStake, state);
    if (now == told) return;
    rewriter.setInsertionPoint(op);
    OnStopOp::create(rewriter, op->getLoc(), rewriter.getArrayAttr(names), now);
    told = std::move(now);
  }

  LogicalResult liftOp(Operation *op, State &state) {
    if (auto read = dyn_cast<ReadOp>(op)) {
      rewriter.setInsertionPoint(read);
      rewriter.replaceOp(read, present(read, state));
      return success();
    }
    if (auto assign = dyn_cast<AssignOp>(op)) {
      rewriter.setInsertionPoint(assign);
      setPresent(assign, assign.getValue(), state);
      rewriter.eraseOp(assign);
      return success();
    }
    if (auto assign = dyn_cast<AssignAddOp>(op)) {
      rewriter.setInsertionPoint(assign);
      Value value = present(assign, state);
      Value sum =
          AddOp::create(rewriter, assign.getLoc(), value.getType(), value, assign.getValue());
      setPresent(assign, sum, state);
      rewriter.eraseOp(assign);
      return success();
    }
    if (op->getNumRegions() == 0) return success();
    if (isa<scf::IfOp, scf::IndexSwitchOp>(op)) return liftBranches(op, state);
    if (auto loop = dyn_cast<scf::ForOp>(op)) return liftFor(loop, state);
    if (auto loop = dyn_cast<scf::WhileOp>(op)) return liftWhile(loop, state);
    WalkResult result = op->walk([&](Operation *inner) {
      return ownEffectsOf(inner).onVariable() ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (!result.wasInterrupted()) return success();
    return op->emitOpError("cannot hold reads or assigns of variables; scf.if, scf.for, "
                           "scf.while and scf.index_switch can");
  }

  /// Whether the handle of a read or assign is the one of this number.
  Value isChosen(Operation *op, unsigned number) {
    Value wanted = arith::ConstantIndexOp::create(rewriter, op->getLoc(), number);
    return arith::CmpIOp::create(rewriter, op->getLoc(), arith::CmpIPredicate::eq,
                                 op->getOperand(0), wanted);
  }

  /// The present value of the variable that a read or assign means.
  Value present(Operation *op, const State &state) {
    ArrayRef<unsigned> numbers = meanings.find(op)->second;
    Value value = state[numbers.front()];
    for (unsigned number : numbers.drop_front())
      value = arith::SelectOp::create(rewriter, op->getLoc(), isChosen(op, number), state[number],
                                      value);
    return value;
  }

  /// Gives the variable that an assign means a new value; others that it may mean keep theirs.
  void setPresent(Operation *op, Value value, State &state) {
    ArrayRef<unsigned> numbers = meanings.find(op)->second;
    for (unsigned number : numbers) assigned.insert_or_assign(number, op->getLoc());
    if (numbers.size() == 1) {
      state[numbers.front()] = value;
      return;
    }
    for (unsigned number : numbers)
      state[number] = arith::SelectOp::create(rewriter, op->getLoc(), isChosen(op, number), value,
                                              state[number]);
  }

  Variables writtenIn(Operation *op) const {
    Variables written;
    op->walk([&](Operation *inner) {
      if (!ownEffectsOf(inner).writes) return;
      ArrayRef<unsigned> numbers = meanings.find(inner)->second;
      written.insert(numbers.begin(), numbers.end());
    });
    return written;
  }

  static SmallVector<Value> valuesOf(const Variables &variables, const State &state) {
    return llvm::map_to_vector(variables, [&](unsigned variable) { return state[variable]; });
  }

  /// Replaces `op` by `larger`, which has the results of `op` and then those of `written`.
  void replaceByLarger(Operation *op, Operation *larger, const Variables &written, State &state) {
    const unsigned count = op->getNumResults();
    for (auto [variable, result] : llvm::zip_equal(written, larger->getResults().drop_front(count)))
      state[variable] = result;
    rewriter.replaceOp(op, larger->getResults().take_front(count));
  }

  /// Of an scf.if's regions, or those of an scf.index_switch, one runs. Each yields the values that
  /// variables have at its end.
  LogicalResult liftBranches(Operation *op, State &state) {
    Variables written = writtenIn(op);
    if (auto branch = dyn_cast<scf::IfOp>(op);
        branch && !written.empty() && branch.getElseRegion().empty()) {
      rewriter.createBlock(&branch.getElseRegion());
      scf::YieldOp::create(rewriter, op->getLoc());
    }
    for (Region &region : op->getRegions()) {
      if (region.empty()) continue;
      State inner = state;
      if (failed(liftBlock(region.front(), inner))) return failure();
      Operation *yield = region.front().getTerminator();
      yield->insertOperands(yield->getNumOperands(), valuesOf(written, inner));
    }
    if (written.empty()) return success();
    SmallVector<Type> types(op->getResultTypes());
    for (Value value : valuesOf(written, state)) types.push_back(value.getType());
    rewriter.setInsertionPoint(op);
    replaceByLarger(op, rebuild(rewriter, op, op->getOperands(), types), written, state);
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
  const Meanings &meanings;
  const Variables atStake; ///< what the function writes anywhere
  SmallVector<Attribute> names;
  DenseMap<unsigned, Location> assigned; ///< where each variable got a value last
};

struct LiftState : impl::LiftStatePassBase<LiftState> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyDifferentiated(module))) return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>())
      if (failed(checkCalls(function))) return signalPassFailure();
    eraseTokens(module);
    if (module.getOps<VariableOp>().empty()) return;
    ResourceAnalysis analysis(module);
    for (auto function : module.getOps<func::FuncOp>())
      if (!function.isExternal() && failed(lift(function, analysis))) return signalPassFailure();
  }

private:
  /// Calls were inlined before, all but those of functions that come back to themselves. Such a
  /// function would find its own temporaries in the one block of memory that is planned for it.
  static LogicalResult checkCalls(func::FuncOp function) {
    WalkResult result = function.walk([&](Operation *op) -> WalkResult {
      auto call = dyn_cast<func::CallOp>(op);
      if (!call) return WalkResult::advance();
      auto callee =
          function->getParentOfType<ModuleOp>().lookupSymbol<func::FuncOp>(call.getCallee());
      if (!callee || callee.isExternal()) return WalkResult::advance();
      return call.emitOpError("calls a function that could not be inlined: is it recursive?"),
             WalkResult::interrupt();
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult lift(func::FuncOp function, const ResourceAnalysis &analysis) {
    Meanings meanings;
    if (!function.getBody().hasOneBlock())
      return function.emitOpError("has branches between blocks; control flow is scf here");
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (function.getArgAttr(i, "weft.variable"))
        return function.emitOpError() << "has a 'weft.variable' at argument " << i
                                      << ": weft-lift-state, which adds such arguments, ran before";
    if (failed(resolveHandles(function, analysis, meanings))) return failure();
    State state;
    for (VariableOp variable : analysis.allVariables()) {
      const unsigned index = function.getNumArguments();
      (void)function.insertArgument(index, variable.getType(), attributesOf(variable),
                                    variable.getLoc());
      state.push_back(function.getArgument(index));
    }
    const State before = state;
    Lifter lifter(function, meanings, analysis);
    if (failed(lifter.liftBlock(function.getBody().front(), state))) return failure();
    function.walk([](HandleOp op) { op.erase(); });

    Operation *ret = function.getBody().front().getTerminator();
    SmallVector<std::pair<StringAttr, Location>> places;
    for (auto [i, value] : llvm::enumerate(state)) {
      if (value == before[i]) continue;
      places.push_back({analysis.variable(i).getSymNameAttr(), lifter.placeOfAssign(i)});
      (void)function.insertResult(function.getNumResults(), value.getType(),
                                  attributesOf(analysis.variable(i)));
      ret->insertOperands(ret->getNumOperands(), value);
    }
    if (!places.empty()) ret->setLoc(withAssigns(ret->getLoc(), places));
    return success();
  }

  /// What marks the argument and the result of a variable.
  static DictionaryAttr attributesOf(VariableOp variable) {
    Builder b(variable.getContext());
    auto symbol = FlatSymbolRefAttr::get(variable.getSymNameAttr());
    return b.getDictionaryAttr(b.getNamedAttr("weft.variable", symbol));
  }
};

} // namespace

} // namespace mlir::weft
