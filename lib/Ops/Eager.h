// Eager execution: shape function, then kernel. One function per op, or one for all of a kind.
#pragma once

#include "Kernels/KernelTable.h"
#include "Kernels/Lines.h"
#include "OpDefs/Widening.h"
#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"

namespace weft {

/// Executes a call at once. Throws what the shape function finds, named after the op. The results
/// behind the first go to `more`.
Tensor execute_eager(OpCode op, std::span<const Tensor> operands, const Attrs &attrs,
                     std::span<Tensor> more = {});

/// Executes one op; `result` is what the shape function gave. Undefined for ops without a result.
/// Ops with several are routines, which `eager::run_routine` runs.
using EagerFunction = Tensor (*)(const OpInfo &info, std::span<const Tensor> operands,
                                 const Attrs &attrs, const TensorType &result);

// The functions, one per op or one for all of a kind, declared from the records.
#include "EagerTable.inc"

namespace eager {

/// That of an op on operands that are not complex.
EagerFunction function_of(OpCode op);

/// Whether it looks at no element, so that operands may be on any device.
bool gives_views(EagerFunction function);

/// The elementwise kernel whose variants are these, on operands that broadcast to the shape of
/// `type`; `cost` is that of an element, as OpInfo::cost. Where there is only variant 0, operands
/// that are repeated are copied as often first.
Tensor run_elementwise(const Kernel *variants, int cost, std::span<const Tensor> operands,
                       const TensorType &type);

/// Whether an op is elementwise and has kernels for operands of that dtype.
inline bool has_kernels(const OpInfo &info, DType dtype) {
  return info.kind == OpKind::elementwise &&
         kernel_table().elementwise[static_cast<std::size_t>(info.op)]
                                   [static_cast<std::size_t>(dtype)][0] != nullptr;
}

/// An elementwise op computed in another dtype than that of its operands, block by block, where the
/// cache keeps them; undefined where operands are views or broadcast along some axes only.
Tensor elementwise_in_blocks(const OpInfo &info, std::span<const Tensor> operands,
                             const Widened &wide, const TensorType &type);

/// A contiguous tensor of that shape along one axis.
kernels::Lines lines_of(const Shape &shape, std::int64_t axis);

/// The op: a view of a contiguous tensor with the sizes of `type`.
Tensor reshape(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
               const TensorType &type);

/// A routine that fills all of `results`, which have the types that the shape function gave.
void run_routine(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                 std::span<Tensor> results);

} // namespace eager

} // namespace weft
