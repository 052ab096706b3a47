// That the costs of records, by which threads share eager work, are those of the compiler's table.
#include "Weft/Conversion/Cost.h"
#include "Weft/Conversion/ScalarBuilder.h"
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace weft {
namespace {

/// The cost of one element of `op`, by the code that all kernels are made of; nothing for ops
/// without such code.
std::optional<std::int64_t> cost_of_code(const OpInfo &op, mlir::MLIRContext &context) {
  const bool folds = op.kind != OpKind::elementwise;
  std::optional<std::int64_t> cost;
  for (DType dtype : {DType::f32, DType::i32, DType::boolean}) {
    if (!op.operands.back().admits.contains(dtype)) continue;
    const mlir::Location loc = mlir::UnknownLoc::get(&context);
    mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(loc);
    mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(module->getBody());
    mlir::SmallVector<mlir::Type> types(folds ? 1 : 0, mlir::weft::elementTypeOf(dtype, &context));
    for (const auto &operand : op.operands)
      types.push_back(mlir::weft::elementTypeOf(
          operand.admits.contains(dtype) ? dtype : DType::boolean, &context));
    auto function =
        mlir::func::FuncOp::create(builder, loc, "f", builder.getFunctionType(types, {}));
    builder.setInsertionPointToStart(function.addEntryBlock());
    mlir::weft::ScalarBuilder scalars(builder, loc);
    const mlir::Value value =
        mlir::weft::buildScalarBody(op.op, scalars, function.getArguments(), types.back());
    if (!value) return std::nullopt;
    mlir::func::ReturnOp::create(builder, loc, value);
    mlir::IRRewriter rewriter(&context);
    mlir::DominanceInfo dominance(function);
    mlir::eliminateCommonSubExpressions(rewriter, dominance, function);
    return std::max<std::int64_t>(mlir::weft::costOf(function.getBody().front()), 1);
  }
  return cost;
}

TEST(Cost, OfRecordsIsThatOfTheirCode) {
  mlir::MLIRContext context;
  context.loadDialect<mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                      mlir::weft::WeftDialect>();
  for (const OpInfo &op : all_ops())
    if (op.kind == OpKind::elementwise || op.kind == OpKind::reduction ||
        op.kind == OpKind::cumulative)
      if (const auto cost = cost_of_code(op, context))
        EXPECT_EQ(op.cost, *cost) << op.name << ": `let cost = " << *cost << "` in its record";
}

} // namespace
} // namespace weft
