// The pass weft-split-writers: keeps bufferization from comparing every write of a long chain with
// all.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::weft {

#define GEN_PASS_DEF_SPLITWRITERSPASS
#include "Weft/Transforms/Passes.h.inc"

/// The result that is what `use` holds with something written to it; null if the op does otherwise.
static Value writtenTo(OpOperand &use) {
  Operation *op = use.getOwner();
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return &use == &insert.getDestMutable() ? insert.getResult() : Value();
  if (auto insert = dyn_cast<tensor::InsertOp>(op))
    return &use == &insert.getDestMutable() ? insert.getResult() : Value();
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return use.getOperandNumber() >= loop.getNumControlOperands() ? loop.getTiedLoopResult(&use)
                                                                  : Value();
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  return loops && loops.isDpsInit(&use)
             ? loops->getResult(loops.getTiedOpResult(&use).getResultNumber())
             : Value();
}

/// Whether `value` shares memory with no other tensor of its function.
static bool isOwn(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    return isa<func::FuncOp>(parent) || isa<scf::ForOp>(parent);
  }
  return isa<tensor::EmptyOp, arith::ConstantOp>(value.getDefiningOp());
}

/// Whether `value` is new memory of the region.
static bool isNewIn(Region &region, Value value) {
  while (auto result = dyn_cast<OpResult>(value)) {
    Operation *op = result.getOwner();
    if (op->getParentRegion() != &region) return false;
    if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) value = insert.getDest();
    else if (auto loops = dyn_cast<linalg::LinalgOp>(op))
      value = loops.getDpsInitOperand(result.getResultNumber())->get();
    else return isa<tensor::EmptyOp>(op);
  }
  return false;
}

/// The result of an op that gives the tensor of `use` another type, or of a branch that keeps it or
/// takes new memory, as an array does that grows; null if the op does otherwise.
static Value handedOn(OpOperand &use) {
  Operation *op = use.getOwner();
  if (isa<tensor::CastOp, WidenOp>(op)) return op->getResult(0);
  auto branch = isa<scf::YieldOp>(op) ? dyn_cast<scf::IfOp>(op->getParentOp()) : nullptr;
  if (!branch || branch.getElseRegion().empty()) return {};
  const unsigned number = use.getOperandNumber();
  for (Region *region : branch.getRegions()) {
    Value yielded = region->front().getTerminator()->getOperand(number);
    if (yielded != use.get() && !isNewIn(*region, yielded)) return {};
  }
  return branch.getResult(number);
}

namespace {

/// One step of a chain: `use` of the tensor so far, by an op of the block or inside of it, which
/// becomes `value`.
struct Link {
  OpOperand *use;
  Operation *op;
  Value value;
  bool writes;
};

/// Ops of one block that write to one tensor after the other.
struct Chain {
  Value root;
  SmallVector<Link> links;

  size_t writes() const {
    return llvm::count_if(links, [](const Link &link) { return link.writes; });
  }
};

/// Calls `look` with every op of the block that only reads the elements behind `use`, directly or
/// by a view; false if what is there may be written to or go on under another name.
bool forReaders(OpOperand &use, Block *block, llvm::function_ref<void(Operation *)> look) {
  Operation *op = use.getOwner();
  Operation *top = block->findAncestorOpInBlock(*op);
  if (!top) return false;
  look(top);
  if (isa<tensor::DimOp, tensor::ExtractOp>(op)) return true;
  if (isa<tensor::ExtractSliceOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp, tensor::CastOp>(
          op))
    return llvm::all_of(op->getResult(0).getUses(),
                        [&](OpOperand &inner) { return forReaders(inner, block, look); });
  // Of a copy the source may be computed where it goes.
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  return loops && !isa<linalg::CopyOp>(op) && loops.isDpsInput(&use);
}

/// Whether `use` takes a slice that one op changes and `write` then puts back.
bool isUpdateOf(OpOperand &use, Operation *write) {
  auto slice = dyn_cast<tensor::ExtractSliceOp>(use.getOwner());
  if (!slice || slice->getBlock() != write->getBlock() || slice->use_empty()) return false;
  auto loops = dyn_cast<linalg::LinalgOp>(*slice->getUsers().begin());
  if (!loops) return false;
  return llvm::all_of(slice.getResult().getUses(), [&](OpOperand &changed) {
    if (changed.getOwner() != loops) return false;
    if (!loops.isDpsInit(&changed)) return true;
    OpResult result = loops.getTiedOpResult(&changed);
    return result.hasOneUse() && *result.getUsers().begin() == write;
  });
}

struct SplitWriters : impl::SplitWritersPassBase<SplitWriters> {
  using SplitWritersPassBase::SplitWritersPassBase;

