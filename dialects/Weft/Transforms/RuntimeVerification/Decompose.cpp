// Ops of linalg and tensor that stand for several others, as these.
#include "Weft/Transforms/RuntimeVerification/Conditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

namespace {

/// A loop over the elements of a tensor of that type, which `element` computes from their indices.
Value generate(Conditions &b, RankedTensorType type, ValueRange dynamicSizes,
               function_ref<Value(Conditions &, ValueRange)> element) {
  const int64_t rank = type.getRank();
  Value empty = tensor::EmptyOp::create(b, type, dynamicSizes);
  SmallVector<utils::IteratorType> iterators(rank, utils::IteratorType::parallel);
  auto loop = linalg::GenericOp::create(b, TypeRange{type}, ValueRange(), empty,
                                        b.getMultiDimIdentityMap(rank), iterators);
  OpBuilder::InsertionGuard guard(b);
  Block *block = b.createBlock(&loop.getRegion());
  block->addArgument(type.getElementType(), b.getLoc());
  SmallVector<Value> indices;
  for (int64_t axis = 0; axis < rank; ++axis) indices.push_back(linalg::IndexOp::create(b, axis));
  linalg::YieldOp::create(b, element(b, indices));
  return loop.getResult(0);
}

LogicalResult decomposeGather(tensor::GatherOp op, RewriterBase &rewriter) {
  Conditions b(op);
  RankedTensorType type = op.getResultType(), from = op.getSourceType();
  const int64_t batch = op.getIndicesType().getRank() - 1;
  ArrayRef<int64_t> gathered = op.getGatherDims();
  const bool keepsAxes = type.getRank() == batch + from.getRank();
  // Of each axis of the result, the tensor and the axis that it comes from.
  SmallVector<std::pair<Value, int64_t>> origins;
  SmallVector<int64_t> axisOf(from.getRank(), -1);
  for (int64_t axis = 0; axis < batch; ++axis) origins.push_back({op.getIndices(), axis});
  for (int64_t axis = 0; axis < from.getRank(); ++axis) {
    const bool isGathered = llvm::is_contained(gathered, axis);
    if (!isGathered) axisOf[axis] = static_cast<int64_t>(origins.size());
    if (!isGathered || keepsAxes) origins.push_back({op.getSource(), axis});
  }
  SmallVector<Value> sizes;
  for (auto [axis, origin] : llvm::enumerate(origins))
    if (type.isDynamicDim(axis)) sizes.push_back(b.toValue(sizeOf(origin.first, origin.second)));
  Value result = generate(b, type, sizes, [&](Conditions &in, ValueRange at) -> Value {
    SmallVector<Value> from;
    for (int64_t axis : axisOf) from.push_back(axis < 0 ? Value() : at[axis]);
    for (auto [number, axis] : llvm::enumerate(gathered)) {
      SmallVector<Value> coordinates(at.take_front(batch));
      coordinates.push_back(in.index(static_cast<int64_t>(number)));
      Value index = tensor::ExtractOp::create(in, op.getIndices(), coordinates);
      from[axis] = index.getType().isIndex()
                       ? index
                       : arith::IndexCastOp::create(in, in.getIndexType(), index).getResult();
    }
    return tensor::ExtractOp::create(in, op.getSource(), from);
  });
  rewriter.replaceOp(op, result);
  return success();
}

LogicalResult decomposeGenerate(tensor::GenerateOp op, RewriterBase &rewriter) {
  Block &body = op.getBody().front();
  const bool isChecked = llvm::any_of(body.without_terminator(), [](Operation &inner) {
    return needsCheck(&inner) || inner.getNumRegions() != 0 ||
           isa_and_nonnull<tensor::TensorDialect>(inner.getDialect());
  });
  if (!isChecked) return success();
  Conditions b(op);
  auto type = cast<RankedTensorType>(op.getType());
  Value result = generate(b, type, op.getDynamicExtents(), [&](Conditions &in, ValueRange at) {
    Value element = cast<tensor::YieldOp>(body.getTerminator()).getValue();
    auto index = llvm::find(body.getArguments(), element);
    rewriter.eraseOp(body.getTerminator());
    rewriter.inlineBlockBefore(&body, in.getInsertionBlock(), in.getInsertionPoint(), at);
    return index == body.getArguments().end() ? element : at[index->getArgNumber()];
  });
  rewriter.replaceOp(op, result);
  return success();
}

} // namespace

bool isDecomposed(Operation *op) {
  return isa<tensor::GatherOp, tensor::GenerateOp, linalg::PackOp, linalg::UnPackOp,
             linalg::AggregatedOpInterface>(op);
}

LogicalResult decompose(Operation *op, RewriterBase &rewriter) {
  rewriter.setInsertionPoint(op);
  if (auto gather = dyn_cast<tensor::GatherOp>(op)) return decomposeGather(gather, rewriter);
  if (auto generated = dyn_cast<tensor::GenerateOp>(op))
    return decomposeGenerate(generated, rewriter);
  if (auto pack = dyn_cast<linalg::PackOp>(op))
    return succeeded(linalg::lowerPack(rewriter, pack)) ? success()
                                                        : op->emitOpError("has no form in loops");
  if (auto unpack = dyn_cast<linalg::UnPackOp>(op))
    return succeeded(linalg::lowerUnPack(rewriter, unpack))
               ? success()
               : op->emitOpError("has no form in loops");
  auto several = cast<linalg::AggregatedOpInterface>(op);
  FailureOr<SmallVector<Value>> results = several.decomposeOperation(rewriter);
  if (failed(results)) return op->emitOpError("has no form in loops");
  rewriter.replaceOp(op, *results);
  return success();
}

void expandInLoops(tensor::ExpandShapeOp op, RewriterBase &rewriter) {
  RankedTensorType type = op.getResultType();
  const auto groups = op.getReassociationIndices();
  if (llvm::all_of(groups, [&](ArrayRef<int64_t> group) {
        return llvm::count_if(group, [&](int64_t axis) { return type.isDynamicDim(axis); }) <= 1;
      }))
    return;
  Conditions b(op);
  Value result =
      generate(b, type, op.getOutputShape(), [&](Conditions &in, ValueRange at) -> Value {
        SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
        SmallVector<Value> from;
        for (const auto &group : groups) {
          Value index;
          for (int64_t axis : group) {
            Value size = getValueOrCreateConstantIndexOp(in, in.getLoc(), sizes[axis]);
            index = index ? in.createOrFold<arith::AddIOp>(
                                in.createOrFold<arith::MulIOp>(index, size), at[axis])
                          : at[axis];
          }
          from.push_back(index);
        }
        return tensor::ExtractOp::create(in, op.getSrc(), from);
      });
  rewriter.replaceOp(op, result);
}

} // namespace mlir::weft
