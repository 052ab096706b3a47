// Sums of transposed matrices by threads, which take columns.
#include "Kernels/TransposedSums.h"

#include <algorithm>

#include "Kernels/Lines.h"
#include "Support/Cpu.h"
#include "Support/Threads.h"

namespace weft::kernels {

namespace {

const TransposedSums &level() {
  return of_host_level(transposed_sums_v2, transposed_sums_v3, transposed_sums_v4);
}

template <class T, class Kernel>
void by_threads(const TransposedMatrix<T> &matrix, std::int64_t block, T *sums,
                std::int64_t to_pitch, Kernel kernel) {
  const std::int64_t groups = (matrix.columns + kSideBySide - 1) / kSideBySide;
  const std::int64_t work = std::max<std::int64_t>(matrix.rows * kSideBySide, 1);
  const std::int64_t grain = std::max<std::int64_t>(parallel_grain(1) / work, 1);
  threads::parallel_for_noexcept(0, groups, grain, [&](std::int64_t begin, std::int64_t end) {
    const std::int64_t first = begin * kSideBySide,
                       last = std::min(end * kSideBySide, matrix.columns);
    kernel({matrix.x + first * matrix.pitch, matrix.pitch, matrix.rows, last - first}, block,
           sums + first, to_pitch);
  });
}

} // namespace

void transposed_sums(const TransposedMatrix<float> &matrix, std::int64_t block, float *sums,
                     std::int64_t to_pitch) {
  by_threads(matrix, block, sums, to_pitch, level().f32);
}

void transposed_sums(const TransposedMatrix<double> &matrix, std::int64_t block, double *sums,
                     std::int64_t to_pitch) {
  by_threads(matrix, block, sums, to_pitch, level().f64);
}

} // namespace weft::kernels
