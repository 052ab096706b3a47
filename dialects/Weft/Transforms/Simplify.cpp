// The pass weft-simplify: rewrites of weft ops that keep every bit of the results.
#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/FoldConstants.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SIMPLIFYPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// The one value that all elements of a constant have, or null.
Attribute splatOf(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  auto elements = constant ? dyn_cast<DenseElementsAttr>(constant.getValueAttr()) : nullptr;
  return elements && elements.isSplat() ? elements.getSplatValue<Attribute>() : Attribute();
}

/// Whether all elements are this number. Zeros match only with their sign.
bool isSplat(Value value, double number) {
  Attribute splat = splatOf(value);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(splat))
    return integer.getValue().getSExtValue() == static_cast<int64_t>(number);
  if (auto floating = dyn_cast_or_null<FloatAttr>(splat))
    return floating.getValue().bitwiseIsEqual(
        FloatAttr::get(floating.getType(), number).getValue());
  return false;
}

/// x * 1, 1 * x, x / 1, x - 0 and x + -0. (x + 0 is not x for x = -0.)
template <class Op>
struct DropNeutralOperand : OpRewritePattern<Op> {
  DropNeutralOperand(MLIRContext *context, double neutral, bool commutes)
      : OpRewritePattern<Op>(context), neutral(neutral), commutes(commutes) {}
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    for (auto [kept, dropped] : {std::pair(0, 1), std::pair(1, 0)}) {
      if (dropped == 0 && !commutes) continue;
      Value x = op->getOperand(kept);
      if (x.getType() != op.getType() || !isSplat(op->getOperand(dropped), neutral)) continue;
      rewriter.replaceOp(op, x);
      return success();
    }
    return failure();
  }
  double neutral;
  bool commutes;
};

/// -(-x), not not x.
template <class Op>
struct DropInvolution : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner || inner.getX().getType() != op.getType() || knowsMoreThanInferred(inner))
      return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

/// A reverse of the same reverse.
struct DropReverse : OpRewritePattern<ReverseOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReverseOp op, PatternRewriter &rewriter) const override {
    if (op.getAxes().empty() && op.getX().getType() == op.getType())
      return rewriter.replaceOp(op, op.getX()), success();
    auto inner = op.getX().getDefiningOp<ReverseOp>();
    if (!inner || inner.getAxes() != op.getAxes() || inner.getX().getType() != op.getType() ||
        knowsMoreThanInferred(inner))
      return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

/// x ** 1 and x ** 2, x ** -1 of floating elements, and x ** n of integers, as products and
/// quotients, which is how expansions define them.
struct PowerToProducts : OpRewritePattern<PowerOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(PowerOp op, PatternRewriter &rewriter) const override {
    Value x = op.getLhs();
    Attribute exponent = splatOf(op.getRhs());
    if (!exponent || x.getType() != op.getType()) return failure();
    auto multiply = [&](Value lhs, Value rhs) -> Value {
      return MultiplyOp::create(rewriter, op.getLoc(), op.getType(), lhs, rhs);
    };
    if (auto integer = dyn_cast<IntegerAttr>(exponent)) {
      if (!integer.getValue().isStrictlyPositive()) return failure();
      rewriter.replaceOp(op, powerBySquaring(x, integer.getValue().getZExtValue(), multiply));
      return success();
    }
    if (isSplat(op.getRhs(), 1)) return rewriter.replaceOp(op, x), success();
    if (isSplat(op.getRhs(), 2)) return rewriter.replaceOp(op, multiply(x, x)), success();
    if (!isSplat(op.getRhs(), -1)) return failure();
    auto scalar = RankedTensorType::get({}, op.getType().getElementType());
    Value one = ConstantOp::create(
        rewriter, op.getLoc(), scalar,
        DenseElementsAttr::get(scalar, rewriter.getFloatAttr(scalar.getElementType(), 1)));
    rewriter.replaceOpWithNewOp<DivideOp>(op, op.getType(), one, x);
    return success();
  }
};

struct DropCast : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    if (op.getX().getType() != op.getType()) return failure();
    rewriter.replaceOp(op, op.getX());
    return success();
  }
};

