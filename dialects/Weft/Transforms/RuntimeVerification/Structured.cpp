// Checks of structured ops: the sizes of their operands in front of them, and what their bodies do
// in a loop of its own before, over no more iterations than it depends on.
#include "Weft/Transforms/RuntimeVerification/Conditions.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::weft {

namespace {

using arith::CmpIPredicate;

class StructuredOp {
public:
  explicit StructuredOp(linalg::LinalgOp op)
      : op(op), body(*op.getBlock()), name(op->getName().getStringRef().str()), b(op) {}

  LogicalResult run() {
    ranges.resize(op.getNumLoops());
    for (OpOperand &operand : op->getOpOperands())
      for (auto [axis, expr] : axesOf(operand))
        if (auto dim = dyn_cast<AffineDimExpr>(expr))
          if (Range &range = ranges[dim.getPosition()]; !range.operand)
            range = {sizeOf(operand.get(), axis), &operand, axis};
    for (Range &range : ranges)
      if (!range.operand) return op->emitOpError("has a loop that no size of an operand is for");
    for (OpOperand &operand : op->getOpOperands())
      if (failed(checkSizes(operand))) return failure();
    for (Operation &inner : body.without_terminator())
      if (failed(checkInner(&inner))) return failure();
    return success();
  }

private:
  /// How often a loop runs, and whose size that is.
  struct Range {
    Size size;
    OpOperand *operand = nullptr;
    int64_t axis = 0;
  };

  SmallVector<std::pair<int64_t, AffineExpr>> axesOf(OpOperand &operand) {
    SmallVector<std::pair<int64_t, AffineExpr>> axes;
    if (!isa<RankedTensorType>(operand.get().getType())) return axes;
    for (auto [axis, expr] : llvm::enumerate(op.getMatchingIndexingMap(&operand).getResults()))
      axes.push_back({static_cast<int64_t>(axis), expr});
    return axes;
  }

  ArrayRef<Interval> counts() {
    if (counted.empty())
      for (Range &range : ranges) counted.push_back(b.counted(range.size));
    return counted;
  }

  /// Whether every loop has an iteration.
  Value runs() {
    Value all = arith::ConstantIntOp::create(b, 1, 1);
    for (Range &range : ranges)
      if (!range.size.isKnown() || range.size.known == 0)
        all = b.both(all, b.isAtLeast(b.toValue(range.size), 1));
    return all;
  }

  //===--- Sizes ------------------------------------------------------------===//

  LogicalResult checkSizes(OpOperand &operand) {
    const std::string number = std::to_string(operand.getOperandNumber());
    for (auto [axis, expr] : axesOf(operand)) {
      const Size size = sizeOf(operand.get(), axis);
      const std::string along = " along axis " + std::to_string(axis);
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        const Range &range = ranges[dim.getPosition()];
        if (size == range.size) continue;
        Value has = b.toValue(size), wanted = b.toValue(range.size);
        b.requireSizes(b.compare(CmpIPredicate::eq, has, wanted),
                       name + ": operand " + number + " has size {}" + along + ", but operand " +
                           std::to_string(range.operand->getOperandNumber()) +
                           " has size {} along axis " + std::to_string(range.axis),
                       {has, wanted});
        continue;
      }
      SmallVector<Value> when;
      std::optional<Interval> read = b.rangeOf(expr, counts(), when);
      if (!read)
        return op->emitOpError() << "reads operand " << number << along << " by "
                                 << AffineMapAttr::get(AffineMap::get(op.getNumLoops(), 0, expr))
                                 << ", which cannot be checked: sums of loops by numbers can";
      Value has = b.toValue(size), fits = b.isInside(*read, has);
      for (Value condition : when) fits = b.both(fits, condition);
      b.requireSizes(b.either(fits, b.negated(runs())),
                     name + ": operand " + number + " is read from {} to {}" + along +
                         ", which has size {}",
                     {read->low, read->high, has});
    }
    return success();
  }

  //===--- Bodies -----------------------------------------------------------===//

