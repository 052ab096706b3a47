// Emits what stands inside the parallel loops: one element or vector of each output, and
// reductions.

#include "Weft/Conversion/Loops/Body.h"
#include "Weft/Conversion/Loops/EmitterParts.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::weft;

/// One element of each output, or `lanes` of them.
void NestEmitter::element(Position &position, int64_t lanes, Value mask) {
  auto outputs = llvm::ArrayRef(nest_.accesses).drop_front(nest_.numInputs());
  auto places = llvm::ArrayRef(position.at).drop_front(nest_.numInputs());
  Block &block = *nest_.op.getBlock();
  SmallVector<Value, 2> values;
  for (auto [i, access] : llvm::enumerate(outputs)) {
    if (nest_.fromNeutral) {
      TypedAttr neutral = neutralElement(nest_.combiners[i]);
      Value scalar = arith::ConstantOp::create(b_, loc_, neutral);
      values.push_back(toLanes(b_, loc_, scalar, lanes));
      continue;
    }
    bool read = !reductions_.empty() || !block.getArgument(nest_.numInputs() + i).use_empty();
    values.push_back(read ? load(access, places[i], lanes, mask) : Value());
  }
  if (nest_.form == NestForm::reductionVector)
    values = reductionLoops(position, reductions_, values, 0, {});
  else if (!reductions_.empty())
    values = reductionLoops(position, reductions_, values, lanes, mask);
  else values = body(position, values, lanes, mask);
  for (auto [i, access] : llvm::enumerate(outputs))
    store(access, places[i], values[i], lanes, mask);
}

/// The loops over reduced dimensions, with the outputs' values carried in registers.
SmallVector<Value, 2> NestEmitter::reductionLoops(Position position, ArrayRef<unsigned> dims,
                                                  ValueRange acc, int64_t lanes, Value mask) {
  if (dims.empty()) {
    if (nest_.form == NestForm::reductionVector) return reductionRun(position, acc);
    SmallVector<Value, 2> results = body(position, acc, lanes, mask);
    for (Value &value : results) value = toLanes(b_, loc_, value, lanes);
    return results;
  }
  Value end = nest_.dims[dims.front()].size.materialize(b_, loc_);
  return llvm::to_vector<2>(reduce(constant(0), end, 1, acc, [&](Value iv, ValueRange carried) {
    Position inside = position;
    enter(inside, dims.front(), iv);
    return reductionLoops(inside, dims.drop_front(), carried, lanes, mask);
  }));
}

/// Halves combined with halves until one element is left.
Value NestEmitter::tree(Operation *combiner, Value vector, int64_t lanes) {
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(half + i);
    }
    Value lhs = vector::ShuffleOp::create(b_, loc_, vector, vector, low);
    Value rhs = vector::ShuffleOp::create(b_, loc_, vector, vector, high);
    vector = buildCombine(b_, combiner, lhs, rhs);
  }
  return vector::ExtractOp::create(b_, loc_, vector, 0);
}

