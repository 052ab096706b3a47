// Products of bf16: the sums are of floats, packed slice by slice, and rounded at their end.
#include "Kernels/Bf16Kernels.h"
#include "Kernels/Matmul.h"
#include "Kernels/MatmulBlocking.h"
#include "Kernels/MatmulThresholds.h"
#include "Support/Threads.h"

#include <algorithm>
#include <immintrin.h>

namespace weft::kernels {
namespace {

/// Steps of k in a slice; sums go on in the next one, and only then are kept in memory.
constexpr int64_t kSliceSteps = 2048;
/// Rows and columns whose sums are kept, of more than one slice.
constexpr int64_t kMostRowsKept = 1024;
/// Rows of sums that are rounded at a time: with the widest panel 24 KiB, in the first-level cache.
constexpr int64_t kRowsRounded = 192, kWidestPanel = 32, kMostTileRows = 12, kMostLanes = 16;
/// Bytes of B that are packed at a time for few rows, which read them once.
constexpr int64_t kPackedForFewRows = 512 << 10;
constexpr int64_t kFewRows = 96;
/// Columns of a thin product that a thread takes at least: whole cache lines.
constexpr int64_t kThinColumns = 64;
/// Rows and elements of B up to which B is read again for each few rows, instead of packing it.
constexpr int64_t kRowsInPlace = 16, kSmallInPlace = 4 << 10;
/// Steps of a few rows of A that are packed on the stack.
constexpr int64_t kStepsOnStack = 4096;

/// One product of a batch; strides count elements.
struct Product {
  int64_t m, n, k;
  const uint16_t *a;
  int64_t a_row, a_col;
  const uint16_t *b;
  int64_t b_row, b_col;
  uint16_t *c;
  int64_t c_row;
};

/// The kernels of a level, with what sums up.
struct Level {
  const Bf16Kernels &kernels;
  void (*block)(const MatmulBlock<float> &block);

