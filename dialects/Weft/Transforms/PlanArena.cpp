// The pass weft-plan-arena: places for temporaries of known size, frees for the others.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_PLANARENAPASS
#include "Weft/Transforms/Passes.h.inc"

/// What a cache line and the widest vector want.
static constexpr int64_t kAlignment = 64;

namespace {

/// One temporary: `first` and `last` are the numbers, in program order, of the operations between
/// which it lives.
struct Temporary {
  memref::AllocOp alloc;
  int64_t bytes = 0; ///< -1 if unknown
  unsigned first = 0, last = 0;
  Operation *lastUse = nullptr; ///< in the allocation's block; null if it is used above that
  int64_t offset = 0;

  bool overlaps(const Temporary &other) const { return first <= other.last && other.first <= last; }
};

/// When temporaries live. Loops make this more than an interval between operations: a use in a loop
/// that does not contain the allocation lasts until the loop ends.
class Liveness {
public:
  explicit Liveness(func::FuncOp function) : flow_(function) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) { begin_[op] = count_++; });
    function.walk<WalkOrder::PostOrder>([&](Operation *op) {
      unsigned end = begin_[op];
      for (Region &region : op->getRegions())
        for (Block &block : region)
          if (!block.empty()) end = std::max(end, end_[&block.back()]);
      end_[op] = end;
    });
  }

  /// The temporary of `alloc`, or nothing if its memory outlives the iteration that allocates it:
  /// then the next iteration must have other memory.
  std::optional<Temporary> of(memref::AllocOp alloc) const {
    Temporary result;
    result.alloc = alloc;
    result.last = result.first = begin_.lookup(alloc);
    result.lastUse = alloc;
    bool stays = true; // every alias is used below the allocation's block, none handed up
    for (Value alias : flow_.resolve(alloc.getMemref())) {
      if (outlivesIteration(alloc, alias)) return std::nullopt;
      for (Operation *user : usersOf(alias)) {
        if (isa<func::ReturnOp>(user)) return std::nullopt;
        Operation *top = alloc->getBlock()->findAncestorOpInBlock(*user);
        stays &= top && !top->hasTrait<OpTrait::IsTerminator>();
        const unsigned end = end_.lookup(outermostLoopWithout(alloc, user));
        if (end <= result.last) continue;
        result.last = end;
        result.lastUse = top;
      }
    }
    if (!stays) result.lastUse = nullptr;
    return result;
  }

  /// Whether it is known whose memory the op's buffers are. To the analysis an op that it does not
  /// know gives buffers of their own.
  bool follows(Operation *op) const {
    auto isBuffer = [](Value value) { return isa<BaseMemRefType>(value.getType()); };
    if (isa<RegionBranchOpInterface>(op) || llvm::none_of(op->getResults(), isBuffer) ||
        llvm::none_of(op->getOperands(), isBuffer))
      return true;
    return llvm::any_of(op->getOperands(), [&](Value operand) {
      auto known = flow_.find(operand);
      return known != flow_.end() && llvm::any_of(op->getResults(), [&](Value result) {
               return known->second.contains(result);
             });
    });
  }

private:
  /// Who uses a buffer, by its address as well: a call may get an address that was taken earlier,
  /// or an array that holds it.
  static SmallVector<Operation *> usersOf(Value buffer) {
    llvm::SmallSetVector<Operation *, 16> users(buffer.user_begin(), buffer.user_end());
    for (size_t i = 0; i < users.size(); ++i) {
      Operation *user = users[i];
      if (isa<memref::ExtractAlignedPointerAsIndexOp, arith::IndexCastOp, LLVM::IntToPtrOp,
              memref::CastOp>(user))
        users.insert(user->user_begin(), user->user_end());
      if (auto store = dyn_cast<memref::StoreOp>(user); store && store.getMemRef() != buffer)
        users.insert(store.getMemRef().user_begin(), store.getMemRef().user_end());
      if (Operation *call = isToldFor(user)) users.insert(call);
    }
    return users.takeVector();
  }

  /// The call that looks at what weft_rt_on_stop is told, if it throws: the next one.
  static Operation *isToldFor(Operation *user) {
    auto told = dyn_cast<func::CallOp>(user);
    if (!told || told.getCallee() != "weft_rt_on_stop") return nullptr;
    Operation *next = user->getNextNode();
    while (next && !isa<func::CallOp>(next)) next = next->getNextNode();
    return next;
  }

  /// Whether `alias` is what a loop around the allocation carries on or gives as its result.
  static bool outlivesIteration(Operation *alloc, Value alias) {
    auto argument = dyn_cast<BlockArgument>(alias);
    Operation *op = argument ? argument.getOwner()->getParentOp() : alias.getDefiningOp();
    return isa<LoopLikeOpInterface>(op) && op->isProperAncestor(alloc);
  }

  /// The outermost loop around `user` that the allocation is not in, or `user` itself.
  static Operation *outermostLoopWithout(Operation *alloc, Operation *user) {
    Operation *result = user;
    for (Operation *op = user->getParentOp(); op && !op->isProperAncestor(alloc);
         op = op->getParentOp())
      if (isa<LoopLikeOpInterface>(op)) result = op;
    return result;
  }

  BufferViewFlowAnalysis flow_;
  DenseMap<Operation *, unsigned> begin_, end_;
  unsigned count_ = 0;
};

} // namespace

