// Eager execution: shape function, then kernel. One function per op, or one for all of a kind.
#pragma once

#include "Ops/Interpreter.h"
#include "Runtime/NewTensor.h"

namespace weft {

/// Executes a call at once. Throws what the shape function finds, named after the op.
Tensor execute_eager(OpCode op, std::span<const Tensor> operands, const Attrs &attrs);

/// Executes one op; `result` is what the shape function gave. Undefined for ops without a result.
using EagerFunction = Tensor (*)(const OpInfo &info, std::span<const Tensor> operands,
                                 const Attrs &attrs, const TensorType &result);

namespace eager {

// Of a kind.
Tensor elementwise(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor reduction(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);

// Each of one op.
Tensor cast(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor constant(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor iota(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor argmax(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor matmul(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor reshape(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor transpose(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor broadcast(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor slice(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor reverse(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor concatenate(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor pad(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor gather(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor scatter_add(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor read(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor assign(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor assign_add(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor print(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);
Tensor check(const OpInfo &, std::span<const Tensor>, const Attrs &, const TensorType &);

} // namespace eager

/// Elements below which a loop of an op of that cost (OpInfo::cost) stays on one thread.
constexpr std::int64_t parallel_grain(int cost) {
  constexpr std::int64_t work = 32768;
  return cost <= 1 ? work : work / cost + 1;
}

} // namespace weft
