// Forward mode on tensors, one call at a time.
#pragma once

#include <span>

#include "OpDefs/OpInfo.h"
#include <weft/tensor.h>

namespace weft::autodiff {

/// A result and its tangent.
struct Dual {
  Tensor value;
  Tensor tangent; ///< undefined if no tangent reaches it
};

/// Executes a call and pushes the tangents of its operands through it; an undefined tangent is 0.
/// The results behind the first go to `more`.
Dual jvp(OpCode op, std::span<const Tensor> primals, std::span<const Tensor> tangents,
         const Attrs &attrs, std::span<Dual> more = {});

} // namespace weft::autodiff
