// Products of bf16 on one x86-64 level: packing, which widens elements or pairs them, and rounding.
// The build compiles this file once per level, as MatmulLevel.cpp, and once with WEFT_PAIRS set and
// the instruction for pairs, whose tiles are here.
#include "Kernels/Bf16Kernels.h"
#include "Kernels/MatmulTile.h"

namespace WEFT_LEVEL_NAMESPACE {

namespace {

#ifdef WEFT_PAIRS
constexpr int kStep = 2;
#else
constexpr int kStep = 1;
#endif

/// 32 bits per lane, as packed operands have them.
using Bits = Vec<uint32_t>;
constexpr int kCount = kLanes<uint32_t>;
using Halves = uint16_t __attribute__((ext_vector_type(kCount)));

/// A vector at the address of any bf16.
template <class Vector>
Vector load_at(const uint16_t *from) {
  using Unaligned __attribute__((aligned(2), may_alias)) = Vector;
  return *reinterpret_cast<const Unaligned *>(from);
}

/// The first `lanes` halves at `from`, zeros after them. Touches nothing else.
Halves load_halves(const uint16_t *from, int64_t lanes) {
  if (lanes >= kCount) return load_at<Halves>(from);
#if WEFT_LEVEL == 4
  return (Halves)_mm256_maskz_loadu_epi16(__mmask16(lane_mask(lanes < 0 ? 0 : int(lanes))), from);
#else
  // In registers: a vector that is loaded from halves just stored waits for them.
  using Fours = uint64_t __attribute__((ext_vector_type(kCount / 4)));
  Fours fours(0);
#pragma clang loop unroll(full)
  for (int i = 0; i < kCount / 4; ++i) {
    const int64_t left = lanes - 4 * i;
    const uint16_t *at = from + 4 * i;
    uint64_t four = 0;
    if (left >= 4) __builtin_memcpy(&four, at, 8);
    else if (left > 0) {
      if ((left & 1) != 0) four = at[left - 1];
      uint32_t two = 0;
      if ((left & 2) != 0) __builtin_memcpy(&two, at, 4);
      four = (left & 2) != 0 ? four << 32 | two : four;
    }
    fours[i] = four;
  }
  return (Halves)fours;
#endif
}

Bits widened(Halves halves) { return __builtin_convertvector(halves, Bits) << 16; }

/// kCount steps of k of one row or column, whose neighbours in k are neighbours in memory and of
/// which so many elements are left, 1 or more.
Bits steps_along(const uint16_t *from, int64_t left) {
#ifdef WEFT_PAIRS
  Bits pairs;
  if (left >= kCount * kStep) pairs = load_at<Bits>(from);
  else pairs = (Bits)_mm512_maskz_loadu_epi16(__mmask32((1u << left) - 1u), from);
  return pairs << 16 | pairs >> 16;
#else
  return widened(load_halves(from, left));
#endif
}

/// The steps of k of one element in panels: `odd` is 0 behind an odd k.
uint32_t one_step(uint16_t even, uint16_t odd, int64_t step) {
  if (kStep == 2) return uint32_t(even) << 16 | odd;
  return uint32_t(step == 0 ? even : odd) << 16;
}

void store_bits(float *to, Bits bits) { store(to, (Vec<float>)bits); }

/// Columns that are neighbours in memory: two of its rows at a time.
template <int Width>
void pack_across(int64_t k, int64_t columns, const uint16_t *from, int64_t k_step, float *out) {
  constexpr int kVectors = (Width + kCount - 1) / kCount;
  for (int64_t p = 0; p < k; p += 2, from += 2 * k_step, out += 2 / kStep * Width) {
    Halves even[kVectors], odd[kVectors];
#pragma clang loop unroll(full)
    for (int s = 0; s < kVectors; ++s) {
      even[s] = load_halves(from + s * kCount, columns - s * kCount);
      odd[s] = load_halves(from + k_step + s * kCount, p + 1 < k ? columns - s * kCount : 0);
    }
    // A vector may run over into the next step, which is written afterwards, or the gap behind.
#pragma clang loop unroll(full)
    for (int s = 0; s < kVectors; ++s)
      store_bits(out + s * kCount,
                 kStep == 2 ? widened(even[s]) | widened(odd[s]) >> 16 : widened(even[s]));
    if (kStep == 2) continue;
#pragma clang loop unroll(full)
    for (int s = 0; s < kVectors; ++s) store_bits(out + Width + s * kCount, widened(odd[s]));
  }
}

/// Columns whose own elements are neighbours in memory: squares are transposed.
template <int Width>
void pack_along(int64_t k, int64_t columns, const uint16_t *from, int64_t column_step, float *out) {
  constexpr int kSquares = (Width + kCount - 1) / kCount;
  const int64_t steps = (k + 1) / 2 * 2 / kStep;
  for (int64_t u = 0; u < steps; u += kCount) {
    const int64_t left = k - u * kStep;
    const int lanes = steps - u < kCount ? int(steps - u) : kCount;
    const auto fill = [&](Bits(&square)[kCount], int first) __attribute__((always_inline)) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        square[i] = first + i < Width && first + i < columns && left > 0
                        ? steps_along(from + (first + i) * column_step + u * kStep, left)
                        : Bits(0u);
      transpose<uint32_t>(square);
    };
    float *const to = out + u * Width;
    if constexpr (Width % kCount == 0) {
      for (int s = 0; s < kSquares; ++s) {
        Bits square[kCount];
        fill(square, s * kCount);
#pragma clang loop unroll(full)
        for (int i = 0; i < kCount; ++i)
          if (i < lanes) store_bits(to + i * Width + s * kCount, square[i]);
      }
    } else {
      Bits square[kSquares][kCount];
#pragma clang loop unroll(full)
      for (int s = 0; s < kSquares; ++s) fill(square[s], s * kCount);
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        if (i < lanes)
#pragma clang loop unroll(full)
          for (int s = 0; s < kSquares; ++s) store_bits(to + i * Width + s * kCount, square[s][i]);
    }
  }
}

/// Packs k x n elements into panels of Width columns, [panel][step][column].
template <int Width>
void pack(int64_t k, int64_t n, const uint16_t *from, int64_t k_step, int64_t column_step,
          float *out, int64_t panel) {
  for (int64_t j = 0; j < n; j += Width, from += Width * column_step, out += panel) {
    const int64_t columns = n - j < Width ? n - j : Width;
    if (column_step == 1) {
      pack_across<Width>(k, columns, from, k_step, out);
    } else if (k_step == 1) {
      pack_along<Width>(k, columns, from, column_step, out);
    } else {
      auto *to = reinterpret_cast<uint32_t *>(out);
      for (int64_t p = 0; p < k; p += 2)
        for (int64_t step = 0; step < 2 / kStep; ++step, to += Width)
          for (int64_t i = 0; i < Width; ++i) {
            const uint16_t *const first = from + p * k_step + i * column_step;
            to[i] = i >= columns ? 0 : one_step(*first, p + 1 < k ? first[k_step] : 0, step);
          }
    }
  }
}

void pack_a(int64_t m, int64_t k, const uint16_t *a, int64_t a_row, int64_t a_col, float *out,
            int64_t panel) {
  pack<kTileRows<float>>(k, m, a, a_col, a_row, out, panel);
}

void pack_b(int64_t k, int64_t n, const uint16_t *b, int64_t b_row, int64_t b_col, float *out,
            int64_t panel) {
  pack<kPanelColumns<float>>(k, n, b, b_row, b_col, out, panel);
}

Halves rounded(Bits bits) {
  const Bits nearest = (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
  const Bits is_nan = (Bits)((bits & 0x7fffffffu) > 0x7f800000u);
  const Bits found = (is_nan & (bits >> 16 | 0x40u)) | (~is_nan & nearest);
  return __builtin_convertvector(found, Halves);
}

/// Writes sums of a row as bf16, `lanes` of them, 1 or more.
void store_rounded(uint16_t *c, int64_t c_col, Bits sums, int lanes) {
  const Halves halves = rounded(sums);
  if (lanes == kCount && c_col == 1) {
    using Unaligned __attribute__((aligned(2), may_alias)) = Halves;
    *reinterpret_cast<Unaligned *>(c) = halves;
    return;
  }
  for (int l = 0; l < kCount; ++l)
    if (l < lanes) c[l * c_col] = halves[l];
}

void round(int64_t rows, int64_t columns, const float *sums, int64_t sums_row, uint16_t *c,
           int64_t c_row) {
  for (int64_t i = 0; i < rows; ++i, sums += sums_row, c += c_row)
    for (int64_t j = 0; j < columns; j += kCount) {
      const int lanes = columns - j < kCount ? int(columns - j) : kCount;
      store_rounded(c + j, 1, (Bits)load_first(sums + j, lanes), lanes);
    }
}

void pack_rows(int64_t m, int64_t k, const uint16_t *a, int64_t a_row, int64_t a_col, float *out,
               int64_t out_row) {
  for (int64_t i = 0; i < m; ++i, a += a_row, out += out_row) {
    auto *to = reinterpret_cast<uint32_t *>(out);
    int64_t p = 0;
    if (a_col == 1)
      for (; p + kCount * kStep <= k; p += kCount * kStep, to += kCount)
        store(to, steps_along(a + p, kCount * kStep));
    for (; p < k; p += 2) {
      const uint16_t even = a[p * a_col], odd = p + 1 < k ? a[(p + 1) * a_col] : 0;
      for (int64_t step = 0; step < 2 / kStep; ++step) *to++ = one_step(even, odd, step);
    }
  }
}

/// The steps of two rows of B, of which the second may be beyond the end.
struct TwoRows {
  Vec<float> step[2 / kStep];

  TwoRows(const uint16_t *even, const uint16_t *odd, int64_t lanes) {
    const Bits first = widened(load_halves(even, lanes));
    const Bits second = odd != nullptr ? widened(load_halves(odd, lanes)) : Bits(0u);
    if constexpr (kStep == 2) {
      step[0] = (Vec<float>)(first | second >> 16);
    } else {
      step[0] = (Vec<float>)first;
      step[2 / kStep - 1] = (Vec<float>)second;
    }
  }
};

/// Columns whose sums are kept while all of B's rows are added to them: in the first-level cache.
constexpr int64_t kColumnsKept = 1024;

/// Adds the products with 2 * Pairs rows of B, or one less, to the sums of all columns.
template <int Rows, int Pairs>
void add_across(const Bf16ThinProduct &product, int64_t columns, const float *a, const uint16_t *b,
                bool is_odd, bool first, float *sums) {
  constexpr int kSteps = 2 / kStep * Pairs;
  const int64_t b_row = product.b_row;
  Vec<float> element[Rows][kSteps];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int s = 0; s < kSteps; ++s) element[r][s] = Vec<float>(a[r * product.a_row + s]);
  const auto add = [&](int64_t j, int64_t lanes) __attribute__((always_inline)) {
    Vec<float> sum[Rows];
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r)
      sum[r] = first ? Vec<float>(0.f) : load(sums + r * kColumnsKept + j);
#pragma clang loop unroll(full)
    for (int q = 0; q < Pairs; ++q) {
      const uint16_t *const even = b + 2 * q * b_row + j;
      const TwoRows two(even, Pairs == 1 && is_odd ? nullptr : even + b_row, lanes);
#pragma clang loop unroll(full)
      for (int s = 0; s < 2 / kStep; ++s)
#pragma clang loop unroll(full)
        for (int r = 0; r < Rows; ++r)
          sum[r] = multiply_add<float>(element[r][2 / kStep * q + s], two.step[s], sum[r]);
    }
#pragma clang loop unroll(full)
    for (int r = 0; r < Rows; ++r) store(sums + r * kColumnsKept + j, sum[r]);
  };
  int64_t j = 0;
  for (; j + kCount <= columns; j += kCount) add(j, kCount);
  if (j < columns) add(j, columns - j);
}

