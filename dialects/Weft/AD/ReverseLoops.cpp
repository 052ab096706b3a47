// Loops in reverse: counted loops that carry the cotangents of the state and of captured values.
#include "Weft/AD/Residuals.h"
#include "Weft/AD/Reverse.h"
#include "Weft/AD/Rules.h"
#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

namespace {

/// The loop that is built as the reverse of another. Its state is what `carried` values of the
/// forward loop have for cotangents before the turn that comes next in reverse.
class ReverseLoop {
public:
  /// `carried` are arguments of the forward loop's region, `inits` their cotangents behind the last
  /// turn; `captured` are values around the loop, whose cotangents go on adding up.
  ReverseLoop(Context &context, Location location, Value count, ArrayRef<Value> carried,
              ArrayRef<Value> inits, ArrayRef<Value> captured)
      : context(context), captured(captured), states(carried) {
    OpBuilder &b = context.builder;
    SmallVector<Value> all;
    for (auto [value, init] : llvm::zip_equal(carried, inits))
      all.push_back(context.typed(init, derivativeTypeOf(value.getType())));
    for (Value value : captured) {
      Value sum = context.derivatives.lookup(value);
      known.push_back(static_cast<bool>(sum));
      all.push_back(
          context.typed(sum ? sum : context.zerosLike(value), derivativeTypeOf(value.getType())));
    }
    Value zero = arith::ConstantIndexOp::create(b, location, 0),
          one = arith::ConstantIndexOp::create(b, location, 1);
    loop = scf::ForOp::create(b, location, zero, count, one, all);
    Block *body = loop.getBody();
    if (!body->empty()) body->clear(); // a terminator, made where there is no state
    scope.emplace(context, body);
    // The turns go from the last to the first.
    Value last = arith::SubIOp::create(b, location, count, one);
    turn = arith::SubIOp::create(b, location, last, loop.getInductionVar());
    firstOfTurn = turn.getDefiningOp();
    for (auto [value, argument] :
         llvm::zip_equal(captured, loop.getRegionIterArgs().drop_front(carried.size())))
      context.derivatives.set(value, argument);
  }

  /// The cotangents that a turn begins with.
  ValueRange cotangents() { return loop.getRegionIterArgs().take_front(states.size()); }

  /// Ends the body, drops what did not change in it and hands on the cotangents of the captured
  /// values. Those of the carried ones, before the first turn, are the results.
  SmallVector<Value> finish() {
    SmallVector<Value> yielded;
    for (Value value : llvm::concat<const Value>(states, captured)) {
      Value cotangent = context.derivatives.lookup(value);
      if (!cotangent) cotangent = context.zerosLike(value);
      yielded.push_back(context.typed(cotangent, derivativeTypeOf(value.getType())));
    }
    scf::YieldOp::create(context.builder, loop.getLoc(), yielded);
    scope->leave();
    scope.reset();

    SmallVector<Value> inits(loop.getInitArgs()), results(inits.size()), kept;
    SmallVector<Type> types;
    SmallVector<unsigned> places;
    Operation *yield = loop.getBody()->getTerminator();
    for (unsigned i = inits.size(); i-- > 0;) {
      BlockArgument argument = loop.getRegionIterArg(i);
      if (yield->getOperand(i) != argument) continue;
      argument.replaceAllUsesWith(inits[i]);
      loop.getBody()->eraseArgument(argument.getArgNumber());
      yield->eraseOperand(i);
      results[i] = inits[i];
    }
    SmallVector<Value> operands{loop.getLowerBound(), loop.getUpperBound(), loop.getStep()};
    for (unsigned i = 0; i < inits.size(); ++i) {
      if (results[i]) continue;
      operands.push_back(inits[i]);
      types.push_back(inits[i].getType());
      places.push_back(i);
    }
    auto larger = cast<scf::ForOp>(rebuild(context.builder, loop, operands, types));
    loop.erase();
    loop = larger;
    for (auto [i, place] : llvm::enumerate(places)) results[place] = loop.getResult(i);

    const unsigned count = states.size();
    for (auto [i, value] : llvm::enumerate(captured))
      if (known[i] || results[count + i] != inits[count + i])
        context.derivatives.set(value, results[count + i]);
    results.truncate(count);
    return results;
  }

  /// Whether anything comes out of the loop; otherwise it is erased.
  bool hasResults() {
    if (loop->getNumResults() != 0) return true;
    loop.erase();
    return false;
  }
  Operation *getOperation() { return loop; }
  /// All ops of a turn, those excepted that number it.
  ReverseTurn wholeTurn() { return {loop.getBody(), firstOfTurn, nullptr, turn}; }

private:
  Context &context;
  ArrayRef<Value> captured;
  SmallVector<Value> states;
  SmallVector<bool> known;
  scf::ForOp loop;
  std::optional<RegionScope> scope;
  Value turn;
  Operation *firstOfTurn = nullptr;
};

/// The op in front of the builder, or null.
Operation *lastOp(OpBuilder &b) {
  auto at = b.getInsertionPoint();
  return at == b.getInsertionBlock()->begin() ? nullptr : &*std::prev(at);
}

} // namespace

