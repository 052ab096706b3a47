// Ops on windows of images: convolution, reductions and the gradients of both, by the library's
// kernels.
#include "Kernels/Convolution.h"
#include "Kernels/Pooling.h"
#include "Ops/Eager.h"
#include "Runtime/StridedCopy.h"

namespace weft::eager {

namespace {

/// What a convolution of `images` by windows of `window` to `positions` is; all shapes have the
/// batch first and the channels last.
template <class Attributes>
kernels::ConvolutionShape shape_of(const Attributes &attrs, const Shape &images,
                                   std::span<const std::int64_t> window, const Shape &positions) {
  kernels::ConvolutionShape shape;
  shape.batch = images.front();
  shape.in_channels = images.back();
  shape.out_channels = positions.back();
  shape.groups = attrs.groups;
  const std::size_t axes = images.size() - 2, first = 3 - axes;
  for (std::size_t axis = 0; axis < axes; ++axis)
    shape.axes[first + axis] = {.in = images[axis + 1],
                                .window = window[axis],
                                .out = positions[axis + 1],
                                .stride = attrs.strides[axis],
                                .low = attrs.low[axis],
                                .window_dilation = attrs.dilations[axis]};
  return shape;
}

using Kernel = void (*)(DType, const kernels::ConvolutionShape &, const void *, const void *,
                        void *) noexcept;

Tensor run(Kernel kernel, const kernels::ConvolutionShape &shape, std::span<const Tensor> operands,
           const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  if (result.size() == 0) return result;
  const Tensor first = make_contiguous(operands[0]), second = make_contiguous(operands[1]);
  kernel(type.dtype, shape, first.impl()->data, second.impl()->data, result.impl()->data);
  return result;
}

/// What windows over `images`, which become `positions`, are.
template <class Attributes>
kernels::PoolingShape shape_of(const Attributes &attrs, const Shape &images,
                               const Shape &positions) {
  kernels::PoolingShape shape;
  shape.batch = images.front();
  shape.channels = images.back();
  const std::size_t axes = images.size() - 2, first = 3 - axes;
  for (std::size_t axis = 0; axis < axes; ++axis)
    shape.axes[first + axis] = {.in = images[axis + 1],
                                .window = attrs.window[axis],
                                .out = positions[axis + 1],
                                .stride = attrs.strides[axis],
                                .low = attrs.low[axis],
                                .window_dilation = attrs.dilations[axis]};
  return shape;
}

/// What windows become.
Tensor reduced(kernels::Pool kind, const Tensor &operand, const Attrs &attrs,
               const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Tensor x = make_contiguous(operand);
  kernels::pool(type.dtype, kind, shape_of(WindowAttrs(attrs), x.shape(), type.shape),
                x.impl()->data, result.impl()->data);
  return result;
}

/// Where in windows that is.
Tensor places(kernels::Pool kind, const Tensor &operand, const Attrs &attrs,
              const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Tensor x = make_contiguous(operand);
  kernels::pool_taps(x.dtype(), kind, shape_of(WindowAttrs(attrs), x.shape(), type.shape),
                     x.impl()->data, reinterpret_cast<std::int32_t *>(result.impl()->data));
  return result;
}

} // namespace

Tensor convolution(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                   const TensorType &type) {
  const Shape kernel = operands[1].shape();
  return run(kernels::convolution,
             shape_of(ConvolutionAttrs(attrs), operands[0].shape(), kernel, type.shape), operands,
             type);
}

Tensor convolution_transpose(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                             const TensorType &type) {
  const Shape kernel = operands[1].shape();
  return run(kernels::convolution_transpose,
             shape_of(ConvolutionTransposeAttrs(attrs), type.shape, kernel, operands[0].shape()),
             operands, type);
}

Tensor convolution_kernel_gradient(const OpInfo &, std::span<const Tensor> operands,
                                   const Attrs &attrs, const TensorType &type) {
  return run(kernels::convolution_kernel_gradient,
             shape_of(ConvolutionKernelGradientAttrs(attrs), operands[0].shape(), type.shape,
                      operands[1].shape()),
             operands, type);
}

Tensor window_max(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  return reduced(kernels::Pool::max, operands[0], attrs, type);
}

Tensor window_min(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  return reduced(kernels::Pool::min, operands[0], attrs, type);
}

Tensor window_sum(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                  const TensorType &type) {
  return reduced(kernels::Pool::sum, operands[0], attrs, type);
}

Tensor window_argmax(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                     const TensorType &type) {
  return places(kernels::Pool::max, operands[0], attrs, type);
}

Tensor window_argmin(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                     const TensorType &type) {
  return places(kernels::Pool::min, operands[0], attrs, type);
}

Tensor window_take(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                   const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Tensor x = make_contiguous(operands[0]), places = make_contiguous(operands[1]);
  kernels::pool_take(type.dtype, shape_of(WindowAttrs(attrs), x.shape(), type.shape),
                     x.impl()->data, reinterpret_cast<const std::int32_t *>(places.impl()->data),
                     result.impl()->data);
  return result;
}

Tensor window_sum_transpose(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                            const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Tensor x = make_contiguous(operands[0]);
  const kernels::PoolingShape shape = shape_of(WindowTransposeAttrs(attrs), type.shape, x.shape());
  kernels::pool(type.dtype, kernels::Pool::sum, kernels::transposed(shape), x.impl()->data,
                result.impl()->data);
  return result;
}

Tensor window_scatter(const OpInfo &, std::span<const Tensor> operands, const Attrs &attrs,
                      const TensorType &type) {
  Tensor result = detail::new_tensor(type.dtype, type.shape);
  const Tensor x = make_contiguous(operands[0]), places = make_contiguous(operands[1]);
  kernels::pool_scatter(type.dtype, shape_of(WindowTransposeAttrs(attrs), type.shape, x.shape()),
                        x.impl()->data, reinterpret_cast<const std::int32_t *>(places.impl()->data),
                        result.impl()->data);
  return result;
}

} // namespace weft::eager
