// Loops in reverse: counted loops that carry the cotangents of the state and of captured values.
#include "Weft/AD/OutputStacks.h"
#include "Weft/AD/Residuals.h"
#include "Weft/AD/Reverse.h"
#include "Weft/AD/ReverseLoop.h"
#include "Weft/AD/Rules.h"
#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

LogicalResult Reverse::reverseFor(scf::ForOp op) {
  context.emitter.setLocation(op.getLoc());
  findOutputs(op);
  OpBuilder before(op);
  const Iterations iterations = Iterations::of(before, op);
  std::string why;
  if (keepsAll(op, iterations.known, why)) return reverseIterations(op, iterations, why);
  return reverseSegments(op, iterations);
}

LogicalResult Reverse::reverseWhile(scf::WhileOp op) {
  context.emitter.setLocation(op.getLoc());
  std::string why;
  if (keepsAll(op, {}, why)) return reverseIterations(op, why);
  return reverseSegments(op);
}

/// What such state has for a cotangent is the same in all iterations then, and ReverseLoop carries
/// it not.
void Reverse::findOutputs(scf::ForOp op) {
  for (auto [i, init] : llvm::enumerate(op.getInitArgs()))
    if (UpdateSliceOp output = outputOf(op, i); output && !context.activity.isActive(init))
      context.outputs.insert(output);
}

void Reverse::findCarried(scf::ForOp op, SmallVectorImpl<unsigned> &places,
                          SmallVectorImpl<Value> &carried, SmallVectorImpl<Value> &cotangents) {
  for (unsigned i = 0; i < op.getNumResults(); ++i) {
    if (!isCarried(op.getResult(i))) continue;
    Value cotangent = context.derivatives.lookup(op.getResult(i));
    if (!cotangent) cotangent = context.zerosLike(op.getResult(i));
    places.push_back(i);
    carried.push_back(op.getRegionIterArg(i));
    cotangents.push_back(cotangent);
  }
}

LogicalResult Reverse::reverseIterations(scf::ForOp op, const Iterations &iterations,
                                         StringRef why) {
  Location location = op.getLoc();
  Operation *yield = op.getBody()->getTerminator();
  SmallVector<Value> carried, cotangents, captured = activeCaptures(op);
  SmallVector<unsigned> places;
  findCarried(op, places, carried, cotangents);
  ReverseLoop reverse(context, location, iterations.count, carried, cotangents, captured);
  for (auto [place, cotangent] : llvm::zip_equal(places, reverse.cotangents()))
    accumulate(context, yield->getOperand(place), cotangent);
  if (failed(run(opsOf(*op.getBody())))) return failure();
  context.emitter.setLocation(location);
  SmallVector<Value> results = reverse.finish();
  for (auto [place, result] : llvm::zip_equal(places, results))
    accumulate(context, op.getInitArgs()[place], result);
  if (!reverse.hasResults()) return success();
  return saveOfFor(context, op, iterations, reverse.wholeIteration(), why);
}

/// The loop with one more piece of state, which counts its iterations.
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

FailureOr<SmallVector<Value>> Reverse::reverseLastCondition(ArrayRef<Operation *> ops,
                                                            ValueRange handedOn, ValueRange results,
                                                            ArrayRef<Value> carried,
                                                            ArrayRef<Value> captured) {
  SmallVector<Value> last = llvm::map_to_vector(
      results, [&](Value result) { return context.derivatives.lookup(result); });
  Location location = context.emitter.at();
  context.derivatives.enter();
  seed(handedOn, last);
  const bool built = succeeded(run(ops));
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
  return cotangents;
}

/// With iteration t = before(t) then after(t), and before once more in the end: the reverse is that
/// of the last `before`, and then, as often as there were iterations, that of `after` and of
/// `before`.
LogicalResult Reverse::reverseIterations(scf::WhileOp op, StringRef why) {
  Location location = op.getLoc();
  OpBuilder &b = context.builder;
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
  Operation *mark = lastOp(b);
  FailureOr<SmallVector<Value>> cotangents =
      reverseLastCondition(before, handedOn, op.getResults().drop_back(), carried, captured);
  if (failed(cotangents)) return failure();

  ReverseLoop reverse(context, location, count, carried, *cotangents, captured);
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

  SmallVector<ReverseIteration> reversed;
  Operation *behind =
      b.getInsertionPoint() == b.getInsertionBlock()->end() ? nullptr : &*b.getInsertionPoint();
  if (reverse.hasResults()) {
    reversed.push_back(reverse.wholeIteration());
    behind = reverse.getOperation();
    eraseUnused(reversed[0].block, reversed[0].before, nullptr);
  }
  reversed.push_back({b.getInsertionBlock(), mark, behind, count});
  return saveOfWhile(context, op, reversed, why);
}

} // namespace mlir::weft