  LogicalResult checkInner(Operation *inner) {
    if (inner->getNumRegions() != 0) {
      const WalkResult walked = inner->walk([&](Operation *nested) {
        if (!needsCheck(nested)) return WalkResult::advance();
        nested->emitOpError() << "cannot be checked in the body of '" << name << "' inside of '"
                              << inner->getName() << "': compute it outside of that";
        return WalkResult::interrupt();
      });
      return failure(walked.wasInterrupted());
    }
    if (!isMemoryEffectFree(inner) ||
        (isa_and_nonnull<tensor::TensorDialect>(inner->getDialect()) &&
         !isa<tensor::ExtractOp, tensor::DimOp>(inner)))
      return inner->emitOpError() << "cannot be checked in the body of '" << name
                                  << "': take elements there by tensor.extract";
    if (auto dim = dyn_cast<tensor::DimOp>(inner); dim && !dim.getConstantIndex())
      return inner->emitOpError("cannot be checked in a body: its axis is to be a constant");
    if (auto extract = dyn_cast<tensor::ExtractOp>(inner)) return checkExtract(extract);
    if (!needsCheck(inner)) return success();
    return checkNumbers(inner);
  }

  LogicalResult checkExtract(tensor::ExtractOp extract) {
    if (!isOuter(extract.getTensor()))
      return extract.emitOpError("takes an element of a tensor of the body, which has none");
    for (auto [axis, index] : llvm::enumerate(extract.getIndices())) {
      Value size = b.toValue(sizeOf(extract.getTensor(), static_cast<int64_t>(axis)));
      SmallVector<Value> when;
      std::optional<Interval> range = b.rangeOf(index, op, counts(), when);
      Value unknown = runs();
      if (range) {
        Value fits = b.isInside(*range, size);
        for (Value condition : when) fits = b.both(fits, condition);
        unknown = b.both(unknown, b.negated(fits));
      }
      if (failed(checkIf(unknown, index, [&](Conditions &inner, ValueRange found) {
            inner.requireIndices(found, size, extract);
          })))
        return failure();
    }
    return success();
  }

  LogicalResult checkNumbers(Operation *inner) {
    if (!inner->getResult(0).getType().isIntOrIndex())
      return inner->emitOpError("can be checked on numbers only");
    return reduceIf(
        runs(), inner->getOperands(), {b.getBoolAttr(true)},
        [&](Conditions &in, ValueRange operands, ValueRange results) -> SmallVector<Value> {
          return {arith::AndIOp::create(in, results[0], isDefined(in, inner, operands))};
        },
        [&](Conditions &in, ValueRange found) {
          in.requireNumbers(found[0], undefinedText(inner));
        });
  }

  /// Hands the least and the greatest number of an index to `check`.
  LogicalResult checkIf(Value condition, Value index,
                        function_ref<void(Conditions &, ValueRange)> check) {
    return reduceIf(
        condition, index,
        {b.getI64IntegerAttr(std::numeric_limits<int64_t>::max()),
         b.getI64IntegerAttr(std::numeric_limits<int64_t>::min())},
        [](Conditions &in, ValueRange operands, ValueRange results) -> SmallVector<Value> {
          Value at = arith::IndexCastOp::create(in, in.getI64Type(), operands[0]);
          return {arith::MinSIOp::create(in, results[0], at),
                  arith::MaxSIOp::create(in, results[1], at)};
        },
        check);
  }

  bool isOuter(Value value) { return value.getParentRegion()->isAncestor(op->getParentRegion()); }

  /// What of the body computes some values.
  struct Slice {
    llvm::SetVector<Operation *> ops;
    llvm::SetVector<unsigned> arguments;
    llvm::SmallBitVector loops;
  };

