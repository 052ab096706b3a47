// The pass weft-partition: ranks of a mesh share the work on values that weft.shard says are cut.
#include "OpDefs/CollectiveSymbol.h"
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Partition/Loops.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

#define GEN_PASS_DEF_PARTITIONPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Axes of a mesh: bit i is axis i.
using MeshAxes = uint32_t;

/// The mesh that shard ops name, and its groups.
struct Mesh {
  SmallVector<int64_t> sizes;
  int64_t first = 0, group = 0;

  explicit Mesh(ShardOp op)
      : sizes(op.getMesh()), first(static_cast<int64_t>(op.getFirst())),
        group(static_cast<int64_t>(op.getGroup())) {}
  friend bool operator==(const Mesh &, const Mesh &) = default;

  int64_t ranks(MeshAxes axes) const {
    int64_t count = 1;
    for (auto [i, size] : llvm::enumerate(sizes))
      if (axes >> i & 1) count *= size;
    return count;
  }
  MeshAxes all() const { return (MeshAxes{1} << sizes.size()) - 1; }
  /// Without the axes along which there is one rank.
  MeshAxes several(MeshAxes axes) const {
    for (auto [i, size] : llvm::enumerate(sizes))
      if (size == 1) axes &= ~(MeshAxes{1} << i);
    return axes;
  }
  int64_t groupOf(MeshAxes axes) const { return axes == all() ? group : first + axes - 1; }
  /// The axes whose group has that number; none if it is another one.
  MeshAxes axesOf(int64_t number) const {
    if (number == group) return several(all());
    return number >= first && number < first + all() - 1
               ? several(static_cast<MeshAxes>(number - first + 1))
               : 0;
  }
};

/// For each axis of a value the axes of the mesh that it is cut over.
using Cut = SmallVector<MeshAxes>;

bool isCut(ArrayRef<MeshAxes> cut) {
  return llvm::any_of(cut, [](MeshAxes over) { return over != 0; });
}

/// What a rank has of a value: its part, to which those along some axes of the mesh are still to be
/// added.
struct Part {
  Value value;
  Cut cut;
  MeshAxes pending = 0;
};

/// The type of parts of a value.
RankedTensorType typeOfPart(Type whole, ArrayRef<MeshAxes> cut, const Mesh &mesh) {
  auto tensor = cast<RankedTensorType>(whole);
  SmallVector<int64_t> sizes(tensor.getShape());
  for (auto [size, over] : llvm::zip_equal(sizes, cut)) size /= mesh.ranks(over);
  return tensor.clone(sizes);
}

/// Whether equal parts along those axes are there: of sizes that are not known there are none.
bool divides(Type whole, ArrayRef<MeshAxes> cut, const Mesh &mesh) {
  auto tensor = dyn_cast<RankedTensorType>(whole);
  return tensor && llvm::all_of(llvm::zip_equal(tensor.getShape(), cut), [&](auto axis) {
           const auto [size, over] = axis;
           return over == 0 || (!ShapedType::isDynamic(size) && size % mesh.ranks(over) == 0);
         });
}

/// Cuts the ops of a function, from the first to the last.
class Partitioner {
public:
  explicit Partitioner(const Mesh &mesh,
                       DenseMap<Value, MeshAxes> varying = DenseMap<Value, MeshAxes>())
      : mesh_(mesh), varying_(std::move(varying)) {}

  /// Of a block all of whose arguments are whole.
  void run(Block &block, MeshAxes varying = 0) {
    for (Value argument : block.getArguments()) varies(argument, varying);
    wishes(block);
    for (Operation &op : llvm::make_early_inc_range(block)) visit(&op);
    for (Operation *op : llvm::reverse(done_))
      if (op->use_empty()) op->erase();
    done_.clear();
  }

private:
  //===--------------------------------------------------------------------===//
  // What is wanted
  //===--------------------------------------------------------------------===//

