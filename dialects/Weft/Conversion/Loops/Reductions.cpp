// Emits what stands inside the parallel loops: one element or vector of each output, and reductions
// with what they carry.

#include "OpDefs/ReductionOrder.h"
#include "Weft/Conversion/Loops/Body.h"
#include "Weft/Conversion/Loops/EmitterParts.h"
#include "Weft/IR/Bridge.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::weft;

/// What the outputs hold at `position`: one element of each, or `lanes` of them. Null for one that
/// the body does not ask for.
SmallVector<Value, 2> NestEmitter::loadOutputs(const Position &position, int64_t lanes,
                                               Value mask) {
  auto places = llvm::ArrayRef(position.at).drop_front(nest_.numInputs());
  Block &block = *nest_.op.getBlock();
  SmallVector<Value, 2> values;
  for (auto [i, access] : llvm::enumerate(nest_.outputs())) {
    bool read = !reductions_.empty() || !block.getArgument(nest_.numInputs() + i).use_empty();
    values.push_back(read ? load(access, places[i], lanes, mask) : Value());
  }
  return values;
}

/// What reductions start from that do not ask what the outputs hold.
SmallVector<Value, 2> NestEmitter::neutralOutputs(int64_t lanes) {
  SmallVector<Value, 2> values;
  for (Operation *combiner : nest_.combiners) {
    Value scalar = arith::ConstantOp::create(b_, loc_, neutralElement(combiner));
    values.push_back(toLanes(b_, loc_, scalar, lanes));
  }
  return values;
}

void NestEmitter::storeOutputs(const Position &position, ValueRange values, int64_t lanes,
                               Value mask) {
  auto places = llvm::ArrayRef(position.at).drop_front(nest_.numInputs());
  for (auto [access, place, value] : llvm::zip_equal(nest_.outputs(), places, values))
    store(access, place, value, lanes, mask);
}

/// One element of each output, or `lanes` of them.
void NestEmitter::element(Position &position, int64_t lanes, Value mask) {
  SmallVector<Value, 2> values =
      nest_.fromNeutral ? neutralOutputs(lanes) : loadOutputs(position, lanes, mask);
  if (carried_.empty()) values = body(position, values, lanes, mask);
  else values = outputsOf(reductionLoops(position, reductions_, carry(values)));
  storeOutputs(position, values, lanes, mask);
}

//===----------------------------------------------------------------------===//
// What loops over reductions carry
//===----------------------------------------------------------------------===//

// An extremum of floating point numbers is carried as integers that are ordered as the numbers are,
// -0 before 0: an instruction for each element waits for the one before, where a maximum that minds
// NaN and the sign of zero is four. Keys of NaN lie outside of all others, so that the largest and
// the smallest key together tell whether there was one.

/// Finds what is carried; nothing if there is no reduction.
void NestEmitter::chooseCarried() {
  const unsigned outputs = nest_.op.getNumDpsInits();
  extrema_.assign(outputs, nullptr);
  if (reductions_.empty() && nest_.form != NestForm::reductionVector) return;
  for (unsigned i = 0; i < outputs; ++i) {
    Operation *combiner = findCombiner(nest_.op, i);
    const bool isExtremum =
        combiner && isa<FloatType>(combiner->getResult(0).getType()) && !dependsOnOrder(combiner);
    if (!isExtremum) {
      carried_.push_back({Carried::byCombiner, combiner});
      continue;
    }
    extrema_[i] = combiner;
    carried_.push_back({Carried::largestKey, combiner});
    carried_.push_back({Carried::smallestKey, combiner});
  }
}

