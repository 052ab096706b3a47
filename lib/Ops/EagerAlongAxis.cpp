// Ops that go along one axis: argmax and cumulative ops.
#include <vector>

#include "Kernels/Argmax.h"
#include "Kernels/Cumulative.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"

namespace weft::eager {

kernels::Lines lines_of(const Shape &shape, std::int64_t axis) {
  kernels::Lines lines{1, shape[static_cast<std::size_t>(axis)], 1};
  for (std::int64_t i = 0; i < shape.rank(); ++i) {
    if (i < axis) lines.outer *= shape[static_cast<std::size_t>(i)];
    if (i > axis) lines.inner *= shape[static_cast<std::size_t>(i)];
  }
  return lines;
}

Tensor argmax(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
              const TensorType &type) {
  const Tensor x = make_contiguous(operands[0]);
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  kernels::argmax(x.dtype(), lines_of(x.shape(), ArgmaxAttrs(attrs).axis), x.impl()->data,
                  reinterpret_cast<std::int64_t *>(result.impl()->data));
  return result;
}

Tensor cumulative(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  std::int64_t flags = 0;
  for (std::size_t i = 1; i < attrs.size(); ++i)
    if (std::get<bool>(attrs[i])) flags |= std::int64_t{1} << (i - 1);
  std::vector<Tensor> inputs;
  std::vector<const void *> from;
  for (const Tensor &operand : operands) {
    inputs.push_back(make_contiguous(operand));
    from.push_back(inputs.back().impl()->data);
  }
  kernels::cumulative({.op = info.op,
                       .dtype = type.dtype,
                       .cost = info.cost,
                       .flags = flags,
                       .lines = lines_of(type.shape, CumulativeAttrs(attrs).axis)},
                      from, result.impl()->data);
  return result;
}

} // namespace weft::eager
