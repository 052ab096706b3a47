// Random numbers: draws from the stream that a state names.
#include "Ops/EagerRandom.h"

#include "Ops/Eager.h"
#include "Runtime/OnDevice.h"
#include "Runtime/StridedCopy.h"

namespace weft::eager {

kernels::RandomStream stream_of(const Tensor &state) {
  const Tensor dense = make_contiguous(detail::on_host(state));
  const auto *words = detail::elements<const std::int64_t>(dense);
  return {static_cast<std::uint64_t>(words[0]), static_cast<std::uint64_t>(words[1])};
}

Tensor draw_uniform(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                    const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  kernels::draw_uniform(type.dtype, stream_of(operands[0]), 0, result.size(), result.impl()->data);
  return result;
}

Tensor draw_permutation(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                        const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  kernels::draw_permutation(type.dtype, stream_of(operands[0]), type.shape[0], result.impl()->data);
  return result;
}

} // namespace weft::eager
