// The inner loops of linear algebra of one x86-64 level. The build compiles this file once per
// level, with that level's -march and WEFT_LEVEL set to 2, 3 or 4.

#include "Linalg/LinalgKernels.h"

#if WEFT_LEVEL == 4
#define WEFT_LEVEL_NAMESPACE weft::kernels::v4
#elif WEFT_LEVEL == 3
#define WEFT_LEVEL_NAMESPACE weft::kernels::v3
#else
#define WEFT_LEVEL_NAMESPACE weft::kernels::v2
#endif

namespace WEFT_LEVEL_NAMESPACE {
namespace {

template <typename T>
using Complex = kernels::ComplexNumber<T>;

template <typename T>
Complex<T> operator+(Complex<T> x, Complex<T> y) {
  return {x.re + y.re, x.im + y.im};
}
template <typename T>
Complex<T> operator*(Complex<T> x, Complex<T> y) {
  return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}
/// Scaled by the larger part, so that no square overflows or vanishes.
template <typename T>
Complex<T> operator/(Complex<T> x, Complex<T> y) {
  const T re = y.re < 0 ? -y.re : y.re, im = y.im < 0 ? -y.im : y.im, scale = re < im ? im : re;
  const T c = y.re / scale, d = y.im / scale, norm = c * c + d * d;
  return {(x.re * c + x.im * d) / norm / scale, (x.im * c - x.re * d) / norm / scale};
}
template <typename T>
Complex<T> &operator+=(Complex<T> &x, Complex<T> y) {
  return x = x + y;
}
template <typename T>
Complex<T> &operator-=(Complex<T> &x, Complex<T> y) {
  return x = {x.re - y.re, x.im - y.im};
}
template <typename T>
Complex<T> &operator/=(Complex<T> &x, Complex<T> y) {
  return x = x / y;
}

template <typename T>
T conjugated(T x) {
  return x;
}
template <typename T>
Complex<T> conjugated(Complex<T> x) {
  return {x.re, -x.im};
}

/// How large a number is for the choice of pivots: as LAPACK has it, of a complex one the sum of
/// its parts.
template <typename T>
T magnitude(T x) {
  return x < 0 ? -x : x;
}
template <typename T>
T magnitude(Complex<T> x) {
  return magnitude(x.re) + magnitude(x.im);
}
template <typename T>
using Magnitude = decltype(magnitude(T()));

/// x[i] minus the products of `Count` numbers with what stands in the same place of other lines.
template <int Count, typename T>
void subtract_lines(int64_t size, const T *lines, int64_t step, const T *factors, T *__restrict x) {
  T f[Count];
  const T *line[Count];
  for (int p = 0; p < Count; ++p) {
    f[p] = factors[p];
    line[p] = lines + p * step;
  }
  for (int64_t i = 0; i < size; ++i) {
    T sum = x[i];
    for (int p = 0; p < Count; ++p) sum -= f[p] * line[p][i];
    x[i] = sum;
  }
}

template <typename T>
void subtract_lines(int64_t count, int64_t size, const T *lines, int64_t step, const T *factors,
                    T *x) {
  switch (count) {
  case 1: return subtract_lines<1>(size, lines, step, factors, x);
  case 2: return subtract_lines<2>(size, lines, step, factors, x);
  case 3: return subtract_lines<3>(size, lines, step, factors, x);
  case 4: return subtract_lines<4>(size, lines, step, factors, x);
  case 5: return subtract_lines<5>(size, lines, step, factors, x);
  case 6: return subtract_lines<6>(size, lines, step, factors, x);
  case 7: return subtract_lines<7>(size, lines, step, factors, x);
  default: return;
  }
}

template <typename T>
void lu_panel(int64_t rows, int64_t columns, T *a, int64_t step, int64_t *pivots) {
  for (int64_t j = 0; j < columns; ++j) {
    T *column = a + j * step;
    // What the columns before it take away: first of the rows that they have in U.
    for (int64_t i = 1; i < j && i < rows; ++i)
      for (int64_t p = 0; p < i; ++p) column[i] -= a[p * step + i] * column[p];
    if (j >= rows) continue;
    subtract_lines(j, rows - j, a + j, step, column, column + j);
    int64_t pivot = j;
    Magnitude<T> largest = magnitude(column[j]);
    for (int64_t i = j + 1; i < rows; ++i)
      if (magnitude(column[i]) > largest) {
        largest = magnitude(column[i]);
        pivot = i;
      }
    pivots[j] = pivot;
    if (pivot != j)
      for (int64_t c = 0; c < columns; ++c) {
        const T kept = a[c * step + j];
        a[c * step + j] = a[c * step + pivot];
        a[c * step + pivot] = kept;
      }
    const T by = column[j];
    if (magnitude(by) != 0)
      for (int64_t i = j + 1; i < rows; ++i) column[i] /= by;
  }
}

/// Elements of a row that are done at a time, so that all rows stay in the first cache.
constexpr int64_t kStrip = 256;

template <typename T>
void solve_rows(int64_t rows, int64_t columns, const T *l, int64_t l_row, int64_t l_col, bool unit,
                T *b, int64_t b_row) {
  for (int64_t first = 0; first < columns; first += kStrip) {
    const int64_t count = columns - first < kStrip ? columns - first : kStrip;
    for (int64_t i = 0; i < rows; ++i) {
      T factors[kPanel];
      for (int64_t p = 0; p < i; ++p) factors[p] = l[i * l_row + p * l_col];
      T *row = b + i * b_row + first;
      subtract_lines(i, count, b + first, b_row, factors, row);
      if (unit) continue;
      const T by = l[i * l_row + i * l_col];
      for (int64_t c = 0; c < count; ++c) row[c] /= by;
    }
  }
}

template <bool Conjugates, typename T>
T sum_of_products(int64_t count, const T *x, const T *y) {
  constexpr int64_t kSums = 16;
  T sums[kSums] = {};
  const auto product = [&](int64_t i) { return (Conjugates ? conjugated(x[i]) : x[i]) * y[i]; };
  int64_t i = 0;
  for (; i + kSums <= count; i += kSums)
    for (int64_t s = 0; s < kSums; ++s) sums[s] += product(i + s);
  for (int64_t s = 0; i + s < count; ++s) sums[s] += product(i + s);
  for (int64_t half = kSums / 2; half > 0; half /= 2)
    for (int64_t s = 0; s < half; ++s) sums[s] += sums[s + half];
  return sums[0];
}

template <typename T>
T dot(int64_t count, const T *x, const T *y) {
  return sum_of_products<false>(count, x, y);
}
template <typename T>
T inner(int64_t count, const T *x, const T *y) {
  return sum_of_products<true>(count, x, y);
}

template <typename T>
void subtract(int64_t count, T factor, const T *x, T *__restrict y) {
  for (int64_t i = 0; i < count; ++i) y[i] -= factor * x[i];
}

template <typename T>
void lu_lanes(int64_t size, T *a, int64_t *pivots) {
  const auto at = [&](int64_t i, int64_t j) { return a + (i * size + j) * kLanes; };
  for (int64_t j = 0; j < size; ++j) {
    Magnitude<T> largest[kLanes];
    int64_t *const pivot = pivots + j * kLanes;
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      largest[lane] = magnitude(at(j, j)[lane]);
      pivot[lane] = j;
    }
    for (int64_t i = j + 1; i < size; ++i) {
      const T *const element = at(i, j);
      for (int64_t lane = 0; lane < kLanes; ++lane) {
        const Magnitude<T> found = magnitude(element[lane]);
        pivot[lane] = found > largest[lane] ? i : pivot[lane];
        largest[lane] = found > largest[lane] ? found : largest[lane];
      }
    }
    for (int64_t i = j + 1; i < size; ++i) {
      int64_t some = 0;
      for (int64_t lane = 0; lane < kLanes; ++lane) some += pivot[lane] == i;
      if (some == 0) continue;
      for (int64_t c = 0; c < size; ++c) {
        T *const x = at(j, c), *const y = at(i, c);
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          const T first = x[lane], second = y[lane];
          x[lane] = pivot[lane] == i ? second : first;
          y[lane] = pivot[lane] == i ? first : second;
        }
      }
    }
    const T *const by = at(j, j);
    for (int64_t i = j + 1; i < size; ++i) {
      T *const factor = at(i, j);
      for (int64_t lane = 0; lane < kLanes; ++lane)
        factor[lane] = magnitude(by[lane]) != 0 ? factor[lane] / by[lane] : factor[lane];
      for (int64_t c = j + 1; c < size; ++c) {
        T *const x = at(i, c);
        const T *const above = at(j, c);
        for (int64_t lane = 0; lane < kLanes; ++lane) x[lane] -= factor[lane] * above[lane];
      }
    }
  }
}

