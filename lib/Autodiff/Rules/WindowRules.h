// Functions that the generated rules of ops on windows of images call.
#pragma once

#include "Autodiff/Rules/UnknownSizes.h"

namespace weft::autodiff::rules {

/// The images that `transpose` makes of what lies at `positions`: those of the shape of operand `i`
/// of the call. It takes the padding behind and the number of elements behind the last window.
template <class E, class Attributes, class Transpose>
typename E::Value transposed_windows(E &e, VjpCall<E> &call, std::size_t i, const Attributes &attrs,
                                     const Shape &positions, const Ints &window,
                                     const Transpose &transpose) {
  const Shape &shape = call.operand_type(i).shape;
  Ints extra, high = attrs.high;
  // How many elements are behind the last window is known at run time only where the size is: then
  // all that windows see is computed, padding behind included, and cut or filled up with zeros.
  const auto is_open = [&](std::size_t axis) {
    return shape[axis + 1] == unknown && attrs.strides[axis] != 1;
  };
  for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis) {
    const std::int64_t size = shape[axis + 1], count = positions[axis + 1];
    const bool known = size != unknown && count != unknown;
    extra.push_back(known ? size + attrs.low[axis] + attrs.high[axis] -
                                (count - 1) * attrs.strides[axis] -
                                (window[axis] - 1) * attrs.dilations[axis] - 1
                          : 0);
    if (is_open(axis)) high[axis] = 0;
  }
  typename E::Value value = transpose(high, extra);
  for (std::size_t axis = 0; axis + 2 < shape.size(); ++axis)
    if (is_open(axis))
      value = fit_axis(e, value, axis + 1, size_value(e, call.shape_witness(i), axis + 1));
  return value;
}

/// The transpose of a convolution with `attrs` by `kernel`, which gives images of the shape of
/// operand `i`.
template <class E, class Attributes>
typename E::Value
transposed_convolution(E &e, VjpCall<E> &call, std::size_t i, const Attributes &attrs,
                       const typename E::Value &cotangent, const typename E::Value &kernel) {
  return transposed_windows(e, call, i, attrs, e.type(cotangent).shape, e.type(kernel).shape,
                            [&](const Ints &high, const Ints &extra) {
                              return e.convolution_transpose(cotangent, kernel, attrs.strides,
                                                             attrs.low, high, attrs.dilations,
                                                             attrs.groups, extra);
                            });
}

/// The gradient of a convolution with `attrs` and that window by its kernel.
template <class E, class Attributes>
typename E::Value kernel_gradient(E &e, const Attributes &attrs, const typename E::Value &x,
                                  const typename E::Value &cotangent, const Shape &kernel) {
  Ints window;
  for (std::size_t axis = 0; axis + 2 < kernel.size(); ++axis) window.push_back(kernel[axis]);
  return e.convolution_kernel_gradient(x, cotangent, window, attrs.strides, attrs.low, attrs.high,
                                       attrs.dilations, attrs.groups);
}

/// Of `convolution` by x.
template <class E>
typename E::Value convolution_back_input(E &e, VjpCall<E> &call, std::size_t i,
                                         const typename E::Value &kernel,
                                         const typename E::Value &cotangent) {
  return transposed_convolution(e, call, i, ConvolutionAttrs(call.attrs()), cotangent, kernel);
}

/// Of `convolution` by the kernel.
template <class E>
typename E::Value convolution_back_kernel(E &e, VjpCall<E> &call, std::size_t i,
                                          const typename E::Value &x,
                                          const typename E::Value &cotangent) {
  return kernel_gradient(e, ConvolutionAttrs(call.attrs()), x, cotangent,
                         call.operand_type(i).shape);
}

/// Of `convolution_transpose` by x.
template <class E>
typename E::Value transposed_back_input(E &e, VjpCall<E> &call, std::size_t,
                                        const typename E::Value &kernel,
                                        const typename E::Value &cotangent) {
  const ConvolutionTransposeAttrs attrs(call.attrs());
  return e.convolution(cotangent, kernel, attrs.strides, attrs.low, attrs.high, attrs.dilations,
                       attrs.groups);
}

/// Of `convolution_transpose` by the kernel: what was the cotangent is the image.
template <class E>
typename E::Value transposed_back_kernel(E &e, VjpCall<E> &call, std::size_t i,
                                         const typename E::Value &x,
                                         const typename E::Value &cotangent) {
  return kernel_gradient(e, ConvolutionTransposeAttrs(call.attrs()), cotangent, x,
                         call.operand_type(i).shape);
}

