// Of each op of the dialect that ranks may share: its loops, and the op on parts of its operands.
#include "Weft/Transforms/Partition/Loops.h"

#include "Weft/IR/Bridge.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

namespace {

RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

int64_t rankOf(Value value) { return typeOf(value).getRank(); }

/// Makes loops.
class Builder {
public:
  explicit Builder(Operation *op) : op_(op) {
    for (Value operand : op->getOperands())
      loops_.operands.emplace_back(rankOf(operand), Loops::whole);
    loops_.result.assign(rankOf(op->getResult(0)), Loops::whole);
  }

  /// A loop along an axis of the result.
  int along(int64_t axis) {
    loops_.result[axis] = add(Joined::along);
    return loops_.result[axis];
  }
  int add(Joined joined) {
    loops_.joined.push_back(joined);
    loops_.open.push_back(false);
    return static_cast<int>(loops_.joined.size()) - 1;
  }
  void read(size_t operand, int64_t axis, int loop) { loops_.operands[operand][axis] = loop; }
  /// Axes of an operand that is broadcast over axes of the result up to `end`, from the last.
  void broadcast(size_t operand, int64_t operandEnd, int64_t end) {
    RankedTensorType from = typeOf(op_->getOperand(operand)), to = typeOf(op_->getResult(0));
    for (int64_t axis = operandEnd - 1, at = end - 1; axis >= 0 && at >= 0; --axis, --at)
      if (from.getDimSize(axis) == to.getDimSize(at)) read(operand, axis, loops_.result[at]);
      else if (from.isDynamicDim(axis) || to.isDynamicDim(at))
        loops_.open[loops_.result[at]] = true;
  }
  Loops &loops() { return loops_; }
  Loops take() {
    const auto close = [&](Value value, ArrayRef<int> axes) {
      for (auto [axis, loop] : llvm::enumerate(axes))
        if (loop != Loops::whole && typeOf(value).isDynamicDim(axis)) loops_.open[loop] = true;
    };
    for (auto [operand, axes] : llvm::zip_equal(op_->getOperands(), loops_.operands))
      close(operand, axes);
    close(op_->getResult(0), loops_.result);
    return std::move(loops_);
  }

private:
  Operation *op_;
  Loops loops_;
};

Loops elementwise(Operation *op) {
  Builder b(op);
  const int64_t rank = rankOf(op->getResult(0));
  for (int64_t axis = 0; axis < rank; ++axis) b.along(axis);
  for (size_t i = 0; i < op->getNumOperands(); ++i) b.broadcast(i, rankOf(op->getOperand(i)), rank);
  return b.take();
}

/// Of an op that does the same along all axes but some.
Loops allBut(Operation *op, ArrayRef<int64_t> axes) {
  Builder b(op);
  for (int64_t axis = 0; axis < rankOf(op->getResult(0)); ++axis) {
    if (llvm::is_contained(axes, axis)) continue;
    const int loop = b.along(axis);
    for (size_t i = 0; i < op->getNumOperands(); ++i)
      if (axis < rankOf(op->getOperand(i))) b.read(i, axis, loop);
  }
  return b.take();
}

/// How ranks join what they have of a loop that an op reduces: as the collective of its name does;
/// nothing where there is none.
std::optional<Joined> joinedBy(Operation *op, Loops &loops) {
  const std::string_view name = opInfoOf(op)->name;
  if (const ::weft::OpInfo *all = ::weft::find_op("all_reduce_" + std::string(name))) {
    loops.reducedBy = all->op;
    return all->op == ::weft::OpCode::all_reduce_sum ? Joined::added : Joined::reduced;
  }
  // Of equal parts the mean of means.
  if (isa<MeanOp>(op) && isa<FloatType>(typeOf(op->getResult(0)).getElementType()))
    return Joined::averaged;
  return std::nullopt;
}

Loops reduction(Operation *op) {
  const auto axes = op->getAttrOfType<DenseI64ArrayAttr>("axes").asArrayRef();
  const auto keepdims = op->getAttrOfType<BoolAttr>("keepdims");
  const bool keeps = keepdims && keepdims.getValue();
  Builder b(op);
  int64_t at = 0;
  for (int64_t axis = 0; axis < rankOf(op->getOperand(0)); ++axis) {
    // No axes are all of them.
    if (axes.empty() || llvm::is_contained(axes, axis)) {
      if (std::optional<Joined> joined = joinedBy(op, b.loops())) b.read(0, axis, b.add(*joined));
      at += keeps;
    } else {
      b.read(0, axis, b.along(at++));
    }
  }
  return b.take();
}

std::optional<Loops> matmul(MatmulOp op) {
  const int64_t lhs = rankOf(op.getLhs()), rhs = rankOf(op.getRhs()), rank = rankOf(op.getY());
  if (lhs < 2 || rhs < 2) return std::nullopt;
  Builder b(op);
  for (int64_t axis = 0; axis < rank; ++axis) b.along(axis);
  b.broadcast(0, lhs - 2, rank - 2);
  b.broadcast(1, rhs - 2, rank - 2);
  const int inner = b.add(Joined::added), rows = static_cast<int>(rank - 2), columns = rows + 1;
  const bool left = op.getTransposeLhs(), right = op.getTransposeRhs();
  b.read(0, lhs - 2, left ? inner : rows);
  b.read(0, lhs - 1, left ? rows : inner);
  b.read(1, rhs - 2, right ? columns : inner);
  b.read(1, rhs - 1, right ? inner : columns);
  return b.take();
}

Loops transpose(TransposeOp op) {
  Builder b(op);
  for (auto [axis, from] : llvm::enumerate(op.getPermutation())) b.read(0, from, b.along(axis));
  return b.take();
}

/// Sizes whose products are equal are groups. Of each the first axis larger than 1 is the slowest:
/// equal parts of it are equal parts of the elements in a row.
Loops reshape(ReshapeOp op) {
  const ArrayRef<int64_t> from = typeOf(op.getX()).getShape(), to = typeOf(op.getY()).getShape();
  Builder b(op);
  size_t i = 0, j = 0;
  const auto skip = [](ArrayRef<int64_t> sizes, size_t &at) {
    while (at < sizes.size() && sizes[at] == 1) ++at;
  };
  while (true) {
    skip(from, i);
    skip(to, j);
    if (i == from.size() || j == to.size()) return b.take();
    const size_t first = i, other = j;
    int64_t left = from[i++], right = to[j++];
    while (left != right) {
      if (left < right) {
        if (i == from.size()) return b.take();
        left *= from[i++];
      } else {
        if (j == to.size()) return b.take();
        right *= to[j++];
      }
    }
    b.read(0, first, b.along(other));
  }
}

Loops slice(SliceOp op) {
  RankedTensorType x = typeOf(op.getX());
  SmallVector<int64_t> cut;
  for (int64_t axis = 0; axis < x.getRank(); ++axis)
    if (x.getDimSize(axis) != typeOf(op.getY()).getDimSize(axis)) cut.push_back(axis);
  return allBut(op, cut);
}

Loops pad(PadOp op) {
  RankedTensorType x = typeOf(op.getX());
  Builder b(op);
  for (int64_t axis = 0; axis < x.getRank(); ++axis)
    if (op.getLow()[axis] == 0 && op.getHigh()[axis] == 0 && op.getInterior()[axis] == 0)
      b.read(0, axis, b.along(axis));
  return b.take();
}

/// The axes of indices stand in the place of the axis.
Loops gather(GatherOp op) {
  const int64_t axis = op.getAxis(), many = rankOf(op.getIndices());
  Builder b(op);
  for (int64_t at = 0; at < rankOf(op.getX()); ++at)
    if (at != axis) b.read(0, at, b.along(at < axis ? at : at + many - 1));
  for (int64_t at = 0; at < many; ++at) b.read(1, at, b.along(axis + at));
  return b.take();
}

/// Of an op whose attributes say sizes.
template <class Op, class Rule>
std::optional<Loops> ofKnownSizes(Op op, Rule loops) {
  if (!typeOf(op.getX()).hasStaticShape() || !typeOf(op.getY()).hasStaticShape())
    return std::nullopt;
  return loops(op);
}

} // namespace

