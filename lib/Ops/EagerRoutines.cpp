// Ops that routines of the library compute, on views as they are.
#include "Kernels/Routine.h"
#include "Ops/Eager.h"

namespace weft::eager {

namespace {

kernels::RoutineTensor as_routine_tensor(const Tensor &tensor) {
  detail::TensorImpl *const impl = tensor.impl();
  return {impl->rank, impl->dims(), impl->strides(), impl->data};
}

std::int64_t as_integer(const Attr &attr) {
  if (const auto *flag = std::get_if<bool>(&attr)) return *flag;
  return std::get<std::int64_t>(attr);
}

} // namespace

void run_routine(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                 std::span<Tensor> results) {
  detail::InlineVector<kernels::RoutineTensor, 4> tensors, written;
  for (const Tensor &operand : operands) tensors.push_back(as_routine_tensor(operand));
  for (const Tensor &result : results) written.push_back(as_routine_tensor(result));
  Ints integers;
  for (const Attr &attr : attrs) integers.push_back(as_integer(attr));
  kernels::run_routine(info.op, operands[0].dtype(), {tensors, written, integers});
}

Tensor routine(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  run_routine(info, operands, attrs, {&result, 1});
  return result;
}

} // namespace weft::eager
