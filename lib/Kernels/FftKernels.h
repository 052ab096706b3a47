// The inner loops of Fourier transforms that one x86-64 level offers; FftLevel.cpp fills the table
// once per level.
//
// This header is included by files compiled for CPUs that this process may not run on, so it holds
// plain data only.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// Complex numbers in memory: as parts in two arrays, or as pairs (re, im) in the first.
template <typename T>
struct FftData {
  T *re, *im;
};

/// One Stockham pass of a transform of n = radix * blocks * (product of the radices before it):
///   out[(radix p + j) block' + at] = (sum over i of in[(p + blocks i) block + at] w^ij) v^pj
/// for w the first root of order radix, v that of order radix * blocks, and `at` the vectors
/// min(k * step, last) for k < count. The data that callers see are pairs; what stands between two
/// passes is in parts.
template <typename T>
struct FftPass {
  int radix;
  int64_t blocks;
  int64_t count;
  FftData<const T> in;
  int64_t in_block, in_step, in_last;
  FftData<T> out;
  int64_t out_block, out_step, out_last;
  /// radix - 1 pairs v^pj for each p.
  const T *twiddles;
  /// The same for `adjacent`: the real parts of all v^pj of one j beside each other, for every
  /// (p, at), then the imaginary ones, then those of the next j.
  const T *adjacent_twiddles;
  /// Cosines, then sines, of 1 to (radix - 1) / 2 parts of the circle.
  const T *roots;
  /// What imaginary parts of pairs are multiplied by as they are read, and both parts of pairs as
  /// they are written: -1 conjugates, which exchanges the directions.
  T sign, scale_re, scale_im;
};

/// Strided lines beside the lanes of an array in parts, `[element][lane]`. They are pairs if `im`
/// is `re` + 1.
template <typename T>
struct FftLines {
  FftData<T> data;
  int64_t lines;           ///< at most as many as there are lanes
  int64_t size;            ///< elements of each
  int64_t line_step, step; ///< between lines and elements
};

/// Loops on elements of one type. Each gives the bits of what is written, element by element, with
/// no fused product, so that all levels, widths and orders of a plan agree.
template <typename T>
struct FftKernels {
  int lanes, half_lanes; ///< of a vector, and of what `half_` goes by
  /// Passes in which `at` goes by whole vectors, of all lanes or of half of them.
  void (*first)(const FftPass<T> &);  ///< from pairs to parts
  void (*middle)(const FftPass<T> &); ///< from parts to parts
  void (*last)(const FftPass<T> &); ///< from parts to parts, of one block, which needs no twiddles
  void (*out)(const FftPass<T> &);  ///< from parts to pairs, of one block
  void (*half_middle)(const FftPass<T> &);
  void (*half_out)(const FftPass<T> &);
  /// Passes where `at` is shorter than a vector, which goes across p as well: of lines whose
  /// elements are adjacent. At least a vector of (p, at) there must be; no pass of one block.
  void (*adjacent_first)(const FftPass<T> &);
  void (*adjacent_middle)(const FftPass<T> &);

  /// From lines to lanes, the imaginary parts times `sign`, zeros in lanes without a line; and
  /// back, times the two scales.
  void (*gather)(const FftLines<const T> &, T sign, FftData<T>);
  void (*scatter)(FftData<const T>, T scale_re, T scale_im, const FftLines<T> &);

  /// out[k] = (a.re, sign * a.im)[k] * b[k] * (scale_re, scale_im), all in pairs.
  void (*multiply)(int64_t size, const T *a, T sign, const T *b, T scale_re, T scale_im, T *out);

  /// Between the two dimensions of a long line: columns [column, column + columns) of `rows` rows,
  /// in lanes, are multiplied by the root of order n of row * column, and go to lanes of the rows.
  void (*exchange)(int64_t rows, int64_t column, int64_t columns, FftData<const T>, const T *fine,
                   const T *coarse, FftData<T> out, int64_t out_block);

  /// The spectrum of 2 * half real numbers, half + 1 pairs, from that of their pairs, and twice
  /// back; `roots` are those of order 2 * half in pairs. Imaginary parts of what is its own
  /// conjugate are not read.
  void (*split_real)(int64_t half, const T *pairs, const T *roots, T scale, T *spectrum);
  void (*join_real)(int64_t half, const T *spectrum, const T *roots, T *pairs);
};

/// Columns whose roots have a common factor in `exchange`: `fine` are roots of row * column for the
/// first of them, real and imaginary parts of each row beside each other; `coarse` those of the
/// first of such columns, a pair per row.
template <typename T>
constexpr int64_t kFftFine = 64 / int64_t(sizeof(T));

/// The most lanes of a vector of any level.
template <typename T>
constexpr int64_t kFftMostLanes = 64 / int64_t(sizeof(T));

struct FftLevel {
  FftKernels<float> f32;
  FftKernels<double> f64;
};

extern const FftLevel fft_level_v2;
extern const FftLevel fft_level_v3;
extern const FftLevel fft_level_v4;

} // namespace weft::kernels