  void runOnOperation() override {
    if (getOperation().isExternal()) return;
    getOperation().walk([&](Block *block) {
      SmallVector<Chain> chains;
      auto begin = [&](Value value) {
        if (!isa<RankedTensorType>(value.getType()) || !isOwn(value)) return;
        Chain chain = chainOf(value, block);
        if (chain.writes() > 2 * maxWriters) chains.push_back(std::move(chain));
      };
      for (BlockArgument argument : block->getArguments()) begin(argument);
      for (Operation &op : *block)
        for (Value result : op.getResults()) begin(result);
      for (const Chain &chain : chains)
        if (isAlone(chain, block)) split(chain, block);
    });
  }

  /// The chain that begins with the first op that writes to `root` or hands it on.
  static Chain chainOf(Value root, Block *block) {
    Chain chain{root, {}};
    for (Value value = root;;) {
      Link next{nullptr, nullptr, {}, false};
      for (OpOperand &use : value.getUses()) {
        Value written = writtenTo(use), value = written ? written : handedOn(use);
        if (!value || value.getParentBlock() != block) continue;
        Operation *op = value.getDefiningOp();
        if (next.op == op) continue;                         // both ways of a branch
        if (next.op && chain.links.size() > 0) return chain; // it goes on in two ways
        if (!next.op || op->isBeforeInBlock(next.op)) next = {&use, op, value, !!written};
      }
      if (!next.op) return chain;
      chain.links.push_back(next);
      value = next.value;
    }
  }

  /// Whether nothing but the chain writes to its memory before the last look at it.
  static bool isAlone(const Chain &chain, Block *block) {
    Operation *last = chain.links.back().op;
    for (const Link &link : chain.links)
      for (Operation *user : link.value.getUsers()) {
        Operation *top = block->findAncestorOpInBlock(*user);
        if (!top) return false;
        if (last->isBeforeInBlock(top)) last = top;
      }
    Operation *first = chain.links.front().op;
    return llvm::all_of(chain.root.getUses(), [&](OpOperand &use) {
      Operation *top = block->findAncestorOpInBlock(*use.getOwner());
      return top && (top == first || isUpdateOf(use, first) || top == last ||
                     last->isBeforeInBlock(top) || forReaders(use, block, [](Operation *) {}));
    });
  }

  /// Whether all look at `value` before `before` does, but uses of the next link: `taken`, where it
  /// writes, else what its op has inside.
  static bool isDoneWith(Value value, const Link &next, ArrayRef<OpOperand *> taken,
                         Operation *before, Block *block) {
    bool inTime = true;
    auto look = [&](Operation *reader) { inTime &= reader->isBeforeInBlock(before); };
    return llvm::all_of(value.getUses(), [&](OpOperand &use) {
      if (next.writes ? llvm::is_contained(taken, &use)
                      : block->findAncestorOpInBlock(*use.getOwner()) == next.op)
        return true;
      return forReaders(use, block, look) && inTime;
    });
  }

  void split(const Chain &chain, Block *block) {
    OpBuilder b(&getContext());
    unsigned since = 0;
    for (size_t i = 1; i < chain.links.size(); ++i) {
      if (chain.links[i - 1].writes) ++since;
      const Link &next = chain.links[i];
      if (since < maxWriters || !next.writes) continue;
      // What the next write takes with it.
      Value value = chain.links[i - 1].value;
      SmallVector<OpOperand *> taken;
      Operation *before = next.op;
      for (OpOperand &use : value.getUses()) {
        if (&use != next.use && !isUpdateOf(use, next.op)) continue;
        taken.push_back(&use);
        if (use.getOwner()->isBeforeInBlock(before)) before = use.getOwner();
      }
      // Who looks at what the last write left, by whatever name.
      bool splits = true;
      for (size_t of = i; splits && of > 0; --of) {
        const Link &left = chain.links[of - 1];
        splits = isDoneWith(left.value, chain.links[of], taken, before, block);
        if (left.writes) break;
      }
      if (!splits) continue;
      auto type = cast<RankedTensorType>(value.getType());
      b.setInsertionPoint(before);
      auto buffer = bufferization::ToBufferOp::create(
          b, next.op->getLoc(), MemRefType::get(type.getShape(), type.getElementType()), value);
      Value own = bufferization::ToTensorOp::create(b, next.op->getLoc(), type, buffer,
                                                    /*restrict=*/true, /*writable=*/true);
      for (OpOperand *use : taken) use->set(own);
      since = 0;
    }
  }
};

} // namespace

} // namespace mlir::weft
