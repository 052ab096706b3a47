// The pass weft-fuse-rows: neighbouring loops over the same rows become one loop over blocks of
// them.
#include "Weft/IR/Bridge.h"
#include "Weft/IR/Buffers.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RowLoop.h"

#include "OpDefs/ReductionOrder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_FUSEROWSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// What a block of rows should fill of the cache, in bytes.
constexpr int64_t kBlockBytes = 32 << 10;
/// Rows larger than this stay in no cache from one loop to the next.
constexpr int64_t kLargestRow = 512 << 10;
/// Temporaries of a block that lie on the stack.
constexpr int64_t kStackBytes = 64 << 10;
/// Below this all of it stays in the cache anyway.
constexpr int64_t kSmallest = 128 << 10;
/// So few rows leave threads without work.
constexpr int64_t kFewestRows = 8;
/// How many ops further on the loops are looked for, and how many one loop takes up.
constexpr size_t kWindow = 128, kMostMembers = 64;

/// One buffer that an op reads or writes.
struct Use {
  Value memref;
  Value root;
  bool writes = false;
  /// Row r of the loop touches row r of the buffer and nothing else of it.
  bool byRow = false;
};

bool mayAlias(const Use &a, const Use &b) {
  return a.root == b.root || !isDistinct(a.root) || !isDistinct(b.root);
}

/// Whether two ops that do this must keep their order.
bool conflict(ArrayRef<Use> earlier, ArrayRef<Use> later) {
  return llvm::any_of(earlier, [&](const Use &a) {
    return llvm::any_of(later,
                        [&](const Use &b) { return (a.writes || b.writes) && mayAlias(a, b); });
  });
}

/// The same where both are done for one row after the other: what each row keeps to itself is no
/// obstacle.
bool conflictAcrossRows(ArrayRef<Use> earlier, ArrayRef<Use> later) {
  return llvm::any_of(earlier, [&](const Use &a) {
    return llvm::any_of(later, [&](const Use &b) {
      if ((!a.writes && !b.writes) || !mayAlias(a, b)) return false;
      return !(a.memref == b.memref && a.byRow && b.byRow);
    });
  });
}

/// A structured op with a parallel loop over the rows of all its outputs.
struct Member {
  linalg::LinalgOp op;
  unsigned rowLoop = 0;
  SmallVector<Use, 4> uses;
};

/// Whether the reduced elements are never combined in blocks, which fewer rows would change.
bool keepsOrder(linalg::LinalgOp op) {
  if (op.getNumReductionLoops() == 0) return true;
  constexpr int64_t unknown = -1;
  int64_t outer = 1, reduced = 1, inner = 1;
  auto multiply = [](int64_t &product, int64_t size) {
    product = product == unknown || ShapedType::isDynamic(size) ? unknown : product * size;
  };
  bool inside = false;
  for (auto [size, kind] : llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (size == 1) continue;
    if (kind == utils::IteratorType::reduction) {
      if (inner != 1) return true; // not neighbours
      inside = true;
      multiply(reduced, size);
    } else {
      multiply(inside ? inner : outer, size);
    }
  }
  if (outer != unknown && outer >= ::weft::kEnoughOuter) return true;
  if (reduced == unknown || inner == unknown) return false;
  // With one result it is cut if it ever is.
  return !::weft::cut_reduction(1, reduced, inner);
}

std::optional<unsigned> rowLoopOf(linalg::LinalgOp op) {
  auto kinds = op.getIteratorTypesArray();
  for (unsigned loop = 0; loop < kinds.size(); ++loop) {
    if (kinds[loop] != utils::IteratorType::parallel) continue;
    auto fits = [&](OpOperand &operand) {
      AffineMap map = op.getMatchingIndexingMap(&operand);
      const bool output = op.isDpsInit(&operand);
      if (!map.isFunctionOfDim(loop)) return !output;
      if (map.getResult(0) != getAffineDimExpr(loop, op.getContext())) return false;
      return llvm::none_of(map.getResults().drop_front(),
                           [&](AffineExpr expr) { return expr.isFunctionOfDim(loop); });
    };
    if (llvm::all_of(op->getOpOperands(), fits)) return loop;
  }
  return std::nullopt;
}