/// `number`, or a vector of them, as integers of the same order.
Value NestEmitter::key(Value number) {
  Type element = getElementTypeOrSelf(number.getType());
  const unsigned width = element.getIntOrFloatBitWidth();
  auto sameShape = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(number.getType());
    return vector ? vector.clone(type) : type;
  };
  Type type = sameShape(b_.getIntegerType(width));
  auto all = [&](const APInt &bits) -> Value {
    Attribute attr = b_.getIntegerAttr(b_.getIntegerType(width), bits);
    auto vector = dyn_cast<VectorType>(type);
    if (!vector) return arith::ConstantOp::create(b_, loc_, cast<TypedAttr>(attr));
    return arith::ConstantOp::create(b_, loc_, DenseElementsAttr::get(vector, attr));
  };
  Value bits = arith::BitcastOp::create(b_, loc_, type, number);
  Value sign = arith::ShRSIOp::create(b_, loc_, bits, all(APInt(width, width - 1)));
  Value flips = arith::AndIOp::create(b_, loc_, sign, all(APInt::getSignedMaxValue(width)));
  return arith::XOrIOp::create(b_, loc_, bits, flips);
}

/// The number that `key` is of.
Value NestEmitter::fromKey(Value key, Type element) {
  auto typed = [&](Type type) -> Type {
    auto vector = dyn_cast<VectorType>(key.getType());
    return vector ? vector.clone(type) : type;
  };
  // The bits of a number as a number are its key, of which in turn the bits are.
  Value asNumber = arith::BitcastOp::create(b_, loc_, typed(element), key);
  return arith::BitcastOp::create(b_, loc_, typed(element), this->key(asNumber));
}

/// What leaves the other value as it is.
Value NestEmitter::neutral(const Carried &carried) {
  if (carried.how == Carried::byCombiner)
    return arith::ConstantOp::create(b_, loc_, neutralElement(carried.combiner));
  const unsigned width = carried.combiner->getResult(0).getType().getIntOrFloatBitWidth();
  const APInt bits = carried.how == Carried::largestKey ? APInt::getSignedMinValue(width)
                                                        : APInt::getSignedMaxValue(width);
  return arith::ConstantOp::create(b_, loc_, b_.getIntegerAttr(b_.getIntegerType(width), bits));
}

Value NestEmitter::combine(const Carried &carried, Value lhs, Value rhs) {
  switch (carried.how) {
  case Carried::byCombiner: return buildCombine(b_, carried.combiner, lhs, rhs);
  case Carried::largestKey: return arith::MaxSIOp::create(b_, loc_, lhs, rhs);
  case Carried::smallestKey: return arith::MinSIOp::create(b_, loc_, lhs, rhs);
  }
  llvm_unreachable("ways are all listed");
}

/// The outputs' values as they are carried.
SmallVector<Value, 2> NestEmitter::carry(ValueRange outputs) {
  SmallVector<Value, 2> carried;
  for (auto [output, extremum] : llvm::zip_equal(outputs, extrema_))
    if (extremum) carried.append(2, key(output));
    else carried.push_back(output);
  return carried;
}

/// The outputs that belong to what is carried.
SmallVector<Value, 2> NestEmitter::outputsOf(ValueRange carried) {
  SmallVector<Value, 2> outputs;
  for (Operation *extremum : extrema_) {
    if (!extremum) {
      outputs.push_back(carried.front());
      carried = carried.drop_front();
      continue;
    }
    Type element = extremum->getResult(0).getType();
    Value largest = fromKey(carried[0], element), smallest = fromKey(carried[1], element);
    carried = carried.drop_front(2);
    const bool isMaximum = isa<arith::MaximumFOp>(extremum);
    Value wanted = isMaximum ? largest : smallest, other = isMaximum ? smallest : largest;
    Value isNaN = arith::CmpFOp::create(b_, loc_, arith::CmpFPredicate::UNO, other, other);
    outputs.push_back(arith::SelectOp::create(b_, loc_, isNaN, other, wanted));
  }
  return outputs;
}