/// One contiguous run, reduced in an order that depends on its length and on nothing else (the same
/// for every target and every number of threads). With L lanes (16, or 8 for elements of 64 bits):
/// as long as there are 4 L elements, element i goes to partial result i mod 4 L; the four groups
/// of L are combined as (0 + 1) + (2 + 3); the elements that are left go to partial result i mod L;
/// the L partial results are combined in halves; and the outcome is combined with the initial
/// value.
SmallVector<Value, 2> NestEmitter::reductionRun(Position &position, ValueRange init) {
  constexpr int64_t kGroups = 4;
  int64_t width = 16;
  for (const Access &access : nest_.accesses)
    if (access.elementType.isIntOrFloat() && access.elementType.getIntOrFloatBitWidth() == 64)
      width = 8;
  unsigned outputs = nest_.combiners.size();
  unsigned dim = nest_.vectorDim;

  SmallVector<Value, 2> neutral;
  for (Operation *combiner : nest_.combiners) {
    TypedAttr attr = neutralElement(combiner);
    auto type = VectorType::get({width}, attr.getType());
    neutral.push_back(
        arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(type, Attribute(attr))));
  }
  // The body with L lanes from iv on.
  auto step = [&](Value iv, ValueRange acc, Value mask) {
    Position inside = position;
    enter(inside, dim, iv);
    SmallVector<Value, 2> results = body(inside, acc, width, mask);
    for (auto [value, before] : llvm::zip_equal(results, acc)) {
      value = toLanes(b_, loc_, value, width);
      if (mask) value = arith::SelectOp::create(b_, loc_, mask, value, before);
    }
    return results;
  };

  const Product &size = nest_.dims[dim].size;
  bool known = size.isStatic();
  int64_t number = known ? size.constant : 0;
  Value total = size.materialize(b_, loc_);
  Value zero = constant(0);
  SmallVector<Value, 2> acc = neutral;

  // Four groups side by side.
  Value wide = known ? constant(number / (kGroups * width) * kGroups * width)
                     : Value(arith::AndIOp::create(b_, loc_, total, constant(-kGroups * width)));
  if (!known || number >= kGroups * width) {
    SmallVector<Value, 8> groups;
    for (int64_t g = 0; g < kGroups; ++g) llvm::append_range(groups, neutral);
    ValueRange sums =
        reduce(zero, wide, kGroups * width, groups, [&](Value iv, ValueRange carried) {
          SmallVector<Value, 2> results;
          for (int64_t g = 0; g < kGroups; ++g) {
            Value at = b_.createOrFold<arith::AddIOp>(loc_, iv, constant(g * width));
            llvm::append_range(results, step(at, carried.slice(g * outputs, outputs), {}));
          }
          return results;
        });
    for (unsigned i = 0; i < outputs; ++i) {
      auto group = [&](unsigned g) { return sums[g * outputs + i]; };
      Operation *combiner = nest_.combiners[i];
      acc[i] = buildCombine(b_, combiner, buildCombine(b_, combiner, group(0), group(1)),
                            buildCombine(b_, combiner, group(2), group(3)));
    }
  }

  // Single groups.
  Value narrow = known ? constant(number / width * width)
                       : Value(arith::AndIOp::create(b_, loc_, total, constant(-width)));
  if (!known || number % (kGroups * width) >= width)
    acc = llvm::to_vector<2>(reduce(wide, narrow, width, acc, [&](Value iv, ValueRange carried) {
      return step(iv, carried, {});
    }));

  // The last, incomplete group.
  if (!known || number % width != 0) {
    if (options_.masked && nest_.maskable) {
      OpFoldResult rest = b_.getIndexAttr(number % width);
      if (!known) rest = arith::SubIOp::create(b_, loc_, total, narrow).getResult();
      Value mask = maskOf(width, rest);
      acc = step(narrow, acc, mask);
    } else {
      acc = llvm::to_vector<2>(reduce(narrow, total, 1, acc, [&](Value iv, ValueRange carried) {
        Value lane = arith::SubIOp::create(b_, loc_, iv, narrow);
        SmallVector<Value, 2> before;
        for (Value vector : carried)
          before.push_back(vector::ExtractOp::create(b_, loc_, vector, OpFoldResult(lane)));
        Position inside = position;
        enter(inside, dim, iv);
        SmallVector<Value, 2> results = body(inside, before, 0, {});
        for (auto [value, vector] : llvm::zip_equal(results, carried))
          value = vector::InsertOp::create(b_, loc_, value, vector, OpFoldResult(lane));
        return results;
      }));
    }
  }

  SmallVector<Value, 2> results;
  for (unsigned i = 0; i < outputs; ++i) {
    Operation *combiner = nest_.combiners[i];
    results.push_back(buildCombine(b_, combiner, init[i], tree(combiner, acc[i], width)));
  }
  return results;
}