std::optional<Loops> loopsOf(Operation *op) {
  const ::weft::OpInfo *info = opInfoOf(op);
  if (!info || op->getNumResults() != 1 || op->getNumRegions() != 0) return std::nullopt;
  const auto isTensor = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && !llvm::is_contained(tensor.getShape(), 0);
  };
  if (!llvm::all_of(op->getOperandTypes(), isTensor) ||
      !llvm::all_of(op->getResultTypes(), isTensor))
    return std::nullopt;
  // What is read of others cannot be cut, and sizes that are values are not known.
  if (info->has_effect() || !sizeOperands(op).empty()) return std::nullopt;
  if (info->kind == ::weft::OpKind::elementwise || isa<StopGradientOp>(op)) return elementwise(op);
  if (info->kind == ::weft::OpKind::reduction) return reduction(op);
  if (info->kind == ::weft::OpKind::cumulative)
    return allBut(op, op->getAttrOfType<IntegerAttr>("axis").getInt());
  return TypeSwitch<Operation *, std::optional<Loops>>(op)
      .Case([](MatmulOp found) { return matmul(found); })
      .Case([](TransposeOp found) { return transpose(found); })
      .Case([](BroadcastOp found) { return ofKnownSizes(found, elementwise); })
      .Case([](ReshapeOp found) { return ofKnownSizes(found, reshape); })
      .Case([](SliceOp found) { return ofKnownSizes(found, slice); })
      .Case([](ConcatenateOp found) {
        return allBut(found, {static_cast<int64_t>(found.getAxis())});
      })
      .Case([](ReverseOp found) -> std::optional<Loops> {
        if (found.getAxes().empty()) return std::nullopt; // all of them
        return allBut(found, found.getAxes());
      })
      .Case([](PadOp found) { return pad(found); })
      .Case([](GatherOp found) { return gather(found); })
      .Default([](Operation *) { return std::nullopt; });
}

Operation *cloneOnParts(OpBuilder &b, Operation *op, ValueRange operands, RankedTensorType result) {
  Operation *part = b.clone(*op);
  part->setOperands(operands);
  part->getResult(0).setType(result);
  TypeSwitch<Operation *>(part)
      .Case<BroadcastOp, ReshapeOp>([&](auto found) { found.setShape(result.getShape()); })
      .Case([&](SliceOp found) {
        // Axes that are cut are taken whole.
        SmallVector<int64_t> limits(found.getLimits());
        for (auto [axis, limit] : llvm::enumerate(limits))
          if (result.getDimSize(axis) != typeOf(op->getResult(0)).getDimSize(axis))
            limit = result.getDimSize(axis);
        found.setLimits(limits);
      });
  return part;
}

} // namespace mlir::weft
