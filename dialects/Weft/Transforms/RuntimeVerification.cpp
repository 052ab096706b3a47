// The pass weft-runtime-verification: programs on tensors that nobody has checked, with the checks
// that make every op of theirs defined.
#include "Weft/IR/Bridge.h"
#include "Weft/Transforms/Passes.h"
#include "Weft/Transforms/RuntimeVerification/Conditions.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::weft {

#define GEN_PASS_DEF_RUNTIMEVERIFICATIONPASS
#include "Weft/Transforms/Passes.h.inc"

using arith::CmpIPredicate;

//===----------------------------------------------------------------------===//
// What programs are made of
//===----------------------------------------------------------------------===//

static bool isMemory(Type type) {
  return isa<BaseMemRefType, UnrankedTensorType>(type) ||
         !(isa<BuiltinDialect, WeftDialect>(type.getDialect()));
}

/// Fails after a diagnostic at an op that works on memory, or of a dialect that is not known to
/// leave it alone.
static LogicalResult verifyIsOnTensors(Operation *op, SymbolTableCollection &symbols) {
  auto isTensor = [](Type type) { return isa<TensorType>(type); };
  const bool onTensors =
      llvm::any_of(op->getOperandTypes(), isTensor) || llvm::any_of(op->getResultTypes(), isTensor);
  const bool isKnown =
      isa<ModuleOp, affine::AffineApplyOp, affine::AffineMinOp, affine::AffineMaxOp>(op) ||
      isa_and_nonnull<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect,
                      linalg::LinalgDialect, math::MathDialect, scf::SCFDialect,
                      tensor::TensorDialect, WeftDialect>(op->getDialect()) ||
      (isa_and_nonnull<vector::VectorDialect>(op->getDialect()) && !onTensors);
  bool touchesMemory =
      llvm::any_of(op->getOperandTypes(), isMemory) || llvm::any_of(op->getResultTypes(), isMemory);
  for (Region &region : op->getRegions())
    for (Block &block : region) touchesMemory |= llvm::any_of(block.getArgumentTypes(), isMemory);
  if (!isKnown || touchesMemory)
    return op->emitOpError(
        "cannot be checked in a program on tensors: memory comes with the phase "
        "bufferize, and programs that have gone through it are taken as they are");
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = symbols.lookupNearestSymbolFrom<func::FuncOp>(op, call.getCalleeAttr());
    if (callee && callee.isExternal())
      return op->emitOpError() << "calls @" << call.getCallee()
                               << ", which has no body: say weft.host_call for a function of the "
                                  "program around";
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Ops of tensor
//===----------------------------------------------------------------------===//

namespace {

/// Puts checks in front of one op that is not in a body of linalg.
class Verifier {
public:
  explicit Verifier(Operation *op) : op(op), name(op->getName().getStringRef().str()), b(op) {
    // Nothing but these may stand there.
    if (isa<tensor::ParallelInsertSliceOp>(op)) b.setInsertionPoint(op->getParentOp());
  }

  LogicalResult run() {
    return llvm::TypeSwitch<Operation *, LogicalResult>(op)
        .Case<tensor::CastOp, tensor::BitcastOp>(
            [&](auto cast) { return checkSame(cast.getSource(), cast.getType()); })
        .Case([&](tensor::DimOp dim) { return checkDim(dim); })
        .Case<tensor::EmptyOp, tensor::SplatOp>(
            [&](auto filled) { return checkSizes(filled.getDynamicSizes()); })
        .Case([&](tensor::GenerateOp op) { return checkSizes(op.getDynamicExtents()); })
        .Case([&](tensor::ExtractOp extract) {
          return checkIndices(extract.getTensor(), extract.getIndices());
        })
        .Case([&](tensor::InsertOp insert) {
          return checkIndices(insert.getDest(), insert.getIndices());
        })
        .Case([&](tensor::ExtractSliceOp slice) { return checkSlice(slice, slice.getSource()); })
        .Case<tensor::InsertSliceOp, tensor::ParallelInsertSliceOp>([&](auto slice) {
          if (failed(checkSlice(slice, slice.getDest()))) return failure();
          return checkInserted(slice);
        })
        .Case([&](tensor::ExpandShapeOp expand) { return checkExpand(expand); })
        .Case([&](tensor::ReshapeOp reshape) { return checkReshape(reshape); })
        .Case([&](tensor::ConcatOp concat) { return checkConcat(concat); })
        .Case([&](tensor::PadOp pad) { return checkPad(pad); })
        .Case<tensor::CollapseShapeOp, tensor::FromElementsOp, tensor::RankOp, tensor::YieldOp>(
            [](auto) { return success(); })
        .Default([&](Operation *other) { return checkOther(other); });
  }

private:
  LogicalResult checkOther(Operation *other) {
    if (isa_and_nonnull<tensor::TensorDialect>(other->getDialect()))
      return other->emitOpError("has no form in loops: write it as linalg.generic");
    if (!needsCheck(other)) return success();
    if (!other->getResult(0).getType().isIntOrIndex())
      return other->emitOpError("can be checked on numbers only: write it as linalg.generic");
    b.requireNumbers(isDefined(b, other, other->getOperands()), undefinedText(other));
    return success();
  }

  Value sizeAlong(Value tensor, int64_t axis) { return b.toValue(sizeOf(tensor, axis)); }

  LogicalResult checkSame(Value source, Type result) {
    auto from = cast<RankedTensorType>(source.getType()), to = cast<RankedTensorType>(result);
    for (int64_t axis = 0; axis < to.getRank(); ++axis) {
      if (to.isDynamicDim(axis) || !from.isDynamicDim(axis)) continue;
      Value has = sizeAlong(source, axis), wanted = b.index(to.getDimSize(axis));
      b.requireSizes(b.compare(CmpIPredicate::eq, has, wanted),
                     name + ": the size along axis " + std::to_string(axis) +
                         " is {}, but the result's type says {}",
                     {has, wanted});
    }
    return success();
  }

  LogicalResult checkDim(tensor::DimOp dim) {
    const int64_t rank = cast<RankedTensorType>(dim.getSource().getType()).getRank();
    b.requireIndex(dim.getIndex(), b.index(rank), op);
    return success();
  }

  LogicalResult checkSizes(ValueRange sizes) {
    for (Value size : sizes)
      if (!isSize(size))
        b.requireSizes(b.isAtLeast(size, 0), name + ": a size is {}, which is negative", size);
    return success();
  }

  /// Whether that is known to be no negative number.
  static bool isSize(Value value) {
    APInt known;
    return value.getDefiningOp<tensor::DimOp>() ||
           (matchPattern(value, m_ConstantInt(&known)) && known.isNonNegative());
  }

  LogicalResult checkIndices(Value tensor, ValueRange indices) {
    for (auto [axis, index] : llvm::enumerate(indices))
      b.requireIndex(index, sizeAlong(tensor, static_cast<int64_t>(axis)), op);
    return success();
  }

  LogicalResult checkSlice(OffsetSizeAndStrideOpInterface slice, Value whole) {
    auto value = [&](OpFoldResult of) {
      return getValueOrCreateConstantIndexOp(b, b.getLoc(), of);
    };
    for (auto [axis, offset, size, stride] :
         llvm::enumerate(slice.getMixedOffsets(), slice.getMixedSizes(), slice.getMixedStrides())) {
      Value first = value(offset), count = value(size);
      Value has = sizeAlong(whole, static_cast<int64_t>(axis));
      if (isOneInteger(size)) {
        b.requireIndex(first, has, op);
        continue;
      }
      Value fits;
      if (isOneInteger(stride)) {
        // All of it.
        if (isZeroInteger(offset) && sizeIs(size, whole, static_cast<int64_t>(axis))) continue;
        fits = b.both(b.isAtLeast(first, 0), b.isAtLeast(count, 0));
        Value last = b.createOrFold<arith::SubIOp>(has, count);
        fits = b.both(fits, b.compare(CmpIPredicate::sle, first, last));
      } else {
        fits = stridesFit(first, count, value(stride), has);
      }
      b.requireSizes(fits,
                     name + ": the slice of offset {}, size {} and stride {} leaves axis " +
                         std::to_string(axis) + ", which has size {}",
                     {first, count, value(stride), has});
    }
    return success();
  }

  /// Whether a size is that of a tensor along an axis.
  static bool sizeIs(OpFoldResult size, Value tensor, int64_t axis) {
    const Size whole = sizeOf(tensor, axis);
    if (std::optional<int64_t> known = getConstantIntValue(size)) return whole.known == *known;
    Value value = cast<Value>(size);
    if (whole == Size{.source = value}) return true;
    auto dim = value.getDefiningOp<tensor::DimOp>();
    std::optional<int64_t> along = dim ? dim.getConstantIndex() : std::nullopt;
    return along && isa<RankedTensorType>(dim.getSource().getType()) && *along >= 0 &&
           *along < cast<RankedTensorType>(dim.getSource().getType()).getRank() &&
           sizeOf(dim.getSource(), *along) == whole;
  }

  Value stridesFit(Value first, Value count, Value stride, Value has) {
    Value zero = b.index(0), one = b.index(1);
    Value isBack = b.compare(CmpIPredicate::slt, stride, zero);
    auto select = [&](Value then, Value otherwise) {
      return b.createOrFold<arith::SelectOp>(isBack, then, otherwise);
    };
    // As numbers without a sign: also that of the least integer is right.
    Value step = select(b.createOrFold<arith::SubIOp>(zero, stride), stride);
    Value behind = b.createOrFold<arith::SubIOp>(b.createOrFold<arith::SubIOp>(has, one), first);
    Value room = select(first, behind);
    Value steps = b.createOrFold<arith::DivUIOp>(room, b.createOrFold<arith::MaxUIOp>(step, one));
    Value last = b.createOrFold<arith::SubIOp>(count, one);
    Value isFirst = b.both(b.isAtLeast(first, 0), b.compare(CmpIPredicate::slt, first, has));
    Value isStill = b.compare(CmpIPredicate::eq, stride, zero);
    Value reaches = b.either(isStill, b.compare(CmpIPredicate::ule, last, steps));
    Value some = b.both(b.both(b.isAtLeast(count, 1), isFirst), reaches);
    Value none = b.both(b.compare(CmpIPredicate::eq, count, zero),
                        b.both(b.isAtLeast(first, 0), b.compare(CmpIPredicate::sle, first, has)));
    return b.either(some, none);
  }

  /// That the source has the sizes of the slice that it takes the place of.
  template <class Slice>
  LogicalResult checkInserted(Slice slice) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    int64_t axis = 0;
    for (auto [whole, size] : llvm::enumerate(slice.getMixedSizes())) {
      if (dropped.test(whole)) continue;
      Value source = slice.getSource();
      if (!sizeIs(size, source, axis)) {
        Value has = sizeAlong(source, axis);
        Value wanted = getValueOrCreateConstantIndexOp(b, b.getLoc(), size);
        b.requireSizes(b.compare(CmpIPredicate::eq, has, wanted),
                       name + ": the source has size {} along axis " + std::to_string(axis) +
                           ", where the slice has {}",
                       {has, wanted});
      }
      ++axis;
    }
    return success();
  }

  LogicalResult checkExpand(tensor::ExpandShapeOp expand) {
    SmallVector<OpFoldResult> sizes = expand.getMixedOutputShape();
    for (auto [axis, group] : llvm::enumerate(expand.getReassociationIndices())) {
      const Size whole = sizeOf(expand.getSrc(), static_cast<int64_t>(axis));
      if (whole.isKnown() &&
          llvm::all_of(group, [&](int64_t i) { return getConstantIntValue(sizes[i]); }))
        continue; // upstream's verifier compares those
      SmallVector<Value> factors;
      for (int64_t i : group)
        factors.push_back(getValueOrCreateConstantIndexOp(b, b.getLoc(), sizes[i]));
      Value total = b.toValue(whole);
      b.requireSizes(b.multiplyTo(factors, total),
                     name + ": the sizes that axis " + std::to_string(axis) +
                         " becomes do not multiply to its size {}",
                     total);
    }
    return success();
  }

  LogicalResult checkReshape(tensor::ReshapeOp reshape) {
    auto to = dyn_cast<RankedTensorType>(reshape.getType());
    auto from = cast<RankedTensorType>(reshape.getSource().getType());
    Value total = b.index(1);
    for (int64_t axis = 0; axis < from.getRank(); ++axis)
      total = b.createOrFold<arith::MulIOp>(total, sizeAlong(reshape.getSource(), axis));
    SmallVector<Value> factors;
    for (int64_t axis = 0; axis < to.getRank(); ++axis) {
      Value size = tensor::ExtractOp::create(b, reshape.getShape(), b.index(axis));
      if (!size.getType().isIndex()) size = arith::IndexCastOp::create(b, b.getIndexType(), size);
      if (!to.isDynamicDim(axis)) {
        Value wanted = b.index(to.getDimSize(axis));
        b.requireSizes(b.compare(CmpIPredicate::eq, size, wanted),
                       name + ": the shape has {} for axis " + std::to_string(axis) +
                           ", but the result's type says {}",
                       {size, wanted});
      }
      factors.push_back(size);
    }
    b.requireSizes(b.multiplyTo(factors, total),
                   name + ": the sizes do not multiply to the {} elements that there are", total);
    return success();
  }

  LogicalResult checkConcat(tensor::ConcatOp concat) {
    Value first = concat.getInputs().front();
    const auto joined = static_cast<int64_t>(concat.getDim());
    for (Value input : concat.getInputs())
      for (int64_t axis = 0; axis < concat.getResultType().getRank(); ++axis) {
        if (axis == joined || sizeOf(input, axis) == sizeOf(first, axis)) continue;
        Value has = sizeAlong(input, axis), wanted = sizeAlong(first, axis);
        b.requireSizes(b.compare(CmpIPredicate::eq, has, wanted),
                       name + ": the operands have sizes {} and {} along axis " +
                           std::to_string(axis),
                       {wanted, has});
      }
    // A type may say the sum of sizes, or the size of others, where an operand's does not.
    RankedTensorType type = concat.getResultType();
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      if (type.isDynamicDim(axis)) continue;
      Value sum = sizeAlong(first, axis), wanted = b.index(type.getDimSize(axis));
      if (axis == joined)
        for (Value input : concat.getInputs().drop_front())
          sum = b.createOrFold<arith::AddIOp>(sum, sizeAlong(input, axis));
      b.requireSizes(b.compare(CmpIPredicate::eq, sum, wanted),
                     name + ": the size along axis " + std::to_string(axis) +
                         " is {}, but the result's type says {}",
                     {sum, wanted});
    }
    return success();
  }

  LogicalResult checkPad(tensor::PadOp pad) {
    const WalkResult walked = pad.getRegion().walk([&](Operation *inner) {
      if (!needsCheck(inner) && (isa<tensor::YieldOp>(inner) ||
                                 !isa_and_nonnull<tensor::TensorDialect>(inner->getDialect())))
        return WalkResult::advance();
      inner->emitOpError("cannot be checked in the body of 'tensor.pad': compute the value of the "
                         "padding in front of it");
      return WalkResult::interrupt();
    });
    if (walked.wasInterrupted()) return failure();
    auto type = cast<RankedTensorType>(pad.getType());
    for (auto [axis, low, high] : llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad())) {
      Value before = getValueOrCreateConstantIndexOp(b, b.getLoc(), low);
      Value behind = getValueOrCreateConstantIndexOp(b, b.getLoc(), high);
      b.requireSizes(b.both(b.isAtLeast(before, 0), b.isAtLeast(behind, 0)),
                     name + ": axis " + std::to_string(axis) +
                         " is padded by {} and {}, of which one is negative",
                     {before, behind});
      Value has = sizeAlong(pad.getSource(), static_cast<int64_t>(axis));
      Value sum = b.createOrFold<arith::AddIOp>(b.createOrFold<arith::AddIOp>(has, before), behind);
      if (type.isDynamicDim(axis)) {
        if (!getConstantIntValue(low) || !getConstantIntValue(high))
          b.requireSizes(b.isAtLeast(sum, 0),
                         name + ": there are no tensors of {} + {} + {} elements along an axis",
                         {before, has, behind});
        continue;
      }
      Value wanted = b.index(type.getDimSize(axis));
      b.requireSizes(b.compare(CmpIPredicate::eq, sum, wanted),
                     name + ": the size along axis " + std::to_string(axis) +
                         " is {}, but the result's type says {}",
                     {sum, wanted});
    }
    return success();
  }

  Operation *op;
  const std::string name;
  Conditions b;
};

} // namespace

