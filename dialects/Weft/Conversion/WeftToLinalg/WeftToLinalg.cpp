// The pass weft-to-linalg: one walk that replaces every weft op by its linalg form.
#include "Weft/Conversion/Passes.h"
#include "Weft/Conversion/WeftToLinalg/HoistChecks.h"
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"
#include "Weft/Conversion/WeftToLinalg/Signs.h"
#include "Weft/IR/Attributes.h"
#include "Weft/IR/Bridge.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

#define GEN_PASS_DEF_WEFTTOLINALGPASS
#include "Weft/Conversion/Passes.h.inc"

/// The element that stands for many in a constant, where its data would take more room than all
/// code; null for others.
static TypedAttr elementOfMany(Attribute value) {
  constexpr int64_t largest = int64_t{1} << 20; // bytes
  auto elements = dyn_cast<DenseElementsAttr>(value);
  if (!elements || !elements.isSplat()) return {};
  Type element = elements.getElementType();
  const int64_t bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  if (elements.getNumElements() <= largest * 8 / bits) return {};
  return dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
}

/// A constant: data of the program, or code that fills memory.
Value lowerConstant(LinalgBuilder &b, ConstantOp op) {
  TypedAttr element = elementOfMany(op.getValueAttr());
  if (!element) return arith::ConstantOp::create(b, cast<TypedAttr>(op.getValueAttr()));
  return b.filled(b.sizesOf(op.getResult()), arith::ConstantOp::create(b, element));
}

/// The same for constants of programs that are written at this level.
static void fillConstants(func::FuncOp function) {
  function.walk([](arith::ConstantOp op) {
    TypedAttr element = elementOfMany(op.getValue());
    if (!element || !isa<RankedTensorType>(op.getType())) return;
    OpBuilder b(op);
    auto type = cast<RankedTensorType>(op.getType());
    Value scalar = arith::ConstantOp::create(b, op.getLoc(), element);
    Value empty = tensor::EmptyOp::create(b, op.getLoc(), type.getShape(), type.getElementType());
    op.replaceAllUsesWith(
        linalg::FillOp::create(b, op.getLoc(), ValueRange(scalar), ValueRange(empty)).getResult(0));
    op.erase();
  });
}

Value lowerStopGradient(LinalgBuilder &, StopGradientOp op) { return op.getX(); }

namespace {
/// The values in place of an op's results; none after an error.
struct Lowered : SmallVector<Value, 1> {
  Lowered(Value value) {
    if (value) push_back(value);
  }
  Lowered(const SmallVector<Value> &values) : SmallVector(values.begin(), values.end()) {}
};
} // namespace

static Lowered lower(LinalgBuilder &b, Operation *op) {
  return llvm::TypeSwitch<Operation *, Lowered>(op)
#define WEFT_LOWERING_CASES
#include "Lowerings.inc"
#undef WEFT_LOWERING_CASES
      .Case([&](ItemOp item) -> Value {
        return tensor::ExtractOp::create(b, item.getX(), ValueRange{});
      })
      .Case([&](StackEmptyOp stack) { return lowerStackEmpty(b, stack); })
      .Case([&](StackStoreOp store) { return lowerStackStore(b, store); })
      .Case([&](StackLoadOp load) { return lowerStackLoad(b, load); })
      .Case([&](StackAddOp add) { return lowerStackAdd(b, add); })
      .Default([&](Operation *other) -> Lowered {
        const ::weft::OpInfo *info = opInfoOf(other);
        if (info && info->kind == ::weft::OpKind::elementwise)
          return lowerElementwise(b, other, *info);
        if (info && info->kind == ::weft::OpKind::reduction) return lowerReduction(b, other, *info);
        if (info && info->kind == ::weft::OpKind::cumulative)
          return lowerCumulative(b, other, *info);
        other->emitOpError(
            "has no form in linalg; variables are lifted before, by weft-lift-state");
        return Value();
      });
}

/// Leaves an assert a scalar condition: whether every element holds.
static void reduceCondition(LinalgBuilder &b, AssertOp op) {
  Value condition = op.getCondition();
  const int64_t rank = op.getCondition().getType().getRank();
  if (rank == 0) return;
  b.setInsertionPoint(op);
  b.setLoc(op.getLoc());
  SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::reduction);
  ScalarBuilder scalar(b, b.getLoc());
  Value init = b.filled({}, scalar.yes(b.getI1Type()));
  auto all = linalg::GenericOp::create(
      b, init.getType(), condition, init,
      {b.getMultiDimIdentityMap(rank), AffineMap::get(rank, 0, {}, b.getContext())}, loops,
      [](OpBuilder &builder, Location loc, ValueRange args) {
        Value both = ScalarBuilder(builder, loc).logicalAnd(args[1], args[0]);
        linalg::YieldOp::create(builder, loc, both);
      });
  op.getConditionMutable().assign(all.getResult(0));
}