/// Bytes of one row of a buffer; nothing if they are not known.
std::optional<int64_t> rowBytes(MemRefType type) {
  int64_t count = 1;
  for (int64_t size : type.getShape().drop_front()) {
    if (ShapedType::isDynamic(size)) return std::nullopt;
    count *= size;
  }
  return count * elementBytes(type.getElementType());
}

/// What `operation` reads and writes; nothing if that is not known.
std::optional<SmallVector<Use, 4>> usesOf(Operation *operation) {
  SmallVector<Use, 4> uses;
  auto add = [&](Value memref, bool writes) {
    uses.push_back({memref, rootOf(memref), writes, false});
  };
  if (auto op = dyn_cast<linalg::LinalgOp>(operation)) {
    if (!op.hasPureBufferSemantics()) return std::nullopt;
    for (OpOperand &operand : op->getOpOperands())
      if (isa<MemRefType>(operand.get().getType())) add(operand.get(), op.isDpsInit(&operand));
    const bool known = !op.getBlock()
                            ->walk([&](Operation *inner) {
                              if (auto load = dyn_cast<memref::LoadOp>(inner))
                                add(load.getMemRef(), false);
                              else if (!isMemoryEffectFree(inner)) return WalkResult::interrupt();
                              return WalkResult::advance();
                            })
                            .wasInterrupted();
    return known ? std::optional(uses) : std::nullopt;
  }
  if (auto copy = dyn_cast<memref::CopyOp>(operation)) {
    if (!isa<MemRefType>(copy.getSource().getType()) ||
        !isa<MemRefType>(copy.getTarget().getType()))
      return std::nullopt;
    add(copy.getSource(), false);
    add(copy.getTarget(), true);
    return uses;
  }
  if (auto load = dyn_cast<memref::LoadOp>(operation)) {
    add(load.getMemRef(), false);
    return uses;
  }
  if (auto store = dyn_cast<memref::StoreOp>(operation)) {
    add(store.getMemRef(), true);
    return uses;
  }
  if (operation->hasTrait<OpTrait::IsTerminator>()) return std::nullopt;
  if (isa<memref::AllocOp>(operation)) return uses;
  if (operation->getNumRegions() == 0 && isMemoryEffectFree(operation)) return uses;
  return std::nullopt;
}

/// `operation` as a member of a loop over rows, if it can be one.
std::optional<Member> asMember(Operation *operation) {
  if (!isa<linalg::GenericOp, linalg::FillOp>(operation)) return std::nullopt;
  auto op = cast<linalg::LinalgOp>(operation);
  std::optional<SmallVector<Use, 4>> uses = usesOf(operation);
  if (!uses || !keepsOrder(op)) return std::nullopt;
  std::optional<unsigned> loop = rowLoopOf(op);
  if (!loop) return std::nullopt;
  Member member{op, *loop, std::move(*uses)};
  unsigned next = 0;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type) continue;
    Use &use = member.uses[next++];
    if (!op.getMatchingIndexingMap(&operand).isFunctionOfDim(*loop)) continue;
    std::optional<int64_t> bytes = rowBytes(type);
    if (!bytes || *bytes == 0) return std::nullopt;
    use.byRow = true;
  }
  return member;
}

/// Whether two members have rows of a buffer in common.
bool share(const Member &a, const Member &b) {
  return llvm::any_of(a.uses, [&](const Use &use) {
    return llvm::any_of(b.uses, [&](const Use &other) {
      return use.byRow && other.byRow && use.memref == other.memref;
    });
  });
}

/// Members that become one loop.
class RowProgram {
public:
  RowProgram(SmallVector<Member> members, int64_t rows)
      : members_(std::move(members)), rows_(rows) {}

  bool isWorthALoop() const;
  /// Makes the loop at `at`; the members are left to be erased, and then the temporaries returned,
  /// which nobody uses any more.
  SmallVector<memref::AllocOp> emit(Operation *at);

private:
  int64_t bytesPerRow() const;
  SmallVector<memref::AllocOp> shrinkable(int64_t block);