//===----------------------------------------------------------------------===//
// Numbers without a value
//===----------------------------------------------------------------------===//

/// Takes back what an op promises of its operands: it may be wrong, and nothing is lost by it.
static void dropPromises(Operation *op) {
  MLIRContext *context = op->getContext();
  if (auto wraps = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(wraps.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(context, arith::IntegerOverflowFlags::none));
  if (auto fast = dyn_cast<arith::ArithFastMathInterface>(op)) {
    const arith::FastMathFlags finite = arith::FastMathFlags::nnan | arith::FastMathFlags::ninf;
    arith::FastMathFlagsAttr flags = fast.getFastMathFlagsAttr();
    if (flags && (flags.getValue() & finite) != arith::FastMathFlags::none)
      op->setAttr(fast.getFastMathAttrName(),
                  arith::FastMathFlagsAttr::get(context, flags.getValue() & ~finite));
  }
  for (StringRef name : {"isExact", "nonNeg"})
    if (isa<arith::ArithDialect>(op->getDialect()) && op->getInherentAttr(name))
      op->setAttr(name, nullptr);
}

/// Out of range a conversion to an integer has no value at all; it gets one, that of 0.
static void keepInRange(Operation *op) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  const bool isSigned = isa<arith::FPToSIOp>(op);
  Value x = op->getOperand(0);
  Type type = x.getType(), element = getElementTypeOrSelf(type);
  const unsigned width = getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  const llvm::fltSemantics &semantics = cast<FloatType>(element).getFloatSemantics();
  auto constant = [&](const APFloat &value) -> Value {
    TypedAttr number = b.getFloatAttr(element, value);
    if (auto shaped = dyn_cast<ShapedType>(type))
      number = DenseElementsAttr::get(shaped, Attribute(number));
    return arith::ConstantOp::create(b, number);
  };
  APFloat high(semantics), low(semantics);
  const unsigned bits = isSigned ? width - 1 : width;
  high.convertFromAPInt(APInt::getOneBitSet(width + 1, bits), false, APFloat::rmNearestTiesToEven);
  if (isSigned) {
    low = high;
    low.changeSign();
  } else {
    low.convertFromAPInt(APInt::getAllOnes(2), true, APFloat::rmNearestTiesToEven);
  }
  // An end that the type has no number for is the infinite, which is outside itself.
  const bool ends = isSigned && low.isFinite();
  Value above = arith::CmpFOp::create(
      b, ends ? arith::CmpFPredicate::OGE : arith::CmpFPredicate::OGT, x, constant(low));
  Value below = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, constant(high));
  Value inside = arith::AndIOp::create(b, above, below);
  op->setOperand(0, arith::SelectOp::create(b, inside, x, constant(APFloat::getZero(semantics))));
}

