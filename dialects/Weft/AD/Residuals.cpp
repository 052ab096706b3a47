// Keeps what the reverse needs: of branches as further results, of loops in stacks.
#include "Weft/AD/Residuals.h"

#include "Weft/AD/OutputStacks.h"
#include "Weft/AD/Recompute.h"
#include "Weft/AD/Rerun.h"
#include "Weft/AD/Stacks.h"
#include "Weft/Effects/Tokens.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace mlir::weft {

/// Something of that type, for a branch in which a value is not computed and that nobody reads.
static Value placeholder(OpBuilder &b, Location location, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor) return arith::ConstantOp::create(b, location, cast<TypedAttr>(b.getZeroAttr(type)));
  SmallVector<Value> sizes;
  if (!tensor.hasStaticShape())
    sizes.assign(tensor.getNumDynamicDims(), arith::ConstantIndexOp::create(b, location, 0));
  return StackEmptyOp::create(b, location, tensor, sizes);
}

LogicalResult saveOfBranches(Context &context, Operation *op, Operation *reverse) {
  for (Region &region : reverse->getRegions()) eraseUnused(&region.front(), nullptr, nullptr);
  struct Branch {
    ReverseIteration iteration;
    Recompute recompute;
    SmallVector<unsigned> slots; ///< of the kept values
  };
  SmallVector<Branch> branches;
  SmallVector<Type> slots; ///< one result serves a value of each branch
  for (Region &region : reverse->getRegions()) {
    branches.push_back({{&region.front(), nullptr, nullptr, {}}, Recompute(context, op), {}});
    Branch &branch = branches.back();
    if (failed(branch.recompute.choose(branch.iteration))) return failure();
    SmallVector<bool> taken(slots.size(), false);
    for (Value value : branch.recompute.kept()) {
      unsigned slot = 0;
      while (slot < slots.size() && (taken[slot] || slots[slot] != value.getType())) ++slot;
      if (slot == slots.size()) {
        slots.push_back(value.getType());
        taken.push_back(false);
      }
      taken[slot] = true;
      branch.slots.push_back(slot);
    }
  }
  const unsigned before = op->getNumResults();
  Operation *larger = op;
  if (!slots.empty()) {
    for (auto [region, branch] : llvm::zip_equal(op->getRegions(), branches)) {
      Operation *yield = region.front().getTerminator();
      OpBuilder b(yield);
      SmallVector<Value> values(slots.size());
      for (auto [slot, value] : llvm::zip_equal(branch.slots, branch.recompute.kept()))
        values[slot] = value;
      for (auto [value, type] : llvm::zip_equal(values, slots))
        if (!value) value = placeholder(b, op->getLoc(), type);
      yield->insertOperands(yield->getNumOperands(), values);
    }
    SmallVector<Type> types(op->getResultTypes());
    llvm::append_range(types, slots);
    OpBuilder b(op);
    larger = rebuild(b, op, op->getOperands(), types);
    for (Branch &branch : branches) branch.recompute.moveTo(larger);
    replaceByLarger(context, op, larger);
    for (Branch &branch : branches)
      for (auto [slot, value] : llvm::zip_equal(branch.slots, branch.recompute.kept()))
        context.saved.keep(Saved::Form::branch, value, 1, branch.recompute.reasonFor(value),
                           larger->getResult(before + slot));
  }
  for (Branch &branch : branches)
    branch.recompute.restore(branch.iteration,
                             [&](OpBuilder &, Value value, const ReverseIteration &) -> Value {
                               const unsigned place = llvm::find(branch.recompute.kept(), value) -
                                                      branch.recompute.kept().begin();
                               return larger->getResult(before + branch.slots[place]);
                             });
  return success();
}

/// Why a value is kept of each iteration.
static std::string withWhy(std::string reason, StringRef why) {
  if (!why.empty()) reason += "; no iteration is run again: " + why.str();
  return reason;
}

LogicalResult saveOfFor(Context &context, scf::ForOp op, const Iterations &iterations,
                        const ReverseIteration &reverse, StringRef why) {
  eraseUnused(reverse.block, reverse.before, reverse.behind);
  Recompute recompute(context, op);
  Value inductionVar = op.getInductionVar();
  recompute.setFree(inductionVar);
  // What an iteration adds to an output of the loop need not be kept beside it. Iterations that are
  // run again do not collect outputs.
  llvm::SmallMapVector<Value, std::pair<UpdateSliceOp, unsigned>, 4> held;
  for (unsigned i = 0; !op->hasAttr(againName) && i < op.getNumResults(); ++i)
    if (UpdateSliceOp output = outputOf(op, i); output && canLoadOutput(output)) {
      held.try_emplace(output.getValue(), output, i);
      recompute.setHeld(output.getValue());
    }
  if (failed(recompute.choose(reverse))) return failure();
  SmallVector<Value> kept =
      llvm::filter_to_vector(recompute.kept(), [&](Value value) { return !held.contains(value); });
  std::optional<LoopStacks> stacks;
  if (!kept.empty()) {
    stacks.emplace(context, op, iterations);
    for (Value value : kept) stacks->keep(value);
    op = cast<scf::ForOp>(stacks->finish());
    recompute.moveTo(op);
    for (Value value : kept)
      stacks->note(value, iterations.known.value_or(-1), withWhy(recompute.reasonFor(value), why));
  }
  recompute.restore(reverse,
                    [&](OpBuilder &b, Value value, const ReverseIteration &iteration) -> Value {
                      if (value == inductionVar) return inductionVarOf(b, op, iteration.number);
                      if (auto *output = held.find(value); output != held.end()) {
                        auto [update, number] = output->second;
                        return loadOutput(b, op, update, op.getResult(number),
                                          inductionVarOf(b, op, iteration.number));
                      }
                      return stacks->load(b, value, iteration.number);
                    });
  return success();
}

LogicalResult saveOfWhile(Context &context, scf::WhileOp op, ArrayRef<ReverseIteration> reverse,
                          StringRef why) {
  Recompute recompute(context, op);
  for (auto [argument, value] :
       llvm::zip_equal(op.getAfterArguments(), op.getConditionOp().getArgs()))
    recompute.equate(argument, value);
  if (failed(recompute.choose(reverse))) return failure();
  if (recompute.kept().empty()) {
    for (const ReverseIteration &iteration : reverse) recompute.restore(iteration, nullptr);
    return success();
  }
  LoopStacks stacks(context, op);
  for (Value value : recompute.kept()) stacks.keep(value);
  const unsigned count = op.getNumResults() - 1;
  SmallVector<bool> last = llvm::map_to_vector(reverse, [&](const ReverseIteration &iteration) {
    return iteration.number == op.getResult(count);
  });
  Operation *larger = stacks.finish();
  recompute.moveTo(larger);
  for (Value value : recompute.kept())
    stacks.note(value, -1, withWhy(recompute.reasonFor(value), why));
  for (auto [iteration, isLast] : llvm::zip_equal(reverse, last)) {
    Value number = isLast ? larger->getResult(count) : iteration.number;
    recompute.restore(iteration, [&](OpBuilder &b, Value value, const ReverseIteration &) {
      return stacks.load(b, value, number);
    });
  }
  return success();
}

} // namespace mlir::weft