/// A buffer of more bytes has no place in the plan: whoever runs the function asks for it when the
/// program comes to it, and is told that there is no such memory.
static constexpr int64_t kLargestPlanned = int64_t{1} << 56;

/// Bytes that a buffer takes: -1 if unknown, or too many for a plan.
static int64_t bytesOf(MemRefType type) {
  if (!type.hasStaticShape()) return -1;
  if (llvm::is_contained(type.getShape(), 0)) return 0;
  int64_t bytes = elementBytes(type.getElementType());
  for (int64_t size : type.getShape())
    if (llvm::MulOverflow(bytes, size, bytes) || bytes > kLargestPlanned) return -1;
  return bytes;
}

/// Gives large temporaries their places first: each the lowest that is free while it lives. Returns
/// the size of all.
static int64_t place(MutableArrayRef<Temporary> temporaries) {
  SmallVector<Temporary *> order;
  for (Temporary &temporary : temporaries) order.push_back(&temporary);
  llvm::sort(order, [](Temporary *a, Temporary *b) {
    return std::tuple(-a->bytes, a->first) < std::tuple(-b->bytes, b->first);
  });
  int64_t total = 0;
  SmallVector<Temporary *> placed; // by offset
  for (Temporary *temporary : order) {
    int64_t offset = 0;
    for (Temporary *other : placed)
      if (other->overlaps(*temporary)) {
        if (offset + temporary->bytes <= other->offset) break;
        // Places that nobody has may be one: there will be no call.
        const int64_t end = std::min(other->offset + other->bytes, int64_t{1} << 60);
        offset = std::max<int64_t>(offset, llvm::alignTo(end, kAlignment));
      }
    temporary->offset = offset;
    total = std::max(total, offset + temporary->bytes);
    placed.insert(
        llvm::upper_bound(placed, temporary,
                          [](Temporary *a, Temporary *b) { return a->offset < b->offset; }),
        temporary);
  }
  return llvm::alignTo(total, kAlignment);
}

namespace {
struct PlanArena : impl::PlanArenaPassBase<PlanArena> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal()) return;
    SmallVector<memref::AllocOp> allocs;
    function.walk([&](memref::AllocOp alloc) {
      if (!alloc->hasAttr("weft.output")) allocs.push_back(alloc);
    });
    if (allocs.empty()) return;

    Liveness liveness(function);
    WalkResult followed = function.walk([&](Operation *op) {
      if (liveness.follows(op)) return WalkResult::advance();
      op->emitOpError("gives a buffer that may be its operand's memory, which the plan of memory "
                      "does not know; it needs BufferViewFlowOpInterface");
      return WalkResult::interrupt();
    });
    if (followed.wasInterrupted()) return signalPassFailure();
    SmallVector<Temporary> known;
    OpBuilder b(&getContext());
    for (memref::AllocOp alloc : allocs) {
      std::optional<Temporary> temporary = liveness.of(alloc);
      if (!temporary || alloc->getParentOfType<scf::ParallelOp>()) continue;
      temporary->bytes = bytesOf(alloc.getType());
      if (temporary->bytes >= 0) {
        known.push_back(*temporary);
      } else if (temporary->lastUse) {
        b.setInsertionPointAfter(temporary->lastUse);
        memref::DeallocOp::create(b, alloc.getLoc(), alloc);
      }
    }
    const int64_t bytes = place(known);
    for (const Temporary &temporary : known)
      temporary.alloc->setAttr("weft.arena_offset", b.getI64IntegerAttr(temporary.offset));
    if (bytes > 0) function->setAttr("weft.arena_bytes", b.getI64IntegerAttr(bytes));
  }
};
} // namespace

} // namespace mlir::weft