/// Whether the operand is what Weft's own conversions and this one make it.
static bool isInRange(Operation *op) {
  auto select = op->getOperand(0).getDefiningOp<arith::SelectOp>();
  if (!select || !matchPattern(select.getFalseValue(), m_AnyZeroFloat())) return false;
  auto both = select.getCondition().getDefiningOp<arith::AndIOp>();
  if (!both) return false;
  const unsigned width = getElementTypeOrSelf(op->getResult(0).getType()).getIntOrFloatBitWidth();
  auto compares = [&](Value condition, arith::CmpFPredicate predicate, bool negative) {
    auto compare = condition.getDefiningOp<arith::CmpFOp>();
    APFloat bound(0.0);
    if (!compare || compare.getPredicate() != predicate ||
        compare.getLhs() != select.getTrueValue() ||
        !matchPattern(compare.getRhs(), m_ConstantFloat(&bound)) || !bound.isFinite())
      return false;
    // Not beyond the power of two that is the end of the integers.
    const int last = static_cast<int>(width) - 1;
    return bound.isNegative() == negative &&
           (ilogb(bound) < last || bound.getExactLog2Abs() == last);
  };
  return isa<arith::FPToSIOp>(op) && compares(both.getLhs(), arith::CmpFPredicate::OGE, true) &&
         compares(both.getRhs(), arith::CmpFPredicate::OLT, false);
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct RuntimeVerification : impl::RuntimeVerificationPassBase<RuntimeVerification> {
  void runOnOperation() override {
    if (failed(run())) signalPassFailure();
  }

  LogicalResult run() {
    ModuleOp module = getOperation();
    SymbolTableCollection symbols;
    auto walked =
        module.walk([&](Operation *op) { return WalkResult(verifyIsOnTensors(op, symbols)); });
    if (walked.wasInterrupted()) return failure();
    IRRewriter rewriter(&getContext());
    SmallVector<Operation *> several;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (isDecomposed(op)) several.push_back(op);
    });
    for (Operation *op : several)
      if (failed(decompose(op, rewriter))) return failure();
    for (Operation *op : opsOf(module)) {
      dropPromises(op);
      if (isa<arith::FPToSIOp, arith::FPToUIOp>(op) && !isInRange(op)) keepInRange(op);
    }
    const SmallVector<Operation *> written = opsOf(module);
    for (Operation *op : written) {
      if (op->getParentOfType<linalg::LinalgOp>() || isInPadding(op)) continue;
      if (auto loops = dyn_cast<linalg::LinalgOp>(op)) {
        if (failed(verifyAtRuntime(loops))) return failure();
      } else if (isa<linalg::LinalgDialect>(op->getDialect())) {
        return op->emitOpError("has no form in loops: write it as linalg.generic");
      } else if (failed(Verifier(op).run())) {
        return failure();
      }
    }
    eraseUnused(module, written);
    for (Operation *op : written)
      if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) expandInLoops(expand, rewriter);
    return success();
  }

  /// Erases what conditions that are known to hold were computed of.
  static void eraseUnused(ModuleOp module, ArrayRef<Operation *> written) {
    const llvm::DenseSet<Operation *> kept(written.begin(), written.end());
    const SmallVector<Operation *> all = opsOf(module);
    for (Operation *op : llvm::reverse(all))
      if (!kept.contains(op) && isOpTriviallyDead(op)) op->erase();
  }

  static bool isInPadding(Operation *op) {
    return op->getParentOfType<tensor::PadOp>() || op->getParentOfType<tensor::GenerateOp>();
  }

  static SmallVector<Operation *> opsOf(ModuleOp module) {
    SmallVector<Operation *> ops;
    module.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op != module) ops.push_back(op);
    });
    return ops;
  }
};
} // namespace

} // namespace mlir::weft
