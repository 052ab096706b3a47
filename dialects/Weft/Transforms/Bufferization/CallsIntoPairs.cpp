// The pass weft-calls-into-pairs: routines write both parts of complex numbers beside each other.
#include "Weft/IR/Weft.h"
#include "Weft/Transforms/Passes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

#define GEN_PASS_DEF_CALLSINTOPAIRSPASS
#include "Weft/Transforms/Passes.h.inc"

namespace {

/// Whether the insert replaces one part of every pair of its destination.
bool replacesPart(tensor::InsertSliceOp insert, int64_t part) {
  const auto type = cast<RankedTensorType>(insert.getDestType());
  if (type.getRank() == 0 || type.getShape().back() != 2) return false;
  return llvm::all_of(insert.getStaticOffsets().drop_back(), [](int64_t at) { return at == 0; }) &&
         insert.getStaticOffsets().back() == part && insert.getStaticSizes().back() == 1 &&
         llvm::all_of(insert.getStaticStrides(), [](int64_t step) { return step == 1; });
}

/// The op that alone reads more of the value than its sizes; null if there are several.
Operation *readerOf(Value value) {
  Operation *reader = nullptr;
  for (Operation *user : value.getUsers()) {
    if (isa<tensor::DimOp>(user)) continue;
    if (reader) return nullptr;
    reader = user;
  }
  return reader;
}

/// The insert that alone reads the value, perhaps with a last axis of size 1.
tensor::InsertSliceOp insertOf(Value part, int64_t number) {
  Operation *reader = readerOf(part);
  if (auto expanded = dyn_cast_or_null<tensor::ExpandShapeOp>(reader)) {
    const auto type = cast<RankedTensorType>(expanded.getResultType());
    if (type.getRank() != expanded.getSrcType().getRank() + 1 || type.getShape().back() != 1)
      return nullptr;
    part = expanded.getResult();
    reader = readerOf(part);
  }
  auto insert = dyn_cast_or_null<tensor::InsertSliceOp>(reader);
  return insert && insert.getSource() == part && replacesPart(insert, number) ? insert : nullptr;
}

/// The type of one tensor that has both results beside each other.
RankedTensorType typeOfPairs(CallIntoOp call) {
  const auto part = cast<RankedTensorType>(call.getResult(0).getType());
  SmallVector<int64_t> shape(part.getShape());
  shape.push_back(2);
  return part.clone(shape);
}

/// The pairs that are made of the two results and of nothing else; null if they are not.
Value pairsOf(CallIntoOp call) {
  tensor::InsertSliceOp re = insertOf(call.getResult(0), 0), im = insertOf(call.getResult(1), 1);
  if (!re || !im || im.getDest() != re.getResult() || readerOf(re.getResult()) != im)
    return nullptr;
  auto whole = re.getDest().getDefiningOp<tensor::EmptyOp>();
  if (!whole || whole.getType() != typeOfPairs(call)) return nullptr;
  const SmallVector<OpFoldResult> sizes = whole.getMixedSizes();
  for (tensor::InsertSliceOp insert : {re, im})
    if (!isEqualConstantIntOrValueArray(ArrayRef(sizes).drop_back(),
                                        ArrayRef(insert.getMixedSizes()).drop_back()))
      return nullptr;
  return im.getResult();
}

/// Erases the ops that nobody reads, and those that they alone read.
void eraseDead(ArrayRef<Operation *> ops) {
  // An op is erased when it is taken out, and only one that reads it could put it in again: sizes
  // that several of the ops read are not met after their end.
  llvm::SetVector<Operation *> left(ops.begin(), ops.end());
  while (!left.empty()) {
    Operation *op = left.pop_back_val();
    if (!isOpTriviallyDead(op)) continue;
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp()) left.insert(source);
    op->erase();
  }
}

bool isReadByRoutines(Value value) {
  return !value.use_empty() && llvm::all_of(value.getUsers(), [](Operation *user) {
    auto call = dyn_cast<CallIntoOp>(user);
    return (call && call.getAttrs()) || isa<tensor::DimOp>(user);
  });
}

struct CallsIntoPairs : impl::CallsIntoPairsPassBase<CallsIntoPairs> {
  void runOnOperation() override {
    SmallVector<CallIntoOp> calls;
    getOperation().walk([&](CallIntoOp call) {
      if (isCandidate(call)) calls.push_back(call);
    });
    for (CallIntoOp call : calls) {
      Value pairs = pairsOf(call);
      if (pairs || llvm::all_of(call.getResults(), isReadByRoutines)) intoPairs(call, pairs);
    }
  }

  /// Whether the routine gives two tensors of floats of one type, to new ones.
  static bool isCandidate(CallIntoOp call) {
    if (!call.getAttrs() || call.getIntoPairs() || call->getNumResults() != 2 ||
        call.getResult(0).getType() != call.getResult(1).getType())
      return false;
    auto type = cast<RankedTensorType>(call.getResult(0).getType());
    return isa<FloatType>(type.getElementType()) && !llvm::is_contained(type.getShape(), 0) &&
           llvm::all_of(call.getInto(), [](Value into) {
             return into.hasOneUse() && into.getDefiningOp<tensor::EmptyOp>();
           });
  }

  static void intoPairs(CallIntoOp call, Value pairs) {
    OpBuilder builder(call);
    Location loc = call.getLoc();
    auto type = cast<RankedTensorType>(call.getResult(0).getType());
    SmallVector<OpFoldResult> sizes =
        call.getInto()[0].getDefiningOp<tensor::EmptyOp>().getMixedSizes();
    sizes.push_back(builder.getIndexAttr(2));
    Value into = tensor::EmptyOp::create(builder, loc, sizes, type.getElementType());
    auto made = CallIntoOp::create(builder, loc, into.getType(), call.getRoutine(), into,
                                   call.getInputs(), call.getNumbers(), call.getAttrsAttr(),
                                   call.getIsUnsigned(), call.getIsComplex(), /*intoPairs=*/true,
                                   call.getVariablesAttr(), call.getState());
    sizes.back() = builder.getIndexAttr(1);
    SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
    const SmallVector<OpFoldResult> steps(sizes.size(), builder.getIndexAttr(1));
    for (unsigned part = 0; part < 2; ++part) {
      offsets.back() = builder.getIndexAttr(part);
      Value slice = tensor::ExtractSliceOp::create(builder, loc, type, made.getResult(0), offsets,
                                                   sizes, steps);
      call.getResult(part).replaceAllUsesWith(slice);
    }
    SmallVector<Operation *> replaced;
    for (Value into : call.getInto()) replaced.push_back(into.getDefiningOp());
    call.erase();
    if (pairs) {
      pairs.replaceAllUsesWith(made.getResult(0));
      replaced.push_back(pairs.getDefiningOp());
    }
    eraseDead(replaced);
  }
};

} // namespace

} // namespace mlir::weft