  LogicalResult collect(Value value, Slice &slice) {
    if (isOuter(value)) return success();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      OpOperand &operand = op->getOpOperand(argument.getArgNumber());
      if (op.isDpsInit(&operand) && op.getNumReductionLoops() != 0)
        return op->emitOpError() << "cannot be checked: its body divides, shifts or reads by what "
                                    "it reduces to; write it as scf.for";
      take(argument.getArgNumber(), slice);
      return success();
    }
    Operation *source = value.getDefiningOp();
    if (slice.ops.contains(source)) return success();
    if (auto index = dyn_cast<linalg::IndexOp>(source)) slice.loops.set(index.getDim());
    for (Value operand : source->getOperands())
      if (failed(collect(operand, slice))) return failure();
    slice.ops.insert(source);
    return success();
  }

  /// Reads an operand, in the loops that its elements depend on.
  void take(unsigned number, Slice &slice) {
    if (!slice.arguments.insert(number)) return;
    AffineMap map = op.getMatchingIndexingMap(&op->getOpOperand(number));
    for (unsigned loop = 0; loop < map.getNumDims(); ++loop)
      if (map.isFunctionOfDim(loop)) slice.loops.set(loop);
  }

  /// Where the condition holds, runs a loop over the body that reduces what `values` are to
  /// results, from these initial ones, and hands the results to `check`.
  LogicalResult
  reduceIf(Value condition, ValueRange values, ArrayRef<TypedAttr> initial,
           function_ref<SmallVector<Value>(Conditions &, ValueRange, ValueRange)> combine,
           function_ref<void(Conditions &, ValueRange)> check) {
    if (matchPattern(condition, m_Zero())) return success();
    Slice slice;
    slice.loops.resize(op.getNumLoops());
    for (Value value : values)
      if (failed(collect(value, slice))) return failure();
    // Each loop takes its range from an operand that is read.
    if (slice.loops.none() && op.getNumLoops() != 0) slice.loops.set(0);
    for (bool grown = true; grown;) {
      grown = false;
      for (unsigned loop : slice.loops.set_bits()) {
        const bool isGiven = llvm::any_of(slice.arguments, [&](unsigned number) {
          return llvm::is_contained(
              op.getMatchingIndexingMap(&op->getOpOperand(number)).getResults(),
              b.getAffineDimExpr(loop));
        });
        if (isGiven) continue;
        take(ranges[loop].operand->getOperandNumber(), slice);
        grown = true;
        break;
      }
    }
    OpBuilder::InsertionGuard guard(b);
    if (!matchPattern(condition, m_One())) {
      auto branch = scf::IfOp::create(b, condition, /*withElseRegion=*/false);
      b.setInsertionPointToStart(branch.thenBlock());
    }
    SmallVector<Value> found = reduce(slice, values, initial, combine);
    check(b, found);
    return success();
  }

  SmallVector<Value>
  reduce(Slice &slice, ValueRange values, ArrayRef<TypedAttr> initial,
         function_ref<SmallVector<Value>(Conditions &, ValueRange, ValueRange)> combine) {
    SmallVector<AffineExpr> renumbered(op.getNumLoops(), b.getAffineConstantExpr(0));
    SmallVector<unsigned> numbers(op.getNumLoops());
    unsigned loops = 0;
    for (unsigned loop : slice.loops.set_bits()) {
      renumbered[loop] = b.getAffineDimExpr(loops);
      numbers[loop] = loops++;
    }
    SmallVector<Value> inputs, outputs;
    SmallVector<AffineMap> maps;
    for (unsigned number : slice.arguments) {
      OpOperand &operand = op->getOpOperand(number);
      inputs.push_back(operand.get());
      maps.push_back(
          op.getMatchingIndexingMap(&operand).replaceDimsAndSymbols(renumbered, {}, loops, 0));
    }
    SmallVector<Type> types;
    for (TypedAttr first : initial) {
      Value number = arith::ConstantOp::create(b, first);
      Value empty = tensor::EmptyOp::create(b, ArrayRef<int64_t>(), first.getType());
      outputs.push_back(linalg::FillOp::create(b, number, empty).getResult(0));
      types.push_back(outputs.back().getType());
      maps.push_back(AffineMap::get(loops, 0, b.getContext()));
    }
    SmallVector<utils::IteratorType> iterators(loops, utils::IteratorType::reduction);
    auto loop = linalg::GenericOp::create(b, types, inputs, outputs, maps, iterators);
    Block *block = b.createBlock(&loop.getRegion());
    IRMapping mapping;
    for (unsigned number : slice.arguments) {
      BlockArgument argument = body.getArgument(number);
      mapping.map(argument, block->addArgument(argument.getType(), argument.getLoc()));
    }
    SmallVector<Value> results;
    for (TypedAttr first : initial)
      results.push_back(block->addArgument(first.getType(), op->getLoc()));
    for (Operation *inner : slice.ops) {
      if (auto index = dyn_cast<linalg::IndexOp>(inner))
        mapping.map(index.getResult(),
                    linalg::IndexOp::create(b, numbers[index.getDim()]).getResult());
      else b.clone(*inner, mapping);
    }
    SmallVector<Value> operands;
    for (Value value : values) operands.push_back(mapping.lookupOrDefault(value));
    linalg::YieldOp::create(b, combine(b, operands, results));
    b.setInsertionPointAfter(loop);
    SmallVector<Value> found;
    for (Value result : loop.getResults())
      found.push_back(tensor::ExtractOp::create(b, result, ValueRange()));
    return found;
  }

  linalg::LinalgOp op;
  Block &body;
  const std::string name;
  Conditions b;
  SmallVector<Range> ranges;
  SmallVector<Interval> counted;
};

} // namespace

LogicalResult verifyAtRuntime(linalg::LinalgOp op) { return StructuredOp(op).run(); }

} // namespace mlir::weft
