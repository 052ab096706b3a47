// Loops in reverse of which few states are kept: their iterations are run again, a segment at a
// time (Griewank and Walther, Evaluating Derivatives, 2nd edition, SIAM 2008, chapter 12).
#include "Weft/AD/Recompute.h"
#include "Weft/AD/Rerun.h"
#include "Weft/AD/Residuals.h"
#include "Weft/AD/Reverse.h"
#include "Weft/AD/ReverseLoop.h"
#include "Weft/AD/Revolve.h"
#include "Weft/AD/Rules.h"
#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

namespace mlir::weft {

namespace {

/// The segments of a counted loop.
struct Segments {
  Value length;                ///< in turns; the last one may be shorter
  std::optional<int64_t> size; ///< the same where it is known
  Iterations count;
};

/// The smallest number whose square is at least `count`, and at least 1.
Value rootOf(OpBuilder &b, Location location, Value count) {
  Type i64 = b.getI64Type(), index = b.getIndexType();
  Value number = arith::IndexCastOp::create(b, location, i64, count);
  number = arith::UIToFPOp::create(b, location, b.getF64Type(), number);
  number = math::CeilOp::create(b, location, math::SqrtOp::create(b, location, number));
  number = arith::FPToUIOp::create(b, location, i64, number);
  Value one = arith::ConstantIndexOp::create(b, location, 1);
  return arith::MaxUIOp::create(b, location, arith::IndexCastOp::create(b, location, index, number),
                                one);
}

/// Segments of about as many iterations as there are segments: that keeps the fewest values.
Segments segmentsOf(OpBuilder &b, Location location, const Iterations &iterations) {
  Segments segments;
  if (iterations.known) {
    const auto size = static_cast<int64_t>(
        std::ceil(std::sqrt(static_cast<double>(std::max<int64_t>(*iterations.known, 1)))));
    const int64_t count = llvm::divideCeil(*iterations.known, size);
    segments.size = size;
    segments.length = arith::ConstantIndexOp::create(b, location, size);
    segments.count = {arith::ConstantIndexOp::create(b, location, count), count};
  } else {
    segments.length = rootOf(b, location, iterations.count);
    segments.count = {arith::CeilDivUIOp::create(b, location, iterations.count, segments.length),
                      {}};
  }
  return segments;
}

constexpr const char *whySnapshot = "the iterations behind it are run again from it";

} // namespace

bool Reverse::keepsAll(Operation *loop, std::optional<int64_t> iterations, std::string &why) {
  if (context.checkpoint.kind == ::weft::CheckpointBudget::Kind::none) return true;
  why = iterations && *iterations <= 4 ? "they are few" : whyNotRerun(loop);
  return !why.empty();
}

/// Runs `count` iterations from number `first` on again, and reverses them at once.
LogicalResult Reverse::reverseAgain(Operation *loop, const IterationOps &ops, Value first,
                                    const Iterations &iterations, ArrayRef<unsigned> places,
                                    ValueRange cotangents) {
  scf::ForOp again = rerun(context, loop, ops, first, iterations.count);
  again->setAttr(againName, context.builder.getUnitAttr());
  for (auto [place, cotangent] : llvm::zip_equal(places, cotangents))
    context.derivatives.set(again.getResult(place), cotangent);
  return reverseIterations(again, iterations, "");
}

/// Makes what is left of an iteration in reverse independent of what it does not need.
static void settle(Context &context, Operation *loop, const ReverseIteration &iteration) {
  eraseUnused(iteration.block, iteration.before, iteration.behind);
  // It is gone if the reverse needs nothing of its iterations.
  for (Operation &op : llvm::make_early_inc_range(*iteration.block))
    if (auto again = dyn_cast<scf::ForOp>(op); again && again->removeAttr(againName)) {
      dropUnneeded(context, again);
      break;
    }
  hoistReads(loop, iteration.block);
  eraseUnused(iteration.block, iteration.before, iteration.behind);
}

LogicalResult Reverse::reverseRevolving(Operation *op, const IterationOps &ops,
                                        ReverseLoop &reverse, ArrayRef<unsigned> places,
                                        Value iterations, ValueRange inits) {
  OpBuilder &b = context.builder;
  const Iterations one{arith::ConstantIndexOp::create(b, op->getLoc(), 1), 1};
  if (failed(reverseAgain(op, ops, reverse.number(), one, places, reverse.cotangents())))
    return failure();
  context.emitter.setLocation(op->getLoc());
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, inits[place], result);
  if (!reverse.hasResults()) return success();
  const ReverseIteration iteration = reverse.wholeIteration();
  settle(context, op, iteration);
  Recompute recompute(context, op);
  if (failed(recompute.choose(iteration))) return failure();
  if (!recompute.kept().empty())
    revolve(context, op, ops, iterations, reverse, recompute, context.checkpoint);
  return success();
}