  SmallVector<Member> members_;
  int64_t rows_;
};

/// Loops over as many rows, and what stands between them.
class Group {
public:
  explicit Group(Member first) : rows_(rowsOf(first)) { members_.push_back(std::move(first)); }

  /// Takes `operation` up, as a member or as one to stand before or behind the loops; false where
  /// the group ends.
  bool take(Operation *operation);
  /// Which ops are gone, and which stand before the loops now and must stay there.
  struct Outcome {
    SmallVector<Operation *> replaced, moved;
  };
  /// Makes loops of members that share rows, as far as that is worth it.
  Outcome emit();
  void addMembers(llvm::DenseSet<Operation *> &ops) const {
    for (const Member &member : members_) ops.insert(member.op);
  }

private:
  /// Sizes are compared where they are known; where not, members must share a buffer.
  static int64_t rowsOf(Member &member) { return member.op.getStaticLoopRanges()[member.rowLoop]; }
  bool dependsOnBehind(Operation *operation);

  int64_t rows_;
  SmallVector<Member> members_;
  SmallVector<Operation *> before_, behind_;
  SmallVector<Use> behindUses_;
};

/// Whether an operand, or what a body uses, comes from an op that will stand behind the loop.
bool Group::dependsOnBehind(Operation *operation) {
  bool found = false;
  operation->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      found |= llvm::is_contained(behind_, operand.getDefiningOp());
  });
  return found;
}

bool Group::take(Operation *operation) {
  std::optional<SmallVector<Use, 4>> uses = usesOf(operation);
  if (!uses) return false;
  const bool free = !dependsOnBehind(operation) && !conflict(behindUses_, *uses);
  if (free && members_.size() < kMostMembers) {
    std::optional<Member> member = asMember(operation);
    if (member && rowsOf(*member) == rows_ &&
        (!ShapedType::isDynamic(rows_) ||
         llvm::any_of(members_, [&](const Member &other) { return share(other, *member); })) &&
        llvm::none_of(members_, [&](const Member &other) {
          return conflictAcrossRows(other.uses, member->uses);
        })) {
      members_.push_back(std::move(*member));
      return true;
    }
  }
  if (free &&
      llvm::none_of(members_, [&](const Member &member) { return conflict(member.uses, *uses); })) {
    before_.push_back(operation);
    return true;
  }
  behind_.push_back(operation);
  llvm::append_range(behindUses_, *uses);
  return true;
}

int64_t RowProgram::bytesPerRow() const {
  llvm::SmallDenseSet<Value> seen;
  int64_t bytes = 0;
  for (const Member &member : members_)
    for (const Use &use : member.uses)
      if (use.byRow && seen.insert(use.memref).second)
        bytes += *rowBytes(cast<MemRefType>(use.memref.getType()));
  return bytes;
}

bool RowProgram::isWorthALoop() const {
  const auto loops = llvm::count_if(
      members_, [](const Member &member) { return isa<linalg::GenericOp>(member.op); });
  if (loops < 2) return false;
  const int64_t row = bytesPerRow();
  if (row > kLargestRow) return false;
  return ShapedType::isDynamic(rows_) ||
         (rows_ >= kFewestRows && rows_ >= kSmallest / std::max<int64_t>(row, 1));
}

