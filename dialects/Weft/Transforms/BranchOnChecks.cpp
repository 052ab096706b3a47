// The pass weft-branch-on-checks: asserts and checks as branches that leave the call.
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/IndexBounds.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSwitch.h"

namespace mlir::weft {

#define GEN_PASS_DEF_BRANCHONCHECKSPASS
#include "Weft/Transforms/Passes.h.inc"

//===----------------------------------------------------------------------===//
// What a branch that leaves computes itself
//===----------------------------------------------------------------------===//

/// Whether a tensor keeps its elements up to `branch` anyway: nobody may overwrite it, or it is
/// read after the branch.
static bool livesUntil(Value value, scf::IfOp branch) {
  if (!isa<TensorType>(value.getType()) || value.getDefiningOp<arith::ConstantOp>() ||
      value.getDefiningOp<tensor::EmptyOp>())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp()))
      if (!function.getArgAttr(argument.getArgNumber(), "weft.variable")) return true;
  return llvm::any_of(value.getUsers(), [&](Operation *user) {
    Operation *top = branch->getBlock()->findAncestorOpInBlock(*user);
    return top && branch->isBeforeInBlock(top);
  });
}

/// Adds to `moving` an op that only the branch and those that move already need, with what it needs
/// itself; false if something that it needs would be kept alive by this.
static bool collect(Operation *op, scf::IfOp branch, llvm::SmallSetVector<Operation *, 8> &moving) {
  if (!isMemoryEffectFree(op) || (op->getNumRegions() != 0 && !isa<linalg::LinalgOp>(op)))
    return false;
  if (!llvm::all_of(op->getUsers(), [&](Operation *user) {
        return moving.contains(user) || branch->isProperAncestor(user);
      }))
    return false;
  moving.insert(op);
  return llvm::all_of(op->getOperands(), [&](Value value) {
    if (livesUntil(value, branch)) return true;
    Operation *source = value.getDefiningOp();
    return source && collect(source, branch, moving);
  });
}

