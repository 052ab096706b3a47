// Emitters: what a derivative rule builds its result with. The tape's emitter executes op calls,
// the gradient pass's builds operations.
#pragma once

#include <span>

#include "OpDefs/OpInfo.h"

namespace weft::autodiff {

/// Base of every emitter, with one method per op that a rule may emit (all without effects). A rule
/// builds nothing in any other way, so what it builds can be differentiated again. `Derived` has
///
///   using Value                                                 a tensor or an SSA value
///   Value emit(OpCode, std::span<const Value>, const Attrs &)   executes or builds a call
///   TensorType type(const Value &)                              its type, with unknown dimensions
///   Value scalar(double, DType)                                 a constant of rank 0
template <class Derived, class ValueType>
class EmitterOps {
public:
  using Value = ValueType;

#include "EmitterOps.inc"

private:
  // Only the emitter named as `Derived` may derive from it.
  friend Derived;
  EmitterOps() = default;

  Derived &self() { return static_cast<Derived &>(*this); }
};

} // namespace weft::autodiff
