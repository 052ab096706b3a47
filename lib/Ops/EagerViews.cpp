// Ops that only look at elements differently: their results are views.
#include <algorithm>

#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"

namespace weft::eager {

namespace {

Ints strides_of(const Tensor &x) {
  return Ints(x.impl()->strides(), x.impl()->strides() + x.impl()->rank);
}

/// A view without elements; offsets into it would mean nothing and might overflow.
Tensor empty_view(const Tensor &x, const Shape &shape) {
  return detail::new_view(x, shape, Ints(shape.size(), 0), 0);
}

} // namespace

Tensor stop_gradient(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                     const TensorType &type) {
  // A view, so that a tape tells the result from the operand.
  return detail::new_view(operands[0], type.shape, strides_of(operands[0]), 0);
}

Tensor barrier(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &type) {
  return stop_gradient(info, operands, attrs, type);
}

Tensor match_shape(const OpInfo &info, std::span<const Tensor> operands, const Attrs &attrs,
                   const TensorType &type) {
  return stop_gradient(info, operands, attrs, type);
}

Tensor reshape(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
               const TensorType &type) {
  const Tensor x = make_contiguous(operands[0]);
  Ints strides(type.shape.size(), 0);
  std::uint64_t stride = 1; // unsigned: sizes beside a 0 may multiply to anything
  for (std::size_t i = strides.size(); i-- > 0;) {
    strides[i] = static_cast<std::int64_t>(stride);
    stride *= static_cast<std::uint64_t>(type.shape[i]);
  }
  return detail::new_view(x, type.shape, strides, 0);
}

Tensor transpose(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                 const TensorType &type) {
  Ints strides;
  for (const std::int64_t axis : TransposeAttrs(attrs).permutation)
    strides.push_back(operands[0].impl()->strides()[axis]);
  return detail::new_view(operands[0], type.shape, strides, 0);
}

Tensor broadcast(const OpInfo &, std::span<const Tensor> operands, const Attrs &,
                 const TensorType &type) {
  const detail::TensorImpl *x = operands[0].impl();
  Ints strides(type.shape.size(), 0);
  const std::size_t offset = type.shape.size() - x->rank;
  for (std::size_t i = 0; i < x->rank; ++i)
    if (x->dims()[i] != 1) strides[offset + i] = x->strides()[i];
  return detail::new_view(operands[0], type.shape, strides, 0);
}

Tensor slice(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
             const TensorType &type) {
  if (operands[0].size() == 0) return empty_view(operands[0], type.shape);
  const Ints &starts = SliceAttrs(attrs).starts, &steps = SliceAttrs(attrs).strides;
  Ints strides = strides_of(operands[0]);
  std::int64_t offset = 0;
  for (std::size_t i = 0; i < strides.size(); ++i) {
    if (type.shape[i] != 0) offset += starts[i] * strides[i];
    // A step beyond the axis may be any number, but then there is one element and no step is taken.
    strides[i] = type.shape[i] > 1 ? strides[i] * steps[i] : 0;
  }
  return detail::new_view(operands[0], type.shape, strides, offset);
}

Tensor reverse(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
               const TensorType &type) {
  if (operands[0].size() == 0) return empty_view(operands[0], type.shape);
  Ints strides = strides_of(operands[0]);
  std::int64_t offset = 0;
  for (const std::int64_t axis : ReverseAttrs(attrs).axes) {
    std::int64_t &stride = strides[static_cast<std::size_t>(axis)];
    offset += (type.shape[static_cast<std::size_t>(axis)] - 1) * stride;
    stride = -stride;
  }
  return detail::new_view(operands[0], type.shape, strides, offset);
}

bool gives_views(EagerFunction function) {
  constexpr EagerFunction all[] = {stop_gradient, barrier,   match_shape, reshape,
                                   transpose,     broadcast, slice,       reverse};
  return std::ranges::find(all, function) != std::end(all);
}

} // namespace weft::eager