  /// Steps of so many elements of k.
  int64_t steps(int64_t k) const { return (k / 2 + k % 2) * (2 / kernels.step); }
};

/// While it lives this thread's arithmetic flushes denormals, operands and results, if the kernels
/// want that: the instruction for pairs does whatever the register says.
class Flushing {
public:
  explicit Flushing(const Level &level)
      : before_(_mm_getcsr()), changed_(level.kernels.block == nullptr) {
    constexpr unsigned kFlush = 0x8000, kDenormalsAreZeros = 0x40;
    if (changed_) _mm_setcsr(before_ | kFlush | kDenormalsAreZeros);
  }
  ~Flushing() {
    if (changed_) _mm_setcsr(before_);
  }
  Flushing(const Flushing &) = delete;
  Flushing &operator=(const Flushing &) = delete;

private:
  unsigned before_;
  bool changed_;
};

/// The same bits without memory, tile by tile, from operands packed on the stack.
void multiply_on_stack(const Level &level, const Product &p) {
  const Bf16Kernels &kernels = level.kernels;
  constexpr int64_t kSteps = 32;
  alignas(64) float a[kMostTileRows * kSteps + kMostLanes], b[kWidestPanel * kSteps],
      sums[kMostTileRows * kWidestPanel];
  const Flushing flushing(level);
  const int64_t depth = kSteps * kernels.step;
  for (int64_t i = 0; i < p.m; i += kernels.tile_rows)
    for (int64_t j = 0; j < p.n; j += kernels.panel_columns) {
      MatmulBlock<float> block{};
      block.m = std::min(kernels.tile_rows, p.m - i);
      block.n = std::min(kernels.panel_columns, p.n - j);
      block.a = a, block.b = b, block.c = sums;
      block.b_row = block.c_row = kernels.panel_columns;
      block.a_packed = block.b_packed = true;
      for (int64_t l = 0; l < p.k; l += depth) {
        const int64_t k = std::min(depth, p.k - l);
        kernels.pack_a(block.m, k, p.a + i * p.a_row + l * p.a_col, p.a_row, p.a_col, a, 0);
        kernels.pack_b(k, block.n, p.b + l * p.b_row + j * p.b_col, p.b_row, p.b_col, b, 0);
        block.k = level.steps(k);
        block.accumulate = l > 0;
        level.block(block);
      }
      kernels.round(block.m, block.n, sums, kernels.panel_columns, p.c + i * p.c_row + j, p.c_row);
    }
}

/// A product with so few rows that B is read in place, for a few of them at a time. Returns whether
/// it did so: not where packing is better, or B has no neighbours in memory.
bool multiply_thin(const Level &level, Product p) {
  int64_t c_col = 1;
  if (p.m > kMostThinRows && p.n <= kMostThinRows) {
    // The sums are the same of the transposed product.
    c_col = p.c_row;
    p = {p.n, p.m, p.k, p.b, p.b_col, p.b_row, p.a, p.a_col, p.a_row, p.c, 1};
  }
  if (p.m > kMostThinRows && (p.m > kRowsInPlace || times(p.n, p.k) > kSmallInPlace)) return false;
  if (p.n == 1) p.b_col = p.b_row == 1 ? p.k : 1;
  else if (p.k == 1 && p.b_col != 1) p.b_row = 1;
  if (p.b_col != 1 && p.b_row != 1) return false;

  const int64_t steps = level.steps(p.k), least = std::min(p.m, kMostThinRows);
  alignas(64) float on_stack[kStepsOnStack];
  float *const packed = times(least, steps) <= kStepsOnStack
                            ? on_stack
                            : scratch_for<float>(Scratch::vector, times(least, steps));
  if (packed == nullptr) return false;
  for (int64_t i = 0; i < p.m; i += kMostThinRows) {
    const int64_t rows = std::min(kMostThinRows, p.m - i);
    level.kernels.pack_rows(rows, p.k, p.a + i * p.a_row, p.a_row, p.a_col, packed, steps);
    threads::parallel_for_noexcept(
        0, divide_up(p.n, kThinColumns), divide_up(kVectorWork, times(rows * kThinColumns, p.k)),
        [&](int64_t begin, int64_t end) {
          const Flushing flushing(level);
          begin *= kThinColumns;
          level.kernels.thin({rows, std::min(end * kThinColumns, p.n) - begin, p.k, packed, steps,
                              p.b + begin * p.b_col, p.b_row, p.b_col,
                              p.c + i * p.c_row + begin * c_col, p.c_row, c_col});
        });
  }
  return true;
}

/// For each block of rows and columns and slice of k the threads first pack A and B together, then
/// share the panels' tiles.
void multiply(const Level &level, const Product &p) {
  const Bf16Kernels &kernels = level.kernels;
  if (multiply_thin(level, p)) return;
  const int64_t rows = kernels.tile_rows, columns = kernels.panel_columns;
  const int64_t steps = level.steps(p.k), slices = divide_up(steps, kSliceSteps);
  // Even, so that the zero behind an odd k is behind all of it.
  const int64_t depth = divide_up(divide_up(steps, slices), 2) * 2;
  const int64_t most_rows = (slices > 1 ? kMostRowsKept : kMostPacked) / rows * rows;
  const int64_t a_panel = rows * depth + kernels.lanes, b_panel = columns * depth;
  int64_t most_columns = kMostPacked;
  if (p.m <= kFewRows)
    most_columns = std::clamp(kPackedForFewRows / int64_t(sizeof(float)) / depth / columns,
                              int64_t(2), kMostPacked / columns) *
                   columns;
  const int64_t most_a = divide_up(std::min(p.m, most_rows), rows);
  const int64_t most_b = divide_up(std::min(p.n, most_columns), columns);
  float *const packed_b = scratch_for<float>(Scratch::panels, most_a * a_panel + most_b * b_panel);
  float *const kept =
      slices > 1 ? scratch_for<float>(Scratch::sums, times(most_a * rows, most_b * columns))
                 : nullptr;
  if (packed_b == nullptr || (slices > 1 && kept == nullptr)) return multiply_on_stack(level, p);
  float *const packed_a = packed_b + most_b * b_panel;
  const int64_t kept_row = most_b * columns;
  const int64_t row_block = std::clamp<int64_t>(kRowBlockBytes / (a_panel * int64_t(sizeof(float))),
                                                1, kRowsRounded / rows);

  for (int64_t j = 0; j < p.n; j += most_columns)
    for (int64_t i = 0; i < p.m; i += most_rows)
      for (int64_t slice = 0; slice < slices; ++slice) {
        const int64_t l = slice * depth * kernels.step;
        const int64_t m = std::min(most_rows, p.m - i), n = std::min(most_columns, p.n - j);
        const int64_t k = std::min(depth * kernels.step, p.k - l), k_steps = level.steps(k);
        const int64_t a_panels = divide_up(m, rows), b_panels = divide_up(n, columns);
        // Of one slice B stays packed from one block of rows to the next.
        const int64_t b_units = i == 0 || slices > 1 ? b_panels * columns : 0;
        const PackedSlice<uint16_t, float> packed{.m = m,
                                                  .n = n,
                                                  .k = k,
                                                  .a = p.a + i * p.a_row + l * p.a_col,
                                                  .a_row = p.a_row,
                                                  .a_col = p.a_col,
                                                  .b = p.b + l * p.b_row + j * p.b_col,
                                                  .b_row = p.b_row,
                                                  .b_col = p.b_col,
                                                  .packed_a = packed_a,
                                                  .a_panel = a_panel,
                                                  .packed_b = packed_b,
                                                  .b_panel = b_panel};
        threads::parallel_for_noexcept(
            0, b_units + a_panels * rows, divide_up(kPackWork, k),
            [&](int64_t begin, int64_t end) { packed.pack(kernels, b_units, begin, end); });
        threads::parallel_for_noexcept(
            0, a_panels * b_panels, divide_up(kThreadWork, times(k_steps, rows * columns)),
            [&](int64_t begin, int64_t end) {
              alignas(64) float sums[kRowsRounded * kWidestPanel];
              const Flushing flushing(level);
              MatmulBlock<float> block{};
              block.k = k_steps;
              block.a_row = a_panel;
              block.b_row = columns, block.b_panel = b_panel;
              block.a_packed = block.b_packed = true;
              block.accumulate = slice > 0;
              each_run_of_tiles(
                  begin, end, row_block, a_panels, b_panels,
                  [&](int64_t panel, int64_t first, int64_t count) {
                    const int64_t top = first * rows;
                    block.m = std::min(count * rows, m - top);
                    block.n = std::min(columns, n - panel * columns);
                    block.a = packed_a + first * a_panel;
                    block.b = packed_b + panel * b_panel;
                    block.c = kept != nullptr ? kept + top * kept_row + panel * columns : sums;
                    block.c_row = kept != nullptr ? kept_row : columns;
                    level.block(block);
                    if (slice + 1 == slices)
                      kernels.round(block.m, block.n, block.c, block.c_row,
                                    p.c + (i + top) * p.c_row + j + panel * columns, p.c_row);
                  });
            });
      }
}

void multiply_batch(const Level &level, MatmulArgs all) {
  if (all.batch <= 0 || all.m <= 0 || all.n <= 0) return;
  const auto *a = static_cast<const uint16_t *>(all.a);
  const auto *b = static_cast<const uint16_t *>(all.b);
  auto *c = static_cast<uint16_t *>(all.c);
  if (all.k <= 0) {
    for (int64_t s = 0; s < all.batch; ++s)
      for (int64_t i = 0; i < all.m; ++i)
        std::fill_n(c + s * all.c_batch + i * all.c_row, all.n, 0);
    return;
  }
  if (all.m == 1) all.a_row = all.a_batch, all.c_row = all.c_batch;
  if (all.batch > 1 && all.b_batch == 0 && all.a_batch == all.m * all.a_row &&
      all.c_batch == all.m * all.c_row) {
    // One B for all: the batch is more rows.
    all.m *= all.batch;
    all.batch = 1;
  }
  const auto products = [&](int64_t begin, int64_t end) {
    for (int64_t s = begin; s < end; ++s)
      multiply(level, {all.m, all.n, all.k, a + s * all.a_batch, all.a_row, all.a_col,
                       b + s * all.b_batch, all.b_row, all.b_col, c + s * all.c_batch, all.c_row});
  };
  // As in Matmul.cpp: whole products for threads, where there are enough.
  const int64_t work = times(all.m, all.n, all.k);
  if (all.batch == 1 ||
      (work >= 2 * kThreadWork && all.batch < 4 * threads::max_threads_or_default()))
    return products(0, all.batch);
  threads::parallel_for_noexcept(0, all.batch, divide_up(kThreadWork, work), products);
}

Level level_of(CpuLevel level, bool pairs) {
  if (pairs && std::min(level, host_cpu_level()) == CpuLevel::v4 && host_multiplies_bf16_pairs())
    return {bf16_kernels_pairs, bf16_kernels_pairs.block};
  return {of_level(level, bf16_kernels_v2, bf16_kernels_v3, bf16_kernels_v4),
          of_level(level, matmul_level_v2, matmul_level_v3, matmul_level_v4).f32.block};
}

} // namespace

void matmul_bf16(const MatmulArgs &args) noexcept {
  static const Level level = level_of(CpuLevel::v4, true);
  multiply_batch(level, args);
}

void matmul_bf16_forced(const MatmulArgs &args, CpuLevel level, bool pairs) noexcept {
  multiply_batch(level_of(level, pairs), args);
}

} // namespace weft::kernels

void weft_rt_matmul_bf16(int64_t batch, int64_t m, int64_t n, int64_t k, const uint16_t *a,
                         int64_t a_batch, int64_t a_row, int64_t a_col, const uint16_t *b,
                         int64_t b_batch, int64_t b_row, int64_t b_col, uint16_t *c,
                         int64_t c_batch, int64_t c_row) {
  weft::kernels::matmul_bf16(
      {batch, m, n, k, a, a_batch, a_row, a_col, b, b_batch, b_row, b_col, c, c_batch, c_row});
}
