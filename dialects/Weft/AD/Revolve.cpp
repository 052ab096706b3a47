// Builds the schedule of snapshots into a loop in reverse.
#include "Weft/AD/Revolve.h"

#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

namespace mlir::weft {

namespace {

/// Index arithmetic at a place.
struct Numbers {
  OpBuilder &b;
  Location at;

  Value constant(int64_t number) { return arith::ConstantIndexOp::create(b, at, number); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, at, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, at, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, at, x, y); }
  Value div(Value x, Value y) { return arith::DivUIOp::create(b, at, x, y); }
  Value min(Value x, Value y) { return arith::MinUIOp::create(b, at, x, y); }
  Value max(Value x, Value y) { return arith::MaxUIOp::create(b, at, x, y); }
  Value less(Value x, Value y) {
    return arith::CmpIOp::create(b, at, arith::CmpIPredicate::ult, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, at, x, y); }
  Value select(Value which, Value x, Value y) {
    return arith::SelectOp::create(b, at, which, x, y);
  }
};

/// A piece of state, and where its snapshots are among what the loops carry.
struct Piece {
  Value value;     ///< in the forward loop's region
  unsigned number; ///< among the state of that loop
  Value init;
  RankedTensorType type; ///< as a stack holds it
  unsigned stack = 0, places = 0, end = 0;
  bool known() const { return type.hasStaticShape(); }
};

class Revolve {
public:
  Revolve(Context &context, Operation *loop, const IterationOps &ops, Value iterations)
      : context(context), loop(loop), ops(ops), iterations(iterations), location(loop->getLoc()) {}

  void build(ReverseLoop &reverse, Recompute &recompute, ::weft::CheckpointBudget checkpoint);

private:
  /// What the loops carry: how many snapshots there are, the iterations that they are of, then the
  /// stacks of the pieces.
  enum : unsigned { used, positions, firstStack };

  void findPieces(ArrayRef<Value> kept);
  std::optional<int64_t> knownRoom(::weft::CheckpointBudget checkpoint) const;
  Value room(OpBuilder &b, ::weft::CheckpointBudget checkpoint);
  Value bytesOfState(OpBuilder &b);
  void addStates(OpBuilder &b);
  Value position(OpBuilder &b, ArrayRef<Value> states, Value place);
  void pop(OpBuilder &b, SmallVectorImpl<Value> &states, Value iteration);
  SmallVector<Value> advance(OpBuilder &b, SmallVectorImpl<Value> &states, Value iteration);
  void storeAll(OpBuilder &b, SmallVectorImpl<Value> &states, ValueRange values, Value next,
                Value due);
  Value storeIf(OpBuilder &b, Value due, Value value, Value stack, Value at);

