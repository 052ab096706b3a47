// Chooses what to keep by a minimum cut, and computes the rest again.
#include "Weft/AD/Recompute.h"

#include "Weft/AD/MinCut.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace mlir::weft {

namespace {

/// Whether an op is cheaper to run again than its result is to keep.
bool isCheap(Operation *op) {
  if (op->getNumRegions() != 0 || op->getNumResults() != 1 || !isMemoryEffectFree(op)) return false;
  return op->hasTrait<CheapToRerun>() ||
         isa<tensor::CastOp, tensor::FromElementsOp, tensor::ExtractOp, tensor::DimOp>(op) ||
         isa_and_nonnull<arith::ArithDialect>(op->getDialect());
}

/// Why the op of a value is not run again, for people.
std::string whyNotAgain(Value value) {
  Operation *source = value.getDefiningOp();
  if (!source)
    return isa<LoopLikeOpInterface>(value.getParentRegion()->getParentOp())
               ? "an iteration begins with it"
               : "it comes from outside";
  if (source->getNumRegions() != 0) return "what a loop or a branch gives is not computed again";
  if (!isMemoryEffectFree(source)) return "effects happen once";
  return source->getName().stripDialect().str() + " is not computed again";
}

/// What it costs to keep a value: its bytes, where a size is unknown of many, and something for
/// each value, so that few are better than many.
int64_t weightOf(Value value) {
  constexpr int64_t each = 16, many = 1024;
  Type type = value.getType();
  if (type.isIndex() || dtypeOf(type)) return each + elementBytes(type);
  if (!isWeftTensor(type)) return MinCut::never;
  auto tensor = cast<RankedTensorType>(type);
  int64_t bytes = elementBytes(tensor.getElementType());
  for (int64_t size : tensor.getShape()) {
    if (llvm::MulOverflow(bytes, ShapedType::isDynamic(size) ? many : size, bytes) ||
        bytes > MinCut::never / 1024)
      return MinCut::never / 1024;
  }
  return each + bytes;
}

/// Calls `visit` for the ops of an iteration, with those in their regions.
void walkIteration(const ReverseIteration &iteration, llvm::function_ref<void(Operation *)> visit) {
  auto at =
      iteration.before ? std::next(iteration.before->getIterator()) : iteration.block->begin();
  auto end = iteration.behind ? iteration.behind->getIterator() : iteration.block->end();
  for (; at != end; ++at) at->walk(visit);
}

} // namespace

/// Whether one op in the regions, which is in none of theirs, comes before another in the program.
bool Recompute::comesBefore(Operation *a, Operation *b) const {
  if (a->getBlock() == b->getBlock()) return a->isBeforeInBlock(b);
  return a->getParentRegion()->getRegionNumber() < b->getParentRegion()->getRegionNumber();
}

/// What the iterations use, and what it is computed from as far as this is cheap.
llvm::SetVector<Value> Recompute::closure(ArrayRef<ReverseIteration> iterations) const {
  llvm::SetVector<Value> needed;
  auto need = [&](Value value) {
    value = canonical(value);
    if (isForeign(value)) needed.insert(value);
  };
  for (const ReverseIteration &iteration : iterations)
    walkIteration(iteration, [&](Operation *inner) { llvm::for_each(inner->getOperands(), need); });
  // NOLINTNEXTLINE(modernize-loop-convert): the set grows while it is walked
  for (size_t i = 0; i < needed.size(); ++i)
    if (Operation *source = needed[i].getDefiningOp(); source && isCheap(source))
      llvm::for_each(source->getOperands(), need);
  return needed;
}

/// Moves the op of a value in front of the loop, with what it is computed from, if it gives the
/// same in all iterations.
void Recompute::hoistInvariant(Value value) {
  if (!isInside(value, op)) return; // moved already, with what is computed from it
  llvm::SetVector<Operation *> moving;
  if (Operation *source = value.getDefiningOp()) moving.insert(source);
  for (size_t i = 0; i < moving.size(); ++i) {
    if (moving[i]->getNumRegions() != 0 || !isPure(moving[i])) return;
    for (Value operand : moving[i]->getOperands()) {
      if (!isInside(operand, op)) continue;
      if (!operand.getDefiningOp()) return;
      moving.insert(operand.getDefiningOp());
    }
  }
  SmallVector<Operation *> ordered = moving.takeVector();
  llvm::sort(ordered, [&](Operation *a, Operation *b) { return comesBefore(a, b); });
  for (Operation *moved : ordered) moved->moveBefore(op);
}