/// Of `convolution_kernel_gradient` by x.
template <class E>
typename E::Value kernel_gradient_back_input(E &e, VjpCall<E> &call, std::size_t i,
                                             const typename E::Value &positions,
                                             const typename E::Value &cotangent) {
  return transposed_convolution(e, call, i, ConvolutionKernelGradientAttrs(call.attrs()), positions,
                                cotangent);
}

/// Of `convolution_kernel_gradient` by the cotangent of the convolution.
template <class E>
typename E::Value kernel_gradient_back_cotangent(E &e, VjpCall<E> &call, std::size_t,
                                                 const typename E::Value &x,
                                                 const typename E::Value &cotangent) {
  const ConvolutionKernelGradientAttrs attrs(call.attrs());
  return e.convolution(x, cotangent, attrs.strides, attrs.low, attrs.high, attrs.dilations,
                       attrs.groups);
}

/// Where the extrema of the windows of a call of `window_max` or `window_min` on x are.
template <class E, class Call>
typename E::Value extremum_places(E &e, const Call &call, const typename E::Value &x) {
  const WindowAttrs attrs(call.attrs());
  if (call.op() == OpCode::window_max)
    return e.window_argmax(x, attrs.window, attrs.strides, attrs.low, attrs.high, attrs.dilations);
  return e.window_argmin(x, attrs.window, attrs.strides, attrs.low, attrs.high, attrs.dilations);
}

/// The cotangent of images of which a call takes elements at `positions` of its windows.
template <class E>
typename E::Value window_take_back(E &e, VjpCall<E> &call, std::size_t i,
                                   const typename E::Value &positions,
                                   const typename E::Value &cotangent) {
  const WindowAttrs attrs(call.attrs());
  return transposed_windows(e, call, i, attrs, e.type(cotangent).shape, attrs.window,
                            [&](const Ints &high, const Ints &extra) {
                              return e.window_scatter(cotangent, positions, attrs.window,
                                                      attrs.strides, attrs.low, high,
                                                      attrs.dilations, extra);
                            });
}

/// Of `window_max` and `window_min`.
template <class E>
typename E::Value window_extremum_back(E &e, VjpCall<E> &call, std::size_t i,
                                       const typename E::Value &x,
                                       const typename E::Value &cotangent) {
  return window_take_back(e, call, i, extremum_places(e, call, x), cotangent);
}

/// Of `window_max` and `window_min`: the tangents of the elements that are the extrema.
template <class E>
typename E::Value window_extremum_forward(E &e, JvpCall<E> &call, std::size_t,
                                          const typename E::Value &x,
                                          const typename E::Value &tangent) {
  const WindowAttrs attrs(call.attrs());
  return e.window_take(tangent, extremum_places(e, call, x), attrs.window, attrs.strides, attrs.low,
                       attrs.high, attrs.dilations);
}

/// Of `window_sum`.
template <class E>
typename E::Value window_sum_back(E &e, VjpCall<E> &call, std::size_t i,
                                  const typename E::Value &cotangent) {
  const WindowAttrs attrs(call.attrs());
  return transposed_windows(e, call, i, attrs, e.type(cotangent).shape, attrs.window,
                            [&](const Ints &high, const Ints &extra) {
                              return e.window_sum_transpose(cotangent, attrs.window, attrs.strides,
                                                            attrs.low, high, attrs.dilations,
                                                            extra);
                            });
}

/// Of `window_sum_transpose`.
template <class E>
typename E::Value window_sum_transpose_back(E &e, VjpCall<E> &call, std::size_t,
                                            const typename E::Value &cotangent) {
  const WindowTransposeAttrs attrs(call.attrs());
  return e.window_sum(cotangent, attrs.window, attrs.strides, attrs.low, attrs.high,
                      attrs.dilations);
}

/// Of `window_scatter`.
template <class E>
typename E::Value window_scatter_back(E &e, VjpCall<E> &call, std::size_t,
                                      const typename E::Value &positions,
                                      const typename E::Value &cotangent) {
  const WindowTransposeAttrs attrs(call.attrs());
  return e.window_take(cotangent, positions, attrs.window, attrs.strides, attrs.low, attrs.high,
                       attrs.dilations);
}

} // namespace weft::autodiff::rules
