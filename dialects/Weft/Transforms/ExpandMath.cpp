// Holds the pass weft-expand-math: which operation is replaced by which formula of
// ExpandMath/Functions.h.
#include "Weft/Transforms/ExpandMath.h"

#include "Weft/IR/Weft.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallVectorExtras.h"

namespace mlir::weft {

#define GEN_PASS_DEF_EXPANDMATHPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

using expand::Flt;
using expand::Scope;

/// The format to compute in: f32 for the narrower ones. Null if the type is not one this pass
/// handles.
FloatType computeFormat(Type type) {
  if (!isa<VectorType, FloatType>(type)) return nullptr;
  auto element = dyn_cast<FloatType>(getElementTypeOrSelf(type));
  if (!element) return nullptr;
  if (element.isF16() || element.isBF16()) return Float32Type::get(type.getContext());
  return element.isF32() || element.isF64() ? element : nullptr;
}

/// Replaces an operation whose operands and results all have one type. `formula` takes the operands
/// in the format to compute in and returns the results in it.
LogicalResult expandOp(Operation *op, PatternRewriter &rewriter, ExpandMathTarget target,
                       llvm::function_ref<SmallVector<Flt, 2>(ArrayRef<Flt>)> formula) {
  Type type = op->getResult(0).getType();
  FloatType format = computeFormat(type);
  if (!format)
    return rewriter.notifyMatchFailure(op, "not a scalar or vector of f16, bf16, f32 or f64");
  Scope scope(rewriter, op, target);
  auto operands = llvm::map_to_vector<2>(
      op->getOperands(), [&](Value operand) { return convert(Flt{{operand, &scope}}, format); });
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  auto results = llvm::map_to_vector<2>(formula(operands),
                                        [&](Flt result) { return convert(result, element).value; });
  rewriter.replaceOp(op, results);
  return success();
}

template <typename Op>
struct ExpandPattern : OpRewritePattern<Op> {
  using Formula = SmallVector<Flt, 2> (*)(ArrayRef<Flt>);

  ExpandPattern(MLIRContext *context, Formula formula, ExpandMathTarget target = {})
      : OpRewritePattern<Op>(context), formula(formula), target(target) {}

  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    return expandOp(op, rewriter, target, formula);
  }

private:
  Formula formula;
  ExpandMathTarget target;
};

template <typename Op, Flt (*function)(Flt)>
void addUnary(RewritePatternSet &patterns, ExpandMathTarget target = {}) {
  patterns.add<ExpandPattern<Op>>(
      patterns.getContext(),
      [](ArrayRef<Flt> x) -> SmallVector<Flt, 2> { return {function(x[0])}; }, target);
}

template <typename Op, Flt (*function)(Flt, Flt)>
void addBinary(RewritePatternSet &patterns) {
  patterns.add<ExpandPattern<Op>>(
      patterns.getContext(),
      [](ArrayRef<Flt> x) -> SmallVector<Flt, 2> { return {function(x[0], x[1])}; });
}

Flt rsqrt(Flt x) { return 1.0 / sqrt(x); }

/// Whether this is an op of one result whose formula is long.
bool hasLongFormula(Operation *op) {
  if (auto power = dyn_cast<math::PowFOp>(op); power && expand::isShortPower(power.getRhs()))
    return false;
  return isa<math::ExpOp, math::Exp2Op, math::ExpM1Op, math::LogOp, math::Log2Op, math::Log10Op,
             math::Log1pOp, math::TanhOp, math::ErfOp, math::SinOp, math::CosOp, math::PowFOp,
             SpecialOp>(op) &&
         computeFormat(op->getResult(0).getType());
}

/// Whether the function has a formula of its own for f32.
bool hasFormulaOfF32(SpecialFunction function) {
  return function == SpecialFunction::tan || function == SpecialFunction::atan ||
         function == SpecialFunction::atan2 || function == SpecialFunction::erfinv ||
         function == SpecialFunction::lgamma;
}

/// Most special functions of f32 are those of f64, rounded. Where the module has that of f64 too,
/// they become it, so that the formula is shared.
void widenSpecials(ModuleOp module) {
  llvm::DenseSet<std::pair<uint32_t, Type>> wide;
  SmallVector<SpecialOp> narrow;
  module.walk([&](SpecialOp op) {
    const Type element = getElementTypeOrSelf(op.getType());
    if (element.isF64()) wide.insert({static_cast<uint32_t>(op.getFunction()), op.getType()});
    else if (element.isF32() && !hasFormulaOfF32(op.getFunction())) narrow.push_back(op);
  });
  for (SpecialOp op : narrow) {
    OpBuilder b(op);
    Type type = b.getF64Type();
    if (auto vector = dyn_cast<VectorType>(op.getType())) type = vector.clone(type);
    if (!wide.contains({static_cast<uint32_t>(op.getFunction()), type})) continue;
    auto operands = llvm::map_to_vector<3>(op->getOperands(), [&](Value operand) -> Value {
      return arith::ExtFOp::create(b, op.getLoc(), type, operand);
    });
    Value result = SpecialOp::create(b, op.getLoc(), type, operands, op->getAttrs());
    op.replaceAllUsesWith(
        arith::TruncFOp::create(b, op.getLoc(), op.getType(), result).getResult());
    op.erase();
  }
}