LogicalResult Recompute::choose(ArrayRef<ReverseIteration> iterations) {
  if (isa<LoopLikeOpInterface>(op))
    for (Value value : closure(iterations))
      if (Operation *source = value.getDefiningOp(); source && !isCheap(source))
        hoistInvariant(value);

  MinCut graph;
  llvm::MapVector<Value, unsigned> nodes;
  // What is held already costs no more than the load.
  for (Value value : closure(iterations))
    nodes[value] = graph.addNode(held.contains(value) ? 1 : weightOf(value));
  for (auto [value, node] : nodes) {
    Operation *source = value.getDefiningOp();
    if (!source || !isCheap(source)) {
      graph.addSource(node);
      continue;
    }
    for (Value operand : source->getOperands())
      if (auto *from = nodes.find(canonical(operand)); from != nodes.end())
        graph.addEdge(from->second, node);
  }
  llvm::SetVector<Value> used;
  for (const ReverseIteration &iteration : iterations)
    walkIteration(iteration, [&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (auto *node = nodes.find(canonical(operand));
            node != nodes.end() && used.insert(node->first))
          graph.addSink(node->second);
    });
  std::optional<llvm::SmallVector<unsigned>> cut = graph.solve();
  if (!cut)
    return context.refuse(op) << "has values that its derivative needs and that cannot be kept: "
                                 "only tensors of "
                              << dtypesInWords(" and ") << " and their elements can, and indices";
  for (unsigned node : *cut) keep.push_back(nodes.begin()[node].first);
  llvm::sort(keep, [&](Value a, Value b) {
    auto argumentA = dyn_cast<BlockArgument>(a), argumentB = dyn_cast<BlockArgument>(b);
    if (argumentA && argumentB && argumentA.getOwner() == argumentB.getOwner())
      return argumentA.getArgNumber() < argumentB.getArgNumber();
    if (a.getParentRegion() != b.getParentRegion())
      return a.getParentRegion()->getRegionNumber() < b.getParentRegion()->getRegionNumber();
    if (argumentA || argumentB) return static_cast<bool>(argumentA) && !argumentB;
    if (a.getDefiningOp() != b.getDefiningOp())
      return a.getDefiningOp()->isBeforeInBlock(b.getDefiningOp());
    return cast<OpResult>(a).getResultNumber() < cast<OpResult>(b).getResultNumber();
  });
  return success();
}

std::string Recompute::reasonFor(Value value) const {
  Operation *source = value.getDefiningOp();
  if (!source || !isCheap(source)) return whyNotAgain(value);
  // What would have to be kept in its place.
  llvm::SetVector<Value> behind, ends;
  behind.insert(value);
  for (size_t i = 0; i < behind.size(); ++i) {
    Operation *from = behind[i].getDefiningOp();
    if (behind[i] != value && (!from || !isCheap(from))) {
      ends.insert(behind[i]);
      continue;
    }
    for (Value operand : from->getOperands())
      if (Value other = canonical(operand); isForeign(other) && !llvm::is_contained(keep, other))
        behind.insert(other);
  }
  int64_t bytes = 0;
  std::string names;
  for (auto [i, end] : llvm::enumerate(ends)) {
    bytes += std::min(weightOf(end), MinCut::never / 1024);
    if (i < 2) names += (i == 0 ? "" : ", ") + nameForReport(end);
    else if (i == 2) names += ", ...";
  }
  return "computing it again would need " + names + ", which " +
         (bytes > weightOf(value) ? "is larger" : "is as large");
}

void Recompute::restore(const ReverseIteration &iteration, Load load) {
  llvm::SetVector<Value> needed;
  SmallVector<OpOperand *> uses;
  auto need = [&](Value value) {
    value = canonical(value);
    if (isInside(value, op)) needed.insert(value);
  };
  walkIteration(iteration, [&](Operation *inner) {
    for (OpOperand &operand : inner->getOpOperands()) {
      if (!isInside(operand.get(), op)) continue;
      uses.push_back(&operand);
      need(operand.get());
    }
  });
  OpBuilder b(iteration.block, iteration.before ? std::next(iteration.before->getIterator())
                                                : iteration.block->begin());
  IRMapping mapping;
  SmallVector<Operation *> again;
  // NOLINTNEXTLINE(modernize-loop-convert): the set grows while it is walked
  for (size_t i = 0; i < needed.size(); ++i) {
    Value value = needed[i];
    if (value == free || llvm::is_contained(keep, value)) continue;
    again.push_back(value.getDefiningOp());
    llvm::for_each(again.back()->getOperands(), need);
  }
  for (Value value : llvm::concat<const Value>(ArrayRef<Value>(free), ArrayRef<Value>(keep)))
    if (value && needed.contains(value)) mapping.map(value, load(b, value, iteration));
  llvm::sort(again, [&](Operation *x, Operation *y) { return comesBefore(x, y); });
  for (Operation *source : again) {
    for (Value operand : source->getOperands())
      if (Value value = canonical(operand); value != operand)
        mapping.map(operand, mapping.lookupOrDefault(value));
    b.clone(*source, mapping);
  }
  for (OpOperand *use : uses) use->set(mapping.lookupOrDefault(canonical(use->get())));
}

} // namespace mlir::weft
