// Builds the loop that is the reverse of another.
#include "Weft/AD/ReverseLoop.h"

#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

ReverseLoop::ReverseLoop(Context &context, Location location, Value count, ArrayRef<Value> carried,
                         ArrayRef<Value> inits, ArrayRef<Value> captured)
    : context(context), captured(captured), states(carried), notesBefore(context.saved.count()) {
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
  // The iterations go from the last to the first.
  Value last = arith::SubIOp::create(b, location, count, one);
  iteration = arith::SubIOp::create(b, location, last, loop.getInductionVar());
  firstOfIteration = iteration.getDefiningOp();
  for (auto [value, argument] :
       llvm::zip_equal(captured, loop.getRegionIterArgs().drop_front(carried.size())))
    context.derivatives.set(value, argument);
}

SmallVector<Value> ReverseLoop::finish() {
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

bool ReverseLoop::hasResults() {
  if (loop->getNumResults() != 0) return true;
  loop.erase();
  loop = {};
  context.saved.truncate(notesBefore);
  return false;
}

} // namespace mlir::weft
