// Sums of the columns of a matrix whose columns are runs in memory: of a transposed view by its
// first axis.
#pragma once

#include <cstdint>

namespace weft::kernels {

/// A matrix of floating numbers as the kernel reads it: element (r, c) is at x[c * pitch + r].
template <typename T>
struct TransposedMatrix {
  const T *x;
  std::int64_t pitch, rows, columns;
};

/// Sums over blocks of `block` rows, the last of what is left: that of block b and column c goes to
/// sums[b * to_pitch + c]. Elements are added one after the other from 0 on, as columns of a dense
/// matrix are (OpDefs/ReductionOrder.h).
struct TransposedSums {
  void (*f32)(const TransposedMatrix<float> &matrix, std::int64_t block, float *sums,
              std::int64_t to_pitch);
  void (*f64)(const TransposedMatrix<double> &matrix, std::int64_t block, double *sums,
              std::int64_t to_pitch);
};

extern const TransposedSums transposed_sums_v2;
extern const TransposedSums transposed_sums_v3;
extern const TransposedSums transposed_sums_v4;

/// Columns that are summed side by side.
inline constexpr std::int64_t kSideBySide = 16;

/// The same for this CPU, by threads.
void transposed_sums(const TransposedMatrix<float> &matrix, std::int64_t block, float *sums,
                     std::int64_t to_pitch);
void transposed_sums(const TransposedMatrix<double> &matrix, std::int64_t block, double *sums,
                     std::int64_t to_pitch);

} // namespace weft::kernels