  Cut cutOf(ShardOp op) const {
    Cut cut(cast<RankedTensorType>(op.getType(0)).getRank());
    for (auto [axis, over] : llvm::zip_equal(op.getCut(), op.getOver()))
      cut[axis] = mesh_.several(static_cast<MeshAxes>(over));
    return cut;
  }

  /// Notes how values are used that one op alone uses: what is whole is cut for nothing before the
  /// work on it, not behind.
  void wishes(Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      if (auto shard = dyn_cast<ShardOp>(op)) {
        if (Mesh(shard) == mesh_) wish(shard.getX(), cutOf(shard));
        continue;
      }
      if (op.getNumResults() != 1) continue;
      const auto found = wished_.find(op.getResult(0));
      if (found == wished_.end()) continue;
      const std::optional<Loops> loops = loopsOf(&op);
      if (!loops) continue;
      const Cut cut = found->second;
      for (auto [operand, axes] : llvm::zip_equal(op.getOperands(), loops->operands)) {
        Cut own(axes.size());
        for (auto [over, loop] : llvm::zip_equal(own, axes))
          for (auto [at, other] : llvm::enumerate(loops->result))
            if (loop != Loops::whole && loop == other) over = cut[at];
        wish(operand, own);
      }
    }
  }
  void wish(Value value, ArrayRef<MeshAxes> cut) {
    if (value.hasOneUse() && isCut(cut) && divides(value.getType(), cut, mesh_))
      wished_[value] = Cut(cut);
  }

  //===--------------------------------------------------------------------===//
  // Values
  //===--------------------------------------------------------------------===//

  Part partOf(Value value) const {
    if (const auto found = parts_.find(value); found != parts_.end()) return found->second;
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return {value, Cut(tensor ? tensor.getRank() : 0)};
  }

  /// The value in another cut: what is to be added is, what is to be whole is gathered, and what is
  /// whole is cut.
  Value in(OpBuilder &b, Location at, Value value, const Cut &wanted) {
    Part part = partOf(value);
    if (part.pending == 0 && part.cut == wanted) return part.value;
    auto &forms = forms_[value];
    for (const Part &form : forms)
      if (form.cut == wanted) return form.value;
    for (auto [axis, over] : llvm::enumerate(wanted)) {
      if (over == 0 || part.cut[axis] != 0 || (over & ~part.pending) != 0) continue;
      part.value = buildOp(b, at, ::weft::OpCode::reduce_scatter_sum, part.value,
                           {static_cast<int64_t>(axis), mesh_.ranks(over), mesh_.groupOf(over),
                            /*mean=*/false});
      part.cut[axis] = over;
      part.pending &= ~over;
    }
    if (part.pending != 0) {
      part.value = buildOp(b, at, ::weft::OpCode::all_reduce_sum, part.value,
                           {::weft::Ints(), int64_t{0}, mesh_.groupOf(part.pending),
                            /*mean=*/false, /*same=*/true});
      part.pending = 0;
      parts_[value] = part;
    }
    for (auto [from, over] : llvm::enumerate(part.cut)) {
      if (over == 0 || over == wanted[from]) continue;
      // Along the same ranks another axis may be cut in its place.
      const auto *to = llvm::find(wanted, over);
      const auto axis = static_cast<size_t>(to - wanted.begin());
      if (wanted[from] == 0 && to != wanted.end() && part.cut[axis] == 0) {
        part.value = buildOp(b, at, ::weft::OpCode::all_to_all, part.value,
                             {static_cast<int64_t>(axis), static_cast<int64_t>(from),
                              mesh_.ranks(over), mesh_.groupOf(over)});
        part.cut[axis] = over;
      } else {
        part.value =
            buildOp(b, at, ::weft::OpCode::all_gather, part.value,
                    {static_cast<int64_t>(from), mesh_.ranks(over), mesh_.groupOf(over), true});
      }
      part.cut[from] = 0;
    }
    for (auto [axis, over] : llvm::enumerate(wanted)) {
      if (over == part.cut[axis]) continue;
      part.value = buildOp(b, at, ::weft::OpCode::slice_own, part.value,
                           {static_cast<int64_t>(axis), mesh_.ranks(over), mesh_.groupOf(over)});
      part.cut[axis] = over;
    }
    forms.push_back(part);
    return part.value;
  }

  Value whole(OpBuilder &b, Location at, Value value) {
    if (!parts_.contains(value)) return value;
    return in(b, at, value, Cut(partOf(value).cut.size()));
  }

  //===--------------------------------------------------------------------===//
  // What ranks have of their own
  //===--------------------------------------------------------------------===//

  // Other ops may give each rank a value of its own: parts that were cut by hand or over another
  // mesh. Over the ranks between which a value varies nothing is shared that is computed of it.

  void varies(Value value, MeshAxes over) {
    if (over != 0) varying_[value] |= over;
  }
  MeshAxes varyingOf(ValueRange values) const {
    MeshAxes all = 0;
    for (Value value : values) all |= varying_.lookup(value);
    return all;
  }
  /// Between which ranks results vary of an op that is left as it is.
  MeshAxes varyingBehind(Operation *op) const {
    const MeshAxes of = varyingOf(op->getOperands());
    const ::weft::OpInfo *info = opInfoOf(op);
    if (!info || info->kind != ::weft::OpKind::collective || op->getNumOperands() == 0) return of;
    if (isa<ShardOp>(op)) return of; // of another mesh
    auto group = op->getAttrOfType<IntegerAttr>("group");
    const MeshAxes over = group ? mesh_.axesOf(group.getInt()) : 0;
    if (::weft::gives_the_same(info->op)) return of & ~over;
    // Of another group it is not known which ranks are in it.
    return of | (over != 0 ? over : mesh_.all());
  }

  //===--------------------------------------------------------------------===//
  // Ops
  //===--------------------------------------------------------------------===//

  void visit(Operation *op) {
    const bool done =
        TypeSwitch<Operation *, bool>(op)
            .Case<ShardOp, AllGatherOp, SliceOwnOp>([&](auto found) { return cut(found); })
            .Default([&](Operation *other) { return share(other); });
    if (done) return;
    OpBuilder b(op);
    for (OpOperand &operand : op->getOpOperands())
      operand.set(whole(b, op->getLoc(), operand.get()));
    MeshAxes varying = varyingBehind(op);
    for (Region &region : op->getRegions()) {
      // What is around it is whole there: a condition or a count is no place to send from.
      region.walk<WalkOrder::PreOrder>([&](Operation *inside) {
        for (OpOperand &operand : inside->getOpOperands())
          if (!region.isAncestor(operand.get().getParentRegion())) {
            operand.set(whole(b, op->getLoc(), operand.get()));
            varying |= varyingOf(operand.get());
          }
        const ::weft::OpInfo *info = opInfoOf(inside);
        if (info && info->kind == ::weft::OpKind::collective && !isa<ShardOp>(inside))
          varying |= varyingBehind(inside);
      });
    }
    for (Region &region : op->getRegions())
      for (Block &block : region) Partitioner(mesh_, varying_).run(block, varying);
    for (Value result : op->getResults()) varies(result, varying);
  }

  bool cut(ShardOp op) {
    if (Mesh(op) != mesh_) return false;
    OpBuilder b(op);
    Cut cut = cutOf(op);
    const MeshAxes varying = varying_.lookup(op.getX());
    const bool parts = divides(op.getX().getType(), cut, mesh_) &&
                       llvm::none_of(cut, [&](MeshAxes over) { return (over & varying) != 0; });
    if (!parts) cut = partOf(op.getX()).cut;
    become(op, {in(b, op.getLoc(), op.getX(), cut), cut}, varying);
    return true;
  }

  /// Parts that ranks have from before are a value that is cut.
  bool cut(AllGatherOp op) {
    const MeshAxes over = mesh_.axesOf(static_cast<int64_t>(op.getGroup()));
    if (!op.getSame() || over == 0 || static_cast<int64_t>(op.getRanks()) != mesh_.ranks(over))
      return false;
    OpBuilder b(op);
    Cut cut = partOf(op.getX()).cut;
    if (llvm::any_of(cut, [&](MeshAxes other) { return (other & over) != 0; })) return false;
    const int64_t axis = static_cast<int64_t>(op.getAxis());
    if (cut[axis] != 0) return false;
    const Value own = in(b, op.getLoc(), op.getX(), cut);
    cut[axis] = over;
    become(op, {own, cut}, varying_.lookup(op.getX()) & ~over);
    return true;
  }

  /// The part that a rank has already.
  bool cut(SliceOwnOp op) {
    const MeshAxes over = mesh_.axesOf(static_cast<int64_t>(op.getGroup()));
    const Part x = partOf(op.getX());
    if (over == 0 || !parts_.contains(op.getX())) return false;
    Cut cut(x.cut.size());
    cut[static_cast<int64_t>(op.getAxis())] = over;
    if (!divides(op.getX().getType(), cut, mesh_)) return false;
    OpBuilder b(op);
    const Value own = in(b, op.getLoc(), op.getX(), cut);
    varies(own, over | varying_.lookup(op.getX()));
    op.getResult(0).replaceAllUsesWith(own);
    done_.push_back(op);
    return true;
  }

  /// The op is done on parts, where an operand or what is wanted of the result is cut.
  bool share(Operation *op) {
    const std::optional<Loops> loops = loopsOf(op);
    if (!loops) return false;
    const SmallVector<MeshAxes> cuts = choose(op, *loops);
    const auto along = [&](ArrayRef<int> axes) {
      return llvm::map_to_vector(
          axes, [&](int loop) { return loop == Loops::whole ? MeshAxes{0} : cuts[loop]; });
    };
    const auto cutOfOperand = [&](size_t i) { return Cut(along(loops->operands[i])); };
    const MeshAxes addedLater = pendingThrough(op, cutOfOperand);
    if (!isCut(cuts) && addedLater == 0) return false;
    OpBuilder b(op);
    SmallVector<Value> operands;
    for (auto [i, operand] : llvm::enumerate(op->getOperands()))
      operands.push_back(addedLater != 0 ? partOf(operand).value
                                         : in(b, op->getLoc(), operand, cutOfOperand(i)));
    Part part{{}, Cut(along(loops->result)), addedLater};
    part.value =
        cloneOnParts(b, op, operands, typeOfPart(op->getResult(0).getType(), part.cut, mesh_))
            ->getResult(0);
    for (auto [over, joined] : llvm::zip_equal(cuts, loops->joined))
      if (over != 0) join(b, op->getLoc(), part, over, joined, loops->reducedBy);
    become(op, part, varyingOf(op->getOperands()));
    return true;
  }

  /// Those axes of the mesh along which the op's result may be added up in place of its operands,
  /// which are parts as it wants them: sums of sums are sent for once.
  MeshAxes pendingThrough(Operation *op, function_ref<Cut(size_t)> cutOfOperand) const {
    if (!op->hasTrait<IsAdditive>()) return 0;
    const MeshAxes pending = partOf(op->getOperand(0)).pending;
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      const Part part = partOf(operand);
      if (part.pending != pending || part.cut != cutOfOperand(i)) return 0;
    }
    return pending;
  }

  /// What the parts of a loop that is no axis of the result are to each other.
  void join(OpBuilder &b, Location at, Part &part, MeshAxes over, Joined joined,
            ::weft::OpCode reducedBy) {
    switch (joined) {
    case Joined::along: return;
    case Joined::averaged: {
      auto type = cast<RankedTensorType>(part.value.getType());
      auto scalar = RankedTensorType::get({}, type.getElementType());
      Value ranks = buildOp(b, at, ::weft::OpCode::constant, {}, {number(scalar, over)});
      part.value = buildOp(b, at, ::weft::OpCode::divide, {part.value, ranks}, {});
      part.pending |= over;
      return;
    }
    case Joined::added: part.pending |= over; return;
    case Joined::reduced:
      part.value =
          buildOp(b, at, reducedBy, part.value, {::weft::Ints(), int64_t{0}, mesh_.groupOf(over)});
      return;
    }
  }
  ::weft::ConstantRef number(RankedTensorType scalar, MeshAxes over) const {
    const auto ranks = static_cast<double>(mesh_.ranks(over));
    return constantOf(DenseElementsAttr::get(
        scalar, ArrayRef<Attribute>(FloatAttr::get(scalar.getElementType(), ranks))));
  }

  /// For each loop the axes of the mesh that it is cut over: those of the largest operand that is,
  /// then what is wanted of the result.
  SmallVector<MeshAxes> choose(Operation *op, const Loops &loops) const {
    SmallVector<MeshAxes> cuts(loops.joined.size(), 0);
    MeshAxes taken = varyingOf(op->getOperands());
    const auto take = [&](int loop, MeshAxes over) {
      if (loop == Loops::whole || loops.open[loop] || over == 0 || cuts[loop] != 0 ||
          (taken & over) != 0)
        return;
      const auto fits = [&](Value value, ArrayRef<int> axes) {
        auto type = cast<RankedTensorType>(value.getType());
        return llvm::all_of(llvm::enumerate(axes), [&](auto axis) {
          return axis.value() != loop || type.getDimSize(axis.index()) % mesh_.ranks(over) == 0;
        });
      };
      if (!fits(op->getResult(0), loops.result) ||
          !llvm::all_of(llvm::zip_equal(op->getOperands(), loops.operands), [&](auto operand) {
            return fits(std::get<0>(operand), std::get<1>(operand));
          }))
        return;
      cuts[loop] = over;
      taken |= over;
    };
    SmallVector<size_t> order = llvm::to_vector(llvm::seq<size_t>(0, op->getNumOperands()));
    const auto elements = [&](size_t i) {
      int64_t count = 1;
      for (const int64_t size : cast<RankedTensorType>(op->getOperand(i).getType()).getShape())
        if (!ShapedType::isDynamic(size)) count *= size;
      return count;
    };
    llvm::sort(order, [&](size_t i, size_t j) {
      return std::pair(-elements(i), i) < std::pair(-elements(j), j);
    });
    for (const size_t i : order)
      for (auto [loop, over] : llvm::zip_equal(loops.operands[i], partOf(op->getOperand(i)).cut))
        take(loop, over);
    if (const auto wish = wished_.find(op->getResult(0)); wish != wished_.end())
      for (auto [loop, over] : llvm::zip_equal(loops.result, wish->second)) take(loop, over);
    return cuts;
  }

  void become(Operation *op, Part part, MeshAxes varying) {
    varies(op->getResult(0), varying);
    parts_[op->getResult(0)] = std::move(part);
    done_.push_back(op);
  }

  const Mesh &mesh_;
  DenseMap<Value, MeshAxes> varying_;
  DenseMap<Value, Part> parts_; ///< of values that are not whole
  /// In other cuts: what was sent for once serves later ops of the block too.
  DenseMap<Value, SmallVector<Part>> forms_;
  DenseMap<Value, Cut> wished_;
  SmallVector<Operation *> done_; ///< which nothing uses once all is cut
};

struct Partition : impl::PartitionPassBase<Partition> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    const auto found = [&] {
      return module.walk([](ShardOp) { return WalkResult::interrupt(); }).wasInterrupted();
    };
    if (!found()) return;
    // Parts do not go through calls.
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(createInlinerPass());
    if (failed(runPipeline(pipeline, module))) return signalPassFailure();
    for (auto function : module.getOps<func::FuncOp>()) {
      SmallVector<Mesh> meshes;
      function.walk([&](ShardOp op) {
        if (!llvm::is_contained(meshes, Mesh(op))) meshes.push_back(Mesh(op));
      });
      if (!meshes.empty() && !function.getBody().hasOneBlock()) {
        function.emitError("of several blocks cannot be cut: structured control flow is wanted");
        return signalPassFailure();
      }
      for (const Mesh &mesh : meshes) Partitioner(mesh).run(function.front());
    }
  }
};

} // namespace

} // namespace mlir::weft