LogicalResult Reverse::reverseFor(scf::ForOp op) {
  Location location = op.getLoc();
  context.emitter.setLocation(location);
  Turns turns;
  {
    OpBuilder before(op);
    turns = Turns::of(before, op);
  }
  Operation *yield = op.getBody()->getTerminator();
  SmallVector<Value> carried, cotangents, inits, captured = activeCaptures(op);
  SmallVector<unsigned> places;
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (!isCarried(op.getResult(i))) continue;
    Value cotangent = context.derivatives.lookup(op.getResult(i));
    if (!cotangent) cotangent = context.zerosLike(op.getResult(i));
    places.push_back(i);
    carried.push_back(op.getRegionIterArg(i));
    cotangents.push_back(cotangent);
  }
  ReverseLoop reverse(context, location, turns.count, carried, cotangents, captured);
  for (auto [place, cotangent] : llvm::zip_equal(places, reverse.cotangents()))
    accumulate(context, yield->getOperand(place), cotangent);
  if (failed(run(opsOf(*op.getBody())))) return failure();
  context.emitter.setLocation(location);
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, op.getInitArgs()[place], result);
  if (!reverse.hasResults()) return success();
  return saveOfFor(context, op, turns, reverse.wholeTurn());
}

/// The loop with one more piece of state, which counts its turns.
static scf::WhileOp counting(Context &context, scf::WhileOp op) {
  OpBuilder &b = context.builder;
  Location location = op.getLoc();
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op);
  Type index = b.getIndexType();
  SmallVector<Value> inits(op.getInits());
  inits.push_back(arith::ConstantIndexOp::create(b, location, 0));
  SmallVector<Type> types(op.getResultTypes());
  types.push_back(index);
  auto larger = cast<scf::WhileOp>(rebuild(b, op, inits, types));
  replaceByLarger(context, op, larger);
  Value number = larger.getBeforeBody()->addArgument(index, location);
  larger.getConditionOp().getArgsMutable().append(number);
  number = larger.getAfterBody()->addArgument(index, location);
  scf::YieldOp yield = larger.getYieldOp();
  b.setInsertionPoint(yield);
  Value one = arith::ConstantIndexOp::create(b, location, 1);
  Value next = arith::AddIOp::create(b, location, number, one);
  yield.getResultsMutable().append(next);
  return larger;
}

/// With turn t = before(t) then after(t), and before once more in the end: the reverse is that of
/// the last `before`, and then, as often as there were turns, that of `after` and of `before`.
LogicalResult Reverse::reverseWhile(scf::WhileOp op) {
  Location location = op.getLoc();
  context.emitter.setLocation(location);
  OpBuilder &b = context.builder;
  SmallVector<Value> last = llvm::map_to_vector(
      op.getResults(), [&](Value result) { return context.derivatives.lookup(result); });
  op = counting(context, op);
  SmallVector<Operation *> before = opsOf(*op.getBeforeBody()), after = opsOf(*op.getAfterBody());
  Value count = op.getResults().back();
  ValueRange handedOn = op.getConditionOp().getArgs().drop_back();
  SmallVector<Value> captured = activeCaptures(op), carried;
  SmallVector<unsigned> places;
  for (unsigned i = 0; i + 1 < op.getInits().size(); ++i) {
    if (!isCarried(op.getBeforeArguments()[i])) continue;
    places.push_back(i);
    carried.push_back(op.getBeforeArguments()[i]);
  }

  // The last time that the condition was computed.
  Operation *mark = lastOp(b);
  context.derivatives.enter();
  seed(handedOn, last);
  const bool built = succeeded(run(before));
  context.emitter.setLocation(location);
  SmallVector<Value> cotangents;
  for (Value value : carried) {
    Value cotangent = context.derivatives.lookup(value);
    cotangents.push_back(cotangent ? cotangent : context.zerosLike(value));
  }
  Derivatives::Frame frame = context.derivatives.leave();
  if (!built) return failure();
  for (Value value : captured)
    if (Value cotangent = frame.lookup(value)) context.derivatives.set(value, cotangent);

  ReverseLoop reverse(context, location, count, carried, cotangents, captured);
  for (auto [place, cotangent] : llvm::zip_equal(places, reverse.cotangents()))
    accumulate(context, op.getYieldOp().getOperand(place), cotangent);
  if (failed(run(after))) return failure();
  SmallVector<Value> arrived =
      llvm::map_to_vector(op.getAfterArguments().drop_back(),
                          [&](Value value) { return context.derivatives.lookup(value); });
  seed(handedOn, arrived);
  // Ops with regions in it have been replaced since.
  if (failed(run(opsOf(*op.getBeforeBody())))) return failure();
  context.emitter.setLocation(location);
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, op.getInits()[place], result);

  SmallVector<ReverseTurn> reversed;
  Operation *behind =
      b.getInsertionPoint() == b.getInsertionBlock()->end() ? nullptr : &*b.getInsertionPoint();
  if (reverse.hasResults()) {
    reversed.push_back(reverse.wholeTurn());
    behind = reverse.getOperation();
    eraseUnused(reversed[0].block, reversed[0].before, nullptr);
  }
  reversed.push_back({b.getInsertionBlock(), mark, behind, count});
  return saveOfWhile(context, op, reversed);
}

} // namespace mlir::weft
