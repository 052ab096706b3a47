// Merges loops over elements, and makes the operands of one as few as they can be.
#include "Weft/Transforms/MergeLoops.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

using linalg::GenericOp;

//===----------------------------------------------------------------------===//
// Reshapes by unit axes
//===----------------------------------------------------------------------===//

bool foldUnitReshape(RewriterBase &rewriter, GenericOp op, OpOperand &operand) {
  Operation *reshape = operand.get().getDefiningOp();
  SmallVector<ReassociationIndices> groups;
  Value source;
  bool expands = false;
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(reshape)) {
    groups = expand.getReassociationIndices();
    source = expand.getSrc();
    expands = true;
  } else if (auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(reshape)) {
    groups = collapse.getReassociationIndices();
    source = collapse.getSrc();
  } else {
    return false;
  }
  auto largerType = cast<RankedTensorType>(expands ? operand.get().getType() : source.getType());
  // The one axis of each group that may be longer than 1.
  SmallVector<int64_t> longAxes;
  for (const ReassociationIndices &group : groups) {
    int64_t longAxis = -1;
    for (int64_t axis : group) {
      if (largerType.getDimSize(axis) == 1) continue;
      if (longAxis >= 0) return false;
      longAxis = axis;
    }
    longAxes.push_back(longAxis < 0 && !group.empty() ? group.front() : longAxis);
  }
  AffineMap map = op.getMatchingIndexingMap(&operand);
  SmallVector<AffineExpr> exprs;
  if (expands) {
    for (int64_t axis : longAxes) exprs.push_back(map.getResult(axis));
  } else {
    exprs.assign(largerType.getRank(), rewriter.getAffineConstantExpr(0));
    for (auto [number, axis] : llvm::enumerate(longAxes)) exprs[axis] = map.getResult(number);
  }
  AffineMap folded = AffineMap::get(map.getNumDims(), 0, exprs, rewriter.getContext());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps[operand.getOperandNumber()] = folded;
  // The sizes of all loops must still follow from the operands.
  if (!inversePermutation(concatAffineMaps(maps, rewriter.getContext()))) return false;
  rewriter.modifyOpInPlace(op, [&] {
    operand.set(source);
    op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  return true;
}

//===----------------------------------------------------------------------===//
// Inputs that are no memory, or the same memory
//===----------------------------------------------------------------------===//

/// The scalar that every element of a tensor is, made before `op` if need be; null if there is
/// none.
static Value splatOf(RewriterBase &rewriter, GenericOp op, Value tensor) {
  Type element = getElementTypeOrSelf(tensor.getType());
  if (auto fill = tensor.getDefiningOp<linalg::FillOp>()) {
    Value scalar = fill.getInputs().front();
    return scalar.getType() == element ? scalar : Value();
  }
  DenseElementsAttr elements;
  if (!matchPattern(tensor, m_Constant(&elements)) || !elements.isSplat()) return {};
  auto attribute = dyn_cast<TypedAttr>(elements.getSplatValue<Attribute>());
  if (!attribute || attribute.getType() != element) return {};
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  return arith::ConstantOp::create(rewriter, tensor.getLoc(), attribute);
}

/// Whether the sizes of all loops follow from the sizes of the operands with these maps.
static bool knowsSizes(ArrayRef<AffineMap> maps, MLIRContext *context) {
  return static_cast<bool>(inversePermutation(concatAffineMaps(maps, context)));
}

void foldSplatInputs(RewriterBase &rewriter, GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  bool changed = false;
  rewriter.modifyOpInPlace(op, [&] {
    for (unsigned i = op.getNumDpsInputs(); i-- > 0;) {
      SmallVector<AffineMap> others = maps;
      others.erase(others.begin() + i);
      if (!knowsSizes(others, op.getContext())) continue;
      Value scalar = splatOf(rewriter, op, op.getInputs()[i]);
      if (!scalar) continue;
      rewriter.replaceAllUsesWith(body->getArgument(i), scalar);
      body->eraseArgument(i);
      op.getInputsMutable().erase(i);
      maps = std::move(others);
      changed = true;
    }
    if (changed) op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

void dropEqualInputs(RewriterBase &rewriter, GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  Block *body = op.getBody();
  bool changed = false;
  rewriter.modifyOpInPlace(op, [&] {
    for (unsigned i = 0; i < op.getNumDpsInputs(); ++i) {
      for (unsigned j = op.getNumDpsInputs(); --j > i;) {
        if (op.getInputs()[i] != op.getInputs()[j] || maps[i] != maps[j]) continue;
        rewriter.replaceAllUsesWith(body->getArgument(j), body->getArgument(i));
        body->eraseArgument(j);
        op.getInputsMutable().erase(j);
        maps.erase(maps.begin() + j);
        changed = true;
      }
    }
    if (changed) op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
}

//===----------------------------------------------------------------------===//
// Merging two loops
//===----------------------------------------------------------------------===//

/// From the consumer's loops to the producer's, whose result the operand reads.
static AffineMap toProducersLoops(OpOperand &operand) {
  auto produced = cast<OpResult>(operand.get());
  auto producer = cast<GenericOp>(produced.getOwner());
  auto consumer = cast<GenericOp>(operand.getOwner());
  return inversePermutation(producer.getIndexingMapMatchingResult(produced))
      .compose(consumer.getMatchingIndexingMap(&operand));
}

/// Whether `other`, an operand of the same loop, reads the same producer at the same place.
static bool readsAlike(OpOperand &operand, OpOperand &other) {
  return other.get().getDefiningOp() == operand.get().getDefiningOp() &&
         linalg::areElementwiseOpsFusable(&other) &&
         toProducersLoops(other) == toProducersLoops(operand);
}

bool canMergeMoving(OpOperand &operand, bool asksIndex) {
  // Places in the producer's loops must be those in the merged one's.
  if (asksIndex && !toProducersLoops(operand).isIdentity()) return false;
  Operation *producer = operand.get().getDefiningOp();
  return llvm::all_of(operand.getOwner()->getOpOperands(), [&](OpOperand &other) {
    return other.get().getDefiningOp() != producer || readsAlike(operand, other);
  });
}

/// The body of the loop that replaces both: the producer's, followed by the consumer's.
static void joinBodies(RewriterBase &rewriter, OpOperand &operand,
                       const llvm::SmallDenseSet<int> &preserved) {
  auto producer = cast<GenericOp>(operand.get().getDefiningOp());
  auto consumer = cast<GenericOp>(operand.getOwner());
  Block *body = producer.getBody(), *rest = consumer.getBody();
  Operation *yield = body->getTerminator();
  unsigned next = 0;
  auto adopt = [&](BlockArgument argument) {
    argument.replaceAllUsesWith(
        body->insertArgument(next++, argument.getType(), argument.getLoc()));
  };
  for (OpOperand *input : consumer.getDpsInputOperands()) {
    BlockArgument argument = rest->getArgument(input->getOperandNumber());
    if (input == &operand) next += producer.getNumDpsInputs();
    if (input->get().getDefiningOp() == producer)
      argument.replaceAllUsesWith(
          yield->getOperand(cast<OpResult>(input->get()).getResultNumber()));
    else adopt(argument);
  }
  for (int i = 0, end = producer.getNumDpsInits(); i < end; ++i) {
    if (preserved.contains(i)) ++next;
    else body->eraseArgument(next);
  }
  for (BlockArgument argument : rest->getArguments().drop_front(consumer.getNumDpsInputs()))
    adopt(argument);

  SmallVector<Value> yielded;
  for (auto [i, value] : llvm::enumerate(yield->getOperands()))
    if (preserved.contains(i)) yielded.push_back(value);
  llvm::append_range(yielded, rest->getTerminator()->getOperands());
  rewriter.eraseOp(yield);
  body->getOperations().splice(body->end(), rest->getOperations(), rest->begin(),
                               std::prev(rest->end()));
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(body);
  linalg::YieldOp::create(rewriter, consumer.getLoc(), yielded);
}

GenericOp mergeMoving(RewriterBase &rewriter, OpOperand &operand) {
  auto producer = cast<GenericOp>(operand.get().getDefiningOp());
  auto consumer = cast<GenericOp>(operand.getOwner());
  const llvm::SmallDenseSet<int> preserved =
      linalg::getPreservedProducerResults(producer, consumer, &operand);
  const AffineMap toProducers = toProducersLoops(operand);

  SmallVector<Value> inputs, outputs;
  SmallVector<AffineMap> maps;
  auto takeProducers = [&](OpOperand &own, SmallVectorImpl<Value> &values) {
    values.push_back(own.get());
    maps.push_back(producer.getMatchingIndexingMap(&own).compose(toProducers));
  };
  auto takeConsumers = [&](OpOperand &own, SmallVectorImpl<Value> &values) {
    values.push_back(own.get());
    maps.push_back(consumer.getMatchingIndexingMap(&own));
  };
  for (OpOperand *input : consumer.getDpsInputOperands()) {
    if (input == &operand)
      for (OpOperand *own : producer.getDpsInputOperands()) takeProducers(*own, inputs);
    else if (input->get().getDefiningOp() != producer) takeConsumers(*input, inputs);
  }
  for (auto [i, init] : llvm::enumerate(producer.getDpsInitsMutable()))
    if (preserved.contains(i)) takeProducers(init, outputs);
  for (OpOperand &init : consumer.getDpsInitsMutable()) takeConsumers(init, outputs);
  if (!knowsSizes(maps, rewriter.getContext())) return {};

  auto merged = GenericOp::create(rewriter, consumer.getLoc(), ValueRange(outputs).getTypes(),
                                  inputs, outputs, rewriter.getAffineMapArrayAttr(maps),
                                  consumer.getIteratorTypes(), /*doc=*/nullptr,
                                  /*library_call=*/nullptr);
  joinBodies(rewriter, operand, preserved);
  merged.getRegion().takeBody(producer.getRegion());
  unsigned next = 0;
  for (auto [i, result] : llvm::enumerate(producer->getResults()))
    if (preserved.contains(i))
      rewriter.replaceAllUsesExcept(result, merged.getResult(next++), consumer);
  for (Value result : consumer->getResults())
    rewriter.replaceAllUsesWith(result, merged.getResult(next++));
  return merged;
}

} // namespace mlir::weft