/// Makes a function of each op on scalars that the module has `from` times or more, and calls it;
/// of one on vectors, which may stand in a hot loop, from eight times as many on. Special functions
/// are so long that a call is nothing beside them: they are shared whenever there are two.
void share(ModuleOp module, unsigned from) {
  using Kind = std::tuple<OperationName, DictionaryAttr, Type>;
  llvm::MapVector<Kind, SmallVector<Operation *>> kinds;
  module.walk([&](Operation *op) {
    if (hasLongFormula(op))
      kinds[{op->getName(), op->getAttrDictionary(), op->getResult(0).getType()}].push_back(op);
  });
  SymbolTable symbols(module);
  for (auto &[kind, ops] : kinds) {
    Operation *first = ops.front();
    const bool isSpecial = isa<SpecialOp>(first);
    const size_t fromLanes = isa<VectorType>(std::get<Type>(kind)) ? 8 : 1;
    if ((!isSpecial && from == 0) || ops.size() < (isSpecial ? 2 : fromLanes * from)) continue;
    OpBuilder b(module.getContext());
    auto function =
        func::FuncOp::create(b, first->getLoc(), ("weft." + first->getName().stripDialect()).str(),
                             b.getFunctionType(first->getOperandTypes(), first->getResultTypes()));
    function.setPrivate();
    function.setNoInline(true);
    symbols.insert(function); // may give it another name
    b.setInsertionPointToStart(function.addEntryBlock());
    Operation *formula = b.clone(*first);
    formula->setOperands(function.getArguments());
    func::ReturnOp::create(b, first->getLoc(), formula->getResults());
    for (Operation *op : ops) {
      b.setInsertionPoint(op);
      op->replaceAllUsesWith(func::CallOp::create(b, op->getLoc(), function, op->getOperands()));
      op->erase();
    }
  }
}

struct ExpandSpecial : OpRewritePattern<SpecialOp> {
  ExpandSpecial(MLIRContext *context, ExpandMathTarget target)
      : OpRewritePattern(context), target(target) {}

  LogicalResult matchAndRewrite(SpecialOp op, PatternRewriter &rewriter) const override {
    return expandOp(op, rewriter, target, [&](ArrayRef<Flt> x) -> SmallVector<Flt, 2> {
      return {expand::special(op.getFunction(), x)};
    });
  }

private:
  ExpandMathTarget target;
};

struct ExpandMath : impl::ExpandMathPassBase<ExpandMath> {
  using Base::Base;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet set(context);
    populateExpandMathPatterns(set, {.tables = tables, .permuteBytes = permuteBytes});
    if (expandRemainder) populateExpandRemainderPatterns(set);
    patterns = FrozenRewritePatternSet(std::move(set));
    return success();
  }

  void runOnOperation() override {
    if (auto module = dyn_cast<ModuleOp>(getOperation())) {
      widenSpecials(module);
      share(module, shareFrom);
    }
    walkAndApplyPatterns(getOperation(), patterns);
  }

  FrozenRewritePatternSet patterns;
};

} // namespace

void populateExpandMathPatterns(RewritePatternSet &patterns, ExpandMathTarget target) {
  addUnary<math::ExpOp, expand::exp>(patterns);
  addUnary<math::Exp2Op, expand::exp2>(patterns);
  addUnary<math::ExpM1Op, expand::expm1>(patterns);
  addUnary<math::LogOp, expand::log>(patterns);
  addUnary<math::Log2Op, expand::log2>(patterns);
  addUnary<math::Log10Op, expand::log10>(patterns);
  addUnary<math::Log1pOp, expand::log1p>(patterns);
  addUnary<math::TanhOp, expand::tanh>(patterns);
  addUnary<math::ErfOp, expand::erf>(patterns, target);
  addUnary<math::SinOp, expand::sin>(patterns);
  addUnary<math::CosOp, expand::cos>(patterns);
  addUnary<math::RsqrtOp, rsqrt>(patterns);
  addBinary<math::PowFOp, expand::pow>(patterns);
  patterns.add<ExpandSpecial>(patterns.getContext(), target);
  patterns.add<ExpandPattern<math::SincosOp>>(patterns.getContext(),
                                              [](ArrayRef<Flt> x) -> SmallVector<Flt, 2> {
                                                auto [sine, cosine] = expand::sincos(x[0]);
                                                return {sine, cosine};
                                              });
}

void populateExpandRemainderPatterns(RewritePatternSet &patterns) {
  addBinary<arith::RemFOp, expand::remainder>(patterns);
}

} // namespace mlir::weft