/// What is carried, with the elements at `position` folded in; lanes out of the mask stay.
SmallVector<Value, 2> NestEmitter::fold(ValueRange carried, const Position &position, int64_t lanes,
                                        Value mask) {
  SmallVector<Value, 2> outputs; // of an extremum anything: the body does not ask
  for (auto [how, value] : llvm::zip_equal(carried_, carried))
    if (how.how != Carried::smallestKey) outputs.push_back(value);
  SmallVector<Value, 2> results;
  for (auto [value, extremum] : llvm::zip_equal(body(position, outputs, lanes, mask), extrema_)) {
    value = toLanes(b_, loc_, value, lanes);
    if (!extremum) {
      results.push_back(value);
      continue;
    }
    Value element = key(value);
    for (unsigned i = 0; i < 2; ++i)
      results.push_back(combine(carried_[results.size()], carried[results.size()], element));
  }
  return results;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The loops over reduced dimensions, with what is carried in registers.
SmallVector<Value, 2> NestEmitter::reductionLoops(Position position, ArrayRef<unsigned> dims,
                                                  ValueRange acc) {
  if (dims.empty())
    return nest_.form == NestForm::reductionVector ? reductionRun(position, acc)
                                                   : fold(acc, position, 0, {});
  Value end = nest_.dims[dims.front()].size.materialize(b_, loc_);
  return llvm::to_vector<2>(reduce(constant(0), end, 1, acc, [&](Value iv, ValueRange carried) {
    Position inside = position;
    enter(inside, dims.front(), iv);
    return reductionLoops(inside, dims.drop_front(), carried);
  }));
}

/// `count` columns from `begin` on, each reduced on its own: the rows go outermost, so that memory
/// is read as it lies, over blocks of columns whose results so far stay in the cache.
void NestEmitter::columns(Position &position, Value begin, OpFoldResult count) {
  constexpr int64_t kBlock = 2048;
  auto block = [&](Value first, OpFoldResult number) {
    if (nest_.fromNeutral)
      chunks(first, number, [&](Value iv, int64_t lanes, Value mask) {
        Position inside = position;
        enter(inside, nest_.vectorDim, iv);
        storeOutputs(inside, neutralOutputs(lanes), lanes, mask);
      });
    rowsOf(position, reductions_, first, number);
  };
  std::optional<int64_t> known = getConstantIntValue(count);
  if (known && *known <= kBlock) return block(begin, count);
  Value total = getValueOrCreateConstantIndexOp(b_, loc_, count);
  Value end = b_.createOrFold<arith::AddIOp>(loc_, begin, total);
  loop(begin, end, kBlock, [&](Value first) {
    if (known && *known % kBlock == 0) return block(first, b_.getIndexAttr(kBlock));
    Value left = arith::SubIOp::create(b_, loc_, end, first);
    block(first, arith::MinUIOp::create(b_, loc_, left, constant(kBlock)).getResult());
  });
}

/// Whether rows that are so far apart are read several at a time. Where few of them make up a page
/// they are read one after the other instead, which is how the processor finds what to read next.
std::optional<bool> NestEmitter::joinsRows(Value &joins) {
  constexpr int64_t kShortest = 512, kPage = 4096;
  for (const Access &access : nest_.inputs()) {
    const Product &stride = access.strides[reductions_.back()];
    if (stride.isZero() || !access.elementType.isIntOrFloat()) continue;
    const int64_t bytes = elementBytes(access.elementType);
    if (stride.isStatic()) {
      const int64_t distance = std::abs(stride.constant) * bytes;
      return distance < kShortest || distance >= kPage;
    }
    Value elements = stride.materialize(b_, loc_);
    auto is = [&](arith::CmpIPredicate predicate, int64_t limit) -> Value {
      return arith::CmpIOp::create(b_, loc_, predicate, elements, constant(limit / bytes));
    };
    joins = arith::OrIOp::create(b_, loc_, is(arith::CmpIPredicate::slt, kShortest),
                                 is(arith::CmpIPredicate::sge, kPage));
    return std::nullopt;
  }
  return true;
}

/// The rows of a block of columns, a few at a time.
void NestEmitter::rowsOf(Position position, ArrayRef<unsigned> dims, Value begin,
                         OpFoldResult count) {
  /// What a column's result so far is read and written for; as many as a cache has ways for.
  constexpr int64_t kRows = 8;
  /// Larger bodies are not repeated: beside them memory is no matter.
  constexpr int64_t kLargestBody = 12;
  const Product &size = nest_.dims[dims.front()].size;
  Value end = size.materialize(b_, loc_);
  if (dims.size() > 1) {
    loop(constant(0), end, 1, [&](Value iv) {
      Position inside = position;
      enter(inside, dims.front(), iv);
      rowsOf(inside, dims.drop_front(), begin, count);
    });
    return;
  }
  auto groups = [&](Value from, Value to, int64_t rows) {
    loop(from, to, rows, [&](Value row) { foldRows(position, row, rows, begin, count); });
  };
  Block &body = *nest_.op.getBlock();
  Value joins;
  std::optional<bool> together = false;
  if (std::distance(body.begin(), body.end()) <= kLargestBody) together = joinsRows(joins);
  if (together == false) return groups(constant(0), end, 1);
  if (!together || !size.isStatic()) {
    Value whole = arith::AndIOp::create(b_, loc_, end, constant(-kRows));
    if (!together) whole = arith::SelectOp::create(b_, loc_, joins, whole, constant(0));
    groups(constant(0), whole, kRows);
    return groups(whole, end, 1);
  }
  const int64_t rest = size.constant % kRows, whole = size.constant - rest;
  if (whole != 0) groups(constant(0), constant(whole), kRows);
  if (rest != 0) foldRows(position, constant(whole), rest, begin, count);
}

/// Folds `rows` rows from `row` of the innermost reduction on into the columns.
void NestEmitter::foldRows(const Position &position, Value row, int64_t rows, Value begin,
                           OpFoldResult count) {
  chunks(begin, count, [&](Value iv, int64_t lanes, Value mask) {
    Position column = position;
    enter(column, nest_.vectorDim, iv);
    SmallVector<Value, 2> values = carry(loadOutputs(column, lanes, mask));
    for (int64_t r = 0; r < rows; ++r) {
      Position inside = column;
      enter(inside, reductions_.back(), row, r);
      values = fold(values, inside, lanes, mask);
    }
    storeOutputs(column, outputsOf(values), lanes, mask);
  });
}

/// Halves combined with halves until one element is left.
Value NestEmitter::tree(const Carried &carried, Value vector, int64_t lanes) {
  for (int64_t half = lanes / 2; half > 0; half /= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < half; ++i) {
      low.push_back(i);
      high.push_back(half + i);
    }
    Value lhs = vector::ShuffleOp::create(b_, loc_, vector, vector, low);
    Value rhs = vector::ShuffleOp::create(b_, loc_, vector, vector, high);
    vector = combine(carried, lhs, rhs);
  }
  return vector::ExtractOp::create(b_, loc_, vector, 0);
}