/// Temporaries of which nothing but the loop sees a row, as far as the stack has room for a block
/// of each.
SmallVector<memref::AllocOp> RowProgram::shrinkable(int64_t block) {
  llvm::SmallSetVector<Value, 8> candidates;
  for (const Member &member : members_)
    for (const Use &use : member.uses)
      // An output of unknown size is an allocation that nobody is seen to read.
      if (auto alloc = use.memref.getDefiningOp<memref::AllocOp>();
          alloc && use.byRow && !alloc->hasAttr("weft.output"))
        candidates.insert(alloc);
  SmallVector<memref::AllocOp> result;
  int64_t left = kStackBytes;
  for (Value candidate : candidates) {
    const int64_t bytes = block * *rowBytes(cast<MemRefType>(candidate.getType()));
    const bool inside = llvm::all_of(candidate.getUses(), [&](OpOperand &use) {
      return llvm::any_of(members_, [&](Member &member) {
        return member.op == use.getOwner() &&
               member.op.getMatchingIndexingMap(&use).isFunctionOfDim(member.rowLoop);
      });
    });
    if (!inside || bytes > left) continue;
    left -= bytes;
    result.push_back(candidate.getDefiningOp<memref::AllocOp>());
  }
  return result;
}

/// Rows of a block: as many as the cache should hold, and of known numbers such that the last block
/// is whole, if a number close by does that.
int64_t blockOf(int64_t rows, int64_t rowBytes) {
  int64_t block = std::max<int64_t>(kBlockBytes / std::max<int64_t>(rowBytes, 1), 1);
  if (!ShapedType::isDynamic(rows)) block = std::min(block, rows / kFewestRows);
  /// Whole vectors, where rows are single elements.
  constexpr int64_t kVectors = 64;
  if (block >= kVectors) block = block / kVectors * kVectors;
  if (ShapedType::isDynamic(rows)) return block;
  const int64_t step = block >= kVectors ? kVectors : 1;
  for (int64_t divisor = block; divisor >= (block + 1) / 2; divisor -= step)
    if (rows % divisor == 0) return divisor;
  return block;
}

Group::Outcome Group::emit() {
  Operation *first = members_.front().op;
  // Loops that have no rows in common have nothing to gain from each other.
  llvm::EquivalenceClasses<size_t> classes;
  for (size_t i = 0; i < members_.size(); ++i) {
    classes.insert(i);
    for (size_t j = 0; j < i; ++j)
      if (!classes.isEquivalent(i, j) && share(members_[j], members_[i])) classes.unionSets(i, j);
  }
  llvm::MapVector<size_t, SmallVector<Member>> programs;
  for (size_t i = 0; i < members_.size(); ++i)
    programs[classes.getLeaderValue(i)].push_back(members_[i]);
  bool placed = false;
  SmallVector<Operation *> replaced;
  SmallVector<memref::AllocOp> unused;
  for (auto &[leader, members] : programs) {
    SmallVector<Operation *> ops;
    for (Member &member : members) ops.push_back(member.op);
    RowProgram program(std::move(members), rows_);
    if (!program.isWorthALoop()) continue;
    if (!placed)
      for (Operation *op : before_) op->moveBefore(first);
    placed = true;
    llvm::append_range(unused, program.emit(first));
    llvm::append_range(replaced, ops);
  }
  // Not before, since the first op marks the place.
  llvm::append_range(replaced, unused);
  for (Operation *op : replaced) op->erase();
  return {std::move(replaced), placed ? std::move(before_) : SmallVector<Operation *>()};
}

