// The kernels of sums of transposed matrices of one x86-64 level: squares are transposed in
// registers. The build compiles this file once per level, with that level's -march and WEFT_LEVEL
// set to 2, 3 or 4.

#include "Kernels/MatmulVector.h"
#include "Kernels/TransposedSums.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// 32 bytes, whatever the level: the lower half is of the first columns.
template <typename T>
using Lanes = T __attribute__((ext_vector_type(32 / sizeof(T))));
template <typename T>
using Half = T __attribute__((ext_vector_type(16 / sizeof(T))));

template <typename T>
constexpr int kColumns = 32 / int(sizeof(T));
/// Rows of a square: what half a vector holds.
template <typename T>
constexpr int kRows = 16 / int(sizeof(T));

template <typename T>
Half<T> half(const T *at) {
  Half<T> loaded;
  __builtin_memcpy(&loaded, at, sizeof loaded);
  return loaded;
}

/// Adds kRows rows, which begin at `at`, of as many columns as there are lanes.
void add_rows(const float *at, int64_t pitch, Lanes<float> &sum) {
  Lanes<float> v[4];
#pragma clang loop unroll(full)
  for (int i = 0; i < 4; ++i)
    v[i] = __builtin_shufflevector(half(at + i * pitch), half(at + (i + 4) * pitch), 0, 1, 2, 3, 4,
                                   5, 6, 7);
  const Lanes<float> a = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13),
                     b = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15),
                     c = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13),
                     d = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
  sum += __builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13);
  sum += __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15);
  sum += __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13);
  sum += __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15);
}

void add_rows(const double *at, int64_t pitch, Lanes<double> &sum) {
  Lanes<double> v[2];
#pragma clang loop unroll(full)
  for (int i = 0; i < 2; ++i)
    v[i] = __builtin_shufflevector(half(at + i * pitch), half(at + (i + 2) * pitch), 0, 1, 2, 3);
  sum += __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
  sum += __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
}

/// The sums of one block of rows, of `Squares` times the lanes' columns.
template <int Squares, typename T>
void sum_block(const T *x, int64_t pitch, int64_t rows, T *sums) {
  Lanes<T> sum[Squares];
#pragma clang loop unroll(full)
  for (int s = 0; s < Squares; ++s) sum[s] = Lanes<T>(T(0));
  int64_t r = 0;
  for (; r + kRows<T> <= rows; r += kRows<T>)
#pragma clang loop unroll(full)
    for (int s = 0; s < Squares; ++s) add_rows(x + s * kColumns<T> * pitch + r, pitch, sum[s]);
  for (; r < rows; ++r)
    for (int s = 0; s < Squares; ++s) {
      Lanes<T> row;
      for (int i = 0; i < kColumns<T>; ++i) row[i] = x[(s * kColumns<T> + i) * pitch + r];
      sum[s] += row;
    }
  __builtin_memcpy(sums, sum, sizeof sum);
}

template <typename T>
void sums_of(const TransposedMatrix<T> &matrix, int64_t block, T *sums, int64_t to_pitch) {
  constexpr int kSquares = int(kSideBySide) / kColumns<T>;
  const auto [x, pitch, rows, columns] = matrix;
  int64_t c = 0;
  const auto each_block = [&](const auto &of) {
    for (int64_t r = 0, b = 0; r < rows; r += block, ++b)
      of(x + c * pitch + r, rows - r < block ? rows - r : block, sums + b * to_pitch + c);
  };
  for (; c + kSideBySide <= columns; c += kSideBySide)
    each_block(
        [&](const T *from, int64_t count, T *to) { sum_block<kSquares>(from, pitch, count, to); });
  for (; c < columns; ++c)
    each_block([](const T *from, int64_t count, T *to) {
      T sum = 0;
      for (int64_t r = 0; r < count; ++r) sum += from[r];
      *to = sum;
    });
}

} // namespace

constexpr TransposedSums kTransposedSums = {sums_of<float>, sums_of<double>};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const TransposedSums transposed_sums_v4 = v4::kTransposedSums;
#elif WEFT_LEVEL == 3
const TransposedSums transposed_sums_v3 = v3::kTransposedSums;
#else
const TransposedSums transposed_sums_v2 = v2::kTransposedSums;
#endif

} // namespace weft::kernels