/// So few columns that their sums stay in registers.
template <int Rows, int Vectors>
void few_across(const Bf16ThinProduct &product) {
  constexpr int kSteps = 2 / kStep;
  Vec<float> sum[Rows][Vectors];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) sum[r][v] = Vec<float>(0.f);
  const float *a = product.a;
  const uint16_t *b = product.b;
  for (int64_t p = 0; p < product.k; p += 2, a += kSteps, b += 2 * product.b_row)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) {
      const uint16_t *const odd = p + 1 < product.k ? b + product.b_row + v * kCount : nullptr;
      const TwoRows two(b + v * kCount, odd, product.n - v * kCount);
#pragma clang loop unroll(full)
      for (int s = 0; s < kSteps; ++s)
#pragma clang loop unroll(full)
        for (int r = 0; r < Rows; ++r)
          sum[r][v] =
              multiply_add<float>(Vec<float>(a[r * product.a_row + s]), two.step[s], sum[r][v]);
    }
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int v = 0; v < Vectors; ++v) {
      const int64_t left = product.n - v * kCount;
      store_rounded(product.c + r * product.c_row + v * kCount * product.c_col, product.c_col,
                    (Bits)sum[r][v], left < kCount ? int(left) : kCount);
    }
}

/// A thin product whose rows of B have neighbours in memory.
template <int Rows>
void thin_across(const Bf16ThinProduct &product) {
  if (product.n <= kCount) return few_across<Rows, 1>(product);
  if (product.n <= 2 * kCount) return few_across<Rows, 2>(product);
  constexpr int kPairs = (WEFT_LEVEL == 4 ? 16 : 8) / Rows / (2 / kStep);
  alignas(64) float sums[Rows * kColumnsKept];
  for (int64_t j = 0; j < product.n; j += kColumnsKept) {
    const int64_t columns = product.n - j < kColumnsKept ? product.n - j : kColumnsKept;
    const float *a = product.a;
    const uint16_t *b = product.b + j;
    int64_t p = 0;
    for (; p + 2 * kPairs <= product.k; p += 2 * kPairs) {
      add_across<Rows, kPairs>(product, columns, a, b, false, p == 0, sums);
      a += kPairs * 2 / kStep, b += 2 * kPairs * product.b_row;
    }
    for (; p < product.k; p += 2, a += 2 / kStep, b += 2 * product.b_row)
      add_across<Rows, 1>(product, columns, a, b, p + 1 == product.k, p == 0, sums);
    for (int r = 0; r < Rows; ++r)
      for (int64_t i = 0; i < columns; i += kCount)
        store_rounded(product.c + r * product.c_row + (j + i) * product.c_col, product.c_col,
                      (Bits)load(sums + r * kColumnsKept + i),
                      columns - i < kCount ? int(columns - i) : kCount);
  }
}