/// A choice between a value and itself.
struct DropSelect : OpRewritePattern<SelectOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SelectOp op, PatternRewriter &rewriter) const override {
    if (op.getOnTrue() != op.getOnFalse() || op.getOnTrue().getType() != op.getType())
      return failure();
    rewriter.replaceOp(op, op.getOnTrue());
    return success();
  }
};

/// A concatenation of one tensor.
struct DropConcatenate : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op, PatternRewriter &rewriter) const override {
    if (op.getXs().size() != 1 || op.getXs().front().getType() != op.getType()) return failure();
    rewriter.replaceOp(op, op.getXs().front());
    return success();
  }
};

/// An assert of what always holds.
struct DropAssert : OpRewritePattern<AssertOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(AssertOp op, PatternRewriter &rewriter) const override {
    if (!isSplat(op.getCondition(), -1)) return failure(); // true, as a signed number
    if (!op.getToken()) return rewriter.eraseOp(op), success();
    if (!op.getAfter()) return failure();
    return rewriter.replaceOp(op, op.getAfter()), success();
  }
};

/// Of what comes after no effect nothing is held back.
struct DropGuard : OpRewritePattern<GuardOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(GuardOp op, PatternRewriter &rewriter) const override {
    if (!op.getAfter().getDefiningOp<BeginOp>()) return failure();
    return rewriter.replaceOp(op, op.getX()), success();
  }
};

/// Whether `op` swaps the last two axes and leaves the others.
bool swapsMatrix(TransposeOp op) {
  ArrayRef<int64_t> permutation = op.getPermutation();
  const int64_t rank = permutation.size();
  for (int64_t axis = 0; axis < rank; ++axis) {
    const int64_t from = axis < rank - 2 ? axis : 2 * rank - 3 - axis;
    if (permutation[axis] != from) return false;
  }
  return rank >= 2;
}

/// A product of a transposed matrix reads it as it stands.
struct AbsorbTranspose : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto lhs = op.getLhs().getDefiningOp<TransposeOp>();
    auto rhs = op.getRhs().getDefiningOp<TransposeOp>();
    // What only the written type of a transpose knows would be forgotten, and not be checked.
    auto absorbs = [](TransposeOp side) {
      return side && swapsMatrix(side) && !knowsMoreThanInferred(side);
    };
    const bool absorbsLhs = absorbs(lhs), absorbsRhs = absorbs(rhs);
    if (!absorbsLhs && !absorbsRhs) return failure();
    rewriter.modifyOpInPlace(op, [&] {
      if (absorbsLhs) {
        op.getLhsMutable().assign(lhs.getX());
        op.setTransposeLhs(!op.getTransposeLhs());
      }
      if (absorbsRhs) {
        op.getRhsMutable().assign(rhs.getX());
        op.setTransposeRhs(!op.getTransposeRhs());
      }
    });
    return success();
  }
};

/// Triangles that serve one solve need not be kept.
struct SolveAtOnce : OpRewritePattern<LuSolveOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(LuSolveOp op, PatternRewriter &rewriter) const override {
    auto lu = op.getFactors().getDefiningOp<LuOp>();
    if (!lu || op.getTransposed() || op.getPermutation() != lu.getPermutation()) return failure();
    Value matrix = lu.getX();
    if (auto stopped = matrix.getDefiningOp<StopGradientOp>()) matrix = stopped.getX();
    if (matrix != op.getX() || !lu.getPivots().use_empty() || !lu.getFactors().hasOneUse() ||
        !lu.getPermutation().hasOneUse())
      return failure();
    rewriter.replaceOpWithNewOp<GesvOp>(op, op.getType(), op.getX(), op.getB());
    return success();
  }
};