/// Upstream moves a tensor.cast of state through a loop as if it kept its size; sooner or later all
/// state of unknown size that begins with a known one is such a cast.
static void hideSizes(scf::ForOp loop) {
  OpBuilder b(loop);
  for (OpOperand &init : loop.getInitArgsMutable()) {
    auto type = dyn_cast<RankedTensorType>(init.get().getType());
    if (type && !type.hasStaticShape() && !init.get().getDefiningOp<WidenOp>())
      init.set(WidenOp::create(b, loop.getLoc(), type, init.get()));
  }
}

/// Makes each use of an empty stack the begin of a stack of its own. Bufferization finds nothing in
/// it that a store could destroy, so two states that begin as one value would share its memory; and
/// CSE makes one value of two.
static void separateEmptyStacks(func::FuncOp function) {
  function.walk([](StackEmptyOp stack) {
    if (stack->use_empty()) return;
    OpBuilder b(stack);
    for (OpOperand &use : llvm::make_early_inc_range(llvm::drop_begin(stack->getUses())))
      use.set(cast<StackEmptyOp>(b.clone(*stack)).getStack());
  });
}

/// Erases what is behind checks that must fail: sizes that contradict each other have no form in
/// linalg.
static void eraseNeverRun(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk<WalkOrder::PreOrder>([&](Block *block) {
    for (CheckSizesOp check : block->getOps<CheckSizesOp>())
      if (matchPattern(check.getHolds(), m_Zero())) {
        (void)eraseBehind(check, rewriter);
        break;
      }
  });
}

/// Sizes of one name are one value, so that nothing compares them.
static void shareNamedSizes(LinalgBuilder &b, func::FuncOp function) {
  DenseMap<Attribute, OpFoldResult> firsts;
  for (BlockArgument argument : function.getArguments()) {
    auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kDimNames);
    if (!names) continue;
    Sizes sizes = b.sizesOf(argument);
    for (auto [size, name] : llvm::zip_equal(sizes, names)) {
      auto own = dyn_cast<Value>(size);
      if (!own || cast<StringAttr>(name).empty()) continue;
      auto [first, isFirst] = firsts.try_emplace(name, size);
      if (isFirst) continue;
      size = first->second;
      own.getDefiningOp()->erase();
    }
    b.setSizes(argument, sizes);
    function.removeArgAttr(argument.getArgNumber(), kDimNames);
  }
}

namespace {
struct WeftToLinalg : impl::WeftToLinalgPassBase<WeftToLinalg> {
  using impl::WeftToLinalgPassBase<WeftToLinalg>::WeftToLinalgPassBase;

  void runOnOperation() override {
    separateEmptyStacks(getOperation());
    widenOperands(getOperation(), withoutLibrary);
    const auto signs = eraseSigns(getOperation(), convertsFloats);
    if (failed(signs)) return signalPassFailure();
    fillConstants(getOperation());
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_nonnull<WeftDialect>(op->getDialect()) && !op->hasTrait<StaysInLinalg>())
        ops.push_back(op);
      // Nothing moves from here on but producers into their only users.
      if (auto barrier = dyn_cast<BarrierOp>(op)) barrier.getAfterMutable().assign(barrier.getX());
    });
    if (ops.empty()) return;
    // Definitions come before uses, so the sizes of operands are known when an op's iteration
    // comes.
    LinalgBuilder b(ops.front(), withoutLibrary, stagesRoutines, *signs);
    shareNamedSizes(b, getOperation());
    for (Operation *op : ops) {
      if (auto assertion = dyn_cast<AssertOp>(op)) {
        reduceCondition(b, assertion);
        continue;
      }
      b.setInsertionPoint(op);
      b.setLoc(op->getLoc());
      const Lowered values = lower(b, op);
      if (values.empty()) return signalPassFailure();
      for (auto [result, value] : llvm::zip(op->getResults(), values)) {
        auto type = dyn_cast<RankedTensorType>(result.getType());
        result.replaceAllUsesWith(type ? b.asWritten(value, type, op->getName().stripDialect())
                                       : value);
      }
      op->erase();
    }
    hoistChecks(getOperation());
    eraseNeverRun(getOperation());
    getOperation()->walk([](scf::ForOp loop) { hideSizes(loop); });
  }
};
} // namespace

} // namespace mlir::weft