/// So many columns' own elements are neighbours in memory: squares are transposed.
template <int Rows, int Squares>
void columns_along(const Bf16ThinProduct &product, int64_t first, int64_t columns) {
  Vec<float> sum[Rows][Squares];
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int s = 0; s < Squares; ++s) sum[r][s] = Vec<float>(0.f);
  const uint16_t *const b = product.b + first * product.b_col;
  const int64_t steps = (product.k + 1) / 2 * 2 / kStep;
  const auto add = [&](int64_t u, int64_t left, int lanes,
                       int64_t count) __attribute__((always_inline)) {
    Bits square[Squares][kCount];
#pragma clang loop unroll(full)
    for (int s = 0; s < Squares; ++s) {
#pragma clang loop unroll(full)
      for (int i = 0; i < kCount; ++i)
        square[s][i] = s * kCount + i < count
                           ? steps_along(b + (s * kCount + i) * product.b_col + u * kStep, left)
                           : Bits(0u);
      transpose<uint32_t>(square[s]);
    }
#pragma clang loop unroll(full)
    for (int i = 0; i < kCount; ++i)
      if (i < lanes)
#pragma clang loop unroll(full)
        for (int r = 0; r < Rows; ++r) {
          const Vec<float> element = Vec<float>(product.a[r * product.a_row + u + i]);
#pragma clang loop unroll(full)
          for (int s = 0; s < Squares; ++s)
            sum[r][s] = multiply_add<float>(element, (Vec<float>)square[s][i], sum[r][s]);
        }
  };
  constexpr int64_t kAll = Squares * kCount;
  const int64_t whole = columns == kAll ? product.k / (kCount * kStep) * kCount : 0;
  int64_t u = 0;
  for (; u < whole; u += kCount) add(u, kCount * kStep, kCount, kAll);
  for (; u < steps; u += kCount)
    add(u, product.k - u * kStep, steps - u < kCount ? int(steps - u) : kCount, columns);