LogicalResult Reverse::reverseSegments(scf::ForOp op, const Iterations &iterations) {
  Location location = op.getLoc();
  OpBuilder &b = context.builder;
  const IterationOps ops(op);
  if (context.checkpoint.kind != ::weft::CheckpointBudget::Kind::sqrt) {
    SmallVector<Value> carried, cotangents, captured = activeCaptures(op);
    SmallVector<unsigned> places;
    findCarried(op, places, carried, cotangents);
    ReverseLoop reverse(context, location, iterations.count, carried, cotangents, captured);
    return reverseRevolving(op, ops, reverse, places, iterations.count, op.getInitArgs());
  }
  OpBuilder outside(op);
  const Segments segments = segmentsOf(outside, location, iterations);
  SmallVector<Value> carried, cotangents, captured = activeCaptures(op);
  SmallVector<unsigned> places;
  findCarried(op, places, carried, cotangents);
  ReverseLoop reverse(context, location, segments.count.count, carried, cotangents, captured);
  Value first = arith::MulIOp::create(b, location, reverse.number(), segments.length);
  Value left = arith::SubIOp::create(b, location, iterations.count, first);
  Iterations some{arith::MinUIOp::create(b, location, left, segments.length), segments.size};
  if (failed(reverseAgain(op, ops, first, some, places, reverse.cotangents()))) return failure();
  context.emitter.setLocation(location);
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, op.getInitArgs()[place], result);
  if (!reverse.hasResults()) return success();

  const ReverseIteration iteration = reverse.wholeIteration();
  settle(context, op, iteration);
  Recompute recompute(context, op);
  if (failed(recompute.choose(iteration))) return failure();
  LoopStacks stacks(context, op, segments.count);
  stacks.onlyEvery(segments.length);
  for (Value value : recompute.kept()) stacks.keep(value);
  recompute.moveTo(stacks.finish());
  for (Value value : recompute.kept())
    stacks.note(value, segments.count.known.value_or(-1), whySnapshot);
  recompute.restore(iteration, [&](OpBuilder &at, Value value, const ReverseIteration &) {
    return stacks.load(at, value, iteration.number);
  });
  return success();
}

namespace {

/// A loop that counts its iterations, and how many of them begin a segment: segment j begins with
/// iteration j (j + 1) and has 2 (j + 1) iterations, so of n iterations there are about sqrt(n)
/// segments, the longest of 2 sqrt(n), without knowing n before.
struct GrowingSegments {
  GrowingSegments(Context &context, scf::WhileOp loop);

  static Value first(OpBuilder &b, Location location, Value segment) {
    Value one = arith::ConstantIndexOp::create(b, location, 1);
    return arith::MulIOp::create(b, location, segment,
                                 arith::AddIOp::create(b, location, segment, one));
  }

  Value count() { return op.getResults().drop_back(2).back(); }
  Value iterations() { return op.getResults().back(); }
  /// The loop's own operands, without what counts.
  ValueRange own(ValueRange values) { return values.take_front(values.size() - 3); }

  scf::WhileOp op;
  Value due, place; ///< whether an iteration begins a segment, and which
};

GrowingSegments::GrowingSegments(Context &context, scf::WhileOp loop) {
  OpBuilder &b = context.builder;
  Location location = loop.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(loop);
  Type index = b.getIndexType();
  SmallVector<Value> inits(loop.getInits());
  inits.append(3, arith::ConstantIndexOp::create(b, location, 0));
  SmallVector<Type> types(loop.getResultTypes());
  types.append(3, index);
  op = cast<scf::WhileOp>(rebuild(b, loop, inits, types));
  replaceByLarger(context, loop, op);

  Block *before = op.getBeforeBody(), *after = op.getAfterBody();
  place = before->addArgument(index, location);
  Value next = before->addArgument(index, location), number = before->addArgument(index, location);
  b.setInsertionPointToStart(before);
  due = arith::CmpIOp::create(b, location, arith::CmpIPredicate::eq, number, next);
  Value one = arith::ConstantIndexOp::create(b, location, 1);
  Value more = arith::AddIOp::create(b, location, place, one);
  Value length = arith::AddIOp::create(b, location, more, more);
  Value far = arith::AddIOp::create(b, location, next, length);
  op.getConditionOp().getArgsMutable().append(
      {arith::SelectOp::create(b, location, due, more, place),
       arith::SelectOp::create(b, location, due, far, next), number});
  SmallVector<Value> counters;
  for (int i = 0; i < 3; ++i) counters.push_back(after->addArgument(index, location));
  scf::YieldOp yield = op.getYieldOp();
  b.setInsertionPoint(yield);
  one = arith::ConstantIndexOp::create(b, location, 1);
  counters[2] = arith::AddIOp::create(b, location, counters[2], one);
  yield.getResultsMutable().append(counters);
}

/// Gives values that `iteration`, behind the loop, uses of the last time its condition was
/// computed.
LogicalResult handOut(Context &context, scf::WhileOp op, const ReverseIteration &iteration) {
  Recompute recompute(context, op);
  if (failed(recompute.choose(iteration))) return failure();
  Operation *larger = op;
  const unsigned before = op.getNumResults();
  if (!recompute.kept().empty()) {
    OpBuilder b(op);
    SmallVector<Type> types(op.getResultTypes());
    for (Value value : recompute.kept()) {
      types.push_back(value.getType());
      op.getAfterBody()->addArgument(value.getType(), op.getLoc());
    }
    op.getConditionOp().getArgsMutable().append(recompute.kept());
    larger = rebuild(b, op, op.getInits(), types);
    replaceByLarger(context, op, larger);
    recompute.moveTo(larger);
    for (auto [i, value] : llvm::enumerate(recompute.kept()))
      context.saved.keep(Saved::Form::value, value, 1, recompute.reasonFor(value),
                         larger->getResult(before + i));
  }
  recompute.restore(iteration, [&](OpBuilder &, Value value, const ReverseIteration &) -> Value {
    const unsigned place = llvm::find(recompute.kept(), value) - recompute.kept().begin();
    return larger->getResult(before + place);
  });
  return success();
}

} // namespace

