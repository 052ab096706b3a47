// The table of what ops cost.
#include "Weft/Conversion/Cost.h"

#include "Weft/IR/Weft.h"
#include "Weft/Transforms/ExpandMath/Functions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

int64_t costOf(Operation &op) {
  constexpr int64_t kDivision = 4, kAnywhere = 4, kFunction = 20, kSpecialFunction = 60;
  if (isa<arith::ConstantOp, linalg::IndexOp, arith::IndexCastOp>(op)) return 0;
  if (isa<arith::DivFOp, arith::RemFOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp,
          arith::RemUIOp, math::SqrtOp>(op))
    return kDivision;
  // An element of any place is one that the loop does not go to.
  if (isa<tensor::ExtractOp>(op)) return kAnywhere;
  if (isa<math::RsqrtOp>(op)) return 2 * kDivision;
  if (isa<math::AbsFOp, math::AbsIOp, math::FloorOp, math::CeilOp, math::FmaOp, math::CopySignOp>(
          op))
    return 1;
  if (isa<SpecialOp>(op)) return kSpecialFunction;
  if (auto power = dyn_cast<math::PowFOp>(op); power && expand::isShortPower(power.getRhs()))
    return kDivision;
  if (isa_and_nonnull<math::MathDialect>(op.getDialect())) return kFunction;
  return op.getNumRegions() != 0 ? kFunction : 1;
}

int64_t costOf(Block &body) {
  int64_t cost = 0;
  for (Operation &op : body.without_terminator()) cost += costOf(op);
  return cost;
}

} // namespace mlir::weft
