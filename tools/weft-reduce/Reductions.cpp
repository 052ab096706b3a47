// The reductions of Weft's ops: what makes a program smaller and keeps it one that verifies.
#include "Reductions.h"

#include "Weft/IR/Weft.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Reducer/ReductionPatternInterface.h"
#include "mlir/Reducer/Tester.h"

namespace mlir::weft {

namespace {

/// An op becomes an operand of the result's type, or a tensor of zeros, if the program stays
/// interesting. The reduction tree asks only for all ops at once, so each rewrite asks for itself.
struct ReplaceOp : RewritePattern {
  ReplaceOp(MLIRContext *context, const Tester &tester)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context), tester(tester) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa_and_present<WeftDialect>(op->getDialect()) || op->getNumResults() != 1 ||
        isa<ConstantOp>(op))
      return failure();
    Type type = op->getResult(0).getType();
    for (unsigned i = 0; i < op->getNumOperands(); ++i) {
      auto byOperand = [&](Operation *replaced, RewriterBase &builder) {
        builder.replaceOp(replaced, replaced->getOperand(i));
      };
      if (op->getOperand(i).getType() == type && staysInteresting(op, byOperand))
        return byOperand(op, rewriter), success();
    }
    auto tensor = isWeftTensor(type) ? cast<RankedTensorType>(type) : RankedTensorType();
    if (!tensor || !tensor.hasStaticShape()) return failure();
    auto zeros = DenseElementsAttr::get(
        tensor, cast<TypedAttr>(rewriter.getZeroAttr(tensor.getElementType())));
    auto byZeros = [&](Operation *replaced, RewriterBase &builder) {
      builder.replaceOpWithNewOp<ConstantOp>(replaced, tensor, zeros);
    };
    if (!staysInteresting(op, byZeros)) return failure();
    return byZeros(op, rewriter), success();
  }

  /// Tries a rewrite of `op` on a copy of the program.
  bool staysInteresting(Operation *op,
                        function_ref<void(Operation *, RewriterBase &)> rewrite) const {
    IRMapping copies;
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(op->getParentOfType<ModuleOp>()->clone(copies)));
    Operation *copied = copies.lookup(op);
    IRRewriter rewriter(copied);
    rewrite(copied, rewriter);
    return succeeded(verify(*copy)) &&
           tester.isInteresting(*copy).first == Tester::Interestingness::True;
  }

  const Tester &tester;
};

struct Reductions : DialectReductionPatternInterface {
  explicit Reductions(Dialect *dialect) : DialectReductionPatternInterface(dialect) {}
  void populateReductionPatterns(RewritePatternSet &) const override {}
  void populateReductionPatternsWithTester(RewritePatternSet &patterns,
                                           Tester &tester) const override {
    patterns.add<ReplaceOp>(patterns.getContext(), tester);
  }
};

} // namespace

void registerReductions(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *, WeftDialect *dialect) { dialect->addInterfaces<Reductions>(); });
}

} // namespace mlir::weft