template <typename T>
void solve_lanes(int64_t size, int64_t columns, const T *a, T *b, bool transposed) {
  const auto row = [&](int64_t i) { return b + i * columns * kLanes; };
  const auto element = [&](int64_t i, int64_t j) {
    return a + (transposed ? j * size + i : i * size + j) * kLanes;
  };
  const auto subtract_row = [&](int64_t i, int64_t p) {
    const T *const factor = element(i, p);
    T *const to = row(i);
    const T *const from = row(p);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        to[c * kLanes + lane] -= factor[lane] * from[c * kLanes + lane];
  };
  const auto divide_row = [&](int64_t i) {
    const T *const by = element(i, i);
    for (int64_t c = 0; c < columns; ++c)
      for (int64_t lane = 0; lane < kLanes; ++lane) row(i)[c * kLanes + lane] /= by[lane];
  };
  for (int64_t i = 0; i < size; ++i) {
    for (int64_t p = 0; p < i; ++p) subtract_row(i, p);
    if (transposed) divide_row(i);
  }
  for (int64_t i = size - 1; i >= 0; --i) {
    for (int64_t p = i + 1; p < size; ++p) subtract_row(i, p);
    if (!transposed) divide_row(i);
  }
}

/// Elements that are moved to lanes at a time, of so many matrices.
constexpr int64_t kBlock = 8;

