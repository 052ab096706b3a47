// The rules by which a program runs on hashes.
#include "AbstractRun.h"

#include "Weft/IR/Weft.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

#include <stdexcept>

namespace weft::test {

using namespace mlir;
using namespace mlir::weft;

static std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  std::uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15ull + (a << 6) + (a >> 2))) * 0xbf58476d1ce4e5b9ull;
  return (x ^ (x >> 29)) * 0x94d049bb133111ebull;
}

static std::uint64_t hashOf(StringRef text) {
  std::uint64_t hash = 7;
  for (char c : text) hash = mix(hash, static_cast<unsigned char>(c));
  return hash;
}

AbstractRun::AbstractRun(ModuleOp module) : module_(module) {
  for (auto variable : module.getOps<VariableOp>()) {
    numbers_[variable.getSymNameAttr()] = outcome.variables.size();
    outcome.variables.push_back(mix(11, outcome.variables.size()));
  }
}

Outcome AbstractRun::run() {
  Values values;
  auto main = module_.lookupSymbol<func::FuncOp>("main");
  for (BlockArgument argument : main.getArguments())
    values[argument] = mix(13, argument.getArgNumber());
  outcome.results = runBlock(main.getBody().front(), values);
  return outcome;
}

void AbstractRun::step(Operation *op) {
  for (Value operand : op->getOperands()) {
    if (isa<TokenType>(operand.getType())) continue;
    if (Operation *definer = operand.getDefiningOp()) runOp(definer, stepped_);
    else stepped_[operand] = mix(13, cast<BlockArgument>(operand).getArgNumber());
  }
  runOp(op, stepped_);
  if (auto read = dyn_cast<ReadOp>(op)) outcome.results.push_back(stepped_[read.getValue()]);
}

std::vector<std::uint64_t> AbstractRun::runBlock(Block &block, Values &values) {
  for (Operation &op : block.without_terminator()) runOp(&op, values);
  std::vector<std::uint64_t> yielded;
  for (Value operand : block.getTerminator()->getOperands())
    if (!isa<TokenType>(operand.getType())) yielded.push_back(values[operand]);
  return yielded;
}

/// Gives the values that are no tokens, in order.
template <class Range>
static void assign(Range &&range, ArrayRef<std::uint64_t> given,
                   llvm::DenseMap<Value, std::uint64_t> &values) {
  for (Value value : range) {
    if (isa<TokenType>(value.getType())) continue;
    values[value] = given.front();
    given = given.drop_front();
  }
}

void AbstractRun::runOp(Operation *op, Values &values) {
  if (++steps_ > 1000000) throw std::runtime_error("the program does not end");
  if (isa<OrderedOpInterface>(op)) return runEffect(op, values);
  if (isa<scf::ForOp, scf::WhileOp>(op)) return runLoop(op, values);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    Block *block = values[branch.getCondition()] & 1 ? branch.thenBlock() : branch.elseBlock();
    if (block) assign(op->getResults(), runBlock(*block, values), values);
    return;
  }
  if (auto choice = dyn_cast<scf::IndexSwitchOp>(op)) {
    Region *chosen = &choice.getDefaultRegion();
    for (auto [number, region] : llvm::zip(choice.getCases(), choice.getCaseRegions()))
      if (static_cast<std::uint64_t>(number) == values[choice.getArg()]) chosen = &region;
    assign(op->getResults(), runBlock(chosen->front(), values), values);
    return;
  }
  if (auto call = dyn_cast<func::CallOp>(op)) {
    auto callee = module_.lookupSymbol<func::FuncOp>(call.getCallee());
    Values inner;
    std::vector<std::uint64_t> given;
    for (Value operand : call.getOperands())
      if (!isa<TokenType>(operand.getType())) given.push_back(values[operand]);
    assign(callee.getArguments(), given, inner);
    assign(op->getResults(), runBlock(callee.getBody().front(), inner), values);
    return;
  }
  if (op->getNumResults() == 1 && !isa<TokenType>(op->getResult(0).getType()))
    values[op->getResult(0)] = compute(op, values);
}