  Context &context;
  Operation *loop;
  const IterationOps &ops;
  Value iterations;
  Location location;
  SmallVector<Piece> pieces;
  SmallVector<Value> inits; ///< of what the loops carry
  Value most;               ///< snapshots at a time
  std::optional<int64_t> knownMost;
};

void Revolve::findPieces(ArrayRef<Value> kept) {
  for (Value value : kept) {
    Piece piece;
    piece.value = value;
    piece.number = cast<BlockArgument>(value).getArgNumber();
    if (auto counted = dyn_cast<scf::ForOp>(loop)) {
      --piece.number; // the number of the iteration
      piece.init = counted.getInitArgs()[piece.number];
    } else {
      piece.init = cast<scf::WhileOp>(loop).getInits()[piece.number];
    }
    piece.type = keptType(value.getType());
    pieces.push_back(piece);
  }
}

/// Of the state before the first iteration.
Value Revolve::bytesOfState(OpBuilder &b) {
  Numbers n{b, location};
  Value total = n.constant(0);
  for (const Piece &piece : pieces) {
    Value bytes = n.constant(elementBytes(piece.type.getElementType()));
    for (int64_t axis = 0; axis < piece.type.getRank(); ++axis)
      bytes = n.mul(bytes, piece.type.isDynamicDim(axis)
                               ? Value(tensor::DimOp::create(b, location, piece.init, axis))
                               : n.constant(piece.type.getDimSize(axis)));
    total = n.add(total, bytes);
  }
  return total;
}

/// How many snapshots there may be, where iterations and sizes are known.
std::optional<int64_t> Revolve::knownRoom(::weft::CheckpointBudget checkpoint) const {
  APInt count;
  if (!matchPattern(iterations, m_ConstantInt(&count))) return std::nullopt;
  int64_t number = checkpoint.number;
  if (checkpoint.kind == ::weft::CheckpointBudget::Kind::bytes) {
    int64_t total = 0;
    for (const Piece &piece : pieces) {
      int64_t bytes = elementBytes(piece.type.getElementType());
      if (!piece.known()) return std::nullopt;
      if (llvm::MulOverflow(bytes, piece.type.getNumElements(), bytes) ||
          llvm::AddOverflow(total, bytes, total))
        return std::nullopt;
    }
    number /= std::max<int64_t>(total, 1);
  }
  return std::min(number, count.getSExtValue());
}

Value Revolve::room(OpBuilder &b, ::weft::CheckpointBudget checkpoint) {
  Numbers n{b, location};
  if (knownMost) return n.constant(*knownMost);
  Value count = n.constant(checkpoint.number);
  if (checkpoint.kind == ::weft::CheckpointBudget::Kind::bytes)
    count = n.div(count, n.max(bytesOfState(b), n.constant(1)));
  return n.min(count, iterations);
}

void Revolve::addStates(OpBuilder &b) {
  Numbers n{b, location};
  Value zero = n.constant(0);
  SmallVector<Value> places;
  int64_t knownPlaces = ShapedType::kDynamic;
  if (knownMost) knownPlaces = std::max<int64_t>(*knownMost, 1);
  else places = {n.max(most, n.constant(1))};
  Type i64 = b.getI64Type();
  auto add = [&](Value init) {
    inits.push_back(init);
    return static_cast<unsigned>(inits.size() - 1);
  };
  // Of known size where it can be, so that a snapshot of these stacks, for a derivative of the
  // derivative, is of known size too.
  auto addStack = [&](Type element, ArrayRef<int64_t> value) {
    SmallVector<int64_t> shape{knownPlaces};
    llvm::append_range(shape, value);
    return add(StackEmptyOp::create(b, location, RankedTensorType::get(shape, element), places));
  };
  add(zero);
  addStack(i64, {});
  for (Piece &piece : pieces) {
    Type element = piece.type.getElementType();
    if (piece.known()) {
      piece.stack = addStack(element, piece.type.getShape());
      continue;
    }
    piece.stack = add(StackEmptyOp::create(
        b, location, RankedTensorType::get(ShapedType::kDynamic, element), zero));
    piece.places = addStack(i64, static_cast<int64_t>(1 + piece.type.getNumDynamicDims()));
    piece.end = add(zero);
  }
}

/// The iteration of the snapshot at a place.
Value Revolve::position(OpBuilder &b, ArrayRef<Value> states, Value place) {
  return loadKept(b, location, b.getIndexType(), states[positions], {}, place);
}

/// Drops the last snapshot if it is of a later iteration; there is one such at most.
void Revolve::pop(OpBuilder &b, SmallVectorImpl<Value> &states, Value iteration) {
  Numbers n{b, location};
  Value zero = n.constant(0), one = n.constant(1);
  Value last = n.sub(n.max(states[used], one), one);
  Value late = n.both(n.less(zero, states[used]), n.less(iteration, position(b, states, last)));
  for (const Piece &piece : pieces) {
    if (piece.known()) continue;
    auto row = RankedTensorType::get(1 + piece.type.getNumDynamicDims(), b.getI64Type());
    Value place = StackLoadOp::create(b, location, row, states[piece.places], last, ValueRange());
    Value begin = tensor::ExtractOp::create(b, location, place, zero);
    begin = arith::IndexCastOp::create(b, location, b.getIndexType(), begin);
    states[piece.end] = n.select(late, begin, states[piece.end]);
  }
  states[used] = n.select(late, last, states[used]);
}

Value Revolve::storeIf(OpBuilder &b, Value due, Value value, Value stack, Value at) {
  auto branch = scf::IfOp::create(b, location, stack.getType(), due, /*withElseRegion=*/true);
  OpBuilder inner = branch.getThenBodyBuilder();
  Value stored =
      StackStoreOp::create(inner, location, stack.getType(), value, stack, at, /*again=*/true);
  scf::YieldOp::create(inner, location, stored);
  inner = branch.getElseBodyBuilder();
  scf::YieldOp::create(inner, location, stack);
  return branch.getResult(0);
}

/// A snapshot of iteration `next`, if it is due.
void Revolve::storeAll(OpBuilder &b, SmallVectorImpl<Value> &states, ValueRange values, Value next,
                       Value due) {
  Numbers n{b, location};
  Type i64 = b.getI64Type();
  Value place = states[used];
  states[positions] = storeIf(b, due, asTensor(b, location, next), states[positions], place);
  for (auto [piece, value] : llvm::zip_equal(pieces, values)) {
    if (piece.known()) {
      states[piece.stack] =
          storeIf(b, due, asTensor(b, location, value), states[piece.stack], place);
      continue;
    }
    Value begin = states[piece.end], count = n.constant(1);
    SmallVector<Value> row{arith::IndexCastOp::create(b, location, i64, begin)};
    for (int64_t axis = 0; axis < piece.type.getRank(); ++axis) {
      if (!piece.type.isDynamicDim(axis)) {
        count = n.mul(count, n.constant(piece.type.getDimSize(axis)));
        continue;
      }
      Value size = tensor::DimOp::create(b, location, value, axis);
      count = n.mul(count, size);
      row.push_back(arith::IndexCastOp::create(b, location, i64, size));
    }
    Value end = n.select(due, n.add(begin, count), begin);
    Value stack = StackReserveOp::create(b, location, states[piece.stack].getType(),
                                         states[piece.stack], end);
    states[piece.stack] = storeIf(b, due, value, stack, begin);
    auto type = RankedTensorType::get(static_cast<int64_t>(row.size()), i64);
    states[piece.places] = storeIf(b, due, tensor::FromElementsOp::create(b, location, type, row),
                                   states[piece.places], place);
    states[piece.end] = end;
  }
  states[used] = n.select(due, n.add(place, n.constant(1)), place);
}

/// Runs iterations up to `iteration` from the last snapshot on, with further snapshots on the way.
/// Gives the state that `iteration` begins with.
SmallVector<Value> Revolve::advance(OpBuilder &b, SmallVectorImpl<Value> &states, Value iteration) {
  Numbers n{b, location};
  Value zero = n.constant(0), one = n.constant(1);
  Value last = n.sub(n.max(states[used], one), one), some = n.less(zero, states[used]);
  SmallVector<Value> carried{n.select(some, position(b, states, last), zero)};
  llvm::append_range(carried, states);
  for (const Piece &piece : pieces) {
    Type type = piece.value.getType();
    auto branch = scf::IfOp::create(b, location, type, some, /*withElseRegion=*/true);
    OpBuilder inner = branch.getThenBodyBuilder();
    Value loaded = loadKept(inner, location, type, states[piece.stack],
                            piece.known() ? Value() : states[piece.places], last);
    scf::YieldOp::create(inner, location, loaded);
    inner = branch.getElseBodyBuilder();
    scf::YieldOp::create(inner, location, piece.init);
    carried.push_back(branch.getResult(0));
  }
  SmallVector<Type> types(TypeRange{ValueRange(carried)});
  SmallVector<Location> locations(types.size(), location);
  auto until = scf::WhileOp::create(b, location, types, carried);
  OpBuilder::InsertionGuard guard(context.builder);
  OpBuilder &in = context.builder;
  Numbers m{in, location};
  Block *before = in.createBlock(&until.getBefore(), {}, types, locations);
  scf::ConditionOp::create(in, location, m.less(before->getArgument(0), iteration),
                           before->getArguments());

  Block *after = in.createBlock(&until.getAfter(), {}, types, locations);
  SmallVector<Value> now(after->getArguments());
  Value from = now[0];
  SmallVector<Value> inside(ArrayRef<Value>(now).slice(1, states.size()));
  Value unit = m.constant(1);
  // `length` iterations are to be reversed, with `free` snapshots and the one at `from`. beta(s, r)
  // = C(s + r, s) of them can be with s snapshots if no iteration runs more than r times.
  Value length = m.add(m.sub(iteration, from), unit);
  Value free = m.add(m.sub(most, inside[used]), unit);
  auto repeats = scf::WhileOp::create(
      in, location, TypeRange{in.getIndexType(), in.getIndexType()},
      ValueRange{unit, m.constant(0)},
      [&](OpBuilder &at, Location where, ValueRange args) {
        Numbers k{at, where};
        scf::ConditionOp::create(at, where, k.less(args[0], length), args);
      },
      [&](OpBuilder &at, Location where, ValueRange args) {
        Numbers k{at, where};
        Value more = k.add(args[1], k.constant(1));
        Value range = k.div(k.mul(args[0], k.add(more, free)), more);
        scf::YieldOp::create(at, where, ValueRange{range, more});
      });
  Value range = repeats.getResult(0), r = repeats.getResult(1);
  Value fewer = m.div(m.mul(range, r), m.add(free, r));                 // beta(s, r - 1)
  Value right = m.div(m.mul(fewer, free), m.sub(m.add(free, r), unit)); // beta(s - 1, r - 1)
  Value steps = m.min(fewer, m.sub(length, right));
  Value straight = m.sub(iteration, from);
  Value none = m.less(free, m.constant(2));
  steps = m.select(none, straight, steps);
  Value next = m.add(from, steps);

  scf::ForOp again = rerun(context, loop, ops, from, steps);
  SmallVector<Value> reached;
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    again.getInitArgsMutable()[piece.number].set(now[1 + states.size() + i]);
    reached.push_back(again.getResult(piece.number));
  }
  Value some2 = m.both(m.less(unit, free), m.less(next, iteration));
  storeAll(in, inside, reached, next, some2);
  SmallVector<Value> yielded{next};
  llvm::append_range(yielded, inside);
  llvm::append_range(yielded, reached);
  scf::YieldOp::create(in, location, yielded);
  dropUnneeded(context, again);

