// What the parts of one expansion share: the builder, activity, and the derivatives found so far.
#pragma once

#include "Support/Checkpoint.h"
#include "Weft/AD/Activity.h"
#include "Weft/AD/IREmitter.h"
#include "Weft/AD/Passes.h"
#include "Weft/AD/Saved.h"

namespace mlir::weft {

/// Cotangents or tangents by the value that they belong to. Scopes follow the regions that are
/// being built: what is found in one is known until it ends.
class Derivatives {
public:
  using Frame = DenseMap<Value, Value>;

  Derivatives() : frames(1) {}

  /// The derivative of a value, or null.
  Value lookup(Value value) const {
    for (const Frame &frame : llvm::reverse(frames))
      if (Value known = frame.lookup(value)) return known;
    return {};
  }
  void set(Value value, Value derivative) { frames.back()[value] = derivative; }

  /// `to` stands for `from`, which is about to be erased.
  void follow(Value from, Value to) {
    for (Frame &frame : frames)
      if (auto found = frame.find(from); found != frame.end()) {
        Value derivative = found->second;
        frame.erase(found);
        frame[to] = derivative;
      }
  }

  /// `to` stands for the derivative `from`, which is about to be erased.
  void replace(Value from, Value to) {
    for (Frame &frame : frames)
      for (auto &entry : frame)
        if (entry.second == from) entry.second = to;
  }

  void enter() { frames.emplace_back(); }
  /// Ends a scope and gives what was found in it.
  Frame leave() { return frames.pop_back_val(); }

private:
  SmallVector<Frame> frames;
};

/// Of one derivative that is being expanded.
struct Context {
  Context(Operation *op, SymbolTable &symbols, ::weft::CheckpointBudget checkpoint = {},
          std::string function = {})
      : op(op), symbols(symbols), builder(op), emitter(builder), checkpoint(checkpoint),
        saved(std::move(function)) {
    activity.endsAtHosts = op->hasAttr(endsAtHostsName);
  }

  /// An error at an op of the differentiated function, of which `clone` may be a copy, with a note
  /// at the derivative.
  InFlightDiagnostic refuse(Operation *clone) {
    InFlightDiagnostic diagnostic = originalOf(clone)->emitOpError();
    diagnostic.attachNote(op->getLoc()) << "differentiated here, by " << op->getName();
    return diagnostic;
  }
  /// Refuses what the user has to decide, of which the words are all that he reads.
  LogicalResult refuseUser(Operation *clone, const std::string &words);
  Operation *originalOf(Operation *clone) {
    Operation *original = originals.lookup(clone);
    return original ? original : clone;
  }

  /// Zeros for the derivative by a value, of the shape of a floating tensor or a variable.
  Value zerosLike(Value value);
  /// `value` as a type that may know more or fewer sizes.
  Value typed(Value value, Type type);

  Operation *op;
  SymbolTable &symbols; ///< of the module
  OpBuilder builder;
  IREmitter emitter;
  Activity activity;
  Derivatives derivatives;
  /// The op that each op of the forward part is a copy of.
  DenseMap<Operation *, Operation *> originals;
  /// Those of weft.update_slice whose place no other iteration fills, in state that begins with
  /// something without a cotangent: the cotangent of what is around the place need not be cleared
  /// there.
  DenseSet<Operation *> outputs;
  /// Derivatives that were built and are to be expanded next.
  SmallVector<Operation *> further;
  /// What loops may keep.
  ::weft::CheckpointBudget checkpoint;
  Saved saved;
};

/// On ops with effects in the pullback of a weft.custom_gradient: they belong to the reverse.
inline constexpr StringLiteral pulledName = "weft.pulled";

/// A region that is being built: the builder stands at the end of its block, and scalars and
/// derivatives found in it are forgotten when it is left.
class RegionScope {
public:
  RegionScope(Context &context, Block *block)
      : context(context), guard(context.builder), scalars(context.emitter) {
    context.builder.setInsertionPointToEnd(block);
    context.derivatives.enter();
  }
  ~RegionScope() {
    if (!left) context.derivatives.leave();
  }
  RegionScope(const RegionScope &) = delete;
  RegionScope &operator=(const RegionScope &) = delete;

  /// Ends the scope of the derivatives and gives them; the builder stays.
  Derivatives::Frame leave() {
    left = true;
    return context.derivatives.leave();
  }

private:
  Context &context;
  OpBuilder::InsertionGuard guard;
  IREmitter::Scope scalars;
  bool left = false;
};

/// Whether `value` is an argument or a result in one of the op's regions.
inline bool isInside(Value value, Operation *op) {
  return op->isAncestor(value.getParentRegion()->getParentOp());
}

/// The values that the op's regions use from outside of it, in the order of their first uses.
SmallVector<Value> capturedBy(Operation *op);

/// The ops of a block but its terminator, as they are now.
inline SmallVector<Operation *> opsOf(Block &block) {
  return llvm::map_to_vector(block.without_terminator(), [](Operation &op) { return &op; });
}

/// Erases ops between two of a block, or from its begin or to its end where one is null, that
/// nobody needs, and such ops in their regions.
void eraseUnused(Block *block, Operation *before, Operation *behind);

/// The op in front of the builder, or null.
Operation *lastOp(OpBuilder &builder);

/// Whether the op is one of scf whose regions can be differentiated.
bool isControlFlow(Operation *op);

} // namespace mlir::weft