void AbstractRun::runEffect(Operation *op, Values &values) {
  auto history = [&]() -> std::uint64_t & { return outcome.variables[values[op->getOperand(0)]]; };
  if (auto read = dyn_cast<ReadOp>(op)) values[read.getValue()] = history();
  if (auto write = dyn_cast<AssignOp>(op))
    history() = mix(mix(history(), 3), values[write.getValue()]);
  if (auto write = dyn_cast<AssignAddOp>(op))
    history() = mix(mix(history(), 5), values[write.getValue()]);
  if (auto print = dyn_cast<PrintOp>(op)) {
    outcome.seen = mix(outcome.seen, hashOf(print.getFormat()));
    for (Value value : print.getValues()) outcome.seen = mix(outcome.seen, values[value]);
  }
  if (auto check = dyn_cast<AssertOp>(op)) {
    outcome.seen = mix(outcome.seen, hashOf(check.getMessage()));
    for (std::uint64_t variable : outcome.variables) outcome.seen = mix(outcome.seen, variable);
  }
  // What it gives depends on all that was seen before, and it may throw, as an assert may.
  if (auto call = dyn_cast<HostCallOp>(op)) {
    outcome.seen = mix(outcome.seen, hashOf(call.getCallee()));
    for (Value value : call.getValues()) outcome.seen = mix(outcome.seen, values[value]);
    for (std::uint64_t variable : outcome.variables) outcome.seen = mix(outcome.seen, variable);
    for (Value given : call.getGiven()) values[given] = outcome.seen;
  }
}

void AbstractRun::runLoop(Operation *op, Values &values) {
  std::vector<std::uint64_t> carried;
  auto start = [&](ValueRange inits) {
    for (Value init : inits)
      if (!isa<TokenType>(init.getType())) carried.push_back(values[init]);
  };
  if (auto counted = dyn_cast<scf::ForOp>(op)) {
    start(counted.getInitArgs());
    for (std::uint64_t i = values[counted.getLowerBound()]; i < values[counted.getUpperBound()];
         i += values[counted.getStep()]) {
      values[counted.getInductionVar()] = i;
      assign(counted.getRegionIterArgs(), carried, values);
      carried = runBlock(*counted.getBody(), values);
    }
  } else {
    auto loop = cast<scf::WhileOp>(op);
    start(loop.getInits());
    while (true) {
      assign(loop.getBeforeArguments(), carried, values);
      carried = runBlock(*loop.getBeforeBody(), values);
      const bool goesOn = carried.front() & 1;
      carried.erase(carried.begin());
      if (!goesOn) break;
      assign(loop.getAfterArguments(), carried, values);
      carried = runBlock(*loop.getAfterBody(), values);
    }
  }
  assign(op->getResults(), carried, values);
}

std::uint64_t AbstractRun::compute(Operation *op, Values &values) {
  auto operand = [&](unsigned i) { return values[op->getOperand(i)]; };
  if (auto handle = dyn_cast<HandleOp>(op)) return numbers_[handle.getVariableAttr().getAttr()];
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return static_cast<std::uint64_t>(
        cast<IntegerAttr>(constant.getValue()).getValue().getSExtValue());
  if (isa<GuardOp, arith::IndexCastOp>(op)) return operand(0);
  if (isa<arith::SelectOp>(op)) return operand(0) & 1 ? operand(1) : operand(2);
  if (isa<arith::AddIOp>(op)) return operand(0) + operand(1);
  if (isa<arith::SubIOp>(op)) return operand(0) - operand(1);
  if (isa<arith::AndIOp>(op)) return operand(0) & operand(1);
  if (isa<arith::XOrIOp>(op)) return (operand(0) ^ operand(1)) & 1;
  if (auto compare = dyn_cast<arith::CmpIOp>(op)) {
    const auto a = static_cast<std::int64_t>(operand(0)), b = static_cast<std::int64_t>(operand(1));
    if (compare.getPredicate() == arith::CmpIPredicate::slt) return a < b;
    if (compare.getPredicate() == arith::CmpIPredicate::sgt) return a > b;
    throw std::runtime_error("a comparison that no program here makes");
  }
  if (isa<ItemOp>(op)) // a condition, or the number of a branch
    return op->getResult(0).getType().isInteger(1) ? operand(0) >> 7 & 1 : (operand(0) >> 7) % 3;
  std::uint64_t hash = hashOf(op->getName().getStringRef());
  if (auto constant = dyn_cast<ConstantOp>(op)) {
    auto elements = cast<DenseElementsAttr>(constant.getValueAttr());
    return mix(hash, elements.getSplatValue<APInt>().getZExtValue());
  }
  if (isa<AddOp>(op)) return mix(hash, operand(0) + operand(1)); // it commutes
  if (!isa<LessOp, CastOp>(op)) throw std::runtime_error("an op that no program here has");
  for (Value value : op->getOperands()) hash = mix(hash, values[value]);
  return hash;
}

} // namespace weft::test
