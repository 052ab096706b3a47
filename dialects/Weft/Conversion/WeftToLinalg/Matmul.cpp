// Matrix products as linalg.contract on a zeroed tensor: transposes and batches are in its maps.
#include "OpDefs/SizeWords.h"
#include "Weft/Conversion/WeftToLinalg/LinalgBuilder.h"
#include "Weft/Conversion/WeftToLinalg/NarrowFloats.h"
#include "Weft/IR/Attributes.h"

namespace mlir::weft {

namespace {
/// One operand: its batch axes end where its matrix begins.
struct Operand {
  Value tensor;
  Sizes sizes;
  int64_t batchRank = 0;
  bool isVector = false, transposed = false;

  Operand(LinalgBuilder &b, Value value, bool transposed)
      : tensor(value), sizes(b.sizesOf(value)), transposed(transposed) {
    isVector = sizes.size() == 1;
    batchRank = isVector ? 0 : static_cast<int64_t>(sizes.size()) - 2;
  }
  /// Whether a batch axis stretches: its type says 1. An unknown size never does.
  bool repeats(int64_t axis) const {
    return cast<RankedTensorType>(tensor.getType()).getDimSize(axis) == 1;
  }
  OpFoldResult row() const { return sizes[batchRank + (transposed ? 1 : 0)]; }
  OpFoldResult column() const { return sizes[batchRank + (transposed ? 0 : 1)]; }
};
} // namespace

/// Takes the batch axes away along which `operand` is repeated (size 1 against another size), since
/// the maps of a contraction name loops only. Gives the loops of those that stay.
static SmallVector<int64_t> dropRepeatedBatches(LinalgBuilder &b, Operand &operand,
                                                const Sizes &batch) {
  SmallVector<int64_t> repeated, loops;
  const int64_t missing = static_cast<int64_t>(batch.size()) - operand.batchRank;
  for (int64_t axis = 0; axis < operand.batchRank; ++axis) {
    if (operand.repeats(axis) && !isConstantIntValue(batch[missing + axis], 1))
      repeated.push_back(axis);
    else loops.push_back(missing + axis);
  }
  operand.tensor = b.dropUnitAxes(operand.tensor, repeated);
  return loops;
}

/// A product of floats of 16 bits, of whose bits the operands are: summed up in f32 and rounded
/// once.
static Value narrowProduct(LinalgBuilder &b, const Signs &signs, Value lhs, Value rhs,
                           const Sizes &sizes, ArrayRef<AffineMap> maps) {
  Value init = b.filled(sizes, ScalarBuilder(b, b.getLoc()).zero(b.getF32Type()));
  SmallVector<utils::IteratorType> loops(sizes.size(), utils::IteratorType::parallel);
  loops.push_back(utils::IteratorType::reduction);
  auto sums = linalg::GenericOp::create(
      b, init.getType(), ValueRange{lhs, rhs}, init, maps, loops,
      [&](OpBuilder &builder, Location loc, ValueRange args) {
        Value product = arith::MulFOp::create(
            builder, loc, widenedBits(builder, loc, signs.operandFormat, args[0]),
            widenedBits(builder, loc, signs.operandFormat, args[1]));
        Value sum = arith::AddFOp::create(builder, loc, args[2], product);
        linalg::YieldOp::create(builder, loc, sum);
      });
  sums->setAttr(kNarrowProduct, b.getUnitAttr());
  b.setSizes(sums.getResult(0), sizes);
  return roundedToBits(b, signs, sums.getResult(0), sizes);
}

Value lowerMatmul(LinalgBuilder &b, MatmulOp op) {
  Operand lhs(b, op.getLhs(), op.getTransposeLhs()), rhs(b, op.getRhs(), op.getTransposeRhs());
  auto type = cast<RankedTensorType>(op.getType());
  const int64_t batchRank = std::max(lhs.batchRank, rhs.batchRank);

  SmallVector<OpFoldResult> named;
  const std::string ofLhs = b.written(op.getLhs(), named), ofRhs = b.written(op.getRhs(), named);
  const std::string differ = "matmul: " + ::weft::words::batches_do_not_broadcast(ofLhs, ofRhs) +
                             "; an unknown size never stretches";
  Sizes batch;
  for (int64_t axis = 0; axis < batchRank; ++axis) {
    OpFoldResult size;
    for (const Operand *operand : {&lhs, &rhs}) {
      const int64_t at = axis - (batchRank - operand->batchRank);
      if (at < 0 || operand->repeats(at)) continue;
      if (!size || (!isa<Attribute>(size) && isa<Attribute>(operand->sizes[at]))) {
        if (size) b.requireEqual(size, operand->sizes[at], differ, named);
        size = operand->sizes[at];
      } else {
        b.requireEqual(size, operand->sizes[at], differ, named);
      }
    }
    batch.push_back(size ? size : OpFoldResult(b.getIndexAttr(1)));
  }
  OpFoldResult lhsInner = lhs.isVector ? lhs.sizes[0] : lhs.column();
  OpFoldResult rhsInner = rhs.isVector ? rhs.sizes[0] : rhs.row();
  llvm::append_values(named, lhsInner, rhsInner);
  b.requireEqual(lhsInner, rhsInner,
                 "matmul: " + ::weft::words::inner_sizes_differ(ofLhs, op.getTransposeLhs(), ofRhs,
                                                                op.getTransposeRhs(), "{}", "{}"),
                 named);

  // Loops: the batches, the rows unless lhs is a vector, the columns unless rhs is, the inner one.
  Sizes sizes = batch;
  int64_t loops = batchRank;
  const int64_t m = lhs.isVector ? -1 : loops++;
  const int64_t n = rhs.isVector ? -1 : loops++;
  const int64_t k = loops++;
  if (m >= 0) sizes.push_back(lhs.row());
  if (n >= 0) sizes.push_back(rhs.column());

  auto mapOf = [&](ArrayRef<int64_t> axes) {
    SmallVector<AffineExpr> exprs;
    for (int64_t axis : axes) exprs.push_back(b.getAffineDimExpr(axis));
    return AffineMap::get(loops, 0, exprs, b.getContext());
  };
  auto operandMap = [&](Operand &operand, int64_t first, int64_t second) {
    SmallVector<int64_t> axes = dropRepeatedBatches(b, operand, batch);
    if (operand.isVector) return mapOf(k);
    if (operand.transposed) std::swap(first, second);
    axes.append({first, second});
    return mapOf(axes);
  };
  AffineMap lhsMap = operandMap(lhs, m, k), rhsMap = operandMap(rhs, k, n);
  SmallVector<int64_t> resultAxes;
  for (int64_t axis = 0; axis < k; ++axis) resultAxes.push_back(axis);

  const SmallVector<AffineMap> maps{lhsMap, rhsMap, mapOf(resultAxes)};
  const Signs signs = b.signsOf(op);
  if (signs.operandFormat && b.withoutLibrary())
    return narrowProduct(b, signs, lhs.tensor, rhs.tensor, sizes, maps);
  Type element = type.getElementType();
  Value init = b.filled(sizes, ScalarBuilder(b, b.getLoc()).zero(element));
  auto contract = linalg::ContractOp::create(b, init.getType(), ValueRange{lhs.tensor, rhs.tensor},
                                             ValueRange{init}, b.getAffineMapArrayAttr(maps));
  if (isa_and_nonnull<BFloat16Type>(signs.operandFormat))
    contract->setAttr(kBf16Product, b.getUnitAttr());
  b.setSizes(contract.getResult(0), sizes);
  return contract.getResult(0);
}

} // namespace mlir::weft
