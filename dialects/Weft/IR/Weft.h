// The weft dialect: its types, ops and resources.
#pragma once

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "Weft/IR/Dialect.h.inc"

namespace mlir {
class PatternRewriter;
}

namespace mlir::weft {

/// Variables: reads after the last write, a write after all reads since.
struct VariableResource : public SideEffects::Resource::Base<VariableResource> {
  StringRef getName() final { return "weft.variable"; }
};
/// Prints, asserts and host calls, in program order.
struct IoResource : public SideEffects::Resource::Base<IoResource> {
  StringRef getName() final { return "weft.io"; }
};

/// What an op with an effect does.
struct OwnEffects {
  bool reads = false;  ///< the variable that is its first operand
  bool writes = false; ///< the same
  bool io = false;     ///< a person sees it, or a host function runs
  bool stops = false;  ///< it may stop the call
  bool onVariable() const { return reads || writes; }
  bool any() const { return reads || writes || io || stops; }
};

/// See Base.td.
template <class Op>
class CheapToRerun : public OpTrait::TraitBase<Op, CheapToRerun> {};
template <class Op>
class TellsApart : public OpTrait::TraitBase<Op, TellsApart> {};
template <class Op>
class IsOneKernel : public OpTrait::TraitBase<Op, IsOneKernel> {};
template <class Op>
class StaysInLinalg : public OpTrait::TraitBase<Op, StaysInLinalg> {};
template <class Op>
class IsDerivative : public OpTrait::TraitBase<Op, IsDerivative> {};
template <class Op>
class GoneAfterLinalg : public OpTrait::TraitBase<Op, GoneAfterLinalg> {};
template <class Op>
class IsAnnotation : public OpTrait::TraitBase<Op, IsAnnotation> {};
template <class Op>
class IsAdditive : public OpTrait::TraitBase<Op, IsAdditive> {};
template <class Op>
class GoneAfterSchedule : public OpTrait::TraitBase<Op, GoneAfterSchedule> {};
/// Its result has the type that its record's shape function gives; tokens are no part of the call.
LogicalResult verifyCollective(Operation *op);
template <class Op>
class IsCollective : public OpTrait::TraitBase<Op, IsCollective> {
public:
  static LogicalResult verifyTrait(Operation *op) { return verifyCollective(op); }
};
template <class Op>
class StopsCall : public OpTrait::TraitBase<Op, StopsCall> {};

class OrderedOpInterface;
/// That an op has both a token before it and one of its own, or neither.
LogicalResult verifyOrdered(OrderedOpInterface op);
class LeaveOp;
/// That a weft.leave of kind routine names one of the library's and has the operands for it.
LogicalResult verifyRoutine(LeaveOp leave);
/// What an op does; nothing for one without the interface.
OwnEffects ownEffectsOf(Operation *op);
/// The memory effects of an op with an effect: none when tokens order it.
void addMemoryEffects(OrderedOpInterface op,
                      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &effects);

/// Refuses ops in `root` that ask for a derivative: for passes that come behind weft-differentiate.
LogicalResult verifyDifferentiated(Operation *root);

/// Whether a pure op may stop the call: an index may be out of range, unknown sizes may not fit, a
/// callable may throw.
bool mayStop(Operation *op);
/// Whether the written type of a result says more of its size than follows from the operands: then
/// the op compares them at run time.
bool knowsMoreThanInferred(Operation *op);
/// Erases what follows `op` in its block, where a call never comes to, and hands on empty tensors
/// and zeros in the place of its values. Fails if there is nothing to erase, or if no value can
/// take the place of another.
LogicalResult eraseBehind(Operation *op, RewriterBase &rewriter);
/// Whether an op may run although the program would not have come to it: not if it may stop the
/// call or changes the world.
Speculation::Speculatability speculatabilityOf(Operation *op);

/// Whether `type` is a ranked tensor of a dtype that Weft has.
bool isWeftTensor(Type type);
/// The same of a floating dtype: what can have a derivative.
bool isInexactTensor(Type type);
/// The type of the derivative by a value of that type, which is that of a floating tensor itself
/// and of a variable's handle the variable's; null for others.
Type derivativeTypeOf(Type type);

} // namespace mlir::weft

#define GET_TYPEDEF_CLASSES
#include "Weft/IR/Types.h.inc"

#include "Weft/IR/Enums.h.inc"
#include "Weft/IR/Interfaces.h.inc"

#define GET_OP_CLASSES
#include "Weft/IR/Ops.h.inc"
