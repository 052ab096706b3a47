// Tensors for bindings of other languages: without elements yet, and on foreign memory.
#include <weft/detail/binding.h>

#include "Runtime/NewTensor.h"

namespace weft::detail {

Tensor unset_tensor(DType dtype, std::span<const std::int64_t> dims) {
  check_rank(dims.size());
  return new_tensor(dtype, dims);
}

Tensor foreign_tensor(DType dtype, std::span<const std::int64_t> dims,
                      std::span<const std::int64_t> strides, void *data, ExternalOwner owner) {
  if (strides.empty()) return new_external(dtype, dims, data, owner);
  // A view takes any strides: one of the first element, whose owner it keeps.
  const std::int64_t one = 1;
  const Tensor base = new_external(dtype, {&one, 1}, data, owner);
  static_cast<void>(checked_tensor_bytes(dtype, dims));
  return new_view(base, dims, strides, 0);
}

} // namespace weft::detail