/// Moves into the branch what only the branch needs. It wraps scalars itself, whoever else does.
static void sinkInto(scf::IfOp branch) {
  Block &block = *branch.thenBlock();
  for (Operation *op = &block.back(); op; op = op->getPrevNode()) {
    for (OpOperand &operand : op->getOpOperands()) {
      Operation *source = operand.get().getDefiningOp();
      if (!source || branch->isAncestor(source)) continue;
      llvm::SmallSetVector<Operation *, 8> moving;
      if (collect(source, branch, moving)) {
        for (Operation *moved : moving) moved->moveBefore(&block, block.begin());
      } else if (auto wrap = dyn_cast<tensor::FromElementsOp>(source);
                 wrap && wrap.getType().getRank() == 0) {
        OpBuilder b(&block, block.begin());
        operand.set(b.clone(*wrap)->getResult(0));
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Asserts and checks
//===----------------------------------------------------------------------===//

/// A weft.leave that leaves variables as `present` says, which may be null.
static LeaveOp leave(ImplicitLocOpBuilder &b, LeaveKind kind, StringRef text, ValueRange values,
                     OnStopOp present, ArrayAttr given = {}) {
  return LeaveOp::create(b, kind, b.getStringAttr(text), values,
                         present ? present.getVariablesAttr() : ArrayAttr(),
                         present ? present.getState() : ValueRange(), given);
}

/// Whether all indices are numbers that loops count within the size.
static bool cannotFail(CheckIndicesOp check) {
  auto made = check.getIndices().getDefiningOp<tensor::FromElementsOp>();
  return made && llvm::all_of(made.getElements(),
                              [&](Value index) { return isKnownInside(index, check.getSize()); });
}

/// Notes of the op's values what the conversion to linalg noted of them.
static void keepNotes(LeaveOp leave, Operation *op) {
  for (StringRef name : {kElements, kComplex})
    if (Attribute note = op->getAttr(name)) leave->setAttr(name, note);
}

/// What a check of sizes ends with.
static LeaveKind kindOf(AssertOp ofSizes) {
  return llvm::StringSwitch<LeaveKind>(ofSizes.getError())
      .Case("index", LeaveKind::bounds)
      .Case("value", LeaveKind::value)
      .Default(LeaveKind::shape);
}

static Value negated(ImplicitLocOpBuilder &b, Value condition) {
  return arith::XOrIOp::create(b, condition, arith::ConstantIntOp::create(b, 1, 1));
}

namespace {

class Brancher {
public:
  LogicalResult run(Block &block, OnStopOp present) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto told = dyn_cast<OnStopOp>(op)) markers.push_back(present = told);
      else if (failed(visit(&op, present))) return failure();
    }
    return success();
  }

  void finish() {
    for (OnStopOp marker : markers) marker.erase();
    for (scf::IfOp branch : branches) sinkInto(branch);
  }

private:
  LogicalResult visit(Operation *op, OnStopOp present) {
    if (auto ordered = dyn_cast<OrderedOpInterface>(op); ordered && ordered.getToken())
      return op->emitOpError("is ordered by tokens; weft-lift-state takes them away before");
    ImplicitLocOpBuilder b(op->getLoc(), op);
    if (auto print = dyn_cast<PrintOp>(op)) {
      keepNotes(leave(b, LeaveKind::print, print.getFormat(), print.getValues(), present), op);
    } else if (isa<PollOp>(op)) {
      enterIf(b, InterruptedOp::create(b));
      leave(b, LeaveKind::interrupt, "", {}, present);
    } else if (auto call = dyn_cast<HostCallOp>(op)) {
      callHost(b, call, present);
    } else if (auto call = dyn_cast<CallIntoOp>(op)) {
      if (present && call.mayThrow()) {
        call.setVariablesAttr(present.getVariablesAttr());
        call.getStateMutable().assign(present.getState());
      }
      return success();
    } else if (auto assertion = dyn_cast<AssertOp>(op)) {
      Value condition = assertion.getCondition();
      if (cast<RankedTensorType>(condition.getType()).getRank() != 0)
        return op->emitOpError("wants a scalar condition by now; weft-to-linalg makes it one");
      Value holds = b.createOrFold<tensor::ExtractOp>(condition, ValueRange());
      enterIf(b, negated(b, holds));
      if (!assertion.getOfSizes()) {
        keepNotes(
            leave(b, LeaveKind::assertion, assertion.getMessage(), assertion.getValues(), present),
            op);
      } else {
        SmallVector<Value> sizes;
        for (Value value : assertion.getValues()) {
          Value size = b.createOrFold<tensor::ExtractOp>(value, ValueRange());
          sizes.push_back(arith::IndexCastOp::create(b, b.getIndexType(), size));
        }
        leave(b, kindOf(assertion), assertion.getMessage(), sizes, present);
      }
    } else if (auto check = dyn_cast<CheckIndicesOp>(op); check && cannotFail(check)) {
    } else if (auto check = dyn_cast<CheckIndicesOp>(op)) {
      enterIf(b, OutsideOp::create(b, check.getIndices(), check.getSize()));
      leave(b, LeaveKind::index, check.getOp(), {check.getIndices(), check.getSize()}, present);
    } else if (auto sizes = dyn_cast<CheckSizesOp>(op)) {
      enterIf(b, negated(b, sizes.getHolds()));
      leave(b, sizes.getError(), sizes.getText(), sizes.getSizes(), present);
    } else if (auto fits = dyn_cast<cf::AssertOp>(op)) {
      enterIf(b, negated(b, fits.getArg()));
      leave(b, LeaveKind::shape, fits.getMsg(), {}, present);
    } else {
      if (isa<linalg::LinalgOp>(op)) return success();
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (failed(run(block, present))) return failure();
      return success();
    }
    op->erase();
    return success();
  }

  static void callHost(ImplicitLocOpBuilder &b, HostCallOp call, OnStopOp present) {
    auto types = llvm::to_vector(TypeRange(call.getGiven()));
    for (auto [i, type] : llvm::enumerate(types)) {
      auto shaped = cast<ShapedType>(type);
      type = shaped.clone(notedElement(call, kResultElements, i, shaped.getElementType()));
    }
    if (auto numbers = call->getAttrOfType<DenseI64ArrayAttr>(kComplexResults))
      for (const int64_t i : numbers.asArrayRef()) {
        auto shaped = cast<ShapedType>(types[i]);
        types[i] =
            shaped.clone(shaped.getShape().drop_back(), ComplexType::get(shaped.getElementType()));
      }
    keepNotes(leave(b, LeaveKind::host, call.getCallee(), call.getValues(), present,
                    b.getTypeArrayAttr(types)),
              call);
    for (auto [i, given] : llvm::enumerate(call.getGiven()))
      if (!given.use_empty()) given.replaceAllUsesWith(HostResultOp::create(b, given.getType(), i));
  }

  void enterIf(ImplicitLocOpBuilder &b, Value broken) {
    auto branch = scf::IfOp::create(b, broken, /*withElseRegion=*/false);
    branches.push_back(branch);
    b.setInsertionPointToStart(branch.thenBlock());
  }

  SmallVector<OnStopOp> markers;
  SmallVector<scf::IfOp> branches;
};

struct BranchOnChecks : impl::BranchOnChecksPassBase<BranchOnChecks> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    Brancher brancher;
    for (Block &block : function.getBody())
      if (failed(brancher.run(block, OnStopOp()))) return signalPassFailure();
    brancher.finish();
  }
};

} // namespace

} // namespace mlir::weft