  SmallVector<Value> results(until.getResults());
  states.assign(results.begin() + 1, results.begin() + 1 + states.size());
  return SmallVector<Value>(ArrayRef<Value>(results).drop_front(1 + states.size()));
}

void Revolve::build(ReverseLoop &reverse, Recompute &recompute,
                    ::weft::CheckpointBudget checkpoint) {
  findPieces(recompute.kept());
  auto back = cast<scf::ForOp>(reverse.getOperation());
  const ReverseIteration iteration = reverse.wholeIteration();
  OpBuilder outside(back);
  knownMost = knownRoom(checkpoint);
  most = room(outside, checkpoint);
  addStates(outside);
  SmallVector<Value> states;
  for (Value init : inits) states.push_back(back.getBody()->addArgument(init.getType(), location));

  OpBuilder::InsertionGuard guard(context.builder);
  context.builder.setInsertionPointAfter(iteration.before);
  pop(context.builder, states, iteration.number);
  const SmallVector<Value> begins = advance(context.builder, states, iteration.number);
  // The rest of the iteration comes behind what has been built.
  const ReverseIteration rest{iteration.block, lastOp(context.builder), iteration.behind,
                              iteration.number};
  recompute.restore(rest, [&](OpBuilder &, Value value, const ReverseIteration &) -> Value {
    for (auto [piece, state] : llvm::zip_equal(pieces, begins))
      if (piece.value == value) return state;
    return {};
  });
  hoistReads(loop, iteration.block);

  Operation *yield = back.getBody()->getTerminator();
  yield->insertOperands(yield->getNumOperands(), states);
  SmallVector<Value> operands(back->getOperands());
  llvm::append_range(operands, inits);
  SmallVector<Type> types(back->getResultTypes());
  for (Value init : inits) types.push_back(init.getType());
  auto larger = cast<scf::ForOp>(rebuild(outside, back, operands, types));
  for (auto [from, to] : llvm::zip(back.getResults(), larger.getResults())) {
    context.derivatives.replace(from, to);
    from.replaceAllUsesWith(to);
  }
  const unsigned first = back.getNumResults();
  reverse.replaceBy(larger);
  const bool counted = checkpoint.kind == ::weft::CheckpointBudget::Kind::binomial;
  for (const Piece &piece : pieces)
    context.saved.keep(Saved::Form::snapshot, piece.value, counted ? checkpoint.number : -1,
                       "the iterations behind it are run again from it",
                       larger.getResult(first + piece.stack));
}

} // namespace

void revolve(Context &context, Operation *loop, const IterationOps &ops, Value iterations,
             ReverseLoop &reverse, Recompute &recompute, ::weft::CheckpointBudget checkpoint) {
  Revolve(context, loop, ops, iterations).build(reverse, recompute, checkpoint);
}

} // namespace mlir::weft
