// Which structured ops are products, which of their loops are rows and columns, and what may follow
// them in their kernels.
#include "Weft/Conversion/Cost.h"
#include "Weft/Conversion/LoopsToGpu/DeviceReads.h"
#include "Weft/Conversion/LoopsToGpu/ProductBuilder.h"
#include "Weft/Conversion/LoopsToGpu/Products.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::weft {

using linalg::GenericOp;

/// Fewer rows or columns than this are no tile's.
static constexpr int64_t kLeastOfTile = 16;

/// Sets the factors of what a body adds to its result: of numbers that are multiplied, and
/// otherwise the two elements that it reads. Whether there are any.
static bool findFactors(GenericOp op, ProductRoles &roles) {
  BlockArgument result = op.getMatchingBlockArgument(op.getDpsInitOperand(0));
  Operation *sum = op.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  if (auto fused = dyn_cast_or_null<math::FmaOp>(sum); fused && fused.getC() == result) {
    roles.lhs = fused.getA();
    roles.rhs = fused.getB();
    return roles.isSum = true;
  }
  if (sum && isa<arith::AddFOp, arith::AddIOp>(sum) &&
      llvm::is_contained(sum->getOperands(), result)) {
    Operation *product = sum->getOperand(sum->getOperand(0) == result ? 1 : 0).getDefiningOp();
    if (product && isa<arith::MulFOp, arith::MulIOp>(product)) {
      roles.lhs = product->getOperand(0);
      roles.rhs = product->getOperand(1);
      return roles.isSum = true;
    }
  }
  if (op.getNumDpsInputs() != 2) return false;
  roles.lhs = op.getMatchingBlockArgument(op.getDpsInputOperand(0));
  roles.rhs = op.getMatchingBlockArgument(op.getDpsInputOperand(1));
  return true;
}

std::optional<ProductRoles> rolesOf(GenericOp op) {
  ProductRoles roles;
  op.getReductionDims(roles.summed);
  if (op.getNumDpsInits() != 1 || roles.summed.empty()) return std::nullopt;
  OpOperand &init = *op.getDpsInitOperand(0);
  if (!isa<MemRefType>(init.get().getType()) ||
      !op.getMatchingIndexingMap(&init).isProjectedPermutation())
    return std::nullopt;
  if (!findFactors(op, roles) || roles.lhs == roles.rhs) return std::nullopt;
  for (Value factor : {roles.lhs, roles.rhs})
    if (!factor.getType().isIntOrFloat() || factor.getParentBlock() != op.getBody())
      return std::nullopt;
  // The rest of the body has no elements or places of its own.
  const auto isFactor = [&](Value value) { return value == roles.lhs || value == roles.rhs; };
  for (Value part : computedFrom(op, op.getBody()->getTerminator()->getOperands(), isFactor)) {
    const bool isResult = part == op.getMatchingBlockArgument(&init);
    if (isResult ? false
                 : !part.getDefiningOp() || !isPure(part.getDefiningOp()) ||
                       isa<linalg::IndexOp>(part.getDefiningOp()))
      return std::nullopt;
  }
  const auto left = loopsOf(op, roles.lhs), right = loopsOf(op, roles.rhs);
  if (!left || !right) return std::nullopt;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    if (llvm::is_contained(roles.summed, loop)) continue;
    if (left->test(loop) && right->test(loop)) roles.batches.push_back(loop);
    else if (left->test(loop)) roles.rows.push_back(loop);
    else if (right->test(loop)) roles.columns.push_back(loop);
    else return std::nullopt;
  }
  return roles;
}

bool isWorthTilesOf(GenericOp op, const ProductRoles &roles, int64_t tileRows, int64_t tileColumns,
                    int64_t least) {
  const auto rows = knownCount(op, roles.rows), columns = knownCount(op, roles.columns);
  if (!rows || !columns || *rows < tileRows || *columns < tileColumns) return false;
  const int64_t tiles = llvm::divideCeil(*rows, tileRows) * llvm::divideCeil(*columns, tileColumns);
  return tiles * knownCount(op, roles.batches).value_or(1) >= least;
}

bool hasLargeTiles(GenericOp op, const ProductRoles &roles) {
  return isWorthTilesOf(op, roles, kLargeTile, kLargeTile / 2);
}

bool isWorthTiles(GenericOp op) {
  const std::optional<ProductRoles> roles = rolesOf(op);
  if (!roles) return false;
  auto isEnough = [&](ArrayRef<unsigned> loops) {
    const std::optional<int64_t> count = knownCount(op, loops);
    return !loops.empty() && (!count || *count >= kLeastOfTile);
  };
  return isEnough(roles->rows) && isEnough(roles->columns);
}

bool isWithVector(GenericOp op) {
  const std::optional<ProductRoles> roles = rolesOf(op);
  return roles && (knownCount(op, roles->rows) == 1 || knownCount(op, roles->columns) == 1);
}

/// Whether a body may be copied for each result of a thread: functions become long code.
static bool isShort(GenericOp op, bool manyResults) {
  constexpr int64_t kMostCost = 1024;
  return costOf(*op.getBody()) * (manyResults ? 64 : 16) <= kMostCost;
}

bool isEpilogue(const Nest &product, const Nest &next) {
  GenericOp op = product.generic(), after = next.generic();
  if (!after || after.getNumReductionLoops() != 0 || !isRightBehind(after, op) ||
      !isShort(after, hasLargeTiles(op, *rolesOf(op))))
    return false;
  // The loops of the product's results are its own, in their order.
  OpOperand &init = *op.getDpsInitOperand(0);
  SmallVector<unsigned> parallel;
  op.getParallelDims(parallel);
  if (after.getNumLoops() != parallel.size()) return false;
  AffineMap made = op.getMatchingIndexingMap(&init);
  for (auto [axis, loop] : llvm::enumerate(parallel))
    if (axis >= made.getNumResults() || !made.getResult(axis).isFunctionOfDim(loop)) return false;
  const auto isSameElement = [&](OpOperand &one, OpOperand &other) {
    AffineMap map = after.getMatchingIndexingMap(&one);
    return map.isIdentity() && map == after.getMatchingIndexingMap(&other) &&
           one.get().getType() == other.get().getType();
  };
  bool reads = false;
  for (OpOperand *input : after.getDpsInputOperands()) {
    if (input->get() != init.get()) continue;
    if (!after.getMatchingIndexingMap(input).isIdentity()) return false;
    reads = true;
  }
  if (!reads) return false;
  // Other threads still read what the product is of when one stores.
  SmallVector<Value> read = readByBody(op);
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<MemRefType>(input->get().getType()) && !op.getMatchingBlockArgument(input).use_empty())
      read.push_back(input->get());
  llvm::append_range(read, readByBody(after));
  const bool keeps = isStored(init.get(), {product, next});
  for (OpOperand &stored : after.getDpsInitsMutable()) {
    if (!isa<MemRefType>(stored.get().getType())) return false;
    if (llvm::any_of(read, [&](Value other) { return mayShare(stored.get(), other); }))
      return false;
    if (stored.get() == init.get() || (keeps && mayShare(stored.get(), init.get()))) return false;
    for (OpOperand &other : after->getOpOperands())
      if (&other != &stored && isa<MemRefType>(other.get().getType()) &&
          other.get() != init.get() && mayShare(stored.get(), other.get()) &&
          !(other.get() == stored.get() && isSameElement(stored, other)))
        return false;
  }
  return llvm::none_of(readByBody(after), [&](Value other) { return mayShare(init.get(), other); });
}

} // namespace mlir::weft
