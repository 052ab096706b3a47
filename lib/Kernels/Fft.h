// Fourier transforms of lines of a tensor.
#pragma once

#include "Support/Cpu.h"

#include <weft/dtype.h>

#include <cstdint>

namespace weft::kernels {

/// What the elements of operand and result are.
enum class FftKind : std::uint8_t {
  complex,   ///< both complex
  real,      ///< real; the first size / 2 + 1 elements of its spectrum
  hermitian, ///< the first size / 2 + 1 elements of a spectrum; real
};

/// Real and imaginary parts, each of strides that count elements of their own. Real numbers have no
/// imaginary part. Pairs, (re, im) beside each other, are parts too, and what is fastest.
template <class Void>
struct FftParts {
  Void *re;
  const std::int64_t *re_strides;
  Void *im = nullptr;
  const std::int64_t *im_strides = nullptr;
};

/// What is transformed: the lines of x along `axis`, each to
///   result[k] = scale * sum over j of x[j] exp(-2 pi i j k / size)
/// or, if `inverse`, by exp(2 pi i j k / size). `real` is always forward, `hermitian` inverse; the
/// imaginary parts of what equals its own conjugate are not read. Strides may be anything for x;
/// the result overlaps neither itself nor x.
struct FftArgs {
  FftKind kind;
  bool inverse;
  double scale;
  std::int64_t size;         ///< of the transform
  std::int64_t rank;         ///< 1 or more
  const std::int64_t *sizes; ///< of x; that of `axis` is not read
  std::int64_t axis;
  FftParts<const void> x;
  FftParts<void> result;
};

/// Transforms x, whose parts are f32 or f64. What a line becomes depends on its elements alone: not
/// on other lines, on the number of threads or on the CPU level. Throws ShapeError unless `size` is
/// 1 or more, and OutOfMemory where there is no memory to work in.
void fft(DType parts, const FftArgs &args);

/// `fft` on kernels of a given level (at most the host's). For tests and benchmarks.
void fft_forced(DType parts, const FftArgs &args, CpuLevel level);

} // namespace weft::kernels