SmallVector<memref::AllocOp> RowProgram::emit(Operation *at) {
  ImplicitLocOpBuilder b(members_.front().op->getLoc(), at);
  const int64_t block = blockOf(rows_, bytesPerRow());
  const bool even = !ShapedType::isDynamic(rows_) && rows_ % block == 0;
  auto index = [&](int64_t number) -> Value { return arith::ConstantIndexOp::create(b, number); };
  Value rows;
  if (ShapedType::isDynamic(rows_)) {
    const Use &use = *llvm::find_if(members_.front().uses, [](const Use &u) { return u.byRow; });
    rows = memref::DimOp::create(b, use.memref, 0);
  } else {
    rows = index(rows_);
  }
  Value blocks = b.createOrFold<arith::CeilDivUIOp>(rows, index(block));
  SmallVector<memref::AllocOp> temporaries = shrinkable(block);

  auto loop = scf::ForOp::create(b, index(0), blocks, index(1));
  loop->setAttr(kRowLoop, b.getUnitAttr());
  b.setInsertionPointToStart(loop.getBody());
  Value start = arith::MulIOp::create(b, loop.getInductionVar(), index(block));
  OpFoldResult count = b.getIndexAttr(block);
  if (!even) {
    Value left = arith::SubIOp::create(b, rows, start);
    count = arith::MinUIOp::create(b, left, index(block)).getResult();
  }

  // The block of each buffer.
  IRMapping map;
  auto rowsFrom = [&](Value memref, OpFoldResult offset) -> Value {
    auto type = cast<MemRefType>(memref.getType());
    const int64_t rank = type.getRank();
    SmallVector<OpFoldResult> offsets(rank, b.getIndexAttr(0)), sizes,
        strides(rank, b.getIndexAttr(1));
    for (int64_t size : type.getShape()) sizes.push_back(b.getIndexAttr(size));
    offsets[0] = offset;
    sizes[0] = count;
    return memref::SubViewOp::create(b, memref, offsets, sizes, strides);
  };
  for (memref::AllocOp alloc : temporaries) {
    SmallVector<int64_t> shape(alloc.getType().getShape());
    shape[0] = block;
    Value place = memref::AllocaOp::create(
        b, MemRefType::get(shape, alloc.getType().getElementType()), b.getI64IntegerAttr(64));
    map.map(alloc.getResult(), even ? place : rowsFrom(place, b.getIndexAttr(0)));
  }
  for (Member &member : members_) {
    for (const Use &use : member.uses)
      if (use.byRow && !map.contains(use.memref)) map.map(use.memref, rowsFrom(use.memref, start));
    IRMapping operands;
    for (const Use &use : member.uses)
      if (use.byRow) operands.map(use.memref, map.lookup(use.memref));
    Operation *copy = b.clone(*member.op, operands);
    SmallVector<linalg::IndexOp> asked;
    copy->walk([&](linalg::IndexOp op) {
      if (op.getDim() == member.rowLoop) asked.push_back(op);
    });
    for (linalg::IndexOp op : asked) {
      OpBuilder inside(op->getContext());
      inside.setInsertionPointAfter(op);
      auto sum = arith::AddIOp::create(inside, op.getLoc(), op, start);
      op.getResult().replaceAllUsesExcept(sum, sum);
    }
  }
  return temporaries;
}

struct FuseRowsPass : impl::FuseRowsPassBase<FuseRowsPass> {
  void runOnOperation() final {
    SmallVector<Block *> blocks;
    getOperation().walk([&](Block *block) {
      if (!isa<linalg::LinalgOp>(block->getParentOp())) blocks.push_back(block);
    });
    for (Block *block : blocks) run(*block);
  }

  static void run(Block &block) {
    // What has moved to before a loop is a sequence of its own then: that loop may need it there.
    SmallVector<SmallVector<Operation *>> sequences{
        llvm::map_to_vector(block, [](Operation &op) { return &op; })};
    // A temporary that is gone may stand in any sequence.
    llvm::DenseSet<Operation *> gone;
    while (!sequences.empty()) {
      const SmallVector<Operation *> ops = sequences.pop_back_val();
      // An op that was with others in vain is not looked at from again: this stays linear.
      llvm::DenseSet<Operation *> moved, tried;
      const auto isLeftOut = [&](Operation *op) { return gone.contains(op) || moved.contains(op); };
      for (size_t i = 0; i < ops.size(); ++i) {
        if (isLeftOut(ops[i]) || tried.contains(ops[i])) continue;
        std::optional<Member> first = asMember(ops[i]);
        if (!first) continue;
        Group group(std::move(*first));
        for (size_t next = i + 1; next < std::min(ops.size(), i + kWindow); ++next)
          if (!isLeftOut(ops[next]) && !group.take(ops[next])) break;
        group.addMembers(tried);
        Group::Outcome outcome = group.emit();
        gone.insert(outcome.replaced.begin(), outcome.replaced.end());
        moved.insert(outcome.moved.begin(), outcome.moved.end());
        if (!outcome.moved.empty()) sequences.push_back(std::move(outcome.moved));
      }
    }
  }
};

} // namespace

} // namespace mlir::weft