LogicalResult Reverse::reverseSegments(scf::WhileOp loop) {
  Location location = loop.getLoc();
  OpBuilder &b = context.builder;
  const IterationOps ops(loop);
  const bool revolves = context.checkpoint.kind != ::weft::CheckpointBudget::Kind::sqrt;
  GrowingSegments segments(context, loop);
  scf::WhileOp op = segments.op;
  SmallVector<Value> captured = activeCaptures(op), carried;
  SmallVector<unsigned> places;
  for (unsigned i = 0; i < ops.states; ++i) {
    if (!isCarried(op.getBeforeArguments()[i])) continue;
    places.push_back(i);
    carried.push_back(op.getBeforeArguments()[i]);
  }
  Operation *mark = lastOp(b);
  FailureOr<SmallVector<Value>> cotangents =
      reverseLastCondition(ops.before, segments.own(op.getConditionOp().getArgs()),
                           segments.own(op.getResults()), carried, captured);
  if (failed(cotangents)) return failure();

  if (revolves) {
    ReverseLoop reverse(context, location, segments.iterations(), carried, *cotangents, captured);
    if (failed(reverseRevolving(op, ops, reverse, places, segments.iterations(), op.getInits())))
      return failure();
    Operation *behind = reverse.getOperation();
    if (!behind && b.getInsertionPoint() != b.getInsertionBlock()->end())
      behind = &*b.getInsertionPoint();
    return handOut(context, op, {b.getInsertionBlock(), mark, behind, {}});
  }
  ReverseLoop reverse(context, location, segments.count(), carried, *cotangents, captured);
  Value first = segments.first(b, location, reverse.number());
  Value one = arith::ConstantIndexOp::create(b, location, 1);
  Value length = arith::AddIOp::create(b, location, reverse.number(), one);
  length = arith::AddIOp::create(b, location, length, length);
  Value left = arith::SubIOp::create(b, location, segments.iterations(), first);
  const Iterations some{arith::MinUIOp::create(b, location, left, length), {}};
  if (failed(reverseAgain(op, ops, first, some, places, reverse.cotangents()))) return failure();
  context.emitter.setLocation(location);
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, op.getInits()[place], result);

  Operation *behind =
      b.getInsertionPoint() == b.getInsertionBlock()->end() ? nullptr : &*b.getInsertionPoint();
  if (reverse.hasResults()) {
    behind = reverse.getOperation();
    const ReverseIteration iteration = reverse.wholeIteration();
    settle(context, op, iteration);
    Recompute recompute(context, op);
    if (failed(recompute.choose(iteration))) return failure();
    LoopStacks stacks(context, op);
    stacks.onlyWhen(segments.due, segments.place);
    for (Value value : recompute.kept()) stacks.keep(value);
    op = cast<scf::WhileOp>(stacks.finish());
    recompute.moveTo(op);
    for (Value value : recompute.kept()) stacks.note(value, -1, whySnapshot);
    recompute.restore(iteration, [&](OpBuilder &at, Value value, const ReverseIteration &) {
      return stacks.load(at, value, iteration.number);
    });
  }
  return handOut(context, op, {b.getInsertionBlock(), mark, behind, {}});
}

} // namespace mlir::weft