#pragma clang loop unroll(full)
  for (int r = 0; r < Rows; ++r)
#pragma clang loop unroll(full)
    for (int s = 0; s < Squares; ++s) {
      const int64_t left = columns - s * kCount;
      if (left > 0)
        store_rounded(product.c + r * product.c_row + (first + s * kCount) * product.c_col,
                      product.c_col, (Bits)sum[r][s], left < kCount ? int(left) : kCount);
    }
}

template <int Rows>
void thin_along(const Bf16ThinProduct &product) {
  constexpr int kSquares = WEFT_LEVEL == 4 ? 1 : 2; // chains enough, and registers
  for (int64_t j = 0; j < product.n; j += kSquares * kCount) {
    const int64_t left = product.n - j;
    columns_along<Rows, kSquares>(product, j, left < kSquares * kCount ? left : kSquares * kCount);
  }
}

template <int Rows>
void thin_of(const Bf16ThinProduct &product) {
  if (product.b_col == 1) thin_across<Rows>(product);
  else thin_along<Rows>(product);
}

void thin(const Bf16ThinProduct &product) {
  switch (product.m) {
  case 1: return thin_of<1>(product);
  case 2: return thin_of<2>(product);
  case 3: return thin_of<3>(product);
  default: return thin_of<4>(product);
  }
}

#ifdef WEFT_PAIRS
void compute_pairs(const MatmulBlock<float> &block) { run_block<float, true>(block); }
#endif

} // namespace

constexpr Bf16Kernels kBf16Table = {kTileRows<float>,
                                    kPanelColumns<float>,
                                    kLanes<float>,
                                    kStep,
                                    pack_a,
                                    pack_b,
                                    pack_rows,
                                    thin,
#ifdef WEFT_PAIRS
                                    compute_pairs,
#else
                                    nullptr,
#endif
                                    round};

} // namespace WEFT_LEVEL_NAMESPACE

namespace weft::kernels {

#ifdef WEFT_PAIRS
const Bf16Kernels bf16_kernels_pairs = v4_pairs::kBf16Table;
#elif WEFT_LEVEL == 4
const Bf16Kernels bf16_kernels_v4 = v4::kBf16Table;
#elif WEFT_LEVEL == 3
const Bf16Kernels bf16_kernels_v3 = v3::kBf16Table;
#else
const Bf16Kernels bf16_kernels_v2 = v2::kBf16Table;
#endif

} // namespace weft::kernels