template <typename T>
void transpose(const T *from, int64_t from_step, T *to, int64_t to_step) {
  using Row = T __attribute__((vector_size(kBlock * sizeof(T))));
  Row rows[kBlock];
  for (int64_t i = 0; i < kBlock; ++i)
    __builtin_memcpy(&rows[i], from + i * from_step, sizeof(Row));
  // Each round interleaves rows with those that are half of all further on; three take row i,
  // element j to row j, element i.
  for (int round = 0; round < 3; ++round) {
    Row next[kBlock];
    for (int64_t i = 0; i < kBlock / 2; ++i) {
      const Row x = rows[i], y = rows[i + kBlock / 2];
      next[2 * i] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int64_t i = 0; i < kBlock; ++i) rows[i] = next[i];
  }
  for (int64_t i = 0; i < kBlock; ++i) __builtin_memcpy(to + i * to_step, &rows[i], sizeof(Row));
}

/// Calls `block(element, lane)` for all blocks of kBlock elements and lanes, and `one` for the
/// rest.
template <typename Block, typename One>
void each_lane(int64_t count, Block block, One one) {
  int64_t e = 0;
  for (; e + kBlock <= count; e += kBlock)
    for (int64_t lane = 0; lane < kLanes; lane += kBlock) block(e, lane);
  for (; e < count; ++e)
    for (int64_t lane = 0; lane < kLanes; ++lane) one(e, lane);
}

template <typename T>
void to_lanes(int64_t count, const T *matrices, int64_t step, T *lanes) {
  const auto from = [&](int64_t e, int64_t lane) { return matrices + lane * step + e; };
  const auto to = [&](int64_t e, int64_t lane) { return lanes + e * kLanes + lane; };
  each_lane(
      count, [&](int64_t e, int64_t lane) { transpose(from(e, lane), step, to(e, lane), kLanes); },
      [&](int64_t e, int64_t lane) { *to(e, lane) = *from(e, lane); });
}

template <typename T>
void from_lanes(int64_t count, const T *lanes, T *matrices, int64_t step) {
  const auto from = [&](int64_t e, int64_t lane) { return lanes + e * kLanes + lane; };
  const auto to = [&](int64_t e, int64_t lane) { return matrices + lane * step + e; };
  each_lane(
      count, [&](int64_t e, int64_t lane) { transpose(from(e, lane), kLanes, to(e, lane), step); },
      [&](int64_t e, int64_t lane) { *to(e, lane) = *from(e, lane); });
}

template <typename T>
constexpr LaneMoves<T> kMoves = {to_lanes<T>, from_lanes<T>};

template <typename T>
constexpr LinalgKernels<T> kKernels = {lu_panel<T>, solve_rows<T>, dot<T>,        inner<T>,
                                       subtract<T>, lu_lanes<T>,   solve_lanes<T>};

} // namespace

constexpr LinalgLevel kLinalgTable = {kKernels<float>,          kKernels<double>,
                                      kKernels<Complex<float>>, kKernels<Complex<double>>,
                                      kMoves<uint32_t>,         kMoves<uint64_t>};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#if WEFT_LEVEL == 4
const LinalgLevel linalg_level_v4 = v4::kLinalgTable;
#elif WEFT_LEVEL == 3
const LinalgLevel linalg_level_v3 = v3::kLinalgTable;
#else
const LinalgLevel linalg_level_v2 = v2::kLinalgTable;
#endif

} // namespace weft::kernels