/// An operand of an elementwise op that the op would broadcast anyway.
struct DropBroadcast : RewritePattern {
  explicit DropBroadcast(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->kind != ::weft::OpKind::elementwise || op->getNumOperands() < 2)
      return failure();
    for (OpOperand &operand : op->getOpOperands()) {
      auto broadcast = operand.get().getDefiningOp<BroadcastOp>();
      // One to a size that is an operand stops a call where that does not fit.
      if (!broadcast || !broadcast.getSizes().empty()) continue;
      SmallVector<Value> operands(op->getOperands());
      operands[operand.getOperandNumber()] = broadcast.getX();
      SmallVector<::weft::TensorType> types;
      for (Value value : operands) types.push_back(tensorTypeOf(value.getType()));
      ::weft::Attrs attrs = attrsOf(op);
      ::weft::Result<::weft::TensorType> result = ::weft::infer({info->op, types, attrs});
      if (!result || mlirTypeOf(*result, op->getContext()) != op->getResult(0).getType()) continue;
      rewriter.modifyOpInPlace(op, [&] { operand.set(broadcast.getX()); });
      return success();
    }
    return failure();
  }
};

/// An op on a tensor whose known sizes were forgotten works on those, and its result forgets them.
struct WidenLate : RewritePattern {
  explicit WidenLate(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->has_effect() || op->getNumResults() != 1 || knowsMoreThanInferred(op))
      return failure();
    SmallVector<Value> operands(op->getOperands());
    for (Value &operand : operands)
      if (auto widen = operand.getDefiningOp<WidenOp>(); widen && neverStretches(widen))
        operand = widen.getX();
    if (operands == SmallVector<Value>(op->getOperands())) return failure();
    SmallVector<::weft::TensorType> types;
    for (Value value : operands) types.push_back(tensorTypeOf(value.getType()));
    // Sizes that do not fit are an error when the program comes to it.
    ::weft::Result<::weft::TensorType> result = ::weft::infer({info->op, types, attrsOf(op)});
    if (!result) return failure();
    RankedTensorType type = mlirTypeOf(*result, op->getContext());
    Operation *known = rewriter.clone(*op);
    known->setOperands(operands);
    known->getResult(0).setType(type);
    Value value = known->getResult(0);
    if (type != op->getResult(0).getType())
      value = WidenOp::create(rewriter, op->getLoc(), op->getResult(0).getType(), value);
    rewriter.replaceOp(op, value);
    return success();
  }

  /// Whether x's sizes are known, and none is forgotten that is 1: of those an unknown one does not
  /// stretch where the known one would.
  static bool neverStretches(WidenOp widen) {
    auto known = cast<RankedTensorType>(widen.getX().getType());
    auto left = cast<RankedTensorType>(widen.getType());
    return known.hasStaticShape() &&
           llvm::none_of(llvm::zip_equal(known.getShape(), left.getShape()), [](auto sizes) {
             return std::get<0>(sizes) == 1 && std::get<1>(sizes) != 1;
           });
  }
};

struct Simplify : impl::SimplifyPassBase<Simplify> {
  using SimplifyPassBase::SimplifyPassBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    set.add<DropNeutralOperand<MultiplyOp>>(context, 1, /*commutes=*/true);
    set.add<DropNeutralOperand<DivideOp>>(context, 1, /*commutes=*/false);
    set.add<DropNeutralOperand<SubtractOp>>(context, 0, /*commutes=*/false);
    set.add<DropNeutralOperand<AddOp>>(context, -0.0, /*commutes=*/true);
    set.add<AbsorbTranspose, DropBroadcast, DropCast, DropConcatenate, DropInvolution<NegateOp>,
            DropInvolution<LogicalNotOp>, DropAssert, DropGuard, DropReverse, DropSelect,
            PowerToProducts, SolveAtOnce, WidenLate>(context);
    // Sizes that become known choose branches, which make more sizes known.
    for (StringRef name :
         {GuardOp::getOperationName(), ReshapeOp::getOperationName(),
          BroadcastOp::getOperationName(), IotaOp::getOperationName(), SliceOp::getOperationName(),
          PadOp::getOperationName(), scf::IfOp::getOperationName()})
      RegisteredOperationName::lookup(name, context)->getCanonicalizationPatterns(set, context);
    populateFoldConstantsPatterns(set, maxFoldedBytes);
    patterns = std::move(set);
    return success();
  }

  void runOnOperation() override {
    if (failed(applyPatternsGreedily(getOperation(), patterns))) signalPassFailure();
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

} // namespace mlir::weft
