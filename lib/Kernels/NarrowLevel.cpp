// The kernels of convolution to few channels of one x86-64 level: vectors run along the positions.
// The build compiles this file once per level, with that level's -march and WEFT_LEVEL set to 2, 3
// or 4.

#include "Kernels/ConvolutionKernels.h"
#include "Kernels/MatmulVector.h"

namespace WEFT_LEVEL_NAMESPACE {
namespace {

/// `Vectors` of neighbouring positions, of which the first `count` are stored.
template <typename T, int Out, int Vectors>
void positions(const NarrowRow<T> &row, const T *x, const T *kernel, T *y, int64_t count) {
  Vec<T> sums[Out][Vectors];
#pragma clang loop unroll(full)
  for (int o = 0; o < Out; ++o)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) sums[o][v] = Vec<T>(T(0));
  for (int64_t tap = 0; tap < row.taps; ++tap) {
    const T *from = x + row.taps_at[tap];
    for (int64_t c = 0; c < row.channels; ++c, from += row.x_channel, kernel += Out) {
      Vec<T> seen[Vectors];
#pragma clang loop unroll(full)
      for (int v = 0; v < Vectors; ++v) seen[v] = load(from + v * kLanes<T>);
#pragma clang loop unroll(full)
      for (int o = 0; o < Out; ++o)
#pragma clang loop unroll(full)
        for (int v = 0; v < Vectors; ++v)
          sums[o][v] = multiply_add<T>(seen[v], Vec<T>(kernel[o]), sums[o][v]);
    }
  }
#pragma clang loop unroll(full)
  for (int o = 0; o < Out; ++o) {
    T staged[Vectors * kLanes<T>];
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) store(staged + v * kLanes<T>, sums[o][v]);
    for (int64_t i = 0; i < count; ++i) y[i * row.y_step + o] = staged[i];
  }
}

template <typename T, int Out>
void row_of(const NarrowRow<T> &row, const T *kernel, T *y) {
  constexpr int kMost = Out <= 2 ? 4 : 2;
  static_assert(kMost * kLanes<T> <= kNarrowSlack);
  for (int64_t i = 0; i < row.positions;) {
    const int64_t left = row.positions - i;
    const T *const x = row.x + i;
    T *const to = y + i * row.y_step;
    int64_t count = kMost * kLanes<T>;
    if (left <= kLanes<T>) {
      count = left;
      positions<T, Out, 1>(row, x, kernel, to, count);
    } else if (kMost == 2 || left <= 2 * kLanes<T>) {
      count = left < 2 * kLanes<T> ? left : 2 * kLanes<T>;
      positions<T, Out, 2>(row, x, kernel, to, count);
    } else {
      count = left < count ? left : count;
      positions<T, Out, kMost>(row, x, kernel, to, count);
    }
    i += count;
  }
}

template <typename T>
void forward(const NarrowRow<T> &row, const T *kernel, T *y) {
  switch (row.out_channels) {
  case 1: return row_of<T, 1>(row, kernel, y);
  case 2: return row_of<T, 2>(row, kernel, y);
  case 3: return row_of<T, 3>(row, kernel, y);
  default: return row_of<T, 4>(row, kernel, y);
  }
}

template <typename T>
void transposed(int64_t rows, int64_t columns, const T *from, int64_t from_row, T *to,
                int64_t to_column) {
  constexpr int kSquare = kLanes<T>;
  int64_t r = 0;
  for (; r + kSquare <= rows; r += kSquare) {
    int64_t c = 0;
    for (; c + kSquare <= columns; c += kSquare) {
      Vec<T> square[kSquare];
#pragma clang loop unroll(full)
      for (int i = 0; i < kSquare; ++i) square[i] = load(from + (r + i) * from_row + c);
      transpose<T>(square);
#pragma clang loop unroll(full)
      for (int i = 0; i < kSquare; ++i) store(to + (c + i) * to_column + r, square[i]);
    }
    for (; c < columns; ++c)
      for (int i = 0; i < kSquare; ++i) to[c * to_column + r + i] = from[(r + i) * from_row + c];
  }
  for (; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c) to[c * to_column + r] = from[r * from_row + c];
}

template <typename T>
constexpr NarrowKernels<T> kernels() {
  return {forward<T>, transposed<T>};
}

} // namespace

constexpr NarrowLevel kNarrowTable = {kernels<float>(), kernels<double>(), kernels<uint32_t>(),
                                      kernels<uint64_t>()};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const NarrowLevel narrow_level_v4 = v4::kNarrowTable;
#elif WEFT_LEVEL == 3
const NarrowLevel narrow_level_v3 = v3::kNarrowTable;
#else
const NarrowLevel narrow_level_v2 = v2::kNarrowTable;
#endif

} // namespace weft::kernels
