// What the convolution and the gradient of its kernel have in common.
#pragma once

#include "Kernels/Convolution.h"
#include "Kernels/ConvolutionKernels.h"
#include "Kernels/MatmulKernels.h"
#include "Kernels/WindowRows.h"

#include <algorithm>

namespace weft::kernels {

/// The kernels of one level for one element type.
template <typename T>
struct ConvolutionKernels {
  const MatmulKernels<T> &matmul;
  const DepthwiseKernels<T> &depthwise;
  const NarrowKernels<T> &narrow;
};

/// Calls `run` with the kernels of a level, at most the host's, for a dtype that has any.
template <class Run>
void visit_convolution_kernels(DType dtype, CpuLevel level, const Run &run) {
  level = std::min(level, host_cpu_level());
  const MatmulLevel &matmul = level == CpuLevel::v4   ? matmul_level_v4
                              : level == CpuLevel::v3 ? matmul_level_v3
                                                      : matmul_level_v2;
  const DepthwiseLevel &depthwise = level == CpuLevel::v4   ? depthwise_level_v4
                                    : level == CpuLevel::v3 ? depthwise_level_v3
                                                            : depthwise_level_v2;
  const NarrowLevel &narrow = level == CpuLevel::v4   ? narrow_level_v4
                              : level == CpuLevel::v3 ? narrow_level_v3
                                                      : narrow_level_v2;
  switch (dtype) {
  case DType::f32: return run(ConvolutionKernels<float>{matmul.f32, depthwise.f32, narrow.f32});
  case DType::f64: return run(ConvolutionKernels<double>{matmul.f64, depthwise.f64, narrow.f64});
  case DType::i32: return run(ConvolutionKernels<uint32_t>{matmul.i32, depthwise.i32, narrow.i32});
  case DType::i64: return run(ConvolutionKernels<uint64_t>{matmul.i64, depthwise.i64, narrow.i64});
  default: return;
  }
}

/// A convolution without input dilation.
struct DenseConvolution : DenseWindows {
  int64_t out_channels, groups;

  int64_t in_group() const { return channels / groups; }
  int64_t out_group() const { return out_channels / groups; }
  bool is_depthwise() const { return in_group() == 1 && out_group() == 1 && groups > 1; }
  /// Whether there are so few channels in the result that vectors run along the positions.
  bool is_narrow() const { return groups == 1 && out_channels <= kNarrow; }
  /// Whether the taps along the last axis and their channels are neighbours in memory.
  bool joins_taps() const { return groups == 1 && axes[2].dilation == 1; }
};

} // namespace weft::kernels