/// One contiguous run, reduced in an order that depends on its length and on nothing else (the same
/// for every target and every number of threads). With L lanes (16, or 8 for results of 64 bits):
/// as long as there are 4 L elements, element i goes to partial result i mod 4 L; the four groups
/// of L are combined as (0 + 1) + (2 + 3); the elements that are left go to partial result i mod L;
/// the L partial results are combined in halves; and the outcome is combined with the initial
/// value. Where rounding depends on the order, no partial result takes more than kRunFanIn rounds
/// of 4 L elements: then its groups are combined, and become one addend of as many in turn, so that
/// equal addends lose no more digits than in a pairwise sum.
SmallVector<Value, 2> NestEmitter::reductionRun(Position &position, ValueRange init) {
  constexpr int64_t kGroups = 4;
  const auto isWide = [](const Carried &carried) {
    return carried.combiner->getResult(0).getType().getIntOrFloatBitWidth() == 64;
  };
  int64_t width = llvm::any_of(carried_, isWide) ? 8 : 16;
  // Where the order matters it follows from the result alone, whatever is reduced beside it.
  for (const Carried &carried : carried_)
    if (dependsOnOrder(carried.combiner)) width = isWide(carried) ? 8 : 16;
  unsigned count = carried_.size();
  unsigned dim = nest_.vectorDim;

  SmallVector<Value, 2> start;
  for (const Carried &carried : carried_)
    start.push_back(toLanes(b_, loc_, neutral(carried), width));
  // The body with L lanes from iv on.
  auto step = [&](Value iv, ValueRange acc, Value mask) {
    Position inside = position;
    enter(inside, dim, iv);
    SmallVector<Value, 2> results = fold(acc, inside, width, mask);
    if (mask)
      for (auto [value, before] : llvm::zip_equal(results, acc))
        value = arith::SelectOp::create(b_, loc_, mask, value, before);
    return results;
  };

  const Product &size = nest_.dims[dim].size;
  bool known = size.isStatic();
  int64_t number = known ? size.constant : 0;
  Value total = size.materialize(b_, loc_);
  Value zero = constant(0);
  SmallVector<Value, 2> acc = start;

  // Four groups side by side.
  constexpr int64_t kFanIn = ::weft::kRunFanIn;
  const int64_t round = kGroups * width;
  const bool ordered =
      llvm::any_of(carried_, [](const Carried &how) { return dependsOnOrder(how.combiner); });
  Value wide = known ? constant(number / round * round)
                     : Value(arith::AndIOp::create(b_, loc_, total, constant(-round)));
  auto rounds = [&](Value begin, Value end) {
    SmallVector<Value, 8> groups;
    for (int64_t g = 0; g < kGroups; ++g) llvm::append_range(groups, start);
    ValueRange sums = reduce(begin, end, round, groups, [&](Value iv, ValueRange carried) {
      SmallVector<Value, 2> results;
      for (int64_t g = 0; g < kGroups; ++g) {
        Value at = b_.createOrFold<arith::AddIOp>(loc_, iv, constant(g * width));
        llvm::append_range(results, step(at, carried.slice(g * count, count), {}));
      }
      return results;
    });
    SmallVector<Value, 2> combined;
    for (auto [i, how] : llvm::enumerate(carried_)) {
      auto group = [&](unsigned g) { return sums[g * count + i]; };
      combined.push_back(
          combine(how, combine(how, group(0), group(1)), combine(how, group(2), group(3))));
    }
    return combined;
  };
  // The results of parts of `length` elements, the last of which may be shorter, one after the
  // other. A single part is its own result: what it would be combined with is neutral.
  auto parts = [&](Value begin, Value end, int64_t length, auto part) {
    ValueRange sums = reduce(begin, end, length, start, [&](Value iv, ValueRange carried) {
      Value next = b_.createOrFold<arith::AddIOp>(loc_, iv, constant(length));
      if (!known || number / round * round % length != 0)
        next = arith::MinUIOp::create(b_, loc_, next, end);
      SmallVector<Value, 2> results;
      for (auto [how, before, value] : llvm::zip_equal(carried_, carried, part(iv, next)))
        results.push_back(combine(how, before, value));
      return results;
    });
    return llvm::to_vector<2>(sums);
  };
  const int64_t few = kFanIn * round, many = kFanIn * few;
  auto addends = [&](Value begin, Value end) { return parts(begin, end, few, rounds); };
  // Short runs are spared the outer loops, unless their bodies are large.
  constexpr int64_t kLargestBody = 12;
  Block &body = *nest_.op.getBlock();
  if (!known && ordered && std::distance(body.begin(), body.end()) <= kLargestBody) {
    Value isShort = arith::CmpIOp::create(b_, loc_, arith::CmpIPredicate::ule, wide, constant(few));
    auto choice =
        scf::IfOp::create(b_, loc_, ValueRange(acc).getTypes(), isShort, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(b_);
    b_.setInsertionPointToStart(choice.thenBlock());
    scf::YieldOp::create(b_, loc_, rounds(zero, wide));
    b_.setInsertionPointToStart(choice.elseBlock());
    scf::YieldOp::create(b_, loc_, parts(zero, wide, many, addends));
    acc.assign(choice.getResults().begin(), choice.getResults().end());
  } else if (!known || number >= round) {
    if (!ordered || (known && number < few + round)) acc = rounds(zero, wide);
    else if (known && number < many + round) acc = addends(zero, wide);
    else acc = parts(zero, wide, many, addends);
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
        SmallVector<Value, 2> results = fold(before, inside, 0, {});
        for (auto [value, vector] : llvm::zip_equal(results, carried))
          value = vector::InsertOp::create(b_, loc_, value, vector, OpFoldResult(lane));
        return results;
      }));
    }
  }

  SmallVector<Value, 2> results;
  for (auto [i, how] : llvm::enumerate(carried_))
    results.push_back(combine(how, init[i], tree(how, acc[i], width)));
  return results;
}
